"""What Ansible Galaxy installs: ``requirements.yml`` with roles and collections.

A role runs as whoever plays it, often root, on every host. Its owner stands in its name alone.
"""

from __future__ import annotations

from typing import Final

from gate.supply.inputs.model import Input, Inputs, UnreadableInputError
from gate.supply.inputs.text import text_of, yaml_data

_GALAXY: Final = "https://galaxy.ansible.com/"
_SECTIONS: Final = ("roles", "collections")


def requirements(text: str) -> Inputs:
    """A list of roles, or a table of roles and collections."""
    data = yaml_data(text)
    rows: list[object] = []
    if isinstance(data, list):
        rows = data
    elif isinstance(data, dict):
        for section in _SECTIONS:
            rows += data[section] if isinstance(data.get(section), list) else []
    else:
        raise UnreadableInputError("it is no list of roles")
    found = [made for row in rows if (made := _input(row)) is not None]
    return Inputs(kind="tools", inputs=tuple(dict.fromkeys(found)))


def _input(row: object) -> Input | None:
    """``owner.name``, or a table with ``src`` or ``name``, ``version`` and ``source``."""
    if isinstance(row, str):
        row = {"src": row}
    if not isinstance(row, dict):
        return None
    source = text_of(row.get("src")) or text_of(row.get("name"))
    source = source.removeprefix("git+")
    version = text_of(row.get("version"))
    if "://" in source or source.startswith("git@"):
        name = text_of(row.get("name")) or source.rstrip("/").rpartition("/")[2].removesuffix(".git")
        return Input(name=name, kind="vcs", where=source, revision=version, version=version, runs=True)
    owner, _, name = source.partition(".")
    if not name:
        return None
    server = text_of(row.get("source")) or _GALAXY
    where = f"{server.rstrip('/')}/{owner}"
    return Input(name=name, kind="vcs", where=where, version=version, runs=True)

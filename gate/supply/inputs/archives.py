"""What the name of an archive says about itself: the package and the version it holds. Text only."""

from __future__ import annotations

from typing import Final

from packaging.utils import (
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from gate.supply.inputs.model import Input
from gate.supply.inputs.places import place

_LONGEST: Final = 300
"""Characters of a file's name or a version that are looked at."""


def contradiction(one: Input) -> str:
    """What an archive on a registry is, where the entry says something else; empty where they agree or where
    the name does not tell.
    """
    for archive in one.archives:
        public = place("url", archive.where) in ("registry:npm", "registry:pypi")
        if one.kind != "registry" and not public:
            continue
        if other := _npm(one, archive.where) or _python(one, archive.name):
            return other
    return ""


def _npm(one: Input, address: str) -> str:
    front, dash, file = address.replace("%2f", "/").replace("%2F", "/").partition("/-/")
    if not dash or not file.endswith(".tgz"):
        return ""
    parts = front.split("/")
    said = "/".join(parts[-2:]) if parts[-2:-1] and parts[-2].startswith("@") else parts[-1]
    name = one.actual or one.name
    if said.lower() != name.lower():
        return said[:100]
    version = file.removesuffix(".tgz").removeprefix(f"{name.rpartition('/')[2]}-")
    return f"{said} {version}"[:100] if one.version and version != one.version else ""


def _python(one: Input, file: str) -> str:
    if len(file) > _LONGEST or len(one.version) > _LONGEST:
        return ""
    try:
        if file.endswith(".whl"):
            name, version = parse_wheel_filename(file)[:2]
        elif file.endswith((".tar.gz", ".zip")):
            name, version = parse_sdist_filename(file)
        else:
            return ""
    except ValueError:  # every error of packaging's is one
        return ""
    if name != canonicalize_name(one.actual or one.name):
        return str(name)[:100] if file.endswith(".whl") else ""
    try:
        same = not one.version or Version(one.version) == version or not file.endswith(".whl")
    except ValueError:  # no version, or one of more digits than Python reads
        same = True
    return "" if same else f"{name} {version}"[:100]

"""Files that are nothing but a list of whom to trust: signers, keys of tokens, recipients of secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.facts import FileFacts, Width
from gate.infrastructure.settings import Line, is_trust
from gate.regex import regex

_LIST: Final = regex(
    r"^(?:allowed[_-]signers|known[_-]hosts|trusted[_-]\w+|keyring|\.?age[_-]?recipients|recipients|\.gpg-id"
    r"|\.?blackbox-admins|trustedkeys)(?:\.txt|\.list|\.conf)?$",
    re.IGNORECASE,
)
_RECIPIENTS: Final = frozenset(
    ("age", "pgp", "kms", "gcp_kms", "azure_keyvault", "hc_vault_transit_uri", "arn")
)


def is_key_list(path: str) -> bool:
    """Is each line of this file somebody who is trusted?"""
    pure = PurePosixPath(path)
    listed = pure.suffix.lower() in (".txt", ".list", ".lst") and is_trust(pure.stem)
    return listed or bool(_LIST.search(pure.name))


def key_list_facts(text: str, path: str) -> FileFacts:
    """A member a line; comments are none."""
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    said = [(number, line) for number, line in lines if line and not line.startswith(("#", "@cert-revoked"))]
    members = [" ".join(line.split()) for _, line in said]
    last = said[-1] if said else (1, "")
    widths = [Width("trusted", f"{path} list", last[0], last[1][:120], members=members)]
    return FileFacts(subjects=[path], widths=widths)


def trusted_keys(data: object, path: str, line_of: Line) -> Iterator[Width]:
    """Public keys of a JWKS, wherever it lies in the data; recipients of a ``.sops.yaml``."""
    sops = PurePosixPath(path).name.lower() in (".sops.yaml", ".sops.yml")
    for where, value in _mappings(data, ()):
        keys = value.get("keys")
        if isinstance(keys, list) and keys and all(isinstance(key, dict) and "kty" in key for key in keys):
            members = [_material(key) for key in keys]
            yield Width(
                "trusted", f"{path} keys", line_of((*where, "keys")) or 1, "keys of tokens", members=members
            )
        if sops:
            for name in _RECIPIENTS & value.keys():
                found = [str(one) for one in _texts(value[name])]
                members = [one for text in found for one in re.split(r"[,\s]+", text) if one]
                at = line_of((*where, name)) or 1
                yield Width(
                    "trusted", f"{path} {name}", at, f"{name}: {', '.join(members)}"[:120], members=members
                )


def _material(key: dict[str, object]) -> str:
    """What a key is, not how it is called."""
    return " ".join(str(key.get(name, "")) for name in ("kty", "n", "x", "y", "k")).strip()[:200]


def _texts(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    else:
        yield value


def _mappings(
    data: object, path: tuple[str | int, ...], depth: int = 0
) -> Iterator[tuple[tuple[str | int, ...], dict[str, object]]]:
    if depth > 60:
        return
    if isinstance(data, dict):
        yield path, data
        for key, value in data.items():
            yield from _mappings(value, (*path, str(key)), depth + 1)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _mappings(value, (*path, index), depth + 1)

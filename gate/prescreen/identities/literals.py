"""What a file has written down about parties: each value with the keys that lead to it.

Runs in the limited child: ``gate.prescreen.identities.literals:read``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

import msgspec

from gate.languages.content import reader_of
from gate.prescreen.identities import data_literals, python_literals, tree_literals
from gate.prescreen.identities.names import is_broad, is_left_out, party_of
from gate.prescreen.identities.shapes import Shape, canonical, is_bank, shape_of
from gate.prescreen.identities.written import Written

_MOST: Final = 2_000
_PARTS: Final = 8
"""Neighbours that one account may be put together from."""
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_PUBLIC: Final = re.compile(
    r"-----BEGIN (?:[A-Z]{2,5} )?PUBLIC KEY-----[^-]{40,8000}-----END (?:[A-Z]{2,5} )?PUBLIC KEY-----"
    r"|(?m:^)(?:RW[A-Za-z0-9+/]{54}|(?:ssh-ed25519|ssh-rsa) AAAA[A-Za-z0-9+/]{40,3000}={0,3})(?=\s|$)"
)
_KEYS: Final = (".pub", ".pem", ".key", ".minisign", ".asc", ".crt")


class Identifier(msgspec.Struct, frozen=True):
    """One value that says who. ``path``: the keys that lead to it; ``party``: what the last ones name."""

    path: str
    party: str
    value: str
    shape: Shape
    line: int


def read(path: str, data: bytes, options: dict[str, object]) -> list[Identifier]:
    """The identifiers of one file; of one that is not what its name says, none."""
    del options
    text = data.decode("utf-8", "replace")
    if path.lower().endswith(_KEYS):
        return [*_key_file(text)]
    return [*_sieved(_reader(path, data)(path, data))][:_MOST]


def _reader(path: str, data: bytes) -> Callable[[str, bytes], Iterable[Written]]:
    suffix = PurePosixPath(path).suffix.lower()
    if tree_literals.grammar_of(path):
        return tree_literals.written
    if suffix in (".py", ".pyw") or reader_of(path, data) == "python":
        return python_literals.written
    return data_literals.written


def _sieved(found: Iterable[Written]) -> Iterator[Identifier]:
    before: list[Written] = []
    for one in found:
        made = _joined([*before[1 - _PARTS :], one])
        if made is not None:
            yield Identifier("\x1f".join(one.path[:-1]), "iban", made, "bank", one.line)
        before = [*before[1 - _PARTS :], one] if before and before[-1].path[:-1] == one.path[:-1] else [one]
        if told := _identifier(one):
            yield told


def _identifier(one: Written) -> Identifier | None:
    party, shape = party_of(one.path), shape_of(one.value)
    if shape == "" or (is_left_out(one.path) and shape not in ("bank", "key", "wallet")):
        return None
    if shape == "plain" and (not party or is_broad(party) or _VARIABLE.fullmatch(one.value)):
        return None
    return Identifier("\x1f".join(one.path), party, canonical(one.value)[:9_000], shape, one.line)


def _joined(parts: Sequence[Written]) -> str | None:
    """A bank account whose parts stand beside each other: the country, the check digits, the number."""
    if len(parts) < 2 or not parts[-1].value[-1:].isalnum():
        return None
    for first in range(len(parts) - 1):
        values = [one.value.replace(" ", "") for one in parts[first:]]
        text = "".join(values)
        if 15 <= len(text) <= 34 and len(values[0]) <= 4 and text[:2].isupper() and text[2:4].isdigit():
            return text if is_bank(text) else None
    return None


def _key_file(text: str) -> Iterator[Identifier]:
    for match in _PUBLIC.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Identifier("", "public-key", canonical(match[0]), "key", line)

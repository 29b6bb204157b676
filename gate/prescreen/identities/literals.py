"""What a file has written down about parties: each value with the keys that lead to it.

Runs in the limited child: ``gate.prescreen.identities.literals:read``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from gate.languages.content import reader_of
from gate.languages.grammars import grammar_of
from gate.prescreen.identities import data_literals, octets, python_literals, tree_literals
from gate.prescreen.identities.names import is_broad, is_left_out, is_person, is_tenancy, party_of
from gate.prescreen.identities.options import with_options
from gate.prescreen.identities.shapes import Shape, canonical, is_bank, shape_of
from gate.prescreen.identities.within import figures, mailbox, room
from gate.prescreen.identities.written import Written
from gate.regex import regex

_MOST: Final = 2_000
_PARTS: Final = 8
"""Neighbours that one account may be put together from."""
_VARIABLE: Final = regex(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_PUBLIC: Final = regex(
    r"-----BEGIN (?:[A-Z]{2,5} )?PUBLIC KEY-----[^-]{40,8000}-----END (?:[A-Z]{2,5} )?PUBLIC KEY-----"
    r"|-----BEGIN PGP PUBLIC KEY BLOCK-----[^-]{40,40000}-----END PGP PUBLIC KEY BLOCK-----"
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
    row: str = ""


def read(path: str, data: bytes, options: Mapping[str, Any]) -> list[Identifier]:
    """The identifiers of one file; of one that is not what its name says, none. ``broad``: also what a name
    stands for that may be anything (a word under ``account``). ``translated``: paths of translations.
    """
    text = data.decode("utf-8", "replace")
    if path.lower().endswith(_KEYS):
        return [*_key_file(text)]
    translated = path in options.get("translated", ())
    words: list[Identifier] = []
    found: list[Identifier] = []
    for one in _sieved(with_options(_reader(path, data)(path, data)), options, translated=translated):
        (words if one.shape == "word" else found).append(one)
    octets_found = (
        Identifier("\x1f".join(one.path), "machine", one.value, "octets", one.line)
        for one in octets.written(path, data)
    )
    return [*found[:_MOST], *islice(octets_found, _MOST), *words[:_MOST]]


def _reader(path: str, data: bytes) -> Callable[[str, bytes], Iterable[Written]]:
    suffix = PurePosixPath(path).suffix.lower()
    if grammar_of(path):
        return tree_literals.written
    if suffix in (".py", ".pyw") or reader_of(path, data) == "python":
        return python_literals.written
    return data_literals.written


def _sieved(
    found: Iterable[Written], options: Mapping[str, Any], *, translated: bool
) -> Iterator[Identifier]:
    before: list[Written] = []
    for one in found:
        made = _joined([*before[1 - _PARTS :], one])
        if made is not None:
            yield Identifier("\x1f".join(one.path[:-1]), "iban", made, "bank", one.line)
        before = [*before[1 - _PARTS :], one] if before and before[-1].path[:-1] == one.path[:-1] else [one]
        if told := _within(one, translated=translated) or _identifier(one, broad=bool(options.get("broad"))):
            yield told


def _within(one: Written, *, translated: bool) -> Identifier | None:
    """A party within a text or an address, which has no shape of its own."""
    path = "\x1f".join(one.path)
    if one.path and (value := figures(one.value, translated=translated)):
        return Identifier(path, "figures", value, "figures", one.line, one.row)
    if "@" in one.value and not is_person(one.path) and (value := mailbox(one.value)):
        return Identifier(path, "mailbox", value, "mail", one.line, one.row)
    if "://" in one.value and (value := room(one.value)):
        return Identifier(path, "room", value, "room", one.line, one.row)
    return None


def _identifier(one: Written, *, broad: bool) -> Identifier | None:
    party, shape = party_of(one.path), shape_of(one.value)
    if shape == "" and party and is_tenancy(one.path[-1]) and one.value.isascii() and one.value.isalnum():
        shape = "plain"
    if shape == "" or (is_left_out(one.path) and shape not in ("bank", "key", "wallet")):
        return None
    if shape == "plain" and not broad and (not party or is_broad(party) or _VARIABLE.fullmatch(one.value)):
        shape = "word"
    return Identifier("\x1f".join(one.path), party, canonical(one.value)[:9_000], shape, one.line, one.row)


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

"""The change as a language model gets it: changed lines and new behaviours, bounded, without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gate.model.behaviour import Behaviour
from gate.model.change import Change, ChangedFile, Tree
from gate.opinion.interface import Line, Material
from gate.redaction import REDACTED, redact
from gate.regex import regex

_BIGGEST: Final = 1 << 20
_WIDEST: Final = 400
_MOST_BEHAVIOURS: Final = 100
_PRIVATE: Final = regex(
    r"(^|/)(\.env(\..*)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|id_[a-z0-9]+|.*credentials?.*|.*secrets?.*)$"
    r"|\.(pem|key|p12|pfx|jks|keystore|kdbx|asc|gpg|tfstate|tfvars)$",
    re.IGNORECASE,
)
"""Files that are made to hold secrets: their lines never leave, whatever stands in them."""
_NAMED: Final = regex(
    r"(?i)((?:secret|token|passw(?:or)?d|passphrase|pwd|api_?key|access_?key|private_?key|credential|auth)"
    r"[\w\"'\]-]*\s*(?::=|=>|:(?!=)|=(?![=>]))\s*)(?:[\"'`][^\"'`\n]*[\"'`]?|[^\s\"'`,;(){}\[\]]{6,})"
)
"""A value beside a name that says what it is: a literal, or a bare word as in settings and shell."""
_LONG: Final = regex(r"(?<![A-Za-z0-9+/_=-])(?=[A-Za-z+/_=-]*\d)[A-Za-z0-9+/_=-]{24,}(?![A-Za-z0-9+/_=-])")
"""A run of letters and digits that is too long for a name: a key without a shape of its own, or a digest."""


def material(
    change: Change,
    base: Tree,
    head: Tree,
    new: Sequence[Behaviour],
    secrets: Iterable[str],
    *,
    most: int,
) -> Material:
    """Changed lines of text files (``most`` characters) and what head does that base does not.

    ``secrets`` are known ones, in clear text. Binary files, files over 1 MiB and files that are made to hold
    secrets are left out. Never raises for what the change contains.
    """
    known = tuple(sorted(set(secrets)))
    kept, room, left_out = [], most, 0
    for line in _lines(change, base, head, known):
        if room < len(line.text):
            left_out += 1
            continue
        room -= len(line.text) + 1
        kept.append(line)
    return Material(
        lines=tuple(kept),
        behaviours=tuple(_behaviour(b, known) for b in new[:_MOST_BEHAVIOURS]),
        left_out=left_out,
    )


def _lines(change: Change, base: Tree, head: Tree, known: tuple[str, ...]) -> Iterator[Line]:
    files = [f for f in change.files if not f.binary and not _PRIVATE.search(f.path)]
    after = _texts(head, [f.path for f in files if f.new_blob], known)
    before = _texts(base, [f.old_path or f.path for f in files if f.old_blob], known)
    for file in files:
        yield from _of(file, before.get(file.old_path or file.path, []), after.get(file.path, []))


def _of(file: ChangedFile, before: list[str], after: list[str]) -> Iterator[Line]:
    for hunk in file.hunks:
        for sign, lines, start, count in (
            ("-", before, hunk.old_start, hunk.old_count),
            ("+", after, hunk.new_start, hunk.new_count),
        ):
            for number, text in enumerate(lines[start - 1 : start - 1 + count] if count else (), start):
                yield Line(path=file.path, sign=sign, number=number, text=text[:_WIDEST])


def _texts(tree: Tree, paths: list[str], known: tuple[str, ...]) -> dict[str, list[str]]:
    """Lines without secrets; a file has none where taking them out moves its lines (the middle of a key)."""
    found = {}
    for path, data in tree.read_many(tuple(dict.fromkeys(paths))):
        if len(data) > _BIGGEST or b"\0" in data:
            continue
        text = data.decode("utf-8", "replace")
        clean = harmless(text, known)
        if clean.count("\n") == text.count("\n"):
            found[path] = [line.rstrip("\r") for line in clean.split("\n")]
    return found


def harmless(text: str, known: tuple[str, ...]) -> str:
    """The text without known secrets, tokens of a known shape, values named as secrets, and long runs of
    letters and digits.
    """
    text = _NAMED.sub(rf"\g<1>{REDACTED}", redact(text, known))
    return _LONG.sub(REDACTED, text)


def _behaviour(item: Behaviour, known: tuple[str, ...]) -> dict[str, str]:
    at = f"{item.at.path}:{item.at.line}" if item.at is not None else ""
    told = {"does": item.kind.value, "what": item.subject, "program": item.actor, "at": at}
    return {key: harmless(text, known)[:_WIDEST] for key, text in told.items() if text}

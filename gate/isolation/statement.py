"""What a probe says comes from inside a sandbox: decoded strictly, capped, only known ids, each once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

MAX_LINE: Final = 256 << 10


class Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One check: ``held`` None when it could not be tried."""

    id: Annotated[str, Meta(max_length=60, pattern=r"^[a-z0-9.-]+$")]
    held: bool | None
    tried: Annotated[str, Meta(max_length=300)]
    happened: Annotated[str, Meta(max_length=300)]


class Statement(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program's last line of stdout; ``at`` is its clock, seconds since the epoch."""

    answers: Annotated[tuple[Answer, ...], Meta(max_length=400)]
    at: float


class BadStatementError(ValueError):
    """The output holds no statement, or not one that can be believed."""


def decode(stdout: bytes, known: Iterable[str]) -> dict[str, Answer]:
    """The answers by id. Raises BadStatementError for anything but one whole statement as the last line."""
    line = stdout.rstrip(b"\n").rpartition(b"\n")[2]
    if not line or len(line) > MAX_LINE:
        raise BadStatementError("it said nothing" if not line else "its last line is too long")
    try:
        said = msgspec.json.decode(line, type=Statement)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStatementError(f"its last line is no statement: {error}"[:200]) from None
    allowed = set(known)
    found: dict[str, Answer] = {}
    for answer in said.answers:
        if answer.id not in allowed:
            raise BadStatementError(f"it answers {answer.id!r}, which nobody asked")
        if answer.id in found:
            raise BadStatementError(f"it answers {answer.id!r} twice")
        found[answer.id] = answer
    return found

"""Which commit of the range wrote which head lines."""

from __future__ import annotations

from typing import Final

from gate.change.git_command import GitRepository
from gate.model.change import LineOrigin
from gate.regex import regex

_GROUP: Final = regex(rb"([0-9a-f]{40,64}) (\d+) (\d+) (\d+)\n")


def origins_of(door: GitRepository, since: str, head: str, path: str) -> tuple[LineOrigin, ...]:
    """Runs of head lines with their commit; lines older than ``since`` are left out.

    Empty when the file does not exist at head or git needs more than 20 s: a hint, not a proof.
    """
    done = door.try_run(
        "blame", "--incremental", "-M", head, f"^{since}", "--", path, deadline=20.0, cap=32 << 20
    )
    if not done.ok:
        return ()
    found = []
    name = path
    boundary = False
    group: tuple[str, int, int, int] | None = None
    for line in done.stdout.split(b"\n"):
        if match := _GROUP.fullmatch(line + b"\n"):
            group = (match[1].decode("ascii"), int(match[2]), int(match[3]), int(match[4]))
            boundary = False
        elif line == b"boundary":
            boundary = True
        elif line.startswith(b"filename ") and group:
            name = _unquote(line[9:])
            commit, original, final, count = group
            if not boundary:
                found.append(
                    LineOrigin(line=final, count=count, commit=commit, path=name, original_line=original)
                )
            group = None
    return tuple(sorted(found, key=lambda origin: origin.line))


_ESCAPE: Final = regex(rb"\\([0-7]{3}|.)")
_LETTERS: Final = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def _unquote(name: bytes) -> str:
    """Git's C-style quoting undone."""
    if len(name) >= 2 and name.startswith(b'"') and name.endswith(b'"'):
        name = _ESCAPE.sub(
            lambda m: bytes([int(m[1], 8) & 0xFF]) if len(m[1]) == 3 else _LETTERS.get(m[1], m[1]), name[1:-1]
        )
    return name.decode("utf-8", "surrogateescape")

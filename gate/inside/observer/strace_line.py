"""One line of strace's output, taken apart strictly: whatever is not exactly as expected raises Strange.

Written for ``strace -f -q -y -xx -X raw``: every byte that the code chose stands there as backslash-x and two
digits, every constant as a number. So brackets, quotes, commas and ``<>`` are strace's own, and no
name, argument or address can look like a part of the line (TR-5). Standard library only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple, Optional

_CHUNK = 1 << 16
MAX_LINE = 8 << 20
"""Bytes of a line: an exec with the longest command line the kernel takes; past it the line is strange."""

_LINE = re.compile(r"([1-9][0-9]{0,9}) +(.*)\Z")
_CALL = re.compile(r"([a-z_][a-z0-9_]{0,63})\((.*)\) *= (.*)\Z")
_CUT = re.compile(r"([a-z_][a-z0-9_]{0,63})\((.*?) ?<unfinished \.\.\.>(?:\) *= \?)?\Z")
_RESUMED = re.compile(r"<\.\.\. ([a-z_][a-z0-9_]{0,63}) resumed>(.*)\Z")
_EXITED = re.compile(r"\+\+\+ exited with ([0-9]{1,3}) \+\+\+\Z")
_KILLED = re.compile(r"\+\+\+ killed by (SIG[A-Z0-9+_]{1,16}|[0-9]{1,3})(?: \(core dumped\))? \+\+\+\Z")
_SUPERSEDED = re.compile(r"\+\+\+ superseded by execve in pid ([0-9]{1,10}) \+\+\+\Z")
_TRAPPED = re.compile(
    r"--- SIGSYS \{si_signo=[^,{}]+, si_code=(?:0x1|1|SYS_SECCOMP)"
    r"(?:, si_errno=([0-9]{1,5}))?, si_call_addr=[^,{}]+,"
    r" si_syscall=([^,{}]+), si_arch=([^,{}]+)\} ---\Z"
)
_QUIET = re.compile(
    r"--- (?:SIG[A-Z0-9+_]+|[0-9]+) \{(?:[^{}]|\{[^{}]*\})*\} ---\Z|--- stopped by [A-Z0-9]+ ---\Z"
)
_MODE = re.compile(r"\[ Process PID=[0-9]+ runs in (?:64|32|x32) ?(?:bit)? mode\. \]\Z")
_RESULT = re.compile(
    r"(-?[0-9]{1,20}|0x[0-9a-f]{1,16}|\?)"
    r"(?:<((?:\\x[0-9a-f]{2})*)>)?(?:\(deleted\))?"
    r"(?: /\* ([0-9]{1,10}) in strace's PID NS \*/)?"
    r"(?: ([A-Z][A-Z0-9_]*)(?: \([A-Za-z0-9 ,.'/()-]*?\))?)?"
    r"( \(INJECTED\))?\Z"
)
_GONE = "? <unavailable>"
"""The result of a call whose thread was killed meanwhile."""
_LOST = re.compile(
    r"(?:\?\?\?\(|<\.\.\. \?\?\? resumed>)(?: <unfinished \.\.\.>|\) *= \?(?: <unavailable>)?)\Z"
)
_COMMENT = re.compile(r" /\* ([0-9]{1,10}) in strace's PID NS \*/")
_STRING = re.compile(r'(@?)"((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?\Z')
_NUMBER = re.compile(r"-?[0-9]{1,20}\Z|0x[0-9a-f]{1,16}\Z")
_FD = re.compile(r"(-?[0-9]{1,10})<((?:\\x[0-9a-f]{2})*)>(?:\(deleted\))?\Z")
_STRUCTURE = re.compile(r"[\[\]{}]|, ")


class UnknownLineError(Exception):
    """Not a line that we know."""


class Call(NamedTuple):
    """A system call. ``value`` is None when it never came back; ``error`` ``EPERM`` ...; ``where`` the
    path behind a returned descriptor; ``outside`` a returned pid as strace's own namespace knows it.
    """

    name: str
    args: list[str]
    value: Optional[int]  # runs on older interpreters, as all of this folder
    error: str = ""
    injected: bool = False
    where: Optional[bytes] = None
    outside: int = 0


class Begun(NamedTuple):
    """The first half of a call that another thread's line cut in two."""

    name: str
    text: str


class Ended(NamedTuple):
    """A thread is gone; ``code`` None: a signal. ``heir``: it became that thread's exec."""

    code: Optional[int]
    heir: int = 0


class Lost(NamedTuple):
    """A call that strace could not read, since its thread is being killed. The kernel does not make such a
    call (seccomp(2): a fatal signal while the tracer looks skips it).
    """


class Trapped(NamedTuple):
    """The launcher's filter stopped a call by SIGSYS before it was made. ``told``: the filter's own number
    for what it saw (the family of a socket); 0: nothing.
    """

    number: int
    arch: int
    told: int = 0


def head(line: str) -> tuple[int, str]:
    """The thread and the rest. Raises Strange."""
    match = _LINE.match(line)
    if match is None:
        raise UnknownLineError("no pid")
    return int(match[1]), match[2]


def parse_rest(rest: str, begun: Optional[Begun]) -> Call | Begun | Ended | Trapped | Lost | None:
    """The rest of a line; ``begun`` is the first half that this thread left. None: nothing of interest.

    Raises Strange.
    """
    if begun is None and _LOST.match(rest) is not None:
        return Lost()
    if rest.startswith("<... "):
        match = _RESUMED.match(rest)
        if match is None or begun is None or begun.name != match[1]:
            raise UnknownLineError("resumed")
        rest = f"{begun.name}({begun.text}{match[2]}"
    elif begun is not None and not rest.startswith(("+++ ", "--- ", "[ ")):
        raise UnknownLineError("a call within a call")
    if rest.startswith("+++ "):
        return _end(rest)
    if rest.startswith("--- "):
        match = _TRAPPED.match(rest)
        if match is not None:
            return Trapped(_number(match[2]), _number(match[3]), int(match[1] or 0))
        if _QUIET.match(rest) is None:
            raise UnknownLineError("signal")
        return None
    if rest.startswith("[ "):
        if _MODE.match(rest) is None:
            raise UnknownLineError("note")
        return None
    match = _CUT.match(rest)
    if match is not None:
        if rest.endswith("= ?"):
            return Call(match[1], split(match[2].rstrip(", ")), None)
        return Begun(match[1], match[2])
    match = _CALL.match(rest)
    if match is None:
        raise UnknownLineError("no call")
    return _call(match[1], match[2], match[3])


def unfinished_call(begun: Begun) -> Call:
    """What is known of a call whose thread ended within it. Raises Strange."""
    return Call(begun.name, split(begun.text.rstrip(", ")), None)


def _end(rest: str) -> Ended:
    match = _EXITED.match(rest)
    if match is not None:
        return Ended(int(match[1]))
    match = _SUPERSEDED.match(rest)
    if match is not None:
        return Ended(None, int(match[1]))
    if _KILLED.match(rest) is None:
        raise UnknownLineError("end")
    return Ended(None)


def _call(name: str, args: str, result: str) -> Call:
    match = _RESULT.match("?" if result == _GONE else result)
    if match is None:
        raise UnknownLineError("result")
    value, where, outside, error, injected = match.groups()
    if name in ("clone", "clone3", "fork", "vfork") and outside:
        args = _COMMENT.sub("", args)
    return Call(
        name,
        split(args),
        None if value == "?" else _number(value),
        error or "",
        injected is not None,
        None if where is None else unhex(where),
        int(outside or 0),
    )


def _number(text: str) -> int:
    if _NUMBER.match(text) is None:
        raise UnknownLineError("number")
    return int(text, 16) if text.startswith("0x") else int(text)


def unhex(text: str) -> bytes:
    """Printed bytes to bytes; the text has been matched already."""
    return bytes.fromhex(text.replace("\\x", ""))


def split(text: str) -> list[str]:
    """The parts between the commas of the outermost level. Raises Strange for brackets that do not match."""
    if not text:
        return []
    if "[" not in text and "{" not in text:
        if "]" in text or "}" in text:
            raise UnknownLineError("brackets")
        return text.split(", ")
    out, start, open_ = [], 0, []
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if mark in "[{":
            open_.append("]" if mark == "[" else "}")
        elif mark in "]}":
            if not open_ or open_.pop() != mark:
                raise UnknownLineError("brackets")
        elif not open_:
            out.append(text[start : found.start()])
            start = found.end()
    if open_:
        raise UnknownLineError("brackets")
    out.append(text[start:])
    return out


def string(text: str) -> bytes | None:
    """A printed string (an abstract socket name begins with NUL); None when it is none."""
    match = _STRING.match(text)
    if match is None:
        return None
    return (b"\0" if match[1] else b"") + unhex(match[2])


def descriptor(text: str) -> tuple[int, bytes | None]:
    """A descriptor and the path strace found behind it. Raises Strange."""
    match = _FD.match(text)
    if match is not None:
        return int(match[1]), unhex(match[2])
    return number(text), None


def number(text: str) -> int:
    """A number as printed: decimal, 0x, octal, or several joined by ``|``. Raises Strange."""
    total = 0
    text = _COMMENT.sub("", text) if "/*" in text else text
    for part in text.split("|"):
        if _NUMBER.match(part) is None:
            raise UnknownLineError("number")
        if part.startswith("0x"):
            total |= int(part, 16)
        elif len(part) > 1 and part.startswith("0"):
            if "8" in part or "9" in part:
                raise UnknownLineError("number")
            total |= int(part, 8)
        else:
            total |= int(part)
    return total


def fields(text: str) -> dict[str, str]:
    """The members of ``{a=1, b="x"}``; names only of letters, digits and underscores. Raises Strange."""
    if not (text.startswith("{") and text.endswith("}")):
        raise UnknownLineError("no structure")
    out = {}
    for part in split(text[1:-1]):
        if part == "...":
            continue
        name, equals, value = part.partition("=")
        if not equals or not name.replace("_", "a").isalnum():
            raise UnknownLineError("member")
        out[name] = value
    return out


def items(text: str) -> list[str]:
    """The members of ``[a, b]``. Raises Strange."""
    if not (text.startswith("[") and text.endswith("]")):
        raise UnknownLineError("no list")
    return split(text[1:-1])


def lines(source: int) -> Iterator[Optional[str]]:
    """Whole lines without their ends; None for one that is too long, not ASCII, or cut off."""
    rest = bytearray()
    skipping = False
    while True:
        data = os.read(source, _CHUNK)
        if not data:
            break
        rest += data
        if b"\n" not in data:
            if len(rest) > MAX_LINE:
                skipping = True
                rest.clear()
            continue
        *whole, last = rest.split(b"\n")
        rest = bytearray(last)
        for raw in whole:
            if skipping or len(raw) > MAX_LINE:
                skipping = False
                yield None
                continue
            try:
                yield raw.decode("ascii")
            except UnicodeDecodeError:
                yield None
    if rest or skipping:
        yield None

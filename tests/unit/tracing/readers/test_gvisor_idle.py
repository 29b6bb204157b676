"""Log lines that are passed over unread: only such as add nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.tracing.readers.gvisor import log

LAUNCHER, CODE = 1, 7


def line(name: str, way: str, call: str, rest: str, group: int = CODE) -> bytes:
    """As the sentry writes it."""
    said = {"msg": f"strace.go:570] [   {group}:   {group}] {name} {way} {call}({rest}", "level": "info"}
    return json.dumps(said | {"time": "2026-11-21T23:42:14.613238052Z"}, separators=(",", ":")).encode()


WORKED = "AT_FDCWD /work, 0xac9d10 /etc/x, 0x7efc80a30510, 0x0) = 0 (0x0) (8.072µs)"
ASKED = "AT_FDCWD /work, 0xac9d10 /etc/x, 0x7efc80a30510, 0x0)"
OF_A_DESCRIPTOR = "0x3 /etc/ld.so.cache, 0x7ea6347f3c99 , 0x7efc80a2fee0, 0x1000)"


@pytest.mark.parametrize(
    "text",
    [
        line("python3", "X", "newfstatat", WORKED),
        line("python3", "E", "newfstatat", ASKED, LAUNCHER),
        line("python3", "E", "newfstatat", OF_A_DESCRIPTOR),
        line("python3", "X", "openat", "AT_FDCWD /w, 0x7efc80a30510 /x, O_RDONLY, 0o0) = 3 (0x3) (9µs)"),
        line("python3", "X", "execve", "0x7efc80a30510 /x, 0x7e [], 0x7f []) = 0 (0x0) (9ms)"),
        line("a.b-c_d", "X", "readlink", "0x7efc80a30510 /proc/self/exe, 0x2, 0x3) = 0 (0x0) (1µs)"),
    ],
)
def test_what_adds_nothing_is_passed_over(text: bytes) -> None:
    assert log.idle(text)


@pytest.mark.parametrize(
    "text",
    [
        line("python3", "E", "newfstatat", ASKED),
        line("python3", "X", "symlink", "0x1 /a, 0x2 /b) = 0 (0x0) (1µs)", LAUNCHER),
        line("python3", "X", "unlink", "0x1 /a) = 0 (0x0) (1µs)"),
        line("python3", "X", "chdir", "0x1 /a) = 0 (0x0) (1µs)"),
        line("python3", "E", "unlink", "0x1 /a)"),
        # a program's own name cannot make its other lines look like these
        line("a X stat(", "E", "unlink", "0x1 /a)"),
        line("X stat(", "E", "newfstatat", ASKED),
        line("a X stat(0x1234", "E", "unlink", "0x1 /a)"),
        line("a X stat(0x12 ", "E", "unlink", "0x1 /a)"),
        line("a X newfstatat(", "E", "unlink", "0x1 /a)"),
        line("a X faccessat(0", "E", "unlink", "0x1 /a)"),
        line("a X faccessat(1", "E", "unlink", "0x1 /a)"),
        line("a X openat(0x3 ", "E", "unlink", "0x1 /a)"),
        line("a X openat(AT_F", "E", "unlink", "0x1 /a)"),
        line("a X open(0x1234", "E", "unlink", "0x1 /a)"),
        line("a X execve(0x12", "E", "unlink", "0x1 /a)"),
        line("python3", "E", "openat", "AT_FDCWD /w, 0x7efc80a30510 /x, O_RDONLY, 0o0)"),
        line("a X access(0x12", "E", "unlink", "0x1 /a)"),
        line("a E newfstatat(", "E", "unlink", "0x1 /a)"),
        # a path that looks like the end of the question
        line("python3", "E", "newfstatat", "AT_FDCWD /w, 0x1 /a, 0x2 , 0x3, 0x1000), 0x7, 0x0)"),
        line("python3", "E", "newfstatat", "0x3 /dir, 0x1 /etc/shadow, 0x2, 0x1000)"),
    ],
)
def test_what_adds_something_is_read(text: bytes) -> None:
    assert not log.idle(text)


_PIECES = ["a", " ", "X", "E", "stat(", "newfstatat(", "0x12345", "AT_FDCWD", "access(", ")", "1", "/"]
NAMES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=15),
    st.lists(st.sampled_from(_PIECES), max_size=8).map(lambda parts: "".join(parts)[:15]),
)
CALLS = st.sampled_from(["newfstatat", "stat", "unlink", "chdir", "symlink", "sendto", "ftruncate"])


@given(NAMES, st.sampled_from("EX"), CALLS, st.text(max_size=60), st.sampled_from([LAUNCHER, CODE]))
@example("X", "E", "unlink", "0x1 X stat()", CODE)
def test_only_questions_about_paths_are_ever_passed_over(
    name: str, way: str, call: str, rest: str, group: int
) -> None:
    if call not in ("newfstatat", "stat"):
        assert not log.idle(line(name, way, call, rest, group))

"""The seccomp filter and the engine's profile, against the table they are made from.

The filter is run here by a small interpreter of classic BPF (net/core/filter.c, the few instructions
that seccomp allows and we use): what the kernel would answer for a call, without making it.
"""

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import InconclusiveError
from gate.inside.observer import supervisor, table
from gate.inside.observer.numbers import AUDIT_ARCH, NAMES, numbers
from gate.resources import rules_dir
from gate.tracing.bpf.assembler import RET_ALLOW, RET_NOTIFY
from gate.tracing.bpf.user_notification import RET_ENOSYS, docker_profile, filter_program

ARCHES = sorted(NAMES)


def answer(program: bytes, number: int, arch: int, args: tuple[int, ...] = ()) -> int:
    """What the program returns for one call."""
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, arch, 0, *(*args, *[0] * (6 - len(args))))
    code = list(struct.iter_unpack("<HBBI", program))
    at = held = 0
    for _ in range(5000):
        op, yes, no, k = code[at]
        at += 1
        if op == 0x06:
            return int(k)
        if op == 0x20:
            (held,) = struct.unpack_from("<I", data, k)
        elif op == 0x16:
            return held
        elif op in (0x44, 0x54):
            held = held | k if op == 0x44 else held & k
        elif op == 0x05:
            at += k
        else:
            at += yes if {0x15: held == k, 0x35: held >= k, 0x45: bool(held & k)}[op] else no
    raise AssertionError("the filter does not end")


@pytest.mark.parametrize(("look", "files"), [(True, True), (False, True), (False, False)])
@pytest.mark.parametrize("arch", ARCHES)
def test_every_call_gets_the_answer_of_the_table(arch: str, look: bool, files: bool) -> None:
    program = filter_program(arch, look=look, files=files)
    silent = table.SILENT | (frozenset() if look else table.LOOK)
    silent |= frozenset() if files else table.OPEN | table.FILE
    assert len(program) // 8 <= 4096
    ones = (0xFFFFFFFF,) * 6
    for name, number in numbers(arch).items():
        got = answer(program, number, AUDIT_ARCH[arch], ones[:1] if name == "sendto" else ())
        if name in table.UNSUPPORTED:
            assert got == RET_ENOSYS, name
        elif name in silent:
            assert got == RET_ALLOW, name
        elif name not in ("sendto", "prlimit64"):
            assert got == RET_NOTIFY, name


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("sendto", (3, 1, 5, 0, 0, 0), RET_ALLOW),
        ("sendto", (3, 1, 5, 0, 0x7FFF00000000, 16), RET_NOTIFY),
        ("sendto", (3, 1, 5, 0, 0x1000, 16), RET_NOTIFY),
        ("prlimit64", (0, 7, 0, 0x1000), RET_ALLOW),
        ("prlimit64", (0, 7, 0x1000, 0), RET_NOTIFY),
        ("newfstatat", (3, 0x1000, 0, 0x1000), RET_ALLOW),
        ("newfstatat", (3, 0x1000, 0, 0x100), RET_NOTIFY),
        ("statx", (3, 0x1000, 0x1000, 0), RET_ALLOW),
        ("prctl", (3,), RET_ALLOW),
        ("prctl", (0x53564D41, 0), RET_ALLOW),
        ("prctl", (4, 0), RET_NOTIFY),
        ("prctl", (15, 0x1000), RET_NOTIFY),
        ("personality", (0xFFFFFFFF,), RET_ALLOW),
        ("personality", (0x40000,), RET_NOTIFY),
    ],
)
@pytest.mark.parametrize("arch", ARCHES)
def test_answers_by_argument(arch: str, name: str, args: tuple[int, ...], wanted: int) -> None:
    assert answer(filter_program(arch), numbers(arch)[name], AUDIT_ARCH[arch], args) == wanted


@given(st.integers(0, 0xFFFFFFFF), st.sampled_from([0x40000003, 0xC00000B7, 0x40000028, 0]))
def test_foreign_architectures_always_ask(number: int, arch: int) -> None:
    assert answer(_X86, number, arch) == RET_NOTIFY


@given(st.integers(471, 0xFFFFFFFF))
def test_unknown_numbers_and_x32_always_ask(number: int) -> None:
    assert answer(_X86, number, AUDIT_ARCH["x86_64"]) == RET_NOTIFY


_X86 = filter_program("x86_64")


def test_the_table_has_one_answer_for_each_call() -> None:
    groups = [table.SILENT, table.OBSERVED, table.REFUSED, table.UNSUPPORTED]
    for at, group in enumerate(groups):
        for other in groups[:at]:
            assert not group & other
    known = set(NAMES["x86_64"].values()) | set(NAMES["aarch64"].values())
    assert set().union(*groups) <= known
    assert supervisor._HANDLERS.keys() == table.OBSERVED


def test_numbers_of_a_few_calls() -> None:
    """From the kernel's own tables, so that a shifted row cannot pass."""
    x86, arm = numbers("x86_64"), numbers("aarch64")
    few = {
        "read": (0, 63),
        "openat": (257, 56),
        "execve": (59, 221),
        "clone": (56, 220),
        "io_uring_setup": (425, 425),
    }
    few |= {"openat2": (437, 437), "fchmodat2": (452, 452), "newfstatat": (262, 79), "ptrace": (101, 117)}
    for name, (on_x86, on_arm) in few.items():
        assert (x86[name], arm[name]) == (on_x86, on_arm)


def test_unknown_machine_is_said() -> None:
    with pytest.raises(InconclusiveError, match="mips"):
        filter_program("mips")


def test_engine_profile_is_made_from_the_table() -> None:
    shipped = json.loads((rules_dir() / "seccomp.json").read_text(encoding="utf-8"))
    assert shipped == docker_profile()


def test_engine_profile_lets_through_what_is_to_be_reported() -> None:
    allowed: set[str] = set()
    for row in docker_profile()["syscalls"]:  # type: ignore[attr-defined]
        assert row["action"] == "SCMP_ACT_ALLOW"
        allowed |= set(row["names"])
    assert allowed >= table.REFUSED | table.OBSERVED | table.SILENT

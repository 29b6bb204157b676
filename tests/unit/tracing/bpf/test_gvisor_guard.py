"""The filter that the launcher puts on code inside gVisor: what it refuses, and that it refuses nothing else.

Run here by a small interpreter of classic BPF, as in test_trace_filter.py: what the kernel would answer.
"""

from __future__ import annotations

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import InconclusiveError
from gate.inside.observer import flags, table
from gate.inside.observer.numbers import AUDIT_ARCH, NAMES, numbers
from gate.sandbox.protocol import Tracing
from gate.tracing.bpf import gvisor_guard as guard

ALLOW = 0x7FFF0000
ARCHES = sorted(NAMES)


def answer(arch: str, number: int, *args: int, abi: int | None = None) -> int:
    """0 for a call that is let through, else its errno."""
    abi = AUDIT_ARCH[arch] if abi is None else abi
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, abi, 0, *args, *[0] * (6 - len(args)))
    code = list(struct.iter_unpack("<HBBI", guard.program(arch)))
    at = held = 0
    for _ in range(5000):
        op, yes, no, k = code[at]
        at += 1
        match op:
            case 0x06:
                assert k == ALLOW or k >> 16 == 5, "allowed, or an errno"
                return 0 if k == ALLOW else int(k & 0xFFFF)
            case 0x20:
                (held,) = struct.unpack_from("<I", data, k)
            case 0x54:
                held &= k
            case _:
                at += yes if {0x15: held == k, 0x35: held >= k, 0x45: bool(held & k)}[op] else no
    raise AssertionError("the filter does not end")


@pytest.mark.parametrize("arch", ARCHES)
def test_every_call_of_the_table(arch: str) -> None:
    assert len(guard.program(arch)) // 8 <= 4096
    for name, number in numbers(arch).items():
        got = answer(arch, number)
        if name in table.REFUSED:
            assert got == errno.EPERM == guard.answer(name), name
        elif name in table.UNSUPPORTED:
            assert got == errno.ENOSYS, name
        else:
            assert got == 0, name


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("personality", (0xFFFFFFFF,), 0),
        ("personality", (0x40000,), errno.EPERM),
        ("clone", (0x11, 0), 0),
        ("clone", (0x3D0F00, 0), 0),
        ("clone", (0x10000011, 0), errno.EPERM),
        ("clone", (0x20011, 0), errno.EPERM),
        ("seccomp", (1, 0, 0x1000), 0),
        ("seccomp", (1, 8, 0x1000), errno.EBUSY),
        ("seccomp", (2, 8, 0x1000), 0),
        ("setpriority", (0, 0, 5), 0),
        ("setpriority", (0, 0, 0xFFFFFFFFFFFFFFFB), errno.EACCES),
        ("mknodat", (0xFFFFFFFFFFFFFF9C, 0x1000, 0o010644, 0), 0),
        ("mknodat", (0xFFFFFFFFFFFFFF9C, 0x1000, 0o100644, 0), 0),
        ("mknodat", (0xFFFFFFFFFFFFFF9C, 0x1000, 0o060666, 0x800), errno.EPERM),
        ("mknodat", (0xFFFFFFFFFFFFFF9C, 0x1000, 0o020666, 0x101), errno.EPERM),
    ],
)
@pytest.mark.parametrize("arch", ARCHES)
def test_answers_by_argument(arch: str, name: str, args: tuple[int, ...], wanted: int) -> None:
    assert answer(arch, numbers(arch)[name], *args) == wanted


@given(bits=st.integers(0, 2**32 - 1))
def test_no_new_namespace_by_any_flags_of_clone(bits: int) -> None:
    wanted = errno.EPERM if bits & flags.NEW_NAMESPACES else 0
    assert answer("x86_64", numbers("x86_64")["clone"], bits) == wanted


@given(number=st.integers(0, 2**32 - 1))
def test_numbers_in_no_table_are_refused_and_so_seen(number: int) -> None:
    known = NAMES["x86_64"].get(number)
    if known is None:
        assert answer("x86_64", number) == errno.ENOSYS == guard.answer(f"syscall_{number}")


def test_a_foreign_architecture_is_refused() -> None:
    assert answer("x86_64", 3, abi=0x40000003) == errno.EPERM


def test_an_architecture_without_a_table_cannot_be_guarded() -> None:
    with pytest.raises(InconclusiveError, match="riscv64"):
        guard.program("riscv64")


def test_the_launcher_is_told_what_to_do() -> None:
    told = Tracing(kind="guard", user=65532, cover=("/proc/1/environ",), arch="aarch64").as_json()
    assert told["filter"] == guard.program("aarch64").hex()
    assert {"kind": "guard", "user": 65532, "cover": ["/proc/1/environ"]}.items() <= told.items()

"""Builds what gVisor's sentry sends: packets and log lines, for the tests of their reader."""

from __future__ import annotations

import json
import struct
from typing import Any

from gate.inside.observer.numbers import numbers
from gate.tracing.readers.gvisor import wire
from gate.tracing.readers.gvisor.translator import Translator

CALL = numbers("x86_64")
LAUNCHER, CODE = 1, 7


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def message(**fields: int | bytes | list[bytes]) -> bytes:
    """``f3=5`` is field 3."""
    out = b""
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, int):
                out += _varint(int(name[1:]) << 3) + _varint(one)
            else:
                out += _varint(int(name[1:]) << 3 | 2) + _varint(len(one)) + one
    return out


def packet(kind: int, group: int, *, dropped: int = 0, cwd: bytes = b"/work/tree", **fields: Any) -> bytes:
    context = message(f1=10**18 + 1, f2=group, f4=group, f8=cwd)
    return struct.pack("<HHI", 8, kind, dropped) + message(f1=context, **fields)


def raw(name: str, *args: int, group: int = CODE) -> bytes:
    registers: dict[str, Any] = {f"f{5 + n}": arg for n, arg in enumerate(args)}
    return packet(wire.RAW, group, f4=CALL[name], **registers)


def begun(**extra: Any) -> Translator:
    """A translator whose sandbox has just started its code."""
    it = Translator(events=extra.get("events", 1000))
    argv = [b"python3", b"main.py"]
    it.packets(
        [
            packet(wire.START, LAUNCHER),
            raw("openat", group=LAUNCHER),
            packet(wire.CLONE, LAUNCHER, f3=CODE, f4=CODE),
            raw("openat"),  # the launcher's own child, before it is the code
            raw("execve"),
        ]
    )
    it.packets([packet(wire.EXECVE, CODE, f6=b"/usr/bin/python3", f7=argv, f8=[b"PATH=/bin", b"X=1"])])
    it.packets([packet(wire.EXECVE_INFO, CODE, f2=b"/usr/bin/python3.11")])
    it.packets([packet(wire.RAW, CODE, f2=message(f1=0), f4=CALL["execve"])])
    return it


def lines(it: Translator, out: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out]


def logged(text: str, *, group: int = CODE, way: str = "E", second: int = 0) -> bytes:
    said = f"strace.go:1] [{group:4}:{group:4}] python3 {way} {text}"
    moment = f"2001-09-09T01:46:{40 + second:02}.000000100Z"
    return json.dumps({"msg": said, "time": moment}).encode() + b"\n"


def gave(name: str, result: int, *args: int, group: int = CODE) -> bytes:
    """The end of a call that makes a descriptor."""
    registers: dict[str, Any] = {f"f{5 + n}": arg for n, arg in enumerate(args)}
    return packet(wire.RAW, group, f2=message(f1=result), f4=CALL[name], **registers)


def opens(path: bytes, fd: int, group: int = CODE) -> list[bytes]:
    return [raw("openat", group=group), packet(wire.OPEN, group, f6=path), gave("openat", fd, group=group)]


def paths(it: Translator, out: list[bytes]) -> list[tuple[str, str | None]]:
    told = [line for line in lines(it, out) if line["ev"] in ("open", "exec", "file", "look")]
    return [(line["path"], line.get("asked")) for line in told]


def ended(text: str, *, group: int = CODE, second: int = 0, why: str = "") -> bytes:
    moment = f"2001-09-09T01:46:{40 + second:02}.000000100Z"
    said = f"strace.go:608] [{group:4}:{group:4}] python3 X {text} = 0 (0x0){why} (12.5µs)"
    return json.dumps({"msg": said, "level": "info", "time": moment}).encode() + b"\n"

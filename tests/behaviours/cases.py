"""Single behaviours: one small program each, what must be seen of it, and which rule must tell it.

Lists that the behaviours come from: Falco's event generator, Tracee's detectors (TRC-…), Atomic Red Team for
Linux (T…), RedCode (kinds), this project's threats (EV-…, IS-…). ``LIST`` holds one case a block:

    id | where from | py or sh | kind of behaviour | pattern of its subject | rule
        the program, in one or more lines

Programs touch nothing but the sandbox they run in; destinations are documentation addresses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gate.model.behaviour import BehaviourKind
from tests.paths import TESTS

LISTS: Final = TESTS / "behaviours" / "lists"
PRELUDE: Final = """\
import ctypes, os, socket, struct, subprocess, sys, threading
L = ctypes.CDLL(None, use_errno=True); L.syscall.restype = ctypes.c_long
def sc(number, *args):
    return L.syscall(ctypes.c_long(number), *[a if isinstance(a, bytes) else ctypes.c_long(a) for a in args])
def at(data):
    buffer = ctypes.create_string_buffer(data, len(data)); at.keep = getattr(at, "keep", []) + [buffer]
    return ctypes.addressof(buffer)
def tcp(host, port, family=socket.AF_INET):
    s = socket.socket(family); s.settimeout(0.3); s.connect_ex((host, port)); return s
def machine(code):
    import mmap
    page = mmap.mmap(-1, 4096, prot=7); page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
def write(path, text="x", mode="w"):
    with open(path, mode) as file: file.write(text)
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """``pattern`` is searched in the subject of a behaviour of ``kind``; ``rule`` must tell it."""

    id: str
    group: str
    source: str
    language: str
    kind: BehaviourKind
    pattern: str
    rule: str
    code: str

    @property
    def file(self) -> str:
        """Its name in the tree."""
        return f"{self.id}.{self.language}"

    @property
    def program(self) -> str:
        """What is run."""
        return (PRELUDE if self.language == "py" else "") + self.code + "\n"


_HEAD = re.compile(
    r"(?P<id>[a-z0-9-]+) \| (?P<source>[^|]+) \| (?P<language>py|sh) \| (?P<kind>[a-z]+)"
    r" \| (?P<pattern>.+) \| (?P<rule>[a-z-]+)"
)


def cases() -> tuple[Case, ...]:
    """All of them, in the order of the files. Raises ValueError for a line that is none."""
    found: list[Case] = []
    for file in sorted(LISTS.glob("*.txt")):
        for block in re.split(r"\n(?=\S)", file.read_text(encoding="utf-8").strip()):
            head, _, body = block.partition("\n")
            if head.startswith("#"):
                continue
            match = _HEAD.fullmatch(head)
            if match is None or not body.strip():
                raise ValueError(f"{file.name}: not a case: {head}")
            fields = match.groupdict()
            code = "\n".join(line.removeprefix("    ") for line in body.splitlines()).strip("\n")
            kind = BehaviourKind(fields.pop("kind"))
            found.append(Case(group=file.stem, kind=kind, code=code, **fields))
    return tuple(found)

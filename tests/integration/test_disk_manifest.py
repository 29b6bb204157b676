"""Two observers of files: what the file system says changed, and the calls that were seen to change it."""

# ruff: noqa: E501  # programs

from __future__ import annotations

import platform
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec
import pytest

from gate.inside.observer.numbers import numbers
from gate.model.behaviour import Behaviour
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.rule import Severity
from gate.model.run import Probe, RunRecord, SandboxSpec, Touched
from gate.sandbox import canaries, protocol
from gate.sandbox.backends.bubblewrap import strace as stracing
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.changed_files import Manifest
from gate.sandbox.contract import Backend
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.behaviour.accumulator import Cells
from gate.tracing.behaviour.disk import UNWRITTEN, DiskView
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.bpf import assembler, user_notification
from gate.tracing.diff import compare
from gate.tracing.events import File, Open
from gate.tracing.readers import strace
from gate.tracing.readers.gvisor import translator
from tests.contract.capabilities import backend_named, capability
from tests.contract.trees import DictTree
from tests.unit.signals.context import run as run_of

BACKEND_NAMES = (
    "bubblewrap",
    "bubblewrap-strace",
    *(pytest.param(name, marks=pytest.mark.engine) for name in ("docker", "gvisor")),
)
ORDINARY = r"""
import ctypes, mmap, multiprocessing, os, shutil, sqlite3, subprocess, tempfile
d = tempfile.mkdtemp()
def put(path, text="x"):
    with open(path, "w") as file: file.write(text)
put(d + "/a"); os.makedirs(d + "/b/c"); put(d + "/b/c/f")
os.rename(d + "/b", d + "/q"); os.rename(d + "/q", d + "/r"); os.symlink(d + "/r", d + "/ln"); put(d + "/ln/c/g")
os.link(d + "/a", d + "/a2"); os.chmod(d + "/a", 0o600); os.utime(d + "/a2")
os.mkdir(d + "/dark"); put(d + "/dark/x"); os.chmod(d + "/dark", 0)
put("/work/tree/new\nname"); put("/work/tree/a.py.new"); os.replace("/work/tree/a.py.new", "/work/tree/seen.py")
subprocess.run("echo hi > /tmp/sh; cp /etc/hostname /tmp/cp; mv /tmp/cp /tmp/mv; touch /tmp/t; mkfifo /tmp/ff", shell=True)
os.chdir(d); put("rel"); fd = os.open(".", os.O_RDONLY)
os.close(os.open("at", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
try: fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
except OSError: put("/tmp/linked")  # gVisor has none
else: os.write(fd, b"1"); os.link(f"/proc/self/fd/{fd}", "/tmp/linked", src_dir_fd=0, follow_symlinks=True)
put("/proc/self/cwd/by-proc"); multiprocessing.Semaphore(1); shutil.copytree(d + "/r", d + "/copy")
c = sqlite3.connect("/tmp/db"); c.execute("create table a(b)"); c.commit(); c.close()
with open(d + "/map", "wb+") as file:
    file.write(bytes(4096)); file.flush()
    shared = mmap.mmap(file.fileno(), 4096)
shared[0:4] = b"late"; shared.flush()
os.makedirs("/work/home/.config", exist_ok=True); put("/work/home/.config/x"); put("/work/home/.bashrc")
os.makedirs("/dev/shm/m", exist_ok=True); put("/dev/shm/m/n")
libc = ctypes.CDLL(None); put(d + "/one", "1"); put(d + "/two", "2")
libc.renameat2(-100, (d + "/one").encode(), -100, (d + "/two").encode(), 2)
os.symlink("/work/tree/more", "/tmp/way"); os.chmod("/tmp/way/1.txt", 0o600); os.utime("/tmp/way/2.txt")
os.rename("/tmp/way/3.txt", "/tmp/way/three"); put("/tmp/way/4.txt"); os.truncate("/tmp/way/5.txt", 1)
os.chdir("/tmp/way"); os.replace("6.txt", "six"); os.chmod("7.txt", 0o600); os.chown("8.txt", -1, os.getgid())
put(b"/tmp/no\xfftext"); os.mkdir(b"/tmp/\xe9"); put(b"/tmp/\xe9/x"); os.rename(b"/tmp/\xe9", b"/tmp/\xe8\xe9")
print("through")
"""
HIDDEN = r"""
import ctypes, os, struct
os.makedirs("/tmp/dark", exist_ok=True)
how = struct.pack("<QQQ", os.O_CREAT | os.O_WRONLY, 0o600, 0)
fd = ctypes.CDLL(None).syscall(437, -100, b"/tmp/dark/dropped", how, len(how))
os.write(fd, b"nobody saw this"); os.close(fd)
os.chmod("/tmp/dark", 0)
open("/tmp/seen", "w").write("x")
print(fd)
"""


@dataclass(frozen=True)
class Ran:
    """One program's record, what it was seen to do, and what the rules say."""

    record: RunRecord
    behaviours: tuple[Behaviour, ...]
    findings: tuple[Finding, ...]

    def unaccounted(self) -> list[str]:
        """Paths of files that changed without a call."""
        return [b.detail["path"] for b in self.behaviours if b.subject == UNWRITTEN]


def run(backend: Backend, code: str, spec: SandboxSpec | None = None) -> Ran:
    """One program in one sandbox."""
    tree = DictTree(files={"a.py": code, "seen.py": "pass"} | {f"more/{n}.txt": "text" for n in range(50)})
    probe = Probe(
        id="a", phase="script", target="a", path=None, argv=("python3", "a.py"), deadline=60, driver=False
    )
    with backend.open(spec or SandboxSpec(), tree, tree) as session:
        record = session.run(probe, "head")
        assert record.fault is None, record.fault
        assert record.completeness.whole
        diff = compare([record])
        change = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=())
        rules = signals(SignalContext(change=change, diff=diff, runs=(record,)))
        return Ran(record, behaviours(record), rules)


@pytest.fixture(params=BACKEND_NAMES)
def backend(request: pytest.FixtureRequest) -> Backend:
    found = backend_named(request.param)
    if not capability(request.param).available:
        pytest.skip(f"{request.param}: {capability(request.param).reason}")
    return found


def test_a_list_of_files_without_a_trace_accuses_nobody() -> None:
    touched = (Touched(path="/work/out/a.py", device=1, inode=1),)
    record = replace(run_of("install"), touched=touched)
    assert behaviours(record) == ()


def test_whatever_calls_wrote_is_accounted_for(backend: Backend) -> None:
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted, files=canaries.as_files(planted), env=canaries.as_environment(planted)
    )
    ran = run(backend, ORDINARY, spec)
    assert ran.record.stdout == b"through\n", ran.record.stderr
    assert ran.record.touched is not None
    names = {file.path.rpartition("/")[2] for file in ran.record.touched}
    assert {
        "a",
        "a2",
        "f",
        "g",
        "x",
        "seen.py",
        "linked",
        "db",
        "map",
        "n",
        ".bashrc",
        "new\\x0aname",
    } <= names
    untouched = {f"{number}.txt" for number in range(9, 50)}
    assert not names & untouched, "what was unpacked did not change"
    assert ran.unaccounted() == []


def test_a_write_that_the_tracer_is_blind_for_is_told(
    monkeypatch: pytest.MonkeyPatch, backend: Backend
) -> None:
    """A tracer that does not know openat2: its filter lets it through unseen."""
    if backend.name == "gvisor":
        pytest.skip("its kernel has no such call")
    monkeypatch.setattr(protocol, "filter_program", _blind)
    monkeypatch.setattr(stracing, "find_strace", _without_openat2)
    monkeypatch.setattr(strace, "filter_program", _blind_strace)
    ran = run(backend, HIDDEN)
    assert int(ran.record.stdout) > 2, ran.record.stderr
    assert ran.unaccounted() == ["/tmp/*"]
    assert [(f.rule_id, f.severity) for f in ran.findings if f.rule_id == "observation-evasion"] == [
        ("observation-evasion", Severity.HIGH)
    ]


@pytest.mark.engine
def test_a_write_that_gvisor_does_not_tell_of_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its packets and lines of one file are taken away on their way to us."""
    backend = BACKENDS["gvisor"]()
    if not capability(backend.name).available:
        pytest.skip("gvisor does not work here")
    said = translator.Translator._emit

    def blind(
        self: translator.Translator, kind: str, fields: dict[str, object], *, bare: bool = False
    ) -> None:
        if "dropped" not in str(fields.get("path")):
            said(self, kind, fields, bare=bare)

    monkeypatch.setattr(translator.Translator, "_emit", blind)
    ran = run(backend, "open('/tmp/dropped', 'w').write('x'); open('/tmp/seen', 'w').write('x')")
    assert ran.unaccounted() == ["/tmp/*"]
    assert "observation-evasion" in {finding.rule_id for finding in ran.findings}


_program, _strace_program, _found = (
    user_notification.filter_program,
    strace.filter_program,
    stracing.find_strace,
)


def _blind(arch: str | None = None, *, look: bool = True, files: bool = True) -> bytes:
    """The real filter, but for one call: its number is answered first."""
    return _letting(_program(arch, look=look, files=files))


def _blind_strace(known: Collection[str], arch: str | None = None) -> bytes:
    return _letting(_strace_program(known, arch))


def _letting(program: bytes) -> bytes:
    first = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, numbers(platform.machine())["openat2"]),
        (0x06, 0, 0, assembler.RET_ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in first) + program


def _without_openat2() -> tuple[str, tuple[str, ...]]:
    program, known = _found()
    return program, tuple(name for name in known if name != "openat2")


DEEP = """
import os
os.chdir("/tmp")
for n in range(300):
    os.mkdir("x" * 200); os.chdir("x" * 200)
print("deep")
"""


def test_what_cannot_be_listed_makes_the_look_incomplete() -> None:
    """Folders deeper than a path can name: whatever lies there cannot be compared."""
    backend = BACKENDS["bubblewrap"]()
    if not capability(backend.name).available:
        pytest.skip("bubblewrap does not work here")
    tree = DictTree(files={"a.py": DEEP})
    probe = Probe(
        id="a", phase="script", target="a", path=None, argv=("python3", "a.py"), deadline=30, driver=False
    )
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(probe, "head")
    assert record.stdout == b"deep\n", record.stderr
    assert record.touched is None
    assert record.completeness.truncated


def test_a_run_that_was_ended_is_not_compared() -> None:
    backend = BACKENDS["bubblewrap"]()
    if not capability(backend.name).available:
        pytest.skip("bubblewrap does not work here")
    tree = DictTree(files={"a.py": "import time; open('/tmp/x','w').close(); time.sleep(60)"})
    probe = Probe(
        id="a", phase="script", target="a", path=None, argv=("python3", "a.py"), deadline=1, driver=False
    )
    with backend.open(SandboxSpec(), tree, tree) as session:
        assert session.run(probe, "head").touched is None


class TestTheView:
    """DiskView by itself."""

    @staticmethod
    def told(events: Sequence[Open | File], *touched: tuple[str, int]) -> list[str]:
        cells = Cells()
        view = DiskView(cells)
        for event in events:
            if isinstance(event, Open):
                view.opened(event)
            else:
                view.changed(event)
        view.finish(Touched(path=path, device=1, inode=inode) for path, inode in touched)
        return [cell.detail["path"] for cell in cells]

    @staticmethod
    def open(path: str, access: Literal["r", "w"] = "w", asked: str = "") -> Open:
        return Open(seq=1, t=0.0, pid=1, call="openat", path=path, access=access, asked=asked)

    @staticmethod
    def rename(new: str, old: str, flags: str = "") -> File:
        return File(seq=1, t=0.0, pid=1, call="renameat2", path=new, other=old, flags=flags)

    def test_reading_is_not_writing(self) -> None:
        assert self.told([self.open("/tmp/a", "r")], ("/tmp/a", 1)) == ["/tmp/*"]
        assert self.told([self.open("/tmp/a")], ("/tmp/a", 1)) == []

    def test_folders_that_were_renamed_twice(self) -> None:
        events: list[Open | File] = [
            self.open("/work/tree/a/f"),
            self.rename("/work/tree/b", "/work/tree/a"),
            self.rename("/work/tree/c", "/work/tree/b"),
        ]
        assert self.told(events, ("/work/tree/c/f", 1)) == []
        assert self.told(events, ("/work/tree/c/g", 1)) == ["tree:c/g"]

    def test_a_circle_of_renames_ends(self) -> None:
        events: list[Open | File] = [self.rename("/work/b", "/work/a"), self.rename("/work/a", "/work/b")]
        assert self.told(events, ("/work/a/f", 1)) == ["/work/a/f"]

    def test_other_names_of_one_file_are_one_file(self) -> None:
        link = File(seq=1, t=0.0, pid=1, call="link", path="/tmp/n", other="/tmp/m")
        assert self.told([self.open("/tmp/m")], ("/tmp/m", 7), ("/tmp/elsewhere", 7)) == []
        assert self.told([link], ("/tmp/m", 7), ("/tmp/n", 7)) == []

    def test_exchanged_folders(self) -> None:
        events: list[Open | File] = [
            self.open("/work/x/f"),
            self.rename("/work/y", "/work/x", "RENAME_EXCHANGE"),
            self.open("/work/x/g"),
        ]
        assert self.told(events, ("/work/y/f", 1), ("/work/x/g", 2)) == []

    def test_what_was_asked_for_counts_too(self) -> None:
        assert self.told([self.open("/real/f", asked="/var/run/x/../f")], ("/run/f", 1)) == []


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b'{"files":[["zz",1,1,1]],"whole":true}',
        b'{"files":[["00",-1,1,1]],"whole":true}',
        b'{"files":[["00",1,1]],"whole":true}',
        b"[]",
    ],
)
def test_what_is_no_list_is_refused(payload: bytes) -> None:
    with pytest.raises((ValueError, msgspec.DecodeError), match=r"."):
        Manifest().feed(payload)


def test_a_list_is_only_complete_with_its_last_piece() -> None:
    manifest = Manifest()
    manifest.feed(b'{"files":[["2f61",1,2,30]],"whole":false}')
    parts = [manifest.touched]
    manifest.feed(b'{"files":[],"whole":true}')
    assert [*parts, manifest.touched] == [None, (Touched(path="/a", device=1, inode=2, size=30),)]
    assert manifest.sizes == {"/a": 30}
    broken = Manifest()
    broken.feed(b'{"files":[],"whole":false}')
    assert broken.touched is None

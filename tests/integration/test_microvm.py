"""The machine backend's own faults, and what a machine that goes on from a stored one has of its own."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from gate.errors import InconclusiveError
from gate.model.run import Outcome, Probe, SandboxSpec
from gate.sandbox.backends.microvm import (
    backend as microvm,
)
from gate.sandbox.backends.microvm import (
    command,
    guest_session,
    image,
)
from gate.sandbox.backends.microvm import (
    snapshot as microvm_snapshot,
)
from gate.sandbox.backends.microvm.backend import MicrovmBackend
from gate.sandbox.backends.microvm.command import Shape
from gate.sandbox.backends.microvm.guest_session import MachineEndedError, MicrovmSandbox
from gate.sandbox.backends.microvm.process import Machine
from gate.sandbox.tree_archive import NoTree
from tests.contract.backend_contract import probe, working
from tests.contract.leftovers import snapshot
from tests.contract.trees import DictTree

pytestmark = [pytest.mark.engine, pytest.mark.slow, pytest.mark.xdist_group("microvm")]
QUARTER = timedelta(days=90)
LONG = 140.0
"""Seconds: a processor in software, on a busy host."""


@pytest.fixture
def backend() -> MicrovmBackend:
    """The backend, where it works."""
    working("microvm")
    return MicrovmBackend()


@pytest.fixture
def anew() -> Iterator[None]:
    """What was found out about this machine is found out again, before and after."""
    microvm._working.cache_clear()
    yield
    microvm._working.cache_clear()


@pytest.fixture
def folder() -> Iterator[Path]:
    """That nobody may enter, too, as whom a machine runs; pytest's own folders are closed to others."""
    with tempfile.TemporaryDirectory(prefix="tools-", dir="/tmp") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def _tools(folder: Path, **instead: str) -> str:
    """A PATH on which QEMU is what the test says (the text of a script), or missing."""
    for name in ("busybox", "sqfstar", "sleep", "sh"):
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"no {name}")
        (folder / name).symlink_to(found)
    for name, text in instead.items():
        script = folder / name.replace("_", "-").replace("x86-64", "x86_64")
        script.write_text(text)
        script.chmod(0o755)
    return str(folder)


# --- something is missing


def test_without_qemu_it_says_how_to_get_it(
    anew: None, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("PATH", _tools(folder))
    found = MicrovmBackend().probe()
    assert not found.available
    assert "QEMU is not installed" in found.reason
    assert "qemu-system-x86" in found.reason


def test_a_qemu_that_hangs_costs_its_deadline(
    backend: MicrovmBackend, anew: None, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    hangs = '#!/bin/sh\n[ "$1" = --version ] && echo QEMU emulator version 0.0 && exit\nexec sleep 60\n'
    monkeypatch.setenv("PATH", _tools(folder, qemu_system_x86_64=hangs))
    monkeypatch.setattr(microvm, "reason_not_preferred", lambda: "no KVM")
    monkeypatch.setattr(microvm_snapshot, "_QUIET_SECONDS", 2.0)
    before, start = snapshot(), time.monotonic()
    found = backend.probe()
    assert not found.available
    assert "no answer in time" in found.reason
    assert time.monotonic() - start < 2 + 5
    assert snapshot() == before


def test_a_qemu_that_fails_is_told_in_its_own_words(
    backend: MicrovmBackend, anew: None, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    fails = "#!/bin/sh\necho no such machine here >&2\nexit 1\n"
    monkeypatch.setenv("PATH", _tools(folder, qemu_system_x86_64=fails))
    found = backend.probe()
    assert not found.available
    assert "no such machine here" in found.reason


def test_without_a_kernel_it_says_how_to_get_it(anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which(command.PROGRAM) is None:
        pytest.skip("no QEMU")
    monkeypatch.setattr(image, "_PLACES", ())
    found = MicrovmBackend().probe()
    assert not found.available
    assert "no kernel for virtual machines" in found.reason
    assert "make setup" in found.reason


def test_without_an_image_and_an_engine_to_make_it_there_is_no_machine(
    backend: MicrovmBackend, anew: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = backend.probe()
    assert not found.available
    assert "/nonexistent/docker.sock" in found.reason
    assert [p.name for p in (tmp_path / "gate/microvm").iterdir() if p.suffix == ".new"] == []


# what is not read to its end leaves docker-py's socket to the garbage collector
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk")
def test_a_full_disk_is_told_and_leaves_no_half_of_anything(
    backend: MicrovmBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], check=True)
    try:
        monkeypatch.setenv("XDG_CACHE_HOME", str(disk))
        with (
            pytest.raises(InconclusiveError) as caught,
            backend.open(SandboxSpec(), NoTree(), NoTree()),
        ):
            pytest.fail("opened on a full disk")
        assert "disk full" in caught.value.advice
        assert {p.suffix for p in (disk / "gate/microvm").iterdir()} <= {"", ".cpio", ".lock"}
    finally:
        subprocess.run(["umount", disk], check=True)
        gc.collect()


def test_a_machine_that_cannot_be_stored_is_booted(
    backend: MicrovmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(microvm_snapshot, "_store", full)
    shape = Shape(accelerator="tcg", memory=512)  # of a size that nothing else here uses
    boot = image.bootable()
    path = image.cache() / f"stored-{microvm_snapshot._digest(boot, shape, 'x')}.state"
    try:
        assert microvm_snapshot.ensure(boot, shape, "x") is None
        start = time.monotonic()
        assert microvm_snapshot.ensure(boot, shape, "x") is None, "not tried again"
        assert time.monotonic() - start < 1
        assert not path.exists()
        assert not path.with_suffix(".new").exists()
    finally:
        microvm_snapshot._cannot.discard(path)


# --- something breaks


def test_a_machine_killed_by_somebody_else_is_no_clean_look(backend: MicrovmBackend) -> None:
    tree = DictTree(files={"main.py": "import time\nprint('begun', flush=True)\ntime.sleep(60)"})
    before = snapshot()
    with backend.open(SandboxSpec(), tree, tree) as session, ThreadPoolExecutor(1) as pool:
        run = pool.submit(session.run, probe("python3", "main.py", deadline=40), "head")
        until = time.monotonic() + 60
        while not session._live and time.monotonic() < until:
            time.sleep(0.05)
        (box,) = session._live
        assert isinstance(box, MicrovmSandbox)
        time.sleep(1.5)
        os.kill(box.pid, signal.SIGKILL)
        start = time.monotonic()
        record = run.result(timeout=20)
        assert time.monotonic() - start < 15
        after = session.run(probe("python3", "-c", "print('hi')", deadline=LONG), "head")
    assert record.fault is not None
    assert not record.completed
    assert not record.completeness.whole
    assert record.outcome in (Outcome.KILLED, Outcome.NEVER_STARTED)
    assert (after.fault, after.stdout) == (None, b"hi\n"), "the next one is another machine"
    assert snapshot() == before


_BOOTS = """
from gate.sandbox.backends.microvm import image
from gate.sandbox.backends.microvm.command import Shape
from gate.sandbox.backends.microvm.process import Machine
machine = Machine(image.bootable(), Shape(accelerator="tcg", memory=512))
print(machine.pid, flush=True)
if WAIT:
    machine.wait_for("parked", 60)
    print("parked", flush=True)
import time
time.sleep(60)
"""


@pytest.mark.parametrize("when", ["at once", "in the kernel", "parked"])
def test_a_machine_ends_with_a_gate_that_is_killed(backend: MicrovmBackend, when: str) -> None:
    """Nobody cleans up, and while it boots nothing inside listens."""
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    code = _BOOTS.replace("WAIT", str(when == "parked"))
    gate = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert gate.stdout is not None
    try:
        pid = int(gate.stdout.readline())
        if when == "parked":
            assert gate.stdout.readline() == "parked\n"
        elif when == "in the kernel":
            time.sleep(1)
        assert _lives(pid)
    finally:
        gate.kill()
        gate.communicate()
    until = time.monotonic() + 5
    while _lives(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _lives(pid)


def test_a_machine_outlives_the_thread_that_asked_for_it(backend: MicrovmBackend) -> None:
    """The other half: the kernel's word for "parent" is a thread."""
    made: list[Machine] = []
    shape = Shape(accelerator="tcg", memory=512)
    asks = threading.Thread(target=lambda: made.append(Machine(image.bootable(), shape)))
    asks.start()
    asks.join()
    try:
        time.sleep(0.5)
        assert not made[0].ended
    finally:
        made[0].remove()


def _lives(pid: int) -> bool:
    """Not a zombie, and not gone."""
    with contextlib.suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    return False


@pytest.mark.parametrize("late", [False, True], ids=["at-once", "when-it-is-gone-already"])
def test_a_damaged_stored_machine_is_found_out(
    backend: MicrovmBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, late: bool
) -> None:
    give = Machine.give

    def give_late(machine: Machine, settings: Mapping[str, object]) -> bool:
        until = time.monotonic() + 20
        while late and not machine.ended and time.monotonic() < until:
            time.sleep(0.01)
        return give(machine, settings)

    monkeypatch.setattr(Machine, "give", give_late)
    shape = Shape(accelerator="tcg", memory=command.memory(512 << 20))
    damaged = tmp_path / "stored.state"
    damaged.write_bytes(b"not a machine" * 1000)
    with pytest.raises(MachineEndedError, match="migration"):
        MicrovmSandbox(image.bootable(), shape, SandboxSpec(), tmp_path / "t.jsonl", wait=20, stored=damaged)
    assert not (tmp_path / "t.jsonl").exists()


def test_a_stored_machine_that_does_not_go_on_is_dropped_and_another_boots(
    backend: MicrovmBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored = tmp_path / "stored.state"
    stored.write_bytes(b"")
    asked: list[Path | None] = []

    def box(*_: Any, stored: Path | None, **__: Any) -> str:
        asked.append(stored)
        if stored is not None:
            raise MachineEndedError("load of migration failed")
        return "booted"

    monkeypatch.setattr(microvm, "MicrovmSandbox", box)
    monkeypatch.setattr(microvm_snapshot, "ensure", lambda *_: stored)
    starter = microvm._Starter("tcg", SandboxSpec(), b"")
    made: list[object] = [starter.start(tmp_path / name) for name in ("t", "u")]
    assert made == ["booted", "booted"]
    assert asked == [stored, None, None]
    assert not stored.exists()


def test_a_stored_machine_that_went_away_is_no_fault(
    backend: MicrovmBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "stored.state"

    def box(*_: Any, stored: Path | None, **__: Any) -> str:
        if stored is not None:
            raise InconclusiveError("cannot start a virtual machine: no such file")
        return "booted"

    monkeypatch.setattr(microvm, "MicrovmSandbox", box)
    monkeypatch.setattr(microvm_snapshot, "ensure", lambda *_: gone)
    made: object = microvm._Starter("tcg", SandboxSpec(), b"").start(tmp_path / "t")
    assert made == "booted"
    gone.write_bytes(b"")
    with pytest.raises(InconclusiveError, match="cannot start"):
        microvm._Starter("tcg", SandboxSpec(), b"").start(tmp_path / "t")


def test_no_more_machines_are_started_at_a_time_than_there_are_cores(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def start(*_: object, **__: object) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        raise InconclusiveError("enough")

    monkeypatch.setattr(guest_session, "Machine", start)
    shape = Shape(accelerator="tcg", memory=768)
    boot: Any = None

    def one(number: int) -> None:
        with contextlib.suppress(InconclusiveError):
            MicrovmSandbox(boot, shape, SandboxSpec(), tmp_path / f"{number}.jsonl", wait=1)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(one, range(12)))
    assert 0 < most <= (os.cpu_count() or 1)


# --- what every machine has of its own

_OWN = """
import json, os, time, uuid
print(json.dumps([os.urandom(16).hex(), str(uuid.uuid4()), open("/proc/sys/kernel/random/boot_id").read(),
                  hash("x"), hex(id(object())), time.time()]))
"""


def test_machines_from_one_stored_state_share_neither_randomness_nor_time(backend: MicrovmBackend) -> None:
    said = []
    tree = DictTree(files={"main.py": _OWN})
    with backend.open(SandboxSpec(), tree, tree) as session:
        for _ in range(3):
            begun = time.time()
            record = session.run(probe("python3", "main.py", deadline=LONG), "head")
            assert record.fault is None
            *own, when = json.loads(record.stdout)
            assert begun - 1 < when < time.time() + 1
            said.append(own)
    assert all(len(set(kind)) == 3 for kind in zip(*said, strict=True)), said


_DATE = "import subprocess, time\nprint(int(time.time()), subprocess.check_output(['date', '+%s']).decode())"


def test_the_second_looks_clock_is_the_machines_own(backend: MicrovmBackend) -> None:
    items = [{"do": "script", "path": "main.py", "argv": [[]]}]
    job = {"items": items, "seconds": LONG - 5, "clock": QUARTER.total_seconds()}
    later = Probe(
        id="t~quarter",
        phase="script",
        target="t, 90 days later",
        path="main.py",
        argv=("python3", "/opt/gate/driver/main.py", json.dumps(job)),
        condition="90 days later",
        deadline=LONG,
    )
    tree = DictTree(files={"main.py": _DATE})
    with backend.open(SandboxSpec(), tree, tree) as session:
        record = session.run(later, "head")
        now = session.run(probe("python3", "main.py", deadline=LONG), "head")
    assert record.fault is None, record.fault
    for told, offset in ((record, QUARTER.total_seconds()), (now, 0)):
        python, program = map(int, told.stdout.split())
        assert abs(python - offset - time.time()) < 60, told.stdout
        assert abs(program - python) < 30
    assert record.driver_report["clock_by"] == "machine"
    assert record.probe == later
    assert "clock_by" not in now.driver_report


_DEPENDS = """
import os, sys, plumb
print(plumb.WHOSE, sorted(os.listdir("/opt")), sorted(os.listdir("/opt/deps")))
for path in ("/opt/deps/new", "/opt/new", plumb.__file__):
    try: open(path, "a")
    except OSError as error: print(error.errno)
print(os.path.exists("/boot/guest.py"), os.listdir("/boot"))
"""


@pytest.mark.parametrize("network", ["none", "sinkhole"])
def test_installed_dependencies_are_a_read_only_disk(
    backend: MicrovmBackend, tmp_path: Path, network: Literal["none", "sinkhole"]
) -> None:
    for whose in ("base", "head"):
        for minor in range(9, 16):  # whatever the image has
            place = tmp_path / whose / f"lib/python3.{minor}/site-packages"
            place.mkdir(parents=True)
            (place / "plumb.py").write_text(f"WHOSE = '{whose}'\n")
        with tarfile.open(tmp_path / f"{whose}.tar", "w") as tar:
            tar.add(tmp_path / whose / "lib", "lib")
    spec = SandboxSpec(layers={"base": tmp_path / "base.tar", "head": tmp_path / "head.tar"}, network=network)
    tree = DictTree(files={"main.py": _DEPENDS})
    with backend.open(spec, tree, tree) as session:
        for side in ("base", "head"):
            record = session.run(probe("python3", "main.py", deadline=LONG), side)
            assert record.fault is None, record.fault
            first, *rest = record.stdout.decode().splitlines()
            assert first == f"{side} ['deps', 'gate'] ['base', 'head']", record.stderr
            assert rest == ["30", "30", "30", "False []"]  # EROFS
    # The disks stay: a test beside this one may be about to start a machine from its own, and the cache
    # drops by itself what nobody used for a week.


def test_what_is_stored_is_private_and_kept_within_bounds(backend: MicrovmBackend) -> None:
    with backend.open(SandboxSpec(), NoTree(), NoTree()):
        pass
    kept = list(image.cache().glob("stored-*.state"))
    if not kept:
        pytest.skip("nothing is stored on this machine (KVM)")
    assert len(kept) <= microvm_snapshot._KEPT
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}
    assert stat.S_IMODE(image.cache().stat().st_mode) & 0o077 == 0


def test_what_it_cannot_do_it_refuses(backend: MicrovmBackend) -> None:
    spec = SandboxSpec(image="other:1")
    with pytest.raises(InconclusiveError, match="microvm"), backend.open(spec, NoTree(), NoTree()):
        pytest.fail("opened all the same")

"""The clock of programs that the driver starts: moved by libfaketime, where it is and where it can be."""

from __future__ import annotations

import importlib
import shutil
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.unit.inside.driver.harness import DRIVER, Driven, drive, lay_tree

LIBRARY: Final = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
SHARED: Final = Path("/dev/shm")
DAY: Final = 86_400
needed = pytest.mark.skipif(LIBRARY is None, reason="libfaketime is missing (apt-get install libfaketime)")
SAYS: Final = "echo $(( ($(date +%s) - $(stat -Lc %Z /proc/self) + 3600) / 86400 ))\n"
"""By how many days the clock is ahead of the kernel's."""


@pytest.fixture
def preload(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(DRIVER))
    yield importlib.import_module("gate.inside.driver.clock_preload")
    for name in [name for name in sys.modules if name.startswith("driver_")]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def _tidy() -> Iterator[None]:
    """Remove what drivers that are gone left: one that was stuck leaves it to the end of the sandbox."""
    yield
    for path in SHARED.glob("*gate-clock-*"):
        if not Path("/proc", path.name.rpartition("-")[2]).exists():
            path.unlink(missing_ok=True)


def shell(tree: Path, text: str, **options: Any) -> Driven:
    lay_tree(tree, {"a.sh": text})
    return drive(tree, {"items": [{"do": "shell", "path": "a.sh"}], **options})


@needed
def test_a_script_sees_the_moved_clock_and_nothing_stays(tmp_path: Path) -> None:
    before = set(SHARED.iterdir())
    later = shell(tmp_path, SAYS, clock=90 * DAY)
    assert (later.stdout, later.stderr, later.done) == ("90\n", "", True)
    assert later.item["clock_by"] == "libfaketime"
    assert not [p for p in set(SHARED.iterdir()) - before if "gate-clock" in p.name or "faketime" in p.name]


def test_a_plain_run_has_nothing_of_it(tmp_path: Path) -> None:
    plain = shell(tmp_path, SAYS + "env\n")
    assert plain.stdout.startswith("0\n")
    assert "FAKETIME" not in plain.stdout
    assert "LD_PRELOAD" not in plain.stdout
    assert "clock_by" not in plain.item


@needed
def test_sleeps_pass_faster_but_the_drivers_clock_does_not(tmp_path: Path) -> None:
    start = time.monotonic()
    later = shell(tmp_path, "sleep 90\n" + SAYS, clock=DAY, rate=60)
    assert (later.stdout, later.done) == ("1\n", True)
    assert 1.4 < time.monotonic() - start < 30
    start = time.monotonic()
    stuck = shell(tmp_path, "sleep 3600\n", clock=DAY, rate=60, seconds=3)
    assert stuck.item["outcome"] == "timed-out"
    assert time.monotonic() - start > 2.9


@needed
def test_python_below_a_script_sleeps_as_long_as_it_asks(tmp_path: Path) -> None:
    """Its sleep is one until a moment of the monotonic clock, which libfaketime counts in its own way."""
    text = (
        "python3 - <<'.'\nimport threading, time\na = time.monotonic()\ntime.sleep(0.3)\n"
        "threading.Event().wait(0.3)\nprint(0.6 <= time.monotonic() - a < 10)\n.\n"
    )
    later = shell(tmp_path, text, clock=731 * DAY)
    assert (later.stdout, later.stderr) == ("True\n", "")


@needed
def test_what_python_starts_has_its_clock_moved_and_python_itself_only_once(tmp_path: Path) -> None:
    lay_tree(
        tmp_path,
        {
            "a.py": f"""
                import os, subprocess, sys, time
                code = "import os, time; print(round((time.time() - os.stat('/proc/self').st_ctime) / 86400))"
                print(round((time.time() - os.stat("/proc/self").st_ctime) / 86400), flush=True)
                subprocess.run([sys.executable, "-c", code])
                subprocess.run(["sh", "-c", {SAYS!r}])
                if not os.fork():
                    exec(code)
                    sys.stdout.flush()
                    os._exit(0)
                os.wait()
                subprocess.run([sys.executable, "-c", code], env={{}})
                """
        },
    )
    item = {"do": "import", "module": "a", "path": "a.py"}
    later = drive(tmp_path, {"items": [item], "clock": 90 * DAY, "rate": 60})
    assert later.stdout.split() == ["90", "90", "90", "90", "0"]  # an environment of its own: the real clock
    assert later.item["clock_by"] == "python, libfaketime"


@needed
def test_a_static_program_is_told_as_not_reached(tmp_path: Path, preload: ModuleType) -> None:
    busybox = shutil.which("busybox")
    if busybox is None or preload._loads_libraries(busybox):
        pytest.skip("no static program here (apt-get install busybox-static)")
    lay_tree(tmp_path, {"a.txt": ""})
    item = {"do": "program", "argv": ["busybox", "true"], "path": "a.txt"}
    later = drive(tmp_path, {"items": [item], "clock": DAY})
    assert (later.item["outcome"], later.item["clock_by"]) == ("completed", "nobody")


def test_without_the_library_nobody_moves_it(preload: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(preload, "_FOLDERS", ("/nowhere/{arch}",))
    assert preload.find_library() is None
    assert preload.environment(DAY, 60, said.append) == {}
    preload.report_clock_source("/bin/sh")
    assert said == []


def test_no_place_to_share_is_no_moved_clock(
    preload: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preload, "find_library", lambda: "/usr/lib/faketime/libfaketime.so.1")
    monkeypatch.setattr(preload, "_MEMORY", f"{tmp_path}/missing/")
    assert preload.environment(DAY, 60, print) == {}


@pytest.mark.parametrize("rate", [1, 10, 60])
def test_the_shared_start_makes_its_monotonic_clock_the_kernels(
    preload: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, rate: int
) -> None:
    """``fake_clock_gettime``: moved date at the start + (now - start) * rate."""
    monkeypatch.setattr(preload, "find_library", lambda: "/usr/lib/faketime/libfaketime.so.1")
    monkeypatch.setattr(preload, "_MEMORY", f"{tmp_path}/")
    monkeypatch.setattr(preload.time, "time_ns", lambda: 1_795_000_000 * 10**9 + 7)
    monkeypatch.setattr(preload.time, "monotonic_ns", lambda: 55_000 * 10**9 + 5)
    moved = preload.environment(90 * DAY, rate, print)
    assert moved["FAKETIME"] == "+7776000" + ("" if rate == 1 else f" x{rate}")
    gate, memory = (
        f"{tmp_path}/{prefix}{moved['FAKETIME_SHARED'].split()[0][1:]}" for prefix in ("sem.", "")
    )
    assert Path(gate).read_bytes() == b"\1" + b"\0" * 7 + b"\x80" + b"\0" * 23
    real, nano, steady, fraction = struct.unpack_from("<16x4q", Path(memory).read_bytes())
    assert (real, nano) == (1_795_000_000, 7)
    assert 0 <= fraction < 10**9
    start = steady * 10**9 + fraction
    date = (real + 90 * DAY) * 10**9 + nano
    for passed in (0, 3 * 10**9):
        now = 55_000 * 10**9 + 5 + passed
        counted = date + (now - start) * rate
        assert abs(counted - (55_000 * 10**9 + 5 + passed * rate)) <= 2 * rate


@pytest.mark.parametrize(
    ("content", "loads"),
    [
        (b"", False),
        (b"#!", False),
        (b"#!/nowhere/sh\n", False),
        (b"\x7fELF\x02\x01", False),
        (b"\x7fELF\x01\x01" + b"\0" * 58, False),
        (b"\x7fELF\x02\x01" + b"\xff" * 200, False),
        (b"#! /bin/sh -e\n", True),
    ],
)
def test_what_loads_libraries(preload: ModuleType, tmp_path: Path, content: bytes, loads: bool) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)
    assert preload._loads_libraries(str(program)) is loads
    program.write_bytes(f"#!{program}\n".encode())  # its own interpreter
    assert preload._loads_libraries(str(program)) is False

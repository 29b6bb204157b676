"""The supervisor's quick way says the same as its long one: one program, both ways, line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.tracing.events import Open, PathQuery
from tests.integration.launching import Launched, python, why_no_bwrap
from tests.integration.raw_calls import RAW

pytestmark = pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")

_PROGRAM = (
    RAW
    + """
import threading
os.chdir("/tmp"); os.symlink("/etc/passwd", "/tmp/link"); os.symlink("d", "/tmp/over")
os.mkdir("/tmp/.hidden"); os.symlink("/tmp/loop", "/tmp/loop"); os.symlink("../kept", "/tmp/.hidden/over")
for name in ("in", "..x"): open("/tmp/.hidden/" + name, "w").close()
kept = os.open("/tmp/kept", os.O_RDWR | os.O_CREAT)
buffer = at(bytes(256))
def everything():
    for path in (b"/etc/hostname", b"/etc/../etc/hostname", b"relative", b"/tmp/link", b"/tmp/over/x", b"",
                 b"/proc/self/root/etc/hostname", b"/tmp/kept", b"/odd\\\\ \\"name\\"\\n\\xff\\xc3\\xa4",
                 b"/tmp//kept", b"/tmp/./kept", b"/tmp/kept/", b"/tmp/../tmp/kept", b"/tmp/.hidden/in",
                 b"/tmp/.hidden/.", b"/tmp/.hidden/..", b"/tmp/..", b"/tmp/.hidden/..x", b"//tmp/kept",
                 b"/dev/null", b"/dev/fd/1",
                 b"/proc/self/stat", b"/proc/1/comm", b"/tmp/loop/x", b"/tmp/.hidden/over",
                 b"/" + b"long/" * 60, b"/usr/lib/" + b"y" * 243, b"/usr/lib/" + b"y" * 246):
        call(4, path, buffer); call(6, path, buffer); call(21, path, 4); call(89, path, buffer, 64)
        call(262, -100, path, buffer, 0); call(332, -100, path, 0, 0xfff, buffer)
        call(269, -100, path, 4); call(439, -100, path, 4, 0); call(267, -100, path, buffer, 64)
        call(2, path, os.O_RDONLY | os.O_CLOEXEC); call(257, -100, path, os.O_RDONLY)
        call(257, -100, path, os.O_RDONLY | os.O_DIRECTORY); call(257, -100, path, os.O_RDWR)
    call(262, -100, 0, buffer, 0); call(257, -100, 8, os.O_RDONLY)  # nothing there to read
everything()
other = threading.Thread(target=everything); other.start(); other.join()
os.rename("/tmp/link", "/tmp/link2"); os.symlink("/etc/group", "/tmp/link")
everything()
os._exit(0)
"""
)


def _lines(result: Launched) -> list[dict[str, Any]]:
    """The trace without numbers that differ between any two runs."""
    assert result.trace is not None
    names: dict[int, int] = {}
    out = []
    for line in result.trace.read_text("ascii").splitlines():
        event = json.loads(line)
        for key in ("seq", "t", "wall"):
            event.pop(key, None)
        for key in ("pid", "tid", "ppid"):
            if key in event:
                event[key] = names.setdefault(event[key], len(names))
        out.append(event)
    return out


def test_both_ways_say_the_same(tmp_path: Path) -> None:
    quick = python(tmp_path, _PROGRAM)
    long = python(
        tmp_path, _PROGRAM, canaries=("/nobody/has/this",)
    )  # a canary to guard: always the long way
    assert len(quick.events) > 300
    assert _lines(quick) == _lines(long)


def test_a_new_length_is_told_by_the_open_that_it_needs(tmp_path: Path) -> None:
    program = "import os\nfd = os.open('/tmp/kept', os.O_RDWR | os.O_CREAT)\nos.ftruncate(fd, 5)"
    result = python(tmp_path, program)
    assert [event.access for event in result.of(Open) if event.path == "/tmp/kept"] == ["rw"]
    assert result.summary is not None
    assert "ftruncate" not in result.summary.calls


def test_paths_are_read_from_the_program_that_asks_now(tmp_path: Path) -> None:
    program = """
import os, sys
def ask(n): [os.path.exists(f"/nowhere/{n}/{i}") for i in range(3)]
ask(sys.argv[1:])
if len(sys.argv) < 4:
    try: os.execv("/nowhere/program", ["x"])  # fails: the same one goes on
    except OSError: ask("failed")
    if os.fork() == 0:
        ask("child"); os.execv(sys.executable, [sys.executable, "-c", os.environ["P"], "c", "c", "c"])
    os.wait()
    os.execv(sys.executable, [sys.executable, "-c", os.environ["P"], *sys.argv[1:], "e"])
"""
    result = python(tmp_path, f"import os; os.environ['P'] = {program!r}" + program)
    asked = {event.path.split("/")[2] for event in result.of(PathQuery) if event.path.startswith("/nowhere/")}
    assert asked >= {"[]", "failed", "child", "['c', 'c', 'c']", "['e']", "['e', 'e']", "['e', 'e', 'e']"}
    assert result.completeness.whole


def test_a_second_thread_s_failed_exec_does_not_hide_the_first_one_s(tmp_path: Path) -> None:
    program = """
import ctypes, os, sys, threading
execv = ctypes.CDLL(None).execv  # lets other threads go on meanwhile
def words(*all): return (ctypes.c_char_p * (len(all) + 1))(*all, None)
def fails():
    while True:
        execv(b"/nowhere/program", words(b"x"))
        for _ in range(20): os.path.exists("/nowhere/other")
        begun.set()
begun = threading.Event()
threading.Thread(target=fails, daemon=True).start()
begun.wait()
new = b"import os; os.path.exists('/nowhere/new')"
execv(os.fsencode(sys.executable), words(os.fsencode(sys.executable), b"-c", new, *[b"x" * 100_000] * 15))
"""
    for _ in range(5):
        result = python(tmp_path, program)
        assert result.trace is not None
        lines = [json.loads(line) for line in result.trace.read_text("ascii").splitlines()]
        old, new = (
            [line["seq"] for line in lines if line.get("path") == f"/nowhere/{name}"]
            for name in ("other", "new")
        )
        known = [line["seq"] for line in lines if line["ev"] == "process" and line["why"] == "exec"]
        assert len(new) == 1
        assert old[-1] < known[-1] < new[0]
        result.trace.unlink()


def test_a_flood_of_questions_is_dropped_and_counted_the_quick_way_too(tmp_path: Path) -> None:
    flood = 'import os\nfor _ in range(3000): os.path.exists("/etc/hostname")'
    result = python(tmp_path, flood, events=1000)
    assert result.summary is not None
    assert result.summary.dropped >= 2000
    assert sum(result.summary.calls.values()) >= 3000
    assert not result.completeness.whole


def test_numbers_and_times_rise_in_the_trace(tmp_path: Path) -> None:
    mixed = 'import os\nfor n in range(400): os.path.exists("/etc/hostname"); os.mkdir(f"/tmp/{n}")'
    result = python(tmp_path, mixed)
    assert result.trace is not None
    lines = [json.loads(line) for line in result.trace.read_text("ascii").splitlines()]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    times = [line["t"] for line in lines if "t" in line]
    assert times == sorted(times)


def _opened(result: Launched, name: str) -> list[str]:
    return [event.path for event in result.of(Open) if event.path.endswith(name)]


def test_a_link_that_means_each_reader_s_own_folder_is_followed_anew_each_time(tmp_path: Path) -> None:
    program = """
import os
for name in ("/tmp/a", "/tmp/b"): os.mkdir(name); open(name + "/kept", "w").close()
os.symlink("/proc/self/cwd", "/tmp/here")
os.chdir("/tmp/a"); open("/tmp/here/kept").close(); open("/tmp/here/kept").close()
os.chdir("/tmp/b"); open("/tmp/here/kept").close()
"""
    found = _opened(python(tmp_path, program), "kept")[2:]
    assert found == ["/tmp/a/kept", "/tmp/a/kept", "/tmp/b/kept"]


def test_a_link_planted_while_others_open_does_not_stay_unknown(tmp_path: Path) -> None:
    program = """
import os, threading
os.makedirs("/tmp/there/in"); open("/tmp/there/in/kept", "w").close()
busy = True
def ask():
    while busy:
        try: os.close(os.open("/tmp/link/in/kept", os.O_RDONLY))
        except OSError: pass
others = [threading.Thread(target=ask) for _ in range(2)]
for other in others: other.start()
for turn in range(150):
    os.symlink("/tmp/there", "/tmp/link")
    for _ in range(200): pass
    if turn % 2: os.stat("/")
    os.close(os.open("/tmp/link/in/kept", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    os.unlink("/tmp/link")
busy = False
for other in others: other.join()
"""
    result = python(tmp_path, program)
    mine = [e for e in result.of(Open) if "O_NONBLOCK" in e.flags and e.path.endswith("kept")]
    assert {e.path for e in mine} == {"/tmp/there/in/kept"}
    assert len(mine) == 150


def test_no_row_of_links_is_too_long_to_be_followed(tmp_path: Path) -> None:
    program = """
import os
os.mkdir("/tmp/there"); open("/tmp/there/kept", "w").close()
for n in range(18): os.symlink(f"/proc/self/root/tmp/l{n + 1}", f"/tmp/l{n}")
os.symlink("/tmp/there", "/tmp/l18"); open("/tmp/l9/kept").close()
top = os.open("/", os.O_PATH)
open(f"/proc/self/fd/{top}" * 18 + "/tmp/there/kept").close()
"""
    assert _opened(python(tmp_path, program), "kept") == ["/tmp/there/kept"] * 3


def test_threads_and_children_that_said_nothing_are_known_in_paths(tmp_path: Path) -> None:
    program = """
import ctypes, os, threading
for name in ("/tmp/a", "/tmp/b"): os.mkdir(name); open(name + "/kept", "w").close()
os.chdir("/tmp/a"); folder = os.open("/tmp/a", os.O_PATH)
hold = threading.Event(); thread = threading.Thread(target=hold.wait); thread.start()
ends, end = os.pipe()
child = os.fork()
if not child: os.read(ends, 1); os._exit(0)
for number in (thread.native_id, child):
    for way in ("cwd", f"fd/{folder}", "root/tmp/a"): open(f"/proc/{number}/{way}/kept").close()
open(f"/proc/self/task/{thread.native_id}/cwd/kept").close()
os.write(end, b"x"); hold.set()
"""
    assert _opened(python(tmp_path, program), "kept")[2:] == ["/tmp/a/kept"] * 7


def test_a_link_at_the_end_of_a_path_too_long_to_look_up_is_no_blind_spot(tmp_path: Path) -> None:
    program = """
import os
os.mkdir("/tmp/there"); open("/tmp/there/kept", "w").close()
os.chdir("/tmp")
for _ in range(19): os.mkdir("d" * 200); os.chdir("d" * 200)
os.symlink("/tmp/there", "link")
open("./" * 200 + "link/kept").close()
"""
    result = python(tmp_path, program)
    assert _opened(result, "kept") == ["/tmp/there/kept"] * 2
    assert result.completeness.whole
    result = python(tmp_path, program + "os.mkdir('e' * 250); open(('e' * 250 + '/../') * 2 + 'link/kept')")
    assert not result.completeness.whole

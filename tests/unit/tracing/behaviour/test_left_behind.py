"""Who was still there when the driver had ended: told from the trace, with what started it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.model.behaviour import Behaviour
from gate.model.location import Location
from gate.tracing.events import Control, Exit, Fork
from tests.unit.tracing.trace_builder import DRIVER, ITEM, Trace, told

LATER = ("python3", "later.py")


def fork(trace: Trace, pid: int, flags: str = "", **more: bool) -> Trace:
    return trace.add(Fork, pid=pid, call="clone", flags=flags, **more)


def setsid(trace: Trace, pid: int) -> Trace:
    return trace.add(Control, pid=pid, call="setsid", op="setsid")


def over(trace: Trace, *left: int) -> Trace:
    """The item and the driver end, then the launcher ends what is left."""
    trace.end(ITEM).end(DRIVER)
    for pid in left:
        trace.add(Exit, pid=pid)
    return trace


def left(trace: Trace, folder: Path, **fields: Any) -> list[Behaviour]:
    return [b for b in trace.seen(folder, **fields) if b.detail.get("how") == "leaves"]


def test_a_program_that_is_left_behind_is_told(tmp_path: Path) -> None:
    trace = fork(Trace(), ITEM).exec("/usr/bin/python3.11", *LATER)
    (one,) = left(over(trace, 102), tmp_path)
    assert (one.kind.value, one.subject) == ("exit", "leaves python later.py")
    assert one.detail == {
        "how": "leaves",
        "program": "python",
        "path": "/usr/bin/python3.11",
        "argv": "python3 later.py",
        "begun": "python3 later.py",
    }


@pytest.mark.parametrize(
    "end",
    [
        lambda trace: over(trace.end(102)),
        lambda trace: over(trace.add(Exit, pid=102)),  # killed by the test that started it
        lambda trace: over(trace).end(102),  # on its way out when the driver ended
        lambda trace: trace.end(ITEM).add(Exit, pid=DRIVER).add(Exit, pid=102),  # we ended the run
        lambda trace: trace.end(DRIVER).add(Exit, pid=102).add(Exit, pid=ITEM),  # the item is not through
    ],
    ids=["ended", "killed", "ending", "stopped", "item stuck"],
)
def test_what_ended_before_or_is_still_used_is_not(end: object, tmp_path: Path) -> None:
    trace = fork(Trace(), ITEM).exec("/usr/bin/python3.11", *LATER)
    assert callable(end)
    assert left(end(trace), tmp_path) == []


def test_leaving_the_session_is_told_and_inherited(tmp_path: Path) -> None:
    trace = fork(Trace(), ITEM).process(102, ITEM, "/usr/bin/python3.11")
    setsid(trace, 102)
    fork(trace, 102)
    trace.end(102).exec("/usr/bin/sleep", "sleep", "60", pid=103, ppid=102)
    (one,) = left(over(trace, 103), tmp_path)
    assert (one.subject, one.detail["detached"]) == ("leaves sleep 60", "session")


def test_an_orphan_that_is_met_late_belongs_to_who_lost_a_child(tmp_path: Path) -> None:
    """Its parent had ended by its first call: the kernel says that the driver is its parent."""
    trace = fork(Trace(), ITEM).exec("/usr/bin/dash", "sh", "-c", "nohup later &")
    setsid(trace, 102)
    fork(trace, 102).end(102)
    trace.exec("/work/tree/later", "later", pid=103, ppid=DRIVER)
    (one,) = left(over(trace, 103), tmp_path)
    assert one.detail["detached"] == "session"
    assert one.detail["begun"] == "sh -c nohup later &"


def test_nohup_is_a_way_to_stay(tmp_path: Path) -> None:
    trace = fork(Trace(), ITEM).exec("/usr/bin/nohup", "nohup", "sh", "-c", "sleep 60; act")
    trace.exec("/usr/bin/dash", "sh", "-c", "sleep 60; act", pid=102)
    fork(trace, 102).exec("/usr/bin/sleep", "sleep", "60", pid=103, ppid=102)
    (one,) = left(over(trace, 102, 103), tmp_path)
    assert one.subject == "leaves sh -c 'sleep 60; act'"
    assert one.detail["detached"] == "nohup"
    assert one.detail["begun"] == "nohup sh -c sleep 60; act"
    assert (one.detail["below"], one.detail["programs"]) == ("sleep 60", "sleep")


def test_listeners_and_what_is_below_count_for_the_family(tmp_path: Path) -> None:
    trace = fork(Trace(), ITEM).exec("/usr/bin/dash", "sh", "-c", "serve")
    fork(trace, 102).exec("/usr/bin/python3.11", "python3", "serve.py", pid=103, ppid=102)
    setsid(trace, 103).net("listen", "0.0.0.0", 8080, pid=103)
    trace.net("listen", "/tmp/s", pid=103, family="AF_UNIX")
    (one,) = left(over(trace, 103, 102), tmp_path)
    assert one.subject == "leaves sh -c serve"
    assert one.detail["listens"] == "/tmp/*"
    assert one.detail["detached"] == "session"


def test_a_copy_that_never_made_a_call(tmp_path: Path) -> None:
    """Only the driver knows that it is there, and only its parent that it left the session."""
    trace = fork(Trace(), ITEM).process(102, ITEM, "/usr/bin/python3.11")
    setsid(trace, 102)
    fork(trace, 102).end(102)
    over(trace)
    report = {"items": [{"left_running": True}]}
    (one,) = left(trace, tmp_path, driver_report=report)
    assert (one.subject, one.detail["detached"]) == ("leaves a copy of itself", "session")
    assert left(trace, tmp_path) == [], "nothing was left: it had ended"
    plain = over(fork(Trace(), ITEM))
    assert told(plain.seen(tmp_path, driver_report=report)) == ["exit left-running"]


def test_a_copy_of_a_copy_that_ended_is_nobodys(tmp_path: Path) -> None:
    """Forked twice without a session of its own, it waits in a call that is not traced."""
    report = {"items": [{"left_running": True}]}

    def twice() -> Trace:
        return fork(fork(Trace(), ITEM).process(102, ITEM, "/usr/bin/python3.11"), 102)

    (one,) = left(over(twice().end(102)), tmp_path, driver_report=report)
    assert (one.subject, one.detail["detached"]) == ("leaves a copy of itself", "orphan")
    met = twice().process(103, 102, "/usr/bin/python3.11").end(102)
    assert [b.detail["detached"] for b in left(over(met, 103), tmp_path)] == ["orphan"]
    late = twice().end(102).process(103, DRIVER, "/usr/bin/python3.11")
    assert [b.detail["detached"] for b in left(over(late, 103), tmp_path)] == ["orphan"]
    became = twice().end(102).exec("/usr/bin/sleep", "sleep", "60", pid=103, ppid=DRIVER)
    assert ["detached" in b.detail for b in left(over(became, 103), tmp_path)] == [False]


def test_a_helper_that_ends_with_its_caller_orphans_nobody(tmp_path: Path) -> None:
    """A worker whose item had ended before it, and a shell that left something in the background."""
    report = {"items": [{"left_running": True}]}
    trace = fork(Trace(), ITEM).process(102, ITEM, "/usr/bin/python3.11")
    fork(trace, 102).end(ITEM).end(102).end(DRIVER)
    assert left(trace, tmp_path, driver_report=report) == []
    trace = fork(Trace(), ITEM).exec("/usr/bin/dash", "sh", "-c", "wait_long &")
    over(fork(trace, 102).end(102))
    assert left(trace, tmp_path, driver_report=report) == []


def test_threads_are_no_children(tmp_path: Path) -> None:
    trace = fork(fork(Trace(), ITEM, thread=True), ITEM, "CLONE_VM|CLONE_THREAD")
    setsid(trace, ITEM)
    assert left(over(trace), tmp_path, driver_report={"items": [{"left_running": True}]}) == []


def test_a_probe_without_the_driver(tmp_path: Path) -> None:
    """Nobody gave its helpers time to end: only who got loose is told."""
    trace = Trace(driver=False)
    fork(trace, DRIVER).exec("/usr/bin/python3.11", *LATER, ppid=DRIVER)
    fork(trace, DRIVER).exec("/usr/bin/sleep", "sleep", "60", pid=103, ppid=DRIVER)
    setsid(trace, 103).end(DRIVER).add(Exit, pid=102).add(Exit, pid=103)
    assert [one.subject for one in left(trace, tmp_path)] == ["leaves sleep 60"]


def test_the_line_that_started_it(tmp_path: Path) -> None:
    trace = fork(Trace(), ITEM).exec("/usr/bin/dash", "/bin/sh", "-c", "nohup sleep 60 &")
    fork(trace, 102).end(102).exec("/usr/bin/sleep", "sleep", "60", pid=103, ppid=102)
    sites = [["os.system", "true", "a.py", 3], ["os.system", "nohup sleep 60 &", "a.py", 7]]
    (one,) = left(over(trace, 103), tmp_path, driver_report={"items": [{"sites": sites}]})
    assert one.at == Location(path="a.py", line=7)
    sites = [["os.fork", "", "b.py", 9]]
    (one,) = left(trace, tmp_path, driver_report={"items": [{"sites": sites}]})
    assert one.at == Location(path="b.py", line=9)


def test_what_the_driver_adopted_is_not_its_item(tmp_path: Path) -> None:
    """The item's own program is what was planned; one that an orphan becomes is a behaviour."""
    trace = fork(Trace(), DRIVER).exec("/usr/bin/dash", "sh", "start.sh", pid=110, ppid=DRIVER)
    fork(trace, 110).end(110).exec("/usr/bin/curl", "curl", "http://c2.example", pid=111, ppid=DRIVER)
    assert "exec curl http://c2.example" in told(trace.seen(tmp_path, phase="script"))
    assert "exec sh start.sh" not in told(trace.seen(tmp_path, phase="script"))
    fork(trace, DRIVER).exec("/usr/bin/dash", "sh", "next.sh", pid=112, ppid=DRIVER)
    assert "exec sh next.sh" not in told(trace.seen(tmp_path, phase="script"))


def test_a_flood_is_bounded(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(60):
        fork(trace, ITEM).exec("/usr/bin/sleep", "sleep", chr(97 + number % 26) * 3, pid=200 + number)
    setsid(trace, 259)
    told = left(over(trace, *range(200, 260)), tmp_path)
    assert 15 < len(told) <= 20
    assert [one.subject for one in told if one.detail.get("detached")] == ["leaves sleep hhh"], "first of all"

"""Head against base: what counts as new, what is noise, what is merely moved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gate.model.behaviour import BehaviourDiff
from gate.model.canary import Canary
from gate.model.change import Side
from gate.model.location import Location
from gate.model.run import Phase, RunRecord
from gate.tracing.diff import compare
from tests.unit.tracing.trace_builder import Trace

SECRET = "ghs_0123456789abcdefghij"


def turn(
    folder: Path, side: Side, trace: Trace, *, phase: Phase = "import", probe: str = "p1", repeat: int = 0
) -> RunRecord:
    name = f"{side}-{phase}-{probe}-{repeat}"
    record = trace.record(folder, phase=phase, name=name)
    return replace(record, side=side, repeat=repeat, probe=replace(record.probe, id=probe))


def subjects(diff: BehaviourDiff) -> tuple[list[str], list[str], int]:
    return [b.subject for b in diff.new], [b.subject for b in diff.gone], diff.unchanged_count


def test_new_gone_and_unchanged(tmp_path: Path) -> None:
    base = turn(tmp_path, "base", Trace().open("/etc/motd").open("/etc/issue"))
    head = turn(tmp_path, "head", Trace().open("/etc/motd").net("connect", "203.0.113.7", 4444))
    assert subjects(compare((base, head))) == (["203.0.113.7:4444"], ["/etc/issue"], 1)


def test_nothing_ran_nothing_changed() -> None:
    assert compare(()) == BehaviourDiff()


def test_what_the_idle_probe_does_belongs_to_nobody(tmp_path: Path) -> None:
    idle = turn(tmp_path, "base", Trace().open("/etc/motd"), phase="idle", probe="idle")
    base = turn(tmp_path, "base", Trace())
    head = turn(tmp_path, "head", Trace().open("/etc/motd"))
    assert subjects(compare((idle, base, head))) == ([], [], 0)


def test_bases_repeat_teaches_its_noise(tmp_path: Path) -> None:
    base = turn(tmp_path, "base", Trace())
    again = turn(tmp_path, "base", Trace().open("/etc/motd"), repeat=1)
    head = turn(tmp_path, "head", Trace().open("/etc/motd"))
    assert subjects(compare((base, again, head))) == ([], [], 1)


def test_moved_code_is_not_new(tmp_path: Path) -> None:
    base = turn(tmp_path, "base", Trace().exec("/usr/bin/git", "git", "log"), probe="import-old")
    head = turn(tmp_path, "head", Trace().exec("/usr/bin/git", "git", "log"), probe="import-new")
    assert subjects(compare((base, head))) == ([], [], 1)


def test_what_tests_do_is_new_at_import_but_not_the_other_way_round(tmp_path: Path) -> None:
    shell = Trace().exec("/bin/sh", "sh", "-c", "deploy")
    in_tests = turn(tmp_path, "base", shell, phase="test", probe="t")
    at_import = turn(tmp_path, "head", shell)
    assert subjects(compare((in_tests, at_import)))[0] == ["sh -c deploy"]
    base_import = turn(tmp_path, "base", shell)
    head_tests = turn(tmp_path, "head", shell, phase="test", probe="t")
    assert subjects(compare((base_import, head_tests))) == ([], [], 1)


def test_only_the_newly_unasked_probe_is_named(tmp_path: Path) -> None:
    shell = Trace().exec("/bin/sh", "sh", "-c", "deploy")
    runs = (
        turn(tmp_path, "base", shell, phase="test", probe="t"),
        turn(tmp_path, "head", shell, phase="test", probe="t"),
        turn(tmp_path, "head", shell, probe="i"),
    )
    [new] = compare(runs).new
    assert new.probes == ("i",)


def test_equal_behaviours_of_several_probes_are_one(tmp_path: Path) -> None:
    connect = Trace().net("connect", "203.0.113.7", 1)
    plain = turn(tmp_path, "head", connect, probe="a")
    site = ["socket.connect", "203.0.113.7:1", "a.py", 3]
    lined = replace(turn(tmp_path, "head", connect, probe="b"), driver_report={"items": [{"sites": [site]}]})
    [new] = compare((plain, lined)).new
    assert (new.probes, new.count, new.at) == (("a", "b"), 2, Location(path="a.py", line=3))


def test_chance_is_not_new(tmp_path: Path) -> None:
    def noisy(temp: str, pid: int, port: int) -> Trace:
        trace = (
            Trace().write(f"/tmp/tmp{temp}/x").exec("/usr/bin/gcc", "gcc", f"/tmp/cc{temp}.c", f"-DPID={pid}")
        )
        trace.open(f"/srv/cache/{temp * 2:0>16}.bin").net("listen", "127.0.0.1", port)
        return (
            trace.net("connect", "127.0.0.1", port)
            .open(f"/proc/{pid}/stat")
            .write(f"/work/home/.config/a-{pid}")
        )

    base = turn(tmp_path, "base", noisy("ab12cd34", 4711, 41234))
    head = turn(tmp_path, "head", noisy("ef56ab78", 8123, 55321))
    diff = compare((base, head))
    assert diff.new == diff.gone == ()
    assert diff.unchanged_count >= 5


def test_the_same_program_below_another_chain_is_the_same(tmp_path: Path) -> None:
    direct = turn(tmp_path, "base", Trace().exec("/usr/bin/git", "git", "log"))
    through = Trace().exec("/usr/bin/make", "make").exec("/usr/bin/git", "git", "log", pid=103, ppid=102)
    head = turn(tmp_path, "head", through)
    assert subjects(compare((direct, head)))[0] == ["make"]


def test_a_base_that_failed_makes_more_new_never_less(tmp_path: Path) -> None:
    base = replace(turn(tmp_path, "base", Trace()), trace=None, fault="engine gone")
    head = turn(tmp_path, "head", Trace().open("/etc/motd"))
    assert subjects(compare((base, head)))[0] == ["/etc/motd"]


def test_canaries_are_looked_for_on_both_sides(tmp_path: Path) -> None:
    canary = Canary(name="token", env="T", secrets=(SECRET,))
    base = replace(turn(tmp_path, "base", Trace()), stdout=SECRET.encode())
    head = replace(turn(tmp_path, "head", Trace()), stdout=SECRET.encode(), stderr=SECRET.encode())
    assert subjects(compare((base, head), (canary,))) == (["token in stderr"], [], 1)


def test_order_of_runs_does_not_matter(tmp_path: Path) -> None:
    runs = (
        turn(tmp_path, "base", Trace().open("/etc/motd")),
        turn(tmp_path, "head", Trace().open("/etc/shadow").exec("/bin/ls", "ls"), probe="a"),
    )
    assert compare(runs) == compare(tuple(reversed(runs)))

"""Head against base: what counts as new, what is noise, what is merely moved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.behaviour import BehaviourDiff
from gate.model.canary import Canary
from gate.model.change import Side
from gate.model.location import Location
from gate.model.run import Phase, RunRecord
from gate.tracing.diff import compare
from tests.unit.tracing.behaviour.test_network import ask
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


def test_a_flood_of_threads_is_new_where_base_is_far_from_one(tmp_path: Path) -> None:
    """How many threads a run starts differs by chance: one more than the limit is no other behaviour."""

    def threads(side: Side, number: int) -> RunRecord:
        trace = Trace()
        for _ in range(number):
            trace.fork("CLONE_VM|CLONE_THREAD")
        return turn(tmp_path, side, trace, probe=str(number))

    assert subjects(compare((threads("base", 95), threads("head", 104)))) == ([], [], 1)
    assert subjects(compare((threads("base", 104), threads("head", 95)))) == ([], ["processes"], 0)
    few = compare((threads("base", 20), threads("head", 104)))
    assert [(b.subject, b.count) for b in few.new] == [("processes", 103)]
    assert subjects(compare((threads("base", 20), threads("head", 60), threads("head", 61)))) == ([], [], 0)


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


def names(*asked: str) -> Trace:
    trace = Trace()
    for name in asked:
        ask(trace, name)
    return trace


HOME, OTHER = "tenant-48213.t.example", "tenant-99412.t.example"


@pytest.mark.parametrize(
    ("base", "again", "head", "new"),
    [
        ((HOME,), (HOME,), (OTHER,), [OTHER]),
        ((HOME,), (HOME,), (HOME, OTHER), [OTHER]),
        ((HOME,), (HOME,), (HOME,), []),
        ((HOME, OTHER), (HOME, OTHER), (OTHER,), []),
        ((HOME,), ("tenant-11111.t.example",), (OTHER,), []),  # by chance at base
        ((HOME,), None, (OTHER,), []),  # nobody knows
        ((HOME,), (HOME,), (OTHER, "tenant-77777.t.example"), ["tenant-*.t.example"]),
    ],
)
def test_another_destination_of_the_same_shape(
    tmp_path: Path,
    base: tuple[str, ...],
    again: tuple[str, ...] | None,
    head: tuple[str, ...],
    new: list[str],
) -> None:
    runs = [turn(tmp_path, "base", names(*base)), turn(tmp_path, "head", names(*head))]
    if again is not None:
        runs.append(turn(tmp_path, "base", names(*again), repeat=1))
    assert subjects(compare(runs))[0] == new


def test_what_one_base_run_leaves_open_is_new_for_whoever_repeats_it(tmp_path: Path) -> None:
    runs = [turn(tmp_path, "base", names(HOME)), turn(tmp_path, "head", names(OTHER))]
    assert subjects(compare(runs, tentative=True))[0] == [OTHER]


def test_other_probes_say_whether_base_names_the_same_each_time(tmp_path: Path) -> None:
    same = [turn(tmp_path, "base", names(HOME), probe=probe) for probe in ("p1", "p1-in-ci")]
    differ = [
        turn(tmp_path, "base", names(name), probe=name[:9]) for name in (HOME, "tenant-11111.t.example")
    ]
    head = turn(tmp_path, "head", names(OTHER), probe="p1-in-ci")
    assert subjects(compare((*same, head)))[0] == [OTHER]
    assert subjects(compare((*differ, head)))[0] == []


def test_base_with_too_many_names_of_a_shape_knows_them_all(tmp_path: Path) -> None:
    many = [f"s{number}.t{number}.example" for number in range(100, 140)]
    runs = [turn(tmp_path, "base", names(*many), repeat=repeat) for repeat in (0, 1)]
    head = turn(tmp_path, "head", names("s999.t999.example"))
    assert subjects(compare((*runs, head)))[0] == []

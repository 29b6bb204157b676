"""Two sandboxes that are to run at once, and many programs in one: who answers, and what is asked again."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import cast

import pytest

from gate.isolation import inside_folder
from gate.isolation.bait import Bait
from gate.isolation.checks import of_kind
from gate.isolation.claims import Claims
from gate.isolation.machine import Examiner, _missed_by
from gate.isolation.statement import Answer
from gate.model.change import Side
from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.sandbox.contract import Backend, Session

CLAIMS = Claims(kind="machine", own_kernel=False, not_claimed={})


def window(begins: str, ends: str) -> Answer:
    return Answer(id="near.window-a", held=True, tried=begins, happened=ends)


@pytest.mark.parametrize(
    ("one", "two", "least", "most"),
    [
        (("10 20", "21 30"), ("12 22", "23 32"), 0, 0),
        (("10 20", "21 40"), ("19.9 29", "30 45"), 0.05, 0.15),  # the second came as the first looked last
        (("10 20", "21 30"), ("12 22", "29.9 40"), 0.05, 0.15),  # the first left as the second looked last
        (("10 20", "21 30"), ("25 35", "36 45"), 5, 7),
        (("10 20", "21 30"), ("50 60", "61 70"), 30, 32),
        (("50 60", "61 70"), ("10 20", "21 30"), 30, 32),
        (("10 20", "21 30"), ("soon 22", "23 32"), 1, 60),
        (("10 20", "21 30"), ("12", "32"), 1, 60),
        (("10 20", "21 30"), None, 1, 60),
    ],
)
def test_by_how_much_two_missed_each_other(
    one: tuple[str, str], two: tuple[str, str] | None, least: float, most: float
) -> None:
    for pair in ([one, two], [two, one]):
        missed = _missed_by([window(*times) if times else None for times in pair])
        assert least <= missed <= most


PROGRAM = """
import os, sys
sys.path.insert(0, sys.argv[1])
import kit

@kit.check("checks", "a.held")
def held():
    return True, "t", "h"

@kit.check("checks", "a.dies")
def dies():
    os._exit(3)

def answers():
    return [{"id": "b.one", "held": False, "tried": "t", "happened": "h"}]

def silent():
    os.kill(os.getpid(), 9)

def raises():
    raise OSError("no")

kit.run_groups(["checks", "silent", "raises", "answers"],
               {"answers": answers, "silent": silent, "raises": raises})
"""


def test_a_program_that_dies_takes_no_other_with_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, inside_folder()],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert [(a["id"], a["held"]) for a in said["answers"]] == [
        ("a.held", True), ("a.dies", None), ("b.one", False),
    ]  # fmt: skip


class Faulty:
    """A session in which programs say what the test wants; ``None``: they die without a word."""

    def __init__(self, said: dict[tuple[str, ...], dict[str, bool] | None]) -> None:
        self._said = said
        self.asked: list[tuple[str, ...]] = []

    def run(self, probe: Probe, side: Side, *, repeat: int = 0) -> RunRecord:
        groups = probe.argv[2:]
        self.asked.append(groups)
        found = self._said.get(groups, _all_held(*groups))
        answers = [{"id": n, "held": h, "tried": "", "happened": ""} for n, h in (found or {}).items()]
        stdout = b"" if found is None else json.dumps({"answers": answers, "at": 1}).encode()
        return RunRecord(
            probe=probe, side=side, outcome=Outcome.COMPLETED, exit_code=0, seconds=1.0, peak_memory=None,
            completed=True, trace=None, completeness=Completeness(), stdout=stdout, repeat=repeat,
        )  # fmt: skip


def _all_held(*groups: str) -> dict[str, bool]:
    return {name: True for name, check in of_kind("machine").items() if check.group in groups}


TOGETHER = ("neighbours-after", "standing", "network", "forks", "scratch")


def _examined(session: Faulty) -> Examiner:
    examiner = Examiner(cast(Backend, None), CLAIMS, cast(Bait, None), lambda _: None)
    examiner._together(cast(Session, session))
    return examiner


def test_one_sandbox_answers_for_all_that_does_not_hurt_it() -> None:
    session = Faulty({})
    examiner = _examined(session)
    assert session.asked == [TOGETHER]
    assert examiner.answers.keys() == _all_held(*TOGETHER).keys()


def test_a_program_without_an_answer_gets_a_sandbox_of_its_own() -> None:
    session = Faulty({TOGETHER: _all_held("neighbours-after", "standing", "network", "forks")})
    examiner = _examined(session)
    assert session.asked == [TOGETHER, ("scratch",)]
    assert all(answer.held for answer in examiner.answers.values())
    assert examiner.answers.keys() == _all_held(*TOGETHER).keys()


def test_a_sandbox_that_ends_early_leaves_nobody_unasked() -> None:
    session = Faulty({TOGETHER: None, ("forks",): None})
    examiner = _examined(session)
    assert session.asked == [TOGETHER, *((group,) for group in TOGETHER)]
    assert {name for name, answer in examiner.answers.items() if not answer.held} == {"command.fork"}


def test_what_was_seen_once_stands() -> None:
    broken = _all_held(*TOGETHER[:-1]) | {"privilege.mount": False}
    broken.pop("privilege.chroot")
    examiner = _examined(Faulty({TOGETHER: broken}))
    assert examiner.answers["privilege.mount"].held is False
    assert examiner.answers["privilege.chroot"].held is True

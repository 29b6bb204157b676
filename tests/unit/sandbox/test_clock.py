"""Whose clock is moved for a probe, and that it is told."""

from __future__ import annotations

import json

import pytest

from gate.model.run import Probe
from gate.sandbox import clock


class Watch:
    """A sandbox with a clock of its own."""

    def __init__(self) -> None:
        self.moved: list[int] = []

    def move_clock(self, seconds: int) -> bool:
        self.moved.append(seconds)
        return True


class Without:
    """A sandbox that has none."""

    def move_clock(self, seconds: int) -> bool:
        return False


def _probe(job: str, *, driver: bool = True) -> Probe:
    return Probe(
        id="p", phase="import", target="p", path="p.py", argv=("python3", "driver.py", job), driver=driver
    )


def test_a_machine_moves_its_own_clock_and_the_driver_none() -> None:
    box, later = Watch(), _probe(json.dumps({"items": [1], "clock": 86_400, "nap": 0.5}))
    run = clock.by_machine(box, later)
    assert box.moved == [86_400]
    assert json.loads(run.argv[-1]) == {"items": [1], "clock": 0, "clock_by": "machine", "nap": 0.5}
    assert clock.means(later, run) == "machine"


def test_another_backend_leaves_it_to_the_driver_and_says_so() -> None:
    later = _probe(json.dumps({"clock": 86_400}))
    assert clock.by_machine(Without(), later) is later
    assert clock.means(later, later) == "python"


@pytest.mark.parametrize(
    ("verbs", "by"),
    [
        (("import", "test"), "python"),
        (("javascript",), "javascript"),
        (("javascript", "import"), "javascript, python"),
        (("javascript_main", "javascript"), "javascript, nobody"),
        (("shell",), "nobody"),
    ],
)
def test_a_language_moves_its_own_and_programs_see_the_real_one(verbs: tuple[str, ...], by: str) -> None:
    later = _probe(json.dumps({"clock": 86_400, "items": [{"do": verb} for verb in verbs]}))
    assert clock.means(later, later) == by


@pytest.mark.parametrize(
    ("answers", "by"),
    [
        ([{"clock_by": "libfaketime"}, {"clock_by": "libfaketime, python"}], "libfaketime, python"),
        ([{"clock_by": "libfaketime"}, {}], "libfaketime, python"),
        ([{"clock_by": "nobody"}, {"clock_by": "libfaketime, python"}], "libfaketime, nobody, python"),
        ([{"clock_by": "libfaketime"}], "libfaketime, python"),
        ([{}, {}, {"clock_by": "libfaketime"}], "nobody, python"),  # one answer for an item, no more
        ([{"clock_by": "libfaketime, me"}, {"clock_by": 5}], "nobody, python"),
        ([{"clock_by": ""}, "libfaketime"], "nobody, python"),
        ("libfaketime", "nobody, python"),
        (None, "nobody, python"),
    ],
)
def test_the_driver_says_what_the_sandbox_has(answers: object, by: str) -> None:
    later = _probe(json.dumps({"clock": 86_400, "items": [{"do": "shell"}, {"do": "import"}]}))
    assert clock.means(later, later, {"items": answers}) == by


@pytest.mark.parametrize("job", ["{}", '{"clock": 0}', '{"clock": "x"}', "[1]", "print(1)", "[" * 100_000])
def test_nothing_to_move(job: str) -> None:
    box, now = Watch(), _probe(job)
    assert clock.by_machine(box, now) is now
    assert clock.means(now, now) == ""
    assert box.moved == []


def test_a_program_that_is_no_drivers_job_keeps_its_words() -> None:
    box, now = Watch(), _probe('{"clock": 5}', driver=False)
    assert clock.by_machine(box, now) is now
    assert box.moved == []

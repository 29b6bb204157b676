"""The protocol of docs/trust.md under any order of events: no green that an honest run would not have given.

The two-workflow form: `gate publish` is the real one. Looking is simulated: an honest run says what its
pull request deserves, a forged one whatever it likes, which only a change to the workflow makes possible.
Jobs end in any order, late or never.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from gate.errors import GateError
from gate.github.publishing.publish import PublishRequest, publish
from gate.github.publishing.runner_context import RunnerContext
from tests.forge.people_machine import BASES, CHECK, COUNTS, HEADS, People, count, is_bad, report
from tests.forge.standin.world import BASE
from tests.forge.telling import packed


class _Around(RunnerContext):
    """A job's surroundings, with the world at once instead of over HTTP."""

    def api(self) -> Any:
        return self.world_api  # type: ignore[attr-defined]


class Trust(People):
    """gate-check's runs, and gate-publish's jobs."""

    def begin(self) -> None:
        self.waiting: list[int] = []  # runs whose report was not told yet

    def _job(self, pull: int | None = None, run: int | None = None, *, begins: bool = False) -> None:
        around = _Around(
            repo="octo/shop", token="t", api_url="", server="https://github.com", run="1", attempt="1",
            pull=pull, workflow_run=run, summary=None, output=None, begins=begins,
        )  # fmt: skip
        object.__setattr__(around, "world_api", self.api)
        count("jobs")
        with suppress(GateError):
            told, _ = publish(around, PublishRequest())
            if told is not None:
                count("verdicts")
            return
        count("refusals")

    def looked_at(self, number: int, action: str) -> None:
        """The check is in progress, and a run of the first half is queued."""
        pull = self.world.pulls[number]
        self._job(pull=number, begins=True)
        run = self._run_of(number, status="queued")
        if not self.edits(number) or action == "opened":
            bad = is_bad(pull.head_sha, pull.base_sha)
            raw = packed(report(number, pull.head_sha, pull.base_sha, bad=bad))
            self.world.artifacts[self.world.ids()] = (run, "gate-report", raw)
        self.waiting.append(run)

    def _run_of(self, number: int, **more: Any) -> int:
        pull = self.world.pulls[number]
        who = {"head_sha": pull.head_sha, "head_branch": pull.head_ref, "head_owner": pull.head_owner}
        return self.world.run(created_at=self.tick(), **who, **more)

    def heard(self, number: int, action: str, text: str) -> None:
        self._job(pull=number)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def a_run_ends(self, data: st.DataObject) -> None:
        self.ends(data.draw(st.sampled_from(self.waiting)))

    def ends(self, run: int) -> None:
        """A run of the first half is complete, and the second half hears of it."""
        self.waiting.remove(run)
        self.world.runs[run]["status"] = "completed"
        self._job(run=run)

    @precondition(lambda self: self.world.runs)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        """Somebody runs the second half again for any run there ever was."""
        run = data.draw(st.sampled_from(sorted(self.world.runs)))
        count("replays")
        if self.world.runs[run]["status"] == "completed":
            self._job(run=run)

    @rule(
        number=People.numbers,
        claim=st.sampled_from([7, 9]),
        head=st.sampled_from(sorted(HEADS)),
        base=st.sampled_from(sorted(BASES.values())),
        path=st.sampled_from([CHECK, ".github/workflows/evil.yml"]),
        late=st.booleans(),
    )
    def forge(self, number: int, claim: int, head: str, base: str, path: str, late: bool) -> None:
        """A passing report about anything: by a workflow of the change's own, by gate-check.yml edited, or by
        the one of `lax`, where the stranger may write what he likes; told at once, or when something comes.
        """
        if path == CHECK and not self.edits(number) and self.world.pulls[number].base_ref != "lax":
            return
        run = self._run_of(number, path=path, status="queued" if late else "completed")
        raw = packed(report(claim, head, base, bad=False))
        self.world.artifacts[self.world.ids()] = (run, "gate-report", raw)
        count("forged")
        if late:
            self.waiting.append(run)
        else:
            self._job(run=run)

    # ---- what must hold

    def _deserves_green(self, number: int) -> bool:
        """By the rules alone, from the state as it is: independent of the code under test."""
        pull = self.world.pulls[number]
        bad = is_bad(pull.head_sha, pull.base_sha)
        overridden = not bad or self.stands(number, "override all", {"admin", "write"})
        believed = not self.edits(number) or self.stands(number, "vouch", {"admin"})
        return overridden and believed

    @invariant()
    def no_green_that_is_not_deserved(self) -> None:
        for check in self.world.checks.values():
            if check["status"] != "completed" or check["conclusion"] not in ("success", "neutral"):
                continue
            count("green looked at")
            for number, pull in self.world.pulls.items():
                if pull.state == "open" and pull.head_sha == check["head_sha"]:
                    assert self._deserves_green(number), (number, pull, check)

    @invariant()
    def one_check_a_commit(self) -> None:
        heads = Counter(check["head_sha"] for check in self.world.checks.values())
        assert all(count == 1 for count in heads.values()), heads


class TestTrust(Trust.TestCase):  # type: ignore[misc,valid-type]
    """No order of events gives a green that nobody earned. GATE_EXAMPLES: so many orders are tried."""

    settings = settings(
        max_examples=int(os.environ.get("GATE_EXAMPLES", "60")),
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )

    @classmethod
    def setUpClass(cls) -> None:
        COUNTS.clear()

    @classmethod
    def tearDownClass(cls) -> None:
        print("\ntrust machine:", ", ".join(f"{many:,} {name}" for name, many in sorted(COUNTS.items())))
        assert COUNTS["green looked at"] > 50, "a machine that never sees green proves nothing"
        assert min(COUNTS[n] for n in ("forged", "replays", "retargets", "taken back", "refusals")) > 3


BAD = "2" * 40


def _forged(machine: Trust) -> None:
    machine.push(number=7, head=BAD, edits=True, forced=False)
    machine.forge(number=7, claim=7, head=BAD, base=BASE, path=CHECK, late=False)


def _retargeted(machine: Trust) -> None:
    """What was looked at against `lax` is told when the pull request goes to `main`."""
    machine.retarget(number=7, branch="lax")
    machine.push(number=7, head=BAD, edits=False, forced=False)
    run = machine.waiting[-1]
    machine.retarget(number=7, branch="main")
    machine.ends(run)


def _elsewhere(machine: Trust) -> None:
    """A run of the stranger's own gate-check.yml on `lax` claims to be about `main`."""
    machine.retarget(number=7, branch="lax")
    machine.push(number=7, head=BAD, edits=False, forced=False)
    machine.forge(number=7, claim=7, head=BAD, base=BASE, path=CHECK, late=False)
    machine.retarget(number=7, branch="main")
    machine.comment(number=7, who="mallory", what="override nonsense", sha="now", app=False)


def _borrowed(machine: Trust) -> None:
    machine.push(number=7, head=BAD, edits=False, forced=False)
    machine.ends(machine.waiting[-1])
    machine.comment(number=7, who="wren", what="override all", sha=BAD, app=True)


_PUBLISH = "gate.github.publishing.publish"
_BEGAN: dict[str, Any] = {f"{_PUBLISH}.began_for": lambda *_: None}
HOLES: dict[str, tuple[dict[str, Any], Callable[[Trust], None]]] = {
    "no doubts": ({f"{_PUBLISH}.doubts": lambda *_: ()}, _forged),
    "no binding": ({f"{_PUBLISH}.bound": lambda _api, report, *_, **__: report, **_BEGAN}, _retargeted),
    "any run": (_BEGAN, _elsewhere),
    "any comment": ({"gate.github.publishing.override_comments._against": lambda *_: ""}, _borrowed),
}


@pytest.mark.parametrize("hole", HOLES)
def test_the_machine_would_say_so(monkeypatch: pytest.MonkeyPatch, hole: str) -> None:
    """The steps hold as they are, and with a defence left out the invariant is broken."""
    without, steps = HOLES[hole]
    whole = Trust()
    steps(whole)
    whole.no_green_that_is_not_deserved()
    for name, instead in without.items():
        monkeypatch.setattr(name, instead)
    broken = Trust()
    steps(broken)
    with pytest.raises(AssertionError):
        broken.no_green_that_is_not_deserved()

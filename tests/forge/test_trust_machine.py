"""The protocol of docs/trust.md under any order of events: no green that an honest run would not have given.

The world is the stand-in's; `gate publish` is the real one. Looking is simulated: an honest run says what its
pull request deserves (a bad commit is bad against `main`, and already in `lax`); a forged one says whatever
it likes, which only a change to the workflow makes possible. Jobs end in any order, late or never.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gate.errors import GateError
from gate.github.publishing.publish import PublishRequest, publish
from gate.github.publishing.runner_context import Surroundings
from gate.model.report import Report
from tests.forge.standin.direct import DirectApi
from tests.forge.standin.world import BASE, OWNER, Actor, Pull, World
from tests.forge.telling import harmless, packed, soft

WHY = "Reviewed with the platform team, see the ticket."
CHECK = ".github/workflows/gate-check.yml"
BASES = {"main": BASE, "lax": "b" * 40}
HEADS = {"1" * 40: "good", "2" * 40: "bad", "3" * 40: "good", "4" * 40: "bad"}
PEOPLE = {OWNER: "admin", "wren": "write", "mina": "admin", "rob": "read", "mallory": ""}
COUNTS: Counter[str] = Counter()


class _Around(Surroundings):
    """A job's surroundings, with the world at once instead of over HTTP."""

    def api(self) -> Any:
        return self.world_api  # type: ignore[attr-defined]


@functools.cache
def _template(bad: bool) -> Report:
    return soft() if bad else harmless()


def _report(number: int, head: str, base: str, *, bad: bool) -> bytes:
    made = _template(bad)
    change = replace(made.change, head=head, base=base, merge_base=base)
    return packed(replace(made, change=change, pull_request=number))


class Trust(RuleBasedStateMachine):
    """One repository, two pull requests of one stranger, everybody who may say anything."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.roles |= {who: role for who, role in PEOPLE.items() if role}
        self.world.job(
            issues="write",
            pull_requests="write",
            checks="write",
            statuses="write",
            contents="read",
            actions="read",
        )
        self.api = DirectApi(self.world)
        self.time = datetime.now(UTC) + timedelta(minutes=5)
        self.waiting: list[int] = []  # runs whose report was not told yet
        self.edited: dict[str, bool] = {}  # head: does it edit the workflow?
        self.heads: set[tuple[int, str]] = set()  # what was ever the head of which pull request
        for number in (7, 9):
            head = next(iter(HEADS))
            self.world.pulls[number] = Pull(
                number=number,
                head_sha=head,
                head_ref=f"f{number}",
                head_owner="mina",
                head_repo_id=66,
                files=["x.py"],
            )
            self.edited[head] = False
            self.heads.add((number, head))
            self._looked_at(number, "opened")

    # ---- what GitHub does by itself

    def _tick(self) -> str:
        self.time += timedelta(seconds=7)
        return self.time.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _job(self, pull: int | None = None, run: int | None = None, *, begins: bool = False) -> None:
        around = _Around(
            repo="octo/shop", token="t", api_url="", server="https://github.com", run="1", attempt="1",
            pull=pull, workflow_run=run, summary=None, output=None, begins=begins,
        )  # fmt: skip
        object.__setattr__(around, "world_api", self.api)
        COUNTS["jobs"] += 1
        with suppress(GateError):
            report, _ = publish(around, PublishRequest())
            COUNTS["verdicts"] += report is not None
            return
        COUNTS["refusals"] += 1

    def _looked_at(self, number: int, action: str) -> None:
        """An event of the pull request: the check is in progress, and a run of the first half is queued."""
        pull = self.world.pulls[number]
        self._job(pull=number, begins=True)
        run = self.world.run(
            head_sha=pull.head_sha, head_branch=pull.head_ref, head_owner=pull.head_owner, status="queued"
        )
        if not self._edits(number) or action == "opened":
            bad = HEADS[pull.head_sha] == "bad" and pull.base_ref == "main"
            raw = _report(number, pull.head_sha, pull.base_sha, bad=bad)
            self.world.artifacts[self.world.ids()] = (run, "gate-report", raw)
        self.waiting.append(run)

    def _edits(self, number: int) -> bool:
        return CHECK in self.world.pulls[number].files

    # ---- what people do

    numbers = st.sampled_from([7, 9])

    @rule(number=numbers, head=st.sampled_from(sorted(HEADS)), edits=st.booleans(), forced=st.booleans())
    def push(self, number: int, head: str, edits: bool, forced: bool) -> None:
        """A plain push is to a new head only; everything else is a force-push, and GitHub says so."""
        pull, at = self.world.pulls[number], self._tick()
        self.edited.setdefault(head, edits)
        pull.files = ["x.py", *([CHECK] if self.edited[head] else [])]
        if forced or (number, head) in self.heads:
            pull.events.append({"event": "head_ref_force_pushed", "created_at": at, "actor": "mina"})
        pull.head_sha = head
        self.heads.add((number, head))
        COUNTS["pushes"] += 1
        self._looked_at(number, "synchronize")

    @rule(number=numbers, branch=st.sampled_from(sorted(BASES)))
    def retarget(self, number: int, branch: str) -> None:
        pull = self.world.pulls[number]
        if pull.base_ref == branch:
            return
        pull.events.append({"event": "base_ref_changed", "created_at": self._tick(), "actor": "mina"})
        pull.base_ref, pull.base_sha = branch, BASES[branch]
        COUNTS["retargets"] += 1
        self._looked_at(number, "edited")

    @rule(number=numbers)
    def close_or_reopen(self, number: int) -> None:
        pull = self.world.pulls[number]
        pull.state = "closed" if pull.state == "open" else "open"
        if pull.state == "open":
            pull.events.append({"event": "reopened", "created_at": self._tick(), "actor": "mina"})
            self._looked_at(number, "reopened")

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
        COUNTS["replays"] += 1
        if self.world.runs[run]["status"] == "completed":
            self._job(run=run)

    @rule(
        number=numbers,
        claim=st.sampled_from([7, 9]),
        head=st.sampled_from(sorted(HEADS)),
        base=st.sampled_from(sorted(BASES.values())),
        path=st.sampled_from([CHECK, ".github/workflows/evil.yml"]),
    )
    def forge(self, number: int, claim: int, head: str, base: str, path: str) -> None:
        """A passing report about anything, by a workflow of the change's own or gate-check.yml edited."""
        pull = self.world.pulls[number]
        if path == CHECK and not self._edits(number):
            return
        run = self.world.run(
            path=path, head_sha=pull.head_sha, head_branch=pull.head_ref, head_owner=pull.head_owner
        )
        self.world.artifacts[self.world.ids()] = (run, "gate-report", _report(claim, head, base, bad=False))
        COUNTS["forged"] += 1
        self._job(run=run)

    @rule(
        number=numbers,
        who=st.sampled_from(sorted(PEOPLE)),
        what=st.sampled_from(["override all", "vouch", "override nonsense"]),
        sha=st.sampled_from([*sorted(HEADS), "now"]),
        app=st.booleans(),
    )
    def comment(self, number: int, who: str, what: str, sha: str, app: bool) -> None:
        pull = self.world.pulls[number]
        named = pull.head_sha if sha == "now" else sha
        text = f"/gate {what} sha: {named} reason: {WHY}"
        made = self.world.comment(number, Actor(login=who), text)
        made.created = made.updated = self._tick()
        made.app = app
        COUNTS["comments"] += 1
        self._job(pull=number)

    @precondition(lambda self: any(c.author.type == "User" for c in self.world.comments.values()))
    @rule(data=st.data(), deleted=st.booleans())
    def take_back(self, data: st.DataObject, deleted: bool) -> None:
        theirs = sorted(n for n, c in self.world.comments.items() if c.author.type == "User")
        comment = self.world.comments[data.draw(st.sampled_from(theirs))]
        if deleted:
            del self.world.comments[comment.id]
        else:
            comment.updated = self._tick()
        COUNTS["taken back"] += 1
        self._job(pull=comment.number)

    # ---- what must hold

    def _deserves_green(self, number: int) -> bool:
        """By the rules alone, from the state as it is: independent of the code under test."""
        pull = self.world.pulls[number]
        bad = HEADS[pull.head_sha] == "bad" and pull.base_ref == "main"
        overridden = not bad or self._stands(number, "override all", {"admin", "write"})
        believed = not self._edits(number) or self._stands(number, "vouch", {"admin"})
        return overridden and believed

    def _stands(self, number: int, what: str, roles: set[str]) -> bool:
        pull = self.world.pulls[number]
        moved = max((e["created_at"] for e in pull.events), default="")
        return any(
            c.body.startswith(f"/gate {what} sha: {pull.head_sha} ")
            and c.created == c.updated
            and c.created > moved
            and not c.app
            and c.author.login != pull.author
            and PEOPLE.get(c.author.login, "") in roles
            for c in self.world.on(number)
        )

    @invariant()
    def no_green_that_is_not_deserved(self) -> None:
        for check in self.world.checks.values():
            if check["status"] != "completed" or check["conclusion"] not in ("success", "neutral"):
                continue
            COUNTS["green looked at"] += 1
            for number, pull in self.world.pulls.items():
                if pull.state == "open" and pull.head_sha == check["head_sha"]:
                    assert self._deserves_green(number), (number, pull, check)

    @invariant()
    def one_check_a_commit(self) -> None:
        heads = Counter(check["head_sha"] for check in self.world.checks.values())
        assert all(count == 1 for count in heads.values()), heads


def test_no_order_of_events_gives_a_green_that_nobody_earned(capsys: pytest.CaptureFixture[str]) -> None:
    COUNTS.clear()
    run_state_machine_as_test(
        Trust,
        settings=settings(
            max_examples=60,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    with capsys.disabled():
        print("\ntrust machine:", ", ".join(f"{count:,} {name}" for name, count in sorted(COUNTS.items())))
    assert COUNTS["green looked at"] > 50, "a machine that never sees green proves nothing"
    assert min(COUNTS[name] for name in ("forged", "replays", "retargets", "taken back", "refusals")) > 3


BAD = "2" * 40


def _forged(machine: Trust) -> None:
    machine.push(number=7, head=BAD, edits=True, forced=False)
    machine.forge(number=7, claim=7, head=BAD, base=BASE, path=CHECK)


def _retargeted(machine: Trust) -> None:
    """What was looked at against `lax` is told when the pull request goes to `main`."""
    machine.retarget(number=7, branch="lax")
    machine.push(number=7, head=BAD, edits=False, forced=False)
    run = machine.waiting[-1]
    machine.retarget(number=7, branch="main")
    machine.ends(run)


def _borrowed(machine: Trust) -> None:
    machine.push(number=7, head=BAD, edits=False, forced=False)
    machine.ends(machine.waiting[-1])
    machine.comment(number=7, who="wren", what="override all", sha=BAD, app=True)


HOLES: dict[str, tuple[str, Any, Callable[[Trust], None]]] = {
    "no doubts": ("gate.github.publishing.publish.doubts", lambda *_: (), _forged),
    "no binding": (
        "gate.github.publishing.publish.bound",
        lambda _api, report, *_, **__: report,
        _retargeted,
    ),
    "any comment": ("gate.github.publishing.override_comments._against", lambda *_: "", _borrowed),
}


@pytest.mark.parametrize("hole", HOLES)
def test_the_machine_would_say_so(monkeypatch: pytest.MonkeyPatch, hole: str) -> None:
    """The steps hold as they are, and with one defence left out the invariant is broken."""
    name, without, steps = HOLES[hole]
    whole = Trust()
    steps(whole)
    whole.no_green_that_is_not_deserved()
    monkeypatch.setattr(name, without)
    broken = Trust()
    steps(broken)
    with pytest.raises(AssertionError):
        broken.no_green_that_is_not_deserved()

"""The same protocol where an App of our own looks: its jobs and buttons, in any order, whoever is killed.

Queue (SQLite), webhooks and jobs are the real ones of `gate serve --checks`; the look is simulated and
honest, as no job of the change's makes it. A worker may die before a job, after any request of it, or after
it is done and before that is noted: the job is then done again.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from gate.github.target import pull
from gate.report.json_v1 import JsonReporter
from gate.serve.attempt import attempt
from gate.serve.checks import Checks
from gate.serve.interface import Delivery
from gate.serve.store import Store
from gate.serve.webhooks import Answers
from tests.forge.people_machine import COUNTS, HEADS, PEOPLE, People, count, is_bad, report
from tests.forge.standin.direct import DirectApi
from tests.forge.standin.world import OWNER, REPO

APP = 4711
ME = "gate-app[bot]"
LATE = 1e12


class _Killed(BaseException):
    """SIGKILL amid a job."""


class _Mortal(DirectApi):
    """Dies at the request after so many."""

    left = -1

    def _ask(self, *words: Any) -> Any:
        if self.left == 0:
            raise _Killed
        self.left -= 1
        return super()._ask(*words)


class _Tokens:
    app_id = APP

    def __init__(self, api: DirectApi) -> None:
        self._api = api

    def login(self) -> str:
        return ME

    def token(self, *_: Any) -> str:
        return "ghs_x"

    def api(self, *_: Any) -> DirectApi:
        return self._api


class _Honest:
    def look(self, repo: str, token: str, event: bytes) -> bytes:
        told = json.loads(event)["pull_request"]
        base, head = told["base"]["sha"], told["head"]["sha"]
        made = report(told["number"], head, base, bad=is_bad(head, base))
        return JsonReporter().render(made).encode()


class AppTrust(People):
    """One App, its queue, and workers that die."""

    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="gate-app-")
        self.store = Store(Path(self.folder.name) / "gate.db")
        permissions = {"checks": "write", "contents": "read", "pull_requests": "write"}
        self.world.actor("app-token", ME, type="Bot", permissions=permissions)
        self.mortal = _Mortal(self.world, "app-token")
        tokens: Any = _Tokens(self.mortal)
        checks = Checks(self.store, tokens, _Honest(), server="https://github.com")
        self.handle = Answers(self.store, tokens.api, checks).handle
        self.presses: list[tuple[str, str, str]] = []  # (head, who, when)
        self.sent = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    close = teardown

    # ---- webhooks

    def _send(self, event: str, **more: Any) -> None:
        self.sent += 1
        told = {"repository": {"full_name": f"{OWNER}/{REPO}"}, "installation": {"id": 5}, "n": self.sent}
        body = json.dumps(told | more).encode()
        name = f"delivery-{self.sent}"
        assert self.store.accept(name, event, body, self.time.timestamp()).result() == "new"

    def looked_at(self, number: int, action: str) -> None:
        now = self.world.pulls[number]
        one = {"number": number, "head": {"sha": now.head_sha}, "base": {"ref": now.base_ref}}
        changes: dict[str, Any] = {"changes": {"base": {"ref": {}}}} if action == "edited" else {}
        self._send("pull_request", action=action, pull_request=one, **changes)

    def heard(self, number: int, action: str, text: str) -> None:
        issue = {"number": number, "pull_request": {}}
        self._send("issue_comment", action=action, issue=issue, comment={"body": text})

    @rule(
        head=st.sampled_from([*sorted(HEADS), 7, 7, 9, 9]),
        who=st.sampled_from(sorted(PEOPLE)),
        theirs=st.sampled_from([False, False, True]),
        button=st.sampled_from(["override", "override", "override", "nonsense"]),
    )
    def press(self, head: str | int, who: str, theirs: bool, button: str) -> None:
        """On the check of a commit (a number: of that pull request's); ``theirs``: another app's check."""
        head = self.world.pulls[head].head_sha if isinstance(head, int) else head
        self.tick()
        if not theirs and button == "override":
            self.presses.append((head, who, self.time.strftime("%Y-%m-%dT%H:%M:%SZ")))
        self._send(
            "check_run",
            action="requested_action",
            check_run={"head_sha": head, "app": {"id": 15368 if theirs else APP}},
            requested_action={"identifier": button},
            sender={"login": who, "type": "User"},
        )
        count("presses")

    @rule(head=st.sampled_from(sorted(HEADS)), suite=st.booleans())
    def run_again(self, head: str, suite: bool) -> None:
        name = "check_suite" if suite else "check_run"
        self._send(name, action="rerequested", **{name: {"head_sha": head, "app": {"id": APP}}})
        count("run again")

    @rule(head=st.sampled_from(sorted(HEADS)))
    def forge(self, head: str) -> None:
        """A job of the change's own, named as our check: another app."""
        number = self.world.ids()
        self.world.checks[number] = {
            "id": number, "app": "github-actions", "app_id": 15368, "name": "gate", "head_sha": head,
            "status": "completed", "conclusion": "success", "at": self.tick(), "external_id": "gate:x",
        }  # fmt: skip
        count("forged")

    # ---- workers

    def _due(self) -> Iterator[Delivery]:
        for lane in ("answers", "looks"):
            yield from self.store.claim(LATE, 50, lane)

    @rule(data=st.data(), many=st.integers(1, 8))
    def work(self, data: st.DataObject, many: int) -> None:
        """Some of the jobs that are due, in any order."""
        for _ in range(many):
            self._work(data)

    @rule(data=st.data(), requests=st.one_of(st.integers(0, 2), st.integers(0, 12)))  # most jobs ask little
    def die_amid(self, data: st.DataObject, requests: int) -> None:
        self._work(data, requests, "amid")

    @rule(data=st.data())
    def die_after(self, data: st.DataObject) -> None:
        self._work(data, -1, "after")

    def _work(self, data: st.DataObject, requests: int = -1, fate: str = "no") -> None:
        due = list(self._due())
        if not due:
            return
        one = data.draw(st.sampled_from(due))
        for other in due:
            if other is not one:
                self.store.release(other.id, 0.0)
        self._one(one, requests, fate)

    def _one(self, delivery: Delivery, requests: int = -1, fate: str = "no") -> None:
        before = {c["id"]: (c["status"], c["conclusion"]) for c in self._ours()}
        self.mortal.left = requests
        count(f"job: {delivery.event}" if delivery.event.startswith("gate.") else "webhooks")
        try:
            ended = attempt(self.handle, delivery)
        except _Killed:
            count("killed amid a job")
            self.store.release(delivery.id, 0.0)
        else:
            if fate == "after":
                count("killed after a job")
                self.store.release(delivery.id, 0.0)
            elif ended.outcome == "done":
                self.store.done(delivery.id, ended.note, LATE)
            elif ended.outcome == "failed":
                self.store.failed(delivery.id, ended.note, LATE)
            else:
                self.store.later(delivery.id, ended.note, 0.0)
        finally:
            self.mortal.left = -1
        for check in self._ours():
            if before.get(check["id"]) != (check["status"], check["conclusion"]):
                self._judge(check)

    def drain(self, until: str = "") -> None:
        """All jobs there are, or all but those of a kind."""
        for _ in range(400):
            due = list(self._due())
            todo = [job for job in due if job.event != until]
            for other in due:
                if other not in todo[:1]:
                    self.store.release(other.id, 0.0)
            if not todo:
                return
            self._one(todo[0])
        raise AssertionError(due)

    @precondition(lambda self: self.sent > 6)
    @rule()
    def all_is_told(self) -> None:
        """Once nothing is left to do, every green is deserved, and every open pull request has its check."""
        self.drain()
        count("nothing left to do")
        ours = list(self._ours())
        for check in ours:
            self._judge(check)
        told = {check["head_sha"] for check in ours}
        assert {p.head_sha for p in self.world.pulls.values() if p.state == "open"} <= told

    # ---- what must hold

    def _ours(self) -> Iterator[dict[str, Any]]:
        yield from (c for c in self.world.checks.values() if c["app_id"] != 15368)

    def _judge(self, check: dict[str, Any]) -> None:
        """A check that a job has just written, in the world that the job saw."""
        if check["status"] != "completed" or check["conclusion"] not in ("success", "neutral"):
            return
        count("green looked at")
        about = [
            (number, one)
            for number, one in self.world.pulls.items()
            if one.state == "open" and one.head_sha == check["head_sha"]
        ]
        for number, one in about:
            same = [n for n, p in about if p.base_ref == one.base_ref]
            assert any(self._deserves_green(n) for n in same), f"nobody earned it: {number}, {one}, {check}"

    def _deserves_green(self, number: int) -> bool:
        now = self.world.pulls[number]
        good = not is_bad(now.head_sha, now.base_sha)
        if good or self.stands(number, "override all", {"admin", "write"}):
            return True
        return any(
            head == now.head_sha
            and at > self.moved(number)
            and who != now.author
            and PEOPLE[who] in ("admin", "write")
            for head, who, at in self.presses
        )

    @invariant()
    def one_check_a_commit(self) -> None:
        heads = [check["head_sha"] for check in self._ours()]
        assert len(heads) == len(set(heads)), heads

    @invariant()
    def the_forged_check_is_left_alone(self) -> None:
        for check in self.world.checks.values():
            if check["app_id"] == 15368:
                assert check["external_id"] == "gate:x"


class TestApp(AppTrust.TestCase):  # type: ignore[misc,valid-type]
    """No order of events, jobs and deaths gives a green that nobody earned. GATE_EXAMPLES: so many orders."""

    settings = settings(
        max_examples=int(os.environ.get("GATE_EXAMPLES", "60")),
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )

    @classmethod
    def setUpClass(cls) -> None:
        COUNTS.clear()

    @classmethod
    def tearDownClass(cls) -> None:
        print("\napp machine:", ", ".join(f"{many:,} {name}" for name, many in sorted(COUNTS.items())))
        seen = ("green looked at", "killed amid a job", "killed after a job", "presses", "nothing left to do")
        assert min(COUNTS[name] for name in seen) > 10, COUNTS


GOOD, BAD = "1" * 40, "2" * 40


def _came_back(machine: AppTrust) -> None:
    """Pressed on a head that went away and is forced back."""
    machine.push(number=7, head=BAD, edits=False, forced=False)
    machine.drain()
    machine.press(head=7, who="wren", theirs=False, button="override")
    machine.drain()
    (check,) = [c for c in machine._ours() if c["head_sha"] == BAD]
    assert check["conclusion"] == "neutral", "a press that stands lets it through"
    machine.push(number=7, head=GOOD, edits=False, forced=True)
    machine.push(number=7, head=BAD, edits=False, forced=True)
    machine.drain()


def _retargeted(machine: AppTrust) -> None:
    """Looked at against `lax`, and told when the pull request goes to `main`."""
    machine.retarget(number=7, branch="lax")
    machine.push(number=7, head=BAD, edits=False, forced=False)
    machine.drain(until="gate.tell")
    machine.retarget(number=7, branch="main")
    machine.drain()


def _as_it_was(api: Any, job: Any) -> Any:
    return pull(api, job.repo, job.pull)


Hole = tuple[Callable[[AppTrust], None], dict[str, Any]]
HOLES: dict[str, Hole] = {
    "a press that nothing voids": (
        _came_back,
        {"gate.github.publishing.override_comments._against": lambda *_: ""},
    ),
    "a report about another base": (
        _retargeted,
        {
            "gate.serve.checks._about": _as_it_was,
            "gate.github.publishing.own_look.bound": lambda _api, report, *_, **__: report,
        },
    ),
}


@pytest.mark.parametrize("hole", HOLES)
def test_the_machine_would_say_so(monkeypatch: pytest.MonkeyPatch, hole: str) -> None:
    """The steps hold as they are, and with a defence left out a green check is found undeserved."""
    steps, without = HOLES[hole]
    with contextlib.closing(AppTrust()) as whole:
        steps(whole)
        whole.all_is_told()
    for name, instead in without.items():
        monkeypatch.setattr(name, instead)
    with contextlib.closing(AppTrust()) as broken, pytest.raises(AssertionError, match="nobody earned it"):
        steps(broken)

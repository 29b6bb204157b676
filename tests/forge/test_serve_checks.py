"""`gate serve --checks`: the App's own check, from webhooks. The look is canned here (tests/e2e: whole)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.errors import InconclusiveError, UsageError
from gate.github.checks import unstamped
from gate.github.comment import MARKER
from gate.model.report import Report
from gate.report.json_v1 import JsonReporter
from gate.serve.attempt import Ended, attempt
from gate.serve.checks import Checks
from gate.serve.interface import Lane
from gate.serve.store import Store
from gate.serve.tokens import Tokens
from gate.serve.webhooks import Answers
from tests.forge.serving import APP, keys
from tests.forge.standin.server import StandIn
from tests.forge.standin.world import APP_BOT, BASE, HEAD, OWNER, REPO, TREE, Actor, Fault, Pull, World
from tests.forge.telling import harmless, hostile, soft

WHY = "Reviewed with the platform team, see the ticket."
ME = "gate-app[bot]"


class Canned:
    """Looks without looking: the report of a head, about the commits that the event names."""

    def __init__(self) -> None:
        self.reports: dict[str, Report] = {}
        self.looks: list[tuple[str, str]] = []
        self.errors: list[Exception] = []

    def look(self, repo: str, token: str, event: bytes) -> bytes:
        assert token.startswith("ghs_")
        told = json.loads(event)
        one = told.get("pull_request")
        base, head = (one["base"]["sha"], one["head"]["sha"]) if one else (
            told["merge_group"]["base_sha"], told["merge_group"]["head_sha"])  # fmt: skip
        self.looks.append((base, head))
        if self.errors:
            raise self.errors.pop(0)
        made = self.reports.get(head, soft())
        change = replace(made.change, base=base, merge_base=base, head=head)
        made = replace(made, change=change, pull_request=one["number"] if one else None)
        return JsonReporter().render(replace(made, tree=TREE)).encode()


class Server:
    """The App with its queue, worked off step by step."""

    def __init__(self, world: World, url: str, folder: Path) -> None:
        key, world.apps[APP] = keys(folder)
        self.world, self.store, self.looker = world, Store(folder / "gate.db"), Canned()
        tokens = Tokens(APP, key.read_text(), url)
        checks = Checks(self.store, tokens, self.looker, server="https://github.com")
        self.handle = Answers(self.store, tokens.api, checks).handle
        self._number = 0

    def send(self, event: str, **more: Any) -> str:
        self._number += 1
        told = {"repository": {"full_name": f"{OWNER}/{REPO}"}, "installation": {"id": 5}, **more}
        name = f"delivery-{self._number}"
        body = json.dumps(told | {"number_of_test": self._number}).encode()
        assert self.store.accept(name, event, body, time.time()).result() == "new"
        return name

    def pull(self, action: str = "opened", number: int = 7, **more: Any) -> None:
        one = self.world.pulls[number]
        told = {"number": number, "head": {"sha": one.head_sha}, "base": {"ref": one.base_ref}}
        self.send("pull_request", action=action, pull_request=told, **more)

    def say(self, who: str, text: str, minutes: float = 5) -> None:
        made = self.world.comment(7, Actor(login=who), text)
        at = datetime.now(UTC) + timedelta(minutes=minutes)
        made.created = made.updated = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.comment("created", text)

    def comment(self, action: str, text: str, **more: Any) -> None:
        issue = {"number": 7, "pull_request": {}}
        self.send("issue_comment", action=action, issue=issue, comment={"body": text}, **more)

    def press(self, who: str, button: str = "override", kind: str = "User", app: int = APP) -> None:
        check = {"head_sha": self.world.pulls[7].head_sha, "app": {"id": app}}
        self.send(
            "check_run",
            action="requested_action",
            check_run=check,
            requested_action={"identifier": button},
            sender={"login": who, "type": kind},
        )

    def step(self, lane: Lane = "answers") -> list[Ended]:
        out = []
        for one in self.store.claim(time.time(), 1, lane):
            ended = attempt(self.handle, one)
            if ended.outcome == "done":
                self.store.done(one.id, ended.note, 0.0)
            elif ended.outcome == "failed":
                self.store.failed(one.id, ended.note, 0.0)
            else:
                self.store.later(one.id, ended.note, 0.0)
            out.append(ended)
        return out

    def drain(self, most: int = 60) -> list[Ended]:
        """Until nothing is left; an attempt that is to be made again is made at once."""
        out: list[Ended] = []
        for _ in range(most):
            step = self.step() or self.step("looks")
            if not step:
                return out
            out += step
        raise AssertionError(out[-3:])

    @property
    def check(self) -> dict[str, Any]:
        (one,) = self.world.checks.values()
        assert (one["app"], one["app_id"]) == ("gate-app", APP)
        return one

    @property
    def conclusion(self) -> str | None:
        return str(self.check["conclusion"]) if self.check["status"] == "completed" else None


@pytest.fixture
def server(world: World, github: StandIn, tmp_path: Path) -> Iterator[Server]:
    made = Server(world, github.url, tmp_path)
    yield made
    made.store.close()


def test_in_progress_at_once_then_told_under_its_own_name(server: Server, world: World) -> None:
    server.pull()
    server.step(), server.step()
    assert server.check["status"] == "in_progress"
    assert not server.looker.looks, "the check does not wait for a free look"
    server.drain()
    assert server.conclusion == "failure"
    stamp = unstamped(server.check["output"]["text"])
    assert stamp is not None
    assert (stamp.pull, stamp.head, stamp.base, stamp.base_ref) == (7, HEAD, BASE, "main")
    assert [c.author.login for c in world.on(7)] == [ME]
    assert [b["identifier"] for b in server.check["actions"]] == ["override"]
    assert len(world.sent("POST", ".*/check-runs")) == 1


def test_a_change_that_edits_workflows_forges_nothing(server: Server, world: World) -> None:
    """No job of the change's makes the report: what it writes into .github is a finding, no doubt."""
    world.pulls[7].files = [".github/workflows/gate-check.yml", "a.py"]
    world.pulls[7].head_owner, world.pulls[7].head_repo_id = "mallory", 666
    number = world.run(head_owner="mallory")
    world.artifacts[world.ids()] = (number, "gate-report", b"forged")
    server.looker.reports[HEAD] = harmless()
    server.pull()
    server.drain()
    assert server.conclusion == "success"
    assert not world.sent("GET", ".*/actions/.*"), "artifacts are not even asked for"


def test_pushes_and_retargets_meanwhile(server: Server, world: World) -> None:
    server.looker.reports = {HEAD: harmless(), "2" * 40: soft()}
    server.pull()
    server.step(), server.step()
    world.pulls[7].head_sha = "2" * 40
    server.pull("synchronize")
    server.drain()
    by_head = {c["head_sha"]: c for c in world.checks.values()}
    assert by_head["2" * 40]["conclusion"] == "failure"
    assert by_head[HEAD]["status"] == "in_progress", "an old head is told nothing"
    assert [head for _, head in server.looker.looks] == ["2" * 40]
    world.pulls[7].base_ref, world.pulls[7].base_sha = "lax", "b" * 40
    server.pull("edited", changes={"title": {"from": "x"}})
    server.drain()
    assert len(server.looker.looks) == 1, "a title is no other change"
    server.looker.reports["2" * 40] = harmless()
    server.pull("edited", changes={"base": {"ref": {"from": "main"}}})
    server.step(), server.step()
    assert by_head["2" * 40]["status"] == "in_progress", "the verdict against main stands no longer"
    server.drain()
    assert server.looker.looks[-1] == ("b" * 40, "2" * 40)
    assert by_head["2" * 40]["conclusion"] == "success"


def test_rerun_looks_again_and_only_ours(server: Server, world: World) -> None:
    server.pull()
    server.drain()
    server.looker.reports[HEAD] = harmless()
    for app, looks in ((APP + 1, 1), (APP, 2)):
        server.send("check_run", action="rerequested", check_run={"head_sha": HEAD, "app": {"id": app}})
        server.drain()
        assert len(server.looker.looks) == looks
    assert server.conclusion == "success"
    assert server.check["actions"] == [], "nothing to override any more"
    server.send("check_suite", action="rerequested", check_suite={"head_sha": HEAD, "app": {"id": APP}})
    server.drain()
    assert len(server.looker.looks) == 3


@pytest.mark.parametrize(
    ("who", "more", "why"),
    [
        ("wren", {}, ""),
        ("rob", {}, "has not the role write"),
        ("mina", {}, "by an author"),
        ("wren", {"kind": "Bot"}, "only people"),
        ("wren", {"button": "something"}, None),
        ("wren", {"app": APP + 1}, None),
    ],
)
def test_the_button(server: Server, world: World, who: str, more: dict[str, Any], why: str | None) -> None:
    """A button is a comment in short: whoever may not comment may not press."""
    world.roles["mina"] = "write"
    server.pull()
    server.drain()
    time.sleep(1.1)  # GitHub's clock shows whole seconds: younger than the verdict
    server.press(who, **more)
    server.drain()
    assert len(server.looker.looks) == 1
    assert server.conclusion == ("neutral" if why == "" else "failure")
    if why:
        assert why in world.on(7)[0].body
    if why == "":
        assert who in world.on(7)[0].body
        server.pull("reopened")  # what a look says later, a press before the event does not cover
        world.pulls[7].events.append(
            {"event": "reopened", "created_at": "2099-01-01T00:00:00Z", "actor": "mina"}
        )
        server.drain()
        assert server.conclusion == "failure"


def test_a_press_is_for_one_head_and_never_for_a_hard_block(server: Server, world: World) -> None:
    server.pull()
    server.drain()
    time.sleep(1.1)
    server.press("wren")
    server.drain()
    assert server.conclusion == "neutral"
    world.pulls[7].head_sha = "2" * 40
    server.looker.reports["2" * 40] = hostile()
    server.pull("synchronize")
    server.drain()
    time.sleep(1.1)
    server.press("wren")
    server.drain()
    last = world.checks[max(world.checks)]
    assert (last["head_sha"], last["conclusion"]) == ("2" * 40, "failure")
    assert last["actions"] == [], "no button where it would not help"


def test_comments_judge_again_from_the_report_that_is_kept(server: Server, world: World) -> None:
    server.pull()
    server.drain()
    text = f"/gate override all sha: {HEAD} reason: {WHY}"
    server.say("wren", text)
    server.drain()
    assert server.conclusion == "neutral"
    (made,) = [c for c in world.on(7) if c.author.login == "wren"]
    del world.comments[made.id]
    server.comment("deleted", text)
    server.drain()
    assert server.conclusion == "failure"
    server.comment("created", "nice work")
    server.drain()
    assert len(server.looker.looks) == 1


def test_an_entry_of_the_merge_queue(server: Server, world: World) -> None:
    head = "5" * 40
    world.older.add((BASE, head))
    server.looker.reports[head] = harmless()
    ref = "refs/heads/gh-readonly-queue/main/pr-7-abc"
    group = {"head_sha": head, "head_ref": ref, "base_sha": BASE, "base_ref": "refs/heads/main"}
    server.send("merge_group", action="checks_requested", merge_group=group)
    server.drain()
    assert (server.check["head_sha"], server.conclusion) == (head, "success")


def test_what_cannot_be_looked_at_says_so(server: Server, world: World) -> None:
    server.looker.errors = [UsageError("gate.toml at base: unknown key", advice="Mend it.")]
    server.pull()
    server.drain()
    assert server.conclusion == "failure"
    assert "unknown key" in server.check["output"]["summary"]
    server.looker.errors = [InconclusiveError("cannot be fetched")] * 3
    server.send("check_run", action="rerequested", check_run={"head_sha": HEAD, "app": {"id": APP}})
    ended = server.drain()
    assert [e.outcome for e in ended].count("retried") == 2
    assert "cannot be fetched" in server.check["output"]["summary"]
    assert "Inconclusive" in server.check["output"]["title"]


@pytest.mark.parametrize("path", [".*/check-runs", ".*/check-runs/.*", ".*/comments"])
@pytest.mark.parametrize("after", [False, True])
def test_faults_of_github_lose_nothing_and_repeat_nothing(
    server: Server, world: World, path: str, after: bool
) -> None:
    world.faults.append(Fault(status=502, method="POST|PATCH", path=path, times=3, after=after))
    server.pull()
    server.drain()
    assert server.conclusion == "failure"
    assert len(world.on(7)) == 1
    assert len(server.looker.looks) == 1


def test_a_full_disk_is_no_silence(server: Server, world: World) -> None:
    server.looker.errors = [OSError(28, "No space left on device")] * 3
    server.pull()
    server.drain()
    assert server.conclusion == "failure"
    assert "failed on the server" in server.check["output"]["summary"]


def test_a_flood_of_comments_is_judged_once(server: Server, world: World) -> None:
    """Each judgement asks the API some fifteen things, and an installation may ask 5,000 an hour."""
    server.pull()
    server.drain()
    for number in range(20):
        server.say(f"sock{number}", f"/gate override all sha: {HEAD} reason: {WHY}")
    asked = len(world.asked)
    ended = server.drain()
    assert [e.note for e in ended].count("a later judgement has read this comment") == 19
    assert len(world.sent("GET", ".*/issues/7/comments")) <= 8, "four for each of two judgements"
    assert len(world.asked) - asked < 20 * 5, "who wrote it, and where the pull request stands"
    server.say("wren", f"/gate override all sha: {HEAD} reason: {WHY}")
    server.drain()
    assert server.conclusion == "neutral", "whoever may is heard among them"


def test_the_token_goes_to_this_server_alone() -> None:
    from gate.serve.looking import _authority

    told = _authority("https://github.example", "ghs_secret")
    keys = {told[f"GIT_CONFIG_KEY_{n}"]: told[f"GIT_CONFIG_VALUE_{n}"] for n in range(2)}
    assert keys["http.followRedirects"] == "false"
    assert set(keys) == {"http.https://github.example/.extraHeader", "http.followRedirects"}
    assert "ghs_secret" not in "".join(told.values()), "not in clear"


def test_every_job_done_twice_says_it_once(server: Server, world: World) -> None:
    """At least once: whatever was done when the worker died is done again, from the start."""
    server.pull()
    twice = server.handle

    def handle(delivery: Any) -> Any:
        twice(delivery)
        return twice(delivery)

    server.handle = handle
    server.drain()
    assert server.conclusion == "failure"
    assert len(server.looker.looks) == 1
    assert len(world.sent("POST", ".*/check-runs")) == 1
    assert len(world.sent("POST", ".*/comments")) == 1
    done = [a for a in world.sent("PATCH", ".*/check-runs/.*") if a.body.get("status") == "completed"]
    assert len(done) == 1


def test_a_token_is_for_one_repository_and_no_more_than_it_needs(server: Server, world: World) -> None:
    server.pull()
    server.drain()
    asked = [a.body for a in world.sent("POST", "/app/installations/5/access_tokens")]
    assert all(a["repositories"] == [REPO] for a in asked)
    told = [tuple(sorted(a["permissions"].items())) for a in asked]
    assert (("contents", "read"),) in told, "fetching takes no token that writes"
    assert {p for t in told for p, level in t if level == "write"} <= {
        "checks",
        "pull_requests",
        "deployments",
    }


def test_jobs_cannot_come_by_webhook() -> None:
    from gate.serve.app import EVENTS

    assert not any(event.startswith("gate.") for event in EVENTS)


def test_closed_meanwhile(server: Server, world: World) -> None:
    server.pull()
    world.pulls[7] = Pull(number=7, state="closed")
    server.drain()
    assert not world.checks


def test_what_another_workflow_was_made_to_say_is_no_comment_of_ours(server: Server, world: World) -> None:
    """A workflow that repeats strangers' words, our marker first: under an App's own name it is not ours."""
    said = MARKER + "\nWelcome! [read on](https://evil.example)"
    echo = world.comment(7, Actor(login=APP_BOT, type="Bot"), said)
    server.pull()
    server.drain()
    assert echo.body == said, "left alone"
    assert [c.author.login for c in world.on(7)] == [APP_BOT, ME]

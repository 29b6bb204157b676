"""`gate deploy` against the stand-in and against real clones: every way to be blocked, every way to pass."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.cli import main
from gate.github.checks import Stamp, stamped, unstamped
from gate.model.report import ReportProvenance
from gate.policy.digest import policy_digest
from gate.settings import load
from tests.forge.standin.server import StandIn
from tests.forge.standin.world import OWNER, REPO, Fault, Pull, World, stamp
from tests.forge.telling import Job, harmless
from tests.integration.test_sign_verify import Place

TOML = b'[deploy.production]\napp = "gate-app"\n'
OLD, BASE, HEAD, MERGE, SQUASH, STRAY = (c * 40 for c in "123456")
TREE = "ab" * 20


@dataclass
class Shop:
    """main: OLD <- BASE <- MERGE(HEAD) <- SQUASH(pull 8, head STRAY)."""

    world: World
    policy: str
    env: dict[str, str] = field(default_factory=dict)

    def judge(self, sha: str = HEAD, base: str | None = BASE, **more: Any) -> dict[str, Any]:
        now = int(time.time())
        told: dict[str, Any] = {
            "verdict": "pass", "score": 0, "head": sha, "base": base, "report": "0" * 64,
            "policy": self.policy, "gate": "0.1", "at": now,
        }  # fmt: skip
        made = Stamp(**(told | {k: v for k, v in more.items() if k in Stamp.__struct_fields__}))
        words = {"pass": "success", "warn": "neutral", "fail": "failure", "inconclusive": "failure"}
        check: dict[str, Any] = {
            "id": self.world.ids(), "app": "gate-app", "app_id": 99, "at": stamp(), "name": "gate",
            "head_sha": sha, "status": "completed", "conclusion": words[made.verdict], "annotations": [],
            "output": {"title": "t", "summary": "s", "text": stamped(made)},
        }  # fmt: skip
        check |= {k: v for k, v in more.items() if k not in Stamp.__struct_fields__}
        self.world.checks[check["id"]] = check
        return check

    def deploy(self, sha: str = HEAD, *more: str) -> int:
        return main(["deploy", "--sha", sha, "--environment", "production", *more])


@pytest.fixture
def shop(world: World, github: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shop:
    tip = SQUASH
    world.branches["main"] = tip
    world.files[tip, "gate.toml"] = TOML
    world.trees |= {
        OLD: ("01" * 20, ()), BASE: ("02" * 20, (OLD,)), HEAD: (TREE, (BASE,)),
        MERGE: (TREE, (BASE, HEAD)), STRAY: ("cd" * 20, (BASE,)), SQUASH: ("cd" * 20, (MERGE,)),
    }  # fmt: skip
    world.pulls[8] = Pull(number=8, head_sha=STRAY, state="closed", merged_as=SQUASH)
    for name, value in {
        "GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": f"{OWNER}/{REPO}", "GITHUB_TOKEN": "job-token",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GATE_TOKEN", raising=False)
    file = tmp_path / "gate.toml"
    file.write_bytes(TOML)
    config = load(file=file, environ={}).config
    return Shop(world, policy_digest(msgspec.to_builtins(config)))


def test_the_exact_commit_with_a_passing_verdict(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert shop.deploy() == 1
    assert "no verdict" in capsys.readouterr().out
    shop.judge()
    assert shop.deploy() == 0
    out = capsys.readouterr().out
    assert "may be deployed" in out
    assert "/runs/" in out


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"verdict": "fail"}, "fail"),
        ({"verdict": "inconclusive"}, "inconclusive"),
        ({"conclusion": "success", "verdict": "fail"}, "inconclusive"),
        ({"conclusion": "skipped"}, "inconclusive"),
        ({"app": "github-actions", "app_id": 15368}, "github-actions"),
        ({"policy": "f" * 64}, "policy"),
        ({"at": stamp()}, ""),
        ({"base": None}, "trusted branch"),
        ({"base": STRAY}, "trusted branch"),
        ({"base": HEAD}, "trusted branch"),
        ({"output": {"text": "no stamp"}}, "inconclusive"),
        ({"output": {"text": None}}, "inconclusive"),
        ({"status": "in_progress"}, "no verdict"),
        ({"head": BASE}, "inconclusive"),
        ({"overridden": "fail", "verdict": "warn", "overrides_until": 1}, "expired"),
    ],
)
def test_everything_else_is_blocked(
    shop: Shop, capsys: pytest.CaptureFixture[str], more: dict[str, Any], why: str
) -> None:
    if more.keys() == {"at"}:
        shop.judge(at=int(time.time()) - 8 * 86_400)
        why = "old"
    else:
        shop.judge(**more)
    assert shop.deploy() == 1
    out = capsys.readouterr().out
    assert "BLOCKED" in out
    assert why in out


def test_a_later_failing_verdict_beats_an_earlier_passing_one(shop: Shop) -> None:
    shop.judge(at=int(time.time()) - 60)
    assert shop.deploy() == 0
    shop.judge(verdict="fail")
    assert shop.deploy() == 1


def test_a_merge_or_squash_with_the_very_tree(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.judge(HEAD)
    assert shop.deploy(MERGE) == 0
    assert shop.deploy(SQUASH) == 1
    shop.judge(STRAY)
    assert shop.deploy(SQUASH) == 0
    shop.world.trees[MERGE] = ("ee" * 20, (BASE, HEAD))
    capsys.readouterr()
    assert shop.deploy(MERGE) == 1
    assert "no verdict" in capsys.readouterr().out


def test_an_unjudged_branch_is_not_whitewashed(shop: Shop) -> None:
    """A pull request into a branch that nobody judged says nothing about the branch."""
    evil = "e" * 40
    shop.world.trees |= {evil: ("ee" * 20, (BASE,)), HEAD: (TREE, (evil,))}
    shop.judge(HEAD, base=evil)
    assert shop.deploy(HEAD) == 1
    assert shop.deploy(MERGE) == 1


def test_a_base_that_holds_the_commit_already_looked_at_nothing(shop: Shop) -> None:
    shop.judge(MERGE, base=SQUASH)
    assert shop.deploy(MERGE) == 1
    shop.judge(MERGE, base=BASE)
    assert shop.deploy(MERGE) == 0


def test_a_range_needs_every_commit(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.judge(STRAY)
    assert shop.deploy(SQUASH, "--since", BASE) == 1
    assert MERGE[:12] in capsys.readouterr().out
    shop.judge(HEAD)
    assert shop.deploy(SQUASH, "--since", BASE) == 0
    assert shop.deploy(SQUASH, "--since", STRAY) == 1
    assert "not behind" in capsys.readouterr().out


def test_settings_come_from_the_trusted_branch_only(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    shop.judge()
    del shop.world.files[SQUASH, "gate.toml"]
    shop.world.files[HEAD, "gate.toml"] = TOML
    assert shop.deploy() == 1
    assert "no table" in capsys.readouterr().out
    shop.world.files[SQUASH, "gate.toml"] = b"[deploy.production]\n"
    assert shop.deploy() == 1
    assert "name no app" in capsys.readouterr().out
    shop.world.files[SQUASH, "gate.toml"] = TOML.replace(b"gate-app", b"99")
    assert shop.deploy() == 0


def test_what_cannot_be_asked_is_blocked(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.judge()
    shop.world.faults.append(Fault(status=401, path=".*check-runs"))
    assert shop.deploy() == 1
    monkeypatch.setenv("GITHUB_TOKEN", "nonsense")
    assert shop.deploy() == 1


def test_short_names_are_refused(shop: Shop) -> None:
    assert shop.deploy("main") == 2
    assert shop.deploy(HEAD[:12]) == 2
    assert shop.deploy(HEAD, "--key", "x.pem") == 2


def test_without_a_repository_the_flag_that_names_it_is_told(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY")
    assert shop.deploy() == 2
    assert "Give --github OWNER/NAME" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("policy", "code"), [("same", 0), ("of another look", 1), ("unknown", 1)], ids=lambda x: str(x)
)
def test_what_publish_wrote_is_what_deploy_reads(shop: Shop, job: Job, policy: str, code: int) -> None:
    """One digest from look to deployment; made under other settings than base's it counts nowhere."""
    world = shop.world
    world.pulls[7].head_sha, world.pulls[7].base_sha = HEAD, BASE
    world.files[SQUASH, "gate.toml"] = b'[deploy.production]\napp = "github-actions"\n'
    made = ReportProvenance(at=int(time.time()), policy=shop.policy, rules="b" * 64, gate="c" * 64)
    change = replace(harmless().change, base=BASE, merge_base=BASE, head=HEAD)
    report = replace(harmless(), change=change, made=made, tree=TREE)
    if policy == "of another look":
        report = replace(report, made=replace(made, policy="f" * 64))
    if policy == "unknown":
        report = replace(report, made=None)
    assert job.publish(report) == 0
    (check,) = world.checks.values()
    stamp = unstamped(check["output"]["text"])
    assert stamp is not None
    assert (stamp.policy == shop.policy) is (policy == "same")
    assert stamp.policy != "f" * 64
    assert shop.deploy() == code


@pytest.fixture
def step(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The action's step on a runner; the folder with its files."""
    monkeypatch.setenv("GATE_INPUT_MODE", "deploy")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    for name in ("GITHUB_EVENT_PATH", "GITHUB_EVENT_NAME", "GITHUB_SHA", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("event", ["push", "deployment", "deployment_status"])
def test_the_step_asks_about_what_the_event_names(
    shop: Shop, step: Path, event: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_EVENT_NAME", event)
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(step / "event"))
    told = {"deployment": {"sha": HEAD, "environment": "production"}} if event != "push" else {"after": HEAD}
    (step / "event").write_text(json.dumps(told))
    monkeypatch.setenv("GITHUB_SHA", HEAD if event == "push" else "f" * 40)
    if event == "push":
        monkeypatch.setenv("GATE_INPUT_ENVIRONMENT", "production")
    assert main(["action"]) == 1
    assert "::error title=gate blocks this deployment::production: no verdict" in capsys.readouterr().out
    assert "blocked" in (step / "summary").read_text()
    shop.judge()
    assert main(["action"]) == 0
    assert "may be deployed" in (step / "summary").read_text()
    monkeypatch.setenv("GATE_INPUT_ENVIRONMENT", "staging")
    assert main(["action"]) == 1, "the input beats the event; an environment without a table takes nothing"
    monkeypatch.setenv("GATE_INPUT_ENVIRONMENT", "production")
    shop.world.faults.append(Fault(status=403, body='{"message": "no"}', times=9))
    assert main(["action"]) == 1, "what cannot be asked is blocked"


@pytest.mark.parametrize(
    ("name", "value"), [("SHA", "main"), ("SHA", HEAD[:12]), ("SINCE", "HEAD~3"), ("ENVIRONMENT", "")]
)
def test_the_step_wants_whole_names(
    step: Path, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_SHA", HEAD)
    monkeypatch.setenv("GATE_INPUT_ENVIRONMENT", "production")
    monkeypatch.setenv(f"GATE_INPUT_{name}", value)
    assert main(["action"]) == 2


# ---- signed statements and a clone -----------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def _rewrite(place: Place, **more: Any) -> None:
    from gate.model.score import Verdict

    policy = policy_digest(msgspec.to_builtins(load(environ={}).config))
    made = ReportProvenance(at=int(time.time()), policy=policy, rules="b" * 64, gate="c" * 64)
    verdict = more.pop("verdict", Verdict.PASS)
    place.write(verdict, made=replace(made, **more))
    assert place.sign() == 0


def _deploy(place: Place, *more: str, sha: str = "") -> int:
    config = place.key.parent / "gate.toml"
    config.write_text("[deploy.production]\n")
    return main(
        [
            "deploy", "--sha", sha or place.head, "--environment", "production", "--base", "main",
            "--statement", str(place.statement), "--repo", str(place.repo), "--config", str(config), *more,
        ]
    )  # fmt: skip


def test_a_signed_statement_and_nothing_else(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    _rewrite(place)
    assert _deploy(place) == 1
    assert "no trusted key" in capsys.readouterr().out
    key = ("--key", str(place.public))
    assert _deploy(place, *key) == 0
    assert _deploy(place, *key, sha=place.base) == 1
    place.statement.write_bytes(b"{}")
    assert _deploy(place, *key) == 1


@pytest.mark.parametrize("more", [{"policy": "f" * 64}, {"at": 1}])
def test_signed_but_not_acceptable(place: Place, more: dict[str, Any]) -> None:
    _rewrite(place, **more)
    assert _deploy(place, "--key", str(place.public)) == 1


def test_a_clone_without_a_default_branch_says_what_to_give(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    _rewrite(place)
    words = ["deploy", "--sha", place.head, "--environment", "production", "--repo", str(place.repo)]
    assert main([*words, "--statement", str(place.statement)]) == 2
    told = capsys.readouterr().err
    assert "--base BRANCH" in told
    assert "git remote set-head origin -a" in told


def test_signed_merge_with_the_very_tree(place: Place) -> None:
    from tests.e2e.pulls import git

    _rewrite(place)
    merge = git(
        place.repo, "commit-tree", "HEAD^{tree}", "-p", place.base, "-p", place.head, "-m", "m"
    ).strip()
    key = ("--key", str(place.public))
    assert _deploy(place, *key, sha=merge) == 0
    other = git(
        place.repo, "commit-tree", "main^{tree}", "-p", place.base, "-p", place.head, "-m", "m"
    ).strip()
    assert _deploy(place, *key, sha=other) == 1

"""Digests of what judges: the same for the same, another for anything that bears on a verdict."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gate.policy import digest
from gate.resources import rules_dir
from gate.settings import Config, PolicySettings, SandboxSettings, load

DEFAULTS = msgspec.to_builtins(Config())


def test_same_whatever_the_order_and_how_defaults_came() -> None:
    turned = {table: dict(reversed(keys.items())) for table, keys in reversed(DEFAULTS.items())}
    assert digest.policy_digest(turned) == digest.policy_digest(DEFAULTS)
    given = load(environ={"GATE_POLICY_WARN": "30"}).config
    assert digest.policy_digest(msgspec.to_builtins(given)) == digest.policy_digest(DEFAULTS)


@pytest.mark.parametrize(
    ("config", "same"),
    [
        (Config(policy=PolicySettings(fail=71)), False),
        (Config(sandbox=SandboxSettings(enabled=False)), False),
        (Config(sandbox=SandboxSettings(deadline=0.1)), False),
        (Config(sandbox=SandboxSettings(backend="docker")), True),
    ],
)
def test_only_what_bears_on_a_verdict_counts(config: Config, same: bool) -> None:
    assert (digest.policy_digest(msgspec.to_builtins(config)) == digest.policy_digest(DEFAULTS)) is same


def test_deploy_terms_do_not_change_the_policy() -> None:
    assert set(DEFAULTS) - set(digest.JUDGING) <= {"github", "deploy", "cache"}, "a new table: does it judge?"


def test_a_changed_or_renamed_rule_changes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    monkeypatch.setattr(digest, "_KNOWN", {})
    for number, (name, text) in enumerate((("a", "1"), ("a", "2"), ("b", "2"), ("a1", ""))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text)
        monkeypatch.setattr(digest, "rules_dir", lambda folder=folder: folder)
        digest._rules.cache_clear()
        seen.add(digest.policy_digest(DEFAULTS))
    monkeypatch.setattr(digest, "rules_dir", rules_dir)
    digest._rules.cache_clear()
    assert len(seen) == 4


def test_program_digest_is_of_the_program() -> None:
    assert len(digest.gate_digest()) == 64
    assert digest.gate_digest() != digest.rules_digest()


def test_plugins_in_force_bear_on_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest.policy_digest(DEFAULTS)
    monkeypatch.setattr("gate.plugins.told", lambda: "shop-gate 1.2")
    assert digest.policy_digest(DEFAULTS) != before


def test_digests_that_somebody_knows_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_KNOWN", {})
    digest.known(gate="g", rules="r")
    assert (digest.gate_digest(), digest.rules_digest()) == ("g", "r")


def test_only_files_count(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("x")
    before = digest._folder(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    assert digest._folder(tmp_path) == before

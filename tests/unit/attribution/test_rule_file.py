"""Attribution against the labelled corpora (read in place; skipped where they are not)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bench.attribution import DATA, main, measure, rows
from gate.attribution.attribute import attribute_commit
from gate.attribution.findings import RULES
from gate.attribution.rule_file import attribution_rules
from tests.unit.attribution.support import commit

SIGNALS = DATA.with_name("signals.json")
NO_DATA = pytest.mark.skipif(not DATA.is_file(), reason="the labelled commits (../shared/data) are not here")
_PERSON = re.compile(r"(?P<name>[^<>:]*) <(?P<email>[^<>]*)>")

# Where we judge otherwise than the signal list, and why.
OURS = {
    "claude.share": "a transcript link alone on its line is disclosure",
    "gemini.cli-bot.id": "the login is the identity, whatever the number",
    "replit.session": "deployments carry it too",
    "conv.ai-trailers": "the example has no value",
    "generic.ai-coauthor": "a co-author who is called an AI agent",
    "prose.generated": "a sentence that opens with it",
    "prose.ai-generated": "a sentence that opens with it",
    "prose.vibe": "a sentence that opens with it",
}


@NO_DATA
def test_the_goals_on_the_labelled_commits() -> None:
    result = measure(rows())
    assert result["ours"]["precision"] >= 0.99
    assert result["ours"]["recall"] >= 0.97
    assert result["hard_negatives"]["ours_false"] == 0
    assert min(result["recall_per_tool"].values()) >= 0.95
    assert result["ours"]["recall"] > result["naive"]["recall"] + 0.8
    assert result["bots"]["recognised"] >= 0.9 * result["bots"]["commits"]


def _signals() -> list[dict[str, Any]]:
    if not SIGNALS.is_file():
        return []
    return [s for s in json.loads(SIGNALS.read_text(encoding="utf-8")) if s.get("example")]


def _said(signal: dict[str, Any]) -> bool | None:
    example = signal["example"]
    person = _PERSON.fullmatch(example)
    if signal["kind"] in ("identity", "any", "bot_exclude") and person:
        return attribute_commit(commit(author=(person["name"], person["email"]))).is_ai
    if signal["kind"] in ("trailer", "footer", "prose", "any", "pr_body", "negative"):
        return attribute_commit(commit(f"subject\n\n{example}\n")).is_ai
    if signal["kind"] == "subject_prefix":
        return attribute_commit(commit(f"{example}\n")).is_ai
    return None


@NO_DATA
def test_every_known_signal_with_an_example() -> None:
    signals = _signals()
    wrong = []
    looked = 0
    for signal in signals:
        said = _said(signal)
        wanted = signal["confidence"] != "weak" and signal["kind"] not in ("negative", "bot_exclude")
        looked += said is not None
        if said is not None and said != wanted and signal["id"] not in OURS:
            wrong.append((signal["id"], signal["example"]))
    assert wrong == []
    assert looked > 60


def test_every_rule_of_the_file_can_be_reached_through_the_first_look() -> None:
    rules = attribution_rules()
    samples = [
        *(f"Co-authored-by: X <{email}>" for entry in rules.address for email in entry.emails),
        *(
            f"Co-authored-by: X <1+{n}@users.noreply.github.com>"
            for entry in rules.login
            for n in entry.logins
        ),
    ]
    missed = [text for text in samples if not rules.hinted(text)]
    assert missed == []


def test_the_rules_page_is_in_the_book() -> None:
    ((meta, page),) = RULES
    assert meta.id == "attribution.ai-disclosed"
    assert "never decides" in page


def test_sources_are_named() -> None:
    rules = attribution_rules()
    every = [
        *rules.address,
        *rules.login,
        *rules.name,
        *rules.people,
        *rules.trailer,
        *rules.line,
        *rules.branch,
    ]
    assert all(entry.source.strip() for entry in every)


def test_the_bench_says_that_its_commits_are_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "dev.jsonl")]) == 2
    assert "are not here" in capsys.readouterr().err

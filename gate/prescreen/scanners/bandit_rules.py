"""What we say about Bandit's rules: titles, topics, and where its word is too strong (rules/bandit.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from gate.languages.path_roles import is_test_code
from gate.model.rule import Confidence, FindingStage, RuleMeta, Severity
from gate.resources import rules_dir

_PAGES: Final = "https://bandit.readthedocs.io/en/latest/plugins/"


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    with (rules_dir() / "bandit.toml").open("rb") as file:
        table: dict[str, dict[str, Any]] = tomllib.load(file)["gate"]
    return table


def bandit_meta(test: str, cwe: int = 0) -> RuleMeta:
    """A Bandit rule's identity: ``B602`` is ``bandit-b602``. Unknown (newer) rules get a plain page."""
    said = _table().get(test, {})
    title = said.get("title", f"Bandit's rule {test}")
    most = said.get("most")
    return RuleMeta(
        id=f"bandit-{test.lower()}",
        title=title,
        stage=FindingStage.PRESCREEN,
        severity=Severity(most) if most else Severity.MEDIUM,
        confidence=Confidence.MEDIUM,
        help=f"{title}. Found by Bandit ({test}); see {_PAGES}",
        remediation="Use the safe form Bandit names, or show that no outside input gets here.",
        topic=said.get("topic", "weakness"),
        cwe=tuple(dict.fromkeys([*([cwe] if cwe else []), *said.get("cwe", ())])),
        languages=("python",),
        origin="bandit",
    )


def settled(test: str, path: str, severity: Severity) -> Severity | None:
    """The severity after our caps for this rule and place; None when it says nothing there."""
    said = _table().get(test, {})
    caps = [said["most"]] if "most" in said else []
    if is_test_code(path) and "tests" in said:
        if said["tests"] == "none":
            return None
        caps.append(said["tests"])
    return min([severity, *map(Severity, caps)], key=lambda level: level.rank)


def sink_of(rule_id: str) -> str:
    """The class of values/library.py that decides about a rule of Bandit's; empty for other rules."""
    said = _table().get(rule_id.removeprefix("bandit-").upper(), {}) if rule_id.startswith("bandit-") else {}
    return str(said.get("sink", ""))


def bandit_rules() -> dict[str, RuleMeta]:
    """Every Bandit rule we know by name, by our id."""
    return {meta.id: meta for meta in map(bandit_meta, _table())}


def known_settings() -> Mapping[str, Mapping[str, object]]:
    """The table as it stands, for the test that compares it with Bandit's own list."""
    return _table()

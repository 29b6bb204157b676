"""Requirements of which one is enough, and settings of identity: a new alternative or more trust is told."""

from __future__ import annotations

import json
from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

ENVOY: Final = """
rules:
- match: {{prefix: /api/}}
  requires: {}
- match: {{prefix: /open/}}
  requires: {{provider_name: b}}
"""
ONE: Final = ENVOY.format("{provider_name: a}")
OPENAPI: Final = "openapi: 3.0.0\npaths: {{/a: {{get: {{security: {}, responses: {{}}}}}}}}\n"


def realm(*, trust: bool = False, requirement: str = "REQUIRED", named: str = "a") -> str:
    flow = [{"authenticator": "auth-otp-form", "requirement": requirement}]
    return json.dumps(
        {
            "identityProviders": [{"alias": "partners", "displayName": named, "trustEmail": trust}],
            "authenticationFlows": [{"alias": "browser", "authenticationExecutions": flow}],
        }
    )


WORSE: Final = (
    (
        "e.yaml",
        "anybody",
        ONE,
        ENVOY.format("{requires_any: {requirements: [{provider_name: a}, {allow_missing: {}}]}}"),
    ),
    ("e.yaml", "anybody", ONE, ENVOY.format("{allow_missing_or_failed: {}}")),
    (
        "e.yaml",
        "weaker",
        ONE,
        ENVOY.format("{requires_any: {requirements: [{provider_name: a}, {provider_name: c}]}}"),
    ),
    (
        "e.yaml",
        "weaker",
        "authorize: {any_of: [{role: a}]}\n",
        "authorize: {any_of: [{role: a}, {team: b}]}\n",
    ),
    ("e.json", "anybody", '{"requires": {"anyOf": [{"a": 1}]}}', '{"requires": {"anyOf": [{"a": 1}, {}]}}'),
    ("o.yaml", "anybody", OPENAPI.format("[{oauth: []}]"), OPENAPI.format("[{oauth: []}, {}]")),
    ("r.json", "weaker", realm(), realm(trust=True, named="b")),
    ("r.json", "weaker", realm(), realm(requirement="ALTERNATIVE")),
    ("r.json", "weaker", realm(), realm(requirement="DISABLED")),
)
AS_GOOD: Final = (
    ("e.yaml", ONE, ENVOY.format("{provider_name: c}")),
    ("e.yaml", ONE, ENVOY.format("{requires_any: {requirements: [{provider_name: a}]}}")),
    ("e.yaml", ONE, ENVOY.format("{requires_all: {requirements: [{provider_name: a}, {provider_name: c}]}}")),
    (
        "s.json",
        '{"properties": {"security": {"anyOf": [{"a": 1}]}}}',
        '{"properties": {"security": {"anyOf": [{}]}}}',
    ),
    ("p.toml", '[requires]\npython = "3"\n', '[requires]\npython = "3"\nother = "1"\n'),
    ("p.yaml", "security: {headers: {a: b}}\n", "security: {headers: {a: c}, public: true}\n"),
    ("r.json", realm(trust=True), realm()),
    ("r.json", realm(requirement="ALTERNATIVE"), realm()),
)


def _told(path: str, base: str, head: str) -> list[str]:
    old, new = (read(path, text.encode(), {}) for text in (base, head))
    return [one.fact.what for one in differences({path: old}, {path: new}, {})]


@pytest.mark.parametrize(("path", "what", "base", "head"), WORSE)
def test_one_more_way_or_more_trust(path: str, what: str, base: str, head: str) -> None:
    assert what in _told(path, base, head)
    assert _told(path, head, base) == []


@pytest.mark.parametrize(("path", "base", "head"), AS_GOOD)
def test_as_strict_as_before(path: str, base: str, head: str) -> None:
    assert _told(path, base, head) == []

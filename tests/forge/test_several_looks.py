"""Several looks at one commit (a matrix): each has its check, its comment and its SARIF category."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from gate.cli import main
from gate.errors import Exit
from tests.forge.standin.world import World
from tests.forge.telling import Job, harmless, packed, soft


@pytest.fixture(autouse=True)
def _settings(world: World) -> None:
    world.files[world.pulls[7].base_sha, "gate.toml"] = b"[github]\nsarif = true\n"


def _told(job: Job, world: World, name: str, patch: pytest.MonkeyPatch, report: bytes) -> int:
    number = world.run()
    world.artifacts[world.ids()] = (number, "gate-report", report)
    job.event({"workflow_run": {"id": number}})
    patch.setenv("GATE_INPUT_MODE", "publish")
    patch.setenv("GATE_INPUT_NAME", name)
    return main(["action"])


def test_names_keep_looks_apart(job: Job, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _told(job, world, "docker", monkeypatch, packed(soft())) == Exit.OK
    assert _told(job, world, "py3.13", monkeypatch, packed(soft())) == Exit.OK
    assert _told(job, world, "docker", monkeypatch, packed(harmless())) == Exit.OK
    told = {c["name"]: c["conclusion"] for c in world.checks.values()}
    assert told == {"gate (docker)": "success", "gate (py3.13)": "failure"}
    first = sorted(c.body.splitlines()[0] for c in world.on(7))
    assert first == ["<!-- gate:report:v1 docker -->", "<!-- gate:report:v1 py3.13 -->"]
    categories = {
        json.loads(gzip.decompress(base64.b64decode(s["sarif"])))["runs"][0]["automationDetails"]["id"]
        for s in world.sarifs.values()
    }
    assert categories == {"gate/docker/", "gate/py3.13/"}


def test_a_job_that_may_be_named_so_is_a_doubt(
    job: Job, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doubt is about the name that is required, whichever it is."""
    pull = world.pulls[7]
    pull.files = [".github/workflows/evil.yml"]
    evil = b"on: pull_request\njobs:\n  x:\n    name: gate (docker)\n    runs-on: x\n    steps: []\n"
    world.files[pull.head_sha, ".github/workflows/evil.yml"] = evil
    _told(job, world, "docker", monkeypatch, packed(harmless()))
    (check,) = world.checks.values()
    assert check["conclusion"] == "failure"
    assert "gate (docker)" in check["output"]["summary"].replace("\u200b", "").replace("&#8203;", "")


@pytest.mark.parametrize("name", ["a b", "<!--", "x" * 41, "é"])
def test_a_name_is_a_plain_word(
    job: Job, world: World, monkeypatch: pytest.MonkeyPatch, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _told(job, world, name, monkeypatch, packed(harmless())) == Exit.USAGE
    assert re.search("inputs", capsys.readouterr().err)
    assert not world.checks

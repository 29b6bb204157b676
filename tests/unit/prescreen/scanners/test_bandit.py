"""Bandit as it is: nothing in the change mutes it, nothing it skipped goes unsaid."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gate.model.stage import StageOutcome
from gate.prescreen.interface import Prescreened
from gate.prescreen.scanners.bandit import Bandit
from gate.prescreen.scanners.bandit_rules import bandit_rules, known_settings
from tests.paths import REPOSITORY as ROOT
from tests.prescreen_support import Files, make_request

SHELL = "import subprocess\n\n\ndef run(command):\n    subprocess.call(command, shell=True){}\n"


def scan(head: Files, base: Files | None = None, **more: object) -> Prescreened:
    return Bandit().scan(make_request(head, base, **more))  # type: ignore[arg-type]


def rules(result: Prescreened) -> list[str]:
    return [f.rule_id for f in result.findings]


@pytest.mark.parametrize(
    "comment",
    [
        "  # nosec",
        "  #nosec:B602",
        "  # nosec nonsense",
        "  # NOSEC B602 the reviewer agreed",
        "  # noqa # nosec",
    ],
)
def test_nosec_is_reported_and_does_not_act(comment: str) -> None:
    (finding,) = [f for f in scan({"a.py": SHELL.format(comment)}).findings if f.rule_id == "bandit-b602"]
    assert finding.suppressed_by == "nosec"
    assert finding.severity.value == "medium"
    assert finding.cwe == (78,)


def test_nosec_on_another_line_of_the_call() -> None:
    text = "import subprocess\nsubprocess.call(\n    input(),\n    shell=True,\n)  # nosec\n"
    (finding,) = [f for f in scan({"a.py": text}).findings if f.rule_id == "bandit-b602"]
    assert finding.suppressed_by == "nosec"


@pytest.mark.parametrize(
    "path",
    [
        "src/x.github_utils/evil.py",
        "pkg/CVSreader.py",
        ".tox/evil.py",
        "a.eggs/evil.py",
        "tests/test_evil.py",
        "vendor/evil.py",
        "dist/evil.pyw",
        "evil.pyi",
        "weird,name;$(id).py",
        "caf\udce9.py",
        "-rf.py",
    ],
)
@pytest.mark.slow
def test_no_name_excludes_a_file(path: str) -> None:
    result = scan({path: SHELL.format("")})
    (finding,) = [f for f in result.findings if f.rule_id == "bandit-b602"]
    assert finding.primary.path == path
    assert finding.primary.line == 5
    assert result.stages[0].outcome is StageOutcome.DONE


def test_configuration_in_the_change_does_not_act() -> None:
    muted: Files = {
        "a.py": SHELL.format(""),
        ".bandit": "[bandit]\nskips = B602\nexclude = a.py\n",
        "sub/.bandit": "[bandit]\nskips = B602\n",
        "pyproject.toml": "[tool.bandit]\nskips = ['B602']\nexclude_dirs = ['/']\n",
        "bandit.yaml": "skips: ['B602']\n",
    }
    assert "bandit-b602" in rules(scan(muted))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run", "#!/usr/bin/env python3\nimport os\nos.system(input())\n"),
        ("data.json", "import os\nos.system(input())\n"),
        ("notes.txt", "# notes\nimport os\nos.system(input())\n"),
        ("x.pth", "import os; os.system(input())\n"),
        ("x.wsgi", "import os\nos.system(input())\n"),
    ],
)
def test_python_is_known_by_its_content(path: str, text: str) -> None:
    assert "bandit-b605" in rules(scan({path: text}))


def test_a_cell_of_a_notebook_is_told_by_its_line_in_the_file() -> None:
    book = (
        '{"cells": [\n {"cell_type": "markdown", "source": ["import os\\n"]},\n'
        ' {"cell_type": "code", "source": [\n   "!pip install x\\n",\n   "import os\\n",\n'
        '   "os.system(input())\\n"\n ]}\n'
        '], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'
    )
    (finding,) = [f for f in scan({"a.ipynb": book}).findings if f.rule_id == "bandit-b605"]
    assert finding.primary.line == 6


def test_a_file_that_does_not_parse_is_named_and_costs_nothing_else() -> None:
    result = scan({"bad.py": "def f(:\n", "good.py": SHELL.format("")})
    (stage,) = result.stages
    assert stage.outcome is StageOutcome.DEGRADED
    assert "bad.py" in stage.reason
    assert "on which gate runs" in stage.reason
    assert "bandit-b602" in rules(result)
    assert "unscanned-file" in rules(result)


def test_text_that_only_begins_like_python_is_no_failure() -> None:
    result = scan({"notes.txt": "import os\nis what you should write first.\n"})
    assert result.stages[0].outcome is StageOutcome.DONE


def test_moved_code_is_not_new_and_copies_are_counted() -> None:
    old = SHELL.format("")
    assert rules(scan({"a.py": "x = 1\n" * 30 + old}, {"a.py": old})) == []
    call = "    subprocess.call(command, shell=True)\n"
    new = scan({"a.py": old + call * 3}, {"a.py": old})
    assert [f.primary.line for f in new.findings if f.rule_id == "bandit-b602"] == [6, 7, 8]


def test_a_renamed_file_is_compared_with_its_old_self() -> None:
    old = SHELL.format("")
    assert rules(scan({"b.py": old}, {"a.py": old}, renames={"b.py": "a.py"})) == []


def test_an_unchanged_line_that_the_change_makes_dangerous_counts() -> None:
    head = "import pickle as data\n\n\ndef f(x):\n    return data.loads(x)\n"
    base = head.replace("pickle as data", "json as data")
    (finding,) = [f for f in scan({"a.py": head}, {"a.py": base}).findings if f.rule_id == "bandit-b301"]
    assert finding.primary.line == 5


def test_asserts_in_tests_and_bare_imports_make_no_noise() -> None:
    assert rules(scan({"tests/test_a.py": "import subprocess\n\n\ndef test_a():\n    assert 1\n"})) == []
    assert {f.severity.value for f in scan({"a.py": "import subprocess\nassert 1\n"}).findings} == {"low"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_our_table_names_every_rule_bandit_has() -> None:
    from bandit.core import extension_loader

    loaded = extension_loader.MANAGER
    known = {p.plugin._test_id for p in loaded.plugins} | {
        b["id"] for kind in loaded.blacklist.values() for b in kind
    }
    assert known - {"B613"} <= set(known_settings())
    assert all(meta.title for meta in bandit_rules().values())


def test_bandits_deadline_is_kept(tmp_path: Path) -> None:
    result = scan({f"m{i}.py": SHELL.format("") for i in range(50)}, scratch=tmp_path, deadline=0.001)
    assert result.stages[0].outcome is StageOutcome.DEGRADED


def test_the_progress_bar_is_not_imported_and_nothing_stands_in_for_it() -> None:
    program = (
        "import sys; from gate.prescreen.scanners.bandit import prepare; prepare(); "
        "print([n for n in ('rich.progress', 'rich.console') if n in sys.modules]); "
        "import rich.progress; print(hasattr(rich.progress, 'track'))"
    )
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["[]", "True"], done.stdout + done.stderr

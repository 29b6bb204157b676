# ruff: noqa: E501 - tables of targets read better unbroken
"""What is planned beside the changed modules: the second look, readers of data, what links reach, examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.plan.build import MOST_LIGHT, deepen, make_plan
from gate.plan.probes import job_of
from tests.e2e.pulls import FileMap, Pull, build, git
from tests.unit.plan.planned import by_target, planned, targets


def test_second_look(tmp_path: Path) -> None:
    many = {f"m{n:02}.py": "X = 1\n" for n in range(6)}
    plan = planned(tmp_path, many)
    deeper = deepen(plan, {"m03.py"})
    assert targets(deeper) == [
        "nothing",
        "import m03, as in CI",
        "import m03, as on a developer's machine",
        "import m03, one day later",
        "import m03, 90 days later",
        "import m03, two years later",
    ]
    assert [p.id.partition("~")[2] for p in deeper.probes] == [
        "",
        "ci",
        "developer",
        "day",
        "quarter",
        "years",
    ]
    assert deeper.probes[1].env["CI"] == "true"
    assert job_of(deeper.probes[4])["clock"] == 90 * 86_400
    whole = deepen(plan, ())
    assert len(whole.probes) == 1 + 5 * len(many)
    assert deepen(plan, {plan.probes[1].id}).probes[1].id.endswith("~ci")


def test_tests_of_the_second_look_get_less_time(tmp_path: Path) -> None:
    """A suite of a minute would take five more."""
    test = "from m00 import X\n\n\ndef test_x():\n    assert X\n"
    plan = planned(tmp_path, {"m00.py": "X = 2\n"}, {"m00.py": "X = 1\n", "tests/test_m00.py": test})
    plain = next(p for p in plan.probes if p.phase == "test")
    again = [p for p in deepen(plan, ()).probes if p.phase == "test"]
    assert {p.deadline for p in again} == {plain.deadline / 4}
    assert all(job_of(p)["seconds"] < p.deadline for p in again)
    others = [p for p in deepen(plan, ()).probes if p.phase == "import"]
    assert {p.deadline for p in others} == {p.deadline for p in plan.probes if p.phase == "import"}


def test_second_look_is_capped(tmp_path: Path) -> None:
    plan = planned(tmp_path, {f"m{n:02}.py": "X = 1\n" for n in range(20)})
    deeper = deepen(plan, ())
    assert len(deeper.probes) == 41
    assert len(deeper.not_exercised) == 60


@pytest.mark.parametrize("read", ["require('./config/default.json')", "require('./config/default')"])
def test_javascript_that_reads_a_changed_data_file_is_run(tmp_path: Path, read: str) -> None:
    base = {
        "index.js": f"const settings = {read};\nexports.go = () => settings.hook;\n",
        "other.js": "exports.no = () => 1;\n",
        "config/default.json": '{"hook": "a"}\n',
    }
    plan = planned(tmp_path, {"config/default.json": '{"hook": "b"}\n'}, base)
    assert any("index.js" in target for target in targets(plan))
    assert not any("other.js" in target for target in targets(plan))


def test_who_reads_a_changed_data_file_is_run(tmp_path: Path) -> None:
    base = {
        "src/pricing/run.py": "import pathlib\n\ndef go():\n    exec((pathlib.Path(__file__).parent / 'table.dat').read_text())\n",
        "src/pricing/other.py": "A = 1\n",
        "src/pricing/table.dat": "A = 1\n",
    }
    plan = planned(tmp_path, {"src/pricing/table.dat": "__import__('os').system('true')\n"}, base)
    assert targets(plan) == ["nothing", "import pricing.run", "call pricing.run"]
    assert job_of(by_target(plan)["call pricing.run"])["items"][0]["calls"] == ["go"]
    assert by_target(plan)["import pricing.run"].sides == ("base", "head")


def test_readme_is_nobodys_code(tmp_path: Path) -> None:
    base = {"src/pricing/about.py": "TEXT = open('README.md').read()\n"}
    assert targets(planned(tmp_path, {"README.md": "# new\n"}, base)) == []


def test_what_a_link_makes_importable_is_run(tmp_path: Path) -> None:
    repo = build(
        Pull(
            name="x",
            head={"README.md": "x\n"},
            base={"samples/evil.py": "A = 1\n", "samples/deep/b.py": ""},
            verdicts=(),
        ),
        tmp_path,
    )
    (repo / "src/pricing/tax.py").unlink()
    (repo / "src/pricing/tax.py").symlink_to("../../samples/evil.py")
    (repo / "src/pricing/more").symlink_to("../../samples")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "links")
    with open_range(repo, "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    modules = {item["module"] for p in plan.probes for item in job_of(p)["items"] if "module" in item}
    assert modules >= {"pricing.tax", "pricing.more.evil", "pricing.more.deep.b"}
    assert all(p.sides for p in plan.probes)


@pytest.mark.slow
def test_no_size_of_change_keeps_an_import_from_running(tmp_path: Path) -> None:
    files = {f"src/pricing/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(500)}
    plan = planned(tmp_path, files)
    imported = [i["path"] for p in plan.probes if p.phase == "import" for i in job_of(p)["items"]]
    assert set(imported) == set(files)
    assert len(plan.probes) <= MOST_LIGHT + 1
    assert plan.probes[0].sides == ("base",)


def test_a_sample_that_becomes_product_has_no_past(tmp_path: Path) -> None:
    text = "import os\n\n\ndef go():\n    return os.getpid()\n"
    head: FileMap = {"tests/samples/evil.py": None, "src/pricing/evil.py": text}
    plan = planned(tmp_path, head, {"tests/samples/evil.py": text})
    assert by_target(plan)["import pricing.evil"].sides == ("head",)


_EXAMPLES = '"""Sums.\n\n>>> 1 + 1\n2\n"""\n'


def test_examples_where_the_project_runs_them(tmp_path: Path) -> None:
    head: FileMap = {
        "src/pricing/sums.py": _EXAMPLES,
        "docs/use.rst": ">>> 1 + 1\n2\n",
        "src/pricing/plain.py": "A = 1\n",
    }
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert not any("examples" in target for target in targets(planned(tmp_path / "a", head)))
    asked = '[project]\nname = "pricing"\n[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n'
    found = by_target(planned(tmp_path / "b", {**head, "pyproject.toml": asked}))
    assert {t for t in found if "examples" in t} == {
        "examples in src/pricing/sums.py",
        "examples in docs/use.rst",
    }
    probe = found["examples in src/pricing/sums.py"]
    (item,) = job_of(probe)["items"]
    assert (probe.phase, item["do"], item["module"], item["roots"][0]) == (
        "test",
        "doctest",
        "pricing.sums",
        "src",
    )


@pytest.mark.parametrize(
    "line", ['glob.glob("conf/*.yaml")', 'name.endswith(".yaml")', 'Path("conf").rglob("*.yaml")']
)
def test_who_takes_all_files_of_an_ending_reads_a_new_one(tmp_path: Path, line: str) -> None:
    base = {
        "pkg/__init__.py": "",
        "pkg/rules.py": f"def load(name):\n    return {line}\n",
        "pkg/other.py": "x = '*.yml'\n",
    }
    plan = planned(tmp_path, {**base, "conf/more.yaml": "a: 1\n"}, base)
    assert targets(plan) == ["nothing", "import pkg.rules", "call pkg.rules"]

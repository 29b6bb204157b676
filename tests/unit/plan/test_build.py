# ruff: noqa: E501 - tables of targets read better unbroken
"""What is planned for which change; nothing is run here."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.plan.build import ALONE, GROUP, MOST_LIGHT, make_plan, runtimes_of
from gate.plan.call_targets import MOST
from gate.plan.probes import job_of
from tests.e2e.pulls import FileMap, Pull, build, git
from tests.unit.plan.planned import by_target, left, planned, targets


def test_module_in_src_layout_with_its_test(tmp_path: Path) -> None:
    plan = planned(
        tmp_path, {"src/pricing/tax.py": "RATES = {}\n\ndef with_tax(net, country):\n    return net\n"}
    )
    assert targets(plan) == ["nothing", "import pricing.tax", "call pricing.tax"]
    probe = by_target(plan)["import pricing.tax"]
    assert (probe.phase, probe.path, probe.sides, probe.driver) == (
        "import",
        "src/pricing/tax.py",
        ("base", "head"),
        True,
    )
    called = by_target(plan)["call pricing.tax"]
    assert (called.phase, called.sides) == ("call", ("base", "head"))
    assert "calls" not in job_of(probe)["items"][0]
    (item,) = job_of(called)["items"]
    assert item == {
        "do": "import",
        "module": "pricing.tax",
        "path": "src/pricing/tax.py",
        "roots": ["src", "."],
        "calls": ["with_tax"],
        "env": "tests/conftest.py",
    }
    assert job_of(probe)["lines"] == {"src/pricing/tax.py": [[1, 1], [3, 4]]}


def test_related_and_changed_tests(tmp_path: Path) -> None:
    head = {"src/pricing/cart.py": "def total(): ...\n", "tests/test_new.py": "def test_x(): ...\n"}
    plan = planned(tmp_path, head)
    changed, related = by_target(plan)["test tests/test_new.py"], by_target(plan)["test tests/test_cart.py"]
    assert (changed.path, changed.sides) == ("tests/test_new.py", ("head",))
    assert (related.path, related.sides) == ("src/pricing/cart.py", ("base", "head"))
    assert targets(plan)[0] == "nothing"


def test_test_is_found_by_its_imports(tmp_path: Path) -> None:
    base = {
        "tests/test_a.py": "from pricing import cart, tax\n",
        "tests/test_b.py": "    import pricing.tax as t\n",
        "tests/test_c.py": "# import pricing.tax\nx = 'pricing.tax'\n",
        "tests/test_tax.py": "",
    }
    plan = planned(tmp_path, {"src/pricing/tax.py": "X = 1\n"}, base)
    assert targets(plan)[-1] == "test tests/test_tax.py tests/test_a.py tests/test_b.py"


@pytest.mark.parametrize(
    ("path", "base", "target", "roots"),
    [
        ("shop/cart.py", {"shop/__init__.py": ""}, "import shop.cart", ["."]),
        (
            "services/api/shop/cart.py",
            {"services/api/shop/__init__.py": ""},
            "import shop.cart",
            ["services/api", "."],
        ),
        ("src/ns/shop/cart.py", {"src/ns/shop/__init__.py": ""}, "import ns.shop.cart", ["src", "."]),
        ("ns/shop/cart.py", {"ns/shop/__init__.py": ""}, "import shop.cart", ["ns", "."]),
        ("cart.py", {}, "import cart", ["."]),
        ("tools/gen.py", {}, "import tools.gen", [".", "tools"]),
        ("my-tools/gen.py", {}, "import gen", ["my-tools", "."]),
        ("lib/shop/__init__.py", {}, "import shop", ["lib", "."]),
    ],
)
def test_module_names(tmp_path: Path, path: str, base: dict[str, str], target: str, roots: list[str]) -> None:
    probe = by_target(planned(tmp_path, {path: "X = 1\n"}, base))[target]
    assert [root for root in job_of(probe)["items"][0]["roots"] if root != "src" or "src" in roots] == roots


def test_scripts(tmp_path: Path) -> None:
    head = {
        "tools/a-b.py": "print(1)\n",
        "tools/guarded.py": "def main(): ...\nif __name__ == '__main__':\n    main()\n",
        "tools/plain.py": "import sys\ndef main(): ...\nsys.exit(main())\n",
        "bin/go": "#!/usr/bin/env python3\nprint(1)\n",
        "bin/run.sh": "echo hi\n",
        "src/pricing/__main__.py": "print(1)\n",
    }
    shown = targets(planned(tmp_path, head))
    assert set(shown) == {
        "nothing",
        "run tools/a-b.py",
        "import tools.guarded",
        "call tools.guarded",
        "run -m tools.guarded",
        "run -m tools.plain",
        "run bin/go",
        "sh bin/run.sh",
        "run -m pricing",
    }


@pytest.mark.parametrize(
    ("imports", "imported"),
    [
        ("const { test } = require('node:test')\n", False),
        ('import test from "node:test"\n', False),
        ("import { test } from 'vitest'\n", True),  # whether its runner is there, no plan knows
        ("", True),
    ],
)
def test_what_nodes_own_runner_runs_is_not_imported_besides(
    imports: str, imported: bool, tmp_path: Path
) -> None:
    head = {"__tests__/set.test.js": f"{imports}test('sets', () => {{}})\n", "lib/set.js": "exports.a = 1\n"}
    found = targets(planned(tmp_path, head))
    assert "test __tests__/set.test.js" in found
    assert ("import __tests__/set.test.js" in found) is imported
    assert ("call __tests__/set.test.js" in found) is imported
    assert "import lib/set.js" in found


@pytest.mark.parametrize("name", ["A.vue", "B.svelte"])
def test_components(tmp_path: Path, name: str) -> None:
    plan = planned(tmp_path, {f"web/{name}": "<script>\nexport default {};\n</script>\n"})
    items = [item for probe in plan.probes if probe.phase != "idle" for item in job_of(probe)["items"]]
    assert items == [
        {"do": "javascript", "path": f"web/{name}"},
        {"do": "javascript", "path": f"web/{name}", "call": True},
    ]


def test_javascript(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        {"web/app.js": "exports.a = 1\n", "web/cli.ts": "console.log(process.argv)\n", "web/a.d.ts": "x"},
    )
    assert targets(plan) == [
        "nothing",
        "nothing, by javascript",
        "nothing, by javascript",
        "import web/app.js",
        "import web/cli.ts",
        "call web/app.js",
        "call web/cli.ts",
        "node web/cli.ts",
        "node web/cli.ts --help",
    ]
    assert [p.id for p in plan.probes if p.phase == "idle"] == [
        "idle", "idle-javascript", "idle-javascript-typed",
    ]  # fmt: skip
    assert runtimes_of(plan) == ("javascript",)
    (item,) = job_of(by_target(plan)["call web/cli.ts"])["items"]
    assert item == {"do": "javascript", "path": "web/cli.ts", "typed": True, "call": True}


MAKEFILE = """
VERSION = $(shell git describe)
FLAGS := -q

all: lint test

lint:
\truff check $(FLAGS) .

test: lint
\tpytest $(FLAGS) \\
\t  tests

%.o: %.c
\tcc $<

.PHONY: all lint test
docs:
\techo docs
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("\truff check", "\truff check --fix", ["lint"]),
        ("\t  tests", "\t  tests -x", ["test"]),
        ("FLAGS := -q", "FLAGS := -v", ["lint", "test"]),
        ("git describe", "git rev-parse HEAD", ["all"]),
        ("docs:", "docs: all", ["docs"]),
        ("\tcc $<", "\tgcc $<", []),
        ("echo docs\n", "echo docs\ninclude $(wildcard *.mk)\n", ["all"]),
    ],
)
def test_makefile_targets(tmp_path: Path, old: str, new: str, wanted: list[str]) -> None:
    plan = planned(tmp_path, {"Makefile": MAKEFILE.replace(old, new)}, {"Makefile": MAKEFILE})
    made = [probe for probe in plan.probes if probe.phase == "script"]
    assert [job_of(probe)["items"][0]["target"] for probe in made] == wanted
    assert all(probe.sides == ("base", "head") for probe in made)
    assert bool(made) or left(plan) == {"Makefile": "no target of it changed"}


def test_a_makefile_of_many_targets(tmp_path: Path) -> None:
    text = "".join(f"t{n}:\n\techo {n}\n" for n in range(12))
    plan = planned(tmp_path, {"Makefile": text})
    assert sum(probe.target.startswith("make ") for probe in plan.probes) == 8
    assert left(plan) == {"4 more targets (t8, t9, t10 ...)": "too many in one file"}


@pytest.mark.parametrize(
    ("path", "content", "planned_"),
    [
        ("a.pkl", "cos\nsystem\n(S'true'\ntR.", True),
        ("a.npy", "x", True),
        ("w.pth", b"PK\x03\x04" + bytes(300), True),
        ("w.pth", "import os\n", False),
        ("rates.bin", b"\x80\x04\x95" + bytes(40), True),
        ("rates.bin", bytes(60), False),
        ("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(60), False),
    ],
)
def test_pickles_are_told_by_name_and_content(
    tmp_path: Path, path: str, content: str | bytes, planned_: bool
) -> None:
    shown = by_target(planned(tmp_path, {path: content}))
    assert (f"unpickle {path}" in shown) is planned_
    if planned_:
        assert shown[f"unpickle {path}"].phase == "import"


def test_console_commands(tmp_path: Path) -> None:
    base = {
        "pyproject.toml": '[project]\nname = "x"\n[project.scripts]\nold = "pricing.cli:main"\n',
        "src/pricing/cli.py": "def main(): ...\ndef other(): ...\n",
    }
    head = {
        "pyproject.toml": base["pyproject.toml"] + 'new = "pricing.cli:other"\nbad = "x y z"\n',
        "setup.cfg": "[options.entry_points]\nconsole_scripts =\n  third = pricing.tax:with_tax\n",
    }
    shown = by_target(planned(tmp_path, head, base))
    assert {t for t in shown if t.startswith("command")} == {"command new", "command third"}
    (item,) = job_of(shown["command new"])["items"]
    assert (item["module"], item["attr"], item["path"]) == ("pricing.cli", "other", "src/pricing/cli.py")
    assert shown["command new"].sides == ("base", "head")


def test_a_command_whose_module_changed(tmp_path: Path) -> None:
    base = {
        "pyproject.toml": '[project.scripts]\nshop = "pricing.cli:main"\nelse = "pricing.tax:with_tax"\n',
        "src/pricing/cli.py": "def main(): ...\n",
    }
    shown = by_target(planned(tmp_path, {"src/pricing/cli.py": "def main(): return 0\n"}, base))
    assert {t for t in shown if t.startswith("command")} == {"command shop"}


def test_module_that_begins_to_end_its_importers_is_no_script(tmp_path: Path) -> None:
    head = {
        "a.py": "import sys\nsys.exit()\n",
        "src/pricing/tax.py": "import sys\nsys.exit()\n",
        "b.py": "main()\n",
    }
    shown = targets(planned(tmp_path, head, {"a.py": "X = 1\n"}))
    assert {"import a", "import pricing.tax", "run b.py"} <= set(shown)


def test_installation(tmp_path: Path) -> None:
    head = {
        "setup.py": "from setuptools import setup\nsetup()\n",
        "pyproject.toml": '[build-system]\nbuild-backend = "b"\nbackend-path = ["."]\n',
        "b.py": "def build_wheel(d): ...\n",
        "x.pth": "import os\n",
        "web/package.json": '{"scripts": {"postinstall": "node x.js"}}\n',
        "web2/package.json": '{"scripts": {"test": "node x.js"}}\n',
    }
    plan = planned(tmp_path, head)
    assert {p.target for p in plan.probes if p.phase == "install"} == {
        "install by setup.py",
        "build backend of pyproject.toml",
        "lines of x.pth",
        "npm lifecycle scripts of web/package.json",
    }
    first = next(probe for probe in plan.probes if probe.phase != "idle")
    assert first.phase == "install", "installation is looked at first"


def test_nothing_for_deleted_files_documents_and_data(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        {"src/pricing/tax.py": None, "README.md": "x\n", "a.json": "{}", "a.yaml": "a: 1", "b.pyi": "x: int"},
    )
    assert plan.probes == ()
    assert plan.not_exercised == ()


def test_code_nobody_runs_is_said(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"a.go": "package a\n", "justfile": "all:\n\ttrue\n", "b.rs": "fn a() {}\n"})
    assert plan.probes == ()
    assert left(plan) == {
        "a.go": "no probe runs go files",
        "justfile": "no probe runs makefile files",
        "b.rs": "no probe runs rust files",
    }


def test_renamed_file_runs_under_its_old_name_at_base(tmp_path: Path) -> None:
    text = "".join(f"def f{n}():\n    return {n}\n" for n in range(30))
    plan = planned(tmp_path, {"shop/old.py": None, "store/new.py": text + "X = 1\n"}, {"shop/old.py": text})
    probe = by_target(plan)["import store.new"]
    assert probe.sides == ("base", "head")
    assert job_of(probe)["items"][0]["was"] == {
        "path": "shop/old.py",
        "module": "shop.old",
        "roots": [".", "src", "shop"],
        "do": "import",
    }


def test_what_is_called(tmp_path: Path) -> None:
    base = {
        "a.py": "HOST = 'a'\ndef calm():\n    return 1\ndef uses():\n    return HOST\n"
        "class C:\n    def m(self):\n        return uses()\n    def n(self):\n        return 1\ndef gone():\n    return 3\n"
    }
    head = {"a.py": base["a.py"].replace("'a'", "'b'").replace("def gone():\n    return 3\n", "")}
    (item,) = job_of(by_target(planned(tmp_path, head, base))["call a"])["items"]
    assert item["calls"] == ["uses", "gone"]


def test_a_function_that_only_lost_a_line_is_called(tmp_path: Path) -> None:
    """A decorator or a check that goes stands in no line of head."""
    base = "def asks(f):\n    return f\n\n\n@asks\ndef show():\n    return 1\n\n\ndef put(n):\n    if not n:\n        raise ValueError\n    return n\n\n\ndef other():\n    return 3\n"
    head = base.replace("@asks\n", "").replace("    if not n:\n        raise ValueError\n", "")
    plan = planned(tmp_path, {"a.py": head}, {"a.py": base})
    (item,) = job_of(by_target(plan)["call a"])["items"]
    assert item["calls"] == ["show", "put"]


def test_riskier_functions_are_called_first_and_the_rest_is_said(tmp_path: Path) -> None:
    text = (
        "".join(f"def f{n}():\n    return {n}\n" for n in range(MOST + 20))
        + "def z():\n    import socket, subprocess\n"
    )
    plan = planned(tmp_path, {"a.py": text})
    calls = job_of(by_target(plan)["call a"])["items"][0]["calls"]
    assert calls[0] == "z"
    assert len(calls) == MOST
    shown = ", ".join(f"f{MOST - 1 + n}" for n in range(3))
    assert left(plan) == {f"21 more functions ({shown} ...)": "too many in one file"}


@pytest.mark.parametrize(
    "source", [b"def (:\n", b"\xff\xfe\n", b"x = 1\0\n", b"(" * 100_000, b"# coding: nonsense\n"]
)
def test_unparsable_file_is_imported_all_the_same(tmp_path: Path, source: bytes) -> None:
    plan = planned(tmp_path, {"a.py": source, "b.py": "def f(): ...\n"})
    assert {"import a", "import b"} <= set(targets(plan))
    assert left(plan) == {"functions of a.py": "could not be parsed"}
    assert job_of(by_target(plan)["call b"])["items"][0]["calls"] == ["f"]


def test_source_that_brings_the_parser_down_costs_only_itself(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"a.py": b"x = " + b"+0" * 200_000 + b"\n", "b.py": "def f(): ...\n"})
    assert job_of(by_target(plan)["call b"])["items"][0]["calls"] == ["f"]
    assert "import a" in targets(plan)


def test_links_and_submodules_are_said(tmp_path: Path) -> None:
    repo = build(Pull(name="x", head={"a.md": "x"}, verdicts=()), tmp_path)
    (repo / "link.py").symlink_to("/etc/passwd")

    git(repo, "add", "-A")
    git(repo, "update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",vendor")
    git(repo, "commit", "-qm", "link")
    with open_range(repo, "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False)
    assert left(plan) == {
        "link.py": "a symbolic link, judged by its target",
        "vendor": "a submodule is not fetched",
    }
    assert plan.probes == ()


def test_many_modules_share_sandboxes(tmp_path: Path) -> None:
    size = GROUP["import"]
    many = 2 * size + 1
    plan = planned(tmp_path, {f"m{n:02}.py": f"def f{n}(): ...\n" for n in range(many)})
    imports = [p for p in plan.probes if p.phase == "import"]
    assert [len(job_of(p)["items"]) for p in imports] == [size, size, 1]
    assert imports[0].target == "import m00 and 7 more"


def test_few_modules_get_one_each(tmp_path: Path) -> None:
    plan = planned(tmp_path, {f"m{n:02}.py": "X = 1\n" for n in range(ALONE["import"])})
    assert len([p for p in plan.probes if p.phase == "import"]) == ALONE["import"]


def test_big_change_is_capped_and_says_what_is_left(tmp_path: Path) -> None:
    plan = planned(tmp_path, {f"s{n:03}.sh": "echo\n" for n in range(MOST_LIGHT + 5)})
    assert len(plan.probes) == MOST_LIGHT + 1
    assert len(plan.not_exercised) == 5
    assert all("only 40 probes" in entry.reason for entry in plan.not_exercised)


def test_plan_is_the_same_every_time_and_ids_are_plain(tmp_path: Path) -> None:
    head: FileMap = {
        "a b\n.py": "X = 1\n",
        "ä.py": "X = 1\n",
        "-x.sh": "echo\n",
        "a;b.sh": "echo\n",
        "A.py": "",
        "c.py": "X=1\n",
    }
    repo = build(Pull(name="x", head=head, verdicts=()), tmp_path)
    plans = []
    for _ in range(2):
        with open_range(repo, "main", "head") as opened:
            plans.append(make_plan(opened.change, opened.base, opened.head, deadline=20, deep=False))
    assert plans[0] == plans[1]
    ids = [probe.id for probe in plans[0].probes]
    assert len(set(ids)) == len(ids)
    assert all(
        set(i) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_~") for i in ids
    )


MODULE = '"""Prices."""\n\n\ndef due(net):\n    """Net and tax."""\n    return net * 1.2\n'


def test_where_comments_and_layout_alone_changed_nothing_is_run(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"shop/due.py": MODULE.replace("return net", "# now\n    return (net)")}, {
        "shop/due.py": MODULE, "tests/test_due.py": "from shop.due import due\n\n\ndef test_due():\n    due(1)\n"
    })  # fmt: skip
    assert plan.probes == ()
    assert (plan.same_code, plan.texts_only) == (frozenset({"shop/due.py"}), True)


def test_docstrings_are_run_and_no_more_is_looked_for(tmp_path: Path) -> None:
    head = {"shop/due.py": MODULE.replace("Net and", "Net, and"), "README.md": "# Shop\n\nmore\n"}
    tests = {"tests/test_due.py": "from shop.due import due\n\n\ndef test_due():\n    due(1)\n"}
    base = {"shop/due.py": MODULE, "README.md": "# Shop\n", **tests}
    plan = planned(tmp_path, head, base)
    assert "import shop.due" in targets(plan)
    assert (plan.same_code, plan.texts_only) == (frozenset(), True)
    # The project's tests, which may take minutes, get a glance.
    (tmp_path / "more").mkdir()
    whole = planned(tmp_path / "more", head | {"shop/due.py": MODULE.replace("1.2", "1.3")}, base)
    seconds = [next(p.deadline for p in one.probes if p.phase == "test") for one in (plan, whole)]
    assert seconds[0] == seconds[1] / 4


@pytest.mark.parametrize(
    "more",
    [
        {"shop/other.py": "X = 2\n"},
        {"shop/data.json": "{}"},
        {"shop/old.py": None},
        {"requirements.txt": "requests\n"},
    ],
)
def test_with_anything_else_it_is_no_change_of_texts(
    more: dict[str, str | bytes | None], tmp_path: Path
) -> None:
    base = {"shop/due.py": MODULE, "shop/other.py": "X = 1\n", "shop/old.py": "Y = 1\n"}
    plan = planned(tmp_path, {"shop/due.py": MODULE + "# more\n", **more}, base)
    assert plan.same_code == {"shop/due.py"}
    assert not plan.texts_only


def test_code_that_acts_on_changed_data_is_run_though_only_its_comments_changed(tmp_path: Path) -> None:
    loads = "import json\nfrom pathlib import Path\n\nRULES = json.loads(Path('rules.json').read_text())\n"
    base = {"load.py": loads, "rules.json": "{}"}
    plan = planned(tmp_path, {"load.py": loads + "# more\n", "rules.json": '{"a": 1}'}, base)
    assert plan.same_code == frozenset()
    assert any("load" in target for target in targets(plan))

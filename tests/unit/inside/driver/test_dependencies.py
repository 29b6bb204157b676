"""Installed dependencies in the driver: there for the code, as for any interpreter; not for the driver."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import Driven, drive, lay_tree

SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


def _drive(tmp_path: Path, source: str, layer: dict[str, str]) -> Driven:
    tree = lay_tree(tmp_path / "tree", {"own.py": source})
    deps = lay_tree(tmp_path / "deps", {f"{SITE}/{name}": text for name, text in layer.items()})
    job = {"items": [{"do": "import", "module": "own", "path": "own.py"}]}
    python = str(getattr(sys, "_base_executable", sys.executable))  # a virtual environment hides layers
    return drive(tree, job, python=(python,), dependencies=deps)


def test_a_dependency_is_importable_and_so_it_is_for_interpreters_that_the_code_starts(
    tmp_path: Path,
) -> None:
    source = """
        import os, subprocess, sys
        import dep
        command = [sys.executable, "-c", "import dep; print(dep.NAME)"]
        print(dep.NAME, subprocess.check_output(command, text=True))
        print("GATE_DEPS" in os.environ, os.environ["PATH"].split(":")[0].endswith("/deps/bin"))
        """
    done = _drive(tmp_path, source, {"dep.py": "NAME = 'here'\n"})
    assert done.item["outcome"] == "completed", (done.item, done.stderr)
    assert done.done
    assert done.stdout.split() == ["here", "here", "False", "True"]


def test_it_comes_behind_the_standard_library(tmp_path: Path) -> None:
    done = _drive(tmp_path, "import colorsys\nprint(colorsys.__file__)\n", {"colorsys.py": "x = 1\n"})
    assert done.done
    assert "deps" not in done.stdout


def test_the_driver_itself_never_meets_it(tmp_path: Path) -> None:
    """A ``.pth`` file and a module with the driver's own imports' names act in the forked child only."""
    layer = {
        "at_start.pth": "import os; print('start of', os.getppid())\n",
        "usercustomize.py": "print('customised')\n",
        "item_process.py": "raise SystemExit('forged')\n",
        "json.py": "raise SystemExit('forged')\n",
    }
    done = _drive(tmp_path, "import os\nprint('parent', os.getppid())\n", layer)
    assert done.done, (done.item, done.stderr)
    words = done.stdout.split()
    assert words[:2] == ["start", "of"]
    assert words[2] == words[4]  # both in the child, whose parent is the driver
    assert len(words) == 5


@pytest.mark.parametrize("line", ["import sys; sys.exit(0)", "import os; os._exit(0)"])
def test_a_start_that_ends_the_interpreter_is_no_look(tmp_path: Path, line: str) -> None:
    done = _drive(tmp_path, "x = 1\n", {"at_start.pth": line + "\n"})
    assert done.item["outcome"] == "ended"
    assert not done.done


def test_without_a_layer_nothing_changes(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "tree", {"own.py": "import os\nprint('PYTHONUSERBASE' in os.environ)\n"})
    done = drive(tree, {"items": [{"do": "import", "module": "own", "path": "own.py"}]})
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("whole", [True, False])
def test_a_layer_that_has_all_hides_the_images_own_packages(tmp_path: Path, whole: bool) -> None:
    source = "import sys\nprint(*[p for p in sys.path if p.endswith(('site-packages', 'dist-packages'))])\n"
    done = _drive(tmp_path, source, {"dep.py": "", **({".gate-complete": ""} if whole else {})})
    assert done.done, (done.item, done.stderr)
    assert (len(done.stdout.split()) == 1) is whole
    assert done.stdout.split()[0].endswith(f"/deps/{SITE}")


def test_a_folder_of_the_tree_that_is_called_so_holds_the_trees_own_files(tmp_path: Path) -> None:
    """By its name alone it would be a library's, and what its code asks for would be told by nobody."""
    asks = "import os\nos.environ.get('{}')\n"
    tree = lay_tree(
        tmp_path / "tree",
        {
            "vendored/site-packages/shipped.py": asks.format("OF_THE_TREE"),
            "own.py": "import sys\nsys.path.append('vendored/site-packages')\nimport shipped, installed\n",
        },
    )
    deps = lay_tree(tmp_path / "deps", {f"{SITE}/installed.py": asks.format("OF_A_LIBRARY")})
    python = str(getattr(sys, "_base_executable", sys.executable))
    done = drive(
        tree,
        {"items": [{"do": "import", "module": "own", "path": "own.py"}]},
        python=(python,),
        dependencies=deps,
    )
    assert done.item["environment"]["absent"] == ["OF_THE_TREE"], (done.item, done.stderr)

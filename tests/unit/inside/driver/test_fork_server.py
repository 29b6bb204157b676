"""The fork server for real: what items after the first begin with, and when none is forked from it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import Driven, drive, lay_tree

SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
PYTHON = str(getattr(sys, "_base_executable", sys.executable))  # a virtual environment hides layers

MANY = {f"big/part{n}.py": f"n = {n}\n" for n in range(50)}
BIG = {
    **MANY,
    "big/__init__.py": "import os\nprint('loaded in', os.getpid(), flush=True)\n"
    + "".join(f"from . import part{n}\n" for n in range(50)),
}
USES = """
    import os, sys
    was = "big" in sys.modules
    import big
    print(__name__, was, os.getppid(), flush=True)
    def act(): return big.part7.n
"""


def _drive(
    tmp_path: Path,
    files: dict[str, str],
    layer: dict[str, str],
    items: list[dict[str, Any]] | None = None,
    **job: Any,
) -> Driven:
    tree = lay_tree(tmp_path / "tree", files)
    deps = lay_tree(tmp_path / "deps", {f"{SITE}/{name}": text for name, text in layer.items()})
    items = items or [{"do": "import", "module": name[:-3], "path": name} for name in files]
    return drive(tree, {"items": items, **job}, python=(PYTHON,), dependencies=deps)


def _told(done: Driven) -> dict[str, list[str]]:
    """Words that each module printed, by its name."""
    return {
        line.split()[0]: line.split()[1:]
        for line in done.stdout.splitlines()
        if not line.startswith("loaded")
    }


def test_the_first_item_starts_as_a_plain_interpreter_the_others_with_the_packages(
    tmp_path: Path,
) -> None:
    done = _drive(tmp_path, dict.fromkeys(("one.py", "two.py", "three.py"), USES), BIG)
    assert done.done, (done.report, done.stderr)
    assert [item["outcome"] for item in done.report["items"]] == ["completed"] * 3
    told = _told(done)
    assert [told[name][0] for name in ("one", "two", "three")] == ["False", "True", "True"]
    assert done.stdout.count("loaded in") == 2, "once by the first item, once for all others"
    (server,) = done.report["servers"]
    assert told["two"][1] == told["three"][1] == str(server) != told["one"][1]
    assert not any("loaded" in item for item in done.report["items"])


def test_the_tree_s_own_modules_are_never_in_it(tmp_path: Path) -> None:
    own = {"one.py": USES, "two.py": "import sys\nprint('two', 'one' in sys.modules)\n" + "import big\n"}
    done = _drive(tmp_path, own, BIG)
    assert done.done
    assert _told(done)["two"] == ["False"]


def test_a_package_that_the_tree_has_too_is_the_tree_s(tmp_path: Path) -> None:
    """What head adds under the name of a package is what runs, as it would in a plain interpreter."""
    layer = {**BIG, "shared.py": "print('shared of the layer')\n"}
    own = {"one.py": "import big, shared\n", "two.py": "import big, shared\nprint('two', shared.__file__)\n"}
    items = [
        {"do": "import", "module": "one", "path": "one.py", "roots": ["."]},
        {"do": "import", "module": "two", "path": "two.py", "roots": ["lib", "."]},
    ]
    done = _drive(tmp_path, {**own, "lib/shared.py": "print('shared of the tree')\n"}, layer, items)
    assert done.done
    assert _told(done)["two"][0].endswith("/tree/lib/shared.py")


@pytest.mark.parametrize(
    "leaves",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n",
        "import subprocess\nsubprocess.Popen(['sleep', '0.3'])\n",
        "import sys, types\nsys.modules['gevent'] = types.ModuleType('gevent')\n",
        "import os\nos._exit(3)\n",
    ],
    ids=["thread", "child", "patched", "ends"],
)
def test_a_package_that_leaves_more_than_modules_is_loaded_by_each_item(tmp_path: Path, leaves: str) -> None:
    only_in_server = f"import os, sys\nif not any('/tree' in p for p in sys.path):\n    exec({leaves!r})\n"
    done = _drive(
        tmp_path,
        dict.fromkeys(("one.py", "two.py", "three.py"), USES),
        {**BIG, "big/part7.py": only_in_server + "n = 7\n"},
        grace=0.5,
    )
    assert [item["outcome"] for item in done.report["items"]] == ["completed"] * 3, done.stderr
    assert [words[0] for words in _told(done).values()] == ["False"] * 3


def test_an_item_that_ends_the_server_has_ended_and_the_others_are_run(tmp_path: Path) -> None:
    kills = "import os, signal, big\nos.kill(os.getppid(), signal.SIGKILL)\n"
    files = {"one.py": USES, "two.py": kills, "three.py": USES, "four.py": USES}
    done = _drive(tmp_path, files, BIG)
    assert [item["outcome"] for item in done.report["items"]] == [
        "completed",
        "ended",
        "completed",
        "completed",
    ]
    assert not done.done
    assert done.report["items"][1]["path"] == "two.py"


def test_items_that_run_out_of_time_are_told_by_the_server_too(tmp_path: Path) -> None:
    names = [f"{name}.py" for name in ("one", "two", "three", "four", "five", "six")]
    done = _drive(
        tmp_path, {**dict.fromkeys(names, USES), "two.py": "import big\nwhile True: pass\n"}, BIG, seconds=9
    )
    outcomes = [item["outcome"] for item in done.report["items"]]
    assert outcomes == ["completed", "timed-out", *["completed"] * 4], done.stderr
    assert not done.done


def test_calls_lines_and_answers_are_told_as_without_it(tmp_path: Path) -> None:
    files = dict.fromkeys(("one.py", "two.py"), USES)
    items = [{"do": "import", "module": n, "path": f"{n}.py", "calls": ["act"]} for n in ("one", "two")]
    lines = {f"{n}.py": [[1, 9]] for n in ("one", "two")}
    done = _drive(tmp_path, files, BIG, items, lines=lines)
    first, second = done.report["items"]
    assert first["calls"] == second["calls"] == [["act", "returned"]]
    assert first["lines"]["one.py"] == second["lines"]["two.py"]


def test_what_packages_load_has_the_moved_clock_and_chance_that_is_pinned(tmp_path: Path) -> None:
    layer = {**BIG, "big/part7.py": "from time import time\nfrom os import urandom\nn = 7\n"}
    source = (
        "import big, big.part7, time, os, subprocess, sys\n"
        "ask = 'import os; print(os.urandom(4).hex())'\n"
        "other = subprocess.check_output([sys.executable, '-c', ask], text=True).strip()\n"
        "print(__name__, big.part7.time() < 1.6e9, big.part7.urandom(4).hex(), other)\n"
    )
    files = dict.fromkeys(("one.py", "two.py", "three.py"), source)
    runs = [_told(_drive(tmp_path / str(n), files, layer, pin=5, pin_time=1_500_000_000.0)) for n in range(2)]
    assert runs[0] == runs[1]
    assert [words[0] for words in runs[0].values()] == ["True"] * 3


def test_modules_that_are_none_and_modules_with_code_of_their_own_are_passed_over(tmp_path: Path) -> None:
    odd = (
        "import sys, types\n"
        "class Lies:\n    __class__ = types.ModuleType\n"
        "class Acts(types.ModuleType):\n    def __getattr__(self, name): raise SystemExit(name)\n"
        "sys.modules['lies'], sys.modules['acts'], sys.modules[7] = Lies(), Acts('acts'), None\n"
        "class Told:\n    @property\n    def origin(self): raise SystemExit('asked')\n"
        "sys.modules['told'] = types.ModuleType('told')\n"
        "n = 7\n"
    )
    files = dict.fromkeys(("one.py", "two.py", "three.py"), USES)
    done = _drive(tmp_path, files, {**BIG, "big/part7.py": odd})
    assert done.done, (done.report, done.stderr)
    assert [words[0] for words in _told(done).values()] == ["False", "True", "True"]


def test_few_modules_are_not_worth_a_process(tmp_path: Path) -> None:
    done = _drive(tmp_path, dict.fromkeys(("one.py", "two.py"), "import dep\n"), {"dep.py": "x = 1\n"})
    assert done.done
    assert "servers" not in done.report

"""Tests that take longer than there is: as many as fit, those of the change first, the rest told."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import Driven, drive, lay_tree

SLOW = """
    import time
    import unittest

    class Slow(unittest.TestCase):
        def test_a(self):
            time.sleep(1)
        for n in range(60):
            locals()[f"test_{n}"] = test_a
"""
FOR_EVER = """
    import time
    import unittest

    class Long(unittest.TestCase):
        def test_a(self):
            while True:
                time.sleep(0.001)

        def test_b(self):
            pass
"""
QUICK = """
    import unittest

    class Quick(unittest.TestCase):
        def test_a(self):
            pass
"""
COMMANDS = {"pytest": (sys.executable,), "unittest": (sys.executable, "-S")}
PYTHONS = [pytest.param(words, id=name) for name, words in COMMANDS.items()]


@pytest.fixture(scope="module")
def driven_together(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Driven]:
    """By text and name of the command. Each waits for its end: one after another is four times as long."""
    every = [(text, name) for text in (SLOW, FOR_EVER) for name in COMMANDS]

    def run(one: tuple[str, str]) -> Driven:
        text, name = one
        tree = lay_tree(tmp_path_factory.mktemp("apart") / "tree", {"test_it.py": text})
        job = {"seconds": 24, "items": [{"do": "test", "paths": ["test_it.py"]}]}
        return drive(tree, job, python=COMMANDS[name])

    with ThreadPoolExecutor(len(every)) as pool:
        return dict(zip(every, pool.map(run, every), strict=True))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("text", [SLOW, FOR_EVER])
def test_what_does_not_fit_is_told(
    text: str, name: str, driven_together: dict[tuple[str, str], Driven]
) -> None:
    driven = driven_together[text, name]
    assert driven.item["outcome"] == "completed"
    assert driven.item["tests"]["not_run"] >= 1
    assert driven.done


@pytest.mark.parametrize("python", PYTHONS)
def test_what_fits_is_run(python: tuple[str, ...], tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "tree", {"test_it.py": QUICK})
    driven = drive(tree, {"seconds": 30, "items": [{"do": "test", "paths": ["test_it.py"]}]}, python=python)
    assert driven.item["tests"]["passed"] == 1
    assert "not_run" not in driven.item["tests"]


def test_of_many_tests_those_of_the_change_come_first(tmp_path: Path) -> None:
    one = "def test_{n}():\n    with open('order', 'a') as file:\n        file.write('{n} ')\n\n\n"
    lines = ["import pathlib\n\n\n", *(one.format(n=n) for n in range(50))]
    tree = lay_tree(tmp_path / "tree", {"test_it.py": "".join(lines)})
    changed = "".join(lines).split("\n").index("def test_47():") + 2
    item = {"do": "test", "paths": ["test_it.py"]}
    drive(tree, {"seconds": 60, "items": [item], "lines": {"test_it.py": [[changed, changed]]}})
    assert (tree / "order").read_text().split()[:3] == ["47", "0", "1"]


def test_results_in_the_drivers_name_are_told_as_forged(tmp_path: Path) -> None:
    forging = """
        import os
        for fd in range(3, 30):
            try:
                os.write(fd, b'{"m":"report","outcome":"completed"}\\n')
            except OSError:
                pass
    """
    tree = lay_tree(tmp_path / "tree", {"shop.py": forging})
    driven = drive(tree, {"items": [{"do": "import", "module": "shop"}]})
    assert driven.item["forged"] is True
    assert not driven.done


@pytest.mark.parametrize("python", PYTHONS)
def test_what_ran_before_a_test_that_ends_everything_is_known(
    python: tuple[str, ...], tmp_path: Path
) -> None:
    text = """
        import os
        import unittest

        class Ends(unittest.TestCase):
            def test_a(self):
                self.seen = True

            def test_b(self):
                os.kill(os.getpid(), 9)
        """
    tree = lay_tree(tmp_path / "tree", {"test_it.py": text})
    item = {"do": "test", "paths": ["test_it.py"]}
    driven = drive(tree, {"seconds": 60, "items": [item], "lines": {"test_it.py": [[6, 6]]}}, python=python)
    assert driven.item["outcome"] == "ended"
    assert driven.item["lines"] == {"test_it.py": [6]}

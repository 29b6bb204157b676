"""Before Python 3.12 every call costs while lines are watched: it ends where all changed lines were seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.paths import REPOSITORY

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 12), reason="lines are told by sys.monitoring")

DRIVE = """
    import importlib, json, sys, threading
    sys.path[:0] = [{repository!r}, "."]
    from gate.inside.driver.line_recorder import LineRecorder

    seen = LineRecorder({wanted!r}, {acts!r})
    seen.start(lambda: None)
    told = []
    for step in {steps!r}:
        exec(step)
        told.append(seen._trace.watching)
    print(json.dumps([told, seen.stop()["lines"]]))
"""
ONE = "def f(n):\n    if n:\n        return g(n)\n    return 0\n\n\ndef g(n):\n    return n - 1\n"


def drive(
    tmp_path: Path, files: dict[str, str], steps: list[str], wanted: dict[str, Any], acts: Any = None
) -> tuple[list[bool], dict[str, list[int]]]:
    """Whether lines are watched after each step, and the lines that were seen."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    script = dedent(DRIVE).format(repository=str(REPOSITORY), wanted=wanted, acts=acts or {}, steps=steps)
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told, lines = json.loads(done.stdout)
    return told, lines


def test_the_watch_ends_with_the_last_changed_line(tmp_path: Path) -> None:
    steps = ["import one", "one.f(0)", "one.f(1)"]
    told, lines = drive(tmp_path, {"one.py": ONE}, steps, {"one.py": [[1, 8]]})
    assert told == [True, True, False]
    assert lines == {"one.py": [1, 2, 3, 4, 7, 8]}


def test_it_goes_on_while_a_line_was_not_reached(tmp_path: Path) -> None:
    steps = ["import one", "one.f(0)", "one.f(0)", "one.g(2)"]
    told, lines = drive(tmp_path, {"one.py": ONE}, steps, {"one.py": [[1, 8]]})
    assert told == [True, True, True, True]
    assert lines == {"one.py": [1, 2, 4, 7, 8]}


def test_a_file_that_begins_later_begins_it_anew(tmp_path: Path) -> None:
    files = {"one.py": ONE, "two.py": "def h():\n    return 5\n"}
    steps = ["import one", "one.f(1)", "import two", "two.h()", "importlib.reload(one)", "one.f(1)"]
    told, lines = drive(tmp_path, files, steps, {"one.py": [[2, 3]], "two.py": [[1, 2]]})
    assert told == [True, False, True, False, False, False]
    assert lines == {"one.py": [2, 3], "two.py": [1, 2]}


def test_a_file_within_the_first_call_of_another_is_seen(tmp_path: Path) -> None:
    files = {"one.py": "import two\n\ndef f():\n    return two.h()\n", "two.py": "def h():\n    return 5\n"}
    told, lines = drive(tmp_path, files, ["import one", "one.f()"], {"one.py": [[1, 1]], "two.py": [[2, 2]]})
    assert told == [True, False]
    assert lines == {"one.py": [1], "two.py": [2]}


def test_generators_closures_and_handlers_have_no_line_that_never_comes(tmp_path: Path) -> None:
    text = """
        def f():
            kept = 1
            def inner():
                nonlocal kept
                kept += 1
                return kept
            def numbers():
                yield inner()
            async def later():
                return 1
            try:
                later().send(None)
            except StopIteration:
                pass
            with open("one.py") as file:
                return [x for x in numbers()], file.name
    """
    told, lines = drive(
        tmp_path, {"one.py": dedent(text).lstrip("\n")}, ["import one", "one.f()"], {"one.py": [[1, 30]]}
    )
    assert told == [True, False]
    assert lines["one.py"] == [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]


def test_calls_that_are_asked_of_keep_it_on(tmp_path: Path) -> None:
    acts = {"one.py": [[3, 15, 3, 19, "call"]]}
    told, _ = drive(tmp_path, {"one.py": ONE}, ["import one", "one.f(1)"], {"one.py": [[2, 3]]}, acts)
    assert told == [True, True]


def test_other_threads_are_left_alone_too(tmp_path: Path) -> None:
    steps = ["import one", "t = threading.Thread(target=one.f, args=(1,)); t.start(); t.join()", "one.f(1)"]
    told, lines = drive(tmp_path, {"one.py": ONE}, steps, {"one.py": [[2, 3]]})
    assert told == [True, False, False]
    assert lines == {"one.py": [2, 3]}

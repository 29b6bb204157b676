"""Lines are counted, and the code that asks finds what a plain interpreter would have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.unit.inside.driver.harness import imported, lay_tree

TRACES = pytest.mark.skipif(sys.version_info >= (3, 12), reason="lines are told by sys.monitoring")
MONITORS = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

ASKS = """
    import json
    import sys
    import threading

    def look():
        main = sys.modules["__main__"]
        found = {
            "main": [[name, str(value)] for name, value in vars(main).items() if name != "sys"],
            "trace": repr(sys.gettrace()),
            "threads": repr(getattr(threading, "gettrace", lambda: None)()),
            "profile": repr(sys.getprofile()),
            "own": [name for name in sys.modules if "gate" in name],
            "argv": [sys.argv, getattr(sys, "orig_argv", [""] * 3)[1:2]],
            "named": [sys.gettrace.__name__, sys.gettrace.__module__, sys.settrace.__doc__],
        }
        if hasattr(sys, "monitoring"):
            found["tools"] = [sys.monitoring.get_tool(at) for at in range(6)]
        return json.dumps(found)

    def in_a_thread():
        said = []
        thread = threading.Thread(target=lambda: said.append(look()))
        thread.start()
        thread.join()
        return said[0]
"""


def ran(folder: Path, source: str, call: str = "f") -> tuple[list[int], Any]:
    """The lines of the file that were seen to run, and what the function returned."""
    text = dedent(source).lstrip("\n")
    text += f"\nwith open('said', 'w') as file:\n    file.write(str({call}()))\n"
    tree = lay_tree(folder / "t", {"asks.py": text})
    seen = imported(tree, "asks", [], lines={"asks.py": [[1, 200]]})
    said = (tree / "said").read_text() if (tree / "said").exists() else None
    return seen.item.get("lines", {}).get("asks.py", []), said


@pytest.mark.slow
@pytest.mark.parametrize("way", ["look", "in_a_thread"])
def test_the_code_finds_a_plain_interpreter(tmp_path: Path, way: str) -> None:
    lines, said = ran(tmp_path, ASKS, way)
    assert 6 in lines
    program = f"import asks; print(asks.{way}())"
    plain = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path / "t"
    )
    expected, found = json.loads(plain.stdout.splitlines()[-1]), json.loads(said)
    expected["main"] = [pair for pair in expected["main"] if pair[0] != "asks"]
    assert found == expected


@TRACES
@pytest.mark.slow
@pytest.mark.parametrize(
    "end",
    [
        "sys.settrace(None)",
        "sys.settrace(lambda *_: None)",
        "sys.settrace(sys.gettrace())",
        "threading.settrace(None)",
        "sys.settrace(broken)",
        "ctypes.pythonapi.PyEval_SetTrace(None, None)",
    ],
)
def test_the_code_cannot_end_the_count(tmp_path: Path, end: str) -> None:
    lines, said = ran(
        tmp_path,
        f"""
        import ctypes, os, sys, threading

        def broken(*_):
            raise ValueError("mine")

        def later():
            open(os.devnull).close()
            return 8

        def f():
            {end}
            try:
                later()
            except ValueError:
                pass
            if threading.current_thread().name == "MainThread":
                thread = threading.Thread(target=later)
                thread.start()
                thread.join()
            open(os.devnull).close()
            return later()
        """,
    )
    assert said == "8"
    assert {7, 8, 21} <= set(lines)  # where C ended it, from the next event on


@TRACES
@pytest.mark.slow
def test_a_tracer_of_the_code_sees_what_it_would_see(tmp_path: Path) -> None:
    source = """
        import sys, threading

        seen = []

        def local(frame, event, arg):
            if frame.f_code.co_filename == __file__:
                seen.append((event, frame.f_lineno))
            return local

        def work(n):
            for i in range(n):
                n += i
            return n

        def f():
            threading.settrace(local)
            sys.settrace(local)
            assert sys.gettrace() is local
            work(2)
            thread = threading.Thread(target=work, args=(1,))
            thread.start()
            thread.join()
            assert threading.gettrace() is local
            sys.settrace(None)
            threading.settrace(None)
            work(3)
            return repr(seen)
        """
    lines, said = ran(tmp_path, source)
    assert {11, 12, 13, 19, 26} <= set(lines)
    path = tmp_path / "plain.py"
    path.write_text(dedent(source).lstrip("\n") + "\nprint(f())\n")
    plain = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert said == plain.stdout.strip()


@TRACES
@pytest.mark.slow
def test_a_debugger_of_the_code_stops_where_it_should(tmp_path: Path) -> None:
    _, said = ran(
        tmp_path,
        """
        import io, pdb

        def work():
            n = 1
            return n + 1

        def f():
            out = io.StringIO()
            typed = io.StringIO("step\\nstep\\np n * 40\\ncontinue\\n")
            debugger = pdb.Pdb(stdin=typed, stdout=out, nosigint=True)
            debugger.use_rawinput = False
            debugger.runcall(work)
            return "40" in out.getvalue()
        """,
    )
    assert said == "True"


@pytest.mark.slow
@pytest.mark.parametrize("core", ["ctrace", "pytrace", "sysmon"])
def test_coverage_of_the_code_itself_works(tmp_path: Path, core: str) -> None:
    if core == "sysmon" and sys.version_info < (3, 12):
        pytest.skip("sys.monitoring came with Python 3.12")
    pytest.importorskip("coverage")
    lines, said = ran(
        tmp_path,
        f"""
        import os
        os.environ["COVERAGE_CORE"] = {core!r}
        import coverage

        def work():
            return 5

        def after():
            return 6

        def f():
            own = coverage.Coverage(data_file=None, config_file=False, include=[__file__])
            own.start()
            work()
            own.stop()
            open(os.devnull).close()
            after()
            return sorted(own.get_data().lines(__file__))
        """,
    )
    assert said is not None
    assert "6" in said.strip("[]").split(", ")
    assert 9 in lines


@MONITORS
@pytest.mark.slow
def test_every_place_is_the_codes(tmp_path: Path) -> None:
    lines, said = ran(
        tmp_path,
        """
        import sys

        def later():
            return 4

        def f():
            m = sys.monitoring
            for at in (4, 3, 5, 2, 0):
                m.use_tool_id(at, f"mine {at}")
                later()
            m.free_tool_id(1)
            m.set_events(4, m.events.LINE)
            names = [m.get_tool(at) for at in range(6)]
            try:
                m.set_events(1, 0)
            except ValueError as error:
                names.append(str(error))
            later()
            return names
        """,
    )
    assert said == "['mine 0', None, 'mine 2', 'mine 3', 'mine 4', 'mine 5', 'tool 1 is not in use']"
    assert 4 in lines

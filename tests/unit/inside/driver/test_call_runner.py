# ruff: noqa: E501 - one line for each place is easier to read
"""Reaching the code: every kind of place a payload can hide in (EV-5), and arguments that fit."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.unit.inside.driver.harness import drive, imported, lay_tree

MARK: Final = 'open("ran", "w").close()'


def reached(tree: Path) -> bool:
    return (tree / "ran").exists()


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param("class A:\n def m(self, x): {mark}", ["A.m"], id="method"),
        pytest.param("class A:\n def __init__(self, a, *, b): 1/0\n def m(self, x): {mark}", ["A.m"], id="method-no-init"),
        pytest.param("import abc\nclass A(abc.ABC):\n @abc.abstractmethod\n def n(self): ...\n def m(self): {mark}", ["A.m"], id="method-abstract"),
        pytest.param("class A:\n @classmethod\n def m(cls, x): {mark}", ["A.m"], id="classmethod"),
        pytest.param("class A:\n @staticmethod\n def m(x): {mark}", ["A.m"], id="staticmethod"),
        pytest.param("class A:\n class B:\n  def m(self): {mark}", ["A.B.m"], id="nested-class"),
        pytest.param("async def f(url): {mark}", ["f"], id="coroutine"),
        pytest.param("async def f(n):\n {mark}\n yield n", ["f"], id="async-generator"),
        pytest.param("class A:\n def __del__(self): {mark}", ["A.__del__"], id="del"),
        pytest.param("class A:\n def __getattr__(self, name): {mark}", ["A.__getattr__"], id="getattr"),
        pytest.param("def __getattr__(name): {mark}", ["__getattr__"], id="module-getattr"),
        pytest.param(
            "def __getattr__(name):\n if name == '__version__': {mark}", ["__getattr__"], id="module-getattr-name"
        ),
        pytest.param(
            "class A:\n def __getattr__(self, name):\n  if name in ('total', 'sum'): {mark}",
            ["A.__getattr__"],
            id="getattr-names",
        ),
        pytest.param("def d(f):\n {mark}\n return f\n@d\ndef g(): ...", [], id="decorator"),
        pytest.param("class A:\n {mark}", [], id="class-body"),
        pytest.param("def mark(): {mark}\ndef f(x=mark()): ...", [], id="default-argument"),
        pytest.param("def f(n):\n yield 1\n {mark}", ["f"], id="generator"),
        pytest.param("import contextlib\n@contextlib.contextmanager\ndef f():\n try:\n  yield\n finally: {mark}", ["f"], id="context-manager"),
        pytest.param("class A:\n @property\n def p(self): {mark}", ["A.p"], id="property"),
        pytest.param("class A:\n p = property(None, lambda self, v: {mark})", ["A.p"], id="property-setter"),
        pytest.param("import functools\nclass A:\n @functools.cached_property\n def p(self): {mark}", ["A.p"], id="cached-property"),
        pytest.param("class A:\n def __init_subclass__(cls): {mark}", ["A.__init_subclass__"], id="init-subclass"),
        pytest.param("class A:\n def __enter__(self): {mark}\n def __exit__(self, *a): ...", ["A.__enter__"], id="enter"),
        pytest.param("class M(type):\n def __call__(cls, *a): {mark}\nclass A(metaclass=M): ...", ["A"], id="metaclass"),
        pytest.param("import argparse\ndef main():\n p = argparse.ArgumentParser()\n p.add_argument('file')\n p.add_argument('--n', type=int, required=True)\n a = p.parse_args()\n {mark}", ["main"], id="argparse"),
        pytest.param("import argparse\ndef main(argv=None):\n p = argparse.ArgumentParser()\n s = p.add_subparsers(dest='c', required=True)\n q = s.add_parser('push')\n q.add_argument('to', choices=['x'])\n q.add_argument('--hard', action='store_true')\n a = p.parse_args(argv)\n if a.c == 'push' and a.hard: {mark}", ["main"], id="argparse-subcommand"),
        pytest.param("def f(mode: str):\n if mode == 'unlock': {mark}", ["f"], id="magic-word"),
        pytest.param("def f(code):\n if code == 4711: {mark}", ["f"], id="magic-number-unhinted"),
        pytest.param("def f(code: int):\n if code == 4711: {mark}", ["f"], id="magic-number"),
        pytest.param("def f(dry_run: bool = True):\n if not dry_run: {mark}", ["f"], id="flipped-default"),
        pytest.param("def f(path):\n text = open(path).read()\n {mark}", ["f"], id="path"),
        pytest.param("import pathlib\ndef f(a: pathlib.Path):\n a.read_text()\n {mark}", ["f"], id="pathlib"),
        pytest.param("def f(request):\n request.user.name.upper()\n with request.lock: pass\n {mark}", ["f"], id="stand-in"),
        pytest.param("def f(items: list[dict[str, int]]):\n items[0].items()\n {mark}", ["f"], id="nested-hint"),
        pytest.param("import typing\ndef f(x: typing.Optional[typing.Callable[[int], int]] = None):\n x(1) + 1\n {mark}", ["f"], id="callable"),
        pytest.param("import enum\nclass C(enum.Enum):\n A = 1\ndef f(c: C):\n c.value + 1\n {mark}", ["f"], id="enum"),
        pytest.param("import dataclasses\n@dataclasses.dataclass\nclass A:\n n: int\n s: str\n def m(self): self.n + 1; {mark}", ["A.m"], id="dataclass"),
        pytest.param("def f(data: bytes):\n data.decode()\n {mark}", ["f"], id="bytes"),
        pytest.param("import time\ndef f():\n time.sleep(3600)\n {mark}", ["f"], id="sleep"),
        pytest.param("import asyncio\nasync def f():\n await asyncio.sleep(3600)\n {mark}", ["f"], id="async-sleep"),
        pytest.param("class A:\n async def __aenter__(self): {mark}\n async def __aexit__(self, *a): ...", ["A.__aenter__"], id="aenter"),
        pytest.param("import contextlib\n@contextlib.asynccontextmanager\nasync def f():\n try:\n  yield\n finally: {mark}", ["f"], id="async-context-manager"),
        pytest.param("class A:\n async def rows(self, n):\n  yield n\n  {mark}", ["A.rows"], id="async-generator-method"),
        pytest.param("class A:\n def __call__(self, x): {mark}", ["A.__call__"], id="call-method"),
        pytest.param("import functools\ndef d(fn):\n @functools.wraps(fn)\n def inner(*a, **k):\n  {mark}\n  return fn(*a, **k)\n return inner", ["d"], id="wrapper"),
        pytest.param("def d(times=3):\n def outer(fn):\n  def inner(*a):\n   {mark}\n  return inner\n return outer", ["d"], id="wrapper-of-a-factory"),
        pytest.param("def f():\n def inner(n):\n  yield n\n  {mark}\n return [1, inner]", ["f"], id="function-in-a-list"),
        pytest.param("import functools\ndef _g(n, m): {mark}\ndef f(): return {'a': functools.partial(_g, 1)}", ["f"], id="partial"),
        pytest.param("def f(n):\n class A:\n  def __init__(self, a, *, b): 1/0\n  def m(self, x): {mark}\n return A", ["f"], id="class-made-in-a-function"),
        pytest.param("def f(n):\n class A:\n  def m(self, x): {mark}\n return A()", ["f"], id="object-of-a-class-made-in-a-function"),
        pytest.param("class A:\n def __iter__(self):\n  yield 1\n  {mark}", ["A.__iter__"], id="iter-method"),
        pytest.param("class A:\n def __init__(self, mode='r'):\n  if mode == 'unlock': {mark}", ["A"], id="constructor-magic-word"),
        pytest.param("def f(rows):\n '''Sum.\n\n :type rows: dict\n '''\n rows.items()\n {mark}", ["f"], id="docstring-type"),
        pytest.param("def f(thing):\n '''Sum.\n\n Args:\n     thing (bytes): what.\n '''\n thing.decode()\n {mark}", ["f"], id="docstring-google"),
        pytest.param("def f(when, how):\n '''Act.\n\n >>> f('first of may', how=31)\n 1\n '''\n if (when, how) == ('first of may', 31): {mark}", ["f"], id="docstring-example"),
        pytest.param("def f(count: int):\n if count == 0: {mark}", ["f"], id="edge-zero"),
        pytest.param("def f(text: str):\n if not text: {mark}", ["f"], id="edge-empty-text"),
        pytest.param("def f(thing=None):\n if thing is not None and not thing: {mark}", ["f"], id="edge-of-anything"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_place_is_reached(tmp_path: Path, source: str, calls: list[str]) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": source.replace("{mark}", MARK) + "\n"})
    seen = imported(tree, "cart", calls, nap=0.05)
    assert reached(tree), (seen.item, seen.stderr)
    assert seen.done


def test_submodule_only(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t", {"shop/__init__.py": "", "shop/deep/__init__.py": "", "shop/deep/er.py": MARK}
    )
    assert imported(tree, "shop.deep.er").done
    assert reached(tree)


def test_click_commands(tmp_path: Path) -> None:
    pytest.importorskip("click")
    source = f"""
        import click
        @click.group()
        def cli(): ...
        @cli.command()
        @click.argument("name")
        @click.option("--count", type=int, required=True)
        def push(name, count): {MARK}
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", ["cli"])
    assert reached(tree), seen


@pytest.mark.parametrize("source", ["import nothere", "import nothere.deep"])
def test_call_that_needs_something_says_so(tmp_path: Path, source: str) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": f"def f(): {source}\n"})
    assert imported(tree, "cart", ["f"]).calls == {"f": "needs nothere"}


def test_endless_call_is_stopped_and_the_rest_go_on(tmp_path: Path) -> None:
    source = f"def f():\n    while True: pass\nclass A:\n    def g(self): {MARK}\n"
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", ["f", "A.g"], each=0.2)
    assert seen.done
    assert seen.calls == {"f": "timed-out", "A.g": "returned"}
    assert reached(tree)


def test_calls_share_their_time(tmp_path: Path) -> None:
    source = "".join(f"def f{n}():\n    while True: pass\n" for n in range(8))
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", [f"f{n}" for n in range(8)], each=0.3, seconds=1.5)
    assert seen.done
    assert seen.calls["f7"] == "out of time"


def test_names_that_are_not_there_or_nothing_to_call(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"cart.py": "X = 1\nclass A: y = 2\n"})
    calls = imported(tree, "cart", ["gone", "A.gone", "X", "A.y"]).calls
    assert calls == {
        "gone": "absent",
        "A.gone": "absent",
        "X": "no way to call it",
        "A.y": "no way to call it",
    }


def test_same_arguments_every_time(tmp_path: Path) -> None:
    source = """
        import random
        def f(url, path, n: int, names: set[str], request, cb, *rest, timeout=3, mode="a", **more):
            print(url, path, n, sorted(names), request, cb(7), rest, timeout, mode, more, random.random())
        """
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    first, second = (imported(tree, "cart", ["f"]).stdout for _ in range(2))
    assert first == second
    assert first.startswith("http://example.invalid/ /tmp/gate-args/input.txt 3 ['gate'] gate 7 () 3 a {}")


def test_scripts_run_as_main_with_help_and_made_up_arguments(tmp_path: Path) -> None:
    source = f"""
        import argparse, helper
        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("count", type=int)
            parser.add_argument("--wipe", action="store_true")
            words = parser.parse_args()
            if words.wipe: {MARK}
        """
    tree = lay_tree(tmp_path / "t", {"tools/go-now.py": source, "tools/helper.py": ""})
    seen = drive(tree, {"items": [{"do": "script", "path": "tools/go-now.py", "argv": [[], ["--help"]]}]})
    assert seen.done
    assert reached(tree), seen
    assert list(seen.calls) == ["script", "script --help", "script variants", "script 3", "script 3 --wipe"]


def test_module_run_as_main(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t",
        {"shop/__init__.py": "", "shop/__main__.py": f"from . import x\n{MARK}", "shop/x.py": ""},
    )
    seen = drive(tree, {"items": [{"do": "script", "path": "shop/__main__.py", "module": "shop"}]})
    assert seen.done
    assert reached(tree), seen


def test_script_that_never_ends_is_not_done(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"go.py": "while True: pass\n"})
    seen = drive(tree, {"items": [{"do": "script", "path": "go.py"}], "each_script": 0.2})
    assert not seen.done
    assert seen.item["outcome"] == "timed-out"


@pytest.mark.parametrize(
    ("wait", "outcome"),
    [("while time.process_time() < 1.5: pass", "completed"), ("time.sleep(9)", "timed-out")],
)
def test_a_script_that_works_has_more_time_than_one_that_waits(
    wait: str, outcome: str, tmp_path: Path
) -> None:
    tree = lay_tree(tmp_path / "t", {"go.py": f"import time\n{wait}\n"})
    seen = drive(tree, {"items": [{"do": "script", "path": "go.py"}], "each_script": 0.4, "seconds": 30.0})
    assert seen.item["outcome"] == outcome


def test_server_is_stopped_and_that_is_no_fault(tmp_path: Path) -> None:
    source = """
        import http.server
        if __name__ == "__main__":
            http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler).serve_forever()
        """
    tree = lay_tree(tmp_path / "t", {"go.py": source})
    job = {"items": [{"do": "script", "path": "go.py"}], "each_script": 2.0, "lines": {"go.py": [[1, 9]]}}
    seen = drive(tree, job)
    assert seen.done
    assert seen.item["outcome"] == "stopped"


def test_file_without_a_module_name(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"a-b/c-d": f"def f(): {MARK}\n"})
    seen = drive(tree, {"items": [{"do": "file", "path": "a-b/c-d", "calls": ["f"]}]})
    assert seen.done
    assert reached(tree)


@pytest.mark.parametrize("name", ["go.sh", "go"])
def test_shell_script(tmp_path: Path, name: str) -> None:
    tree = lay_tree(tmp_path / "t", {name: "#!/usr/bin/env sh\ntouch ran\nexit 3\n"})
    seen = drive(tree, {"items": [{"do": "shell", "path": name}]})
    assert seen.done
    assert reached(tree)
    assert seen.item["exit_code"] == 3


def test_programs_that_are_not_there_are_told(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t",
        {
            "a.sh": "#!/usr/bin/nosuchshell\n",
            "package.json": '{"scripts": {"preinstall": "touch ran", "postinstall": "nosuchnode x.js"}}',
        },
    )
    items = [
        {"do": "shell", "path": "a.sh"},
        {"do": "program", "argv": ["nosuchnode", "x.js"]},
        {"do": "lifecycle", "path": "package.json"},
    ]
    seen = drive(tree, {"items": items})
    assert [item["missing"] for item in seen.report["items"]] == ["nosuchshell", "nosuchnode", "nosuchnode"]
    assert reached(tree)
    assert seen.done


def test_npm_does_not_ask_for_a_newer_npm_by_itself(tmp_path: Path) -> None:
    asks = 'echo "$npm_config_update_notifier" >> said'
    tree = lay_tree(
        tmp_path / "t",
        {
            "a.sh": asks,
            "package.json": json.dumps({"scripts": {"postinstall": asks}}),
            "Makefile": f"all:\n\t{asks.replace('$', '$$')}\n",
        },
    )
    items = [
        {"do": "shell", "path": "a.sh"},
        {"do": "lifecycle", "path": "package.json"},
        {"do": "make", "path": "Makefile", "target": "all"},
    ]
    assert drive(tree, {"items": items}).done
    assert (tree / "said").read_text() == "false\n" * 3


def test_pth_lines_are_executed_as_site_does(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"a.pth": f"# c\nlib\nimport os; {MARK}\nprint('not this')\n"})
    seen = drive(tree, {"items": [{"do": "pth", "path": "a.pth"}]})
    assert seen.done
    assert reached(tree)
    assert seen.stdout == ""


SETUP: Final = f"""
    from setuptools import setup, find_packages
    from setuptools.command.install import install
    class Hook(install):
        def run(self):
            {MARK}
            super().run()
    setup(name="x", version="1", packages=find_packages(), cmdclass={{"install": Hook}})
    """


@pytest.mark.parametrize("flags", [(), ("-S",)], ids=["as-it-is", "no-site-packages"])
def test_setup_py_command_classes(tmp_path: Path, flags: tuple[str, ...]) -> None:
    tree = lay_tree(tmp_path / "t", {"setup.py": SETUP})
    seen = drive(tree, {"items": [{"do": "setup", "path": "setup.py"}]}, python=(sys.executable, *flags))
    assert reached(tree), seen
    assert seen.done


def test_build_backend_of_the_tree(tmp_path: Path) -> None:
    tree = lay_tree(
        tmp_path / "t",
        {
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["build"]\n',
            "build/own.py": f"def build_wheel(directory, settings=None, metadata=None):\n    {MARK}\n",
        },
    )
    seen = drive(tree, {"items": [{"do": "backend", "path": "pyproject.toml"}]})
    assert seen.done
    assert reached(tree)


TESTS: Final = {
    "tests/test_a.py": f"def test_one(tmp_path):\n    assert tmp_path\n    {MARK}\n",
    "tests/test_b.py": "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): open('unit', 'w').close()\n",
    "tests/test_c.py": "import nothere\n",
}


@pytest.mark.parametrize("flags", [(), ("-S",)], ids=["pytest", "no-pytest"])
def test_tests_are_run(tmp_path: Path, flags: tuple[str, ...]) -> None:
    tree = lay_tree(tmp_path / "t", TESTS)
    paths = [*TESTS, "tests/gone.py"]
    seen = drive(tree, {"items": [{"do": "test", "paths": paths}]}, python=(sys.executable, *flags))
    assert seen.done, seen
    assert reached(tree)
    assert (tree / "unit").exists()
    assert seen.item["tests"]["uncollected"] == 1
    assert not (tree / ".pytest_cache").exists()


@pytest.mark.parametrize("named", ["cart.py", "odd-name.py", "docs.rst"])
def test_examples_are_run(tmp_path: Path, named: str) -> None:
    text = f'"""Sums.\n\n>>> 1 + 1\n3\n>>> import sys; assert "readline" not in sys.modules; {MARK}\n"""\nprint(1)\n'
    tree = lay_tree(tmp_path / "t", {named: text})
    item = {"do": "doctest", "path": named} | ({"module": "cart"} if named == "cart.py" else {})
    seen = drive(tree, {"items": [item, {"do": "doctest", "path": "gone.py"}]})
    assert seen.done, seen
    assert reached(tree)
    ran, gone = seen.report["items"]
    assert sum(ran["tests"].values()) == 2
    assert gone["outcome"] == "absent"


def test_tests_run_without_the_pytest_they_import(tmp_path: Path) -> None:
    source = f"""
        import pytest
        @pytest.fixture
        def shop(): return 1
        @pytest.mark.parametrize("n", [1, 2])
        def test_one(n, shop, tmp_path):
            with pytest.raises(ZeroDivisionError):
                1 / 0
            {MARK}
        """
    tree = lay_tree(tmp_path / "t", {"test_c.py": source})
    seen = drive(tree, {"items": [{"do": "test", "paths": ["test_c.py"]}]}, python=(sys.executable, "-S"))
    assert reached(tree), seen
    assert (seen.item["missing"], seen.item["stand_in"]) == ("pytest", True)
    assert seen.done


@pytest.mark.parametrize("flags", [(), ("-S",)], ids=["pytest", "no-pytest"])
@pytest.mark.slow
def test_tests_that_need_something(tmp_path: Path, flags: tuple[str, ...]) -> None:
    tree = lay_tree(tmp_path / "t", {"test_c.py": "import nothere.x\n"})
    seen = drive(tree, {"items": [{"do": "test", "paths": ["test_c.py"]}]}, python=(sys.executable, *flags))
    assert (seen.item["outcome"], seen.item["missing"]) == ("missing", "nothere")
    assert seen.done


def test_a_row_of_slow_calls_leaves_time_for_the_last(tmp_path: Path) -> None:
    names = [f"f{n}" for n in range(10)]
    source = "".join(f"def {name}():\n    while True: pass\n" for name in names) + "def last(): pass\n"
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", [*names, "last"], seconds=8.0, each=0.5)
    assert seen.calls["last"] == "returned"


def test_calls_that_end_the_process_cannot_hide_those_behind_them(tmp_path: Path) -> None:
    names = [f"f{n}" for n in range(12)]
    source = "import os\n" + "".join(f"def {name}(): os._exit(0)\n" for name in names) + "def last(): pass\n"
    tree = lay_tree(tmp_path / "t", {"cart.py": source})
    seen = imported(tree, "cart", [*names, "last"], seconds=10.0)
    assert "last" not in seen.calls
    assert not seen.done


def drawn(tree: Path, source: str) -> list[str]:
    """Every value that ``f`` was called with, in order."""
    lay_tree(tree, {"cart.py": source})
    seen = imported(tree, "cart", ["f"])
    assert seen.done, seen.stderr
    return (tree / "said").read_text().splitlines()


SAY: Final = "    with open('said', 'a') as file: file.write(repr({}) + '\\n')\n"


def test_the_same_parameter_gets_the_same_values_on_both_sides(tmp_path: Path) -> None:
    source = "def f(amount: int, name: str):\n" + SAY.format("(amount, name)")
    base, again = drawn(tmp_path / "base", source), drawn(tmp_path / "again", source)
    head = drawn(tmp_path / "head", source.replace("f(amount", "f(new: bool, amount"))
    assert base == again
    assert len(set(base)) >= 4
    assert set(base) <= set(head)


def test_no_place_is_ever_drawn(tmp_path: Path) -> None:
    source = "def f(path, host: str, cmd, url: str, count=1):\n" + SAY.format("(path, host, cmd, url)")
    assert len(set(drawn(tmp_path / "t", source))) == 1


def test_further_values_are_for_quick_functions(tmp_path: Path) -> None:
    source = "import time\ndef f(count: int):\n" + SAY.format("count")
    slow = drawn(tmp_path / "slow", source + "    time.sleep(0.2)\n")
    assert len(slow) <= len(drawn(tmp_path / "quick", source))

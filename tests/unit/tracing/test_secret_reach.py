"""Whether a run can have read a planted secret: the ways there are, and what is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.canary import Canary
from gate.model.change import ChangedFile, Hunk
from gate.tracing.secret_reach import asked_for, may_read
from tests.unit.signals.context import changed
from tests.unit.tracing.trace_builder import Trace

TOKEN = Canary(name="env:GITHUB_TOKEN", env="GITHUB_TOKEN", secrets=("ghs_" + "x" * 36,))
AWS = Canary(name="aws-credentials", path="/work/home/.aws/credentials", secrets=("k" * 40,))


class Files:
    """The texts of a tree."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = {name: text.encode() for name, text in texts.items()}

    def read_many(self, paths: tuple[str, ...]) -> list[tuple[str, bytes]]:
        return [(path, self.texts[path]) for path in paths if path in self.texts]


def file(path: str, language: str | None, lines: tuple[int, int]) -> ChangedFile:
    hunk = Hunk(old_start=lines[0], old_count=0, new_start=lines[0], new_count=lines[1])
    return replace(changed(path), language=language, hunks=(hunk,))


def reads(
    folder: Path,
    trace: Trace | None = None,
    *,
    text: str = "print(1)\n",
    path: str = "cart.py",
    language: str | None = "python",
    lines: tuple[int, int] = (1, 1),
    asked: tuple[str, ...] | None = ("HOME",),
    before: Trace | None = None,
    more: bool = False,
    others: dict[str, str] | None = None,
) -> bool:
    """``asked`` None: the driver did not say. ``others``: more files of the tree."""
    told = {} if asked is None else {"environment": {"asked": list(asked), "more": more}}
    folder.mkdir(exist_ok=True)
    record = (trace or Trace().open("/work/tree/cart.py")).record(folder)
    record = replace(record, driver_report={"items": [told]})
    (folder / "before").mkdir(parents=True)
    known = () if before is None else (before.record(folder / "before"),)
    tree = Files({path: text, **(others or {})})
    return may_read(record, known, (TOKEN, AWS), tree, (file(path, language, lines),))  # type: ignore[arg-type]


def test_code_that_asks_for_nothing_can_read_none(tmp_path: Path) -> None:
    assert not reads(tmp_path)


def test_a_planted_variable_that_was_asked_for(tmp_path: Path) -> None:
    assert reads(tmp_path, asked=("HOME", "GITHUB_TOKEN"))


@pytest.mark.parametrize("told", [{"asked": None}, {"more": True}], ids=["nothing", "not all"])
def test_what_was_asked_for_must_have_been_told(tmp_path: Path, told: dict[str, object]) -> None:
    assert reads(tmp_path, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path",
    [AWS.path or "", "/proc/self/environ", "/proc/17/mem", "/usr/lib/python3/_ctypes.cpython-311.so"],
)
def test_files_that_hold_one_or_lead_to_one(tmp_path: Path, path: str) -> None:
    assert reads(tmp_path, Trace().open(path))


def test_c_that_base_calls_too_is_known(tmp_path: Path) -> None:
    native = Trace().open("/usr/lib/python3/_ctypes.cpython-311.so")
    assert not reads(tmp_path, native, before=native)


def test_programs_have_all_variables(tmp_path: Path) -> None:
    assert reads(tmp_path, Trace().exec("/usr/bin/id", "id"))


def test_a_program_that_base_starts_with_the_same_words_is_known(tmp_path: Path) -> None:
    started = Trace().exec("/bin/sh", "sh", "-c", "cat /proc/cpuinfo | sort")
    assert not reads(tmp_path, started, before=started)


@pytest.mark.parametrize(
    "argv",
    [
        ("/usr/bin/python3", "-"),
        ("/bin/sh", "-s"),
        ("/bin/sh",),
        ("/usr/bin/python3", "-m", "cart"),
        ("/usr/bin/awk", "-f", "/work/tree/cart.py"),
        ("/usr/bin/env",),
    ],
)
def test_but_not_one_that_may_have_been_told_otherwise(tmp_path: Path, argv: tuple[str, ...]) -> None:
    started = Trace().exec(argv[0], *argv)
    assert reads(tmp_path, started, before=started)


def test_a_child_that_only_names_our_folder_is_not_ours(tmp_path: Path) -> None:
    assert reads(tmp_path, Trace().exec("/usr/bin/curl", "curl", "-d", "x", "/opt/gate/"))
    assert reads(tmp_path / "second", Trace().exec("/bin/python3", "python3", "-c", "x", "/opt/gate/driver"))


@pytest.mark.parametrize(
    "line",
    [
        "import ctypes",
        "os.environ._data",
        "exec(text)",
        "numpy.ctypeslib.load_library(name, '.')",
        "operator.attrgetter(name)(store)",
        "from sys import modules",
        "ffi.dlopen(None)",
        "getattr(os, name)",
        "getattr(store, '__closure__')",
        "f.__globals__",
        "().__class__.__subclasses__()",
        "gc.get_objects()",
        "sys.modules['x']",
        "importlib.import_module(name)",
    ],
)
def test_changed_lines_that_go_past_the_question(tmp_path: Path, line: str) -> None:
    assert reads(tmp_path, text=f"import os\n{line}\n", lines=(2, 1))


@pytest.mark.parametrize(
    "line",
    [
        "def __repr__(self) -> str:",
        "x.__class__.__name__",
        "if __name__ == '__main__':",
        "getattr(order, 'total', None)",
        "token = pages.execute(secret)",
        "os.environ.get(name)",
        "Path.home() / '.cache'",
    ],
)
def test_changed_lines_that_do_not(tmp_path: Path, line: str) -> None:
    assert not reads(tmp_path, text=f"import os\n{line}\n", lines=(2, 1))


def test_lines_of_base_are_trusted_to_ask_in_the_ordinary_way(tmp_path: Path) -> None:
    assert not reads(tmp_path, text="import ctypes\ntotal = 1\n", lines=(2, 1))


def test_a_changed_file_of_another_language_that_was_opened(tmp_path: Path) -> None:
    opened = Trace().open("/work/tree/run.sh")
    assert reads(tmp_path, opened, path="run.sh", language="shell")


def test_data_is_none(tmp_path: Path) -> None:
    opened = Trace().open("/work/tree/prices.json")
    assert not reads(tmp_path, opened, path="prices.json", language="json", text="{}\n")


@pytest.mark.parametrize(
    ("line", "can"),
    [
        ("send(process.env)", True),
        ("send(process.env[name])", True),
        ("send(process.env.GITHUB_TOKEN)", True),
        ("const { env } = process", True),
        ("import p from 'node:process'", True),
        ("globalThis['pro' + 'cess'].env", True),
        ("new Function(text)()", True),
        ("require(name)", True),
        ("import vm from 'node:vm'", True),
        ("[].filter['constructor'](text)()", True),
        ("process.env.NODE_ENV === 'test'", False),
        ("process.exit(1)", False),
        ("// we process every order", False),
        ("/x/.exec(text)", False),
        ("const processed = orders.map(total)", False),
        ("require('./token')", False),
        ("if (typeof process !== 'undefined') {}", False),
    ],
)
def test_javascript_that_leads_to_the_variables(tmp_path: Path, line: str, can: bool) -> None:
    opened = Trace().exec("/opt/runtime/node", "node", "--import", "/opt/gate/driver/hooks.mjs", "a.js")
    changed_file = {"path": "a.js", "language": "javascript", "text": "export {}\n"}
    trace = opened.open("/work/tree/a.js").open("/work/tree/b.js")
    assert reads(tmp_path, trace, others={"b.js": line + "\n"}, **changed_file) is can  # type: ignore[arg-type]


NETRC = Canary(name="netrc", path="/work/home/.netrc", secrets=("n" * 24,))


@pytest.mark.parametrize(
    ("opened", "asked", "text", "names"),
    [
        ("/usr/lib/a.so", ("HOME", "GITHUB_TOKEN"), "", {"GITHUB_TOKEN"}),
        ("/usr/lib/a.so", ("HOME",), "", set()),
        ("/proc/self/environ", (), "", {"GITHUB_TOKEN"}),
        (AWS.path, (), "", {"aws-credentials"}),
        (NETRC.path, (), "", set()),  # HTTP clients open it unasked
        ("/work/tree/cart.js", (), "send(process.env.GITHUB_TOKEN)\n", {"GITHUB_TOKEN"}),
        ("/work/tree/cart.js", (), "\nsend(process.env.GITHUB_TOKEN)\n", set()),  # base has that line
        ("/work/tree/cart.js", (), "send(process.env.HOME)\n", set()),
    ],
)
def test_secrets_that_are_known_to_be_asked_for(
    tmp_path: Path, opened: str, asked: tuple[str, ...], text: str, names: set[str]
) -> None:
    record = Trace().open(opened).record(tmp_path)
    record = replace(record, driver_report={"items": [{"environment": {"asked": list(asked), "more": True}}]})
    tree, scripts = Files({"cart.js": text}), (file("cart.js", "javascript", (1, 1)),)
    assert asked_for(record, (TOKEN, AWS, NETRC), tree, scripts) == names  # type: ignore[arg-type]


def test_nobody_knows_what_was_asked_where_nothing_was_told(tmp_path: Path) -> None:
    record = replace(Trace().record(tmp_path), driver_report={"items": ["x", {"environment": 3}]})
    assert asked_for(record, (TOKEN,), Files({}), ()) == frozenset()  # type: ignore[arg-type]

"""The figure of a check, from real trees and real reading; only what ran is laid down by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.change.git_range import open_range
from gate.model.exercised import Exercised, FileExercised, UnrunReason
from gate.model.sensitive import SensitiveKind
from gate.plan.build import make_plan
from gate.plan.line_coverage import Coverage
from gate.plan.source_readings import read_change
from gate.stages.exercised import exercised
from tests.e2e.pulls import FileMap, Pull, build

CALL = '''
    import os
    import subprocess


    def send(name):
        """Send it."""
        subprocess.run(
            ["rsync", name],
        )
        return os.environ.copy()
    '''

MADE = {"src/pricing/send.py": frozenset({(7, 4, 9, 5), (10, 11, 10, 28)})}


def counted(
    tmp_path: Path, head: FileMap, seen: Coverage | None = None, *, base: FileMap | None = None
) -> Exercised:
    repo = build(Pull(name="x", head=head, base=base or {}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20.0, deep=False)
        readings = read_change(opened.change.files, opened.base, opened.head)
        return exercised(opened.change.files, readings, plan, seen)


def only(found: Exercised) -> FileExercised:
    (file,) = found.files
    return file


def covered(path: str, *lines: int, **more: Any) -> Coverage:
    return Coverage(ran={path: frozenset(lines)}, **more)


def kinds(file: FileExercised) -> set[SensitiveKind]:
    return {call.kind for call in file.calls}


def test_statements_are_counted_and_not_their_lines(tmp_path: Path) -> None:
    seen = covered("src/pricing/send.py", 1, 2, 5)
    file = only(counted(tmp_path, {"src/pricing/send.py": CALL}, seen))
    assert (file.ran, file.executable) == (3, 5)  # two imports, def; the call and the return are dark
    assert file.unrun[0].spans == ((7, 7), (10, 10))
    assert file.unrun[0].reason is UnrunReason.NOT_REACHED
    assert kinds(file) == {SensitiveKind.PROCESS, SensitiveKind.ENVIRONMENT}


def test_a_statement_ran_when_any_of_its_lines_did(tmp_path: Path) -> None:
    shown = {SensitiveKind.PROCESS: {"src/pricing/send.py": frozenset({8})}}
    seen = covered("src/pricing/send.py", 1, 2, 5, 8, 10, shown=shown, made=MADE)
    file = only(counted(tmp_path, {"src/pricing/send.py": CALL}, seen))
    assert (file.ran, file.executable) == (5, 5)
    assert file.calls == ()


def test_a_sensitive_line_that_the_trace_does_not_show_is_not_confirmed(tmp_path: Path) -> None:
    shown: dict[SensitiveKind, dict[str, frozenset[int]]] = {SensitiveKind.PROCESS: {}}
    seen = covered("src/pricing/send.py", 1, 2, 5, 7, 10, shown=shown, made=MADE)
    file = only(counted(tmp_path, {"src/pricing/send.py": CALL}, seen))
    (call,) = file.calls
    assert (call.kind, call.reason) == (SensitiveKind.PROCESS, UnrunReason.NOT_CONFIRMED)


def test_a_call_of_which_nobody_was_asked_is_not_confirmed(tmp_path: Path) -> None:
    shown = {SensitiveKind.PROCESS: {"src/pricing/send.py": frozenset({7})}}
    seen = covered("src/pricing/send.py", 1, 2, 5, 7, 10, shown=shown)
    file = only(counted(tmp_path, {"src/pricing/send.py": CALL}, seen))
    assert kinds(file) == {SensitiveKind.PROCESS, SensitiveKind.ENVIRONMENT}


def test_a_call_that_was_not_made_although_its_line_ran(tmp_path: Path) -> None:
    head = {"src/pricing/send.py": "import os\nlive = False\nlive and os.system('true')\n"}
    path = "src/pricing/send.py"
    shown = {SensitiveKind.PROCESS: {path: frozenset({1, 2, 3})}}
    seen = covered(path, 1, 2, 3, shown=shown, made={path: frozenset()})
    file = only(counted(tmp_path, head, seen))
    assert file.ran == file.executable
    assert file.calls[0].detail == "only another part of the line ran"


def test_without_a_sandbox_nothing_ran(tmp_path: Path) -> None:
    file = only(counted(tmp_path, {"src/pricing/send.py": CALL}))
    assert file.ran == 0
    assert file.unrun[0].reason is UnrunReason.SANDBOX_OFF
    assert {call.reason for call in file.calls} == {UnrunReason.SANDBOX_OFF}


@pytest.mark.parametrize("home", ["src/pricing/send.py", "src/pricing/other.py"], ids=["here", "elsewhere"])
def test_what_moved_is_not_new(home: str, tmp_path: Path) -> None:
    shuffled = f"NAMES = {{}}\n{CALL.replace('            [', '                [')}"
    head: dict[str, str | bytes | None] = {"src/pricing/send.py": None, home: shuffled}
    found = counted(tmp_path, head, Coverage(), base={"src/pricing/send.py": CALL})
    assert all(not file.calls for file in found.files)


WIPE = "const fs = require('fs');\nfunction wipe(p) {\n  fs.rmSync(p);\n}\nmodule.exports = { wipe };\n"


@pytest.mark.parametrize(
    ("home", "text", "new"),
    [
        ("src/other.js", WIPE, False),
        ("src/other.js", WIPE.replace("wipe", "start"), True),  # by another name it can be called by others
        ("src/other.js", WIPE.replace("wipe", "start").replace("(p);", "(p);\n  x();"), True),
        ("src/other.js", "const fs = require('fs');\nconst p = 1;\nfs.rmSync(p);\n", True),
    ],
)
def test_what_moves_to_another_file_takes_its_function_along(
    home: str, text: str, new: bool, tmp_path: Path
) -> None:
    found = counted(tmp_path, {"src/a.js": "x();\n", home: text}, Coverage(), base={"src/a.js": WIPE})
    assert any(file.calls for file in found.files) is new


@pytest.mark.parametrize("home", ["tests/a.js", "tools/a.js", "scripts/a.js"])
def test_what_was_no_product_is_new_in_the_product(home: str, tmp_path: Path) -> None:
    for kept in ("x();\n", None):  # taken out of a file, or moved with it
        head: FileMap = {"src/b.js": WIPE, home: kept}
        folder = tmp_path / str(kept is None)
        folder.mkdir()
        found = counted(folder, head, Coverage(), base={home: WIPE})
        assert [f.path for f in found.files if f.calls] == ["src/b.js"]


@pytest.mark.parametrize(("home", "new"), [("__tests__/writable.js", False), ("src/writable.js", True)])
def test_a_folder_of_tests_may_have_another_name(home: str, new: bool, tmp_path: Path) -> None:
    text = "const net = require('net');\nit('closes', () => {\n  net.connect(1);\n});\n"
    head: FileMap = {"test/writable.js": None, home: text}
    found = counted(tmp_path, head, Coverage(), base={"test/writable.js": text})
    assert any(file.calls for file in found.files) is new


def test_a_second_copy_is_new(tmp_path: Path) -> None:
    head = {"src/pricing/copy.py": CALL, "src/pricing/send.py": CALL + "\n    x = 1\n"}
    found = counted(tmp_path, head, Coverage(), base={"src/pricing/send.py": CALL})
    assert [file.path for file in found.files if file.calls] == ["src/pricing/copy.py"]


def test_tests_may_read_their_environment_where_nothing_leaves(tmp_path: Path) -> None:
    quiet = "import os\ndef test_a():\n    assert dict(os.environ)\n"
    loud = quiet + "def test_b():\n    os.system('env')\n"
    head = {"tests/test_a.py": quiet, "tests/test_b.py": loud, "src/pricing/c.py": quiet}
    found = {file.path: kinds(file) for file in counted(tmp_path, head, Coverage()).files}
    assert found["tests/test_a.py"] == set()
    assert found["tests/test_b.py"] >= {SensitiveKind.PROCESS, SensitiveKind.ENVIRONMENT}
    assert found["src/pricing/c.py"] == {SensitiveKind.ENVIRONMENT}


def test_other_languages_count_their_lines_of_code(tmp_path: Path) -> None:
    go = 'package main\n\n// a comment\nfunc main() {\n\tprintln("x")\n}\n'
    file = only(counted(tmp_path, {"main.go": go}, Coverage()))
    assert (file.language, file.ran) == ("go", 0)
    assert 0 < file.executable <= 3
    assert file.unrun[0].reason is UnrunReason.LANGUAGE_NOT_RUN


def test_brackets_and_comments_of_javascript_are_no_lines(tmp_path: Path) -> None:
    text = "// say\nexport function f(a) {\n  if (a) {\n    return 1;\n  } else {\n    return 2;\n  }\n}\n"
    file = only(counted(tmp_path, {"f.js": text}, covered("f.js", 2, 3, 4)))
    assert (file.ran, file.executable) == (3, 4)


def test_of_scripts_the_commands_are_counted_that_a_trace_shows(tmp_path: Path) -> None:
    script = '#!/bin/sh\nset -e\nhere="$1"\ncp -r a "$here"\nrsync b c\necho done\n'
    file = only(counted(tmp_path, {"go.sh": script}, covered("go.sh", 4)))
    assert (file.ran, file.executable) == (1, 2)
    assert file.unrun[0].spans == ((5, 5),)


@pytest.mark.parametrize(
    ("path", "content"),
    [("app.min.js", "var a=[" + "f(1)," * 900 + "];\n"), ("tool", b"\x7fELF\2\1\1" + bytes(60))],
)
def test_what_nobody_can_read_is_in_no_figure(path: str, content: str | bytes, tmp_path: Path) -> None:
    file = only(counted(tmp_path, {path: content}, Coverage()))
    assert file.unreadable
    assert file.executable == 0


def test_prose_and_data_are_no_code(tmp_path: Path) -> None:
    head = {"README.md": "# Prices\n", "prices.json": "{}\n", "src/pricing/__init__.py": "# nothing\n"}
    assert counted(tmp_path, head, Coverage()) == Exercised()


SENDING = """
    import socket


    def tell(data):
        with socket.create_connection(("db.example", 9)) as peer:
            peer.sendall(data)
    """


@pytest.mark.parametrize("connected", [True, False])
def test_what_goes_over_a_connection_is_shown_by_the_call_that_connected(
    tmp_path: Path, connected: bool
) -> None:
    """The kernel tells of no ``send`` on a connected socket."""
    path, network = "src/pricing/tell.py", SensitiveKind.NETWORK
    repo = build(Pull(name="x", head={path: SENDING}, base={}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        files = opened.change.files
        readings = read_change(files, opened.base, opened.head)
        plan = make_plan(opened.change, opened.base, opened.head, deadline=20.0, deep=False)
        made = frozenset(call.place for call in readings.head[path].calls)
        lines = frozenset({5}) if connected else frozenset()
        seen = covered(
            path, 1, 4, 5, 6,
            made={path: made},
            shown={network: {path: lines}},
            beside={network: frozenset({path if connected else "src/other.py"})},
        )  # fmt: skip
        found = only(exercised(files, readings, plan, seen))
    left = {call.call for call in found.calls}
    assert left == (set() if connected else {"socket.create_connection", "peer.sendall"})


def test_a_changed_docstring_of_an_attribute_is_nothing_to_run(tmp_path: Path) -> None:
    text = 'class Tool:\n    name: str\n    """What it is called,\n    {}.\n    """\n\n    x = 1\n'
    path = "src/pricing/tool.py"
    found = counted(
        tmp_path, {path: text.format("always")}, covered(path), base={path: text.format("or not")}
    )
    assert found.files == ()


@pytest.mark.parametrize(
    ("call", "told"), [("(dict, made)", set()), ("(list, made)", {SensitiveKind.DYNAMIC_CODE})]
)
def test_a_helper_of_tests_that_looks_into_objects_is_told_where_its_line_changed(
    call: str, told: set[SensitiveKind], tmp_path: Path
) -> None:
    helper = (
        "def same(kind, value):\n    assert isinstance(value, kind)\n\n\n"
        "def assert_matches(kind, value):\n    for name in kind.names():\n"
        "        found = getattr(value, name)\n        same(kind, found)\n"
    )
    test = (
        "from helpers import assert_matches\n\n\ndef test_a(client):\n"
        "    made = client.create(\n        file={},\n    )\n    assert_matches{}\n"
    )
    base = {"tests/helpers.py": helper, "tests/test_a.py": test.format('b"raw contents"', "(dict, made)")}
    head = {**base, "tests/test_a.py": test.format('b"Example data"', call)}
    assert kinds(only(counted(tmp_path, head, Coverage(), base=base))) == told


def test_a_helper_that_runs_a_text_is_told_wherever_the_text_changed(tmp_path: Path) -> None:
    """A text of a test that cannot run is no result that a helper looks into."""
    test = "import missing\nfrom helpers import run\n\nTEXT = {!r}\n\n\ndef test_a():\n    run(TEXT)\n"
    base = {"tests/helpers.py": "def run(code):\n    exec(code)\n", "tests/test_a.py": test.format("1 + 1")}
    head = {**base, "tests/test_a.py": test.format("__import__('os').system('id')")}
    assert kinds(only(counted(tmp_path, head, Coverage(), base=base))) == {SensitiveKind.DYNAMIC_CODE}


@pytest.mark.parametrize(("host", "told"), [("localhost", False), ("c2.example", True)])
def test_a_client_of_the_projects_own_that_a_test_points_at_this_machine(
    host: str, told: bool, tmp_path: Path
) -> None:
    client = "import socket\n\n\ndef fetch(host, port):\n    return socket.create_connection((host, port))\n"
    test = f'from shop.client import fetch\n\n\ndef test_a():\n    fetch("{host}", 80)\n'
    base = {"src/shop/client.py": client, "src/shop/__init__.py": ""}
    file = only(counted(tmp_path, {**base, "tests/test_a.py": test}, Coverage(), base=base))
    assert (SensitiveKind.NETWORK in kinds(file)) is told


def test_components_are_run_and_count_the_lines_of_their_script(tmp_path: Path) -> None:
    text = "<template>\n  <b>{{ n }}</b>\n</template>\n<script setup>\nconst n = 1;\nfetch(n);\n</script>\n"
    file = only(counted(tmp_path, {"src/A.vue": text}, Coverage()))
    assert (file.executable, file.ran) == (2, 0)
    assert file.unrun[0].reason is UnrunReason.NOT_REACHED
    seen = Coverage(ran={"src/A.vue": frozenset({5, 6})})
    (tmp_path / "ran").mkdir()
    assert only(counted(tmp_path / "ran", {"src/A.vue": text}, seen)).ran == 2


def test_a_method_of_an_unknown_object_ran_where_a_test_gave_one_or_the_trace_shows_it(
    tmp_path: Path,
) -> None:
    """What our own stand-in was asked shows nothing; what a test's was asked is enough."""
    path = "src/pricing/late.py"
    base = {
        "src/pricing/report.py": "from urllib.request import urlopen\n\n\nclass Reporter:\n"
        "    def report(self, title):\n        urlopen('http://192.0.2.1/', data=title)\n"
    }
    head = {path: "def late(who, title):\n    who.report(title)\n"}
    place = {path: frozenset({(2, 4, 2, 21)})}
    shown = {SensitiveKind.NETWORK: {path: frozenset({2})}}
    unseen: dict[SensitiveKind, dict[str, frozenset[int]]] = {SensitiveKind.NETWORK: {}}
    looks = {
        "played": Coverage(ran={path: frozenset({1, 2})}, played=place, shown=unseen),
        "shown": Coverage(ran={path: frozenset({1, 2})}, played=place, shown=shown),
        "tested": Coverage(ran={path: frozenset({1, 2})}, made=place, shown=unseen),
        "nothing": Coverage(shown=unseen),
    }
    unrun = {}
    for name, seen in looks.items():
        (tmp_path / name).mkdir()
        unrun[name] = [c.reason for c in only(counted(tmp_path / name, head, seen, base=base)).calls]
    assert unrun == {
        "played": [UnrunReason.NOT_CONFIRMED],
        "shown": [],
        "tested": [],
        "nothing": [UnrunReason.NOT_REACHED],
    }

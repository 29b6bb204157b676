"""The syntax-tree scanner over whole changes: what is new, what could not be parsed, what it costs."""

from __future__ import annotations

import json
import sys
import time
import zlib
from pathlib import Path

import pytest

from gate.model.rule import Severity
from gate.model.stage import StageOutcome
from gate.prescreen.interface import Prescreened
from gate.prescreen.python_ast.scanner import PyAst, hits, parse
from tests.prescreen_support import Files, make_request


def scan(scratch: Path, head: Files, base: Files | None = None) -> Prescreened:
    """What the scanner says of going from base to head."""
    return PyAst().scan(make_request(head, base, scratch=scratch))


def lines(result: Prescreened, rule: str) -> list[int | None]:
    return [f.primary.line for f in result.findings if f.rule_id == rule]


def test_a_finding_has_place_shape_and_evidence(tmp_path: Path) -> None:
    result = scan(tmp_path, {"app.py": "import os\n\n\ndef f(x):\n    os.system('ls ' + x)\n"})
    (finding,) = result.findings
    assert (finding.rule_id, finding.severity) == ("py.shell-command", Severity.MEDIUM)
    assert (finding.primary.path, finding.primary.line) == ("app.py", 5)
    assert finding.shape.split() == ["os.system('ls", "'", "+", "x)"]
    assert finding.evidence["code"] == "os.system('ls ' + x)"
    assert 78 in finding.cwe
    assert [s.outcome for s in result.stages] == [StageOutcome.DONE]


def test_only_what_base_had_not_is_new(tmp_path: Path) -> None:
    bad = "import pickle\n\n\ndef f(x):\n    pickle.loads(x)\n"
    moved = "# a comment\n" + bad
    assert not scan(tmp_path, {"a.py": moved}, {"a.py": bad}).findings


def test_three_copies_of_an_old_finding_are_two_new_ones(tmp_path: Path) -> None:
    old = "import pickle\npickle.loads(x)\n"
    result = scan(tmp_path, {"a.py": old + "pickle.loads(x)\npickle.loads(x)\n"}, {"a.py": old})
    assert len(lines(result, "py.unsafe-deserialisation")) == 2


def test_an_unchanged_call_that_a_new_import_made_dangerous_is_found(tmp_path: Path) -> None:
    call = "\n\ndef f(x):\n    return load(x)\n"
    result = scan(
        tmp_path,
        {"a.py": "from pickle import loads as load" + call},
        {"a.py": "from json import loads as load" + call},
    )
    assert lines(result, "py.unsafe-deserialisation") == [4]


@pytest.mark.parametrize("mark", ["# nosec", "# nosec B602", "# noqa: S602", "# nosemgrep"])
def test_an_authors_own_suppression_is_shown_and_not_obeyed(tmp_path: Path, mark: str) -> None:
    result = scan(tmp_path, {"a.py": f"import pickle\npickle.loads(x)  {mark}\n"})
    (finding,) = result.findings
    assert finding.suppressed_by in ("nosec", "noqa", "nosemgrep")


@pytest.mark.parametrize("path", ["a.pyw", "tests/a.py", "vendor/.git_x/a.py", "run"])
def test_no_name_hides_an_attack(tmp_path: Path, path: str) -> None:
    text = "#!/usr/bin/env python3\nimport base64\nexec(base64.b64decode(b'cHJpbnQoMSk='))\n"
    result = scan(tmp_path, {path: text})
    assert lines(result, "py.decoded-code") == [3]
    assert max(f.severity.rank for f in result.findings) == Severity.CRITICAL.rank


def test_weaknesses_in_tests_are_low(tmp_path: Path) -> None:
    text = "import pickle\npickle.loads(x)\n"
    assert scan(tmp_path, {"tests/test_a.py": text}).findings[0].severity is Severity.LOW


def test_notebook_cells_are_looked_at(tmp_path: Path) -> None:
    cell = {
        "cell_type": "code",
        "source": ["import pickle\n", "pickle.loads(x)"],
        "metadata": {},
        "outputs": [],
    }
    kernel = {"kernelspec": {"language": "python"}}
    text = json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    assert "py.unsafe-deserialisation" in {f.rule_id for f in scan(tmp_path, {"n.ipynb": text}).findings}


BOMBS: dict[str, str | bytes] = {
    "nested brackets": "x = " + "[" * 5000,
    "nested parentheses": "x = " + "(" * 100_000 + ")" * 100_000,
    "nested calls": "x = " + "f(" * 150 + ")" * 150,
    "long sum": "x = 0" + " + 0" * 100_000,
    "long text sum": "x = ''" + " + 'a'" * 20_000,
    "long attribute chain": "import a\nx = a" + ".b" * 20_000,
    "call chain": "x = a" + ".b()" * 5_000,
    "not chain": "x = " + "not " * 5_000 + "1",
    "if nesting": "".join(f"{' ' * i}if x:\n" for i in range(95)) + " " * 95 + "pass\n",
    "null byte": b"x = 1\0\nimport os\n",
    "one long line": "x = [" + "1," * 500_000 + "]\n",
    "many names": "".join(f"a{i} = a{i - 1}\n" for i in range(1, 4000)) + "eval(a3999)\n",
    "self reference": "x = x + x\ny = y.z\nfor z in z: z(z)\neval(x, y, z)\n",
    "one name bound often": "".join(f"x = x + {i}\n" for i in range(3000)) + "eval(x)\n",
    "text multiplication": "x = 'a' * 9999999999\ny = 'a' * 60000 * 60000\neval(x + y)\n",
    "wide format": "eval('%999999999d' % 1)\neval('{:>999999999}'.format(1))\n",
    "decompression": f"import zlib\nexec(zlib.decompress({zlib.compress(bytes(10**7))!r}))\n",
    "regex": "import re\nre.compile('" + "(" * 90 + "a+" + ")+" * 90 + "$')\n",
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.slow
def test_a_bomb_costs_at_most_itself(tmp_path: Path, name: str) -> None:
    after = "import pickle\npickle.loads(x)\n"
    started = time.monotonic()
    result = scan(tmp_path, {"a_bomb.py": BOMBS[name], "b.py": after})
    assert time.monotonic() - started < 60
    assert [f.primary.path for f in result.findings if f.rule_id == "py.unsafe-deserialisation"] == ["b.py"]
    if "a_bomb.py" in {f.primary.path for f in result.findings if f.rule_id == "unscanned-file"}:
        assert result.stages[0].outcome is StageOutcome.DEGRADED
        assert "a_bomb.py" in result.stages[0].reason


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    result = scan(tmp_path, {"a.py": "def f(:\n", "b.py": "x = 1\n"})
    assert result.stages[0].outcome is StageOutcome.DEGRADED
    ours = ".".join(map(str, sys.version_info[:2]))
    why = f"a.py: SyntaxError in line 1: not the syntax of Python {ours}, on which gate runs"
    assert why in result.stages[0].reason
    assert "b.py" not in result.stages[0].reason


def test_an_import_is_unknown_only_where_neither_tree_nor_manifest_has_it() -> None:
    code = "import zz_house_tools\nimport zz_declared_thing\nimport zz_invented_thing\n"
    head = {
        "app/a.py": code,
        "src/zz_house_tools/__init__.py": "",
        "requirements.txt": "zz-declared.thing>=1\n",
    }
    findings = [f for f in PyAst().scan(make_request(head)).findings if f.rule_id == "py.unknown-import"]
    assert [f.evidence["module"] for f in findings] == ["zz_invented_thing"]
    assert findings[0].severity.value == "low"


SEARCH = """
from flask import Flask, request
import sqlite3

app = Flask(__name__)


def find(db, name):
    query = "SELECT * FROM t WHERE n = '" + name + "'"
    return db.execute(query).fetchall()


@app.get("/s")
def s():
    q = request.args["q"]
    text = q.strip()
    return str(find(sqlite3.connect("x"), text))
"""


def test_a_flow_is_told_with_its_way_from_the_request_to_the_sink(tmp_path: Path) -> None:
    (found,) = [f for f in scan(tmp_path, {"app.py": SEARCH}).findings if f.rule_id == "py.sql-built"]
    assert found.primary.line == 10
    assert [place.line for place in found.locations if place.kind == "related"] == [15, 16, 17, 9]
    assert found.evidence["from"] == 'line 15: q = request.args["q"]'


def test_without_an_outsider_there_is_no_way(tmp_path: Path) -> None:
    inner = SEARCH.replace('request.args["q"]', '"mugs"')
    for found in scan(tmp_path, {"app.py": inner}).findings:
        assert "from" not in found.evidence
        assert len(found.locations) == 1


def _tangled(functions: int) -> str:
    """A file whose functions pass their values to one another, which takes long to follow."""
    text = ["import subprocess", "import pickle", ""]
    for n in range(functions):
        text.append(f"def f{n}(db, a, b, c):")
        text += [f"    a = a + f{(n * k + k) % functions}(db, b, c + a, a)" for k in range(1, 9)]
        text += ['    db.execute("SELECT " + a + " FROM t WHERE b = \'" + b + "\'")', "    return a + b", ""]
    return "\n".join([*text, "def last(x):", "    return pickle.loads(x)", ""])


def test_values_that_take_too_long_to_follow_stop_no_other_rule(tmp_path: Path) -> None:
    text = _tangled(60)
    result = scan(tmp_path, {"a.py": text})
    assert lines(result, "py.unsafe-deserialisation") == [text.count("\n")]
    (unread,) = [f for f in result.findings if f.rule_id == "unscanned-file"]
    assert unread.evidence["reason"].startswith("no time left for py.")
    assert [s.outcome for s in result.stages] == [StageOutcome.DEGRADED]


def test_a_rule_without_time_keeps_what_it_found(tmp_path: Path) -> None:
    module = parse("a.py", b"import os, pickle\n\ndef f(x):\n    os.system('ls ' + x)\n    pickle.loads(x)\n")
    module.until = 0.0
    unfinished: list[str] = []
    found = {rule.meta.id for rule, _ in hits(module, unfinished=unfinished)}
    assert "py.shell-command" in unfinished
    assert "py.unsafe-deserialisation" in found


def test_a_weakness_whose_line_only_got_an_annotation_is_not_new() -> None:
    old = "import subprocess\n\n\ndef run(command):\n    done = subprocess.run(command, shell=True)\n"
    new = old.replace("done =", "done: object =").replace("(command):", "(command: str) -> object:")
    assert PyAst().scan(make_request({"a.py": old})).findings
    assert not PyAst().scan(make_request({"a.py": new}, {"a.py": old})).findings
    other = old.replace("(command, shell", "(command + '!', shell")
    assert PyAst().scan(make_request({"a.py": other}, {"a.py": old})).findings


def test_a_weakness_that_gets_worse_on_an_unchanged_line_is_new() -> None:
    text = (
        "import os\n\nfrom flask import request\n\n\ndef run():\n    name = {}\n    os.system('ls ' + name)\n"
    )
    old, new = text.format("str(int('1'))"), text.format("request.args['name']")
    found = PyAst().scan(make_request({"a.py": new}, {"a.py": old})).findings
    assert [f.severity.value for f in found if f.rule_id == "py.shell-command"] == ["high"]


def test_the_end_of_a_long_expression_counts() -> None:
    text = "import os\n\n\ndef run(a, b):\n    os.system('{}' + {})\n"
    old, new = text.format("x" * 2_500, "a"), text.format("x" * 2_500, "b")
    assert PyAst().scan(make_request({"a.py": new}, {"a.py": old})).findings
    assert not PyAst().scan(make_request({"a.py": old.replace("a, b", "a, c")}, {"a.py": old})).findings

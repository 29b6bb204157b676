"""One file that a scanner could not read: what follows depends on what it is and who else read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.model.rule import Severity
from gate.model.stage import StageOutcome
from gate.prescreen.outcome import ended
from gate.prescreen.run import prescreen
from gate.prescreen.unread import settle
from gate.prescreen.views import make_views
from tests.prescreen_support import make_request

TEXTS = {
    "a.py": "x = 1\n",
    "a.yaml": "x: 1\n",
    ".github/workflows/a.yml": "on: push\n",
    "a.js": "let x = 1;\n",
    "pyproject.toml": "[project]\n",
    "a.rs": "fn main() {}\n",
}


@pytest.mark.parametrize(
    ("path", "unread", "outcome"),
    [
        ("a.py", ("bandit",), StageOutcome.DONE),
        ("a.py", ("bandit", "semgrep", "secrets"), StageOutcome.DONE),
        ("a.py", ("bandit", "pyast", "semgrep"), StageOutcome.DEGRADED),
        ("a.py", ("bandit", "pyast"), StageOutcome.DEGRADED),
        ("a.py", ("pyast",), StageOutcome.DONE),
        ("a.yaml", ("semgrep", "secrets", "hidden-text"), StageOutcome.DONE),
        (".github/workflows/a.yml", ("semgrep",), StageOutcome.DEGRADED),
        ("pyproject.toml", ("dependencies",), StageOutcome.DEGRADED),
        ("a.js", ("secrets",), StageOutcome.DONE),
        ("a.js", ("semgrep",), StageOutcome.DONE),
        ("gone.js", ("files",), StageOutcome.DEGRADED),
        ("a.rs", ("semgrep",), StageOutcome.DEGRADED),
        ("gone.py", ("files",), StageOutcome.DEGRADED),
        ("gone.yaml", ("files",), StageOutcome.DONE),
    ],
)
def test_who_else_read_it(path: str, unread: tuple[str, ...], outcome: StageOutcome, tmp_path: Path) -> None:
    views = make_views(make_request(TEXTS, scratch=tmp_path))
    results = [ended(name, (), [(path, "took too long")]) for name in unread]
    for result in settle(results, views):
        (stage,), (finding,) = result.stages, result.findings
        assert stage.outcome is outcome
        assert path in stage.reason
        kept = outcome is StageOutcome.DEGRADED or path.endswith(".js")  # not the scanner that knows it best
        assert finding.severity is (Severity.MEDIUM if kept else Severity.LOW)


def test_a_large_description_of_an_interface_and_a_table_are_no_hole(tmp_path: Path) -> None:
    paths = {f"/things/{n}": {"get": {"summary": f"Thing {n} " * 8, "tags": ["a"] * 8}} for n in range(7000)}
    table = "TABLE = [\n" + "".join(f"    ({n}, 'name {n}', {n}.5),\n" for n in range(20_000)) + "]\n"
    files = {"openapi.json": json.dumps({"openapi": "3.1.0", "paths": paths}, indent=1), "table.py": table}
    assert len(files["openapi.json"]) > 1_500_000
    looked = prescreen(make_request(files, scratch=tmp_path))
    assert [stage for stage in looked.stages if not stage.looked] == []


TSX = """
show(
  '/one',
  (c) => c.html(<h1>{c.get('one')}</h1>)
)

show(
  '/two',
  (c) => c.html(<h1>{c.get('two')}</h1>)
)

export const run = (text: string) => eval(text)
"""


def test_markup_in_typescript_and_javascript_is_read(tmp_path: Path) -> None:
    jsx = "export const One = () => <p>{1}</p>\nexport const run = (text) => eval(text)\n"
    looked = prescreen(make_request({"a.tsx": TSX, "b.jsx": jsx, "c.js": jsx}, scratch=tmp_path))
    assert [stage for stage in looked.stages if not stage.looked] == []
    found = {(f.rule_id, f.primary.path, f.primary.line) for f in looked.findings}
    dynamic = [("a.tsx", 12), ("b.jsx", 2), ("c.js", 2)]
    assert {("js-dynamic-code", *place) for place in dynamic} <= found, found


def test_javascript_that_semgrep_cannot_parse_keeps_its_finding_and_is_no_hole(tmp_path: Path) -> None:
    looked = prescreen(make_request({"a.ts": TSX}, scratch=tmp_path))  # markup, in a file that has none
    assert [stage for stage in looked.stages if not stage.looked] == []
    (finding,) = [f for f in looked.findings if f.rule_id == "unscanned-file"]
    assert finding.severity is Severity.MEDIUM


def test_broken_python_is_still_a_hole(tmp_path: Path) -> None:
    looked = prescreen(make_request({"a.py": "import os\nos.system('x'\n"}, scratch=tmp_path))
    assert any(stage.outcome is StageOutcome.DEGRADED for stage in looked.stages)


def test_syntax_newer_than_this_python_is_looked_at_by_all(tmp_path: Path) -> None:
    text = (
        "import subprocess\n\n\ndef go[T](x: T, d):\n"
        '    subprocess.run(f"rm {d["a"]}", shell=True)\n    eval(f"{d["b"]}")\n'
    )
    looked = prescreen(make_request({"a.py": text}, scratch=tmp_path))
    assert [stage for stage in looked.stages if not stage.looked] == []
    lines = {(f.rule_id.partition(".")[0], f.primary.line) for f in looked.findings}
    assert {("py", 6), ("bandit-b602", 5)} <= lines, lines

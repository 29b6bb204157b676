"""Values of requests across files, what base had already, limits; the pairs are in tests/rules/injection."""

from __future__ import annotations

import pytest

from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.prescreen.scanners import injection
from gate.prescreen.scanners.injection import Injection
from tests.prescreen_support import make_request
from tests.rules.injection.across import ACROSS
from tests.rules.injection.services import SERVICES

ROUTE = """const { run } = require('./helper');
app.get('/x', async (req, res) => {
  await run(req.query.id);
});
"""
HELPER = "exports.run = async function (id) {\n  return db.query(`select * from t where id = ${id}`);\n};\n"
BOUND = "exports.run = async function (id) {\n  return db.query('select * from t where id = ?', [id]);\n};\n"


def told(head: dict[str, str], base: dict[str, str] | None = None) -> list[Finding]:
    return list(Injection().scan(make_request(head, base or {})).findings)


def test_a_new_route_gives_an_unchanged_helper_its_sink_something() -> None:
    found = told({"a/route.js": ROUTE, "a/helper.js": HELPER}, {"a/helper.js": HELPER})
    assert [(f.rule_id, f.primary.path, f.primary.line) for f in found] == [
        ("flow.sql-built", "a/route.js", 3)
    ]
    assert found[0].severity is Severity.HIGH
    assert found[0].evidence["sink in"] == "a/helper.js:2"
    assert [(place.path, place.line) for place in found[0].locations[1:]] == [("a/helper.js", 2)]


def test_a_changed_helper_is_called_by_an_unchanged_route() -> None:
    head, base = {"a/route.js": ROUTE, "a/helper.js": HELPER}, {"a/route.js": ROUTE, "a/helper.js": BOUND}
    found = told(head, base)
    assert [(f.rule_id, f.primary.path, f.primary.line) for f in found] == [
        ("flow.sql-built", "a/helper.js", 2)
    ]
    assert "a/route.js line 3" in found[0].evidence["from"]


def test_what_base_had_is_not_told_again() -> None:
    base = {"a/route.js": ROUTE, "a/helper.js": HELPER}
    assert told({"a/route.js": f"// said anew\n{ROUTE}", "a/helper.js": f"\n{HELPER}"}, base) == []


def test_a_helper_that_binds_is_safe() -> None:
    assert told({"a/route.js": ROUTE, "a/helper.js": BOUND}) == []


def test_nothing_is_looked_at_without_a_program_of_these_languages() -> None:
    done = Injection().scan(make_request({"a.py": "eval(input())\n", "README.md": "eval"}, {}))
    assert done.findings == ()
    assert done.stages[0].reason == ""


@pytest.mark.parametrize("name", ACROSS)
def test_a_value_is_followed_into_another_file(name: str) -> None:
    files, rule = ACROSS[name]
    found = told(files)
    assert [f.rule_id for f in found] == [rule]
    first, *others = [path for path in files if not path.endswith(".json")]
    assert {place.path for place in found[0].locations} == {first, *others}


@pytest.mark.parametrize("name", ACROSS)
def test_only_the_caller_changed(name: str) -> None:
    files, rule = ACROSS[name]
    first, *others = [path for path in files if not path.endswith(".json")]
    found = told(files, {path: text for path, text in files.items() if path != first})
    assert [(f.rule_id, f.primary.path) for f in found] == [(rule, first)]
    assert others[0] in found[0].evidence["sink in"]


def test_an_unknown_function_makes_it_less_sure() -> None:
    found = told({"a.js": "app.get('/x', (req, res) => { db.query('select ' + morph(req.query.q)); });\n"})
    assert [(f.severity, f.confidence) for f in found] == [(Severity.MEDIUM, Confidence.LOW)]


def test_an_upload_that_php_itself_keeps_under_its_senders_ending_is_high() -> None:
    keep = (
        "<?php\nnamespace App;\nfinal class Kept {\n  public static function keep(array $file): string {\n"
        "    $ending = strtolower(pathinfo($file['name'], PATHINFO_EXTENSION));\n"
        "    $name = bin2hex(random_bytes(8)) . '.' . $ending;\n"
        "    if (!move_uploaded_file($file['tmp_name'], __DIR__ . '/u/' . $name)) {\n"
        "      throw new \\Exception('no');\n    }\n    return $name;\n  }\n}\n"
    )
    call = "<?php\nrequire __DIR__ . '/src/Kept.php';\nuse App\\Kept;\n"
    call += "$kept = Kept::keep($_FILES['picture'] ?? []);\n"
    found = told({"src/Kept.php": keep, "index.php": call})
    assert [(f.rule_id, f.severity) for f in found] == [("flow.upload-name", Severity.HIGH)]


def test_tests_and_bundles_are_left_out() -> None:
    text = "app.get('/x', (req, res) => { eval(req.query.q); });\n"
    assert told({"test/a.test.js": text, "dist/a.js": text, "a.min.js": text}) == []
    assert [f.rule_id for f in told({"src/a.js": text})] == ["flow.dynamic-code"]


def test_too_many_files_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(injection, "_MOST_FILES", 1)
    text = "app.get('/x', (req, res) => { eval(req.query.q); });\n"
    done = Injection().scan(make_request({"a.js": text, "b.js": text}, {}))
    assert "past the first 1 files" in done.stages[0].reason


def test_entries_of_an_object_are_apart() -> None:
    text = (
        "function list(o) { db.query('select * from t order by ' + o.sort); }\n"
        "app.get('/x', (req, res) => { list({ sort: %s, page: req.query.page }); });\n"
    )
    assert told({"a.js": text % "'name'"}) == []
    assert [f.rule_id for f in told({"a.js": text % "req.query.sort"})] == ["flow.sql-built"]


def test_what_a_function_gives_back_comes_from_its_own_call() -> None:
    text = (
        "const same = (v) => v.trim();\n"
        "app.get('/x', (req, res) => {\n  res.json(same(req.query.a));\n"
        "  db.query('select ' + same('b'));\n});\n"
    )
    assert told({"a.js": text}) == []


def test_a_function_that_says_it_escapes_is_believed_unless_it_only_hands_on() -> None:
    text = "app.get('/x', (req, res) => { db.query('select ' + sanitizeName(req.query.q)); });\n"
    assert told({"a.js": text}) == []
    lying = f"function sanitizeName(v) {{ return v; }}\n{text}"
    assert [f.rule_id for f in told({"a.js": lying})] == ["flow.sql-built"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_value_is_followed_into_a_class_of_another_file(name: str) -> None:
    files, twin, rule = SERVICES[name]
    assert [f.rule_id for f in told(files)] == [rule]
    assert told(files | twin) == []

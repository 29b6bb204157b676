"""Semgrep's engine by both doors: the same findings, and nothing in the change can make it look away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.errors import InconclusiveError
from gate.prescreen.outcome import ended
from gate.prescreen.scanners import semgrep, semgrep_rules
from gate.prescreen.scanners.semgrep import (
    Matches,
    ScanTarget,
    Semgrep,
    _by_probed,
    core_path,
    run_engine,
    works,
)
from gate.prescreen.scanners.semgrep_cli import by_front
from gate.resources import rules_dir
from tests.prescreen_support import make_request

RULES: dict[str, list[dict[str, Any]]] = {
    "rules": [
        {
            "id": "t.eval",
            "languages": ["python"],
            "severity": "ERROR",
            "message": "Eval. More.",
            "pattern": "eval(...)",
            "metadata": {"cwe": "CWE-95: x", "topic": "exec", "confidence": "HIGH", "title": "eval"},
        },
        {
            "id": "t.js",
            "languages": ["javascript", "typescript"],
            "severity": "WARNING",
            "message": "m",
            "pattern": "eval(...)",
        },
        {"id": "t.sh", "languages": ["bash"], "severity": "INFO", "message": "m", "pattern": "curl ... | sh"},
        {
            "id": "t.word",
            "languages": ["regex"],
            "severity": "INFO",
            "message": "m",
            "pattern-regex": "h[a]lt-word",
        },
    ]
}


@pytest.fixture
def own_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The scanner with the rules above instead of the shipped ones."""
    merged = json.dumps(RULES).encode()
    monkeypatch.setattr(semgrep, "merged_rules", lambda: merged)
    monkeypatch.setattr(
        semgrep, "rule_languages", lambda: {n for r in RULES["rules"] for n in r["languages"]}
    )
    monkeypatch.setattr(
        semgrep, "semgrep_rules", lambda: {r["id"]: semgrep_rules._meta(r) for r in RULES["rules"]}
    )
    return tmp_path


def scan(head: Any, base: Any = None, **more: Any) -> list[tuple[str, str, int | None, str | None]]:
    result = Semgrep().scan(make_request(head, base, **more))
    assert [s for s in result.stages if not s.looked] == []
    return [(f.rule_id, f.primary.path, f.primary.line, f.suppressed_by) for f in result.findings]


def test_every_language_by_its_content(own_rules: Path) -> None:
    head = {
        "a.py": "eval(x)\n",
        "b.js": "eval(x);\n",
        "c.ts": "const a: string = eval(x);\n",
        "install": "#!/bin/bash\ncurl https://x.invalid | sh\n",
        "README.md": "halt-word\n",
        "plain": "import os\neval(os)\n",
    }
    assert {(r, p) for r, p, _, _ in scan(head)} == {
        ("t.eval", "a.py"),
        ("t.js", "b.js"),
        ("t.js", "c.ts"),
        ("t.sh", "install"),
        ("t.word", "README.md"),
        ("t.eval", "plain"),
    }


def test_nosemgrep_is_reported_and_does_not_act(own_rules: Path) -> None:
    assert scan({"a.py": "eval(x)  # nosemgrep\n"}) == [("t.eval", "a.py", 1, "nosemgrep")]
    assert scan({"a.py": "# nosemgrep: t.eval\neval(x)\n"}) == [("t.eval", "a.py", 2, "nosemgrep")]


@pytest.mark.parametrize(
    "path", ["tests/a.py", "vendor/a.py", "node_modules/x/a.py", ".git-x/a.py", "caf\udce9.py", "a b;c.py"]
)
def test_no_name_excludes_a_file(own_rules: Path, path: str) -> None:
    head = {path: "eval(x)\n", ".semgrepignore": "*\n", ".gitignore": "*\n", ".semgrep.yml": "rules: []\n"}
    assert scan(head) == [("t.eval", path, 1, None)]


def test_a_file_of_two_megabytes_is_scanned(own_rules: Path) -> None:
    assert scan({"a.py": f"x = '{'a' * 2000}'\n" * 1000 + "eval(x)\n"}) == [("t.eval", "a.py", 1001, None)]


def test_only_what_is_new(own_rules: Path) -> None:
    old = "eval(x)\n"
    assert scan({"a.py": "y = 2\n" * 9 + old}, {"a.py": old}) == []
    assert len(scan({"a.py": "y = 2\n" + old * 3}, {"a.py": old})) == 2


def test_a_file_the_engine_gives_up_is_named_and_costs_nothing_else(
    own_rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semgrep, "PER_RULE", 0.2)
    monkeypatch.setattr(semgrep, "PER_RULE_ALONE", 0.2)
    head = {"slow.py": "eval(1)\nx = " + "[" * 60_000 + "\n", "a.py": "eval(x)\n"}
    result = Semgrep().scan(make_request(head))
    assert {(f.rule_id, f.primary.path) for f in result.findings} == {
        ("t.eval", "a.py"),
        ("unscanned-file", "slow.py"),
    }
    (stage,) = result.stages
    assert not stage.looked
    assert "slow.py" in stage.reason


def test_a_file_given_up_on_a_busy_machine_is_looked_at_once_more(
    own_rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semgrep, "PER_RULE", 0.02)
    monkeypatch.setattr(semgrep, "PER_RULE_ALONE", 20.0)
    monkeypatch.setattr(semgrep, "PER_FILE", 20.0)
    slow = "eval(1)\n" + "".join(f"x = f({n})\n" for n in range(8_000))
    result = Semgrep().scan(make_request({"slow.py": slow, "a.py": "eval(x)\n"}))
    assert {(f.rule_id, f.primary.path) for f in result.findings} == {
        ("t.eval", "a.py"),
        ("t.eval", "slow.py"),
    }
    assert all(stage.looked for stage in result.stages)


def targets(folder: Path, files: dict[str, str]) -> list[ScanTarget]:
    out = []
    for index, (name, text) in enumerate(files.items()):
        file = folder / f"{index:06d}{Path(name).suffix}"
        file.write_text(text)
        language = {
            ".py": "python",
            ".js": "javascript",
            ".ts": "typescript",
            ".sh": "bash",
            ".yaml": "yaml",
        }.get(Path(name).suffix, "regex")
        out.append(ScanTarget(file=file, project_path=f"/{name}", analyzer=language))
    return out


def shown(result: Matches) -> set[tuple[str, str, int, int]]:
    return {(m.rule, Path(m.file).name, m.first, m.last) for m in result.matches}


@pytest.mark.slow
def test_both_doors_find_the_same(tmp_path: Path) -> None:
    """The engine called directly against `semgrep scan`, on the rules' own test files where there are any."""
    core = core_path()
    assert core is not None
    assert works(core)
    files = {
        "a.py": "eval(x)\nfoo(\n  eval(y))\n",
        "b.js": "eval(x);\n",
        "c.sh": "curl https://x.invalid | sh\n",
    }
    rules = json.dumps(RULES).encode()
    shipped = [
        p for p in sorted((rules_dir() / "semgrep").rglob("*")) if p.suffix in (".py", ".js", ".ts", ".sh")
    ]
    if shipped:
        rules = semgrep_rules.merged_rules()
        files = {p.name: p.read_text() for p in shipped}
    (tmp_path / "semgrep-rules.json").write_bytes(rules)
    chosen = targets(tmp_path, files)
    one = run_engine(chosen, tmp_path, 120)
    two = by_front(chosen, tmp_path / "semgrep-rules.json", tmp_path, 120)
    plain = {t.file.name for t in chosen}
    assert one.matches
    assert shown(one) == {row for row in shown(two) if row[1] in plain}
    assert one.gave_up == two.gave_up == {}


def test_an_engine_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    fake = tmp_path / "semgrep-core"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    assert not works(fake)


@pytest.mark.parametrize(
    "does",
    ["exit 3", """echo '{"results": [], "paths": {"scanned": []}, "errors": []}'""", "echo '{'"],
    ids=["ends", "finds-nothing", "broken"],
)
def test_what_an_engine_says_that_does_not_work_does_not_count(tmp_path: Path, does: str) -> None:
    fake = tmp_path / "semgrep-core"
    fake.write_text(f"#!/bin/sh\n{does}\n")
    fake.chmod(0o755)
    rules = tmp_path / "semgrep-rules.json"
    rules.write_text(json.dumps(RULES))
    chosen = targets(tmp_path, {"a.py": "eval(x)\n"})
    assert _by_probed(fake, chosen, rules, tmp_path, 20.0, 1.0) is None
    assert _by_probed(core_path() or fake, chosen, rules, tmp_path, 60.0, 1.0) is not None


def test_the_front_says_so_when_it_cannot_scan(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text("{")
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    target = ScanTarget(file=file, project_path="/a.py", analyzer="python")
    with pytest.raises(InconclusiveError):
        by_front([target], tmp_path / "rules.json", tmp_path, 60)


def test_the_merged_rules_are_cached_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules" / "semgrep").mkdir(parents=True)
    one = tmp_path / "rules" / "semgrep" / "a.yaml"
    one.write_text("rules:\n- {id: a.b, languages: [python], severity: INFO, message: m, pattern: f()}\n")
    monkeypatch.setattr(semgrep_rules, "rules_dir", lambda: tmp_path / "rules")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    semgrep_rules.merged_rules.cache_clear()
    try:
        first = semgrep_rules.merged_rules()
        semgrep_rules.merged_rules.cache_clear()
        assert semgrep_rules.merged_rules() == first
        one.write_text(one.read_text().replace("a.b", "a.c"))
        semgrep_rules.merged_rules.cache_clear()
        assert json.loads(semgrep_rules.merged_rules())["rules"][0]["id"] == "a.c"
        assert len(list((tmp_path / "cache" / "gate").iterdir())) == 2
        (tmp_path / "cache" / "gate").chmod(0o777)
        assert semgrep_rules._cache_folder() is None
    finally:
        semgrep_rules.merged_rules.cache_clear()


def test_what_semgrep_cannot_parse_is_not_blamed_on_python() -> None:
    stage = ended("semgrep", (), [("a.js", "Semgrep gave up (Syntax error)")]).stages[0]
    assert stage.reason == "could not look at a.js: Semgrep gave up (Syntax error)"

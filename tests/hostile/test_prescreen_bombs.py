"""Files made to stop a scanner: one costs at most its own deadline, is named, and hides nothing beside it."""

from __future__ import annotations

import os

import pytest

from gate.model.stage import StageOutcome
from gate.prescreen.interface import Prescreened
from gate.prescreen.run import prescreen
from tests.prescreen_support import make_request

EVIL = "import os\n\n\ndef go(name):\n    os.system('ls ' + name)\n"
HOLDS = b"import os\nos.system(input())\n"
BOMBS: dict[str, tuple[str, bytes]] = {
    "sum": ("a.py", HOLDS + b"x = 1" + b"+0" * 209_644 + b"\n"),
    "parentheses": ("a.py", HOLDS + b"x = " + b"(" * 5000 + b")" * 5000 + b"\n"),
    "brackets": ("a.py", HOLDS + b"x = " + b"[" * 100_000 + b"\n"),
    "unary": ("a.py", HOLDS + b"x = " + b"-" * 100_000 + b"1\n"),
    "attributes": ("a.py", HOLDS + b"x = a" + b".b" * 100_000 + b"\n"),
    "deep-blocks": (
        "a.py",
        HOLDS + b"".join(b" " * i + b"if x:\n" for i in range(99)) + b" " * 99 + b"pass\n",
    ),
    "string-of-quotes": ("a.py", HOLDS + b"x = '" + b"\\" * 1_000_001 + b"\n"),
    "js-brackets": ("a.js", b"eval(a);" + b"[" * 50_000 + b"]" * 50_000),
    "json": ("package.json", b'{"a":' * 100_000),
    "toml": ("pyproject.toml", b"a = " + b"[" * 100_000),
    "notebook": ("a.ipynb", b'{"cells":' + b"[" * 100_000),
    "yaml": ("a.yaml", b"a: &a [x]\n" + b"".join(b"k%d: &k%d [*a,*a]\n" % (i, i) for i in range(2000))),
    "utf7": ("b.py", b"# coding: utf-7\n" + b"+AAo-" * 200_000),
    "blanks": ("a.py", HOLDS + b"x = 1" + b" " * 3_000_000 + b";import os\n"),
    "spaced": ("a.py", HOLDS + (b"x = 1" + b" " * 90 + b";y\n") * 20_000),
    "bidi": ("a.py", HOLDS + ("\u202e" * 500_000 + "\n").encode()),
    "secret-words": ("a.cfg", b"token_" * 500_000 + b"=" + b"a" * 500_000 + b"\n"),
    "base64": ("a.cfg", b"token=" + b"QUJD" * 500_000 + b"\n"),
    "urls": ("a.cfg", b"://" * 300_000 + b"\n"),
    "many-secrets": ("a.cfg", b"".join(b"password_%d = Zx%dQw7Lp9Rt\n" % (i, i) for i in range(20_000))),
}


def look(head: dict[str, str | bytes]) -> tuple[Prescreened, float]:
    """What is found, and the seconds of processor time it cost: a busy machine is no slow scanner."""
    before = sum(os.times()[:4])
    result = prescreen(make_request(head))
    return result, sum(os.times()[:4]) - before


@pytest.mark.parametrize("name", list(BOMBS))
@pytest.mark.slow
def test_a_bomb_costs_its_own_deadline_and_hides_nothing(name: str) -> None:
    path, data = BOMBS[name]
    result, seconds = look({path: data, "evil/evil.py": EVIL})
    assert ("bandit-b605", "evil/evil.py") in {(f.rule_id, f.primary.path) for f in result.findings}
    assert seconds < 15
    for stage in result.stages:
        assert stage.outcome is not StageOutcome.FAILED, stage
        assert "evil/evil.py" not in stage.reason
        if not stage.looked:
            assert path in stage.reason
    if any(not stage.looked for stage in result.stages):
        assert ("unscanned-file", path) in {(f.rule_id, f.primary.path) for f in result.findings}


@pytest.mark.parametrize("name", ["sum", "brackets", "string-of-quotes", "json", "toml", "notebook"])
@pytest.mark.slow
def test_what_could_not_be_parsed_is_said(name: str) -> None:
    path, data = BOMBS[name]
    result, _ = look({path: data})
    assert any(not stage.looked for stage in result.stages)
    assert ("unscanned-file", path) in {(f.rule_id, f.primary.path) for f in result.findings}


@pytest.mark.slow
def test_twenty_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    head: dict[str, str | bytes] = {"big.py": b"x = 'abcdefgh' + str(1)\n" * 870_000, "evil.py": EVIL}
    result, seconds = look(head)
    assert ("bandit-b605", "evil.py") in {(f.rule_id, f.primary.path) for f in result.findings}
    assert seconds < 20


def test_an_overlong_file_is_named_and_not_read() -> None:
    from gate.prescreen import scope

    result, _ = look({"huge.bin": bytes(scope.TOO_LARGE + 1), "evil.py": EVIL})
    (files,) = [s for s in result.stages if s.name == "prescreen:files"]
    assert files.outcome is StageOutcome.DEGRADED
    assert "huge.bin" in files.reason


@pytest.mark.parametrize("coding", ["utf-7", "unicode_escape", "raw_unicode_escape"])
def test_code_hidden_by_an_encoding_is_seen_as_python_sees_it(coding: str) -> None:
    newline = b"+AAo-" if coding == "utf-7" else b"\\u000a"
    text = (
        b"# coding: "
        + coding.encode()
        + b"\n# a harmless note"
        + newline
        + b"import os; os.system(input())\n"
    )
    result, _ = look({"a.py": text})
    rules = {f.rule_id for f in result.findings}
    assert "hidden.encoding" in rules
    assert "bandit-b605" in rules


def test_a_line_hidden_behind_a_carriage_return_is_seen() -> None:
    result, _ = look({"a.py": b"# note\rimport os; os.system(input())\nx = 1\n"})
    assert {"hidden.line-end", "bandit-b605"} <= {f.rule_id for f in result.findings}


def test_full_width_names_are_resolved() -> None:
    result, _ = look({"a.py": "\uff45\uff56\uff41\uff4c(input())\n"})
    assert {"hidden.homoglyph", "bandit-b307"} <= {f.rule_id for f in result.findings}

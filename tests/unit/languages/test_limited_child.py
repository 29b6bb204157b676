"""One bad file never costs the others."""

from __future__ import annotations

import ast
import time

from gate.languages.limited_child import PARSED, Reader, scan_isolated
from gate.prescreen.python_ast.scanner import PyAst
from gate.prescreen.scanners.bandit import Bandit
from gate.prescreen.scanners.semgrep import Semgrep
from tests.prescreen_support import make_request

HERE = "gate.languages.limited_child_selftest"


def test_values_come_back_in_order_and_a_bad_one_does_not_cost_the_others() -> None:
    files = [("a", b"1"), ("bad\udcff", b"raise"), ("b", b"2"), ("memory", b"memory"), ("c", b"3")]
    results = scan_isolated(Reader(f"{HERE}:behave", str), files)
    assert [r.outcome for r in results] == ["done", "crashed", "done", "out-of-memory", "done"]
    assert [r.value for r in results] == ["a", None, "b", None, "c"]
    assert [r.path for r in results] == ["a", "bad\udcff", "b", "memory", "c"]


def test_a_process_that_ends_well_without_an_answer_is_told_as_that() -> None:
    (result,) = scan_isolated(Reader(f"{HERE}:behave", str), [("leave", b"leave")])
    assert result.outcome == "crashed"
    assert result.reason == "the parser's process gave no answer that can be read"


def test_a_file_that_kills_the_process_is_named_and_the_rest_goes_on() -> None:
    files = [("a", b"1"), ("killer", b"kill"), ("slow", b"spin"), ("exit", b"exit"), ("noise", b"print")]
    start = time.monotonic()
    results = scan_isolated(Reader(f"{HERE}:behave", str, per_file=0.3), files)
    assert [r.outcome for r in results] == ["done", "crashed", "timed-out", "crashed", "done"]
    assert "SIGSEGV" in results[1].reason
    assert results[3].reason == "the parser's process ended with code 7"
    assert time.monotonic() - start < 30


def test_what_the_deadline_left_no_time_for_is_said() -> None:
    results = scan_isolated(
        Reader(f"{HERE}:behave", str, per_file=30), [("s", b"spin"), ("b", b"2")], deadline=0.5
    )
    assert [r.outcome for r in results] == ["timed-out", "not-reached"]


def test_a_path_that_is_not_utf8_survives_the_round_trip() -> None:
    (result,) = scan_isolated(Reader(f"{HERE}:behave", str), [("caf\udce9.py", b"1")])
    assert result.value == "caf\udce9.py"


def test_cpythons_own_nesting_bomb_is_an_outcome() -> None:
    bomb = b"+0" * 209_644
    (first, second) = scan_isolated(
        Reader(f"{HERE}:parse", str), [("bomb.py", bomb), ("fine.py", b"x = 1\n")]
    )
    assert first.outcome in ("crashed", "out-of-memory")
    assert second.value == type(ast.parse("x = 1")).__name__


def test_a_text_too_large_for_a_parser_is_refused_unread_and_the_rest_goes_on() -> None:
    large = b"x = 1\n" * (PARSED // 6 + 1)
    files = [("a", b"x"), ("large", large), ("b", b"y")]
    results = scan_isolated(Reader(f"{HERE}:parse", str, parses=True), files)
    assert [r.outcome for r in results] == ["done", "too-large", "done"]
    assert [r.path for r in results] == ["a", "large", "b"]
    assert "MiB" in results[1].reason


def test_every_parser_names_a_file_too_large_for_it() -> None:
    text = "import os\nos.system(input())\n" + "x = 1\n" * (PARSED // 6 + 1)
    request = make_request({"a.py": text, "b.py": "import os\nos.system(input())\n"})
    for scanner in (Semgrep(), Bandit(), PyAst()):
        result = scanner.scan(request)
        assert not result.stages[0].looked
        assert "a.py: larger than" in result.stages[0].reason
        assert ("a.py", "unscanned-file") in {(f.primary.path, f.rule_id) for f in result.findings}

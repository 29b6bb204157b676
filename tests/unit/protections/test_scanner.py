"""The scanner as a whole: places, severities, tests that are gone, and files that cannot be read."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from gate.model.finding import Finding
from gate.model.stage import StageOutcome
from gate.prescreen.scanners.protections import REMOVED, TESTS, Protections
from gate.protections.compare import losses
from gate.protections.python.reader import read
from tests.prescreen_support import make_request

GUARDED = '''"""Orders."""


def refund_order(user, order):
    if not user.is_admin:
        raise PermissionDenied()
    order.refund()
'''
OPEN = '''"""Orders."""


def refund_order(user, order):
    order.refund()
'''
TEST = """
def test_refund_order():
    assert refund_order(admin, order) is None
    with raises(PermissionDenied):
        refund_order(guest, order)
"""


def _found(
    base: Mapping[str, str], head: Mapping[str, str], renames: Mapping[str, str] | None = None
) -> list[Finding]:
    result = Protections().scan(make_request(head, base, renames=renames))
    assert result.stages[0].outcome is StageOutcome.DONE
    return list(result.findings)


def test_both_versions_are_shown_at_heads_line() -> None:
    (found,) = _found({"a.py": GUARDED}, {"a.py": "# one more line\n" + OPEN})
    assert (found.rule_id, found.primary.path, found.primary.line) == (REMOVED.id, "a.py", 5)
    assert found.evidence["before"].startswith("if not user.is_admin")
    assert found.evidence["base"] == "a.py:5"
    assert found.evidence["after"] == "nothing"
    assert 862 in found.cwe


def test_renamed_file_is_compared() -> None:
    (found,) = _found({"a.py": GUARDED}, {"b.py": OPEN}, {"b.py": "a.py"})
    assert found.primary.path == "b.py"


def test_new_file_is_not() -> None:
    assert _found({"a.py": "A = 1\n"}, {"a.py": "A = 2\n", "b.py": OPEN}) == []


def test_examples_are_low() -> None:
    (found,) = _found({"examples/a.py": GUARDED}, {"examples/a.py": OPEN})
    assert found.severity.value == "low"


def test_condition_of_its_own_is_low() -> None:
    head = GUARDED.replace("    if not", "    if order.total:\n      if not").replace(
        "        raise", "          raise"
    )
    (found,) = _found({"a.py": GUARDED}, {"a.py": head})
    assert (found.severity.value, found.message) == (
        "low",
        "A check of authorisation refuses less than at base.",
    )


def test_notebook_lines_are_its_own() -> None:
    assert _found({"a.ipynb": "{}"}, {"a.ipynb": "{"}) == []


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("X = 1\n", "A test of code that this change edits is deleted."),
        ("@mark.skip\n" + TEST.lstrip(), "A test of code that this change edits is skipped."),
        (
            TEST.replace("    assert", "    ignore ="),
            "A test of code that this change edits asks less than before.",
        ),
    ],
)
def test_missing_tests(head: str, message: str) -> None:
    edited = GUARDED.replace("order.refund()", "order.refund(now())")
    base = {"a.py": GUARDED, "tests/test_a.py": TEST}
    (found,) = _found(base, {"a.py": edited, "tests/test_a.py": head})
    assert (found.rule_id, found.message, found.severity.value) == (TESTS.id, message, "low")


def test_missing_test_with_its_check_is_medium() -> None:
    found = _found({"a.py": GUARDED, "tests/test_a.py": TEST}, {"a.py": OPEN})
    assert {(f.rule_id, f.severity.value) for f in found} == {(REMOVED.id, "medium"), (TESTS.id, "medium")}


def test_moved_and_foreign_tests_are_none() -> None:
    edited = GUARDED.replace("order.refund()", "order.refund(now())")
    base = {
        "a.py": GUARDED,
        "tests/test_a.py": TEST,
        "tests/test_b.py": "def test_other():\n    assert other()\n",
    }
    assert _found(base, {"a.py": edited, "tests/test_c.py": TEST}) == []


def test_javascript_test_skipped() -> None:
    base = {
        "a.js": "function payOut(a) { return send(a); }\n",
        "a.test.js": "it('pays', () => { expect(payOut(1)); });\n",
    }
    head = {
        "a.js": "function payOut(a) { return send(a, 1); }\n",
        "a.test.js": base["a.test.js"].replace("it(", "it.skip("),
    }
    (found,) = _found(base, head)
    assert found.message == "A test of code that this change edits is skipped."


def test_file_that_cannot_be_read_is_named() -> None:
    result = Protections().scan(make_request({"a.py": "def f(:\n"}, {"a.py": GUARDED}))
    assert result.stages[0].outcome is StageOutcome.DEGRADED
    assert result.findings[0].primary.path == "a.py"


def test_broken_base_is_nothing_to_compare() -> None:
    assert _found({"a.py": "def f(:\n"}, {"a.py": OPEN}) == []


def test_late_comparison_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("gate.prescreen.scanners.protections.losses", late)
    result = Protections().scan(make_request({"a.py": OPEN}, {"a.py": GUARDED}))
    assert result.stages[0].outcome is StageOutcome.DEGRADED


def test_too_many_functions_are_not_passed_over() -> None:
    many = "".join(f"def f{i}():\n    pass\n" for i in range(2_100))
    result = Protections().scan(make_request({"a.py": many + OPEN}, {"a.py": GUARDED}))
    assert result.stages[0].outcome is StageOutcome.DEGRADED


def test_functions_that_call_each_other_are_bounded() -> None:
    checks = "".join(
        f"def f{i}(u):\n    if not u.has_permission_{i}: raise E()\n    "
        + "; ".join(f"f{(i * j) % 400}(u)" for j in range(40))
        + "\n"
        for i in range(400)
    )
    base = {"a.py": read("a.py", checks.encode(), {})}
    head = {"a.py": read("a.py", checks.replace("raise E()", "log()").encode(), {})}
    start = time.process_time()
    assert len(losses(base, head, {"a.py": "a.py"})) == 400
    assert time.process_time() - start < 20


def test_javascript_that_cannot_be_compared_is_named_in_the_stage() -> None:
    many = "".join(f"function f{i}() {{}}\n" for i in range(2_100))
    result = Protections().scan(make_request({"a.js": many}, {"a.js": "function f0() {}\n"}))
    assert result.findings == ()
    assert result.stages[0].outcome is StageOutcome.DONE
    assert "a.js" in result.stages[0].reason


def test_a_bundle_is_compared_with_nothing() -> None:
    base = "function a(u) { if (!u.isAdmin) { throw new ForbiddenError(); } go(); }\n"
    assert _found({"a.js": base}, {"a.js": "function a(u) { go(); }" + " " * 30_000}) == []


def test_deep_nesting_is_read() -> None:
    deep = "x = " + "(" * 60 + "1" + ")" * 60 + "\n"
    assert _found({"a.py": deep}, {"a.py": deep + "y = 1\n"}) == []

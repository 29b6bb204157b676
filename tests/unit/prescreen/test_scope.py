"""What is new: what stands on unchanged lines is no news where nobody could look at base."""

from __future__ import annotations

import pytest

from gate.prescreen.interface import Scanner
from gate.prescreen.python_ast.scanner import PyAst
from gate.prescreen.scanners.bandit import Bandit
from tests.prescreen_support import make_request

BROKEN = (
    "def first(:\n    return 1\n\n\nimport pickle, sys\n\n\ndef old(data):\n    return pickle.loads(data)\n"
)
WHOLE = BROKEN.replace("(:", "():")
MORE = "\n\ndef fresh(data):\n    return pickle.loads(data)\n"


@pytest.mark.parametrize("scanner", [PyAst(), Bandit()], ids=lambda scanner: scanner.name)
def test_an_old_line_is_low_where_base_could_not_be_parsed(scanner: Scanner) -> None:
    head, base = {"a.py": WHOLE + MORE}, {"a.py": BROKEN}
    found = {
        f.primary.line: f
        for f in scanner.scan(make_request(head, base)).findings
        if "pickle" in str(f.evidence) and "loads" in str(f.evidence)
    }
    assert (found[9].severity.value, found[9].evidence["base"]) == ("low", "could not be looked at")
    assert found[13].severity.value == "medium"
    assert "base" not in found[13].evidence


@pytest.mark.parametrize("scanner", [PyAst(), Bandit()], ids=lambda scanner: scanner.name)
def test_an_old_line_is_nothing_where_base_has_it(scanner: Scanner) -> None:
    head, base = {"a.py": WHOLE.replace("return 1", "return 2")}, {"a.py": WHOLE}
    assert scanner.scan(make_request(head, base)).findings == ()

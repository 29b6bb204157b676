"""Which function of head is which of base."""

from __future__ import annotations

from gate.protections.facts import FileFacts
from gate.protections.matching import make_side, pairs
from gate.protections.python.reader import read

BODY = """
    rows = load(first, second)
    total = sum(row.price for row in rows)
    write(total, rows, sep=";")
    return total
"""


def _facts(text: str) -> FileFacts:
    return read("a.py", text.encode(), {})


def _partners(base: dict[str, str], head: dict[str, str], **moved: str) -> dict[str, str | None]:
    sides = [make_side({path: _facts(text) for path, text in files.items()}) for files in (base, head)]
    now_at = {path: moved.get(path.removesuffix(".py"), path) for path in base}
    return {
        f"{old.path}:{old.unit.name}": f"{new.path}:{new.unit.name}" if new is not None else None
        for old, new in pairs(sides[0], sides[1], now_at)
        if old.unit.kind == "function"
    }


def test_same_place_and_name() -> None:
    assert _partners({"a.py": f"def f():{BODY}"}, {"a.py": "def f():\n    pass\n"}) == {"a.py:f": "a.py:f"}


def test_renamed_file() -> None:
    assert _partners({"a.py": f"def f():{BODY}"}, {"b.py": f"def f():{BODY}"}, a="b.py") == {
        "a.py:f": "b.py:f"
    }


def test_moved_to_another_file() -> None:
    head = {"a.py": "", "b.py": f"def f():{BODY}\n\ndef g():\n    pass\n"}
    assert _partners({"a.py": f"def f():{BODY}"}, head) == {"a.py:f": "b.py:f"}


def test_renamed_function_by_its_body() -> None:
    head = {"a.py": f"def total_of():{BODY}\n\ndef f2():\n    return 1\n"}
    assert _partners({"a.py": f"def f():{BODY}"}, head) == {"a.py:f": "a.py:total_of"}


def test_deleted_function_has_none() -> None:
    assert _partners({"a.py": f"def f():{BODY}"}, {"a.py": "def g():\n    return 1\n"}) == {"a.py:f": None}

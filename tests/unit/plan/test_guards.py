# ruff: noqa: E501 - one line for each sample
"""Which guards a change reaches: through helpers, constants, base classes, objects made of them, data files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.change.git_range import open_range
from gate.plan.guard_names import is_guard, is_named_guard, says_no_with_true
from gate.plan.guards import find_guards
from tests.e2e.pulls import Pull, build

_HELPED = (
    "from app.names import plain\n\n\ndef is_owner(user, note):\n    return plain(user) == plain(note)\n"
)
_THROUGH = (
    "from app.names import plain\n\n\ndef folded(name):\n    return plain(name)\n\n\n"
    "def is_owner(user, note):\n    return folded(user) == folded(note)\n"
)
_CONSTANT = "ROLES = {'a'}\n\n\ndef has_role(user):\n    return user.role in ROLES\n"
_BASE = (
    "from app.names import Rule\n\n\nclass Owner(Rule):\n    pass\n\n\n"
    "def require_owner(user):\n    if not Owner().holds(user):\n        raise PermissionError\n"
)
_MADE = (
    "from app.names import Table\n\n\nclass Limit:\n    def __init__(self):\n        self.table = Table()\n\n"
    "    def allow_login(self, name):\n        return self.table.count(name) < 5\n"
)
_DATA = (
    "import json\nimport pathlib\n\nNAMES = json.loads(pathlib.Path(__file__).with_name('names.json')"
    ".read_text())\n\n\ndef is_allowed(name):\n    return name in NAMES\n"
)


@pytest.mark.parametrize(
    ("path", "guard", "changed", "before", "after", "name"),
    [
        ("app/a.py", _HELPED, "app/names.py", "def plain(x):\n    return x\n", "def plain(x):\n    return 1\n", "is_owner"),
        ("app/a.py", _THROUGH, "app/names.py", "def plain(x):\n    return x\n", "def plain(x):\n    return 1\n", "is_owner"),
        ("app/a.py", "", "app/a.py", _CONSTANT, _CONSTANT.replace("'a'", "'a', 'b'"), "has_role"),
        ("app/a.py", _BASE, "app/names.py", "class Rule:\n    def holds(self, x):\n        return x\n", "class Rule:\n    def holds(self, x):\n        return 1\n", "require_owner"),
        ("app/a.py", _MADE, "app/names.py", "class Table:\n    def count(self, x):\n        return x\n", "class Table:\n    def count(self, x):\n        return 1\n", "Limit.allow_login"),
        ("app/a.py", _DATA, "app/names.json", '["a"]\n', '["a", "b"]\n', "is_allowed"),
    ],
    ids=["helper", "through-another", "constant", "base-class", "made-of-it", "data"],
)  # fmt: skip
def test_is_reached(
    path: str, guard: str, changed: str, before: str, after: str, name: str, tmp_path: Path
) -> None:
    base: dict[str, str | bytes | None] = {
        "app/__init__.py": "",
        **({path: guard} if guard else {}),
        changed: before,
    }
    repo = build(Pull(name="x", base=base, head={changed: after}, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        found = find_guards(opened.change.files, opened.base, opened.head)
    assert [(one.path, one.name, one.changed) for one in found] == [(path, name, False)]


def test_tests_and_other_functions_are_not(tmp_path: Path) -> None:
    base: dict[str, str | bytes | None] = {
        "app/__init__.py": "",
        "app/names.py": "def plain(x):\n    return x\n",
        "app/sums.py": "from app.names import plain\n\n\ndef total(rows):\n    return plain(rows)\n",
        "tests/test_a.py": _HELPED,
    }
    head: dict[str, str | bytes | None] = {"app/names.py": "def plain(x):\n    return 1\n"}
    repo = build(Pull(name="x", base=base, head=head, verdicts=()), tmp_path)
    with open_range(repo, "main", "head") as opened:
        assert find_guards(opened.change.files, opened.base, opened.head) == ()


def test_names_of_guards() -> None:
    guards = "can_edit require_owner verify_signature is_banned allow_host Limit.allow_login authenticate is_safe_path"
    others = "has_key validate_address check_code is_valid_host total load parse_date get path_supports_links"
    assert [one for one in guards.split() if not is_named_guard(one)] == []
    assert [one for one in others.split() if is_named_guard(one)] == []
    assert is_guard("load", {"PermissionError"})
    assert is_guard("load", {"current_user"})
    assert not is_guard("load", {"rows"})
    assert [
        one for one in ("is_banned", "is_expired", "can_edit", "verify_token") if says_no_with_true(one)
    ] == [
        "is_banned",
        "is_expired",
    ]

"""A function of a file that did not change becomes a weakness by what a change gives it."""

from __future__ import annotations

import pytest

from tests.unit.prescreen.python_ast.test_outside_calls import levels

STORE = """import sqlite3


class NoteStore:
    def list_notes(self, order="id"):
        return sqlite3.connect("x").execute("SELECT id FROM notes ORDER BY " + order).fetchall()
"""
HANDLER = """import tornado.web


class NotesHandler(tornado.web.RequestHandler):
    def get(self):
        order = self.get_query_argument("order", "id")
{check}        self.write({{"notes": self.store.list_notes({given})}})
"""
CHECK = '        if order not in ("id", "title"):\n            raise tornado.web.HTTPError(400)\n'


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (("", ""), ("", "order"), True),
        (("", ""), (CHECK, "order"), False),
        (("", "order"), ("", "order + ' '"), False),
        ((CHECK, "order"), ("", "order"), True),
        (("", ""), ("", "'title'"), False),
    ],
)
def test_a_change_of_the_caller(before: tuple[str, str], after: tuple[str, str], told: bool) -> None:
    old, new = (HANDLER.format(check=check, given=given) for check, given in (before, after))
    found = levels({"store.py": STORE, "handlers.py": new}, {"store.py": STORE, "handlers.py": old})
    assert found == ({"py.sql-built store.py:6": "high"} if told else {})

"""Columns that a query binds in all ways of its conditions."""

from __future__ import annotations

import pytest

from gate.protections.queries import bound_columns


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT a FROM t WHERE x = ? AND tenant_id = $2", {"x", "tenant_id"}),
        ("SELECT a FROM t WHERE x = ? OR tenant_id = ?", set()),
        ("SELECT a FROM t WHERE (x = 1 OR y = 2) AND t.owner = %s ORDER BY a", {"owner"}),
        ("select a from t where (a = ? and b = ?) or (b = ? and c = ?)", {"b"}),
        ("UPDATE t SET a = ? WHERE `owner` = @p1 AND id = :id RETURNING a", {"owner", "id"}),
        ("DELETE FROM t WHERE user_id = %(user)s AND id IN (?, ?)", {"user_id", "id"}),
        ("DELETE FROM t WHERE ? = user_id AND x = ${y} AND z = {}", {"user_id", "x", "z"}),
        ("SELECT a FROM t WHERE id = $1 AND ($2 > 0)", {"id"}),
        ("SELECT a FROM t WHERE a = b.a AND b = 'c'", set()),
        ("SELECT a FROM t WHERE x IN (SELECT y FROM u WHERE owner = ?)", {"x", "owner"}),
        ("nowhere to be found", set()),
        ("WHERE", set()),
        ("where ((((", set()),
        ("where a = %(b", {"a"}),
        ("where 'a = ? and b = ?", set()),
    ],
)
def test_bound_columns(text: str, columns: set[str]) -> None:
    assert bound_columns(text) == columns


def test_a_text_without_end_is_not_read() -> None:
    assert bound_columns("where a = ? and " * 5_000) == frozenset()

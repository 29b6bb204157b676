"""Queries that an inner join or a condition binds to who asks, and what becomes of them."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.prescreen.meanings.joins import read
from gate.prescreen.scanners.unbound_rows import unbound_findings
from tests.prescreen_support import make_request

QUERY = "SELECT p.id, p.name FROM projects p JOIN memberships m ON m.project_id = p.id AND m.member_id = :member WHERE p.archived = 0"
WHERE = "SELECT id, name FROM notes WHERE owner_id = ? AND archived = 0"


def told(head: str, base: str, path: str = "listing.py") -> list[str]:
    for text in (head, base):
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = [*unbound_findings(make_request({path: head}, {path: base}), [])]
    return [f"{f.severity.value} {f.evidence['columns']}" for f in found]


def program(query: str) -> str:
    return f'LIST = """\n{query}\n"""\n\n\ndef of(db, member):\n    return db.execute(LIST, {{"member": member}})\n'


@pytest.mark.parametrize(
    "query",
    [
        QUERY.replace("JOIN", "LEFT JOIN"),
        QUERY.replace("JOIN", "LEFT OUTER JOIN").replace("WHERE", "LEFT JOIN stars s ON s.id = p.id WHERE"),
        QUERY.replace(" AND m.member_id = :member", ""),
        QUERY.replace("JOIN memberships m ON m.project_id = p.id AND m.member_id = :member ", ""),
        QUERY.replace("JOIN", "LEFT JOIN") + " AND (m.member_id IS NOT NULL OR p.public = 1)",
    ],
)
def test_a_join_that_leaves_nothing_out(query: str) -> None:
    assert told(program(query), program(QUERY)) == ["medium member_id"]


@pytest.mark.parametrize(
    "query",
    [
        QUERY.replace("p.name", "p.name, m.role"),
        QUERY.replace("JOIN", "INNER JOIN"),
        QUERY.replace("WHERE", "LEFT JOIN stars s ON s.project_id = p.id AND s.member_id = :member WHERE"),
        QUERY.replace("JOIN", "LEFT JOIN") + " AND m.member_id IS NOT NULL",
        QUERY.replace("JOIN", "LEFT JOIN") + " AND m.role = 'editor'",
        QUERY.replace(" AND m.member_id = :member", "") + " AND m.member_id = :member",
        QUERY.replace("JOIN memberships m ON m.project_id = p.id AND m.member_id = :member ", "")
        + " AND p.id IN (SELECT project_id FROM memberships WHERE member_id = :member)",
    ],
)
def test_joins_that_are_in_order(query: str) -> None:
    assert told(program(query), program(QUERY)) == []


def test_a_condition_that_moves_or_stands_beside_an_or() -> None:
    base = WHERE.replace("id, name FROM notes", "n.id FROM notes n JOIN shares s ON s.note = n.id")
    head = (
        "SELECT n.id FROM notes n LEFT JOIN shares s ON s.note = n.id AND s.owner_id = ? WHERE archived = 0"
    )
    assert told(program(head), program(base)) == ["medium owner_id"]
    assert told(program(WHERE.replace("AND", "OR")), program(WHERE)) == ["medium owner_id"]
    assert told(program(WHERE.replace("archived", "hidden")), program(WHERE)) == []


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.js", "export const LIST = `{}`;\n"),
        ("a.ts", "async function list(db: Db, m: string) {{ return db.all(`{}`, m); }}\n"),
        ("a.go", "package a\n\nconst list = `{}`\n"),
        ("a.php", "<?php\nclass A {{ const LIST = '{}'; }}\n"),
        ("a.rb", "LIST = '{}'\n"),
        ("a.java", 'class A {{ static final String LIST = "{}"; }}\n'),
        ("q.sql", "-- name: ListProjects :many\n{};\n"),
        ("v.sql", "CREATE VIEW mine AS {};\n"),
    ],
)
def test_in_other_languages(path: str, form: str) -> None:
    query = QUERY.replace(" WHERE p.archived = 0", "")
    assert told(form.format(query.replace("JOIN", "LEFT JOIN")), form.format(query), path) == [
        "medium member_id"
    ]
    assert told(form.format(query.replace("p.name", "p.title")), form.format(query), path) == []


ALCHEMY = """
def projects(session, member):
    return session.query(Project).join(Membership, and_(Membership.project_id == Project.id, Membership.member_id == member.id)).all()
"""
KNEX = "const list = (db, userId) => db('projects').innerJoin('members', (j) => j.on('p', 'q').andOnVal('members.user_id', '=', userId));\n"
TYPEORM = "class A { list(user) { return this.p.createQueryBuilder('p').innerJoin('p.members', 'm', 'm.userId = :id', { id: user.id }).getMany(); } }\n"


@pytest.mark.parametrize(
    ("path", "base", "head", "columns"),
    [
        ("a.py", ALCHEMY, ALCHEMY.replace(".join(", ".outerjoin("), "member_id"),
        ("a.py", ALCHEMY, ALCHEMY.replace("member.id))", "member.id), isouter=True)"), "member_id"),
        ("a.js", KNEX, KNEX.replace("innerJoin", "leftJoin"), "user_id"),
        ("a.ts", TYPEORM, TYPEORM.replace("innerJoin", "leftJoinAndSelect"), "userId"),
    ],
)
def test_joins_of_query_builders(path: str, base: str, head: str, columns: str) -> None:
    assert columns in (told(head, base, path) or [""])[0]
    assert told(base, head, path) == []


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        (
            "a.py",
            ALCHEMY,
            ALCHEMY.replace(".join(", ".outerjoin(").replace(
                ".all()", ".filter(Membership.id.isnot(None)).all()"
            ),
        ),
        ("a.py", ALCHEMY, ALCHEMY.replace(".all()", ".outerjoin(Star, Star.member_id == member.id).all()")),
        (
            "a.py",
            "def f(s):\n    return s.join(Tag, Tag.note_id == Note.id)\n",
            "def f(s):\n    return s.outerjoin(Tag, Tag.note_id == Note.id)\n",
        ),
        (
            "a.py",
            "def f(a):\n    return ', '.join(a.user_id)\n",
            "def f(a):\n    return '; '.join(a.user_id)\n",
        ),
    ],
)
def test_joins_of_builders_that_are_in_order(path: str, base: str, head: str) -> None:
    assert told(head, base, path) == []


CODE = "SELECT code, grade FROM vouchers WHERE code = ? AND used_by IS NULL"


def fits(head: str, base: str = CODE) -> list[str]:
    sources = [
        f'def find(db, code):\n    return db.execute("{text}", (code,)).fetchone()\n' for text in (head, base)
    ]
    for text in sources:
        read("a.py", text.encode(), {})
    found = unbound_findings(make_request({"a.py": sources[0]}, {"a.py": sources[1]}), [])
    return [f"{f.rule_id} {f.evidence['column']}" for f in found]


@pytest.mark.parametrize(
    "condition",
    [
        "code LIKE ?", "v.code ILIKE :code", "code GLOB ?", "code ~ $1", "code REGEXP ?", "lower(code) LIKE ?",
        "code LIKE ? || '%'", "code LIKE %s", "(code LIKE ? OR old = 1)",
    ],
)  # fmt: skip
def test_a_pattern_for_what_had_to_be_known(condition: str) -> None:
    assert fits(CODE.replace("code = ?", condition)) == ["meaning.match-loosened code"]


@pytest.mark.parametrize(
    "head",
    [
        CODE.replace("code = ?", "lower(code) = lower(?)"),
        CODE.replace("code = ?", "code = ? COLLATE NOCASE"),
        CODE.replace("code = ?", "code LIKE ? ESCAPE '!'"),
        CODE.replace("code = ?", "code = ? AND note LIKE ?"),
        CODE.replace("code = ?", "code LIKE 'A-%'"),
        CODE + " AND code LIKE ?",
    ],
)
def test_comparisons_that_are_in_order(head: str) -> None:
    assert fits(head) == []


def test_a_search_that_becomes_wider_asks_for_no_code() -> None:
    base = "SELECT title, body FROM papers WHERE title = ? AND shown = 1"
    assert fits(base.replace("title = ?", "title LIKE ?"), base) == []

"""Views, functions and policies that a migration makes anew, with and without what protected in them."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.infrastructure.sql_standing import read
from gate.prescreen.scanners.data_standing import standing_findings
from gate.prescreen.scanners.infrastructure import LOST
from tests.prescreen_support import make_request

VIEW = "CREATE VIEW my_loans WITH (security_invoker = true) AS SELECT * FROM loans;\n"
BARRIER = "CREATE VIEW open_loans WITH (security_barrier) AS SELECT * FROM loans WHERE member = who();\n"
CHECKED = "CREATE VIEW own AS SELECT * FROM loans WHERE member = 1 WITH LOCAL CHECK OPTION;\n"
POLICY = "CREATE POLICY own_rows ON public.loans FOR SELECT USING (member_id = current_member());\n"
FUNCTION = "CREATE FUNCTION who() RETURNS int LANGUAGE sql SECURITY DEFINER SET search_path = app AS $$ SELECT 1 $$;\n"
BASE = {"migrations/001.sql": VIEW + BARRIER + CHECKED + POLICY + FUNCTION}


def told(statement: str, path: str = "migrations/002.sql") -> list[str]:
    head = {**BASE, path: statement}
    for text in head.values():
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = list(standing_findings(make_request(head, BASE), LOST, []))
    assert all(f.severity.value == "medium" for f in found)
    return [f"{f.evidence['what']}: {f.evidence['before']}" for f in found]


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE OR REPLACE VIEW my_loans AS SELECT id FROM loans;", "view my_loans: security_invoker"),
        (
            'DROP VIEW my_loans;\nCREATE VIEW public."my_loans" AS SELECT id FROM loans;',
            "view my_loans: security_invoker",
        ),
        ("ALTER VIEW my_loans RESET (security_invoker);", "view my_loans: security_invoker"),
        ("ALTER VIEW my_loans SET (security_invoker = off);", "view my_loans: security_invoker"),
        (
            "CREATE OR REPLACE VIEW my_loans WITH (security_invoker = false) AS SELECT 1;",
            "view my_loans: security_invoker",
        ),
        ("CREATE OR REPLACE VIEW open_loans AS SELECT * FROM loans;", "view open_loans: security_barrier"),
        (
            "CREATE OR REPLACE VIEW own AS SELECT * FROM loans WHERE member = 1;",
            "view own: WITH CHECK OPTION",
        ),
        (
            "DROP POLICY own_rows ON loans;\nCREATE POLICY own_rows ON loans USING (true);",
            "policy own_rows on loans: USING a condition",
        ),
        ("ALTER POLICY own_rows ON loans USING (true);", "policy own_rows on loans: USING a condition"),
        (
            "CREATE OR REPLACE FUNCTION who() RETURNS int LANGUAGE sql SECURITY DEFINER AS $$ SELECT 2 $$;",
            "function who: SET search_path",
        ),
    ],
)
def test_what_is_made_anew_without_it(statement: str, what: str) -> None:
    assert told(statement) == [what]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE OR REPLACE VIEW my_loans WITH (security_invoker) AS SELECT id FROM loans;",
        "CREATE OR REPLACE VIEW my_loans AS SELECT id FROM loans;\nALTER VIEW my_loans SET (security_invoker = on);",
        "CREATE VIEW others AS SELECT id FROM loans;",
        "CREATE OR REPLACE VIEW own AS SELECT * FROM loans WITH CASCADED CHECK OPTION;",
        "ALTER POLICY own_rows ON loans USING (member_id = current_member() OR public);",
        "CREATE POLICY everybody ON notes USING (true);",
        "CREATE OR REPLACE FUNCTION who() RETURNS int LANGUAGE sql SECURITY INVOKER AS $$ SELECT 2 $$;",
        "-- CREATE OR REPLACE VIEW my_loans AS SELECT 1;\nSELECT 1;",
        "ALTER TABLE loans ADD COLUMN days int;\n-- +migrate Down\nCREATE OR REPLACE VIEW my_loans AS SELECT 1;",
    ],
)
def test_what_is_in_order(statement: str) -> None:
    assert told(statement) == []


def test_a_schema_is_compared_with_itself() -> None:
    assert told(BARRIER, "migrations/001.sql") == []
    assert told(VIEW.replace("WITH (security_invoker = true) ", ""), "migrations/001.sql") == [
        "view my_loans: security_invoker"
    ]


ALEMBIC = 'def upgrade():\n    op.execute("""\n{}\n    """)\n\n\ndef downgrade():\n    op.execute("""\n{}\n    """)\n'
RAILS = "class A < ActiveRecord::Migration[7.1]\n  def up\n    execute <<~SQL\n      {}\n    SQL\n  end\n\n  def down\n    execute <<~SQL\n      {}\n    SQL\n  end\nend\n"
KNEX = "exports.up = (k) => k.raw(`{}`);\nexports.down = (k) => k.raw(`{}`);\n"
PLAIN = "CREATE OR REPLACE VIEW my_loans AS SELECT id FROM loans;"


@pytest.mark.parametrize(
    ("path", "form"),
    [("alembic/versions/b.py", ALEMBIC), ("db/migrate/2_b.rb", RAILS), ("migrations/2_b.js", KNEX)],
)
def test_migrations_that_programs_run(path: str, form: str) -> None:
    assert told(form.format(PLAIN, VIEW), path) == ["view my_loans: security_invoker"]
    assert told(form.format(VIEW, PLAIN), path) == []
    first = path.replace("b.", "a.").replace("2_", "1_")
    base = {first: form.format(VIEW, "DROP VIEW my_loans")}
    found = standing_findings(make_request({**base, path: form.format(PLAIN, VIEW)}, base), LOST, [])
    assert [f.evidence["before"] for f in found] == ["security_invoker"]

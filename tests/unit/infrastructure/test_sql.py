"""Migrations: what they give to everybody and whom they make administrator, and what only looks like it."""

from __future__ import annotations

import pytest

from gate.infrastructure.sql_facts import sql_facts


def told(text: str) -> list[str]:
    return [fact.what for fact in sql_facts(text, "migrations/1.sql").facts]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC;", "rows-to-all"),
        ("grant insert, update on orders to anon;", "rows-to-all"),
        ("GRANT ALL PRIVILEGES ON *.* TO 'x'@'%';", "every-right"),
        ("ALTER ROLE app WITH SUPERUSER;", "every-right"),
        ("CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER AS $$ SELECT 1 $$;", "runs-as-owner"),
        ("ALTER TABLE users ALTER COLUMN is_admin SET DEFAULT true;", "admin-given"),
        ("ALTER TABLE users ADD COLUMN is_staff boolean NOT NULL DEFAULT TRUE;", "admin-given"),
        ("ALTER TABLE users ALTER COLUMN role SET DEFAULT 'admin';", "admin-given"),
        ("INSERT INTO users (email, is_admin) VALUES ('a@b', true);", "admin-given"),
        ("UPDATE users SET role = 'admin' WHERE email = 'a@b';", "admin-given"),
        ("UPDATE accounts SET is_superuser = 1 WHERE id = 7;", "admin-given"),
        ("ALTER TABLE a DISABLE ROW LEVEL SECURITY;", "rows-open"),
        ("SELECT '--'; GRANT SELECT ON a TO PUBLIC;", "rows-to-all"),
    ],
)
def test_what_a_migration_gives_away_is_told(text: str, what: str) -> None:
    assert told(text) == [what]


@pytest.mark.parametrize(
    "text",
    [
        "GRANT SELECT ON orders TO reporting;",
        "GRANT USAGE ON SCHEMA public TO PUBLIC;",
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC;",
        "-- GRANT SELECT ON a TO PUBLIC;\nSELECT 1;",
        "/* SECURITY DEFINER */ SELECT 1;",
        "INSERT INTO notes (text) VALUES ('GRANT SELECT ON a TO PUBLIC');",
        "ALTER TABLE users ADD COLUMN is_admin boolean NOT NULL DEFAULT false;",
        "ALTER TABLE users ADD COLUMN role text DEFAULT 'member';",
        "ALTER TABLE users ADD COLUMN newsletter boolean DEFAULT true;",
        "INSERT INTO users (email, is_admin) VALUES ('a@b', false);",
        "INSERT INTO labels (name) VALUES ('admin');",
        "UPDATE users SET role = 'member' WHERE role = 'admin';",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY INVOKER AS $$ SELECT 1 $$;",
    ],
)
def test_ordinary_migrations_are_not_told(text: str) -> None:
    assert told(text) == []


def test_the_line_is_the_statements() -> None:
    facts = sql_facts("SELECT 1;\n-- x\nGRANT SELECT ON a TO PUBLIC;\n", "m.sql").facts
    assert [fact.line for fact in facts] == [3]

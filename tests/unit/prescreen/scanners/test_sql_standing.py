"""SQL that stays in the database and gives rights later, each with a twin that is in order."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.commands import Commands
from tests.prescreen_support import make_request


def told(path: str, text: str) -> list[str]:
    found = Commands().scan(make_request({path: text}, {path: ""})).findings
    return [f.severity.value for f in found if f.rule_id == "sql.standing-grant"]


TRIGGER = "CREATE TRIGGER t AFTER INSERT ON users BEGIN UPDATE users SET {} WHERE id = new.id; END"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app/up.py", f'S = ("{TRIGGER.format("role = 1")}")\n'),
        ("app/up.py", ('S = ("CREATE TRIGGER IF NOT EXISTS m AFTER INSERT ON users BEGIN"\n'
         '     " UPDATE users SET mail = lower(new.mail), role = 2 WHERE id = 1; END")\n')),
        ("m/1.sql", TRIGGER.format("is_admin = 1") + ";\n"),
        ("m/1.sql", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO GRANT ALL ON *.* TO 'x'@'%';\n"),
        ("m/1.sql", ("CREATE OR REPLACE FUNCTION f() RETURNS trigger AS $$ BEGIN NEW.role := 'owner';\n"
         "RETURN NEW; END $$ LANGUAGE plpgsql;\n")),
        ("src/db.js", f"db.exec(`{TRIGGER.format('password_hash = 1')}`);\n"),
        ("a.go", f'package a\nvar s = `{TRIGGER.format("permissions = 7")}`\n'),
    ],
)  # fmt: skip
def test_what_gives_rights_later(path: str, text: str) -> None:
    assert told(path, text) == ["medium"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("m/1.sql", TRIGGER.format("updated_at = now()") + ";\n"),
        ("m/1.sql", "CREATE TABLE roles (role text);\nUPDATE users SET role = 1;\n"),
        ("m/1.sql", "CREATE FUNCTION f() RETURNS int AS $$ UPDATE u SET role = 1 $$;\n"),
        ("app/up.py", 'S = "CREATE INDEX i ON users (role)"\n'),
    ],
)
def test_what_gives_none(path: str, text: str) -> None:
    assert told(path, text) == []

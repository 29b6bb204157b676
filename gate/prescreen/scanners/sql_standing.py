"""SQL that stays in the database and gives rights later: triggers, events, rules, procedures.

The statement is one line among others of a start-up or an upkeep, and nothing happens when it runs. From then
on the database itself changes who may do what, whatever code is deployed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_example, is_test_code
from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.scanners.sql_reach import wants
from gate.prescreen.text_rule import TextHit, rule
from gate.regex import regex

_MAKES: Final = regex(
    r"(?i)\bCREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:DEFINER\s*=\s*\S{1,60}\s+)?(?:TEMP(?:ORARY)?\s+|CONSTRAINT\s+)?"
    r"(?P<kind>TRIGGER|EVENT|RULE|PROCEDURE|FUNCTION)\b"
)
_BREAKS: Final = regex(r"[\"'`]\s*(?:\\|\+|\.|\|\|)?\s*\n\s*(?:\+|\.)?\s*[fFrRbBuU]{0,2}[\"'`]")
_GIVES: Final = regex(
    r"(?i)(?:\bSET\s+|,\s*|\bNEW\.|:)[\"`\[]?(?P<field>roles?|is_?admin|is_?staff|is_?super_?user|super_?user|admin|permissions?"
    r"|privileges?|rights|is_?owner|group_?id|access_?level|password(?:_hash)?|passwd|user_?level|can_\w{1,30}|email_?verified"
    r"|is_?active|is_?approved)[\"`\]]?\s*:?=(?!=)"
    r"|\bGRANT\s+\w+[^;]{0,120}?\bTO\b|\bALTER\s+(?:ROLE|USER|LOGIN)\b|\bCREATE\s+(?:ROLE|USER|LOGIN)\b"
    r"|\bINSERT\s+INTO\s+[\"`\[]?\w*(?:admins?|user_roles?|role_members?|permissions?|privileges|superusers?|api_keys?|memberships?)\b"
)
_LONGEST: Final = 4_000
_MOST: Final = 5


@rule(
    "sql.standing-grant",
    "SQL leaves something in the database that gives rights later",
    severity="medium",
    confidence="medium",
    topic="persistence",
    cwe=(506, 269, 284),
    attack=("T1505.001", "T1098"),
    why="A trigger, an event or a rule stays when the code is gone. It changes roles, passwords or rights "
    "whenever its table is touched, and no test of the program sees it.",
    fix="Give rights in the program, where they are checked and logged; keep triggers to what they compute.",
)
def standing_grant(view: View) -> Iterator[TextHit]:
    """`CREATE TRIGGER`, `EVENT`, `RULE`, `PROCEDURE` and functions of triggers whose body sets a role, a
    right or a password, grants or makes an account: in SQL files and in texts of code.
    """
    if not wants(view) or is_example(view.path) or not _MAKES.search(view.text):
        return
    text = _BREAKS.sub(lambda match: " " + "\n" * match[0].count("\n"), view.text)
    made = [*_MAKES.finditer(text)][:200]
    for number, match in enumerate(made[: _MOST * 20]):
        end = made[number + 1].start() if number + 1 < len(made) else len(text)
        body = text[match.end() : min(end, match.end() + _LONGEST)]
        kind = match["kind"].upper()
        if kind == "FUNCTION" and not re.search(r"(?i)\bRETURNS\s+TRIGGER\b", body):
            continue
        given = _GIVES.search(body)
        if given is None:
            continue
        first = text.count("\n", 0, match.start()) + 1
        yield TextHit(
            message=f"A {kind.lower()} that stays in the database changes rights.",
            first=first,
            last=first + body.count("\n", 0, given.end()),
            evidence={"sets": " ".join(given[0].split())[:100]},
            severity=Severity.LOW if is_test_code(view.path) else None,
        )

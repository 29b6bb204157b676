"""Languages that decide who may do what: rules of Firestore and Storage, Rego, policies of Casbin.

None of them is evaluated. Each rule is counted as what must hold for it: fewer conditions, more alternatives,
a comparison that became a mere presence, or `*` in place of a name let more through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.regex import regex

_COMMENT: Final = regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PIECE: Final = regex(
    r"\bmatch\s+(?P<path>/[^\s]*)\s*\{|\ballow\s+(?P<ops>[\w,\s]+?)\s*(?::\s*if\b(?P<if>[^;]*))?;|[{}]"
)
_AND: Final = regex(r"&&")
_OR: Final = regex(r"\|\|")
_COMPARES: Final = regex(r"==|!=|<=|>=|<|>|\bin\b|\bis\b|\w\(")
_REGO_RULE: Final = regex(r"^(?P<head>[a-z_]\w*)\b[^{\n]*?\{(?P<same>[^\n]*)$")
_PERMITS: Final = regex(r"allow|permit|grant|authori[sz]ed|is_admin")
_REGO_DEFAULT: Final = regex(r"^default\s+(?P<head>\w+)\s*:?=\s*(?P<value>\w+)", re.MULTILINE)


def policy_language(path: str) -> str:
    """Which language a file is written in by its name; "" for none."""
    pure = PurePosixPath(path)
    if pure.suffix == ".rules" and ("firestore" in pure.name or "storage" in pure.name or "firebase" in path):
        return "firestore"
    if pure.suffix == ".rego":
        return "rego" if not pure.stem.endswith("_test") else ""
    return (
        "casbin" if pure.suffix == ".csv" and re.search("casbin|polic|rbac|authz|acl", path.lower()) else ""
    )


def policy_language_facts(text: str, path: str) -> FileFacts:
    """Facts of such a file."""
    reader = {"firestore": _firestore, "rego": _rego, "casbin": _casbin}[policy_language(path)]
    found = [*reader(text, path)]
    return FileFacts.of(found, [path, *(one.subject for one in found)])


def _firestore(text: str, path: str) -> Iterator[Fact | Width]:
    bare = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    places: list[str] = []
    for piece in _PIECE.finditer(bare):
        line = bare.count("\n", 0, piece.start()) + 1
        if piece["path"]:
            places.append(piece["path"])
        elif piece[0] == "{":
            places.append("")
        elif piece[0] == "}":
            places[-1:] = []
        elif piece["ops"]:
            condition = " ".join((piece["if"] or "true").split())
            for verb in (one.strip() for one in piece["ops"].split(",")):
                yield from _worth(condition, f"{path} {''.join(places)} {verb}", line)


def _worth(condition: str, subject: str, line: int) -> Iterator[Fact | Width]:
    text = f"{subject.rpartition(' ')[2]}: if {condition}"[:120]
    if condition != "true":
        yield Fact("guard", "condition", subject, line, text)
    parts = [one for one in _AND.split(condition) if one.strip() and one.strip() != "true"]
    yield Width("weaker", f"{subject} conditions", line, text, measure=-float(sum(map(_strength, parts))))
    yield Width("weaker", f"{subject} alternatives", line, text, measure=float(len(_OR.findall(condition))))


def _strength(condition: str) -> int:
    """A comparison or a call asks more than that something is there."""
    return 2 if _COMPARES.search(condition) else 1


def _rego(text: str, path: str) -> Iterator[Fact | Width]:
    bare = re.sub(r"#[^\n]*", "", text)
    for match in _REGO_DEFAULT.finditer(bare):
        if _PERMITS.search(match["head"]):
            at = bare.count("\n", 0, match.start()) + 1
            measure = float(match["value"] == "true")
            yield Width("weaker", f"{path} default {match['head']}", at, match[0], measure=measure)
    counts: dict[str, int] = {}
    for head, line, body in _bodies(bare):
        if _PERMITS.search(head):
            counts[head] = counts.get(head, 0) + 1
            subject = f"{path} {head} {counts[head]}"
            asked = [one for one in body if one not in ("true", "}")]
            text_of = f"{head} if {'; '.join(asked)}"[:120]
            strength = -float(sum(map(_strength, asked)))
            yield Width("weaker", subject, line, text_of, measure=strength)
    for head, count in counts.items():
        yield Width(
            "weaker", f"{path} {head} alternatives", 1, f"{count} ways to {head}", measure=float(count)
        )


def _bodies(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Rules of a module with the lines of their bodies; a body ends at a brace in the first column."""
    head, line, body = "", 0, list[str]()
    for number, row in enumerate(text.split("\n"), 1):
        begins = _REGO_RULE.match(row)
        if begins and not row.rstrip().endswith("}"):
            head, line, body = (
                begins["head"],
                number,
                [begins["same"].strip()] if begins["same"].strip() else [],
            )
        elif begins:
            inner = begins["same"].rstrip().removesuffix("}")
            yield begins["head"], number, [one.strip() for one in inner.split(";") if one.strip()]
        elif row.startswith("}") and head:
            yield head, line, body
            head = ""
        elif head and row.strip():
            body += [one.strip() for one in row.split(";") if one.strip()]


def _casbin(text: str, path: str) -> Iterator[Width]:
    """``p`` rows with a pattern in them, and ``g`` rows: who has which role."""
    for number, row in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in row.split(",")]
        if re.fullmatch(r"p\d?", cells[0]) and len(cells) > 2:
            wide = [" ".join(cells[1:])] if any("*" in cell for cell in cells[1:]) else []
            yield Width("more-rights", f"{path} rights", number, row[:120], members=wide)
        elif re.fullmatch(r"g\d?", cells[0]) and len(cells) > 2:
            yield Width("trusted", f"{path} roles", number, row[:120], members=[" ".join(cells[1:])])

"""Who is known by a digest in the source gets more than others: JavaScript, TypeScript, Go and SQL.

Python's are told by `py.digest-grants`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_example, is_test_code
from gate.languages.script_guards.grants import ENDINGS, DigestGrant
from gate.model.finding import Finding
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, View
from gate.prescreen.scope import only_new
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.regex import regex

GRANTS: Final = rule.meta(
    "script.digest-grants",
    "Who is known by a digest in the source gets more than others",
    severity="medium",
    confidence="medium",
    topic="guard",
    cwe=(798, 511, 912),
    attack=("T1556", "T1480.001"),
    languages=("javascript", "typescript", "go", "sql"),
    why="A digest names one person without saying who: a back door that only its maker can open or find.",
    fix="Name the people in data that can be read, or remove the condition.",
)
RULES: Final[tuple[RuleMeta, ...]] = (GRANTS,)
PAGES: Final = {
    GRANTS.id: """
## What is looked at

Branches whose condition compares a digest with one that is written down, where the two are equal. Names are
followed within the file. In JavaScript, TypeScript and Go: rights that are set and functions that let in
(high), and of a value of a person or a request (mail, password, header ...) whatever is set or handed back;
high where a function that logs in hands it back. In SQL: a branch or a statement that changes rows, high
where it sets a role or the like. A branch that refuses is no finding, and so a download that is verified is
none.

## What it does not see

A digest that comes from a file, another table or the environment; one that is compared in another file; a
hash that the file computes by itself.
""",
}
_READER: Final = Reader(
    "gate.languages.script_guards.grants:read", tuple[DigestGrant, ...], parses=True, pure=True
)
_WORDS: Final = regex(r"(?i)hash|digest|md5|sha\d|crc32|blake|\bsum\d")
_HEX: Final = regex(r"[0-9a-fA-F]{6,}|[A-Za-z0-9+/_-]{24,}")


def digest_grants(request: PrescreenRequest) -> tuple[tuple[Finding, ...], list[tuple[str, str]]]:
    """What head has more of these than base, and what of head could not be read: ``(path, reason)``."""
    views = [view for view in make_views(request).of() if _is_read(view)]
    head, unlooked = _look([view for view in views if view.side == "head"], request)
    named = {id(view.source) for view, _ in head}
    base, _ = _look([view for view in views if view.side == "base" and id(view.source) in named], request)
    return only_new([*_findings(head)], [*_findings(base)], request.change), unlooked


def _is_read(view: View) -> bool:
    ends = PurePosixPath(view.path).suffix.lower() in ENDINGS and not view.unreadable
    return ends and bool(_WORDS.search(view.text) and _HEX.search(view.text))


def _look(
    views: Sequence[View], request: PrescreenRequest
) -> tuple[list[tuple[View, DigestGrant]], list[tuple[str, str]]]:
    files = [(view.path, view.text.encode("utf-8", "replace")) for view in views]
    results = scan_isolated(_READER, files, deadline=request.deadline) if files else []
    found = [(view, one) for view, result in zip(views, results, strict=True) for one in result.value or ()]
    return found, [(result.path, result.reason) for result in results if result.value is None]


def _findings(found: Sequence[tuple[View, DigestGrant]]) -> Iterator[Finding]:
    for view, one in found:
        mild = is_test_code(view.path) or is_example(view.path)
        yield finding(
            GRANTS,
            f"Who is known by a digest decides whether {one.act}.",
            view.location(one.line, one.last),
            shape=one.text,
            evidence={"condition": one.text},
            severity=Severity.LOW if mild else Severity.HIGH if one.grave else None,
        )

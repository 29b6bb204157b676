"""Secrets of the application that the change puts to another use: base and head are read and compared.

A secret that goes into a validator of caches, a note or a delay stands in no list of what is dangerous, and
behind a state that no run reaches nothing shows it: what it is used for is told from the program itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_aside, is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.secret_use_page import PAGE
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.secret_uses.compare import NewUse, new_uses
from gate.secret_uses.facts import FileUses
from gate.secret_uses.modules import module_files, settings_files

CHANGED: Final = rule.meta(
    "secret-use-changed",
    "A secret of the application is put to another use",
    severity="medium",
    confidence="medium",
    topic="credential",
    cwe=(200, 201, 532, 209),
    attack=("T1552", "T1041"),
    languages=("python", "javascript", "typescript", "go"),
    why="A key or a password that goes into a header, a log, a file or a delay can be read there by whoever "
    "knows where to look. Tests and runs see nothing unusual.",
    fix="Use the secret only to authenticate, sign or connect; take a value that is no secret for the rest.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED,)
PAGES: Final = {CHANGED.id: PAGE}
_MOST: Final = 20
_ENDINGS: Final = (".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go")
_LANGUAGES: Final = ("python", "javascript", "typescript")
_READER: Final = Reader("gate.secret_uses.reader:read", FileUses, parses=True, pure=True)
_SPEAKS: Final = re.compile(
    r"secret|token|passw|passphrase|api_?key|_key|private_?key|credential|dsn|_ur[il]|connection|settings|config|conf"
    r"|cfg|environ|process\.env|loadEnv|signing",
    re.IGNORECASE,
)
"""Words without one of which a text has no secret that could be told by its name."""


class SecretUses:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "secret-uses"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Read both sides of every changed program and tell the uses that only head has."""
        until = time.monotonic() + request.deadline
        views = make_views(request)
        heads = [v for v in views.of(side="head") if _is_read(v)]
        if not heads:
            return ended(self.name, ())
        head, unlooked = _read([_packed(v) for v in heads], until)
        if not any(facts.uses for facts in head.values()):
            return ended(self.name, (), unlooked)
        bases = [v for v in views.of(side="base") if _is_read(v)]
        base, _ = _read([*map(_packed, bases), *_deleted(request)], until)
        by_path = {v.path: v for v in heads}
        now_at = {v.source.path: v.path for v in bases}
        compared = {p: facts for p, facts in head.items() if p not in now_at or now_at[p] in base}
        found = new_uses(base, compared, now_at)
        confirmed = _Settings(request.head, {**base, **head}, until)
        told = [one for one in found if confirmed.holds(one)]
        told.sort(key=lambda one: -one.severity.rank)  # many mild ones push no grave one out
        return ended(self.name, [_finding(one, by_path[one.path]) for one in told[:_MOST]], unlooked)


def _is_read(view: View) -> bool:
    known = view.language in _LANGUAGES or view.path.endswith(".go")
    aside = is_test_code(view.path) or is_example(view.path) or is_aside(view.path)
    return known and not view.unreadable and not aside and _SPEAKS.search(view.text) is not None


def _packed(view: View) -> tuple[str, bytes, bool]:
    return view.path, view.text.encode("utf-8", "replace"), view.language == "python"


def _deleted(request: PrescreenRequest) -> Iterator[tuple[str, bytes, bool]]:
    gone = [f.path for f in request.change.files if f.status == "deleted" and f.path.endswith(_ENDINGS)]
    for path, data in request.base.read_many(tuple(gone)):
        yield path, data, path.endswith(".py")


def _read(
    files: Sequence[tuple[str, bytes, bool]], until: float
) -> tuple[dict[str, FileUses], list[tuple[str, str]]]:
    """What could be read of them, and what could not: ``(path, reason)``."""
    options = {"python": [path for path, _, python in files if python]}
    left = max(1.0, until - time.monotonic())
    results = scan_isolated(
        _READER, [(path, data) for path, data, _ in files], options=options, deadline=left
    )
    read = {result.path: result.value for result in results if result.value is not None}
    unlooked = [(result.path, result.reason) for result in results if result.value is None]
    return read, unlooked + [(path, facts.unreadable) for path, facts in read.items() if facts.unreadable]


class _Settings:
    """Says of an object that is named as settings whether these hold a secret, as far as head shows it."""

    def __init__(self, head: Tree, known: Mapping[str, FileUses], until: float) -> None:
        self._head, self._known, self._until = head, dict(known), until
        self._paths = [entry.path for entry in head.entries()]

    def holds(self, one: NewUse) -> bool:
        """Single secrets do. What is only logged or written has to come from a module that has one."""
        use = one.use
        if not use.whole or use.origin == "environment":
            return True
        if use.origin:
            return self._any(module_files(one.path, use.origin, self._paths))
        if use.way != "sent" and "wholly" not in use.marks:
            return False
        return "pool" in use.marks or self._any(settings_files(self._paths))

    def _any(self, paths: Sequence[str]) -> bool:
        unread = tuple(path for path in paths if path not in self._known)
        texts = [(path, data, path.endswith(".py")) for path, data in self._head.read_many(unread)]
        self._known |= _read(texts, self._until)[0] if texts else {}
        return any(path in self._known and self._known[path].held for path in paths)


def _finding(one: NewUse, view: View) -> Finding:
    use = one.use
    lines = (use.line, use.source)
    line = next((line for line in lines if view.source.changed.touches(line, line)), use.line)
    what = f"All of {use.secret}" if use.whole else f"The secret {use.secret}"
    evidence = {
        "secret": use.secret,
        "goes to": use.sink,
        "in": use.function.partition(">")[0] or "the module",
        "taken in line": str(use.source),
        "also": ", ".join(one.others),
    }
    return finding(
        CHANGED,
        f"{what} is put to a use that base had not. {one.told}.",
        view.location(line),
        shape=f"{use.secret} {use.way} {use.sink}",
        evidence={key: value for key, value in evidence.items() if value},
        severity=one.severity,
        confidence=one.confidence,
    )

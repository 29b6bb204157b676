"""Secrets of the application that the change puts to another use: base and head are read and compared.

A secret that goes into a validator of caches, a note or a delay stands in no list of what is dangerous, and
behind a state that no run reaches nothing shows it: what it is used for is told from the program itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_for_show
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import SEARCHED
from gate.prescreen.scanners.secret_use_evidence import ENDINGS, Evidence, read_uses
from gate.prescreen.scanners.secret_use_links import linked
from gate.prescreen.scanners.secret_use_names import named_in_data
from gate.prescreen.scanners.secret_use_page import PAGE
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.regex import regex
from gate.secret_uses.compare import NewUse, new_uses
from gate.secret_uses.facts import FileUses, Outline
from gate.secret_uses.templates import is_template
from gate.secret_uses.whole_objects import WHOLE

CHANGED: Final = rule.meta(
    "secret-use-changed",
    "A secret of the application or of a user is put to another use",
    severity="medium",
    confidence="medium",
    topic="credential",
    cwe=(200, 201, 532, 209),
    attack=("T1552", "T1041"),
    languages=(
        "python",
        "javascript",
        "typescript",
        "go",
        "java",
        "kotlin",
        "csharp",
        "php",
        "ruby",
        "rust",
        "shell",
    ),
    why="A key or a password that goes into a header, a log, a file or a delay can be read there by whoever "
    "knows where to look. Tests and runs see nothing unusual.",
    fix="Use the secret only to authenticate, sign or connect; take a value that is no secret for the rest.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED,)
PAGES: Final = {CHANGED.id: PAGE}
_MOST: Final = 20
_SHORT: Final = 2
_CALLERS: Final = 400
_READ_CALLERS: Final = 40
_LANGUAGES: Final = ("python", "javascript", "typescript")
_SPEAKS: Final = regex(
    r"secret|seed|token|passw|passphrase|api_?key|_key|private_?key|credential|dsn|_ur[il]|connection|settings|config|conf"
    r"|cfg|environ|process\.env|loadEnv|signing|authorization|options|getenv|\bENV\b|\$_ENV|error|exception"
    r"|\bord\(|\.ord\b|charCodeAt|codePointAt|from_bytes|crc32|adler32|\^|\bxor\b|byte|unpack|base_convert|hexdec|encrypt|\bseal\b|hmac|login|cvv|cvc|card|\biban|\bssn\b|national_?id|passport|\botp|totp|session|\bsid\b|passcode|mnemonic|\bvars\(|Object\.(?:entries|values)|__dict__|charAt|\.\.\.\w|\*\*\w|\bu(?:8|32|64)\b"
    r"|\$\{?[A-Z]|%\s*(?:len\(|\w+\.(?:length|size|len|count)\b)|(?:>>|&)\s*(?:0x|\d)",
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
        named = [*named_in_data(request, CHANGED, until)]
        if not heads:
            return ended(self.name, named)
        head, unlooked = linked([_packed(v) for v in heads], request.head, until)
        if not any(facts.uses or facts.outlines for facts in head.values()):
            return ended(self.name, named, unlooked)
        bases = [v for v in views.of(side="base") if _is_read(v)]
        base, _ = linked([*map(_packed, bases), *_deleted(request)], request.base, until)
        by_path = {v.path: v for v in heads}
        now_at = {v.source.path: v.path for v in bases}
        compared = {p: facts for p, facts in head.items() if p not in now_at or now_at[p] in base}
        found = [*new_uses(base, compared, now_at), *_from_callers(request.head, base, compared, until)]
        confirmed = Evidence(request.head, {**base, **head}, until)
        told = [one for one in found if confirmed.holds(one)]
        told.sort(key=lambda one: -one.severity.rank)  # many mild ones push no grave one out
        return ended(
            self.name,
            [*named, *(_finding(one, by_path[one.at or one.path]) for one in told[:_MOST])],
            unlooked,
        )


def _is_read(view: View) -> bool:
    known = view.language in _LANGUAGES or view.path.endswith(ENDINGS) or is_template(view.path)
    aside = is_for_show(view.path)
    if is_template(view.path):
        return not view.unreadable and not aside and ("{" in view.text or "<%" in view.text)
    if not known or view.unreadable or aside:
        return False
    return len(view.text) > SEARCHED or _SPEAKS.search(view.text) is not None


def _packed(view: View) -> tuple[str, bytes, bool]:
    return view.path, view.text.encode("utf-8", "replace"), view.language == "python"


def _from_callers(
    tree: Tree, base: Mapping[str, FileUses], head: Mapping[str, FileUses], until: float
) -> Iterator[NewUse]:
    """What files that did not change give to functions that take their parameters to pieces since."""
    old = {(one.name, h.parameter) for facts in base.values() for one in facts.outlines for h in one.hits}
    found: dict[str, tuple[str, Outline]] = {}
    for path, facts in head.items():
        for one in facts.outlines:
            hits = tuple(h for h in one.hits if (one.name, h.parameter) not in old)
            if hits and len(one.name) > _SHORT:
                found[one.name] = path, replace(one, hits=hits)
    if not found:
        return
    names = [name.encode() for name in found]
    ends = {PurePosixPath(path).suffix for path, _ in found.values()}
    paths = [e.path for e in tree.entries() if PurePosixPath(e.path).suffix in ends and e.path not in head]
    near = [p for p in paths if not is_for_show(p)][:_CALLERS]
    texts = [(p, d, p.endswith(".py")) for p, d in tree.read_many(tuple(near)) if any(n in d for n in names)]
    texts = texts[:_READ_CALLERS]
    if not texts:
        return
    before, _ = read_uses(texts, until)
    after, _ = read_uses(texts, until, [one for _, one in found.values()])
    for new in new_uses(before, after, {}):
        text = next((data for path, data, _ in texts if path == new.path), b"")
        at = next((pair for name, pair in found.items() if name.encode() in text), None)
        if at is not None and "mixed" in (*new.use.marks, new.use.way):
            line = next((h.line for h in at[1].hits if h.way == new.use.way), at[1].hits[0].line)
            yield replace(new, use=replace(new.use, line=line, source=line), at=at[0])


def _deleted(request: PrescreenRequest) -> Iterator[tuple[str, bytes, bool]]:
    gone = [f.path for f in request.change.files if f.status == "deleted" and f.path.endswith(ENDINGS)]
    for path, data in request.base.read_many(tuple(gone)):
        yield path, data, path.endswith(".py")


_FAINT: Final = {"setting": "setting", "attr": "key", "field": "field", "user": "user's"}


def _finding(one: NewUse, view: View) -> Finding:
    use = one.use
    lines = (use.line, use.source)
    line = next((line for line in lines if view.source.changed.touches(line, line)), use.line)
    whole = use.whole or "spread" in use.marks or use.secret.endswith(WHOLE)
    what = (
        f"All of {use.secret.removesuffix(WHOLE)}"
        if whole
        else f"The {_FAINT.get(use.faint, 'secret')} {use.secret}"
    )
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

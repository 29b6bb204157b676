"""What proves who somebody is newly goes to a service, a log or an answer, in whatever form.

The destination is base's, and so may be the call. What the value is is told by what base does with it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_no_product
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.passed_on.read import WHOLE, Passing, Sent
from gate.prescreen.read_files import first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

PASSED: Final = rule.meta(
    "secret.passed-on",
    "What proves who somebody is newly goes to somebody else",
    severity="medium",
    confidence="medium",
    topic="credential",
    cwe=(200, 201, 532),
    attack=("T1041", "T1056"),
    why="What somebody typed to log in, the word of their session or the address by which a database is "
    "opened is a secret whatever its name is, and remains one as coordinates, letters or bits.",
    fix="Send a length, a truth or a keyed digest where something must be told, and nothing of the value.",
)
RULES: Final[tuple[RuleMeta, ...]] = (PASSED,)
_READER: Final = Reader("gate.prescreen.passed_on.read:read", Passing, parses=True, pure=True)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST_TREE: Final = 60
_MOST: Final = 3
_OUT: Final = regex(
    r"(?i)(?:^|[.:>])(?:track\w*|send\w*|post\w*|fetch|request|publish|emit|capture\w*|report\w*|notify|enqueue|log(?:f|ln|p)?|info|debug"
    r"|warn(?:ing)?|error|trace|print\w*|fprint\w*|identify|event|http\w*|axios|setTag\w*|setExtra|addBreadcrumb|record\w*|do)$"
)
"""Calls that take something to a service or into a log."""
_ANSWER: Final = regex(
    r"(?i)(?:^|[.:>])(?:encode|json|jsonify|render\w*|show|view|template\w*|write|send|end|header|setHeader|set|redirect|respond\w*"
    r"|display|html|text|marshal|stringify|dumps|ok|body)$"
)
_TEXT: Final = regex(
    r"(?i)(?:^|[.:>])(?:stringify|dumps?|encode|marshal|json\w*|asdict|vars|to_json|serialize)$"
)
"""Calls that make a text of all that an object holds."""
_NO_NAMES: Final = frozenset({
    "self", "this", "cls", "req", "res", "request", "response", "ctx", "context", "name", "id", "user",
    "data", "key", "value", "path", "url", "config", "options", "nil", "null", "None", "err", "true",
    "false", "db", "r", "w", "c", "s", "e", "host", "env", "body", "next", "settings", "code",
    "message", "type", "status", "time", "now", "of", "get", "args", "input",
})  # fmt: skip


class PassedOn:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "passed-on"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare what changed functions send with base, then ask what base does with what is new in it."""
        until = time.monotonic() + request.deadline / 2
        every = [one for one in sources(request).files if _is_product(one.path)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head: dict[str, Passing] = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        base = read_files(_READER, [(one.path, one.base) for one in files if one.base], until)
        fresh = [
            (source, sent, names)
            for source in files if source.path in head
            for sent, names in _fresh(base.get(source.path), head[source.path])
        ]  # fmt: skip
        if not fresh:
            return ended(self.name, (), unread)
        had = {(m.owner, m.name) for facts in base.values() for m in facts.made}
        new = {(m.owner, m.name): set(m.names) for facts in head.values() for m in facts.made}
        new = {key: names for key, names in new.items() if key not in had}
        wanted = {name for _, _, names in fresh for name in names} | {
            n for many in new.values() for n in many
        }
        proofs = _proofs(request, {one for one in wanted if one not in _NO_NAMES and len(one) > 2}, until)
        return ended(self.name, _told(fresh, new, proofs), unread)


def _is_product(path: str) -> bool:
    known = path.endswith((".py", ".pyw")) or bool(grammar_of(path))
    return known and not path.endswith(".sh") and not (is_no_product(path) or is_example(path))


def _fresh(old: Passing | None, new: Passing) -> Iterator[tuple[Sent, set[str]]]:
    """Calls with the names that the same call of the same function did not get at base."""
    had: dict[tuple[str, str], set[str]] = {}
    for one in old.sent if old is not None else ():
        had.setdefault((one.function, one.call), set()).update(one.names, (f"={n}" for n in one.direct))
    for one in new.sent:
        if _OUT.search(one.call) or _ANSWER.search(one.call):
            known = had.get((one.function, one.call), set())
            names = (set(one.names) - known) | {n for n in one.direct if f"={n}" not in known}
            if names:
                yield one, names


def _proofs(request: PrescreenRequest, wanted: set[str], until: float) -> Mapping[str, str]:
    """Which of the names prove who somebody is at base, and by what that is told."""
    if not wanted:
        return {}
    plain = sorted({one.removesuffix(WHOLE) for one in wanted})[:400]
    words = re.compile(b"|".join(rb"\b" + re.escape(one.encode()) + rb"\b" for one in plain))
    entries = [e.path for e in request.base.entries() if _is_product(e.path) and e.size <= _LARGEST]
    files: list[tuple[str, bytes]] = []
    for path, data in request.base.read_many(tuple(entries[:4_000])):
        if _SPEAKS.search(data) and words.search(data):
            files.append((path, data))
        if len(files) >= _MOST_TREE:
            break
    read: dict[str, Passing] = read_files(_READER, files, until)
    return {
        name: why for facts in read.values() for name, why in facts.proofs.items()
        if name in wanted and name not in _NO_NAMES
    }  # fmt: skip


_SPEAKS: Final = regex(
    rb"(?i)cookie|401|luhn|iban|card|cvv|cvc|ssn|passport|unauthori|wrong|invalid|incorrect|bad.?credentials|authentication|connect|dial|create_engine|createPool"
    rb"|from_url|mongo|redis|amqp|PDO|sql\.open|createClient"
)


def _told(
    fresh: list[tuple[Source, Sent, set[str]]],
    new: Mapping[tuple[str, str], set[str]],
    proofs: Mapping[str, str],
) -> Iterator[Finding]:
    told: set[tuple[str, str]] = set()
    for source, sent, names in fresh:
        direct = names & proofs.keys()
        if not _OUT.search(sent.call):
            direct = {one for one in direct if one.endswith(WHOLE) and _TEXT.search(sent.call)}
        made = {
            name: f"{owner}.{function}".strip(".")
            for (owner, function), many in new.items()
            for name in sorted(many & proofs.keys())
            if function in names and (not owner or function not in _NO_NAMES or owner in sent.names)
        }
        for name in sorted(direct | made.keys())[:1]:
            if (source.path, name) in told or len(told) >= _MOST:
                continue
            told.add((source.path, name))
            yield finding(
                PASSED,
                f"`{name}`, of which {proofs[name]} at base, newly goes to `{sent.call}`.",
                Location(path=source.path, line=sent.line),
                shape=f"{sent.function} {sent.call} {name}",
                evidence={"value": name, "call": sent.text[:160], "made by": made.get(name, "")},
            )

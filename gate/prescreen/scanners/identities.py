"""Who something belongs to or goes to, and became somebody else: accounts, tenants, keys that are trusted.

No line looks odd: the call, the key and the comment stay, one id is another one. A run does not show it
either, since nothing else is done.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_aside, is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.identities import openpgp
from gate.prescreen.identities.compare import ChangedIdentity, changed, is_slip
from gate.prescreen.identities.last_read import unwritten
from gate.prescreen.identities.literals import Identifier
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.destination_lines import is_translated, role_of
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

CHANGED: Final = rule.meta(
    "identity.changed",
    "An account, a tenant or a trusted key became another one",
    severity="medium",
    confidence="medium",
    topic="identity",
    cwe=(345, 840, 471),
    attack=("T1565.001", "T1036"),
    why="Whoever the id names gets the money, the data or the trust. Everything around it stays as it was, "
    "so no test fails and no run differs. High is an id that is another one by one character, and a public "
    "key that was replaced.",
    fix="Compare the new id with the one that its owner gives you, by another way than this change.",
)
NEW: Final = rule.meta(
    "identity.new",
    "A bank account that the project had nothing to do with",
    severity="medium",
    confidence="medium",
    topic="identity",
    cwe=(840, 345),
    attack=("T1565.001",),
    why="Money can go to an account that stands nowhere in base, however it is put together.",
    fix="Say in the change whose account it is; have its owner confirm it.",
)
RULES: Final[tuple[RuleMeta, ...]] = (CHANGED, NEW)
_READER: Final = Reader("gate.prescreen.identities.literals:read", list[Identifier], parses=True, pure=True)
_LARGEST: Final = 1 << 20
_MOST: Final = 10
_MOST_FILES: Final = 300
_KEY_FILES: Final = (".pub", ".pem", ".key", ".minisign", ".asc", ".crt")
_NEVER: Final = regex(
    r"(?:^|[/._-])(?:generated|gen|vendor|vendored|third.?party|node_modules|dist|snapshots?|cassettes|__fixtures__"
    r"|mocks?|stories|storybook|testdata|samples?|examples?|min|bundle|lock|known_hosts|cypress|playwright"
    r"|grafana|dashboards?)(?=[/._-]|$)",
    re.IGNORECASE,
)
_ASIDE: Final = regex(
    r"(?:^|[/._-])(?:fixtures?|seeds?|seeders?|migrations?|locales?|i18n|l10n|lang|langs|translations?)(?=[/._-]|$)",
    re.IGNORECASE,
)
_SURE: Final = frozenset({"bank", "key", "wallet", "mail", "room", "figures"})
_FIXTURE: Final = regex(r"(?i)(?:^|/)fixtures?(?:/|\.)")
_SETS_UP: Final = regex(
    r"(?i)(?:^|/)(?:Dockerfile[^/]*|Containerfile|Makefile|justfile|Procfile|[^/]*compose[^/]*\.ya?ml|[^/]+\.(?:sh|md|rst|ya?ml)"
    r"|package\.json|composer\.json|[^/]*(?:deploy|release|entry|start|setup|seed|install|boot|manage|migrat)[^/]*)$"
    r"|(?:^|/)(?:management/commands|migrations)/[^/]+\.py$"
)
_LOADS: Final = regex(
    rb"loaddata|fixtures:load|db:(?:seed|fixtures)|call_command\(|doctrine:fixtures|load_?fixtures?"
)
_MOST_SCRIPTS: Final = 200
_FIGURES: Final = regex(rb"\d[\d /()-]{3,}\d")
_MATTERS: Final = regex(
    rb"(?i)account|iban|payee|beneficiary|merchant|tenant|recipient|organi|org.?id|workspace|bucket|wallet|kid\b"
    rb"|(?:project|principal|object|group|client|customer|subscription|cloud|team|property|seller|key|partner"
    rb"|publisher|site).?id|fingerprint|public.?key|(?:signing|release|verif\w*).?key|[a-z]\d[a-z0-9]{0,40}\d|AAAA|RW[a-z0-9+/]{50}"
    rb"|[\"']\d{2,}[\"']|[0-9a-f]{8}-|[\w+-]@[\w-]+\.|https?://\S*(?:hook|incoming|inbound|services|channel|room|inbox|notify|bot|alert)|\borg\b|-org\b|scope|ipv4|\d{1,3}\s*,\s*\d{1,3}\s*,"
    rb"|\d[\d -]{5,}\d|queue|topic|channel[\"']?\s*[:=]"
)
_SAID: Final = {
    "twin": "An identifier is almost the one of base, and another one.",
    "key": "Another public key stands where one was trusted.",
    "same": "Another party stands under the same name.",
    "moved": "An identifier changed while it moved to another place.",
    "exchanged": "Two parties changed places.",
    "taken": "A party stands in the place of another one that the file names as well.",
    "computed": "A name that is put together from variables is another one: whose is it?",
    "overridden": "A new file that is read later names another party than the file that did so.",
    "figures": "A number in a text, to pay or to call, became another one.",
    "mail": "Another mailbox of the same host stands under the same name.",
    "room": "Another room of the same host gets what is sent to the hook.",
    "octets": "The numbers of a machine's address became others.",
}
_PLACED: Final = ("exchanged", "taken", "computed", "overridden")
_BLANKS: Final = regex(rb"[\s\"',+()_.-]+")


class Identities:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "identities"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the identifiers of all changed files, and ask base for the accounts that are new."""
        every = [one for one in (*sources(request).files, *_deleted(request)) if _is_read(one)]
        every.sort(key=lambda one: _is_aside(one.path))
        large = [one for one in every if max(len(one.head), len(one.base or b"")) > _LARGEST]
        every = [one for one in every if one not in large]
        files = every[:_MOST_FILES]
        aside = {one.path for one in files if _is_aside(one.path)}
        files = _loaded(request.head, files)
        if not any(one.head for one in sources(request).files):
            return ended(self.name, ())
        until = time.monotonic() + request.deadline
        base, _ = _read([(one.path, one.base or b"") for one in files if one.base], until)
        head, unlooked = _read([(one.path, one.head) for one in files if one.head], until)
        base, head = _kept(base, aside), _kept(head, aside)
        unlooked += [(one.path, f"larger than {_LARGEST >> 10} KiB") for one in large if one.head]
        unlooked += [
            (one.path, f"past the first {_MOST_FILES} files")
            for one in every[_MOST_FILES:]
            if one.head and not _is_aside(one.path)
        ]
        found = [*changed(base, head), *unwritten(request, sources(request).files, until)]
        told = {id(one.after) for one in found}
        fresh = [
            (path, one)
            for path, many in head.items()
            for one in many
            if id(one) not in told and path not in aside
        ]
        known = {one.value for many in base.values() for one in many}
        findings = [_finding(one) for one in _few(found)]
        return ended(self.name, [*findings, *_new(request.base, fresh, known)], unlooked)


def _deleted(request: PrescreenRequest) -> Iterator[Source]:
    gone = {f.path: f for f in request.change.files if f.status == "deleted" and not f.binary}
    for path, data in request.base.read_many(tuple(gone)[:_MOST_FILES]):
        yield Source(path=path, changed=gone[path], language=None, head=b"", base=data)


def _is_read(source: Source) -> bool:
    """Is this a file of the product, and does one of its changed lines say something about a party?"""
    path = source.path.lower()
    if is_test_code(path) or _NEVER.search(path) or (is_example(path) and not is_translated(path)):
        return False
    old, new = source.base or b"", source.head
    if b"\0" in new[:4096]:
        return False
    prose = is_translated(path)
    if not path.endswith(_KEY_FILES) and not prose and role_of(source) not in ("code", "settings", "markup"):
        return False
    before, after = old.split(b"\n"), new.split(b"\n")
    differ = set(before) ^ set(after)
    return any(_MATTERS.search(line[:4_000]) or (prose and _FIGURES.search(line)) for line in differ)


def _is_aside(path: str) -> bool:
    """Data that a program may load when it is set up, or made-up data beside it: only what changed"
    " is told.
    """
    return is_aside(path) or bool(_ASIDE.search(path))


def _loaded(tree: Tree, files: list[Source]) -> list[Source]:
    """Without the fixtures that only tests load: no script, image or program of the tree sets up data."""
    if not any(_FIXTURE.search(one.path) for one in files):
        return files
    scripts = [e.path for e in tree.entries() if _SETS_UP.search(e.path) and not is_test_code(e.path)]
    texts = [data for _, data in tree.read_many(tuple(scripts[:_MOST_SCRIPTS]))]
    if any(_LOADS.search(data) for data in texts):
        return files
    return [one for one in files if not _FIXTURE.search(one.path)]


def _kept(side: dict[str, list[Identifier]], aside: set[str]) -> dict[str, list[Identifier]]:
    """Of data aside: who is named for sure. Ids that mean nothing by themselves are made up there."""
    return {
        path: [one for one in many if path not in aside or one.shape in _SURE] for path, many in side.items()
    }


def _read(
    files: Sequence[tuple[str, bytes]], until: float
) -> tuple[dict[str, list[Identifier]], list[tuple[str, str]]]:
    """The identifiers by file, and what could not be read: ``(path, reason)``."""
    left = max(1.0, until - time.monotonic())
    options = {"translated": [path for path, _ in files if is_translated(path)]}
    results = scan_isolated(_READER, files, options=options, deadline=left) if files else []
    return {one.path: one.value or [] for one in results}, [
        (one.path, one.reason) for one in results if one.value is None
    ]


def _few(found: Sequence[ChangedIdentity]) -> Iterator[ChangedIdentity]:
    count = Counter[str]()
    told: set[tuple[str, int, str, str]] = set()
    for one in found:
        key = (one.path, one.after.line, one.before.value, one.after.value)
        if key in told:
            continue  # an anchor of YAML that stands in many places
        told.add(key)
        count[one.path] += 1
        if count[one.path] <= _MOST:
            yield one


def _finding(one: ChangedIdentity) -> Finding:
    rotates = one.after.value.startswith(openpgp.SIGN)  # publishers of packages change theirs every few years
    grave = (one.sort == "key" and not rotates) or (one.sort == "twin" and is_slip(one))
    names = one.after.path.rpartition("\x1f")[2] or one.after.party
    return finding(
        CHANGED,
        _SAID[one.sort] if one.sort in _PLACED else _SAID.get(one.after.shape, _SAID[one.sort]),
        Location(path=one.path, line=one.after.line),
        shape=f"{one.before.value[:200]} {one.after.value[:200]}",
        evidence={"name": names[:80], "before": one.before.value[-120:], "after": one.after.value[-120:]},
        severity=Severity.HIGH if grave else None,
        confidence=Confidence.HIGH if grave else None,
    )


def _new(base: Tree, fresh: Sequence[tuple[str, Identifier]], known: set[str]) -> Iterator[Finding]:
    """Accounts that no file of base names, however they are spaced there."""
    wanted = {one.value: (path, one) for path, one in fresh if one.shape == "bank" and one.value not in known}
    entries = base.entries() if wanted else ()
    if not entries:
        return
    seen: set[str] = set()
    for _, data in base.read_many(tuple(entry.path for entry in entries if entry.size <= _LARGEST)):
        plain = _BLANKS.sub(b"", data).upper()
        seen |= {value for value in wanted if value.encode() in plain}
    for value, (path, one) in [*wanted.items()][:_MOST]:
        if value not in seen:
            yield finding(
                NEW,
                "Money can go to a bank account that stood nowhere before.",
                Location(path=path, line=one.line),
                shape=value,
                evidence={"account": value},
            )

"""Secrets in changed lines: detect-secrets for known formats, a few formats and assignments of our own.

A value found leaves this file only in ``Prescreened.secrets``, so that run.py can take it out of every
other finding; evidence, shape and message never hold it (RP-6). Nothing is ever checked with a provider.
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_test_code
from gate.model.finding import Finding
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.text_rule import finding, rule
from gate.prescreen.views import make_views
from gate.regex import regex

_WINDOW: Final = 4000
_OVERLAP: Final = 300
_HERE: Final = 256 << 10
"""Bytes up to which the lines worth a look are found in this process."""
_MOST: Final = 200
"""Credentials told apart in one file; a file with more is a list of them, and said to be bad 200 times."""
_REMEDY: Final = "Revoke the secret now (it is in the history), then read it from the environment or a vault."

KNOWN: Final = rule.meta(
    "secret.known-format",
    "A credential of a known format stands in the change",
    severity="high",
    confidence="high",
    topic="secret",
    cwe=(798,),
    attack=("T1552.001",),
    why="Whoever can read the repository, or any copy of it, can use the credential.",
    fix=_REMEDY,
)
PRIVATE_KEY: Final = rule.meta(
    "secret.private-key",
    "A private key stands in the change",
    severity="high",
    confidence="high",
    topic="secret",
    cwe=(321, 798),
    attack=("T1552.004",),
    why="A published private key proves nothing any more; it must be replaced everywhere.",
    fix=_REMEDY,
)
ASSIGNED: Final = rule.meta(
    "secret.assigned",
    "Something that looks like a password or token is written out",
    severity="medium",
    confidence="low",
    topic="secret",
    cwe=(798,),
    attack=("T1552.001",),
    why="Passwords in the source are shared with everybody who ever reads it.",
    fix=_REMEDY,
)
RULES: Final[tuple[RuleMeta, ...]] = (KNOWN, PRIVATE_KEY, ASSIGNED)

# A line is worth the patterns when it holds one of these, in any case: a provider's prefix, a word about
# secrets, an address. Finding fixed text is what Python does fastest; 20 MB take a fraction of a second.
_WORDS: Final = (
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat glpat akia asia a3t abia acca xox hooks.slack aiza npm_ pypi- "
    "k_live sk- eyj begin sq0 sg. -us hf_ dop_v1 shpat shpca shppa shpss dapi accountkey akc pass pwd "
    "secret token apikey api_key api-key auth cred _key private :// discord twilio"
)
_WORTH: Final = tuple(_WORDS.split())
_OWN_FORMATS: Final = (
    ("Anthropic API key", regex(r"sk-ant-[a-z0-9]{2,8}-[A-Za-z0-9_-]{32,}")),
    ("OpenAI API key", regex(r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32,}")),
    ("GitHub fine-grained token", regex(r"github_pat_[A-Za-z0-9_]{60,}")),
    ("Google API key", regex(r"AIza[A-Za-z0-9_-]{35}")),
    ("Hugging Face token", regex(r"\bhf_[A-Za-z0-9]{34}\b")),
    ("DigitalOcean token", regex(r"dop_v1_[a-f0-9]{64}")),
    ("Shopify token", regex(r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}")),
    ("Databricks token", regex(r"\bdapi[a-f0-9]{32}\b")),
    ("password in a URL", regex(r"(?<=://)[^\s:/@\"'{}$<>]{1,80}:([^\s/@\"'{}$<>]{6,200})(?=@)")),
)
_ASSIGNMENT: Final = regex(
    r"""(?ix)(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|auth_?key|private_?key)
    [\w.-]{0,20}["']?\s{0,4}(?:=>|:=|=|:)\s{0,4}["']?([^\s"',;]{8,200})"""
)
_NO_SECRET: Final = regex(
    r"(?i)example|sample|dummy|fake|placeholder|change.?me|your[_-]|my[_-]|xxx|<|>|\$|\{|\}|\*\*|\(|\.\.|todo|none|null"
    r"|true|false|test|\[|^pass|secret|passw|token|localhost|env\b|environ|redacted|^[a-z_.-]+$|^[A-Z_.-]+$|^[\d.]+$|/"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Spotted:
    """One value in one line: which rule, what kind in words."""

    rule: str
    kind: str
    value: str
    line: int


_READER: Final = Reader("gate.prescreen.scanners.secrets:scan_lines", list[Spotted])


class Secrets:
    """Credentials in lines that the change adds or rewrites, in text of every language."""

    name: str = "secrets"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Look at changed lines only; a value that the old version of the file already held is not new."""
        packed = ((view, _packed(view)) for view in make_views(request).of(side="head"))
        work = [(view, data) for view, data in packed if data is not None]
        files = [(view.path, data) for view, data in work]
        results = scan_isolated(_READER, files, deadline=request.deadline) if files else []
        found: list[Finding] = []
        values: set[str] = set()
        unlooked: list[tuple[str, str]] = []
        for (view, _), result in zip(work, results, strict=True):
            if result.value is None:
                unlooked.append((view.path, result.reason))
                continue
            old = (view.source.base or b"").decode("utf-8", "replace")
            for spotted in result.value:
                values.add(spotted.value)
                if spotted.value not in old and not _is_expression(view, spotted):
                    found.append(_finding(view, spotted))
        return ended(self.name, found, unlooked, secrets=tuple(sorted(values)))


def scan_lines(path: str, data: bytes, options: Mapping[str, object]) -> list[Spotted]:
    """Inside the child: ``data`` is a JSON list of ``[line number, text]``, or what _packed makes of more."""
    del path, options
    head, _, text = data.partition(b"\n")
    if text:
        told = msgspec.json.decode(head, type=_Told)
        lines = _worth(text.decode(), told.spans, told.lines)
    else:
        lines = msgspec.json.decode(head, type=list[tuple[int, str]])
    return _spotted(lines)


def _spotted(lines: list[tuple[int, str]]) -> list[Spotted]:
    out: list[Spotted] = []
    for number, text in lines:
        told: list[str] = []
        for start in range(0, max(1, len(text)), _WINDOW):
            window = text[start : start + _WINDOW + _OVERLAP]
            for spotted in _in_line(number, window):
                if not any(spotted.value in value for value in told[-50:]):
                    told.append(spotted.value)
                    out.append(spotted)
                    if len(out) >= _MOST:
                        return out
    return out


class _Told(msgspec.Struct, frozen=True):
    """Which lines of the file are changed (first, one past the last), and the view's map of lines."""

    spans: tuple[tuple[int, int], ...]
    lines: tuple[int, ...] | None


def _packed(view: View) -> bytes | None:
    """What the child is given of a view; None when it has nothing to look at.

    In a short text the lines worth a look are found here, so that most changes need no child at all;
    a long one is the child's business as a whole, under its deadline.
    """
    changed = view.source.changed
    spans = tuple((h.new_start, h.new_start + h.new_count) for h in changed.hunks if h.new_count)
    # a lone surrogate cannot travel as UTF-8, and is in no credential
    text = view.text.encode("utf-8", "replace")
    if len(text) > _HERE:
        return msgspec.json.encode(_Told(spans=spans, lines=view.lines)) + b"\n" + text
    lines = _worth(text.decode(), spans, view.lines)
    return msgspec.json.encode(lines) if lines else None


def _worth(
    text: str, spans: Sequence[tuple[int, int]], mapped: tuple[int, ...] | None
) -> list[tuple[int, str]]:
    """``(line, text)`` of the changed lines that the patterns are tried on."""
    low = text.lower()
    if len(low) != len(text):  # a few letters grow when lowered; then offsets would be wrong
        low = text
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    wanted: set[int] = set()
    for literal in _WORTH:
        at = low.find(literal)
        while at >= 0:
            number = bisect_right(starts, at)
            wanted.add(number)
            at = low.find(literal, starts[number] if number < len(starts) else len(low))
    starts.append(len(text) + 1)
    firsts = [first for first, _ in spans]
    out = []
    for number in sorted(wanted):
        line = mapped[min(number, len(mapped)) - 1] if mapped else number
        at = bisect_right(firsts, line) - 1
        if at >= 0 and line < spans[at][1]:
            out.append((number, text[starts[number - 1] : starts[number] - 1]))
    return out


def _in_line(number: int, text: str) -> Iterator[Spotted]:
    if "PRIVATE KEY" in text and (
        match := re.search(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----\S{0,80}", text)
    ):
        yield Spotted(rule=PRIVATE_KEY.id, kind="private key", value=match[0], line=number)
    for kind, pattern in _OWN_FORMATS:
        for match in pattern.finditer(text):
            value = match[match.lastindex or 0]
            if not _placeholder(value) and not (kind == "password in a URL" and _NO_SECRET.search(value)):
                yield Spotted(rule=KNOWN.id, kind=kind, value=value, line=number)
    for plugin in _plugins():
        for value in plugin.analyze_string(text):
            whole = next((w for w in re.findall(r"[\w.+/=-]+", text) if value in w), value)
            if len(whole) >= 12 and not _placeholder(whole):
                yield Spotted(rule=KNOWN.id, kind=plugin.secret_type, value=whole, line=number)
    for match in _ASSIGNMENT.finditer(text):
        value = match[1].strip("`)]}")
        if len(value) >= 8 and not _NO_SECRET.search(value) and _bits(value) > 2.8:
            yield Spotted(rule=ASSIGNED.id, kind="assigned value", value=value, line=number)


@cache
def _plugins() -> tuple[Any, ...]:
    """detect-secrets' detectors of known formats (those without a keyword or entropy guess)."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    skipped = {
        "Public IP (ipv4)",
        "Secret Keyword",
        "Basic Auth Credentials",
        "Private Key",
        "Artifactory Credentials",
    }
    classes: Any = get_mapping_from_secret_type_to_class().items()
    return tuple(
        c() for kind, c in sorted(classes) if issubclass(c, RegexBasedDetector) and kind not in skipped
    )


def _placeholder(value: str) -> bool:
    """Documentation values, and values with too little variety to be real."""
    return (
        bool(re.search(r"(?i)example|xxxx|0{8}|1234567890?abc|abcdef|dummy|placeholder", value))
        or _bits(value) < 2.5
    )


def _bits(value: str) -> float:
    """Shannon entropy, bits per character."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values()) if value else 0.0


def _is_expression(view: View, spotted: Spotted) -> bool:
    """In a programming language a value that is not quoted is a name or a call, not a password."""
    if spotted.rule != ASSIGNED.id or view.language not in ("python", "javascript", "typescript", "other"):
        return False
    return not re.search(f"[\"'`]{re.escape(spotted.value)}", view.quote(spotted.line))


def _finding(view: View, spotted: Spotted) -> Finding:
    meta = next(rule for rule in RULES if rule.id == spotted.rule)
    quiet = is_test_code(view.path) or view.language == "prose"
    severity = None
    if quiet:
        mild = meta is ASSIGNED or spotted.kind == "password in a URL"
        severity = Severity.LOW if mild else Severity.MEDIUM
    line = view.quote(spotted.line).replace(spotted.value, "[redacted]")[:300]
    # Two new secrets of one kind on like lines stay two; the digest is cut so short that it tells nothing.
    mark = hashlib.sha256(spotted.value.encode("utf-8", "surrogateescape")).hexdigest()[:2]
    return finding(
        meta,
        "A credential stands in a changed line.",
        view.location(spotted.line),
        shape=f"{spotted.kind} {mark} {line}",
        evidence={"kind": spotted.kind, "length": str(len(spotted.value))},
        severity=severity,
    )

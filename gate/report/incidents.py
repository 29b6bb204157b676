"""Findings that tell one story, joined: one incident, told in one sentence made from what was seen.

An incident is what one file of the change did in one probe. Its sentence has our words and the change's
words apart, so that each reporter can escape the latter. It is made anew from findings and behaviours by
whoever shows a report, so that nobody can write another sentence into a report.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.canary import DECOY_FILES
from gate.model.exploit import PROVEN_BY
from gate.model.finding import Finding, worst_first
from gate.model.location import Location
from gate.model.report import Report
from gate.model.rule import FindingStage, Severity
from gate.model.run import PHASES, Phase, Probe
from gate.model.score import Verdict
from gate.report import summary

_WHEN: Final[dict[Phase, str]] = {
    "install": "on install",
    "import": "on import",
    "script": "when run",
    "call": "when called",
    "test": "in tests",
    "idle": "when left alone",
}
_NETWORK: Final = (BehaviourKind.HTTP, BehaviourKind.CONNECT, BehaviourKind.SEND, BehaviourKind.DNS)
_READ: Final = frozenset({"read", "env", "then-network"})
_HTTP: Final = frozenset({"http", "http-body", "http-query", "http-path", "http-header"})
AWAY: Final = _HTTP | {"net", "tcp", "udp", "dns", "dns-labels"}
"""Channels of a planted secret that leave the machine."""
_KEPT: Final = {
    "argv": "puts it on a command line",
    "stdout": "prints it",
    "stderr": "prints it",
    "file": "writes it to a file",
    "file-name": "makes a file's name of it",
}
_SENT: Final = frozenset({"POST", "PUT", "PATCH"})
_REQUEST: Final = "A request "
_LONGEST: Final = 90
"""Characters of a request that a sentence shows."""
_CUT: Final = 300
"""Characters at which a finding's list of subjects is cut."""
_CLAUSES: Final = 3
_SUBJECTS: Final = 2
_UNSHOWN: Final = frozenset({BehaviourKind.CANARY, *_NETWORK})


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrase:
    """A piece of a sentence. ``quoted``: the change's words, untrusted, to be shown as code."""

    text: str
    quoted: bool = False


Sentence = tuple[Phrase, ...]
_REFUSED: Final[Sentence] = (Phrase(text=" (refused by the sandbox)"),)


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """What one file did in one probe, and the findings that are its evidence, worst first."""

    sentence: Sentence
    findings: tuple[Finding, ...]
    behaviours: tuple[Behaviour, ...] = ()
    probe: Probe | None = None
    """The least asked-for probe that showed it; None where it is not known."""

    @property
    def severity(self) -> Severity:
        """That of its worst finding."""
        return max((f.severity for f in self.findings), key=lambda s: s.rank)

    @property
    def primary(self) -> Location:
        """Where its worst finding points, with the line of the worst in the same file that has one."""
        first = self.findings[0].primary
        same = (f.primary for f in self.findings if f.primary.path == first.path)
        return next((place for place in same if place.line is not None), first)


def incidents(report: Report) -> tuple[Incident, ...]:
    """The incidents of a report, worst first. Small findings alone make none."""
    probes = {run.probe.id: run.probe for run in report.sandbox.runs}
    seen = [f for f in report.findings if f.stage is FindingStage.BEHAVIOUR]
    groups: dict[tuple[str, str], list[Behaviour]] = {}
    for item in report.behaviour.new:
        groups.setdefault(_story(item, probes), []).append(item)
    made = []
    for (path, probe), items in groups.items():
        subjects = _Subjects.of(items)
        told = [finding for finding in seen if subjects.tell(finding)]
        if not any(f.severity.rank >= Severity.MEDIUM.rank for f in told):
            continue
        sentence = _sentence(probes.get(probe), path, items, told)
        same = [f for f in report.findings if f.stage is not FindingStage.BEHAVIOUR and _beside(f, told)]
        if sentence:
            evidence = worst_first([*told, *same])
            made.append(
                Incident(
                    sentence=sentence, findings=evidence, behaviours=tuple(items), probe=probes.get(probe)
                )
            )
    order = {f.fingerprint: rank for rank, f in enumerate(worst_first(report.findings))}
    return tuple(sorted(made, key=lambda one: order[one.findings[0].fingerprint]))


def fact(report: Report) -> Sentence:
    """What a heading says: the worst incident, else the worst finding with its place; empty: neither."""
    worst = summary.worst_finding(report)
    if worst is None:
        return ()
    joined = incidents(report)
    proof = worst.evidence.get(PROVEN_BY, "")
    if joined and joined[0].severity.rank >= worst.severity.rank + (1 if proof else 0):
        return joined[0].sentence
    path, line = summary.location_parts(worst)
    message, at = worst.message.rstrip("."), Phrase(text=path + line, quoted=True)
    if proof and message.startswith(_REQUEST):
        shown = proof if len(proof) <= _LONGEST else proof[: _LONGEST - 1] + "…"
        does = " " + message.removeprefix(_REQUEST) + ", in "
        return (Phrase(text="proven: "), Phrase(text=shown, quoted=True), Phrase(text=does), at)
    return (Phrase(text=message[:1].lower() + message[1:] + ", in "), at)


def last_line(report: Report) -> str:
    """The verdict and the one sentence that says why: what stands last on a terminal, and alone with ``-q``.

    May hold names from the change: untrusted text.
    """
    word, gloss = summary.verdict_words(report)
    why = gloss
    if report.verdict is Verdict.INCONCLUSIVE and report.reasons:
        why = report.reasons[0]
    elif report.verdict is not Verdict.PASS and report.findings:
        more = f" ({len(report.findings) - 1} more)" if len(report.findings) > 1 else ""
        why = f"{_text(fact(report))}{more}"
    elif report.verdict is not Verdict.PASS and report.reasons:
        why = report.reasons[-1]
    return f"{word}, score {report.score.value} of 100: {why}"


def plain(sentence: Sentence) -> str:
    """The sentence as text, still untrusted; begins with a capital."""
    text = _text(sentence)
    return text[:1].upper() + text[1:]


def _text(sentence: Sentence) -> str:
    return "".join(phrase.text for phrase in sentence)


def _story(item: Behaviour, probes: dict[str, Probe]) -> tuple[str, str]:
    """The file that did it and the least asked-for probe that showed it."""
    known = [probes[name] for name in item.probes if name in probes]
    first = min(known, key=lambda probe: PHASES.index(probe.phase), default=None)
    path = item.at.path if item.at is not None else (first.path if first else None)
    return path or "", first.id if first else ""


@dataclass(frozen=True)
class _Subjects:
    """What some behaviours are about, so that many findings are each asked about all of them at once."""

    names: frozenset[str]
    shapes: tuple[str, ...]
    cut: tuple[str, ...]

    @classmethod
    def of(cls, items: Sequence[Behaviour]) -> _Subjects:
        names = frozenset(item.subject for item in items)
        shapes = dict.fromkeys(f"{item.kind.value} {item.subject}" for item in items)
        return cls(names, tuple(shapes), tuple({name[:_CUT] for name in names}))

    def tell(self, finding: Finding) -> bool:
        """Whether the finding rests on one of the behaviours. Long lists of subjects were cut."""
        told = finding.evidence.get("subject", "")
        if not told:
            return finding.shape.startswith(self.shapes)
        if not self.names.isdisjoint(told.split(", ")):
            return True
        return len(told) >= _CUT and any(name in told for name in self.cut)


def _beside(finding: Finding, told: Sequence[Finding]) -> bool:
    """Whether reading the text found something on the very lines of what was seen running."""
    place = finding.primary
    return place.line is not None and any(
        one.primary.path == place.path
        and one.primary.line is not None
        and place.line <= one.primary.line <= (place.end_line or place.line)
        for one in told
    )


def _sentence(
    probe: Probe | None, path: str, items: Sequence[Behaviour], told: Sequence[Finding]
) -> Sentence:
    clauses = [*_secrets(items), *_others(items, told)]
    if not clauses:
        return ()
    out = [*_subject(probe, path), *clauses[0]]
    for number, clause in enumerate(clauses[1:_CLAUSES], 2):
        last = number == min(len(clauses), _CLAUSES)
        out += [Phrase(text=" and " if last else ", "), *clause]
    return tuple(out)


def _subject(probe: Probe | None, path: str) -> Iterator[Phrase]:
    """``on import, `shop/rates.py` ``: when, and which code."""
    if probe is None:
        yield Phrase(text="")
    else:
        yield Phrase(text=_WHEN[probe.phase])
        if probe.condition:
            yield Phrase(text=f" ({probe.condition})")
        yield Phrase(text=", ")
        if probe.dependency:
            yield Phrase(text="the package ")
            yield Phrase(text=probe.dependency, quoted=True)
            yield Phrase(text=" ")
            return
    yield Phrase(text=path or (probe.target if probe else "the change"), quoted=True)
    yield Phrase(text=" ")


def _secrets(items: Sequence[Behaviour]) -> Iterator[Sentence]:
    """Planted secrets that were read, and where they went; else what was reached over the network."""
    canaries = [b for b in items if b.kind is BehaviourKind.CANARY]
    read = _names(b for b in canaries if b.detail.get("channel") in _READ)
    gone = _names(b for b in canaries if b.detail.get("channel") in AWAY)
    sent = bool(gone) or any(b.detail.get("channel") == "then-network" for b in canaries)
    if read or gone:
        yield (
            Phrase(text="reads "),
            *_listed(read or gone),
            Phrase(text=" (planted)" if len(read or gone) == 1 else " (all planted)"),
        )
    if where := _destination(items):
        link = _NETWORK_WORDS[_strongest(items)]
        link = "sends it to " if gone else "then reaches " if sent else link
        yield (Phrase(text=link), *where)
    for channel in dict.fromkeys(b.detail.get("channel", "") for b in canaries):
        if channel in _KEPT:
            yield (Phrase(text=_KEPT[channel]),)


def _names(canaries: Iterable[Behaviour]) -> list[str]:
    names = dict.fromkeys(b.detail.get("canary", b.subject) for b in canaries)
    return [f"~/{DECOY_FILES[name]}" if name in DECOY_FILES else name for name in names]


_NETWORK_WORDS: Final = {
    "sends": "sends data to ",
    "asks": "requests ",
    BehaviourKind.CONNECT: "connects to ",
    BehaviourKind.SEND: "sends to ",
    BehaviourKind.DNS: "looks up ",
    None: "",
}


def _strongest(items: Sequence[Behaviour]) -> str | BehaviourKind | None:
    """How the network was used: a request with a body, any request, a connection, a datagram, a name."""
    requests = [b for b in items if b.kind is BehaviourKind.HTTP]
    if requests:
        return "sends" if any(_method(b) in _SENT for b in requests) else "asks"
    return next((kind for kind in _NETWORK[1:] if any(b.kind is kind for b in items)), None)


def _method(item: Behaviour) -> str:
    return item.detail.get("method") or item.subject.partition(" ")[0]


def _destination(items: Sequence[Behaviour]) -> Sentence:
    """The host that a request named and its address, as far as each was seen."""
    hosts = list(
        dict.fromkeys(
            b.detail.get("host") or b.subject.split(" ")[1]
            for b in items
            if b.kind is BehaviourKind.HTTP and (b.detail.get("host") or b.subject.count(" ") > 1)
        )
    )
    addresses = [b.subject for b in items if b.kind in (BehaviourKind.CONNECT, BehaviourKind.SEND)]
    names = [b.detail.get("name") or b.subject for b in items if b.kind is BehaviourKind.DNS]
    places = hosts or list(dict.fromkeys(addresses)) or list(dict.fromkeys(names))
    return _listed(places)


def _others(items: Sequence[Behaviour], told: Sequence[Finding]) -> Iterator[Sentence]:
    """What else the findings rest on, by verb, the gravest kinds first."""
    worst = max(f.severity.rank for f in told)
    grave = [f for f in told if f.severity.rank >= min(worst, Severity.MEDIUM.rank)]
    by_verb: dict[tuple[str, bool], list[str]] = {}
    for item in summary.ordered(items):
        if item.kind in _UNSHOWN or not any(map(_Subjects.of([item]).tell, grave)):
            continue
        shown = item.detail.get("argv", item.subject) if item.kind is BehaviourKind.EXEC else item.subject
        word = "tries" if item.kind is BehaviourKind.DENIED else summary.verb(item)
        subjects = by_verb.setdefault((word, item.denied), [])
        if shown not in subjects:
            subjects.append(shown)
    for (word, denied), subjects in by_verb.items():
        yield (Phrase(text=f"{word} "), *_listed(subjects), *(_REFUSED if denied else ()))


def _listed(subjects: Sequence[str]) -> Sentence:
    out: list[Phrase] = []
    for number, subject in enumerate(subjects[:_SUBJECTS]):
        out += [Phrase(text=", ")] if number else []
        out.append(Phrase(text=subject[:120], quoted=True))
    more = len(subjects) - _SUBJECTS
    return (*out, Phrase(text=f" and {more} more")) if more > 0 else tuple(out)

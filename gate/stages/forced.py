"""The look at lines that nothing reached: forced to run twice, with made-up values, at head and at base.

Nothing here counts as run, and nothing here can end a check: a forced run that hangs, crashes or is not begun
for want of time says nothing (docs/forced-execution.md).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import Behaviour, BehaviourDiff, BehaviourKind
from gate.model.canary import Canary
from gate.model.change import Change, Side, Tree
from gate.model.exercised import Exercised
from gate.model.forced import FORCED_PORTS, ForcedAct, ForcedLine, ForcedTarget, GuardKind
from gate.model.rule import Severity
from gate.model.run import NotExercised, Probe, RunRecord
from gate.plan.forced import SEEDS, conditions_of, forced_probe, forced_targets, grouped
from gate.plan.forced_copies import LANGUAGES, Copies, base_path, copies_of
from gate.plan.source_readings import Readings
from gate.sandbox.contract import Session
from gate.sandbox.execution import side_by_side
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.diff import compare

BUDGET: Final = 20.0
"""Seconds of wall time for all forced runs of a change."""
_KINDS: Final = frozenset(BehaviourKind) - {
    BehaviourKind.READ,
    BehaviourKind.EXIT,
    BehaviourKind.LIMIT,
    BehaviourKind.RENAME,
    BehaviourKind.LINK,
}
"""What counts: what a process is made to end by, or what it reads, is our doing as often as the code's."""
_NOT: Final = frozenset({"acts-only-when", "early-exit", "timeout", "process-left-behind"})
"""Rules about how a run went: of a forced one that says nothing."""
_TEXT: Final = 200


def made_up_word() -> str:
    """A word that nobody can foresee, of letters alone: digits are folded when runs are compared."""
    return "g" + "".join(secrets.choice("bdfgklmnprstvz") + secrets.choice("aeiou") for _ in range(4))


@dataclass(frozen=True, kw_only=True, slots=True)
class ForcedLook:
    """What came of forcing, and what was left out."""

    lines: tuple[ForcedLine, ...] = ()
    left: tuple[NotExercised, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Forcing:
    """One look. ``runs``: those of the ordinary looks, whose traces still exist; ``pace``: how many times as
    long everything may take; ``note`` takes signs of life.
    """

    session: Session
    change: Change
    base: Tree
    head: Tree
    readings: Readings
    runs: tuple[RunRecord, ...]
    planted: tuple[Canary, ...]
    pace: float
    note: Callable[[str], None]
    mark: str = field(default_factory=made_up_word)
    """In the text of all made-up values; the code cannot know it beforehand and name its own things so."""

    def look(self, exercised: Exercised) -> ForcedLook:
        """Force what did not run. A change whose sensitive lines all ran, or that has none, costs nothing."""
        targets, left = forced_targets(self.change.files, self.readings, exercised)
        if not targets:
            return ForcedLook(left=left)
        groups = grouped(targets)
        copies = self._copies(targets)
        until = time.monotonic() + BUDGET * self.pace
        head = self._all([(group, "head", seed) for group in groups for seed in SEEDS], until, copies)
        late = [group for group in groups if any((group, seed) not in head for seed in SEEDS)]
        left += tuple(
            NotExercised(
                path=t.path, target=f"line {t.line}", reason="it could not be forced, or no time was left"
            )
            for group in late
            for t in group
        )
        done = [group for group in groups if group not in late]
        facts = self._facts(done, head, {})
        again = [group for group in done if facts.get(group) and any(t.before for t in group)]
        base = self._all(
            [(g, "base", s) for g in again for s in SEEDS], until + BUDGET * self.pace / 2, copies
        )
        if base:
            facts = self._facts(done, head, base)
        # Where base was not asked although it could be, nobody knows what is new.
        unknown = {group for group in again if any((group, seed) not in base for seed in SEEDS)}
        languages = {f.path: f.language for f in self.change.files}
        conditions = conditions_of(targets, self.readings.texts, languages)
        lines = [
            line
            for group in done
            for line in self._lines(group, () if group in unknown else facts.get(group, ()), head, conditions)
        ]
        return ForcedLook(lines=tuple(lines), left=left)

    def _copies(self, targets: Sequence[ForcedTarget]) -> Copies:
        """Instrumented copies of both sides, where a language needs them."""
        files = {f.path: f for f in self.change.files}
        before = {
            base_path(files[t.path]) for t in targets if t.before and files[t.path].language in LANGUAGES
        }
        texts = dict(self.base.read_many(tuple(sorted(before)))) if before else {}
        return copies_of(targets, files, self.readings.texts, texts)

    def _all(self, wanted: Sequence[_Turn], until: float, copies: Copies) -> dict[_Key, RunRecord]:
        """The runs that ended well enough to be looked at, by group and seed; what comes too late is not
        begun.
        """
        files = {f.path: f for f in self.change.files}
        paths = {
            "head": frozenset(e.path for e in self.head.entries()),
            "base": frozenset(e.path for e in self.base.entries()),
        }

        def one(turn: _Turn) -> RunRecord | None:
            group, side, seed = turn
            if time.monotonic() >= until:
                return None
            probe = forced_probe(group, files[group[0].path], paths[side], seed, side, self.mark, copies)
            if probe is None:
                return None
            probe = replace(probe, deadline=probe.deadline * self.pace)
            record = self.session.run(probe, side)
            self.note(f"{probe.target} at {side}: {record.outcome.value} in {record.seconds:.1f} s")
            return record if record.fault is None and record.driver_report.get("items") else None

        if not wanted:
            return {}
        records = side_by_side(self.session, one, wanted, name="forced")
        return {
            (group, seed): record
            for (group, _, seed), record in zip(wanted, records, strict=True)
            if record is not None
        }

    def _facts(
        self,
        groups: Sequence[_Group],
        head: Mapping[_Key, RunRecord],
        base: Mapping[_Key, RunRecord],
    ) -> dict[_Group, tuple[Behaviour, ...]]:
        """What each group did alike with both seeds, that no other run did and that is not of our making."""
        forced = (*head.values(), *base.values())
        new = compare((*self.runs, *forced), self.planted).new
        ours = {record.probe.id for record in forced}
        alone = [
            b for b in new if b.kind in _KINDS and ours.issuperset(b.probes) and not is_ours(b, self.mark)
        ]
        facts: dict[_Group, tuple[Behaviour, ...]] = {}
        for group in groups:
            first, second = (head[group, seed].probe.id for seed in SEEDS)
            both = [b for b in alone if first in b.probes and second in b.probes]
            rest = [b for b in alone if b not in both]
            both += _same_but_port(
                [b for b in rest if first in b.probes], [b for b in rest if second in b.probes]
            )
            if both:
                facts[group] = tuple(both)
        return facts

    def _lines(
        self,
        group: _Group,
        facts: Sequence[Behaviour],
        head: Mapping[_Key, RunRecord],
        conditions: Mapping[tuple[str, int], tuple[tuple[str, ...], GuardKind]],
    ) -> list[ForcedLine]:
        """Each line of a group; the facts stand with one of them, since only together do they say what the
        function does.
        """
        told = _told(head[group, SEEDS[0]])
        acts = self._acts(facts, head[group, SEEDS[0]].probe)
        places = [fact.at.line for fact in facts if fact.at is not None]
        chosen = next((t.line for line in places for t in group if t.line == line), group[0].line)
        out = []
        for target in group:
            text, guard = conditions.get((target.path, target.line), ((), ""))
            out.append(
                ForcedLine(
                    path=target.path,
                    line=target.line,
                    told=_beside(chosen) if acts and target.line != chosen else told.get(target.line, ""),
                    conditions=text,
                    guard=guard,
                    acts=acts if target.line == chosen else (),
                    in_tests=target.in_tests,
                )
            )
        return out

    def _acts(self, facts: Sequence[Behaviour], probe: Probe) -> tuple[ForcedAct, ...]:
        """The facts as the rules of behaviour would tell them, those worth a person's look, gravest first."""
        found: dict[str, ForcedAct] = {}
        for fact in facts:
            diff = BehaviourDiff(new=(replace(fact, probes=(probe.id,)),))
            for finding in signals(SignalContext(change=self.change, diff=diff, runs=self.runs)):
                grave = finding.severity.rank >= Severity.MEDIUM.rank and finding.rule_id not in _NOT
                known = found.get(said(fact))
                if grave and (known is None or known.severity.rank < finding.severity.rank):
                    found[said(fact)] = ForcedAct(
                        rule_id=finding.rule_id,
                        topic=finding.topic,
                        severity=finding.severity,
                        confidence=finding.confidence,
                        text=said(fact),
                    )
        return tuple(sorted(found.values(), key=lambda a: (-a.severity.rank, -a.confidence.rank, a.text)))


_Group = tuple[ForcedTarget, ...]
_Key = tuple[_Group, int]
_Turn = tuple[_Group, Side, int]


def is_ours(behaviour: Behaviour, mark: str) -> bool:
    """True for what repeats a value that we made up: hosts, words and paths all hold the mark.

    Of a connection its end alone counts: a made-up word in what is asked there is the code's own message.
    """
    ends = behaviour.kind in (BehaviourKind.CONNECT, BehaviourKind.SEND)
    detail = (behaviour.detail.get("host", ""),) if ends else behaviour.detail.values()
    texts = (behaviour.subject, *detail)
    return any(mark in text for text in texts)


def _same_but_port(first: Sequence[Behaviour], second: Sequence[Behaviour]) -> list[Behaviour]:
    """Connections to one address at the two ports that we made up: the address is the code's."""
    one, other = (f":{port}" for port in FORCED_PORTS)
    hosts = {b.subject.removesuffix(other) for b in second if b.subject.endswith(other)}
    return [
        replace(b, subject=b.subject.removesuffix(one) + ":*")
        for b in first
        if b.subject.endswith(one) and b.subject.removesuffix(one) in hosts
    ]


_SAID: Final = {
    BehaviourKind.EXEC: "runs",
    BehaviourKind.CONNECT: "connects to",
    BehaviourKind.DNS: "looks up",
    BehaviourKind.HTTP: "requests",
    BehaviourKind.SEND: "sends to",
    BehaviourKind.WRITE: "writes",
    BehaviourKind.DELETE: "deletes",
    BehaviourKind.CHMOD: "changes the mode of",
    BehaviourKind.SIGNAL: "signals",
    BehaviourKind.LISTEN: "listens on",
    BehaviourKind.PROBE: "asks for",
    BehaviourKind.DENIED: "tries",
}


def said(behaviour: Behaviour) -> str:
    """A fact in words, with text of the change."""
    if behaviour.kind is BehaviourKind.CANARY:
        channel = behaviour.detail.get("channel", "read")
        return f"takes the planted secret {behaviour.subject} ({channel})"[:_TEXT]
    what = behaviour.subject
    if behaviour.kind is BehaviourKind.EXEC:
        what = behaviour.detail.get("argv") or what
    return f"{_SAID.get(behaviour.kind, 'does')} {what}"[:_TEXT]


def _beside(line: int) -> str:
    return f"reached, what was seen is told with line {line}"


def _told(record: RunRecord) -> dict[int, str]:
    """How far the driver says each line came: hints, and only our own words."""
    found: dict[int, str] = {}
    items = record.driver_report.get("items")
    for item in items if isinstance(items, list) else ():
        rows = item.get("forced") if isinstance(item, Mapping) else None
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, list) and len(row) == 2 and type(row[0]) is int and row[1] in _WORDS:
                found[row[0]] = max(found.get(row[0], _WORDS[0]), row[1], key=_WORDS.index)
    return found


_WORDS: Final = ("not reached", "reached with made-up values", "reached")

"""The look with other secrets: what follows a planted secret is told, however it was encoded or encrypted.

Probes that gave something away at head which they do not give away at base are run again in a pinned world:
with the secrets of the check and with others, which differ in most bits and in length. What differs is run
once more with the first, to know what varies by itself. Where that shows something, each set is run once
more, and base alike: what base gives away in the same way is not new (docs/varied-secrets.md). Nothing here
makes code seen, and nothing here can end a check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Final

from gate.dataclass import dataclass
from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.canary import Canary
from gate.model.change import ChangedFile, Side, Tree
from gate.model.run import NotExercised, Outcome, Probe, RunRecord
from gate.model.varied import Channel, Dependence, Doubt, VariedSecrets
from gate.plan.item_outcomes import items_of, tests_left
from gate.plan.varied import varied_probe
from gate.sandbox.contract import Session
from gate.sandbox.execution import side_by_side
from gate.tracing.outgoing import GIVEN, Outgoing, digest_of, outgoing
from gate.tracing.renamed import TEMPORARY_NAMES, is_alike, without_renamed
from gate.tracing.secret_reach import asked_for, may_read
from gate.tracing.varied import SecretDifference, differences, undecided

LONGER: Final = 7
"""Characters by which the other secrets are longer: odd, and no multiple of what encodings pad to."""
MOST: Final = 12
"""Probes at most."""
_SURE: Final = (5, 4)
"""Runs with the first and with the other secrets, before what only sizes, counts or an order tell is told."""
_PROPER: Final = (Outcome.COMPLETED, Outcome.EXITED_NONZERO)
_QUIET: Final = frozenset(("stdout", "stderr", "file", "file-name", "sleep"))
"""Channels that every program has: worth a run only where the code can read a secret."""
_NOTED: Final = frozenset(("away", "tree", "command"))
"""Places of which noise that nothing decides is told: others are noisy by themselves."""
_OTHERWISE: Final = "it did not do the same in a world where chance and clocks are pinned"
_CUT: Final = "there was no time for all of its tests, so two runs of it are not alike"
_WITH_MORE: Final = ", with variables planted that may hold a secret or configure it"
_UNDECIDED: Final = "it varies by itself: whether a secret is in it is undecided"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A probe to be run again: ``given`` is what it gave away at head and not so at base, ``before`` all that
    it gave away at base. ``cut``: there was no time for all of its tests. ``asked``: planted secrets that it
    is known to have asked for at head, ``anew`` those that base did not.
    """

    probe: Probe
    given: frozenset[Channel]
    before: frozenset[Channel]
    cut: bool = False
    asked: frozenset[str] = frozenset()
    anew: frozenset[str] = frozenset()

    @property
    def quiet(self) -> bool:
        """True where nothing left the machine and no program was given anything."""
        return all(channel.kind in _QUIET for channel in self.given)

    def doubts(self, channel: Channel) -> frozenset[str]:
        """Secrets that may be in bytes which vary by themselves: those that were asked for, where the
        channel or the asking is new.
        """
        if channel.place != "away":
            return frozenset()
        return self.anew if channel in self.before else self.asked

    @property
    def comparable(self) -> bool:
        """False where two runs end in different places: what they printed and wrote differs by that alone."""
        return not (self.cut and self.quiet)


@dataclass(frozen=True, kw_only=True)
class Varying:
    """One look. ``runs``: those of the ordinary looks, whose traces still exist; ``more``, ``more_others``:
    variables that are planted beside both sets, where code does the same with them; ``seen``: what the runs
    showed; ``changed``: head's files that are new or other; ``seconds`` of wall time for everything; ``note``
    takes signs of life.
    """

    session: Session
    runs: tuple[RunRecord, ...]
    planted: tuple[Canary, ...]
    others: tuple[Canary, ...]
    more: tuple[Canary, ...] = ()
    more_others: tuple[Canary, ...] = ()
    seen: tuple[Behaviour, ...]
    head: Tree
    changed: tuple[ChangedFile, ...]
    seconds: float
    note: Callable[[str], None]
    started: float = field(default_factory=lambda: float(int(time.time())))

    def candidates(self) -> list[Candidate]:
        """Probes that gave something away at head that they did not at base, those with a network first."""
        found = []
        for run in self.runs:
            if not _counts(run) or run.side != "head" or run.probe.condition:
                continue
            given: Outgoing = outgoing(run, self.planted)
            before: set[Channel] = set()
            at_base = [r for r in self.runs if r.side == "base" and r.probe.id == run.probe.id and r.trace]
            for other in at_base:
                known = outgoing(other, self.planted)
                before.update(known)
                given = without_renamed({c: v for c, v in given.items() if known.get(c) != v}, known)
            fresh = frozenset(c for c in given if c != TEMPORARY_NAMES and not c.part.startswith(GIVEN))
            if not fresh:
                continue
            asked = asked_for(run, self.planted, self.head, self.changed)
            known_asked = [asked_for(other, self.planted, self.head, ()) for other in at_base]
            one = Candidate(
                probe=run.probe,
                given=fresh,
                before=frozenset(before),
                cut=_has_tests_left(run),
                asked=asked,
                anew=asked.difference(*known_asked),
            )
            if not one.quiet or may_read(run, at_base, self.planted, self.head, self.changed):
                found.append(one)
        return sorted(found, key=lambda one: one.quiet)[:MOST]

    def look(self, candidates: Sequence[Candidate]) -> VariedSecrets:
        """Run them again, with ``more`` planted where that breaks nothing. Without one nothing is run."""
        if not candidates:
            return VariedSecrets()
        until = time.monotonic() + self.seconds
        if not self.more:
            return self._look(candidates, until)
        wider = replace(self, planted=self.planted + self.more, others=self.others + self.more_others)
        found = wider._look(candidates, until)
        broken = {(path, target) for path, target, _ in found.left}
        again = [one for one in candidates if (one.probe.path or "", one.probe.target) in broken]
        if not again:
            return found
        kept = [one for one in again if one.comparable]
        plain = self._look(kept, until)
        neither = {(path, target) for path, target, _ in plain.left}
        left = [
            (*one[:2], one[2] if one[2] == _CUT or one[:2] in neither else f"{one[2]}{_WITH_MORE}")
            for one in found.left
        ]
        return found.joined(plain, left=tuple(left))

    def _look(self, candidates: Sequence[Candidate], until: float) -> VariedSecrets:
        left = [_left(one.probe, _CUT) for one in candidates if not one.comparable]
        candidates = [one for one in candidates if one.comparable]
        done = _Done()
        self._all([one.probe for one in candidates], "head", ("same", "other"), until, done)
        alike = [one for one in candidates if done.alike(one.probe)]
        rest = [one for one in candidates if one not in alike and done.has(one.probe, "head", 1, 1)]
        self._all([one.probe for one in rest], "head", ("same",), until, done)
        whole = [one for one in candidates if one in alike or done.has(one.probe, "head", 2, 1)]
        left += [_left(one.probe, _why(done, one.probe)) for one in candidates if one not in whole]
        left += [_left(one.probe, _OTHERWISE) for one in whole if not _is_alike(one, done)]
        noticed = [one for one in whole if one not in alike]
        doubted = [one for one in noticed if differences(*done.sides(one.probe, "head"))]
        until += self.seconds / 2
        self._all([one.probe for one in doubted], "head", ("same", "other"), until, done)
        at_base = [one.probe for one in doubted if "base" in one.probe.sides]
        self._all(at_base, "base", ("same", "same", "other"), until, done)
        # Sizes, counts and orders also follow how busy the machine is: asked again, the others first now.
        counted = [one.probe for one in doubted if any(d.how != "content" for d in self._fresh(one, done))]
        self._all(counted, "head", ("other", "same", "other", "same"), until + self.seconds / 2, done)
        dependences: list[Dependence] = []
        open_: list[tuple[str, str, Channel]] = []
        unsure: list[Doubt] = []
        for one in noticed:
            place = (one.probe.path or "", one.probe.target)
            if one in doubted:
                sure = done.has(one.probe, "head", *_SURE)
                fresh = [found for found in self._fresh(one, done) if sure or found.how == "content"]
                dependences += [self._told(found, one.probe) for found in fresh]
            told = undecided(*done.sides(one.probe, "head"))
            told = [c for c in told if c.place in _NOTED and c in one.given]
            open_ += [(*place, c) for c in told]
            unsure += [
                Doubt(channel=c, secrets=tuple(sorted(secrets)), path=place[0], target=place[1])
                for c in told
                if (secrets := one.doubts(c)) and not self._is_known(c, one.probe)
            ]
        return VariedSecrets(
            dependences=tuple(_once(dependences)),
            undecided=tuple(dict.fromkeys(open_)),
            doubted=tuple(dict.fromkeys(unsure)),
            probes=len(whole),
            runs=done.count,
            left=tuple(left),
        )

    def _fresh(self, one: Candidate, done: _Done) -> list[SecretDifference]:
        """What follows the secret at head, and not at base in the same place. What only sizes, counts or an
        order tell needs to have been seen again; where base could not be asked, only what it never gave away
        is known to be new.
        """
        found = differences(*done.sides(one.probe, "head"))
        if not done.has(one.probe, "head", 3, 2):
            found = [each for each in found if each.how == "content"]
        before = one.before if "base" in one.probe.sides else frozenset()
        if done.has(one.probe, "base", 2, 1):
            before = frozenset(d.channel for d in differences(*done.sides(one.probe, "base")))
        fresh = [each for each in found if each.channel not in before]
        return [each for each in fresh if not self._is_known(each.channel, one.probe)]

    def _all(
        self, probes: Sequence[Probe], side: Side, sets: Sequence[str], until: float, done: _Done
    ) -> None:
        """Every probe with each of these sets of secrets; what comes too late is not begun."""
        turns = [(probe, which) for probe in probes for which in sets]
        if not turns:
            return

        def one(turn: tuple[Probe, str]) -> None:
            probe, which = turn
            if time.monotonic() >= until:
                return
            secrets = self.planted if which == "same" else self.others
            record = self.session.run(varied_probe(probe, secrets, self.started), side)
            self.note(f"{probe.target} at {side}, {which} secrets: {record.outcome.value}")
            done.add(probe, side, which, outgoing(record, secrets) if _counts(record) else None)

        side_by_side(self.session, one, turns, name="varied")

    def _is_known(self, channel: Channel, probe: Probe) -> bool:
        """Is the secret itself told to be in that channel already, plainly or in a known encoding?"""
        for behaviour in self.seen:
            if behaviour.kind is not BehaviourKind.CANARY or probe.id not in behaviour.probes:
                continue
            kind, to = behaviour.detail.get("channel", ""), behaviour.detail.get("to", "")
            alike = kind == "net" or kind.partition("-")[0] == channel.kind.partition("-")[0]
            if alike and (channel.place != "away" or channel.to.partition(":")[0] in to):
                return True
        return False

    def _told(self, found: SecretDifference, probe: Probe) -> Dependence:
        return Dependence(
            channel=found.channel,
            how=found.how,
            first=digest_of(found.first),
            other=digest_of(found.other),
            sizes=(sum(map(len, found.first)), sum(map(len, found.other))),
            probe=probe.id,
            target=probe.target,
            path=probe.path or "",
        )


class _Done:
    """What each probe gave away, by side and set of secrets. None: that run does not count."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], list[Outgoing | None]] = {}
        self.count = 0

    def add(self, probe: Probe, side: Side, which: str, given: Outgoing | None) -> None:
        self.count += 1
        self._seen.setdefault((probe.id, side, which), []).append(given)

    def sides(self, probe: Probe, side: Side) -> tuple[list[Outgoing], list[Outgoing]]:
        """What it gave away with the same secrets, and with the others."""
        same, other = (
            [given for given in self._seen.get((probe.id, side, which), ()) if given is not None]
            for which in ("same", "other")
        )
        return same, other

    def has(self, probe: Probe, side: Side, same: int, other: int) -> bool:
        """Were there so many runs that count?"""
        first, second = self.sides(probe, side)
        return len(first) >= same and len(second) >= other

    def alike(self, probe: Probe) -> bool:
        """Did it give away the same at head, whatever the secrets were?"""
        same, other = self.sides(probe, "head")
        return bool(same and other) and all(is_alike(given, same[0]) for given in (*same, *other))

    def begun(self, probe: Probe) -> bool:
        """Was it run at all?"""
        return any(key[0] == probe.id for key in self._seen)


def _is_alike(one: Candidate, done: _Done) -> bool:
    """Did it again what it had done in an ordinary world, as far as that leaves the process?"""
    same, _ = done.sides(one.probe, "head")
    wanted = {c.kind for c in one.given} - _QUIET
    return wanted <= {c.kind for given in same for c in given}


def _left(probe: Probe, why: str) -> tuple[str, str, str]:
    return probe.path or "", probe.target, why


def _why(done: _Done, probe: Probe) -> str:
    return "it did not come to its end again" if done.begun(probe) else "no time was left"


def _counts(run: RunRecord) -> bool:
    """A run to be laid beside others: of a driver, begun anew, seen whole."""
    return (
        run.probe.driver
        and run.probe.phase != "idle"
        and not run.probe.dependency
        and not run.repeat
        and run.fault is None
        and run.trace is not None
        and run.outcome in _PROPER
    )


def _has_tests_left(run: RunRecord) -> bool:
    return any(answer is not None and tests_left(answer) for _, answer in items_of(run))


def _once(found: Iterable[Dependence]) -> list[Dependence]:
    """One for each channel and file: several probes show the same."""
    by_place: dict[tuple[Channel, str], Dependence] = {}
    for one in found:
        by_place.setdefault((one.channel, one.path), one)
    return list(by_place.values())


def summary(found: VariedSecrets) -> str:
    """What the look came to, in one line, without text of the change."""
    parts = [f"probes run with other secrets: {found.probes}", f"runs: {found.runs}"]
    parts.append(f"channels that follow a secret: {len(found.dependences)}")
    if found.undecided:
        parts.append(f"vary by themselves, undecided: {len(found.undecided)}")
    if found.left:
        parts.append(f"could not be run again: {len(found.left)}")
    return "; ".join(parts)


def unvaried(found: VariedSecrets) -> tuple[NotExercised, ...]:
    """What the look leaves open, for the report: no leak, and not proven to be none."""
    open_ = [
        NotExercised(
            path=path,
            target=channel.shown[:200],
            reason=_UNDECIDED,
        )
        for path, _, channel in found.undecided
    ]
    left = [NotExercised(path=p, target=t, reason=f"with other secrets: {why}") for p, t, why in found.left]
    return (*open_, *left)

"""The difference of two readings of one file: what a package's source, integrity or meaning changed to.

Pure functions on values. A newer version with new hashes from the same source is no difference worth a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.supply.inputs import archives, namespaces
from gate.supply.inputs.graph import unasked
from gate.supply.inputs.model import FileKind, Input, Inputs
from gate.supply.inputs.places import is_usual, origins, place, shown
from gate.supply.inputs.versions import gone_back
from gate.supply.lookalike import imitates, is_nearly, poses_as
from gate.supply.lookalike import is_known as is_much_used

What = Literal[
    "source", "content", "new-source", "integrity", "alias", "unasked", "install-code", "older", "claimed"
]
Level = Literal["low", "medium", "high", "critical"]
"""``critical``: no tool writes it and nobody asked for it, so that somebody edited a lock by hand."""
_FORGES: Final = tuple(
    f"owner:{host}/"
    for host in (
        *("github.com", "gitlab.com", "codeberg.org", "docker.io", "ghcr.io", "quay.io", "gcr.io"),
        *("mcr.microsoft.com", "public.ecr.aws", "registry.k8s.io", "registry.terraform.io", "extensions"),
    )
)
"""Where everybody's hooks, images and extensions lie: a new one in a file that people read is like a new
package."""
_FEW_FILES: Final = 4
_FEW_MORE: Final = 2
"""A package of pure Python has two files, and none comes later; wheels for a new Python come by the dozen."""
_WEAK: Final = frozenset({"md5", "sha1"})


@dataclass(frozen=True, kw_only=True, slots=True)
class InputDifference:
    """One thing to tell. ``told`` is a sentence with the change's own words; ``needle`` a word to find its
    line by. ``group``: differences with the same one are told together.
    """

    what: What
    level: Level
    name: str
    told: str
    needle: str
    group: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InputContext:
    """What the rest of the project says. ``known``: places that base uses anywhere; ``asks``: does a manifest
    of head name this package? ``manifest_changed``: is a manifest in the same change? ``declared``: places
    that manifests and settings of head name. ``stood``: does a manifest or a lock of base name this package?
    """

    known: Callable[[], frozenset[str]]
    asks: Callable[[str], bool]
    manifest_changed: bool = False
    declared: Callable[[], frozenset[str]] = frozenset
    stood: Callable[[str], bool] = bool


def compare(old: Inputs | None, new: Inputs, around: InputContext) -> Iterator[InputDifference]:
    """Everything to tell about a changed file; ``old`` is None for a new file."""
    yield from _claims(old, new, around)
    old, new = _without_claims(old) if old else None, _without_claims(new)
    before = _by_name(old.inputs if old else ())
    had = set(old.inputs if old else ())
    here = frozenset(p for one in had for p in origins(one, new.kind))

    def is_known(name: str) -> bool:
        return is_usual(name) or name in here or name in around.known()

    # What reads a Dockerfile follows a tag nearly everywhere.
    held = [bool(one.archives) for one in had if not one.credentialed]
    told_runs = old is None or old.tells_runs or not had
    look = _Look(
        kind=new.kind,
        is_known=is_known,
        is_new_file=old is None,
        around=around,
        told_runs=told_runs,
        lost=frozenset(before.keys() - {one.name for one in new.inputs}),
        pinned=new.kind == "images" and bool(held) and all(held),
        plain=frozenset(one.name for one in new.inputs if not one.actual) - {*new.asked},
    )
    for one in dict.fromkeys(new.inputs):
        if one in had:
            continue
        same_name = before.get(one.name, [])
        # What lay in the tree came from no other place: what it gives way to is new.
        lay_here = new.kind == "repositories" and all(other.kind == "path" for other in same_name)
        yield from look.added(one) if lay_here or not same_name else look.changed(one, same_name)
    for one, like, where in namespaces.left(old.inputs if old else (), new.inputs):
        told = f"{_label(one)} is new and comes from the public index, while `{like}` comes from {where}"
        yield _told("source", "medium", one, told, told)
    if old is not None and new.kind == "lock":
        declared = around.manifest_changed
        for one, told, grave in unasked(old.inputs, new.inputs, around.asks, manifest_changed=declared):
            level: Level = "medium" if grave else "low"
            yield _told("unasked", level, one, f"{_label(one)} is new, and {told}", told)


def _claims(old: Inputs | None, new: Inputs, around: InputContext) -> Iterator[InputDifference]:
    """Packages that the project says others need, and that nothing of base names.

    A table that corrects metadata is meant for what is there and was forgotten.
    """
    own = {one.name for one in new.inputs if not one.claimed}
    had = {(one.claimed, one.name) for one in (old.inputs if old else ())}
    for one in dict.fromkeys(one for one in new.inputs if one.claimed):
        name = one.actual or one.name
        if (one.claimed, one.name) in had or one.name in own or around.stood(name):
            continue
        told = (
            f"{_label(one)} is new: this file says that {one.claimed} needs it, and nothing of base names it"
        )
        used = one.kind == "registry" and (is_much_used(name, "npm") or is_much_used(name, "pypi"))
        yield _told("claimed", "low" if used else "medium", one, told, told)


def _without_claims(side: Inputs) -> Inputs:
    return replace(side, inputs=tuple(one for one in side.inputs if not one.claimed))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Look:
    """One file's way of being compared. ``is_known``: does base use this place? ``told_runs``: base would
    have said which packages run code at installation. ``lost``: names of base that are not there any more.
    ``plain``: names that stand for themselves at head, too, and that the project itself does not ask for.
    """

    kind: FileKind
    is_known: Callable[[str], bool]
    is_new_file: bool
    around: InputContext
    told_runs: bool
    lost: frozenset[str]
    pinned: bool
    plain: frozenset[str]

    def changed(self, one: Input, before: list[Input]) -> Iterator[InputDifference]:
        """An input under a name that was there before."""
        twins = [other for other in before if other.version == one.version]
        nearest = min(twins or before, key=lambda other: other.actual != one.actual)
        label = _label(one)
        if one.actual and all(other.actual != one.actual for other in before):
            declared = self.kind == "lock" and self.around.asks(one.actual)
            level: Level = "medium" if declared and not imitates(one.actual, "npm") else "high"
            if self.kind == "lock" and not declared:
                # Beside an entry that stands for itself it is another package's need, as far as one sees.
                level = "medium" if one.name in self.plain else "critical"
            yield _alias(one, f"{label} is now {one.actual} under that name", level)
        had = frozenset(p for other in before for p in origins(other, self.kind))
        fresh = sorted(p for p in origins(one, self.kind) - had if not _is_unsaid(p, had))
        if fresh:
            yield self._moved(one, nearest, fresh)
        elif (
            self.kind not in ("images", "pipelines")
            and one.revision == nearest.revision
            and _is_replaced(one, twins)
        ):
            told = f"{label} has another hash than before; neither its version nor its source changed"
            fixed = self.kind == "lock" and one.kind == "registry"
            yield _told("content", "critical" if fixed else "high", one, told, "hash")
        elif self.kind == "lock" and one.kind == "registry" and (more := _grown(one, twins)):
            told = f"{label} may have the content of {more} more hashes than before, under the same version"
            few = more <= _FEW_MORE or sum(map(len, _digests(twins).values())) <= _FEW_FILES
            yield _told("content", "medium" if few else "low", one, told, "more hashes")
        if not fresh and self.kind in ("lock", "images", "pipelines") and _lost(one, before):
            level = "medium" if self.kind == "lock" else "low"
            told = f"{label} is no longer held by a hash that can be trusted"
            yield _told("integrity", level, one, told, "lost")
        if one.runs and self.told_runs and not any(other.runs for other in before):
            yield _told("install-code", "medium", one, f"{label} now runs code when it is installed", "runs")
        if back := gone_back(one, before):
            # What somebody else's package needs is for the solver to say.
            asked = self.kind != "lock" or self.around.asks(one.name)
            told = f"{label} was {back[0]}"
            grave = asked and back[1]
            yield _told("older", "medium" if grave else "low", one, told, told if grave else "older")
        yield from _disguised(one, before)

    def _moved(self, one: Input, old: Input, fresh: list[str]) -> InputDifference:
        now, was = _where(one, fresh[0]), _where(old, "")
        rest = _rest(one, old) if self.kind == "lock" else ""
        like = next((found for p in fresh for q in origins(old, self.kind) if (found := poses_as(p, q))), "")
        like = like or next((found for p in fresh if (found := poses_as(p, old.name))), "")
        rest += f"; that is nearly {like}, and not the same" if like else ""
        return InputDifference(
            what="source",
            level="critical" if like or self._is_by_hand(one, old, fresh) else self._level(fresh, old),
            name=one.name,
            told=f"{_label(one)} now comes from {now} instead of {was}{rest}",
            needle=now,
            group=" ".join(fresh),
        )

    def _is_by_hand(self, one: Input, old: Input, fresh: list[str]) -> bool:
        """Other content under the same version, from a place that no manifest or setting names?

        A mirror has the same content, so the lock of somebody who uses one keeps its hashes.
        """
        same = one.version == old.version and _is_other_content(one, old)
        if self.kind != "lock" or not same or self._level(fresh, old) != "high":
            return False
        return self.around.declared().isdisjoint(fresh)

    def _level(self, fresh: list[str], old: Input) -> Level:
        if all(is_usual(p) for p in fresh):
            return "low"
        if old.kind == "path" and fresh == ["path:outside"]:
            return "low"  # a folder beside the repository, which no change of it brings along
        if self.kind in ("images", "tools", "pipelines") or all(p.startswith("path:") for p in fresh):
            return "medium"
        return "medium" if all(p.startswith("registry:") and self.is_known(p) for p in fresh) else "high"

    def _is_plain_to_see(self, foreign: list[str]) -> bool:
        """Does a file that people read name these places? An image must take no other's place."""
        if self.kind == "lock":
            return self.around.declared() >= set(foreign)
        return not (self.kind in ("images", "pipelines") and self.lost) and all(
            f.startswith(_FORGES) for f in foreign
        )

    def added(self, one: Input) -> Iterator[InputDifference]:
        """An input under a new name."""
        foreign = sorted(p for p in origins(one, self.kind) if not self.is_known(p))
        label = _label(one)
        begun = self.is_new_file and self.kind in ("images", "repositories", "pipelines")
        if foreign:
            where = _where(one, foreign[0])
            told = f"{label} is new and comes from {where}, where nothing came from before"
            loose = self.pinned and not one.archives
            told += "; the others here are held by their digests, this one by nothing" if loose else ""
            plain = self._is_plain_to_see(foreign) and not loose and not one.credentialed
            level: Level = "low" if begun or plain else "medium"
            yield InputDifference(
                what="new-source", level=level, name=one.name, told=told, needle=where, group=foreign[0]
            )
        posed = next((name for name in sorted(self.lost) if is_nearly(one.name, name)), "")
        if posed and not is_much_used(one.name, "npm") and not is_much_used(one.name, "pypi"):
            told = f"{label} takes the place of {posed}, whose name is nearly the same"
            yield _told("source", "medium", one, told, "nearly")
        if one.actual and not _is_variant(one):
            level = "low" if begun else "medium"
            yield _alias(one, f"{label} is new and stands for {one.actual}", level)
        if one.runs and self.told_runs:
            new_lock = self.is_new_file and self.kind == "lock"
            seen = new_lock or is_much_used(one.name, "npm") or self.around.asks(one.name)
            level = "low" if seen else "medium"
            yield _told(
                "install-code", level, one, f"{label} is new and runs code when it is installed", "runs"
            )
        yield from _disguised(one, ())


def _by_name(inputs: Iterable[Input]) -> dict[str, list[Input]]:
    found: dict[str, list[Input]] = {}
    for one in inputs:
        found.setdefault(one.name, []).append(one)
    return found


def _rest(one: Input, old: Input) -> str:
    """What else of it changed, and what did not."""
    now, was = ({a.digest for a in x.archives if a.digest} for x in (one, old))
    same = one.version == old.version
    if was and not now:
        return "; it has no hash any more" + (", its version did not change" if same else "")
    if was and now - was:
        return "; its hash changed, its version did not" if same else "; its hash changed, so did its version"
    return "; its version did not change" if same else "; so did its version"


def _is_other_content(one: Input, old: Input) -> bool:
    """Is a file's hash another one, are all of them gone, or is it a repository instead of an archive?"""
    now, was = ({a.digest for a in x.archives if a.digest} for x in (one, old))
    instead = one.kind == "vcs" and old.kind == "registry"
    return instead or _is_replaced(one, [old]) or (bool(was) and not (now & was))


def _is_unsaid(name: str, had: frozenset[str]) -> bool:
    """The public registry said aloud where nothing was said before, or the other way round."""
    public = {p for p in (name, *had) if p.startswith("registry:") and is_usual(p)}
    return name in public and "registry:default" in public and len(public & had) > 0


def _is_variant(one: Input) -> bool:
    """``string-width-cjs`` for ``string-width``: the name itself says what stands behind it."""
    return bool(one.actual) and one.name.startswith(f"{one.actual}-")


def _alias(one: Input, told: str, level: Level) -> InputDifference:
    return InputDifference(what="alias", level=level, name=one.name, told=told, needle=one.name, group=told)


def _disguised(one: Input, before: Iterable[Input]) -> Iterator[InputDifference]:
    """An archive that tells another name or version than the entry it stands in."""
    if any(archives.contradiction(other) for other in before):
        return
    if other := archives.contradiction(one):
        told = f"{_label(one)} is installed from the archive of {other}"
        yield InputDifference(what="alias", level="high", name=one.name, told=told, needle=other, group=told)


def _is_replaced(one: Input, twins: list[Input]) -> bool:
    """Did the content behind the same version change? By file where the lock names files."""
    now, was = _digests([one]), _digests(twins)
    for key in now.keys() & was.keys():
        fresh, gone = now[key] - was[key], was[key] - now[key]
        if fresh and (gone or key[0]):  # a file has one content; a list of hashes may grow
            return True
    return False


def _grown(one: Input, twins: list[Input]) -> int:
    """How many hashes came to a list without file names of an unchanged version: a file that nobody has seen
    may now stand for it. Wheels do come later, but to packages that have many.
    """
    now, was = _digests([one]), _digests(twins)
    return max((len(now[key] - was[key]) for key in now.keys() & was.keys() if not key[0]), default=0)


def _digests(inputs: Iterable[Input]) -> dict[tuple[str, str], set[str]]:
    """By file and algorithm."""
    found: dict[tuple[str, str], set[str]] = {}
    for one in inputs:
        for archive in one.archives:
            algorithm, _, value = archive.digest.partition(":")
            if value:
                found.setdefault((archive.name, algorithm.lower()), set()).add(value)
    return found


def _lost(one: Input, before: list[Input]) -> bool:
    """Were there hashes, and are there none now, or broken ones alone?"""
    if one.kind == "path" or (one.kind == "vcs" and not one.where.startswith("oci:")):
        return False
    now = _algorithms([one])
    if not now:
        return bool(_algorithms(before))
    was = _algorithms([other for other in before if other.version == one.version])
    return now <= _WEAK and bool(was) and not was <= _WEAK


def _algorithms(inputs: Iterable[Input]) -> set[str]:
    return {a.digest.partition(":")[0].lower() for one in inputs for a in one.archives if a.digest}


def _told(what: What, level: Level, one: Input, told: str, group: str) -> InputDifference:
    return InputDifference(what=what, level=level, name=one.name, told=told, needle=one.name, group=group)


def _label(one: Input) -> str:
    return f"`{one.name}` {one.version}".strip() if one.version else f"`{one.name}`"


def _where(one: Input, wanted: str) -> str:
    """Its address that lies at this place, else the one it has."""
    for archive in one.archives:
        if wanted and archive.where and place("url", archive.where) == wanted:
            return shown(archive.where)
    if not one.where or (one.kind == "registry" and is_usual(place(one.kind, one.where))):
        return "the index"
    return shown(one.where)


def grouped(found: Iterable[InputDifference]) -> list[tuple[InputDifference, int]]:
    """The first of each kind with how many are like it, the worst first."""
    groups: dict[tuple[str, str, str], list[InputDifference]] = {}
    for one in found:
        groups.setdefault((one.what, one.level, one.group), []).append(one)
    order: Mapping[str, int] = {"critical": 0, "high": 1, "medium": 2, "low": 3}
    return [(g[0], len(g)) for g in sorted(groups.values(), key=lambda g: order[g[0].level])]

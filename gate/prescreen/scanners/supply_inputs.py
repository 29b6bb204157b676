"""Findings about what is taken from elsewhere: locks and manifests of base and head, compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath
from typing import Final

from packaging.utils import canonicalize_name

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.scanners import supply_rules as rules
from gate.prescreen.scanners.manifest_lines import line_naming
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.supply.inputs.difference import InputContext, InputDifference, What, compare, grouped
from gate.supply.inputs.graph import is_graph
from gate.supply.inputs.model import Inputs, SourceKind
from gate.supply.inputs.places import origins, place, split
from gate.supply.inputs.readers import kind_of, reader_of
from gate.supply.manifests import Manifest, is_manifest

_RULES: Final[dict[What, tuple[RuleMeta, str]]] = {
    "source": (rules.SOURCE, "This comes from another place than before."),
    "content": (rules.CONTENT, "The same version has another hash than before."),
    "new-source": (rules.NEW_SOURCE, "This is new and comes from a place that nothing came from."),
    "integrity": (rules.INTEGRITY, "This is no longer held by a hash."),
    "alias": (rules.ALIAS, "This name stands for another package."),
    "unasked": (rules.UNASKED, "Nothing asks for this new package."),
    "older": (rules.OLDER, "This goes back to an older version."),
    "claimed": (rules.CLAIMED, "This file says that a package of others needs this new one."),
    "install-code": (rules.INSTALL_CODE, "This package newly runs code when it is installed."),
}
_KINDS: Final[tuple[SourceKind, ...]] = ("registry", "url", "vcs")
_MOST: Final = 8
"""Findings of one file; each tells how many more are like it."""
_SURROUNDING: Final = 200
"""Manifests and settings that are read besides the changed ones."""
_LONGEST: Final = 1 << 20
"""Bytes of one of those."""
_LONGEST_LOCK: Final = 8 << 20
"""Bytes of a lock that is looked through for a name."""


@dataclass(frozen=True, slots=True)
class Told:
    """``findings``, and ``unread`` (path, reason). ``known``: places that base uses, read
    when somebody asks. ``graphs``: paths of locks that tell what needs what.
    """

    findings: tuple[Finding, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    known: Callable[[], frozenset[str]] = frozenset
    graphs: frozenset[str] = frozenset()


def input_findings(request: PrescreenRequest) -> Told:
    """Every changed file with inputs, base against head. Parsing happens in the limited child."""
    changed = [source for source in sources(request).files if reader_of(source.path)]
    pairs = _read(changed, request)
    here = {p for _, old, _ in pairs if old for one in old.inputs for p in origins(one, old.kind)}
    known = cache(lambda: _places(request.base, request.deadline) | here)
    declared = cache(lambda: _places(request.head, request.deadline))
    asks = _Asked(request.head)
    stood = _Stood(request.base)
    manifest_changed = any(_asks(file.path) for file in request.change.files)
    found: list[Finding] = []
    unread: list[tuple[str, str]] = []
    for source, old, new in pairs:
        if new.refused and not new.ambiguous:
            unread.append((source.path, new.refused))
        elif new.refused and not (old and old.ambiguous):
            found.append(_ambiguous(source, new.refused))
        elif not new.refused:
            usable = old if old and not old.refused else None
            around = InputContext(
                known=known,
                asks=asks.names,
                manifest_changed=manifest_changed,
                declared=declared,
                stood=stood.names,
            )
            found += _findings(source, compare(usable, new, around))
    graphs = frozenset(
        source.path for source, old, new in pairs if old and is_graph(old.inputs) and is_graph(new.inputs)
    )
    return Told(tuple(found), tuple(unread), known, graphs)


def said_once(others: Sequence[Finding], told: Told) -> list[Finding]:
    """All findings, but of two that say the same about one file the weaker one; ours where they are alike."""
    dropped: set[int] = set()
    for other in others:
        if _is_explained(other, told):
            dropped.add(id(other))
        for mine in told.findings:
            if mine.primary.path == other.primary.path and _same(mine, other):
                ours = mine.severity.rank >= other.severity.rank and not _is_asked_anew(mine, other)
                dropped.add(id(other if ours else mine))
    return [_milder(f, told) for f in (*others, *told.findings) if id(f) not in dropped]


def _milder(found: Finding, told: Told) -> Finding:
    """An index is medium where another file of base names it already."""
    where, kind = found.evidence.get("where", ""), found.evidence.get("kind", "")
    again = found.rule_id == "dependency.index" and kind in ("index", "registry")
    if again and where.startswith("https://") and place("registry", where) in told.known():
        return replace(found, severity=Severity.MEDIUM)
    return found


def _is_asked_anew(mine: Finding, other: Finding) -> bool:
    """A new address in a manifest: that rule knows more about pins and schemes."""
    return mine.rule_id == rules.NEW_SOURCE.id and other.rule_id == "dependency.direct-url"


def _is_explained(other: Finding, told: Told) -> bool:
    """A place that base uses, or new packages of a lock that tells who asks for them."""
    where = other.evidence.get("where", "")
    if other.rule_id == "dependency.lock-source":
        return any(place(kind, where) in told.known() for kind in _KINDS)
    return other.rule_id == "dependency.lock-mismatch" and other.primary.path in told.graphs


def _same(mine: Finding, other: Finding) -> bool:
    """Do they speak of the same fact? A count of hashes, of new names, a server, a name with an address."""
    if other.rule_id == "dependency.lock-source":
        server = split(other.evidence.get("where", ""))[0]
        return mine.rule_id in (rules.SOURCE.id, rules.NEW_SOURCE.id) and server in mine.evidence["told"]
    if other.rule_id == "dependency.direct-url":
        named = other.evidence.get("name") == mine.evidence.get("name")
        return mine.rule_id in (rules.SOURCE.id, rules.NEW_SOURCE.id) and named
    return (mine.rule_id, other.rule_id) == (rules.INTEGRITY.id, "dependency.hash-removed")


def _read(changed: Sequence[Source], request: PrescreenRequest) -> list[tuple[Source, Inputs | None, Inputs]]:
    files = [(s.path, s.head) for s in changed]
    files += [(s.path, s.base) for s in changed if s.base is not None]
    results = scan_isolated(
        Reader("gate.supply.inputs.readers:read", Inputs, parses=True), files, deadline=request.deadline
    )
    bases = {r.path: r.value for r in results[len(changed) :]}
    return [
        (
            source,
            bases.get(source.path),
            result.value or Inputs(kind=kind_of(source.path), refused=result.reason),
        )
        for source, result in zip(changed, results, strict=False)
    ]


def _findings(source: Source, found: Iterator[InputDifference]) -> Iterator[Finding]:
    for one, count in grouped(found)[:_MOST]:
        meta, message = _RULES[one.what]
        evidence = {"told": one.told, "name": one.name}
        evidence |= {"and": f"{count - 1} more like it"} if count > 1 else {}
        yield finding(
            meta,
            message,
            _place(source, one),
            shape=one.told,
            evidence=evidence,
            severity=Severity(one.level),
        )


def _place(source: Source, one: InputDifference) -> Location:
    """Where the file names it: an image stands there without what docker adds to its name."""
    if one.what != "source":
        return line_naming(source, one.name.rpartition(" ")[2])
    image = one.needle.removeprefix("oci://")
    written = (one.needle, image, image.removeprefix("docker.io/").removeprefix("library/"))
    places = [line_naming(source, needle) for needle in dict.fromkeys(written)]
    return next((place for place in places if place.line), places[0])


def _ambiguous(source: Source, why: str) -> Finding:
    return finding(
        rules.AMBIGUOUS,
        "Parsers disagree about what this file says.",
        Location(path=source.path),
        shape="ambiguous",
        evidence={"why": why},
    )


def _places(tree: Tree, deadline: float) -> frozenset[str]:
    """Places that this side's manifests and settings name."""
    paths = [e.path for e in tree.entries() if _is_near(e.path, e.size)][:_SURROUNDING]
    files = list(tree.read_many(tuple(paths)))
    settings = [(path, data) for path, data in files if is_manifest(path)]
    inputs = [(path, data) for path, data in files if reader_of(path)]
    found: set[str] = set()
    for read in scan_isolated(Reader("gate.supply.manifests:read", Manifest), settings, deadline=deadline):
        found |= {place("registry", origin.where) for origin in (read.value.origins if read.value else ())}
    for seen in scan_isolated(Reader("gate.supply.inputs.readers:read", Inputs), inputs, deadline=deadline):
        if seen.value:
            found |= {p for one in seen.value.inputs for p in origins(one, seen.value.kind)}
    return frozenset(found)


def _is_near(path: str, size: int) -> bool:
    small = size <= _LONGEST and "node_modules/" not in path
    return small and (is_manifest(path) or reader_of(path) is not None) and kind_of(path) != "lock"


class _Asked:
    """Names that the manifests of head have as words; read when somebody asks."""

    def __init__(self, head: Tree) -> None:
        self._head = head
        self._words: frozenset[str] | None = None

    def names(self, name: str) -> bool:
        """Does a manifest name this package?"""
        if self._words is None:
            self._words = frozenset(self._read())
        return name.lower() in self._words

    def _read(self) -> Iterator[str]:
        paths = [e.path for e in self._head.entries() if e.size <= _LONGEST and _asks(e.path)]
        for _, data in self._head.read_many(tuple(paths[:_SURROUNDING])):
            text = data.decode("utf-8", "replace").lower()
            for word in "".join(c if c.isalnum() or c in "@/._-" else " " for c in text).split():
                yield word.strip(".-")
                yield canonicalize_name(word.strip(".-"))
                yield word[:1] + word[1:].partition("@")[0]


class _Stood:
    """What base's manifests, locks and build files name, as texts; read when somebody asks."""

    def __init__(self, base: Tree) -> None:
        self._base = base
        self._texts: list[str] | None = None

    def names(self, name: str) -> bool:
        """Does one of them have this name, and not only as a part of another?"""
        if self._texts is None:
            near = (e for e in self._base.entries() if e.size <= _LONGEST_LOCK and _speaks(e.path))
            paths = tuple(e.path for e in near)[:_SURROUNDING]
            self._texts = [data.decode("utf-8", "replace").lower() for _, data in self._base.read_many(paths)]
        return any(_has_word(text, name.lower()) for text in self._texts)


def _has_word(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(name) : at + len(name) + 1]
        if not any(c.isalnum() or c in "-_" for c in around):
            return True
        at = text.find(name, at + 1)
    return False


def _speaks(path: str) -> bool:
    return "node_modules/" not in path and (
        reader_of(path) is not None
        or _asks(path)
        or path.endswith((".versions.toml", "buildscript-gradle.lockfile"))
    )


_ASKING: Final = frozenset(
    {
        *("pyproject.toml", "setup.py", "setup.cfg", "pipfile", "package.json", "pnpm-workspace.yaml"),
        *(".pnpmfile.cjs", "cargo.toml", "go.mod", "gemfile", "composer.json", "environment.yml"),
    }
)


def _asks(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    listed = name.endswith((".in", ".txt")) and "require" in path.lower()
    return (name in _ASKING or name.endswith(".gemspec") or listed) and "node_modules/" not in path

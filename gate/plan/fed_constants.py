"""New addresses and commands in constants that a sensitive call in another file is made from: ``URL`` of a
``config.py`` runs at import, and what is then done with it stands in a file that nobody changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.languages.path_roles import is_aside, is_test
from gate.languages.sensitive_calls.reading import read_sources
from gate.model.change import Tree
from gate.model.sensitive import HANDED_THROUGH, SensitiveKind, SourceReading, SourceText
from gate.plan.wrapper_calls import Target, Wrappers, told_names

_MOST_SEARCHED: Final = 3_000
_MOST_READ: Final = 40
_BIGGEST: Final = 400_000
_SECONDS: Final = 20.0
_CHUNK: Final = 200
Kinds = Mapping[Target, frozenset[SensitiveKind]]


def fed_constants(
    found: Mapping[str, SourceReading], was: Mapping[str, SourceReading], head: Tree, wrappers: Wrappers
) -> Kinds:
    """What calls of other files do with constants of the changed files that hold a new address or command.
    ``was``: readings of base by the path at head.
    """
    wanted: set[Target] = set()
    for path, reading in found.items():
        before = was.get(path)
        known = {text for string in before.strings for text in string.call.fed} if before else set()
        for string in reading.strings:
            if not is_test(path) and not is_aside(path) and not set(string.call.fed) <= known:
                wanted.add((path, string.names[0].removeprefix("=")))
    if not wanted:
        return {}
    kinds: dict[Target, set[SensitiveKind]] = {}
    users = {**found, **_users(wanted, found, head)}
    for path, reading in users.items():
        wrappers.learn(path, reading)
    references = ((path, reference) for path, reading in users.items() for reference in reading.references)
    wrappers.read_for((path, told_names(reference.names)) for path, reference in references)
    for path, reading in users.items():
        for fed, does in _fed(path, reading, wrappers):
            for target in wrappers.targets(path, fed):
                if target in wanted and target[0] != path:
                    kinds.setdefault(target, set()).update(does)
    return {target: frozenset(does) for target, does in kinds.items()}


def with_fed_constants(path: str, reading: SourceReading, kinds: Kinds) -> SourceReading:
    """The reading, the constants that such calls are made from among its sensitive places."""
    more = [
        replace(string.call, kind=kind)
        for string in reading.strings
        for kind in sorted(
            kinds.get((path, string.names[0].removeprefix("=")), ()), key=lambda kind: kind.value
        )
    ]
    if not more:
        return reading
    calls = sorted({*reading.calls, *more}, key=lambda c: (c.first, c.last, c.kind.value, c.call))
    return replace(reading, calls=tuple(calls))


def _fed(
    path: str, reading: SourceReading, wrappers: Wrappers
) -> Iterator[tuple[str, frozenset[SensitiveKind]]]:
    """Names that go into the file's sensitive calls and calls of wrappers, with what those do."""
    for call in reading.calls:
        if call.kind in HANDED_THROUGH:
            yield from ((name, frozenset({call.kind})) for name in call.fed if "." in name)
    for reference in reading.references:
        names = [name for name in reference.call.fed if "." in name]
        does = wrappers.kinds(path, reference.names) if names else frozenset()
        if does:
            yield from ((name, does) for name in names)


def _users(wanted: set[Target], found: Mapping[str, SourceReading], head: Tree) -> dict[str, SourceReading]:
    """Readings of the files of head in which a name of these stands."""
    words = {name.encode() for _, name in wanted}
    paths = [e.path for e in head.entries() if e.path.endswith(".py") and e.path not in found]
    texts: list[SourceText] = []
    for at in range(0, min(len(paths), _MOST_SEARCHED), _CHUNK):
        chunk: Sequence[str] = paths[at : at + _CHUNK]
        for path, text in head.read_many(tuple(chunk)):
            if len(text) <= _BIGGEST and any(word in text for word in words) and len(texts) < _MOST_READ:
                texts.append(SourceText(path=path, text=text))
    return dict(read_sources(texts, deadline=_SECONDS)) if texts else {}

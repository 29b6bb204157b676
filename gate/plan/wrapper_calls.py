"""Calls of the project's own functions that hand what they are given to a sensitive call: ``run("curl ...")``
is as sensitive as what stands in ``run``, in whatever file that is. So is ``self.pool.metrics.push(x)``,
where nothing says of which class the object is, by the name of the method (method_index.py).

Followed through the import graph of head, a few hops far. Nothing is imported; files are read as data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from gate.languages.path_roles import is_aside, is_test
from gate.languages.sensitive_calls.python.methods import BY_NAME
from gate.languages.sensitive_calls.reading import read_sources
from gate.model.change import ChangedFile, Tree
from gate.model.sensitive import FunctionReading, SensitiveKind, SourceReading, SourceText, Way
from gate.plan.method_index import MethodIndex
from gate.plan.module_layout import MARKERS

HOPS: Final = 2
"""Functions between a call of the change and the one that has the sensitive call."""
_ALIASES: Final = 3
_ROUNDS: Final = 3
_MOST_FILES: Final = 80
_BIGGEST: Final = 400_000
_SECONDS: Final = 20.0
Target = tuple[str, str]
"""A file of the tree and the name of a function in it."""
_Reached = tuple[SensitiveKind, bool, bool]
"""What is behind a function, whether only going through a generator runs it, and whether nothing of it is
called there, only handed on.
"""


class Behind(NamedTuple):
    """How a call reaches what is behind it. ``handed``: nothing there calls it (FunctionReading.handed).
    ``receivers``: SensitiveCall.receivers.
    """

    way: Way
    handed: bool
    receivers: tuple[Target, ...] = ()


class Wrappers:
    """The functions of head that hand things on. ``known``: readings of changed files; others are read as
    they are asked for, up to 80. ``added``: methods that base does not have. One of those that does nothing
    vouches for no call of an unknown object.
    """

    def __init__(
        self, head: Tree, known: Mapping[str, SourceReading], added: Collection[Target] = ()
    ) -> None:
        self._head = head
        self._paths = frozenset(e.path for e in head.entries() if e.path.endswith(".py"))
        self._functions: dict[str, dict[str, FunctionReading]] = {}
        self._methods = MethodIndex(head, self._paths)
        self._defined: dict[str, frozenset[str]] = {}
        self._added = frozenset(added)
        self._left = _MOST_FILES
        for path, reading in known.items():
            self.learn(path, reading)

    def read_for(self, asked: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Read the files in which these names (with the path that they stand in) may be, and those behind."""
        wanted = dict.fromkeys((path, name) for path, names in asked for name in names)
        for _ in range(_ROUNDS):
            files = (file for path, name in wanted for file in self._files(path, name))
            self._read([file for file in dict.fromkeys(files) if file not in self._functions])
            targets = {target for path, name in wanted for target in self.targets(path, name)}
            wanted = dict.fromkeys(
                (path, call)
                for path, name in sorted(targets)
                for function in self._found(path, name)
                for call in function.calls
            )
            if not wanted:
                return

    def _files(self, path: str, name: str) -> Iterable[str]:
        """The files that say what a name is."""
        if name.startswith(BY_NAME):
            return self._methods.files(name)
        return sorted(file for file, _ in self.targets(path, name))

    def kinds(self, path: str, names: Sequence[str]) -> frozenset[SensitiveKind]:
        """What a call by one of these names, in the file ``path``, hands its arguments to."""
        return frozenset(self.ways(path, names))

    def ways(self, path: str, names: Sequence[str]) -> dict[SensitiveKind, Behind]:
        """The same, each with how: ``make`` where only going through a generator does it, ``method`` where
        nothing says of which class the object is.
        """
        chosen = self._chosen(path, names)
        found: set[_Reached] = set()
        known: set[SensitiveKind] = set()
        for name in chosen:
            reached = self._reached(path, name, HOPS, _ALIASES, frozenset())
            found |= reached
            known |= {kind for kind, _, _ in reached if not name.startswith(BY_NAME)}
        targets = sorted({target for name in chosen for target in self.targets(path, name)})
        receivers = tuple(target for target in targets if target[1] in self._defined.get(target[0], ()))
        ways: dict[SensitiveKind, Behind] = {}
        for kind in {kind for kind, _, _ in found}:
            later = all(later for one, later, _ in found if one is kind)
            handed = all(handed for one, _, handed in found if one is kind)
            way: Way = "method" if kind not in known else "make" if later else "call"
            ways[kind] = Behind(way, handed, receivers)
        return ways

    def _chosen(self, path: str, names: Sequence[str]) -> list[str]:
        """A method's name alone counts where nothing else says what is called, or what says it names a class
        of the tree that has it from elsewhere; in tests, where objects are stand-ins, never.
        """
        others = list(told_names(names))
        if len(others) == len(names) or _is_test(path):
            return others
        leads = [target for name in others for target in self.targets(path, name)]
        defined = any(name in self._defined.get(file, ()) for file, name in leads)
        return others if others and (defined or not leads) else list(names)

    def _reached(
        self, path: str, name: str, hops: int, aliases: int, seen: frozenset[Target]
    ) -> frozenset[_Reached]:
        """What is behind a name. Of the methods that an unknown object may have each has to do it."""
        behind = {target: self._behind(target, hops, aliases, seen) for target in self.targets(path, name)}
        every = frozenset(reached for found in behind.values() for reached in found)
        if not name.startswith(BY_NAME):
            return every
        weighed = [found for target, found in behind.items() if found or target not in self._added]
        kinds = {
            kind for kind, _, _ in every if all(any(one is kind for one, _, _ in found) for found in weighed)
        }
        return frozenset(reached for reached in every if reached[0] in kinds)

    def _behind(
        self, target: Target, hops: int, aliases: int, seen: frozenset[Target]
    ) -> frozenset[_Reached]:
        if target in seen:
            return frozenset()
        path, name = target
        found: set[_Reached] = set()
        for function in self._found(path, name):
            found.update((kind, function.generator, kind in function.handed) for kind in function.kinds)
            left = (hops, aliases - 1) if function.alias else (hops - 1, aliases)
            if min(left) < 0:
                continue
            for call in function.calls:
                behind = self._reached(path, call, *left, seen | {target})
                found |= {(kind, later or function.generator, handed) for kind, later, handed in behind}
        return frozenset(found)

    def _found(self, path: str, name: str) -> Iterator[FunctionReading]:
        """The function, the maker of a class of that name, or what the name of a module stands for."""
        table = self._functions.get(path, {})
        for word in (name, f"{name}.__init__"):
            if word in table:
                yield table[word]
        first, _, rest = name.partition(".")
        alias = table.get(first)
        if rest and alias is not None and alias.alias:
            yield replace(alias, kinds=(), calls=tuple(f"{call}.{rest}" for call in alias.calls))

    def targets(self, path: str, name: str) -> Iterator[Target]:
        """Where a name that stands in ``path`` leads in the tree."""
        if name.startswith(BY_NAME):
            yield from self._methods.definitions(name)
        elif name.startswith("/."):
            yield from self._split("", name[2:].split("."))
        elif name.startswith("."):
            yield path, name[1:]
        else:
            parts = name.split(".")
            folders = path.split("/")[:-1]
            above = ["".join(f"{f}/" for f in folders[:n]) for n in range(len(folders), 0, -1)]
            for root in dict.fromkeys(("", *(f"{marker}/" for marker in MARKERS), *above)):
                found = list(self._split(root, parts))
                yield from found
                if found:
                    return

    def _split(self, root: str, parts: Sequence[str]) -> Iterator[Target]:
        """Where a dotted name leads: the longest part of it that is a module."""
        for at in range(len(parts) - 1, 0, -1):
            stem = root + "/".join(parts[:at])
            for path in (f"{stem}.py", f"{stem}/__init__.py"):
                if path in self._paths:
                    yield path, ".".join(parts[at:])
                    return

    def _read(self, paths: Sequence[str]) -> None:
        chosen = tuple(paths[: self._left])
        self._left -= len(chosen)
        texts = [
            SourceText(path=path, text=text)
            for path, text in self._head.read_many(chosen)
            if len(text) <= _BIGGEST
        ]
        for path, reading in read_sources(texts, deadline=_SECONDS).items():
            self.learn(path, reading)

    def learn(self, path: str, reading: SourceReading) -> None:
        """Take the functions of a file that was read."""
        self._functions[path] = {function.name: function for function in reading.functions}
        self._defined[path] = frozenset(reading.methods)
        self._methods.learn(path, reading)


def with_wrapper_calls(path: str, reading: SourceReading, wrappers: Wrappers) -> SourceReading:
    """The reading, its calls of functions that hand on among the sensitive ones."""
    test = _is_test(path)
    more = [
        replace(
            reference.call,
            kind=kind,
            way="make" if test else behind.way,
            looks=test and behind.handed,
            receivers=behind.receivers,
        )
        for reference in reading.references
        for kind, behind in sorted(wrappers.ways(path, reference.names).items(), key=lambda one: one[0].value)
        if not (reference.here and kind is SensitiveKind.NETWORK)
    ]
    if not more:
        return reading
    calls = sorted({*reading.calls, *more}, key=lambda c: (c.first, c.last, c.kind.value, c.call))
    return replace(reading, calls=tuple(calls))


def _is_test(path: str) -> bool:
    """A test calls a function with stand-ins for what is behind it: that the call was made is enough."""
    return is_test(path) or is_aside(path)


def asked_names(
    readings: Mapping[str, SourceReading], files: Sequence[ChangedFile]
) -> Iterator[tuple[str, Sequence[str]]]:
    """What the references of changed files name, product code first; a method by its name alone only where
    the change has it: most of a file's lines call some.
    """
    touched = {file.path: file.touches for file in files}
    for path in sorted(readings, key=lambda path: (_is_test(path), path)):
        for reference in readings[path].references:
            names = reference.names
            if _is_test(path) or not touched[path](reference.call.first, reference.call.last):
                names = told_names(names)
            yield path, names


def told_names(names: Iterable[str]) -> tuple[str, ...]:
    """Without methods of whatever class."""
    return tuple(name for name in names if not name.startswith(BY_NAME))

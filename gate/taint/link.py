"""Files together: what outsiders decide of a value is followed back over functions and files to its
sources.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gate.dataclass import dataclass
from gate.taint.facts import Call, FileFlows, Function, Hit, Taint
from gate.taint.names import ESCAPES, LOOKUP
from gate.taint.values import ALL, DECODED_TAG

_DEEPEST: Final = 7
_MOST: Final = 400
Resolve = Callable[[str, Call], list[tuple[str, Function]]]
"""The functions that a call of a file may be of."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A source that reaches a sink. ``way``: path and line of each step, the source's first, the sink's last.
    ``sure``: through nothing unknown.
    """

    rule: str
    path: str
    hit: Hit
    kind: str
    source: str
    way: tuple[tuple[str, int], ...]
    sure: bool


@dataclass(frozen=True, slots=True)
class _Step:
    path: str
    taint: Taint
    safe: frozenset[str]
    way: tuple[tuple[str, int], ...]
    stack: tuple[tuple[str, int], ...]
    """Calls through whose results the way came: their parameters are those of that call."""
    sure: bool


def flows(files: Mapping[str, FileFlows], resolve: Resolve) -> Iterator[Flow]:
    """Every sink with the first source of each kind that reaches it."""
    callers: dict[tuple[str, int], list[tuple[str, Call]]] = defaultdict(list)
    resolved: dict[tuple[str, int], list[tuple[str, Function]]] = {}
    for path, facts in files.items():
        for call in facts.calls:
            found = resolved[path, call.number] = resolve(path, call)
            for at, function in found:
                callers[at, function.number].append((path, call))
    own = {
        (path, call.line, call.path.rpartition(".")[2])
        for path, facts in files.items()
        for call in facts.calls
        if call.kind[:1].isupper() and resolved[path, call.number]
    }
    """Calls of the project's own methods, told by a written type: what they do is read where they stand."""
    for path, facts in files.items():
        for hit in facts.hits:
            if (path, hit.line, hit.sink.rpartition(".")[2]) in own:
                continue
            yield from _sources(path, hit, files, callers, resolved)


def _sources(
    path: str,
    hit: Hit,
    files: Mapping[str, FileFlows],
    callers: Mapping[tuple[str, int], list[tuple[str, Call]]],
    resolved: Mapping[tuple[str, int], list[tuple[str, Function]]],
) -> Iterator[Flow]:
    waiting = [_Step(path, t, frozenset(t.tags), ((path, hit.line),), (), True) for t in hit.taints]
    seen: set[tuple[str, str, int, int, tuple[tuple[str, int], ...]]] = set()
    found: dict[tuple[str, str], Flow] = {}
    while waiting and len(seen) < _MOST:
        step = waiting.pop(0)
        key = (step.path, step.taint.kind, step.taint.number, step.taint.index, step.stack)
        if step.taint.kind == "source":
            if hit.needs and step.safe.isdisjoint(hit.needs):
                continue
            kind, _, text = step.taint.text.partition(":")
            flow = Flow(
                hit.rule, path, hit, kind, text, ((step.path, step.taint.number), *step.way), step.sure
            )
            had = found.get((kind, text))
            if had is None or (flow.sure and not had.sure):
                found[kind, text] = flow
            continue
        if key in seen or len(step.way) > _DEEPEST:
            continue
        seen.add(key)
        waiting += _back(step, hit.rule, files, callers, resolved)
    yield from found.values()


def _back(  # noqa: C901 - results, then parameters
    step: _Step,
    rule: str,
    files: Mapping[str, FileFlows],
    callers: Mapping[tuple[str, int], list[tuple[str, Call]]],
    resolved: Mapping[tuple[str, int], list[tuple[str, Function]]],
) -> Iterator[_Step]:
    taint = step.taint
    if taint.kind == "result":
        call = files[step.path].calls[taint.number]
        targets = resolved.get((step.path, taint.number), [])
        for at, function in targets:
            for one in function.returns:
                if not _is_safe(rule, one, step.safe):
                    way = ((step.path, call.line), *step.way)
                    stack = (*step.stack, (step.path, call.number))
                    yield _Step(at, one, _after(one, step.safe), way, stack, step.sure)
        if not targets and _hands_on(call):
            for argument in call.arguments[:-1]:
                for one in argument:
                    if not _is_safe(rule, one, step.safe):
                        yield _Step(step.path, one, _after(one, step.safe), step.way, step.stack, False)
        return
    places = callers.get((step.path, taint.number), [])
    if step.stack:
        at, number = step.stack[-1]
        inner = [(p, c) for p, c in places if (p, c.number) == (at, number)]
        if inner:
            for path, call in inner:
                for one in _argument(call, taint, files[step.path].functions[taint.number]):
                    if not _is_safe(rule, one, step.safe):
                        yield _Step(path, one, _after(one, step.safe), step.way, step.stack[:-1], step.sure)
            return
    for path, call in places:
        for one in _argument(call, taint, files[step.path].functions[taint.number]):
            if not _is_safe(rule, one, step.safe):
                way = ((path, call.line), *step.way)
                yield _Step(path, one, _after(one, step.safe), way, (), step.sure)


def _argument(call: Call, taint: Taint, function: Function) -> list[Taint]:
    """What a call gives a parameter, by its keyword or its place."""
    name = function.parameters[taint.index] if taint.index < len(function.parameters) else ""
    for key, given in zip(call.keys, call.arguments, strict=False):
        if key and key == name:
            return given
    places = [given for key, given in zip(call.keys, call.arguments, strict=False) if not key]
    found = places[taint.index] if 0 <= taint.index < len(places) else []
    entry = taint.text.partition(".")[2].partition(".")[0]
    if not entry or not any(tag.startswith("field:") for one in found for tag in one.tags):
        return found
    return [one for one in found if _of_entry(one, entry)]


def _of_entry(taint: Taint, entry: str) -> bool:
    keys = [tag for tag in taint.tags if tag.startswith("field:")]
    return not keys or f"field:{entry}" in keys


def _hands_on(call: Call) -> bool:
    name = call.path.rpartition(".")[2]
    return len(call.path) > 1 and not LOOKUP.match(name) and not ESCAPES.search(name)


def _after(taint: Taint, had: frozenset[str]) -> frozenset[str]:
    """What a value is safe for, with what was known of it before: a check before a decoding says nothing."""
    return had if DECODED_TAG in had else had | frozenset(taint.tags)


def _is_safe(rule: str, taint: Taint, had: frozenset[str]) -> bool:
    tags = {*(t for t in taint.tags if DECODED_TAG not in had or t == ALL), *had}
    return "all" in tags or rule in tags or (rule in ("ssrf", "redirect") and "tail" in tags)

"""Dangerous calls of one script behind conditions that ordinary use does not meet: for the limited child."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.languages.forcing import script_conditions
from gate.languages.forcing.copies import GRAMMARS
from gate.languages.forcing.places import place_of, text_of
from gate.languages.script_guards.asked import Asked
from gate.languages.script_guards.javascript import JavaScript
from gate.languages.script_guards.shell import Shell
from gate.languages.sensitive_calls.parse import read_one
from gate.languages.tree_sitter_parse import parse, walk
from gate.model.forced import GuardKind
from gate.model.sensitive import SensitiveCall, SensitiveKind

_ACTS: Final = frozenset({
    SensitiveKind.PROCESS, SensitiveKind.NETWORK, SensitiveKind.DYNAMIC_CODE, SensitiveKind.NATIVE_CODE,
    SensitiveKind.PERSISTENCE, SensitiveKind.DELETION,
})  # fmt: skip
_WAYS: Final = frozenset({"call", "make", "hand"})
_MOST: Final = 20
_CONDITIONS: Final = 2_000
_TEXT: Final = 160


@dataclass(frozen=True, kw_only=True, slots=True)
class GuardedAct:
    """A call behind a condition. Lines count from 1. ``is_one``: of CI, one project, runner or person is
    chosen. ``text`` is the condition (untrusted).
    """

    line: int
    last: int
    kind: GuardKind
    call: str
    act: SensitiveKind
    text: str
    is_one: bool = False


def read(path: str, data: bytes, options: Mapping[str, Any]) -> tuple[GuardedAct, ...]:
    """For gate/languages/limited_child.py. ``options``: ``shell``, the paths of shell scripts."""
    shell = path in options.get("shell", ())
    grammar = "bash" if shell else GRAMMARS.get(PurePosixPath(path).suffix)
    if grammar is None:
        return ()
    calls = read_one(f"{path}.sh" if shell else path, data, {}).calls
    acts = [
        (place_of(data, call.first, call.column).byte, call)
        for call in calls
        if call.kind in _ACTS and call.way in _WAYS
    ]
    if not acts:
        return ()
    root = parse(data, grammar)
    reader = Shell(root) if shell else JavaScript(root, data)
    return tuple(_found(root, reader, acts, shell=shell))[:_MOST]


def _found(
    root: Node, reader: Shell | JavaScript, acts: list[tuple[int, SensitiveCall]], *, shell: bool
) -> Iterator[GuardedAct]:
    told: set[int] = set()
    count = 0
    for node in walk(root, frozenset()):
        for test, first, last, _ in script_conditions.decided(node, shell=shell):
            count += 1
            if count > _CONDITIONS or test.id in told:
                continue
            behind = _behind(reader, first, last, test, acts)
            asked = reader.asked(test) if behind else Asked()
            kind = asked.kind()
            behind = [call for call in behind if kind != "ci" or call.kind is not SensitiveKind.DELETION]
            if not kind or not behind:
                continue
            told.add(test.id)
            call = behind[0]
            yield GuardedAct(
                line=test.start_point[0] + 1,
                last=test.end_point[0] + 1,
                kind=kind,
                call=call.call,
                act=call.kind,
                text=" ".join(text_of(test).split())[:_TEXT],
                is_one=asked.is_one,
            )


def _behind(
    reader: Shell | JavaScript, first: Node, last: Node, test: Node, acts: list[tuple[int, SensitiveCall]]
) -> list[SensitiveCall]:
    """Calls in what the condition decides about, and in functions that are called from there."""
    direct = [call for at, call in acts if first.start_byte <= at < last.end_byte and not _is_in(at, test)]
    if direct:
        return direct
    within: list[tuple[int, int]] = []
    one: Node | None = first
    while one is not None and one.start_byte < last.end_byte:
        within += [(n.start_byte, n.end_byte) for n in reader.acts_of(one)]
        one = one.next_named_sibling
    return [call for at, call in acts if any(a <= at < b for a, b in within) and not _is_in(at, test)]


def _is_in(at: int, node: Node) -> bool:
    return node.start_byte <= at < node.end_byte

"""Values of calls that go to another parameter: one was put before it, and the callers stayed as they are.

The call is the same line as at base, in a file that the change does not even touch; what it gives as a queue,
an account or a limit is now something else, and the parameter that it was meant for has its default.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files, read_files
from gate.prescreen.scope import sources
from gate.prescreen.signatures.read import SUFFIXES, Call, Function, Signatures
from gate.prescreen.text_rule import finding, rule

SHIFTED: Final = rule.meta(
    "call.arguments-shifted",
    "What a call gives goes to another parameter than before",
    severity="medium",
    confidence="medium",
    topic="behaviour",
    cwe=(683, 628),
    attack=("T1565.001",),
    languages=("python", "javascript", "typescript", "php", "ruby"),
    why="A parameter was put before others, and callers that give values by place were left as they are: "
    "what they meant for one parameter reaches another, and the one they meant takes its default.",
    fix="Put new parameters last, or let them be given by name only; change the callers with the function.",
)
RULES: Final[tuple[RuleMeta, ...]] = (SHIFTED,)
_READER: Final = Reader("gate.prescreen.signatures.read:read", Signatures, parses=True, pure=True)
_LARGEST: Final = 1 << 19
_MOST: Final = 5
_MOST_FILES: Final = 200
_MOST_CALLERS: Final = 60
_MOST_BYTES: Final = 64 << 20
_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")


class ShiftedArguments:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "shifted-arguments"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the parameters of changed functions, and look for callers that base has as well."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if one.base and _is_read(one.path)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
        base = read_files(_READER, [(one.path, one.base or b"") for one in files], until)
        moved = [
            (one, function, at, meant)
            for one in files
            if one.path in head and one.path in base
            for function, at, meant in _moved(base[one.path].functions, head[one.path].functions)
        ]
        return ended(self.name, [*_told(request, moved, until)][:_MOST] if moved else (), unread)


def _is_read(path: str) -> bool:
    return path.endswith(SUFFIXES) and not is_test_code(path) and not is_example(path)


def _moved(old: Sequence[Function], new: Sequence[Function]) -> Iterator[tuple[Function, int, str]]:
    """Functions of head with a place whose parameter of base stands further behind now. Of a name that stands
    for two at base (of the class and of its objects, a property's), nobody knows which a call means.
    """
    times = Counter(one.name for one in old)
    before = {one.name: one.parameters for one in old if times[one.name] == 1}
    for one in {one.name: one for one in new}.values():
        was = before.get(one.name)
        if was is None or was == one.parameters:
            continue
        at = next(
            (n for n, name in enumerate(was) if n < len(one.parameters) and one.parameters[n] != name), None
        )
        if at is not None and was[at] in one.parameters[at + 1 :]:
            yield one, at, was[at]


def _told(
    request: PrescreenRequest, moved: Sequence[tuple[Source, Function, int, str]], until: float
) -> Iterator[Finding]:
    names = {function.name.rpartition(".")[2].encode() for _, function, _, _ in moved}
    callers: list[tuple[str, bytes]] = []
    size = 0
    code = [e.path for e in request.head.entries() if _is_read(e.path) and e.size <= _LARGEST]
    for path, data in request.head.read_many(tuple(code)):
        size += len(data)
        if any(name + b"(" in data or name + b" " in data for name in names) and len(callers) < _MOST_CALLERS:
            callers.append((path, data))
        if size > _MOST_BYTES:
            break
    old_at = {f.path: f.old_path or f.path for f in request.change.files}
    head = read_files(_READER, callers, until)
    before = request.base.read_many(tuple({old_at.get(path, path) for path, _ in callers}))
    base = read_files(_READER, [*before], until)
    texts = dict(callers)
    for source, function, at, meant in moved:
        for path, found in head.items():
            if not _same_kind(path, source.path):
                continue
            was = base.get(old_at.get(path, path))
            same = {(one.name, one.on, *one.given) for one in was.calls} if was else set()
            calls = [
                one for one in found.calls
                if (one.name, one.on, *one.given) in same
                and _calls(one, function, source.path, path, texts[path], at)
            ]  # fmt: skip
            if calls:
                yield _finding(source, function, at, meant, path, calls[0])
                break


def _calls(call: Call, function: Function, home: str, path: str, text: bytes, at: int) -> bool:
    """Does the call mean this function, and give something at the place?"""
    owner, _, name = function.name.rpartition(".")
    if (
        call.name != name
        or len(call.given) <= at
        or any(g.startswith(("*", "...")) for g in call.given[: at + 1])
    ):
        return False
    if owner:
        return path == home and call.on in ("self", "cls", "this", "$this", owner)
    stem = PurePosixPath(home).stem
    stem = PurePosixPath(home).parent.name if stem in ("__init__", "index") else stem
    if path == home:
        return call.on == ""
    return stem.encode() in text and call.on in ("", stem)


def _same_kind(one: str, other: str) -> bool:
    first, second = PurePosixPath(one).suffix, PurePosixPath(other).suffix
    return first == second or (first in _SCRIPTS and second in _SCRIPTS)


def _finding(source: Source, function: Function, at: int, meant: str, path: str, call: Call) -> Finding:
    now = function.parameters[at]
    return finding(
        SHIFTED,
        f"What {path}:{call.line} gives as {meant} goes to {now} now.",
        Location(path=source.path, line=function.line),
        shape=f"{function.name} {meant} {now}",
        evidence={"function": function.name, "value": call.given[at], "was": meant, "now": now},
    )

"""Guards of JavaScript and TypeScript: Node calls them (../javascript/guards/asker.mjs), the search is the
same as for Python. A guard that never comes back costs its process; the next one gets another.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..javascript import runner as javascript_runner
from . import constants, neighbours, runner
from .search import TIMES, Given, Search

CALLS = 700
"""Calls of one guard."""
_QUIET = 250
"""Calls in a row that took no new way, after which a guard is known."""
_LATE = 6
"""Calls without an answer, after which a guard is left: it waits for something that is not there."""
_BEGIN = 12.0
"""Seconds for loading the module."""
_LINE = 4 << 20
"""Bytes of one answer."""
_PATIENCE = 1.5
"""Seconds without an answer."""
_UNDEFINED, _OBJECT = ["js", "undefined"], ["js", "object"]
_EDGES: tuple[Any, ...] = (
    *neighbours.EDGES,
    _UNDEFINED,
    _OBJECT,
    ["js", "proto"],
    ["float", "nan"],
    "__proto__",
    "constructor",
)
_MANY: tuple[Any, ...] = (["list", []], ["many", 2], ["many", 3])
"""For a list: nothing, and the same several times."""
_SPELLED = ("localhost", "localhost.", "127.1", "0x7f000001", "2130706433", "[::1]")
"""Other ways to write an address of the machine itself."""
_OF_OBJECTS: tuple[Any, ...] = (None, _UNDEFINED, _OBJECT)
"""For a path below which others stand."""


class Gone(Exception):  # noqa: N818 - no error: it is what ends a process
    """The process ended, or gave no answer in time. ``report``: what it said before, if it could not load."""

    def __init__(self, report: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.report = {k: v for k, v in (report or {}).items() if k != "m"} or {"outcome": "ended"}


class Heard:
    """What Node said of one call; as runner.Answer."""

    def __init__(self, said: dict[str, Any], given: Given) -> None:
        self.word = str(said.get("word"))
        self.given = given
        self.facts = [((path, how, repr(told)), told) for path, how, told in said.get("facts", ())]
        self.asked = list(said.get("asked", ()))
        self.trail = frozenset(said.get("trail", ()))
        self.spent = float(said.get("spent") or 0)

    @property
    def shape(self) -> frozenset[tuple[str, str]]:
        """What was compared, and how; with nothing is another way."""
        return frozenset(
            (path, f"{how} undefined" if told == _UNDEFINED else how) for (path, how, _), told in self.facts
        )

    @property
    def accident(self) -> bool:
        """An exception that nobody raised on purpose."""
        return runner.is_accident(self.word)


class _Search(Search):
    """What has parts is an object or nothing: a text in its place is a mistake of the caller's."""

    def __init__(self, constants: Callable[[], list[Any]], producers: list[str]) -> None:
        super().__init__(constants, producers)
        self._objects: set[str] = set()
        self._asked: set[str] = set()

    def next(self) -> Given | None:
        """The next one that can be, by what is known by now."""
        while (given := super().next()) is not None and not self._can_be(given):
            pass
        return given

    def heard(self, given: Given, answer: Any) -> int:
        """Also which paths have parts."""
        for path in answer.asked:
            self._asked.add(path)
            self._objects |= {path[:at] for at, sign in enumerate(path) if sign in ".[(" and at}
        count = super().heard(given, answer)
        if count == 1 and not answer.accident and TIMES not in given:
            for path in answer.asked:
                if f"{path}[*]" in self._asked and path not in given:
                    self._put(self._first, {**given, path: _MANY[1]})
        return count

    def _can_be(self, world: Given) -> bool:
        for path, told in world.items():
            many = isinstance(told, list) and told[:1] == ["many"]
            if not many and any(_is_below(one, path) for one in world):
                return False
            if path in self._objects and not many and told not in (*_OF_OBJECTS, *_MANY):
                return False
        return True

    def _edges(self, path: str, asked: Sequence[str]) -> Sequence[Any]:
        if path not in self._objects:
            return _EDGES
        return (*_OF_OBJECTS, *_MANY) if f"{path}[*]" in self._asked else _OF_OBJECTS


def _is_below(path: str, other: str) -> bool:
    return len(path) > len(other) and path.startswith(other) and path[len(other)] in ".[("


class Program:
    """A Node that loads modules and asks their guards."""

    def __init__(self, item: dict[str, Any], context: Any) -> None:
        self.constants: list[Any] = []
        self._text = b""
        inlet, self._to = os.pipe()
        self._from, outlet = os.pipe()
        try:
            more = {"clock": time.time(), "addresses": (*constants.ADDRESSES, *_SPELLED)}
            self._child: subprocess.Popen[bytes] = javascript_runner.start(
                item, context, (inlet, outlet), more
            )
        finally:
            os.close(inlet)
            os.close(outlet)
        while "ready" not in (said := self._line(_BEGIN)):
            if said.get("m") == "report":
                self.end()
                raise Gone(said)

    def open(self, name: str, path: str) -> dict[str, Any]:
        """Begin with a guard; its module is loaded once."""
        return self._ask({"open": name, "path": path}, _BEGIN)

    def call(self, given: Given) -> Heard:
        """One question."""
        said = self._ask({"given": given})
        self.constants = list(said.get("constants", ()))
        return Heard(said, given)

    def _ask(self, question: dict[str, Any], patience: float = _PATIENCE) -> dict[str, Any]:
        try:
            os.write(self._to, json.dumps(question).encode("ascii") + b"\n")
        except OSError as error:
            raise Gone from error
        while (said := self._line(patience)).keys() & {"m"}:
            pass
        return said

    def _line(self, seconds: float) -> dict[str, Any]:
        until = time.monotonic() + seconds
        while b"\n" not in self._text:
            ready, _, _ = select.select([self._from], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self._from, 1 << 16) if ready else b""
            if not part or len(self._text) > _LINE:
                raise Gone
            self._text += part
        line, _, self._text = self._text.partition(b"\n")
        try:
            said = json.loads(line) if line.strip() else {"m": ""}
        except ValueError:
            return {"m": ""}
        return said if isinstance(said, dict) else {"m": ""}

    def end(self) -> None:
        """It is not needed any more."""
        self._child.kill()
        self._child.wait()
        os.close(self._to)
        os.close(self._from)


def run(item: dict[str, Any], context: Any) -> dict[str, Any]:
    """Every target of an item; each is told as soon as it is known. One that cannot be loaded is what the
    item came to where no other was asked.
    """
    until = time.monotonic() + float(item.get("seconds") or 20.0)
    program: Program | None = None
    failed: dict[str, Any] = {}
    told = False
    try:
        for target in item["targets"]:
            if time.monotonic() > until:
                break
            name, path = target["name"], target.get("path") or item["path"]
            rows: list[list[Any]] = []
            given = ""
            try:
                program = program or Program(item, context)
                opened = program.open(name, path)
                if not opened.get("found"):
                    failed = failed or opened.get("report") or {}
                    continue
                given = str(opened.get("given"))[:300]
                _take(program, target, opened.get("producers", []), rows)
            except Gone as gone:
                if program is None:
                    return gone.report
                program.end()
                program = None
            told = True
            context.channel.say("guard", name=f"{path} {name}", given=given, rows=rows)
    finally:
        if program is not None:
            program.end()
    return {"outcome": "completed"} if told or not failed else failed


def _take(program: Program, target: dict[str, Any], producers: list[str], rows: list[list[Any]]) -> None:
    """The answers of one guard, into ``rows``: those that were given before its process ended count, too."""
    if "worlds" in target:
        for given in target["worlds"]:
            heard = program.call(given)
            rows.append([given, heard.word, heard.asked])
        return
    search = _Search(lambda: program.constants, producers)
    latest = time.monotonic() + runner.LONGEST
    quiet, late, begun = 0, 0, -1.0
    for _ in range(CALLS):
        asked = search.next()
        if asked is None or quiet > _QUIET or time.monotonic() > latest:
            break
        heard = program.call(asked)
        count = search.heard(asked, heard)
        quiet = 0 if count == 1 else quiet + 1
        begun = heard.spent if begun < 0 else begun
        late += heard.word == "late"
        if heard.spent - begun > runner.SPENT or late > _LATE:
            break
        if not heard.accident and len(rows) < runner.MOST_ROWS and runner.is_kept(asked, count, len(rows)):
            rows.append([asked, heard.word, heard.asked])

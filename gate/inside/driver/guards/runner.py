"""Calls guards: explores what they compare (``learn``), or asks what the other side was asked (``ask``).

A guard is called again and again, each time with one value more at one place of its arguments: those that it
compared with before and their neighbours, constants of its code, edges of each kind. What made it take
another way is the start of further calls. The order follows from the code alone. Nothing here judges: the
host compares the answers of both sides to the same questions.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import inspect
import os
import re
import secrets
import sys
import time
import types
import urllib.parse
from collections.abc import Callable
from typing import Any

from .. import answers, call_runner
from . import constants
from .making import FUNCTIONS, PASSED, arguments, through
from .search import TIMES, Given, Search
from .traced import Thing, noting
from .traced_numbers import Clock
from .world import Encoded, EnoughAskedError, World

CALLS = 400
"""Calls of one guard."""
SPENT = 1.2
"""Seconds of processor time for one guard."""
LONGEST = 5.0
"""Seconds for one guard."""
EACH = 0.5
"""Seconds for one call."""
ROWS = 70
"""Questions of one guard that are told, and of one way through it."""
ROWS_OF_A_WAY = 12
MOST_ROWS = 120
_ON_PURPOSE = re.compile(
    "Permission|Denied|Forbidden|Unauthor|NotAuth|AuthenticationFailed|Signature|Token|Csrf|Suspicious|Security"
    "|HTTPException|status|SystemExit"
)
"""In the names of exceptions that libraries raise for a guard."""
KEPT = "*kept"
"""In a world: the object is the one of the question before."""
_MAKES = re.compile(
    "(?i)(?:^|_)(?:sign|seal|issue|make|mint|create|generate|new|encode|dumps|build|pack|encrypt|token_for|hash)(?:_|$)"
)
_PRODUCERS = 3
_processor_time, _monotonic = time.process_time, time.monotonic
_LATE = object()
Trail = frozenset[tuple[int, int]]


class Answer:
    """Of one call: the word for its end, and what it did on the way."""

    def __init__(self, word: str, world: World, trail: Trail) -> None:
        self.word = word
        self.given = world.given
        self.facts = list(world.facts.items())
        self.asked = list(world.asked)
        self.trail = trail

    @property
    def shape(self) -> frozenset[tuple[str, str]]:
        """What was compared, and how: two conditions on one line are two ways."""
        return frozenset((path, how) for (path, how, _), _ in self.facts)

    @property
    def accident(self) -> bool:
        """An exception that nobody raised on purpose: the value is of no use to the code."""
        return is_accident(self.word)


def is_accident(word: str) -> bool:
    """An exception that nobody raised on purpose."""
    names = word.split()
    return names[0] == "raised" and names[-1] != "said" and not _ON_PURPOSE.search(word)


def is_kept(given: Given, count: int, rows: int) -> bool:
    """Is the question one to tell, the ``count``-th that goes its way?"""
    if list(given) == [TIMES] or len(given) > 1 >= count:
        return True
    return count <= ROWS_OF_A_WAY and rows < ROWS


class Asker:
    """Calls guards of one module. ``tree``: the folder of what is under test."""

    def __init__(self, module: types.ModuleType, tree: str) -> None:
        self.module = module
        self.tree = tree.rstrip("/") + "/"
        self.now = float(time.time())
        self.producers: dict[str, Callable[[World], Any]] = {}
        self.kept: dict[type, Any] = {}
        self.known: tuple[int, list[Any]] = (-1, [])
        self.codes: dict[types.CodeType, dict[str, Any]] = {}

    def learn(self, name: str) -> list[list[Any]]:
        """Questions and answers of one guard: [given, word, paths that were looked at]."""
        owner, target = self._find(name)
        self.codes, self.known = {}, (-1, [])
        self._take_producers(owner, name)
        search = Search(self._constants, self.producers)
        rows: list[list[Any]] = []
        until = _processor_time() + SPENT
        latest = _monotonic() + LONGEST
        for _ in range(CALLS):
            given = search.next()
            if given is None or _processor_time() > until or _monotonic() > latest:
                break
            answer = self.call(owner, target, given)
            count = search.heard(given, answer)
            if answer.accident:
                continue
            if is_kept(given, count, len(rows)):
                rows.append([given, answer.word, answer.asked])
        return rows[:MOST_ROWS]

    def _constants(self) -> list[Any]:
        """What the code that ran so far holds ready."""
        if len(self.codes) != self.known[0]:
            self.known = len(self.codes), constants.constants_of(self.codes.items())
        return self.known[1]

    def ask(self, name: str, worlds: list[Given]) -> list[list[Any]]:
        """The answers to these questions, in their order."""
        owner, target = self._find(name)
        self._take_producers(owner, name)
        self.kept = {}
        rows = []
        for given in worlds:
            answer = self.call(owner, target, given, trace=False)
            rows.append([given, answer.word, answer.asked])
        return rows

    def call(self, owner: Any, target: Any, given: Given, trace: bool = True) -> Answer:
        """One call in one world."""
        world = World(given, self.now)
        world.producers = self.producers
        seen: set[tuple[int, int]] = set()
        PASSED.clear()
        urllib.parse.clear_cache()  # type: ignore[attr-defined]  # parts of addresses of an earlier world
        if trace:
            sys.settrace(self._tracer(seen))
        try:
            word = call_runner.bounded(lambda: self._word(owner, target, world), EACH)
        finally:
            if trace:
                sys.settrace(None)
        return Answer("late" if word is None else word, world, frozenset(seen))

    def _word(self, owner: Any, target: Any, world: World) -> str:
        try:
            value = _settled(self._called(owner, target, world))
            for _ in range(2):
                if PASSED or not self._is_ours(value):
                    break
                value = _settled(self._follow(value, world))
            if PASSED:
                return "through"
            return answers.answer(bool(value) if type(value) is int and value in (0, 1) else value)
        except call_runner.CallTimeout:
            raise
        except EnoughAskedError:
            return "late"
        except BaseException as error:
            return answers.refusal(error) + self._raised_by(error)

    def _raised_by(self, error: BaseException) -> str:
        """`` said`` where a line of the tree's own raises it: a refusal in so many words, no accident."""
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        if at is None or not at.tb_frame.f_code.co_filename.startswith(self.tree):
            return ""
        line = at.tb_lineno
        code = at.tb_frame.f_code
        return " said" if _raises(code, line, at.tb_lasti) else ""

    def _called(self, owner: Any, target: Any, world: World) -> Any:
        if isinstance(target, (staticmethod, classmethod)):
            target, owner = getattr(owner, target.__func__.__name__), None
        if isinstance(target, property):
            return target.fget(self._instance(owner, world)) if target.fget else None
        if owner is None:
            args, named = arguments(target, world)
            return target(*args, **named)
        method = target.__get__(self._instance(owner, world), owner)
        for _ in range(world.given.get(TIMES, 1) - 1):
            with contextlib.suppress(Exception):
                args, named = arguments(method, world)
                _settled(method(*args, **named))
        args, named = arguments(method, world)
        return method(*args, **named)

    def _take_producers(self, owner: Any, name: str) -> None:
        """Functions beside a guard that make what it is given: ``sign`` for ``verify``."""
        own = name.rpartition(".")[2]
        found: dict[str, Callable[[World], Any]] = {}
        for holder in (owner, self.module):
            for other in list(vars(holder) if holder is not None else ()):
                target = vars(holder)[other]
                if other == own or not _MAKES.search(other) or not self._is_ours(target):
                    continue
                of = owner if holder is owner else None
                found.setdefault(other, functools.partial(self._made, of, target))
        self.producers = dict(list(found.items())[:_PRODUCERS])

    def _made(self, owner: Any, target: Any, world: World) -> Any:
        """What a producer makes of the same arguments."""
        inner = World({path: told for path, told in world.given.items() if not _is_made(told)}, self.now)
        return _settled(self._called(owner, target, inner))

    def _instance(self, owner: type, world: World) -> Any:
        if KEPT in world.given and owner in self.kept:
            return self.kept[owner]
        made = self._new_instance(owner, world)
        if KEPT in world.given:
            self.kept[owner] = made
        return made

    def _new_instance(self, owner: type, world: World) -> Any:
        try:
            args, named = arguments(owner, world, "self.")
            return owner(*args, **named)
        except call_runner.CallTimeout:
            raise
        except BaseException:
            return Thing(world, "self", owner)

    def _is_ours(self, value: Any) -> bool:
        code = getattr(value, "__code__", None)
        return isinstance(value, types.FunctionType) and code is not None and self._within(code)

    def _within(self, code: types.CodeType) -> bool:
        name = code.co_filename
        return name.startswith(self.tree) and "-packages/" not in name

    def _follow(self, function: Any, world: World) -> Any:
        """What a decorator gave back: given something to guard, else called as that is."""
        bare = inspect.signature(function, follow_wrapped=False)
        required = [p for p in bare.parameters.values() if p.default is p.empty]
        if len(required) == 1 and required[0].name in FUNCTIONS:
            return function(through)
        function = _without_wrapped(function)
        args, named = arguments(function, world)
        if any(p.kind is p.VAR_POSITIONAL for p in required) and not args:
            args = [Thing(world, "args[0]")]
        return function(*args, **named)

    def _tracer(self, seen: set[tuple[int, int]]) -> Callable[..., Any]:
        def local(frame: Any, event: str, arg: Any) -> Any:
            if event == "line":
                seen.add((id(frame.f_code), frame.f_lineno))
            return local

        def begun(frame: Any, event: str, arg: Any) -> Any:
            code = frame.f_code
            if not self._within(code):
                return None
            if code not in self.codes:
                self.codes[code] = frame.f_globals
            return local

        return begun

    def _find(self, name: str) -> tuple[Any, Any]:
        owner: Any = None
        target: Any = self.module
        for step in name.split("."):
            owner = target if isinstance(target, type) else None
            target = vars(target)[step] if owner is None else inspect.getattr_static(owner, step)
        return owner, target


def _without_wrapped(function: Any) -> Any:
    """The function by its own parameters: ``functools.wraps`` tells those of what it wraps."""
    return types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )


def _settled(value: Any) -> Any:
    """What a coroutine gives, or the first of a generator."""
    if isinstance(value, Thing):
        return value
    if inspect.isawaitable(value):
        import asyncio

        async def wait() -> Any:
            return await asyncio.wait_for(value, EACH)

        return asyncio.run(wait())
    if inspect.isgenerator(value):
        return next(value, None)
    return value


def _is_made(told: Encoded) -> bool:
    return isinstance(told, list) and told[:1] == ["made"]


def _raises(code: types.CodeType, line: int, offset: int) -> bool:
    """Is the instruction at this place one that raises?"""
    import dis

    for each in dis.get_instructions(code):
        if each.offset == offset:
            return each.opname in ("RAISE_VARARGS", "RERAISE")
    return False


def listen_to_clocks() -> None:
    """Let ``time.time`` give a number that tells what it is compared with. Before the module is imported."""
    look = time.time
    time.time = lambda: Clock(look())
    hmac.compare_digest = secrets.compare_digest = noting(hmac.compare_digest)


def run(item: dict[str, Any], channel: Any, module: types.ModuleType) -> dict[str, Any]:
    """Every target of an item; each is told as soon as it is known."""
    asker = Asker(module, os.getcwd())
    seconds = float(item.get("seconds") or 20.0)
    until = time.monotonic() + seconds
    for target in item["targets"]:
        if time.monotonic() > until:
            break
        name = target["name"]
        try:
            rows = asker.ask(name, target["worlds"]) if "worlds" in target else asker.learn(name)
            given = answers.signature(asker._find(name)[1])
        except (KeyError, AttributeError):
            continue
        channel.say("guard", name=name, given=given, rows=rows)
    return {"outcome": "completed"}

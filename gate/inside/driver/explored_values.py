"""Arguments whose answers are chosen: a function is called again and again, until each way through its
questions about them was taken once, as far as a number of calls goes.

A Chosen stands for an object of unknown kind. Whatever is asked of it (is it equal to this, is it true,
is it less) is a question. A run answers the first ones as it was told and the rest as usual; each answer
of a run may be turned round in a later one. In the manner of concolic execution, without a solver: the
values are asked for, not computed. Which calls are made follows from the code alone, never from what
changed, so that base and head are called alike; a function that is slow has fewer of them (SPENT).
"""

from __future__ import annotations

import inspect
import time
import types
import typing
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from . import argument_values, returned_values

_processor_time, _monotonic = time.process_time, time.monotonic
"""Kept: code under test, and what moves clocks, puts others in their place."""
RUNS = 24
"""Calls of one function."""
QUESTIONS = 40
"""Answers of one run that may be turned round."""
ASKED = 2_000
"""Questions of one run, the same ones counted anew: code that asks for ever is ended."""
SPENT = (0.2, 0.5)
"""Seconds of processor time, and seconds, after which no further call is made: others wait for their turn."""
HANDED = 8
"""Functions called in turn of those that calls gave back or handed on."""


class EnoughAskedError(BaseException):
    """Ends a run that asks without end. No Exception: the code's own handlers must not keep it."""


class Answers:
    """The answers of one run. ``told``: those of its first questions."""

    def __init__(self, told: tuple[bool, ...] = ()) -> None:
        self.told = told
        self.taken: list[bool] = []
        self.handed: list[Any] = []
        self._known: dict[tuple[str, str], bool] = {}
        self._equal: dict[str, str] = {}
        self._asked = 0

    def ask(self, who: str, what: str, usual: bool) -> bool:
        """The answer to a question, the same one each time that it is asked in a run."""
        self._asked += 1
        if self._asked > ASKED:
            raise EnoughAskedError
        known = self._known.get((who, what))
        if known is not None or len(self.taken) >= QUESTIONS:
            return usual if known is None else known
        number = len(self.taken)
        answer = self.told[number] if number < len(self.told) else usual
        self.taken.append(answer)
        self._known[who, what] = answer
        return answer

    def equal(self, who: str, other: object) -> bool:
        """Is it equal to this? To one value at a time."""
        value = f"{type(other).__name__} {other!r}"[:200]
        if who in self._equal:
            return self._equal[who] == value
        answer = self.ask(who, value, False)
        if answer:
            self._equal[who] = value
        return answer


class Chosen(argument_values.Stand):
    """One object of unknown kind. ``who``: how the code came to it, the same in each run."""

    def __new__(cls, answers: Answers, who: str) -> Any:
        """A text, as a Stand is."""
        made: Any = super().__new__(cls, argument_values.WORD)
        made.__dict__.update(_answers=answers, _who=who)
        return made

    def _more(self, how: str) -> Any:
        return Chosen(self._answers, f"{self._who}{how}"[-300:])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self._more(f".{name}")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        given = [one for one in (*args, *kwargs.values()) if isinstance(one, types.FunctionType)]
        if len(self._answers.handed) < 4 * HANDED:
            self._answers.handed += given[:HANDED]
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]  # as a decorator gives it back
        return self._more(f"({', '.join(repr(one)[:40] for one in args)})")

    def __getitem__(self, key: object) -> Any:
        return self._more(f"[{key!r}]"[:60])

    def __setitem__(self, key: object, value: object) -> None:
        return

    def __delitem__(self, key: object) -> None:
        return

    def __iter__(self) -> Any:
        return iter((self._more("[]"),))

    def __bool__(self) -> bool:
        return bool(self._answers.ask(self._who, "true", True))

    def __eq__(self, other: object) -> bool:
        return self is other or bool(self._answers.equal(self._who, other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._who)

    def __contains__(self, key: object) -> bool:
        return bool(self._answers.ask(self._who, f"has {key!r}"[:200], True))

    def __lt__(self, other: object) -> bool:
        return bool(self._answers.ask(self._who, f"< {other!r}"[:200], False))

    def __gt__(self, other: object) -> bool:
        return bool(self._answers.ask(self._who, f"> {other!r}"[:200], False))

    def __le__(self, other: object) -> bool:
        return not self > other

    def __ge__(self, other: object) -> bool:
        return not self < other

    def startswith(self, *args: object) -> bool:
        """A question."""
        return bool(self._answers.ask(self._who, f"begins {args!r}"[:200], False))

    def endswith(self, *args: object) -> bool:
        """A question."""
        return bool(self._answers.ask(self._who, f"ends {args!r}"[:200], False))

    def _same(self, *args: object, **kwargs: object) -> Any:
        return self

    lower = upper = strip = lstrip = rstrip = title = casefold = capitalize = _same
    removeprefix = removesuffix = _same


def runs(function: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any], Answers]]:
    """Arguments for one call after another, with the answers that the call takes: the next ones follow from
    what it asked. Nothing where no parameter can be a Chosen.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    try:
        hints = typing.get_type_hints(function)
    except BaseException:
        hints = {}
    free = {p.name for p in parameters if _is_free(p, hints.get(p.name, p.annotation))}
    waiting = deque([Answers()] if free else [])
    for _ in range(RUNS):
        if not waiting:
            return
        answers = waiting.popleft()
        args, named = _given(parameters, hints, free, answers)
        yield args, named, answers
        for number in range(len(answers.told), len(answers.taken)):
            told = (*answers.taken[:number], not answers.taken[number])
            if len(waiting) < RUNS:
                waiting.append(Answers(told))


def call(
    function: Any,
    file: object,
    exhaust: Callable[[Any], None],
    stop: type[BaseException],
    begun: set[types.CodeType] | None = None,
    until: tuple[float, float] | None = None,
) -> None:
    """Make all these calls, and those of the functions of the source ``file`` that a call gave back or handed
    to what it was given, each once. ``exhaust`` lets a result do its work. What the code raises is ordinary;
    only ``stop`` (the clock's) goes through.
    """
    begun = set() if begun is None else begun
    if until is None:
        until = (_processor_time() + SPENT[0], _monotonic() + SPENT[1])
    for args, named, answers in runs(function):
        if _processor_time() > until[0] or _monotonic() > until[1]:
            return
        given: object = None
        try:
            given = function(*args, **named)
            exhaust(given)
        except stop:
            raise
        except BaseException:  # as any call's: the trace has what it did
            pass
        for one in (
            *returned_values.returned_functions(answers.handed, file),
            *returned_values.returned_functions(given, file),
        ):
            code = getattr(one, "__code__", None)
            if code is not None and code not in begun and len(begun) < HANDED:
                begun.add(code)
                call(one, file, exhaust, stop, begun, until)


def _is_free(parameter: inspect.Parameter, hint: object) -> bool:
    """May anything stand in its place? A parameter with a type of its own, a switch or a place may not."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return False
    if parameter.name in argument_values.SPECIAL:
        return False
    if hint not in (inspect.Parameter.empty, Any, str, dict, "str", "dict", "Any", object):
        return isinstance(argument_values.by_hint(hint, parameter.name), argument_values.Stand)
    if type(parameter.default) in (bool, int, float):
        return False
    return not argument_values.is_place(argument_values.by_name(parameter.name))


def _given(
    parameters: list[inspect.Parameter], hints: dict[str, Any], free: set[str], answers: Answers
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    args: list[Any] = []
    named: dict[str, Any] = {}
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.name in free:
            value: Any = Chosen(answers, p.name)
        elif p.default is not p.empty:
            continue
        else:
            value = argument_values.by_hint(hints.get(p.name, p.annotation), p.name)
        if p.kind is p.POSITIONAL_ONLY or (p.kind is not p.KEYWORD_ONLY and len(args) == parameters.index(p)):
            args.append(value)
        else:
            named[p.name] = value
    return tuple(args), named

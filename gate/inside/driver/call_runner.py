"""Calls what changed: functions, methods, coroutines, generators, classes, properties, commands.

Every call is bounded by an alarm inside the process (which the code can cancel; the driver's parent
and the host have clocks of their own). Exceptions are ordinary and only noted.
"""

from __future__ import annotations

import functools
import inspect
import os
import signal
import time
import types
from collections.abc import Callable
from typing import Any

from . import (
    answers,
    argument_values,
    explored_values,
    learned_requests,
    program_runner,
    repeated_calls,
    returned_values,
    web_project,
)
from .argument_values import lay_out

__all__ = ["Caller", "lay_out"]

INPUT = argument_values.TEXT_FILE
TAKE = 20
"""Items taken from an iterator."""
SPARE = 0.1
"""The part of a name's time after which no further values are tried."""
PATIENCE = 3
"""Calls that may run into their limit before the limit shrinks."""


NAP: list[float] = []
"""The longest sleep in seconds, where sleeps are shortened."""


class CallTimeout(BaseException):
    """Raised by the alarm inside the code under test."""


def bounded(work: Callable[[], Any], seconds: float, *, processor: float = 0) -> Any:
    """What ``work`` gives, None where that takes longer. An alarm that comes late does nothing.
    ``processor``: seconds of processor time that it may take besides, 0 for any.
    """
    armed = [True]

    def over(_number: int, _frame: Any) -> None:
        if armed:
            raise CallTimeout

    signal.signal(signal.SIGALRM, over)  # stays: what is late would else end the process
    if processor:
        signal.signal(signal.SIGPROF, over)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        if processor:
            signal.setitimer(signal.ITIMER_PROF, processor)
        return work()
    except CallTimeout:
        return None
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
        if processor:
            signal.setitimer(signal.ITIMER_PROF, 0)


class Caller:
    """Calls names of one module in order. ``channel``, ``seen``: see item_process.py. ``each`` bounds a
    name and ``total`` all of them, seconds. ``project``: the web application they are in (web_project.py).
    """

    def __init__(
        self,
        module: types.ModuleType,
        *,
        channel: Any,
        seen: Any,
        each: float,
        total: float,
        describe: Callable[[BaseException], dict[str, Any]],
        project: Any = None,
    ) -> None:
        self.module = module
        self.channel = channel
        self.seen = seen
        self.each = each
        self.until = time.monotonic() + total
        self.slow = 0
        self.armed = False
        self.describe = describe
        self.project = project
        self.answers: list[list[str]] = []
        self.asked = ""
        self.given = ""

    def run(self, names: list[str], start: int) -> int:
        """Call from number ``start`` on and tell the outcome of each. Returns how many were called."""
        lay_out()
        here = os.getcwd()
        monotonic = time.monotonic
        for index, name in enumerate(names[start:], start):
            if monotonic() >= self.until:
                self.channel.say("called", name=name, outcome="out of time")
                continue
            self.channel.say("seen", **self.seen.news())
            self.channel.say("call", name=name, index=index, of=len(names))
            self.answers = []
            outcome = self._one(name)
            said = {"given": self.given, "answers": self.answers[: answers.MOST]}
            self.channel.say("called", name=name, outcome=outcome, **said)
            os.chdir(here)
        return len(names) - start

    def _one(self, name: str) -> str:
        """One name, with all its argument sets. The first set's outcome is told."""
        try:
            owner, target = self._find(name)
        except BaseException as error:
            return "absent" if isinstance(error, (AttributeError, KeyError)) else self._told(error)
        self.given = answers.signature(target)
        signal.signal(signal.SIGALRM, self._alarm)
        # A few calls may take their time; a row of them must not use up that of the calls behind them.
        each = self.each if self.slow < PATIENCE else self.each / 5
        outcomes: list[str] = []
        try:
            self.armed = True
            signal.setitimer(signal.ITIMER_REAL, each, 0.25)
            self._all(owner, target, name, each, outcomes)
        except CallTimeout:
            outcomes.append("timed-out")
        finally:
            self.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.slow += outcomes[:1] == ["timed-out"]
        return outcomes[0] if outcomes else "no way to call it"

    def _all(self, owner: object, target: object, name: str, each: float, outcomes: list[str]) -> None:
        start = time.monotonic()
        try:
            acts = _acts(owner, target, name.rpartition(".")[2])
            acts[1:1] = web_project.requests_for(self.project, target)
            for number, act in enumerate(acts):
                if number >= argument_values.SURE and time.monotonic() - start > SPARE * each:
                    break  # more of the same is worth little where it costs much
                self.asked = answers.asked(number, *getattr(act, "given", ((act,), {})))
                outcomes.append(self._act(act))
                if outcomes[-1] == "timed-out":
                    break
            if "timed-out" not in outcomes and time.monotonic() - start <= each / 2:
                learned_requests.ask(self.project, self.module, target, each, CallTimeout)
                self._explore(owner, target, name.rpartition(".")[2])
                _call_in_a_row(owner, target)
        except CallTimeout:
            raise
        except BaseException as error:
            outcomes.append(self._told(error))

    def _explore(self, owner: Any, target: Any, name: str) -> None:
        """The ways through what a function asks of its arguments. Nothing of it is an answer of the code's:
        a stand-in says yes to what an argument would have said no to.
        """
        function = _explored(owner, target, name)
        if function is not None:
            file = getattr(self.module, "__file__", None)
            explored_values.call(function, file, _exhaust, CallTimeout)

    def _alarm(self, number: int, frame: Any) -> None:
        """End what is called, and nothing of ours: an alarm that comes while a call is put away (a slow
        kernel delivers it late) would end the calls behind it. While one runs, the next alarm follows.
        """
        if self.armed and (frame is None or frame.f_code not in _KEPT_FROM_ALARMS):
            raise CallTimeout

    def _act(self, act: Callable[[], object]) -> str:
        try:
            value = act()
            word = "ran" if inspect.isawaitable(value) else answers.answer(value)
            _exhaust(value)
            self.answers.append([self.asked, word])
            returned_values.use(value, getattr(self.module, "__file__", None), _exhaust, CallTimeout)
        except CallTimeout:
            self.answers.append([self.asked, "late"])
            return "timed-out"
        except BaseException as error:
            self.answers.append([self.asked, answers.refusal(error)])
            return self._told(error)
        return "returned"

    def _told(self, error: BaseException) -> str:
        told = self.describe(error)
        return f"needs {told['missing']}" if "missing" in told else str(told.get("exception", "exception"))

    def _find(self, name: str) -> tuple[Any, Any]:
        """The object behind a dotted name, and the class it is in (None at module level). Read from the
        class's dictionary, so that properties and descriptors are not triggered yet.
        """
        owner: Any = None
        target: Any = self.module
        for part in name.split("."):
            owner = target if isinstance(target, type) else None
            if owner is not None:
                found = next((vars(c)[part] for c in owner.__mro__ if part in vars(c)), None)
                if found is None:
                    raise AttributeError(part)
                target = found
            else:
                target = vars(target)[part] if isinstance(target, types.ModuleType) else getattr(target, part)
        return owner, target


_KEPT_FROM_ALARMS = frozenset(f.__code__ for f in (Caller.run, Caller._one))


def _acts(owner: Any, target: Any, name: str) -> list[Callable[[], object]]:
    """The calls to make for one object, as thunks."""
    if owner is not None:
        return _member_acts(owner, target, name)
    if isinstance(target, type):
        return _class_acts(target)
    if name == "__getattr__":
        return [functools.partial(target, asked) for asked in _attributes(target)]
    command = getattr(target, "main", None)
    if not isinstance(target, types.FunctionType) and callable(command) and hasattr(target, "params"):
        return list(program_runner.click_acts(target))
    if not callable(target):
        return []
    acts = [_bound(target, args, named) for args, named in argument_values.sets(target)]
    behind = _behind(target)
    if behind is not None:
        acts += [_bound(behind, args, named) for args, named in argument_values.sets(behind, most=2, draws=0)]
    if name in ("main", "cli", "run", "entry", "entrypoint"):
        acts += program_runner.main_acts(target)
    return acts


def _behind(target: Any) -> Any:
    """The function behind its decorators, which may ask for a login or a permission first. None without."""
    if not hasattr(target, "__wrapped__"):
        return None
    behind = inspect.unwrap(target)
    return behind if isinstance(behind, types.FunctionType) else None


def _explored(owner: Any, target: Any, name: str) -> Any:
    """What is called to explore an object: a function without its decorators, a method with a new instance
    each time, a class. None for the rest.
    """
    if name in ("__new__", "__del__", "__init_subclass__", "__getattr__", "__getattribute__"):
        return None
    if isinstance(target, type):
        return target
    if isinstance(target, (staticmethod, classmethod)):
        return getattr(owner, name)
    bare = inspect.unwrap(target) if callable(target) else None
    if not isinstance(bare, types.FunctionType):
        return None
    if owner is None or name == "__init__":
        return owner or bare

    def method(*args: object, **kwargs: object) -> object:
        return bare(_instance(owner), *args, **kwargs)

    method.__wrapped__ = bare  # type: ignore[attr-defined]
    parameters = list(inspect.signature(bare).parameters.values())[1:]
    method.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return method


def _call_in_a_row(owner: Any, target: Any) -> None:
    """What counts its calls is called until its number is reached, always with the same arguments."""
    bare = inspect.unwrap(target) if callable(target) else target
    times = repeated_calls.times_of(bare)
    if not times:
        return
    function = target if owner is None else target.__get__(_instance(owner), owner)
    args, named = argument_values.sets(function, most=1, draws=0)[0]
    repeated_calls.call(lambda: function(*args, **named), times, CallTimeout)


def _bound(function: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Callable[[], object]:
    return _Asked(lambda: function(*args, **named), args, named)


class _Asked:
    """A call to make that knows what it is given."""

    def __init__(self, act: Callable[[], object], args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._act = act
        self.given = (args, named)

    def __call__(self) -> object:
        return self._act()


def _member_acts(owner: type, target: object, name: str) -> list[Callable[[], object]]:
    """Calls for something inside a class: each on an instance of its own."""
    if isinstance(target, type):
        return _class_acts(target)
    if name in ("__init__", "__new__"):
        return _class_acts(owner)
    if name == "__init_subclass__":
        return [lambda: type("GateProbe", (owner,), {})]
    if name == "__del__":
        return [lambda: _drop(owner)]
    if name in ("__getattr__", "__getattribute__"):
        return [functools.partial(_get, owner, asked) for asked in _attributes(target)]
    if isinstance(target, (staticmethod, classmethod)):
        function = getattr(owner, name)
        return [_bound(function, args, named) for args, named in argument_values.sets(function)]
    if not inspect.isfunction(target):
        if hasattr(type(target), "__get__"):  # property, cached_property, any descriptor
            return [lambda: getattr(_instance(owner), name), *_setter_acts(owner, target, name)]
        return []
    probe = _blank(owner)
    function = getattr(probe, name, None) if probe is not None else None
    if function is None:
        return [_method(owner, name, (), {})]
    acts = [_method(owner, name, args, named) for args, named in argument_values.sets(function)]
    behind = _behind(target)
    if behind is not None:
        for args, named in argument_values.sets(types.MethodType(behind, probe), most=2, draws=0):
            acts.append(_bare_method(owner, behind, args, named))
    return acts


def _attributes(function: Any) -> list[str]:
    """Names to ask a function of attributes for: one that is nowhere, and those that its code has."""
    code = getattr(function, "__code__", None)
    flat = [
        text for one in getattr(code, "co_consts", ()) for text in (one if type(one) is tuple else (one,))
    ]
    known = [text for text in flat if type(text) is str and text.isidentifier() and text != function.__doc__]
    return ["gate_probe", *dict.fromkeys(known)][:_MOST_ATTRIBUTES]


_MOST_ATTRIBUTES = 8


def _get(owner: type, name: str) -> object:
    return getattr(_instance(owner), name, None)


def _class_acts(owner: type) -> list[Callable[[], object]]:
    """An instance however it can be had, then one with each further set of arguments."""
    further = argument_values.sets(owner, draws=2)[1:]
    return [lambda: _instance(owner), *(_bound(owner, args, named) for args, named in further)]


def _setter_acts(owner: type, target: object, name: str) -> list[Callable[[], object]]:
    if isinstance(target, property) and target.fset is not None:
        return [lambda: setattr(_instance(owner), name, argument_values.by_name(name))]
    return []


def _method(owner: type, name: str, args: tuple[object, ...], named: dict[str, Any]) -> Callable[[], object]:
    return _Asked(lambda: getattr(_instance(owner), name)(*args, **named), args, named)


def _bare_method(
    owner: type, function: Any, args: tuple[Any, ...], named: dict[str, Any]
) -> Callable[[], Any]:
    return _Asked(lambda: function(_instance(owner), *args, **named), args, named)


def _drop(owner: type) -> None:
    instance = _instance(owner)
    del instance


def _blank(owner: Any) -> object:
    """An instance without initialisation, to read bound signatures from."""
    try:
        return owner.__new__(owner)
    except BaseException as error:
        if isinstance(error, CallTimeout):
            raise
        return None


def _instance(owner: Any) -> object:
    """An instance made with synthesised arguments; where that fails, one that skipped ``__init__``."""
    first: BaseException | None = None
    for args, named in argument_values.sets(owner, most=2, draws=0):
        try:
            return owner(*args, **named)
        except CallTimeout:
            raise
        except BaseException as error:
            first = error
    if inspect.isabstract(owner):
        concrete: Any = type(owner)("GateProbe", (owner,), {})
        concrete.__abstractmethods__ = frozenset()
        return concrete.__new__(concrete)
    blank = _blank(owner)
    if blank is None and first is not None:
        raise first
    return blank


def _short_sleeps(asyncio: Any) -> None:
    """Cap asyncio.sleep like the other sleeps; only its module is known late."""
    sleep = asyncio.sleep
    if NAP and sleep.__module__ == "asyncio.tasks":

        async def short(delay: float, result: Any = None) -> object:
            return await sleep(min(delay, NAP[0]), result)

        asyncio.sleep = short


def _exhaust(value: Any) -> None:
    """Let a coroutine, generator or context manager do its work."""
    if isinstance(value, argument_values.Stand):
        return
    if inspect.isawaitable(value):
        import asyncio

        _short_sleeps(asyncio)

        async def wait() -> object:
            return await asyncio.wait_for(value, 5)

        asyncio.run(wait())
    elif inspect.isasyncgen(value):
        import asyncio

        _short_sleeps(asyncio)

        async def take() -> None:
            taken = 0
            async for _ in value:
                taken += 1
                if taken >= TAKE:
                    break

        asyncio.run(take())
    elif inspect.isgenerator(value) or isinstance(value, (map, filter, zip)):
        for _, _item in zip(range(TAKE), value):  # noqa: B905  (3.9 has no strict=)
            pass
    elif type(value).__name__ in ("_GeneratorContextManager", "_AsyncGeneratorContextManager"):
        if hasattr(value, "__enter__"):
            with value:
                pass
        else:
            import asyncio

            async def within() -> None:
                async with value:
                    pass

            asyncio.run(within())

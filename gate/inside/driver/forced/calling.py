"""Calls a function that was compiled anew, with arguments from call sites, hints, defaults and names."""

from __future__ import annotations

import ast
import asyncio
import inspect
import pathlib
import typing
from typing import Any

from .. import argument_values, call_runner
from .marks import Mark
from .rewrite import Rewriter
from .runtime import NAME, Runtime, aside, plain

_TAKE = 5
_MOST_TEXT = 20_000
_PATHS = frozenset({"tmp_path", "tmpdir", "tmp_path_factory"})


def call(function: Any, runtime: Runtime, known: dict[str, Any], first: Any) -> Any:
    """Call it, await, drain or use what it gives. ``known``: values for parameters by name; ``first``: what
    a method is bound to, None for a function.
    """
    try:
        args, named = arguments(function, known, bound=first is not None)
        result = function(*([first] if first is not None else []), *args, **named)
    except runtime.passing:
        raise
    except BaseException:
        return None
    return use(result, runtime)


def arguments(function: Any, known: dict[str, Any], *, bound: bool) -> tuple[list[Any], dict[str, Any]]:
    """Values for every parameter but ``self``; what a default says is kept unless it says nothing."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [], {}
    module = getattr(function, "__module__", None)
    hints: dict[str, Any] = {}
    try:
        hints = typing.get_type_hints(function)
    except BaseException:
        hints = dict(getattr(function, "__annotations__", None) or {})
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for p in parameters[int(bound) :]:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        value = _value(p, hints.get(p.name, p.annotation), known, module)
        if p.kind is p.KEYWORD_ONLY:
            named[p.name] = value
        else:
            positional.append(value)
    return positional, named


def _value(p: inspect.Parameter, hint: Any, known: dict[str, Any], module: Any) -> Any:
    if p.name in known:
        return known[p.name]
    if p.default is not p.empty and p.default is not None and type(p.default) is not bool:
        return p.default
    if p.name in _PATHS:
        return pathlib.Path(argument_values.FOLDER)
    if isinstance(hint, type) and hint.__module__ == module and not hasattr(hint, "__members__"):
        return _made(hint, p.name)  # as a caller in the same file would make it
    if p.name in argument_values.SPECIAL or hint not in (inspect.Parameter.empty, Any):
        return argument_values.by_hint(hint, p.name)
    return argument_values.by_name(p.name)


def _made(kind: type, name: str) -> Any:
    try:
        made = call_runner._instance(kind)
    except Exception:
        made = None
    return argument_values.by_hint(kind, name) if made is None else made


def call_member(owner: Any, name: str, runtime: Runtime, function: Any = None, known: Any = None) -> Any:
    """Call a method, static and class methods too. ``function``: what to call in its place."""
    held = next((vars(c)[name] for c in getattr(owner, "__mro__", ()) if name in vars(c)), None)
    if isinstance(held, staticmethod):
        return call(function or held.__func__, runtime, known or {}, None)
    target = function or getattr(held, "__func__", None) or getattr(held, "fget", None) or held
    if isinstance(held, classmethod) or name in ("__new__", "__init_subclass__", "__class_getitem__"):
        return call(target, runtime, known or {}, owner)
    if not callable(target):
        return None
    given = _instance(owner, runtime)
    result = call(target, runtime, known or {}, given)
    if name in ("__reduce__", "__reduce_ex__") and isinstance(result, tuple) and len(result) >= 2:
        return runtime.target(result[0], *(result[1] if isinstance(result[1], tuple) else ()))
    return result


def _instance(owner: Any, runtime: Runtime) -> Any:
    try:
        made = call_runner._instance(owner)
    except runtime.passing:
        raise
    except BaseException:
        made = None
    return Mark() if made is None else made


def use(result: Any, runtime: Runtime) -> Any:
    """Let a coroutine, a generator or an asynchronous one do its work."""
    if isinstance(result, Mark):
        return result
    if inspect.iscoroutine(result):
        return _awaited(result, runtime)
    if inspect.isasyncgen(result):

        async def take() -> None:
            taken = 0
            async for _ in result:
                taken += 1
                if taken >= _TAKE:
                    break

        return _awaited(take(), runtime)
    if inspect.isgenerator(result):
        try:
            for _, value in zip(range(_TAKE), result):  # noqa: B905  (3.9 has no strict=)
                del value
        except runtime.passing:
            raise
        except BaseException:
            return None
    return result


def _awaited(coroutine: Any, runtime: Runtime) -> Any:
    given: list[Any] = []

    def work() -> None:
        try:
            given.append(asyncio.run(asyncio.wait_for(coroutine, 3)))
        except BaseException as error:
            if isinstance(error, runtime.passing) and not isinstance(error, asyncio.CancelledError):
                raise

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        work()
    else:
        aside(work)
    return given[0] if given else None


def execute_text(text: Any, spaces: dict[str, Any], runtime: Runtime) -> None:
    """What a text given to ``exec`` skips: both sides of its conditions, and the functions it defines."""
    try:
        tree = ast.parse(text[:_MOST_TEXT])
        functions = [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        if not functions and not any(isinstance(n, (ast.If, ast.IfExp, ast.Try)) for n in ast.walk(tree)):
            return
        code = compile(Rewriter(-1, None, both=True).module(tree), "<forced>", "exec")
        spaces[NAME] = runtime
        exec(code, spaces)
        for name in functions[:10]:
            call(spaces.get(name), runtime, {}, None)
    except runtime.passing:
        raise
    except BaseException:
        return


__all__ = ["arguments", "call", "call_member", "execute_text", "plain", "use"]

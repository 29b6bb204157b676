"""Whether a sensitive statement of the head stands where base has it: elsewhere it is not the same.

A statement that base has in a function nobody calls, behind a condition or in a tool is something else at the
top of a module that everybody imports.
"""

from __future__ import annotations

from collections.abc import Iterable

from gate.model.sensitive import SensitiveCall, SensitiveKind


def stays_in_place(call: SensitiveCall, before: Iterable[SensitiveCall]) -> bool:
    """True where one of the base's calls in the same file is the same statement in the same place: in a
    function of that name or that text, below the same conditions, or once without any.
    """
    return any(_same(call) == _same(was) and _is_place(call, was) for was in before)


def came_along(call: SensitiveCall, before: Iterable[tuple[SensitiveCall, bool]]) -> bool:
    """True where the statement came from another file with its function. With each call of base stands
    whether its file is gone: of such a file what stands outside of functions can have moved, too.
    """
    for was, gone in before:
        if _same(call) != _same(was):
            continue
        if was.function and _is_place(call, was):
            return True
        if gone and not was.function and not call.function and call.body == was.body:
            return True
    return False


def _same(call: SensitiveCall) -> tuple[SensitiveKind, str]:
    return call.kind, call.statement or call.call


def _is_place(call: SensitiveCall, was: SensitiveCall) -> bool:
    if not was.function:
        return not was.body or (not call.function and call.body == was.body)
    return bool(call.function) and (call.function == was.function or call.body == was.body)

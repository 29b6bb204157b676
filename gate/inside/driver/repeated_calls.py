"""Calls in a row, for code that counts: what happens at the 4096th call is seen at the 4096th.

A function is called again where its code keeps something from call to call and asks for a number (``n %
4096 == 0``, ``count == 77``): as often as the largest of these numbers says, as far as it is quick. How often
follows from its code alone.
"""

from __future__ import annotations

import dis
import resource
import time
import types
from collections.abc import Callable
from typing import Any

MOST = 5_000
"""Calls of one function."""
_LEAST = 5
_TRIAL = 8
_WAITS = 0.25
"""Waits of a call for the kernel: what reads or writes each time would only fill the trace."""
_SPENT = (0.4, 3.0)
"""Seconds of processor time, and seconds, for all of them."""
_KEEPS = frozenset(("STORE_GLOBAL", "STORE_ATTR", "STORE_SUBSCR", "STORE_DEREF"))
_ASKS = frozenset(("COMPARE_OP", "BINARY_OP", "BINARY_MODULO", "INPLACE_MODULO"))
_processor_time, _monotonic = time.process_time, time.monotonic
"""Kept: code under test puts others in its place."""


def times_of(function: Any) -> int:
    """How often a function is to be called for what it counts; 0 where it counts nothing."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return 0
    keeps = "next" in code.co_names
    numbers = [0]
    before: Any = None
    for each in dis.get_instructions(code):
        keeps = keeps or each.opname in _KEEPS
        asks = each.opname in _ASKS and (each.opname != "BINARY_OP" or each.argrepr.startswith("%"))
        value = getattr(before, "argval", None)
        if asks and type(value) is int and _LEAST <= value < MOST:
            numbers.append(value)
        if each.opname != "CACHE":
            before = each
    return max(numbers) + 1 if keeps and max(numbers) else 0


def call(act: Callable[[], Any], times: int, stop: type[BaseException]) -> int:
    """Make these calls as long as they only compute; how many were made. What the code raises is ordinary;
    only ``stop`` (the clock's) goes through.
    """
    until = _processor_time() + _SPENT[0], _monotonic() + _SPENT[1]
    waited = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
    for number in range(times):
        if number >= _TRIAL and number % _TRIAL == 0:
            waits = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - waited
            if waits > _WAITS * number or _processor_time() > until[0] or _monotonic() > until[1]:
                return number
        try:
            act()
        except stop:
            raise
        except BaseException:  # as any call's: the trace has what it did
            pass
    return times

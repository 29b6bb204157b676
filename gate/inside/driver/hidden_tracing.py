"""Our watch over lines, out of sight: the code's questions are answered as in a plain interpreter, and what
it sets works as it does there, beside ours. Hints only, as in line_recorder.py.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

_HERE = sys._getframe().f_code.co_filename
Tracer = Callable[[Any, str, Any], Any]
_MOVES = (
    "use_tool_id", "register_callback", "set_events", "get_events", "set_local_events", "get_local_events",
)  # fmt: skip
_FREES = ("free_tool_id", "clear_tool_id")
_TAKEN = (4, 3, 5, 2, 0, 1)
"""Places of ``sys.monitoring`` in the order in which we take them: those that are nobody's by name first."""


class Trace:
    """``sys.settrace`` (before Python 3.12): ours sees every call; under it the one that the code set.

    To be called for every function makes all Python slower by half and more: `start` only takes the places,
    `watch` begins.
    """

    def __init__(self, ours: Tracer) -> None:
        self._ours = ours
        self._set, self._get = sys.settrace, sys.gettrace
        self._local = threading.local()
        self._for_threads: Tracer | None = None
        self.watching = False

    def start(self) -> None:
        """From now on threads to come are watched, and what the code sets is kept apart."""
        _replace(sys, "settrace", self._settrace)
        _replace(sys, "gettrace", self._gettrace)
        threading.settrace(self._begin)
        _replace(threading, "settrace", self._settrace_in_threads)
        _replace(threading, "gettrace", lambda: self._for_threads)

    def watch(self) -> None:
        """Watch this thread, what is on its stack included; another that is there already, from the moment at
        which it does anything that an audit hook hears of (`put_back`).
        """
        self.watching = True
        self.put_back()

    def unwatch(self) -> None:
        """Watch nothing until `watch`: this thread from now on, others when they call `stop`."""
        self.watching = False
        self.stop()

    def stop(self) -> None:
        """Leave this thread to the code's own."""
        self._set(getattr(self._local, "code", None))

    def put_back(self) -> None:
        """Watch again where a tracer in C or an error in the code's own put an end to it: from here on also
        what is on the stack. For an audit hook; asking for a frame is an event, too.
        """
        if not self.watching or self._get() is not None:
            return
        self._local.code, self._local.mine = None, self._ours
        self._set(self._ours)
        frame: Any = sys._getframe()
        while frame is not None:
            if frame.f_trace is None and (local := self._ours(frame, "call", None)) is not None:
                frame.f_trace = local
            frame = frame.f_back

    def _gettrace(self) -> Any:
        found = self._get()
        if found != getattr(self._local, "mine", self._ours):
            return found  # one in C is its own; none after an error of the code's
        return getattr(self._local, "code", None)

    def _settrace(self, function: Any) -> None:
        if function == self._begin:  # a thread begins
            function = self._for_threads
        self._local.code = function
        self._local.mine = self._ours if function is None else self._both(function)
        self._set(self._local.mine)

    def _settrace_in_threads(self, func: Any) -> None:
        self._for_threads = func

    def _begin(self, frame: Any, event: str, arg: Any) -> Any:
        """Stands in ``threading`` for whatever a new thread is to be traced by."""
        return self._ours(frame, event, arg)

    def _both(self, theirs: Tracer) -> Tracer:
        def called(frame: Any, event: str, arg: Any) -> Any:
            if frame.f_code.co_filename == _HERE:
                return None  # our functions in the place of some in C
            mine, other = self._ours(frame, event, arg), theirs(frame, event, arg)
            if other is None:
                return mine

            def traced(frame: Any, event: str, arg: Any) -> Any:
                nonlocal other
                if mine is not None:
                    mine(frame, event, arg)
                if getattr(self._local, "code", None) is not None:  # not after it was taken away
                    other = other(frame, event, arg) or other
                return traced

            return traced

        return called


class Monitoring:
    """``sys.monitoring`` (Python 3.12 and later): a place that is empty for whoever asks. ``callbacks`` by
    the name of their event; ``events`` those that are on everywhere.
    """

    def __init__(self, callbacks: dict[str, Callable[..., Any]], events: tuple[str, ...]) -> None:
        self._api: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        names = [name for name in (*_MOVES, *_FREES, "get_tool") if hasattr(self._api, name)]
        self._own = {name: getattr(self._api, name) for name in names}
        self._callbacks, self._events = callbacks, events
        self.tool = -1
        """Our place; -1 where every one is the code's."""

    def start(self) -> None:
        """Take a place and hide it."""
        self._take()
        for name in self._own:
            _replace(self._api, name, self._hiding(name))

    def watch_instructions(self, code: Any) -> None:
        """Tell of each instruction of this code, too."""
        if self.tool >= 0:
            self._own["set_local_events"](self.tool, code, self._api.events.INSTRUCTION)

    def stop(self) -> None:
        """Give the place back."""
        if self.tool >= 0:
            self._own["set_events"](self.tool, 0)
            for name in self._callbacks:
                self._own["register_callback"](self.tool, getattr(self._api.events, name), None)
            self._own["free_tool_id"](self.tool)
            self.tool = -1

    def _take(self, not_this: int = -1) -> None:
        for tool in _TAKEN:
            if tool != not_this and self._own["get_tool"](tool) is None:
                break
        else:
            return
        self._own["use_tool_id"](tool, "coverage")
        for name, callback in self._callbacks.items():
            self._own["register_callback"](tool, getattr(self._api.events, name), callback)
        self.tool = tool
        self._own["set_events"](tool, sum(getattr(self._api.events, name) for name in self._events))

    def _hiding(self, name: str) -> Callable[..., Any]:
        own = self._own[name]

        def asked(*args: Any) -> Any:
            if args and args[0] == self.tool:
                if name == "get_tool" or name in _FREES:
                    return None
                place = self.tool  # wanted for something of the code's own: we move
                self.stop()
                self._take(place)
            try:
                return own(*args)
            finally:
                if self.tool < 0:
                    self._take()

        return asked


def _replace(place: Any, name: str, ours: Callable[..., Any]) -> None:
    """Put ours in the place of a function, under its name."""
    theirs = getattr(place, name, None)
    if theirs is None:
        return

    def function(*args: Any, **kwargs: Any) -> Any:
        return ours(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = theirs.__doc__, theirs.__module__
    setattr(place, name, function)

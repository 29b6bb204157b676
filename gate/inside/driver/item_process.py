"""The forked half of the driver: one item (verbs.py), in the same process as the code under test.

Nothing here decides anything: what it reports is a hint.
"""

from __future__ import annotations

import _thread
import atexit
import builtins
import gc
import json
import os
import random
import subprocess
import sys
import threading
import time
import types
from importlib.machinery import BuiltinImporter
from typing import Any, NoReturn

from . import (
    call_runner,
    clock_preload,
    clock_shift,
    django_project,
    environment_reads,
    installed_packages,
    item_outcome,
    line_recorder,
    own_modules,
    put_off_imports,
    services,
    stand_in,
    verbs,
    web_project,
)

Item = dict[str, Any]
Report = dict[str, Any]

TO_CLOSE: list[int] = []
"""Descriptors of the parent that no child may hold."""

SERVED: list[bool] = []
"""Not empty in what a fork server forks: it has the packages, the moved clock and the pinned chance already.
"""

SLEPT: list[float] = []
"""Seconds that the code asked to sleep, in order: how long can follow a secret. Waiting for the end of a
child sleeps as often as the child takes, and is none.
"""
_MOST_SLEEPS = 500
_sleep = time.sleep


class Channel:
    """The child's way to say something. Only the process that was forked may use it. The word in each message
    is not for the code: messages without it are its own, and who has to say it first must look for it here.
    """

    def __init__(self, fd: int, word: str) -> None:
        self.fd = fd
        self._word = word
        self.pid = os.getpid()

    def say(self, kind: str, **fields: Any) -> None:
        """One message; errors are dropped (the parent notices an early end by itself)."""
        if os.getpid() != self.pid:
            return
        message = {"m": kind, "word": self._word, **fields}
        data = memoryview(json.dumps(message, default=repr).encode("ascii", "replace") + b"\n")
        try:
            while data:
                data = data[os.write(self.fd, data) :]
        except OSError:
            return


def run(
    item: Item,
    job: dict[str, Any],
    outlet: int,
    word: str,
    start: int,
    startup: frozenset[str],
    until: float,
) -> None:
    """Prepare the process, do the item, report, leave by the ordinary way (SystemExit)."""
    for fd in TO_CLOSE:
        os.close(fd)
    os.setpgid(0, 0)
    if item["do"] in verbs.READERS or item.get("calls"):
        call_runner.lay_out()
        text = os.open(call_runner.INPUT, os.O_RDONLY)
        os.dup2(text, 0)
        os.close(text)
    channel = Channel(outlet, word)
    # Registered first, so it runs last: it proves that the exit handlers came to their end.
    atexit.register(lambda: channel.say("end", environment=environment_reads.told()))
    roots = _prepare(item.get("roots") or job.get("roots") or ["."], startup)
    seen = line_recorder.LineRecorder(job.get("lines") or {}, job.get("acts") or {})
    context = Context(channel, seen, job, roots, start, until)
    seen.start(lambda: channel.say("seen", **seen.news()))
    environment_reads.record()
    _tell_before_exit(channel, seen)
    if item.get("stand_in"):
        stand_in.install(roots)
    if item.get("put_off") is not None:
        put_off_imports.ALLOWED[:] = roots
    _lay_out_world(item, context)
    try:
        report = {} if SERVED else installed_packages.add()
        if not report:
            if item["do"] in ("test", "doctest"):
                if not services.RUNNING:
                    # A decoy; but projects configure themselves by it, and their tests then ask its server.
                    os.environ.pop("DATABASE_URL", None)
                context.set_up(item)
            report = verbs.VERBS[item["do"]](item, context)
    except BaseException as error:
        report = item_outcome.describe(error, roots)
    if os.getpid() != channel.pid:
        os._exit(0)  # the code forked and let its child run back up to us
    if not SERVED and (loaded := installed_packages.loaded()):
        report["loaded"] = loaded
    gc.collect()
    report.update(_linger(float(job.get("grace", 1.0))))
    report.update(seen.stop())
    report.update(put_off_imports.told(seen.names))
    if SLEPT:
        report["slept"] = SLEPT
    channel.say("report", **report)
    if report["outcome"] == "threads-left":
        # The interpreter would join them without end. Exit handlers still get their turn.
        atexit._run_exitfuncs()
        os._exit(0)
    raise SystemExit(0)


def _lay_out_world(item: Item, context: Context) -> None:
    """Clock, sleeps and chance as the job wants them; of this process, where no fork server has."""
    job, channel = context.job, context.channel
    if job.get("clock"):
        seconds, rate = float(job["clock"]), int(job.get("rate") or 1)
        context.started = clock_preload.move(
            item["do"], seconds, rate, lambda by: channel.say("clock", by=by)
        )
    if not SERVED:
        change_world(job, longest_sleep(item, job))
    if job.get("pin"):
        pin_programs(job)


def longest_sleep(item: Item, job: dict[str, Any]) -> float:
    """Seconds that an item may sleep at a time, 0 for any. Tests wait for things of their own: half a second
    is left to them.
    """
    nap = float(job.get("nap") or 0)
    return max(nap, 0.5) if nap and item["do"] in ("test", "doctest") else nap


def change_world(job: dict[str, Any], longest: float) -> None:
    """Move the clock, shorten sleeps and pin chance in this process, as far as the job asks for it."""
    if job.get("clock"):
        clock_shift.shift(float(job["clock"]))
    if longest:
        shorten_sleeps(longest)
    if job.get("pin"):
        with own_modules.shown():
            from . import pinned_world  # what it imports is nobody else's to pay for

        pinned_world.pin_process(int(job["pin"]), float(job.get("pin_time") or 0))


def pin_programs(job: dict[str, Any]) -> None:
    """The same chance for the programs that the code starts."""
    with own_modules.shown():
        from . import pinned_world

    pinned_world.pin_programs(int(job["pin"]), float(job.get("pin_time") or 0))


def _tell_before_exit(channel: Channel, seen: line_recorder.LineRecorder) -> None:
    """Let os._exit say first what was seen; it raises no audit event that could."""
    leave = os._exit

    def tell_and_leave(status: int) -> NoReturn:
        channel.say("seen", **seen.news())
        leave(status)

    os._exit = tell_and_leave


class Context:
    """What the verbs share: the channel, the recorder, the job, sys.path roots, the call to start at,
    when the item must be done (monotonic), the seconds there are for all calls, the variables for
    programs that a program in our place starts, whether a Django project is set up and what that
    failed with, and the Flask application that is.
    """

    def __init__(
        self,
        channel: Channel,
        seen: line_recorder.LineRecorder,
        job: dict[str, Any],
        roots: list[str],
        start: int,
        until: float,
    ) -> None:
        self.channel = channel
        self.seen = seen
        self.job = job
        self.roots = roots
        self.start = start
        self.until = until
        self.total = 0.6 * (until - time.monotonic())
        self.started: dict[str, str] = {}
        self.django = False
        self.django_failed: list[Exception] = []
        self.flask: Any = None

    def set_up(self, item: Item) -> bool:
        """Set up the Django project that the item belongs to. False where there is none, or it is."""
        before, self.django = self.django, self.django or django_project.set_up(item, self.django_failed)
        return self.django and not before

    def set_up_flask(self, name: str, error: Exception) -> bool:
        """Make the Flask application current that a module wanted while it was imported. False for others."""
        if type(error) is not RuntimeError or "flask" not in sys.modules or self.flask is not None:
            return False
        if not services.RUNNING:
            os.environ.pop("DATABASE_URL", None)
        self.flask = web_project.flask_project(name)
        return self.flask is not None


def shorten_sleeps(longest: float) -> None:
    """Cap time.sleep and timers, so that a delayed payload shows itself in time. Waits on events and
    queues keep their time-outs: other threads depend on them.
    """
    sleep, start = time.sleep, threading.Timer.__init__

    def short_sleep(seconds: float) -> None:
        if len(SLEPT) < _MOST_SLEEPS and sys._getframe(1).f_globals is not subprocess.__dict__:
            SLEPT.append(round(float(seconds), 2))
        sleep(min(seconds, longest))

    def short_timer(self: threading.Timer, interval: float, *args: Any, **kwargs: Any) -> None:
        start(self, min(interval, longest), *args, **kwargs)

    call_runner.NAP[:] = [longest]
    time.sleep = short_sleep  # type: ignore[assignment]
    threading.Timer.__init__ = short_timer  # type: ignore[method-assign]


def _prepare(relative: list[str], startup: frozenset[str]) -> list[str]:
    """Give the process the look of a plain interpreter started in the tree. Returns sys.path roots."""
    tree = os.getcwd()
    here = os.path.dirname(os.path.abspath(__file__))
    roots = [os.path.normpath(os.path.join(tree, root)) for root in relative]
    found = {root: _entries(root) for root in roots}
    rest = [p for p in sys.path if p and os.path.abspath(p) != here and p not in roots]
    late = [root for root in roots[1:] if _shadows(found[root])]
    at = next((n for n, p in enumerate(rest) if p.endswith(_PACKAGES)), len(rest))
    first = [root for root in roots if root not in late]
    sys.path[:] = [*first, *rest[:at], *late, *rest[at:]]
    if len(first) > 1 or first[0] != tree:
        os.environ["PYTHONPATH"] = os.pathsep.join(first)  # for interpreters that the code starts
    sys.argv = ["-c"]
    sys.dont_write_bytecode = True
    random.seed(0)
    # What the driver imported must not hide a module of the tree with the same name, as it would
    # not have been imported yet in a plain interpreter.
    loaded = {name for name in sys.modules if type(name) is str} - startup
    wanted = {name.partition(".")[0] for name in loaded} - {own_modules.PACKAGE}
    taken = _in_tree(wanted, {root: found[root] for root in first})
    for name in loaded:
        if name.partition(".")[0] in taken:
            del sys.modules[name]
    own_modules.hide()
    _KEPT.append(sys.modules["__main__"])
    sys.modules["__main__"] = _plain_main()
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = ["python3", "-c", "pass"]
    return roots


def _entries(folder: str) -> set[str]:
    """What lies in it. Folders are listed: to ask for each name would be a sixth of the calls that are
    watched in a short run.
    """
    try:
        return set(os.listdir(folder))
    except OSError:  # not there
        return set()


def _shadows(entries: set[str]) -> bool:
    """Would these, first on sys.path, stand in the way of the standard library? A folder without
    ``__init__.py`` whose modules have a dotted name (``plugins/types.py``) is on the path only in case that
    one imports its neighbour by its bare name.
    """
    library: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset())
    return any(name.partition(".")[0] in library for name in entries if name.endswith(".py"))


def _in_tree(names: set[str], roots: dict[str, set[str]]) -> set[str]:
    """Those that a module or package of the tree has. ``roots``: what lies in each."""
    found = set()
    for root, entries in roots.items():
        found |= {name for name in names if f"{name}.py" in entries}
        packages = (name for name in names & entries - found)
        found |= {name for name in packages if os.path.exists(os.path.join(root, name, "__init__.py"))}
    return found


def _plain_main() -> types.ModuleType:
    """``__main__`` as ``python -c`` has it."""
    module = types.ModuleType("__main__")
    module.__loader__ = BuiltinImporter
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    module.__dict__["__builtins__"] = builtins
    return module


_KEPT: list[types.ModuleType] = []
_PACKAGES = ("site-packages", "dist-packages")


def _linger(grace: float) -> Report:
    """Give threads that outlive the item a bounded time. Threads that stay are told, also those that
    only the interpreter knows of (those of native libraries are not the code's).
    """
    _end_pools()
    _sleep(0.01)  # a thread asked for a moment ago counts from when it runs
    until = time.monotonic() + grace
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(max(0.0, until - time.monotonic()))
    while _thread._count() and time.monotonic() < until:
        _sleep(0.01)
    left = [t for t in threading.enumerate() if t is not threading.current_thread()]
    if any(not t.daemon for t in left):
        return {"outcome": "threads-left", "threads": len(left)}
    count = max(len(left), _thread._count())
    return {"threads": count} if count else {}


def _end_pools() -> None:
    """Tell idle workers of thread pools to end, as the interpreter does at its exit: they are not work."""
    pools: Any = sys.modules.get("concurrent.futures.thread")
    if pools is None:
        return
    try:
        with pools._global_shutdown_lock:
            pools._shutdown = True
        for queue in list(pools._threads_queues.values()):
            queue.put(None)
    except Exception:
        return

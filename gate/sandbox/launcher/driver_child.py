"""The forked half of the driver: one item, in the same process as the code under test.

Items by ``do``:
  idle                                          nothing but what every item does
  import    module, path, calls                 import by name, then call what ``calls`` names
  file      path, calls                         the same for a file that has no module name
  script    path or module, argv [[...], ...]   run as ``__main__`` once per argument list
  doctest   path, module                        the examples in docstrings, or in a text
  test      paths                               pytest where it is there, else unittest and plain functions
  setup     path, commands [[...], ...]         run setup.py once per command
  backend   path                                in-tree PEP 517 backend named by pyproject.toml
  pth       path                                what ``site`` would execute of a .pth file
  shell     path, argv                          sh, bash or what its first line asks for
  program   argv                                a program, with a file of the tree
  javascript       path, call, typed            import by node or deno; with ``call`` call what it exports
  javascript_main  path, argv                   run by node or deno as the main program
  lifecycle path, hooks                         scripts of a package.json, by sh
  make      path, target                        one target of a Makefile, by make, else its recipe by sh
  entry     name, module, attr, argv [[...]]    a console entry point, as its installed command runs it
  pickle    path                                a data file, as the code that loads it unpickles it
``calls`` are names as in the module (``total``, ``Cart.total``). ``was`` holds the path (and module, roots)
that an item had before a rename, used where the new path does not exist. Nothing here decides anything: what
it reports is a hint.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import importlib
import importlib.util
import json
import os
import random
import sys
import threading
import time
import types
from typing import Any, NoReturn

import driver_calls
import driver_clock
import driver_entry
import driver_examples
import driver_javascript
import driver_make
import driver_preload
import driver_programs
import driver_seen
import driver_setup
import driver_stand_in
import driver_tests

Item = dict[str, Any]
Report = dict[str, Any]

TO_CLOSE: list[int] = []
"""Descriptors of the parent that no child may hold."""

DEPENDENCIES: list[str] = []
"""The folder of the installed dependencies, where there are any (gate/sandbox/layers.py)."""

REPLACED = frozenset({"shell", "program", "javascript_main", "make"})
"""Verbs whose child becomes another program: its exit code is all there is to know."""


CAN_STAND_IN = frozenset({"import", "file", "script", "test", "doctest", "entry"})
"""Verbs that are tried again with stand-ins for missing packages."""
READERS = frozenset({"script", "shell", "javascript_main"})
"""Verbs that get a line of text as standard input, for code that asks before it acts."""


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
    if item["do"] in READERS or item.get("calls"):
        driver_calls.lay_out()
        text = os.open(driver_calls.INPUT, os.O_RDONLY)
        os.dup2(text, 0)
        os.close(text)
    channel = Channel(outlet, word)
    # Registered first, so it runs last: it proves that the exit handlers came to their end.
    atexit.register(channel.say, "end")
    roots = _prepare(item.get("roots") or job.get("roots") or ["."], startup)
    seen = driver_seen.Seen(job.get("lines") or {})
    context = Context(channel, seen, job, roots, start, until)
    seen.start(lambda: channel.say("seen", **seen.news()))
    _tell_before_exit(channel, seen)
    if item.get("stand_in"):
        driver_stand_in.install(roots)
    if job.get("clock"):
        seconds, rate = float(job["clock"]), int(job.get("rate") or 1)
        context.started = driver_preload.move(
            item["do"], seconds, rate, lambda by: channel.say("clock", by=by)
        )
        driver_clock.shift(seconds)
    if job.get("nap"):
        # Tests wait for things of their own: half a second is left to them.
        shorten_sleeps(max(float(job["nap"]), 0.5 if item["do"] in ("test", "doctest") else 0.0))
    try:
        report = _dependencies() or VERBS[item["do"]](item, context)
    except BaseException as error:
        report = describe(error, roots)
    if os.getpid() != channel.pid:
        os._exit(0)  # the code forked and let its child run back up to us
    gc.collect()
    report.update(_linger(float(job.get("grace", 1.0))))
    report.update(seen.stop())
    channel.say("report", **report)
    if report["outcome"] == "threads-left":
        # The interpreter would join them without end. Exit handlers still get their turn.
        atexit._run_exitfuncs()
        os._exit(0)
    raise SystemExit(0)


def _tell_before_exit(channel: Channel, seen: driver_seen.Seen) -> None:
    """Let os._exit say first what was seen; it raises no audit event that could."""
    leave = os._exit

    def tell_and_leave(status: int) -> NoReturn:
        channel.say("seen", **seen.news())
        leave(status)

    os._exit = tell_and_leave


class Context:
    """What the verbs share: the channel, the recorder, the job, sys.path roots, the call to start at,
    when the item must be done (monotonic), the seconds there are for all calls, and the variables for
    programs that a program in our place starts.
    """

    def __init__(
        self,
        channel: Channel,
        seen: driver_seen.Seen,
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


def describe(error: BaseException, roots: list[str]) -> Report:
    """An exception as an outcome. A module that is neither installed nor in the tree is *missing*, and so
    is what a build would have made (`_version.py`, compiled parts) and installed metadata.
    """
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        if type(error).__name__ == "PackageNotFoundError":  # importlib.metadata: the tree is not installed
            return {"outcome": "missing", "missing": f"{error.name[:80]} to be installed"}
        top, _, part = error.name.partition(".")
        known = any(os.path.exists(os.path.join(root, top + end)) for root in roots for end in ("", ".py"))
        if part or not known:  # a part of the tree's own package is missing: made by its build, or never
            return {"outcome": "missing", "missing": (error.name if known else top)[:100]}
    if isinstance(error, driver_programs.NoProgram):
        return {"outcome": "missing", "missing": error.name}
    if isinstance(error, SystemExit):
        return {"outcome": "exited", "exception": "SystemExit", "message": _text(error.code)}
    return {"outcome": "exception", "exception": type(error).__name__[:100], "message": _text(error)}


def shorten_sleeps(longest: float) -> None:
    """Cap time.sleep and timers, so that a delayed payload shows itself in time. Waits on events and
    queues keep their time-outs: other threads depend on them.
    """
    sleep, start = time.sleep, threading.Timer.__init__

    def short_sleep(seconds: float) -> None:
        sleep(min(seconds, longest))

    def short_timer(self: threading.Timer, interval: float, *args: Any, **kwargs: Any) -> None:
        start(self, min(interval, longest), *args, **kwargs)

    driver_calls.NAP[:] = [longest]
    time.sleep = short_sleep  # type: ignore[assignment]
    threading.Timer.__init__ = short_timer  # type: ignore[method-assign]


def _prepare(relative: list[str], startup: frozenset[str]) -> list[str]:
    """Give the process the look of a plain interpreter started in the tree. Returns sys.path roots."""
    tree = os.getcwd()
    here = os.path.dirname(os.path.abspath(__file__))
    roots = [os.path.normpath(os.path.join(tree, root)) for root in relative]
    sys.path[:] = roots + [p for p in sys.path if p and os.path.abspath(p) != here and p not in roots]
    if len(roots) > 1 or roots[0] != tree:
        os.environ["PYTHONPATH"] = os.pathsep.join(roots)  # for interpreters that the code starts
    sys.argv = ["-c"]
    sys.dont_write_bytecode = True
    random.seed(0)
    # What the driver imported must not hide a module of the tree with the same name, as it would
    # not have been imported yet in a plain interpreter.
    for name in set(sys.modules) - startup:
        top = name.partition(".")[0]
        if not top.startswith("driver") and any(
            os.path.exists(os.path.join(root, top + end)) for root in roots for end in (".py", "/__init__.py")
        ):
            del sys.modules[name]
    _KEPT.append(sys.modules["__main__"])
    sys.modules["__main__"] = types.ModuleType("__main__")
    return roots


def _dependencies() -> Report:
    """Make the installed dependencies importable as an interpreter does at its start, ``.pth`` files and all:
    after the standard library, before what the image has. Empty when that went well.
    """
    for folder in DEPENDENCIES:
        import site

        os.environ["PYTHONUSERBASE"] = folder  # for interpreters that the code starts
        os.environ["PATH"] = f"{folder}/bin:{os.environ.get('PATH', '')}"
        place = f"{folder}/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        before = list(sys.path)
        try:
            site.addsitedir(place)
        except SystemExit:
            return {"outcome": "ended", "exception": "SystemExit"}  # and so would every interpreter
        added = [entry for entry in sys.path if entry not in before]
        at = next(
            (n for n, e in enumerate(before) if e.endswith(("site-packages", "dist-packages"))), len(before)
        )
        sys.path[:] = [*before[:at], *added, *before[at:]]
    return {}


_KEPT: list[types.ModuleType] = []


def _linger(grace: float) -> Report:
    """Give threads that outlive the item a bounded time. Threads that stay are told, also those that
    only the interpreter knows of (those of native libraries are not the code's).
    """
    _end_pools()
    time.sleep(0.01)  # a thread asked for a moment ago counts from when it runs
    until = time.monotonic() + grace
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(max(0.0, until - time.monotonic()))
    while _thread._count() and time.monotonic() < until:
        time.sleep(0.01)
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


def _text(value: object) -> str:
    """At most 200 characters of what may be any object with any ``__str__``."""
    try:
        return str(value)[:200]
    except BaseException:
        return type(value).__name__


def _import(item: Item, context: Context) -> Report:
    name = item["module"]
    if not _exists(item):
        return {"outcome": "absent"}
    if _is_taken(name, item.get("path")):
        return _file(item, context)
    try:
        module = importlib.import_module(name)
    except SystemExit:
        # An import that ends the program hides all that follows: not a look to the end.
        return {"outcome": "ended", "exception": "SystemExit"}
    return _call(item, context, module)


def _is_taken(name: str, path: str | None) -> bool:
    """True where importing by name would give another module than the tree's file: one that every
    interpreter loads at its start (``sitecustomize``, ``os``) or holds in itself (``time``).
    """
    if path is None or "." in name:
        return False
    if name in sys.builtin_module_names:
        return True
    known = sys.modules.get(name)
    if known is None:
        return False
    file = getattr(known, "__file__", None)
    return not isinstance(file, str) or not os.path.exists(file) or not os.path.samefile(file, path)


def _file(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    path = os.path.abspath(item["path"])
    from importlib.machinery import SourceFileLoader

    name = "gate_file_" + "".join(c if c.isalnum() else "_" for c in os.path.basename(path))
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceFileLoader(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SystemExit:
        return {"outcome": "ended", "exception": "SystemExit"}
    return _call(item, context, module)


def _call(item: Item, context: Context, module: types.ModuleType) -> Report:
    """Call what the plan named. A child that the code forked during import does not take part."""
    if os.getpid() != context.channel.pid:
        os._exit(0)
    names = item.get("calls") or []
    if not names:
        return {"outcome": "completed"}
    caller = driver_calls.Caller(
        module,
        channel=context.channel,
        seen=context.seen,
        each=float(context.job.get("each", 1.0)),
        total=context.total,
        describe=lambda error: describe(error, context.roots),
    )
    try:
        caller.run(names, context.start)
    except BaseException as error:  # from beside the calls (another thread, a signal): some were not made
        return {**describe(error, context.roots), "outcome": "ended"}
    return {"outcome": "completed"}


def _exists(item: Item) -> bool:
    path = item.get("path")
    return path is None or os.path.lexists(path)


def _idle(item: Item, context: Context) -> Report:
    # The material for arguments is laid out here too, so that it is part of every baseline.
    driver_calls.lay_out()
    return {"outcome": "completed"}


def _script(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    report: Report = driver_programs.script(item, context, describe)
    return report


def _setup(item: Item, context: Context) -> Report:
    return driver_setup.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _backend(item: Item, context: Context) -> Report:
    return driver_programs.backend(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _pth(item: Item, context: Context) -> Report:
    return driver_programs.pth(item) if _exists(item) else {"outcome": "absent"}


def _shell(item: Item, context: Context) -> Report:
    return driver_programs.shell(item) if _exists(item) else {"outcome": "absent"}


def _program(item: Item, context: Context) -> Report:
    return driver_programs.program(item) if _exists(item) else {"outcome": "absent"}


def _javascript(item: Item, context: Context) -> Report:
    driver_javascript.become(item, context)
    raise AssertionError("exec came back")


def _javascript_main(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    driver_javascript.become_main(item)
    raise AssertionError("exec came back")


def _make(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    driver_make.become(item, context)
    raise AssertionError("exec came back")


def _entry(item: Item, context: Context) -> Report:
    return driver_entry.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def preload(items: list[Item]) -> None:
    """Import what only some verbs need, while our folder is still on sys.path: most jobs start without."""
    if any(item["do"] == "pickle" for item in items):
        importlib.import_module("driver_pickle")


def _pickle(item: Item, context: Context) -> Report:
    import driver_pickle

    return driver_pickle.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _lifecycle(item: Item, context: Context) -> Report:
    return driver_programs.lifecycle(item) if _exists(item) else {"outcome": "absent"}


def _test(item: Item, context: Context) -> Report:
    paths = [path for path in item.get("paths") or [] if os.path.lexists(path)]
    if not paths:
        return {"outcome": "absent"}
    report: Report = driver_tests.run(paths, context, describe)
    return report


def _doctest(item: Item, context: Context) -> Report:
    return driver_examples.run(item) if _exists(item) else {"outcome": "absent"}


VERBS = {
    "idle": _idle,
    "import": _import,
    "file": _file,
    "script": _script,
    "test": _test,
    "doctest": _doctest,
    "setup": _setup,
    "backend": _backend,
    "pth": _pth,
    "shell": _shell,
    "program": _program,
    "javascript": _javascript,
    "javascript_main": _javascript_main,
    "lifecycle": _lifecycle,
    "make": _make,
    "entry": _entry,
    "pickle": _pickle,
}

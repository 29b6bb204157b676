"""A fork server: a process that has loaded the installed packages, and from which items are forked.

An application loads hundreds of modules of its dependencies before its own first line runs, and each item
is a fresh process: without this, each would load them again. The first item of a job starts as a plain
interpreter does. What it loaded *from the installed packages*, never from the tree, is loaded here once;
the items after it begin with that. What loading does (files read, programs started) was then seen already,
in the first item, at base and at head alike.

Nothing is forked from a server in which loading left more than modules: threads, children, an event loop, a
standard library that was patched. Then the items run as the first one did.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from . import installed_packages, item_process, orphans, own_modules

Item = dict[str, Any]
Result = dict[str, Any]
Run = Callable[[Item, dict[str, Any], float, int, bool], Result]

VERBS = frozenset({"import", "file", "test", "doctest", "force"})
"""Verbs whose items are forked from a server: those that load modules in their own process."""
LEAST = 40
"""Modules below which it is not worth a process."""
_LOADING = 0.4
"""The part of the time that is left which loading may take."""
_LATE = 3.0
"""Seconds after the end of the time in which the server has to be gone."""
_AT_ONCE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Libraries for numbers start threads while they are loaded, but for one."""
_UNFIT = frozenset({"gevent", "eventlet", "twisted.internet.reactor", "tensorflow", "torch", "grpc._cython"})
"""Modules that patch the standard library, or hold an event loop or threads of their own."""


def takes(items: list[Item], job: dict[str, Any], loaded: list[str]) -> int:
    """How many of the items, from the first on, a server is worth starting for. 0: none."""
    if len(loaded) < LEAST or not _UNFIT.isdisjoint(loaded):
        return 0
    count = 0
    for item in items:
        longest = item_process.longest_sleep(items[0], job)
        if item["do"] not in VERBS or item_process.longest_sleep(item, job) != longest:
            break
        count += 1
    return count if count > 1 else 0


class ForkServer:
    """A server for some items of a job. ``pid`` is its number: items are told to the host by their parent."""

    def __init__(self, items: list[Item], job: dict[str, Any], loaded: list[str]) -> None:
        self.pid = 0
        self._items, self._job = items, job
        self._loaded = loaded

    def results(self, until: float, left: int, run: Run) -> list[Result]:
        """Run the items, of ``left`` that there still are. As many results as it came to: none where it is
        unfit. An item during which it died has ``ended``.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        inlet, outlet = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            server = os.getpid()
            try:
                os.close(inlet)
                self._serve(outlet, until, left, run)
                os._exit(0)
            except BaseException:
                if os.getpid() == server:
                    os._exit(1)
                raise  # an item leaves as a plain interpreter does
        os.close(outlet)
        told = self._listen(inlet, until)
        os.close(inlet)
        results = [one["result"] for one in told if isinstance(one.get("result"), dict)]
        if any(one.get("begins") == len(results) for one in told):
            item = self._items[len(results)]
            results.append(
                {"outcome": "ended", **{k: item[k] for k in ("do", "module", "path") if k in item}}
            )
        return results

    def _serve(self, outlet: int, until: float, left: int, run: Run) -> None:
        def say(message: dict[str, Any]) -> None:
            data = memoryview(json.dumps(message).encode("ascii") + b"\n")
            while data:
                data = data[os.write(outlet, data) :]

        for fd in item_process.TO_CLOSE:
            os.close(fd)
        item_process.TO_CLOSE[:] = [outlet]
        orphans.adopt()
        if not self._load(until):
            return
        say({"ready": True})
        item_process.SERVED.append(True)
        stuck = False
        for index, item in enumerate(self._items):
            say({"begins": index})
            result = run(item, self._job, until, left - index, stuck)
            result.pop("loaded", None)
            stuck = stuck or result["outcome"] == "timed-out"
            say({"result": result})

    def _load(self, until: float) -> bool:
        """Load the packages' modules. False where this process is unfit to fork from."""
        ours, folder = os.getpid(), os.getcwd()
        until = time.monotonic() + _LOADING * (until - time.monotonic())
        variables = {name: os.environ.pop(name) for name in ("DJANGO_SETTINGS_MODULE",) if name in os.environ}
        threads = {name: os.environ.get(name) for name in _AT_ONCE}
        os.environ.update(dict.fromkeys(_AT_ONCE, "1"))
        here = os.path.dirname(os.path.abspath(__file__))
        sys.path[:] = [entry for entry in sys.path if entry and os.path.abspath(entry) != here]
        own_modules.hide()
        item_process.change_world(self._job, item_process.longest_sleep(self._items[0], self._job))
        if installed_packages.add():
            return False
        for name in self._names():
            if name not in sys.modules and time.monotonic() < until:
                try:
                    importlib.import_module(name)
                except BaseException:  # it loads where the project is set up, if at all
                    continue
        if os.getpid() != ours:
            return False
        for name, value in threads.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        os.environ.update(variables)
        os.chdir(folder)
        del item_process.SLEPT[:]
        gc.collect()
        gc.freeze()
        return _UNFIT.isdisjoint(sys.modules) and len(os.listdir("/proc/self/task")) == 1 and not _children()

    def _names(self) -> list[str]:
        """What is loaded: nothing that the tree has under the same name, and of Django's world only itself,
        because what builds on it wants a project that is set up.
        """
        tops = {name.partition(".")[0] for name in self._loaded}
        roots = {
            root for item in self._items for root in item.get("roots") or self._job.get("roots") or ["."]
        }
        own = {
            top
            for top in tops
            for root in roots
            if os.path.lexists(os.path.join(root, top)) or os.path.lexists(os.path.join(root, f"{top}.py"))
        }
        if "django" in tops:
            own |= tops - _without_django()
        return [name for name in self._loaded if name.partition(".")[0] not in own]

    def _listen(self, inlet: int, until: float) -> list[dict[str, Any]]:
        """What the server says, until it is gone; past the time it is ended, and what it forked with it is
        left to the launcher.
        """
        raw = bytearray()
        is_open = True
        while is_open:
            if time.monotonic() > until + _LATE:
                os.kill(self.pid, signal.SIGKILL)
                break
            if select.select([inlet], [], [], 0.1)[0]:
                data = os.read(inlet, 1 << 16)
                is_open = bool(data)
                raw += data
            elif _is_gone(self.pid):
                return _messages(raw)
        os.waitpid(self.pid, 0)
        return _messages(raw)


def _is_gone(pid: int) -> bool:
    return os.waitpid(pid, os.WNOHANG)[0] != 0


def _children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _without_django() -> set[str]:
    """Top-level modules of packages that do not build on Django; Django's own is one of them."""
    found = {"django"}
    for folder in installed_packages.distributions():
        try:
            with open(f"{folder}/METADATA", encoding="utf-8", errors="replace") as file:
                asks = [line for line in file.read(200_000).splitlines() if line.startswith("Requires-Dist:")]
            if any(line[14:].strip().lower().startswith("django") for line in asks):
                continue
            with open(f"{folder}/RECORD", encoding="utf-8", errors="replace") as file:
                paths = [line.partition(",")[0] for line in file.read(2_000_000).splitlines()]
        except OSError:
            continue
        tops = {path.partition("/")[0] for path in paths if path.endswith((".py", ".so"))}
        found |= {top.partition(".")[0] for top in tops}
    return found


def _messages(raw: bytearray) -> list[dict[str, Any]]:
    found = []
    for line in bytes(raw).split(b"\n"):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            found.append(message)
    return found

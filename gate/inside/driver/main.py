"""Runs the code under test inside the sandbox and says how far it got.

    python3 /opt/gate/driver/main.py '{"items": [{"do": "import", "module": "shop.cart", "path": "cart.py"}]}'
    python3 /opt/gate/driver/main.py import shop.cart

Trusted code, standard library only, Python 3.9 and later. It forks one child for every item, so each
module meets a fresh process, and waits outside that child with a clock of its own. What a child says
is a hint that the code can forge; that a child ended early is seen here, in another process. The
report and the closing ``done`` go to the socket ``GATE_DRIVER_FD`` (docs/launcher-protocol.md), which
no child holds. ``done`` is left out when an item did not run to its end. The kernel-level trace is
elsewhere and does not depend on any of this.

A job: ``items`` (see verbs.py for what each ``do`` needs), ``roots`` (folders for sys.path,
relative to the working directory), ``lines`` ({path: [[first, last], ...]}: changed lines to watch),
``seconds`` (the driver's own limit for the whole job), ``grace`` (seconds granted to threads and child
processes that outlive their item), ``nap`` (longest sleep in seconds; 0 leaves sleeps alone), ``clock``
(seconds by which the clock of Python or JavaScript is moved), ``hold`` (seconds to stay when an item ran
out of time), ``each`` and ``each_script`` (seconds for one call, one run), ``rate`` (how many times as fast
sleeps of shell scripts and the like pass while the clock is moved).
"""

from __future__ import annotations

import sys

STARTUP = frozenset(sys.modules)  # before the other imports: the interpreter as it starts
if not __package__ and sys.path[:1] == [__file__.rpartition("/")[0]]:
    del sys.path[0]  # nothing of ours is found there, and every import would look

import json
import os
import select
import signal
import time
from typing import Any

if __package__:
    from . import (
        clock_preload,
        environment_files,
        fork_server,
        installed_packages,
        item_process,
        orphans,
        put_off_imports,
        services,
        serving,
        verbs,
    )
    from .javascript import pages
else:  # started as a script: a package of a name that no code under test has, and nothing new on sys.path
    _package = type(sys)("gate_driver")
    _package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["gate_driver"] = _package
    from gate_driver import (  # type: ignore[no-redef]
        clock_preload,
        environment_files,
        fork_server,
        installed_packages,
        item_process,
        orphans,
        put_off_imports,
        services,
        serving,
        verbs,
    )
    from gate_driver.javascript import pages  # type: ignore[no-redef]

Job = dict[str, Any]
Result = dict[str, Any]

REPORT_BYTES = 250_000
MESSAGE_BYTES = 1_000_000
RESTARTS = 8
_IN_NODE = frozenset({"javascript", "exploit_javascript"})
"""Verbs whose child becomes Node or Deno: what it says has no word of ours."""
_LIMITS = {-signal.SIGXCPU: "timed-out", -signal.SIGABRT: "out of memory", -signal.SIGTRAP: "out of memory"}
CALL_SECONDS = 6.0
"""After so long without a word one call of JavaScript is ended; awaiting is bounded inside, by ``each``."""
COMPLETE = frozenset({"completed", "exception", "missing", "absent", "exited", "stopped", "uncollected"})


def main(argv: list[str]) -> int:
    """Run the job named by the arguments. 0: every item ran to its end; 1: not; 2: no such job."""
    link = _take_link()
    installed_packages.FOLDERS[:] = [place for place in (os.environ.pop("GATE_DEPS", ""),) if place]
    try:
        job = parse_job(argv)
    except ValueError as error:
        print(f"driver: {error}", file=sys.stderr)
        return 2
    verbs.preload(job["items"])
    failed = services.start(os.environ.pop("GATE_SERVICES", ""))
    orphans.adopt()
    until = time.monotonic() + float(job.get("seconds", 15.0))
    results, servers = run_items(job["items"], job, until)
    stuck = any(result["outcome"] == "timed-out" for result in results)
    if job.get("clock") and not stuck and not any(result.get("left_running") for result in results):
        clock_preload.remove_shared_clock()
    through = all(result["outcome"] in COMPLETE for result in results)
    report = {"version": 1, "python": sys.version.split()[0], "items": results}
    if failed:
        report["services"] = failed
    if servers:
        report["servers"] = servers
    _tell(link, report, done=through)
    if stuck and job.get("hold"):
        time.sleep(float(job["hold"]))  # the launcher's clock ends this run: a time-out, and told as one
    return 0 if through else 1


def run_items(items: list[Job], job: Job, until: float) -> tuple[list[Result], list[int]]:
    """Run the items in their order; the numbers of the fork servers that ran some of them."""
    results: list[Result] = []
    servers: list[int] = []
    loaded: list[str] = []
    while (left := len(items) - len(results)) > 0:
        rest = items[len(results) :]
        count = 0 if servers else fork_server.takes(rest, job, loaded)
        if count:
            server = fork_server.ForkServer(rest[:count], job, loaded)
            results += server.results(until, left, _run_next)
            servers.append(server.pid)
            continue
        stuck = any(result["outcome"] == "timed-out" for result in results)
        result = _run_next(rest[0], job, until, left, stuck)
        loaded = result.pop("loaded", None) or loaded
        results.append(result)
    return results, servers


def _run_next(item: Job, job: Job, until: float, left: int, stuck: bool) -> Result:
    """One of so many items that are left, and the end of what it left behind. ``stuck``: one before it ran
    out of time and is still there.
    """
    # An early item may use up to three shares, the last ones what is left: most are quick.
    share = (until - time.monotonic()) / left
    result = run_item(item, job, min(until, time.monotonic() + max(0.5, 3.0 * share)))
    stuck = stuck or result["outcome"] == "timed-out"
    if not stuck and orphans.left(float(job.get("grace", 1.0)), until, apart=services.RUNNING):
        result["left_running"] = True
    return result


def parse_job(argv: list[str]) -> Job:
    """The job as a dictionary, from JSON or from the two-word form. ValueError when it is neither."""
    if len(argv) == 1:
        job = json.loads(argv[0])
    elif len(argv) == 2:
        job = {"items": [{"do": argv[0], "module" if argv[0] == "import" else "path": argv[1]}]}
    else:
        raise ValueError("give one JSON job, or a verb and its target")
    if not isinstance(job, dict) or not isinstance(job.get("items"), list):
        raise ValueError("the job has no list of items")
    for item in job["items"]:
        if not isinstance(item, dict) or item.get("do") not in verbs.VERBS:
            raise ValueError(f"unknown item {item!r}")
    return job


def run_item(item: Job, job: Job, until: float) -> Result:
    """Run one item in children, a second time with stand-ins where a package is missing."""
    was = item.get("was")
    if isinstance(was, dict) and not os.path.lexists(item["path"]) and os.path.lexists(was["path"]):
        item = {**item, **was}  # the side before a rename
    begun = time.monotonic()
    first = _run_to_the_end(item, job, until)
    least = _PUT_OFF_LEAST * (time.monotonic() - begun)
    off = _with_imports_put_off(item, job, until, first, least) if first.get("lacks") else {}
    if first["outcome"] == "missing" and item["do"] in verbs.CAN_STAND_IN:
        # Once more with stand-ins for what is missing; how that ends says nothing about the code.
        again = _run_to_the_end({**item, "stand_in": True}, job, until)
        again.update(outcome="missing", missing=first["missing"], stand_in=True)
        again.pop("exception", None)
        _variables(again, first)
        return {**again, **off}
    first.update(off)
    if first["outcome"] == "exception" and (item["do"] in _IN_NODE or item.get("script")):
        first = _with_variables(item, job, until, first)
    return _with_page(item, job, until, first) if item["do"] == "javascript" else first


def _with_imports_put_off(item: Job, job: Job, until: float, first: Result, least: float) -> Result:
    """What more of the item ran with imports put off that fail: a field of its result, beside what it came to
    without. Of tests the files that were not collected. Empty: nothing. ``least``: seconds it has to have.
    """
    left = until - time.monotonic()
    if item["do"] not in put_off_imports.VERBS or left < max(_LEAST_SECONDS, least):
        return {}
    if first["outcome"] == "completed" and (lost := first.get("uncollected")):
        ends = tuple("/" + str(name).partition("::")[0] for name in lost)
        item = {**item, "paths": [p for p in item["paths"] if f"/{p}".endswith(ends)] or item["paths"]}
    end = time.monotonic() + _PUT_OFF_SHARE * left
    names: list[str] = []
    part = first
    while (name := part.get("lacks")) and name not in names and time.monotonic() < end:
        names.append(name)
        part = _run_to_the_end({**item, "put_off": names}, job, end)
        _variables(first, part)
    if part["outcome"] != "completed" or not part.get("off"):
        return {}
    return {"put_off": put_off_imports.without_used(part, job.get("acts") or {})}


_LEAST_SECONDS = 0.5
_PUT_OFF_LEAST = 2.0
"""How many times what the item took at first has to be left: a try that is cut tells nothing, and what other
items of the job lose by it they may lose at one side alone.
"""
_PUT_OFF_SHARE = 0.6
"""Of the time that is left, for a try with imports put off: one with stand-ins may follow."""


def _with_page(item: Job, job: Job, until: float, first: Result) -> Result:
    """The item once more as a bundler would load it, and once more with a browser's names, where it or a call
    of it ended for want of that.
    """
    if pages.wants_bundler(first) and not item.get("bundled") and time.monotonic() < until:
        item = {**item, "bundled": True}
        first, was = _run_to_the_end(item, job, until), first
        _variables(first, was)
    ended = pages.wants_page(first)
    calls = [call for call in first.get("calls", ()) if call[1:] == ["ReferenceError"]]
    if not (ended or calls) or item.get("page") or time.monotonic() >= until:
        return first
    again = _run_to_the_end({**item, "page": True}, job, until)
    _variables(again, first)
    if not ended:  # what ran without is seen, too
        outcome = first["outcome"]
        _merge(first, again)
        return {**first, "outcome": outcome}
    return again


def _with_variables(item: Job, job: Job, until: float, first: Result) -> Result:
    """The item once more, with the variables that its error asks for; as it was where it asks for none."""
    before = dict(os.environ)
    try:
        if not environment_files.variables_for(dict(item), str(first.get("message", ""))):
            return first
        again = _run_to_the_end(item, job, until)
    finally:
        os.environ.clear()
        os.environ.update(before)
    _variables(again, first)
    return again


def _run_to_the_end(item: Job, job: Job, until: float) -> Result:
    """Run an item; where a call ended the process, once more from the next call on."""
    merged: Result = {"outcome": "absent", **{k: item[k] for k in ("do", "module", "path") if k in item}}
    start = 0
    broken = False
    for _ in range(RESTARTS):
        part, call = _run_once(item, job, until, start)
        _merge(merged, part)
        _variables(merged, part)
        merged.pop("not_called", None)
        if call is None or part["outcome"] not in ("ended", "timed-out"):
            break
        # A function that ends its process is ordinary (`die()`, `main()`); the calls after it still count.
        # Where nothing inside can end a loop or refuse memory, we and the engine end the process.
        limit = _LIMITS.get(part.get("exit_code", 0), "") if item["do"] in _IN_NODE else ""
        told = limit or part["outcome"]
        merged.setdefault("calls", []).append([call["name"], told])
        start = call["index"] + 1
        if part["outcome"] == "ended" and (part.get("exit_code", -1) >= 0 or limit) and not broken:
            merged["outcome"] = "completed"
        else:
            broken = True
        merged["not_called"] = call["of"] - start
        if time.monotonic() >= until:
            break
    # Many calls that end the process keep those behind them from being looked at: no look to the end.
    if (broken or merged.get("not_called")) and merged["outcome"] in COMPLETE:
        merged["outcome"] = "ended"
    return merged


def _run_once(item: Job, job: Job, until: float, start: int) -> tuple[Result, Any]:
    """One child. Returns what it came to, and the call it was in when it ended early."""
    sys.stdout.flush()
    sys.stderr.flush()
    inlet, outlet = os.pipe()
    word = os.urandom(12).hex()
    pid = os.fork()
    if pid == 0:
        os.close(inlet)
        item_process.run(item, job, outlet, word, start, STARTUP, until)  # raises SystemExit at its end
    os.close(outlet)
    server = serving.Server(serving.patience(job)) if item["do"] in verbs.REPLACED else None
    said, status = _watch(pid, inlet, until, item["do"] in _IN_NODE, server)
    os.close(inlet)
    if item["do"] not in _IN_NODE and any("m" in one and one.get("word") != word for one in said):
        # Not ours: what of the rest is, nobody knows. (In JavaScript, nothing of ours could keep the word.)
        return {"outcome": "ended", "forged": True, "exit_code": -1 if status is None else status}, None
    result, call, ended = _heard(said)
    if status is None:
        result["outcome"] = "timed-out"
    elif server is not None and server.ended:
        result.update(outcome="stopped", exit_code=status)
    elif item["do"] in verbs.REPLACED and result["outcome"] == "ended":
        result.update(outcome="completed" if status >= 0 else "ended", exit_code=status)
    elif not ended or status < 0:
        result.update(outcome="ended", exit_code=status)
    return result, call


def _heard(messages: list[Any]) -> tuple[Result, Any, bool]:
    """What a child's messages come to: its result, the call it was in, and whether it said that it ended."""
    result: Result = {"outcome": "ended"}
    call = None
    ended = False
    for message in messages:
        kind = message.get("m")
        if kind == "call":
            call = message
        elif kind == "called":
            result.setdefault("calls", []).append([message.get("name"), message.get("outcome")])
            if message.get("answers"):
                said = [message.get("given"), message.get("answers")]
                result.setdefault("answers", {})[str(message.get("name"))] = said
            call = None
        elif kind == "seen":
            _merge(
                result, {k: v for k, v in message.items() if k in ("lines", "acted", "sites", "witnessed")}
            )
        elif kind == "attempt":
            told = {k: v for k, v in message.items() if k not in ("m", "word")}
            result.setdefault("attempts", []).append(told)
        elif kind == "guard":
            result.setdefault("guards", {})[str(message.get("name"))] = [
                message.get("given"),
                message.get("rows"),
            ]
        elif kind == "held":
            result.setdefault("held", []).append([message.get("weakness"), message.get("at")])
        elif kind == "report":
            _merge(result, {k: v for k, v in message.items() if k not in ("m", "word", "put_off")})
        elif kind == "clock":  # what was said first was said before any of the code
            result.setdefault("clock_by", str(message.get("by"))[:40])
        elif kind == "end":
            ended = True
            result["environment"] = message.get("environment")
    return result, call, ended


def _watch(
    pid: int, inlet: int, until: float, alone: bool = False, server: serving.Server | None = None
) -> tuple[list[Any], int | None]:
    """Read the child's messages until it is gone, or until time is up: status None, and the child is left
    to the launcher, because a kill by us would stand in the trace like one by the code. Only a child that
    cannot interrupt itself (``alone``) is told by SIGXCPU that a call of its has used up its time, and a
    ``server`` that has nothing to do is asked to end.
    """
    heard = time.monotonic()
    raw = bytearray()
    status: int | None = None
    is_open = True
    while True:
        left = max(0.0, until - time.monotonic())
        if is_open:
            ready, _, _ = select.select([inlet], [], [], min(left, 0.05))
            if ready:
                data = os.read(inlet, 65536)
                is_open = bool(data)
                heard = time.monotonic()
                raw += data[: MESSAGE_BYTES - len(raw)]
                if is_open and left:
                    continue
        else:
            time.sleep(min(left, 0.002))
        done, code = os.waitpid(pid, os.WNOHANG)
        if done:
            status = _exit_code(code)
            break
        if not left:  # asked after the clock: who ended in time was not late because we were not woken
            return _messages(raw), None
        if alone and time.monotonic() - heard > CALL_SECONDS and _is_in_a_call(raw):
            os.kill(pid, signal.SIGXCPU)
            heard = until
        if server is not None:
            server.look(pid, services.RUNNING)
    while is_open and select.select([inlet], [], [], 0)[0]:
        data = os.read(inlet, 65536)
        if not data:
            break
        raw += data[: MESSAGE_BYTES - len(raw)]
    return _messages(raw), status


def _is_in_a_call(raw: bytearray) -> bool:
    """True when the last thing said is that a call begins."""
    return raw.rstrip(b"\n").rpartition(b"\n")[2].startswith(b'{"m":"call",')


def _exit_code(status: int) -> int:
    """Exit code, or the negative signal number."""
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _messages(raw: bytearray) -> list[Any]:
    """The JSON objects among the lines; the code may have written anything in between."""
    out = []
    for line in bytes(raw).split(b"\n"):
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            out.append(message)
    return out


def _variables(into: Result, part: Result) -> None:
    """Add the variables that a further child asked for. Without its last word, it may have asked for more."""
    both = [one for one in (into.get("environment"), part.get("environment") or {"more": True}) if one]
    asked = {str(name) for one in both for name in one.get("asked", ())}
    absent = {name for one in both for name in one.get("absent") or ()}
    into["environment"] = {
        "asked": sorted(asked),
        "absent": sorted(absent),
        "more": any(one.get("more") is not False for one in both),
    }


def _merge(into: Result, part: Result) -> None:
    """Add a further child's result: lists and line sets grow, the rest is the newest."""
    for key, value in part.items():
        if key == "environment":
            continue
        if key in ("calls", "sites", "attempts", "held") and isinstance(value, list):
            into.setdefault(key, []).extend(v for v in value if v not in into[key])
        elif key in ("lines", "acted", "code", "used") and isinstance(value, dict):
            lines = into.setdefault(key, {})
            for path, numbers in value.items():
                lines[path] = sorted({*lines.get(path, ()), *numbers})
        elif key == "answers" and isinstance(value, dict):
            into.setdefault(key, {}).update(value)
        elif key == "witnessed" and isinstance(value, dict):
            tables = into.setdefault(key, {})
            for kind, table in value.items():
                lines = tables.setdefault(kind, {})
                for path, numbers in table.items():
                    lines[path] = sorted({*lines.get(path, ()), *numbers})
        else:
            into[key] = value


def _take_link() -> int | None:
    """The descriptor for the report; the environment forgets it before any code runs."""
    value = os.environ.pop("GATE_DRIVER_FD", "")
    if not value.isdigit():
        return None
    os.set_inheritable(int(value), False)
    item_process.TO_CLOSE.append(int(value))
    return int(value)


def _tell(link: int | None, report: Job, *, done: bool) -> None:
    """Send the report, cut down until it fits, and ``done`` when all items ran to their end."""
    line = _fit(report)
    if link is None:
        sys.stdout.flush()
        os.write(2, line + (b"done\n" if done else b""))
        return
    data = memoryview(line + (b"done\n" if done else b""))
    while data:
        data = data[os.write(link, data) :]
    os.close(link)


def _fit(report: Job) -> bytes:
    """The report as one line of at most REPORT_BYTES: hints go first, outcomes stay."""
    for drop in (
        (),
        ("sites",),
        ("code",),
        ("calls",),
        ("witnessed",),
        ("acted",),
        ("lines", "put_off"),
        ("message",),
        ("attempts",),
        ("guards",),
    ):
        for item in report["items"]:
            for key in drop:
                if item.pop(key, None) is not None:
                    item["cut"] = True
        line = json.dumps({"report": report}, ensure_ascii=True).encode("ascii") + b"\n"
        if len(line) <= REPORT_BYTES:
            return line
    return json.dumps({"report": {"version": 1, "cut": True, "items": []}}).encode("ascii") + b"\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

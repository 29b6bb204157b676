"""`gate serve`, killed: whoever dies, every delivery ends in one check, told once.

On PostgreSQL four processes (two listen, two work) and the database, on SQLite the one process that is all
of it, killed with SIGKILL in turn under load. The look is canned; webhooks, queue, workers, tokens and all
that is told are real, over HTTP. `GATE_KILLS=50 GATE_DELIVERIES=200` is the whole load; the suite runs a
smaller one. GATE_FIGURES names a file for the figures (JSON).
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forge.databases import Postgres, postgres
from tests.forge.serving import APP, SECRET, Served, keys, payload
from tests.forge.standin.server import running
from tests.forge.standin.world import REPO, Pull, World
from tests.paths import REPOSITORY

KILLS = int(os.environ.get("GATE_KILLS", "10"))
DELIVERIES = int(os.environ.get("GATE_DELIVERIES", "40"))
STALLED = 6.0

_PROGRAM = f"""
import os, sys, time
from dataclasses import replace
from pathlib import Path
from gate.report.json_v1 import JsonReporter
from gate.serve.checks import Checks
from gate.serve.run import Part, serve
from gate.serve.tokens import Tokens
from gate.serve.webhooks import Answers
from gate.change.event import parse_event
from tests.forge.standin.world import TREE
from tests.forge.telling import soft

url, database, part, looks = sys.argv[1:]
log = os.open(looks, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

class Canned:
    def look(self, repo, token, event):
        told = parse_event(event)
        os.write(log, (told.head + "\\n").encode())
        time.sleep(0.2)
        made = soft()
        change = replace(made.change, base=told.base, merge_base=told.base, head=told.head)
        made = replace(made, change=change, pull_request=told.pull_request.number, tree=TREE)
        return JsonReporter().render(made).encode()

tokens = Tokens({APP}, Path("app.pem").read_text(), url)
def handler(queue):
    return Answers(queue, tokens.api, Checks(queue, tokens, Canned(), server="https://github.com")).handle
part = Part(looks=2, listens=part != "work", works=part != "listen", stalled={STALLED})
place = database if "://" in database else Path(database)
serve(place, [b"{SECRET}"], handler, host="127.0.0.1", port=0, part=part)
"""


class Process:
    """One part on one machine; ``port`` where it listens."""

    def __init__(self, folder: Path, url: str, database: str, part: str) -> None:
        self._told = (folder, url, database, part)
        self.child: subprocess.Popen[str] | None = None
        self.port = 0

    def start(self) -> None:
        folder, url, database, part = self._told
        self.child = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, url, database, part, folder / "looks"],
            stdout=subprocess.PIPE, text=True, cwd=folder,
            env=os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if part != "work" and line:
            self.port = int(line.rpartition(":")[2])

    def kill(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            assert self.child.stdout is not None
            self.child.stdout.close()
            self.child = None

    @property
    def gone(self) -> bool:
        return self.child is None or self.child.poll() is not None


Parts = dict[str, Process | Postgres]


@contextlib.contextmanager
def on_postgres(folder: Path, url: str) -> Iterator[Parts]:
    """Two that listen, two that work, and the database."""
    with postgres() as database:
        made = {f"{p} {n}": Process(folder, url, database.url, p) for p in ("listen", "work") for n in (1, 2)}
        with _started(made) as parts:
            yield {**parts, "queue": database}


@contextlib.contextmanager
def on_sqlite(folder: Path, url: str) -> Iterator[Parts]:
    """One process: server, queue and workers die together."""
    with _started({"all": Process(folder, url, str(folder / "gate.db"), "all")}) as parts:
        yield {**parts}


@contextlib.contextmanager
def _started(parts: dict[str, Process]) -> Iterator[dict[str, Process]]:
    try:
        for one in parts.values():
            one.start()
        yield parts
    finally:
        for one in parts.values():
            one.kill()


class Load:
    """Deliveries one after the other; what is not acknowledged is sent again, as by GitHub."""

    def __init__(self, world: World, parts: Parts) -> None:
        self.world, self.stop = world, threading.Event()
        self.acknowledged: dict[int, float] = {}
        self.again = 0
        self._listeners = [p for p in parts.values() if isinstance(p, Process) and p._told[3] != "work"]

    def run(self, pause: float) -> None:
        for number in range(1, DELIVERIES + 1):
            head = f"{number:040x}"
            with self.world.lock:
                self.world.pulls[number] = Pull(number=number, head_sha=head, head_ref=f"f{number}")
            told = {"number": number, "head": {"sha": head}, "base": {"ref": "main"}}
            body = payload(action="opened", pull_request=told)
            while not self.stop.is_set() and not self._sent(f"delivery-{number:04}", body):
                self.again += 1
                time.sleep(0.1)
            self.acknowledged[number] = time.monotonic()
            time.sleep(pause)

    def _sent(self, name: str, body: bytes) -> bool:
        one = random.choice(self._listeners)
        if one.gone or one.child is None:
            return False
        try:
            return Served(one.child, one.port).send("pull_request", body, name)[0] == 202
        except (OSError, http.client.HTTPException):
            return False

    def close_what_was_told(self) -> None:
        """Pull requests end some seconds after they were told: all of them are listed for each verdict."""
        now = time.monotonic()
        with self.world.lock:
            talked = {c.number for c in self.world.comments.values()}
            told = {c["head_sha"] for c in self.world.checks.values() if c["status"] == "completed"}
            for number, since in self.acknowledged.items():
                whole = self.world.pulls[number].head_sha in told and number in talked
                if whole and now - since > 2 * STALLED:
                    self.world.pulls[number].state = "closed"


def _progress(world: World) -> tuple[int, int]:
    """Checks begun and told so far."""
    with world.lock:
        return len(world.checks), sum(c["status"] == "completed" for c in world.checks.values())


def _kill_in_turn(world: World, parts: Parts, load: Load, chance: random.Random) -> Counter[str]:
    """Each part as often as the others, in an order of chance, amid the work."""
    killed: Counter[str] = Counter()
    names = [name for _ in range(KILLS // len(parts) + 1) for name in chance.sample(list(parts), len(parts))]
    for name in names[:KILLS]:
        before, late = _progress(world), time.monotonic() + 15
        while _progress(world) == before and time.monotonic() < late:
            time.sleep(0.01)  # a kill is to come amid the work, not while all of them still start
        # who is alone also has to look and tell
        time.sleep(chance.uniform(0.0, 0.3 if len(parts) > 1 else 3.0))
        parts[name].kill()
        killed[name.partition(" ")[0]] += 1
        time.sleep(chance.uniform(0.0, 0.5))
        parts[name].start()
        for other in parts.values():  # a listener that found no database at its start has ended
            if isinstance(other, Process) and other.gone:
                other.kill()
                other.start()
        load.close_what_was_told()
    return killed


def _told_once(world: World) -> None:
    heads = {f"{number:040x}": 1 for number in range(1, DELIVERIES + 1)}
    assert Counter(c["head_sha"] for c in world.checks.values()) == heads, "one check for each"
    assert {c["conclusion"] for c in world.checks.values()} == {"failure"}
    talked = Counter(c.number for c in world.comments.values())
    assert talked == dict.fromkeys(range(1, DELIVERIES + 1), 1), "one comment for each"
    ends = Counter(
        a.path for a in world.sent("PATCH", r".*/check-runs/\d+") if a.body.get("status") == "completed"
    )
    assert max(ends.values()) == 1, "a verdict is told once"
    assert len(world.sent("POST", rf"/repos/octo/{REPO}/check-runs")) == DELIVERIES
    assert not [v for v in world.violations if not re.search("no such", v)]


@pytest.mark.slow
@pytest.mark.timeout(60 * (KILLS + 15))  # seconds are a busy machine's
@pytest.mark.parametrize("place", [on_postgres, on_sqlite])
def test_kills_of_worker_queue_and_server_lose_nothing_and_tell_nothing_twice(
    tmp_path: Path,
    place: Callable[[Path, str], contextlib.AbstractContextManager[Parts]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    world, chance = World(), random.Random(16)
    _, world.apps[APP] = keys(tmp_path)
    used = _processor()
    with running(world) as github, place(tmp_path, github.url) as parts:
        load = Load(world, parts)
        sender = threading.Thread(target=load.run, args=(0.2,))
        start = time.monotonic()
        sender.start()
        try:
            killed = _kill_in_turn(world, parts, load, chance)
            after_kills = _progress(world)[1]
            sender.join(600)
            late = time.monotonic() + 600
            while _progress(world)[1] < DELIVERIES:
                assert time.monotonic() < late, Counter(c["status"] for c in world.checks.values())
                ended = {name: p.child for name, p in parts.items() if isinstance(p, Process) and p.gone}
                assert not ended, "nobody killed it"
                load.close_what_was_told()
                time.sleep(0.25)
            seconds = time.monotonic() - start
            time.sleep(2 * STALLED)  # whatever would be told twice is told by now
        finally:
            load.stop.set()
    _told_once(world)
    looks = Counter((tmp_path / "looks").read_text().split())
    figures = {
        "queue": place.__name__,
        "deliveries": DELIVERIES,
        "kills": dict(killed),
        "seconds": round(seconds),
        "processor_seconds": round(_processor() - used),
        "told_when_the_kills_ended": after_kills,
        "refused_and_sent_again": load.again,
        "looks_made_again": sum(looks.values()) - DELIVERIES,
    }
    with capsys.disabled():
        print("\nnone lost, none told twice:", json.dumps(figures))
    if "GATE_FIGURES" in os.environ:
        with open(os.environ["GATE_FIGURES"], "a") as file:
            file.write(json.dumps(figures) + "\n")


def _processor() -> float:
    """Seconds of this process (the stand-in for GitHub is in it) and of what it started and has ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)

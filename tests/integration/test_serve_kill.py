"""Nothing that was acknowledged is lost or worked off twice, whenever the server is killed."""

from __future__ import annotations

import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from gate.serve.store import Store
from tests.forge import serving
from tests.forge.serving import SECRET, payload, served

KILLS = 50


@pytest.mark.slow
def test_fifty_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """SIGKILL at a random moment under load; every 202 must be on disk, and the database whole."""
    chance = random.Random(6)
    acknowledged: set[str] = set()
    for kill in range(KILLS):
        stop = threading.Event()
        with served(tmp_path, None, "") as server:

            def load(which: int, kill: int = kill, stop: threading.Event = stop) -> None:
                number = 0
                while not stop.is_set():
                    name = f"kill-{kill:02}-{which}-{number:05}"
                    number += 1
                    body = payload(action="completed", check_suite={"head_sha": name})
                    try:
                        status, _ = server.send("check_suite", body, name)
                    except OSError:
                        return
                    except Exception:  # http.client: half an answer is no acknowledgement
                        return
                    if status == 202:
                        acknowledged.add(name)

            threads = [threading.Thread(target=load, args=(n,)) for n in range(3)]
            for thread in threads:
                thread.start()
            before, late = len(acknowledged), time.monotonic() + 10
            while kill % 2 and len(acknowledged) == before and time.monotonic() < late:
                time.sleep(0.002)  # a busy machine: every other kill comes when there is something to lose
            time.sleep(chance.uniform(0.005, 0.15))
            server.child.send_signal(signal.SIGKILL)
            server.child.wait()
            stop.set()
            for thread in threads:
                thread.join()
    with sqlite3.connect(tmp_path / "gate.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        stored = {row[0] for row in db.execute("SELECT id FROM delivery")}
    db.close()
    assert len(acknowledged) >= KILLS // 2, "the load never reached the server"
    assert acknowledged <= stored

    with served(tmp_path, None, "") as server:  # and all of it is worked off afterwards
        end = time.monotonic() + 30
        while 'gate_stored{state="waiting"}' in server.ask("GET", "/metrics")[1]:
            assert time.monotonic() < end
            time.sleep(0.1)


_NOTING = """
import os, sys, time
from pathlib import Path
from gate.serve.run import serve
from gate.serve.interface import Done
log = os.open("published", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def handle(delivery):
    time.sleep(0.02)  # killed before
    os.write(log, (delivery.id + "\\n").encode())
    time.sleep(0.02)  # killed between what is published and what is noted
    return Done(note="")
serve(Path("gate.db"), [b"%s"], lambda store: handle, host="127.0.0.1", port=0)
"""
"""The server with a handler that notes what it published."""


def _states(path: Path) -> dict[str, str]:
    with sqlite3.connect(path) as db:
        found = dict(db.execute("SELECT id, state FROM delivery"))
    db.close()
    return found


@pytest.mark.slow
def test_fifty_kills_amid_the_work_publish_all_and_repeat_only_what_was_in_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 deliveries: each is published; twice only what a kill cut off while it was being worked on."""
    monkeypatch.setattr(serving, "BARE", _NOTING % SECRET)
    chance = random.Random(16)
    names = [f"load-{number:04}" for number in range(200)]
    unsent = list(names)
    cut_off: Counter[str] = Counter()
    for _ in range(KILLS):
        with served(tmp_path, None, "") as server:
            for name in unsent[:4]:
                body = payload(action="completed", check_suite={"head_sha": name})
                assert server.send("check_suite", body, name)[0] == 202
            del unsent[:4]
            time.sleep(chance.uniform(0.0, 0.08))
            server.child.send_signal(signal.SIGKILL)
            server.child.wait()
        cut_off.update(name for name, state in _states(tmp_path / "gate.db").items() if state == "working")
    assert not unsent
    with served(tmp_path, None, "") as server:
        end = time.monotonic() + 60
        while set(_states(tmp_path / "gate.db").values()) != {"done"}:
            assert time.monotonic() < end
            time.sleep(0.1)
    published = Counter((tmp_path / "published").read_text().split())
    assert sorted(published) == names, "one was lost"
    repeated = {name: times for name, times in published.items() if times > 1}
    assert all(times <= 1 + cut_off[name] for name, times in repeated.items()), repeated
    assert sum(cut_off.values()) >= 5, "no kill came amid the work"


def test_a_full_disk_acknowledges_nothing(tmp_path: Path) -> None:
    """When it cannot be kept, nobody is told that it was; afterwards it works again."""
    store = Store(tmp_path / "gate.db")
    try:
        store.accept("first-one", "check_suite", b"1", 1.0).result()
        pages = store._put(lambda db: db.execute("PRAGMA page_count").fetchone()[0]).result()
        store._put(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone()).result()
        with pytest.raises(sqlite3.OperationalError, match="full"):
            store.accept("too-large", "check_suite", b"x" * 200_000, 2.0).result()
        store._put(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchone()).result()
        assert store.accept("too-large", "check_suite", b"x" * 200_000, 2.0).result() == "new"
    finally:
        store.close()
    store = Store(tmp_path / "gate.db")
    assert store.count() == {"waiting": 2}
    store.close()


def test_settings_of_the_database(tmp_path: Path) -> None:
    store = Store(tmp_path / "gate.db")
    try:
        read = store._put(
            lambda db: (
                db.execute("PRAGMA journal_mode").fetchone()[0],
                db.execute("PRAGMA synchronous").fetchone()[0],
            )
        ).result()
        assert read == ("wal", 2)  # 2: FULL
    finally:
        store.close()

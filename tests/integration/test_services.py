"""Servers for tests: real ones, fresh in every run, seen by the observer only where they act for the code."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from dataclasses import asdict

import pytest

from gate.model.behaviour import Behaviour
from gate.model.run import Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.registry import BACKENDS
from gate.sandbox.contract import Backend
from gate.sandbox.images import engine_images, system_root
from gate.supply.services import Service
from gate.tracing.behaviour.reduction import behaviours
from tests.contract.backend_contract import unhurried, working
from tests.contract.trees import DictTree

pytestmark = pytest.mark.engine

TALK = '''
"""The protocol of PostgreSQL, as far as a query needs it: no driver is installed here."""
import socket, struct

def query(sql, user="shop", database="shop_test"):
    with socket.create_connection(("127.0.0.1", 5433), 5) as line:
        words = f"user\\0{user}\\0database\\0{database}\\0\\0".encode()
        line.sendall(struct.pack("!II", len(words) + 8, 196608) + words)
        answers = _until_ready(line)
        if any(kind == b"E" for kind, _ in answers):
            return answers
        body = sql.encode() + b"\\0"
        line.sendall(b"Q" + struct.pack("!I", len(body) + 4) + body)
        return _until_ready(line)

def _until_ready(line):
    answers = []
    while not answers or answers[-1][0] not in (b"Z",):
        head = _exactly(line, 5)
        if not head:
            break
        answers.append((head[:1], _exactly(line, struct.unpack("!I", head[1:])[0] - 4)))
    return answers

def _exactly(line, count):
    got = b""
    while len(got) < count:
        piece = line.recv(count - len(got))
        if not piece:
            return b""
        got += piece
    return got

def errors(answers):
    return [text for kind, text in answers if kind == b"E"]

def redis(*words):
    with socket.create_connection(("127.0.0.1", 6379), 5) as line:
        line.sendall(b"*%d\\r\\n" % len(words) + b"".join(b"$%d\\r\\n%s\\r\\n" % (len(w), w) for w in words))
        return line.recv(1000)
'''
HARMLESS = """
import os
from talk import errors, query, redis

def test_a_table():
    assert os.environ["DATABASE_URL"].endswith("/shop_test")
    answers = query("CREATE TABLE items (name text); INSERT INTO items VALUES ('a'); SELECT name FROM items")
    assert not errors(answers)
    assert any(kind == b"D" for kind, _ in answers)

def test_a_key():
    assert redis(b"SET", b"mark", b"1") == b"+OK\\r\\n"
"""
AGAIN = """
from talk import errors, query, redis

def test_nothing_is_left_of_another_run():
    assert errors(query("SELECT name FROM items"))
    assert redis(b"GET", b"mark") == b"$-1\\r\\n"
"""
HOSTILE = """
from talk import query, redis

def test_the_server_acts_for_the_code():
    print(query("COPY (SELECT 'x') TO PROGRAM 'touch /tmp/by-the-database'", user="postgres"))
    print(query("COPY (SELECT 'x') TO '/work/tree/by-the-database.txt'", user="postgres"))
    print(query("COPY (SELECT 'x') TO PROGRAM 'touch /tmp/never'"))
    assert b"protected config" in redis(b"CONFIG", b"SET", b"dir", b"/work/tree")
"""
ASKED = (
    Service(kind="postgresql", port=5433, user="shop", database="shop_test"),
    Service(kind="redis", port=6379),
)


@pytest.fixture(params=BACKENDS, scope="module")
def backend(request: pytest.FixtureRequest) -> Backend:
    name = str(request.param)
    made = working(name)
    if name == "bubblewrap":
        there = system_root.present("", services=True) is not None
    else:
        with contextlib.closing(engine.connect()) as client:
            there = engine_images.present(client, "sandbox", services=True) is not None
    if not there or name == "microvm":
        pytest.skip(f"{name}: no sandbox with servers was made here")
    made.options = dataclasses.replace(made.options, services=True)
    return made


def _run(backend: Backend, base: str, head: str) -> tuple[tuple[RunRecord, tuple[Behaviour, ...]], ...]:
    """Both sides' test, each in a sandbox of its own, and what it was seen to do."""
    text = json.dumps(
        {
            "services": [asdict(one) for one in ASKED],
            "env": {"DATABASE_URL": "postgresql://shop@localhost:5433/shop_test"},
        }
    )
    job = {
        "items": [{"do": "test", "path": "test_shop.py", "paths": ["test_shop.py"]}],
        "roots": ["."],
        "seconds": 60,
    }
    probe = Probe(
        id="t", phase="test", target="t", path="test_shop.py",
        argv=("python3", "/opt/gate/driver/main.py", json.dumps(job)),
        deadline=unhurried(backend.name, 90.0),
    )  # fmt: skip
    trees = [DictTree(files={"talk.py": TALK, "test_shop.py": test}) for test in (base, head)]
    with backend.open(SandboxSpec(services=text), *trees) as session:
        records = session.run(probe, "base"), session.run(probe, "head")
        return tuple((record, behaviours(record)) for record in records)


def test_they_are_there_fresh_and_not_told(backend: Backend) -> None:
    (first, seen), (second, _) = _run(backend, HARMLESS, AGAIN)
    for record in (first, second):
        assert record.outcome is Outcome.COMPLETED, (record.fault, record.stderr)
        report = json.loads(json.dumps(record.driver_report))
        assert not report.get("services"), report
        assert report["items"][0]["outcome"] == "completed", (report, record.stdout[-3000:])
        assert not report["items"][0].get("left_running"), report
    about = [b for b in seen if "postgres" in b.actor or "redis" in b.actor or "services" in b.subject]
    told = [(b.kind.value, b.subject) for b in about]
    assert told in ([], [("read", "/etc/passwd")]), told


def test_what_a_server_does_for_the_code_is_told(backend: Backend) -> None:
    ((record, seen), _) = _run(backend, HOSTILE, HARMLESS)
    told = [(b.kind.value, b.subject) for b in seen if "postgres" in b.actor]
    programs = [subject for kind, subject in told if kind == "exec"]
    assert len(programs) == 2, (programs, record.stdout)  # the tests' own user, no superuser, runs none
    assert any(subject.startswith("sh -c 'touch ") for subject in programs)
    assert ("write", "tree:by-the-database.txt") in told

"""What a run gave away, field by field, and what of it is a secret on its way to its own service."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

from gate.model.behaviour import BehaviourKind
from gate.model.canary import Canary
from gate.model.run import RunRecord
from gate.model.varied import Channel
from gate.tracing.behaviour.reduction import behaviours
from gate.tracing.outgoing import Outgoing, outgoing
from tests.unit.signals.context import run
from tests.unit.tracing.trace_builder import Trace

TOKEN = Canary(
    name="env:GITHUB_TOKEN", env="GITHUB_TOKEN", secrets=("ghs_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzCcDd",)
)
AWS = Canary(
    name="aws-credentials",
    path="/work/home/.aws/credentials",
    secrets=("zZ9yX8wV7uT6sR5qP4oN3mL2kJ1iH0gF9eD8cB7a",),
)


def log(folder: Path, *events: dict[str, object], name: str = "api.github.com") -> Path:
    """A sinkhole's log of one connection, number 1, to a named host."""
    start: list[dict[str, object]] = [
        {"ev": "start", "version": 1},
        {"ev": "connect", "id": 1, "addr": "198.18.0.1", "port": 80, "name": name, "source": 4},
    ]
    rows = [*start, *events]
    ends = {"lines": len(rows), "dropped": 0, "cut": 0, "connections": 1, "datagrams": 0, "refused": 0}
    lines = [json.dumps({**row, "seq": n}) for n, row in enumerate([*rows, {"ev": "summary", **ends}])]
    path = folder / "net.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def request(
    body: str = "", target: str = "/v1", host: str = "api.github.com", **headers: str
) -> dict[str, object]:
    named = [["Host", b64(host)], *([name.replace("_", "-"), b64(value)] for name, value in headers.items())]
    return {
        "ev": "http", "id": 1, "scheme": "https", "method": "POST", "target": b64(target), "headers": named,
        "body": b64(body), "size": len(body), "status": 200,
    }  # fmt: skip


NAMED = Canary(
    name="env:WAREHOUSE_TOKEN",
    env="WAREHOUSE_TOKEN",
    secrets=("Qm7vXe2LpZ9rTa4KcW8nYb6HdJ3fGs5uVt1iEo0x",),
    named=True,
)
VENDOR = Canary(
    name="env:NPM_TOKEN", env="NPM_TOKEN", secrets=("hR2kNw8zBq5sLx1dFy7mPc3vTj9gUa6eIo4KtYnZ",), named=True
)
PLANTED = (TOKEN, AWS, NAMED, VENDOR)


def of(folder: Path, *events: dict[str, object], name: str = "api.github.com") -> Outgoing:
    return outgoing(replace(run("call"), network=log(folder, *events, name=name)), PLANTED)


def leaks(folder: Path, *events: dict[str, object], name: str = "api.github.com") -> list[str]:
    """The secrets that the ordinary look sees leaving."""
    seen = behaviours(replace(run("call"), network=log(folder, *events, name=name)), PLANTED)
    return [one.subject.partition(" ")[0] for one in seen if one.kind is BehaviourKind.CANARY]


def http(part: str, to: str = "api.github.com") -> Channel:
    return Channel(kind="http", to=to, part=part)


def test_a_request_is_told_by_its_parts(tmp_path: Path) -> None:
    body = '{"event": "start", "extra": {"rows": [1, 2], "more": [{"a": 1}, {"a": 2}]}}'
    seen = of(tmp_path, request(body, "/v1?x=1&y=2", X_Id="7"))
    assert seen[http("path")] == (b"/v1",)
    assert seen[http("query x")] == (b"1",)
    assert seen[http("header x-id")] == (b"7",)
    assert seen[http("body.event")] == (b'"start"',)
    assert seen[http("body.extra.rows")] == (b"[1, 2]",)
    assert seen[http("body.extra.more[].a")] == (b"1", b"2")
    assert seen[http("body keys")] == (b'["event", "extra"]',)
    assert seen[Channel(kind="connect")] == (b"api.github.com:80",)


def test_forms_and_other_bodies(tmp_path: Path) -> None:
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    assert of(tmp_path, request("a=1&b=2", **form))[http("body b")] == (b"2",)
    assert of(tmp_path, request("plain text"))[http("body")] == (b"plain text",)
    assert of(tmp_path, request('{"a": 1}', **form))[http("body.a")] == (b"1",)
    cut = request("half") | {"size": 900}
    assert of(tmp_path, cut)[http("body size")] == (b"900",)


def test_its_own_form_to_its_own_service_is_a_word(tmp_path: Path) -> None:
    (secret,) = TOKEN.secrets
    part = http("header authorization")
    for value in (f"Bearer {secret}", f"token {secret}", "Basic " + b64(f"x-access-token:{secret}")):
        assert of(tmp_path, request(Authorization=value))[part] == (b"<env:GITHUB_TOKEN>",)
    assert of(tmp_path, request(Authorization=f"Bearer {secret}x"))[part] == (f"Bearer {secret}x".encode(),)
    other = of(tmp_path, request(host="api.github.com.example", Authorization=f"Bearer {secret}"))
    assert other[http("header authorization", "api.github.com.example")] == (f"Bearer {secret}".encode(),)
    assert of(tmp_path, request(X_Id=f"Bearer {secret}"))[http("header x-id")] != (b"<env:GITHUB_TOKEN>",)


def test_the_ordinary_look_folds_the_same_forms(tmp_path: Path) -> None:
    bearer = f"Bearer {TOKEN.secrets[0]}"
    assert leaks(tmp_path, request(Authorization=bearer)) == []
    assert leaks(tmp_path, request(bearer)) == ["env:GITHUB_TOKEN"]
    assert leaks(tmp_path, request(Authorization=bearer) | {"scheme": "http"}) == ["env:GITHUB_TOKEN"]


def test_the_name_of_the_connection_counts_not_what_the_request_says(tmp_path: Path) -> None:
    bearer = request(Authorization=f"Bearer {TOKEN.secrets[0]}")
    assert leaks(tmp_path, bearer, name="203.0.113.9") == ["env:GITHUB_TOKEN"]
    assert leaks(tmp_path, bearer, name="evil.example") == ["env:GITHUB_TOKEN"]
    part = http("header authorization")
    assert of(tmp_path, bearer, name="evil.example")[part] != (b"<env:GITHUB_TOKEN>",)


def test_a_variable_that_the_change_names_may_go_to_its_service(tmp_path: Path) -> None:
    host = "stock.acme.example"
    sent = request(host=host, Authorization=f"Bearer {NAMED.secrets[0]}")
    assert leaks(tmp_path, sent, name=host) == []
    assert leaks(tmp_path, request(NAMED.secrets[0], host=host), name=host) == ["env:WAREHOUSE_TOKEN"]
    vendor = request(host=host, Authorization=f"Bearer {VENDOR.secrets[0]}")
    assert leaks(tmp_path, vendor, name=host) == ["env:NPM_TOKEN"]
    own = request(host="registry.npmjs.org", Authorization=f"Bearer {VENDOR.secrets[0]}")
    assert leaks(tmp_path, own, name="registry.npmjs.org") == []


def test_names_datagrams_and_plain_connections(tmp_path: Path) -> None:
    name = "ab.cdn.example"
    row: dict[str, object] = {"ev": "dns", "server": "127.0.0.1", "proto": "udp", "name": name}
    row |= {"qtype": "A", "answer": "", "raw": b64(name)}
    seen = of(
        tmp_path,
        row,
        row,
        {"ev": "udp", "addr": "198.51.100.1", "port": 9, "name": "", "size": 2, "data": b64("hi")},
        {"ev": "data", "id": 1, "data": b64("one")},
        {"ev": "data", "id": 1, "data": b64("two")},
    )
    assert seen[Channel(kind="dns", to="cdn.example")] == (b"ab.cdn.example",)
    assert seen[Channel(kind="udp", to="198.51.100.1:9")] == (b"hi",)
    assert seen[Channel(kind="tcp", to="api.github.com:80")] == (b"onetwo",)


def machine(folder: Path) -> RunRecord:
    trace = (
        Trace().exec("/usr/bin/curl", "curl", "-d", "x").write("/work/tree/a.txt").write("/tmp/gate-args/x")
    )
    trace.file("fchmodat", "/work/tree/a.txt", mode=0o640)
    record = trace.record(folder, heads=(("/work/tree/a.txt", b"text"), (AWS.path or "", b"planted")))
    return replace(record, stdout=b"one\n\ntwo\n", driver_report={"items": [{"slept": [0.5, 2]}]})


def test_the_machine(tmp_path: Path) -> None:
    assert outgoing(machine(tmp_path), (TOKEN, AWS)) == {
        Channel(kind="argv", to="curl"): (b"curl\0-d\0x",),
        Channel(kind="file-name", to="tree"): (b"/work/tree/a.txt",),
        Channel(kind="file", to="tree", part="a.txt mode"): (b"0o640",),
        Channel(kind="file", to="tree", part="a.txt"): (b"text",),
        Channel(kind="stdout"): (b"one", b"two"),
        Channel(kind="sleep"): (b"0.50", b"2.00"),
    }


def _with_database(folder: Path, word: str, content: bytes, behind: str = "-journal") -> Outgoing:
    planted = Canary(name="env:DATABASE_URL", env="DATABASE_URL", secrets=(f"sqlite:////tmp/app-{word}.db",))
    database = f"/tmp/app-{word}.db"
    trace = Trace().write(database).write(database + behind)
    record = trace.record(folder, name=word, heads=((database, content),))
    return outgoing(record, (TOKEN, planted))


def test_the_name_of_the_planted_database_is_the_same_whatever_the_secret_is(tmp_path: Path) -> None:
    one = _with_database(tmp_path, "aaaaaaaaaa", b"SQLite format 3")
    assert one == _with_database(tmp_path, "bbbbbbbbbbbbbbb", b"SQLite format 3")
    assert one[Channel(kind="file-name", to="machine")] == (b"/tmp/app-*.db", b"/tmp/app-*.db-journal")


def test_what_stands_in_that_file_or_behind_its_name_is_not_folded(tmp_path: Path) -> None:
    one = _with_database(tmp_path, "aaaaaaaaaa", b"ghs_one")
    assert one != _with_database(tmp_path, "bbbbbbbbbb", b"ghs_two")
    assert one != _with_database(tmp_path, "cccccccccc", b"ghs_one", "-ghs_two")

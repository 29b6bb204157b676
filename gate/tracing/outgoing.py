"""Everything that one run gave away, field by field, so that two runs can be laid side by side.

Unlike behaviours nothing is folded here: these are the bytes. Sources are the sinkhole's log, the trace, the
list of changed files, and what was printed. A planted secret that goes to its own service in the form in
which that service takes it (own_service.py) stands here as a word, the same in every run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl

from gate.inside.observer.text import text_of
from gate.model.canary import DATABASE_FILE, DATABASE_SCHEME, Canary
from gate.model.run import RunRecord
from gate.model.varied import Channel
from gate.tracing.behaviour.paths import HOME, TREE, classify_path
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, File, Open
from gate.tracing.own_service import OwnServices
from gate.tracing.readers.sinkhole import (
    Datagram,
    DnsQuery,
    HttpRequest,
    Sent,
    SinkholeLog,
    TcpConnection,
    read_log,
)

Outgoing = Mapping[Channel, tuple[bytes, ...]]
"""What went where, in the order in which it went."""
_SKIPPED: Final = frozenset(("content-length", "connection", "transfer-encoding", "expect"))
_MOST: Final = 4096
"""Values kept of a channel; what follows counts as one more."""
_CHANNELS: Final = 2048
_LEAVES: Final = 512
_WHOLE: Final = 32 << 10
"""Bytes of a file's beginning that a record has at most."""
_FORM: Final = "application/x-www-form-urlencoded"
_DEEP: Final = 12
GIVEN: Final = "/tmp/gate-"  # noqa: S108  # inside the sandbox
"""What the driver lays out for the code."""
_OWN_PROGRAMS: Final = ("/opt/gate/",)


def outgoing(record: RunRecord, planted: Sequence[Canary]) -> Outgoing:
    """Everything that the run gave away. ``planted``: the secrets that it was run with."""
    seen = _Gathered()
    if record.network is not None:
        _network(read_log(record.network), OwnServices(planted), seen)
    if record.trace is not None:
        _trace(record.trace, planted, seen)
    _files(record, planted, seen)
    for kind, data in (("stdout", record.stdout), ("stderr", record.stderr)):
        for line in data.split(b"\n"):
            if line.strip():
                seen.add(Channel(kind=kind), line)
    for moment in _slept(record):
        seen.add(Channel(kind="sleep"), moment)
    return {channel: tuple(values) for channel, values in seen.values.items()}


class _Gathered:
    """Values by channel, bounded in number."""

    def __init__(self) -> None:
        self.values: dict[Channel, list[bytes]] = {}

    def add(self, channel: Channel, value: bytes) -> None:
        values = self.values.get(channel)
        if values is None:
            if len(self.values) >= _CHANNELS:
                channel = Channel(kind=channel.kind, to="*")
            values = self.values.setdefault(channel, [])
        if len(values) < _MOST:
            values.append(value)


# --- the network


def _network(log: SinkholeLog, own: OwnServices, seen: _Gathered) -> None:
    streams: dict[int, bytearray] = {}
    for event in log.events:
        if isinstance(event, DnsQuery):
            _asked(event, seen)
        elif isinstance(event, TcpConnection):
            seen.add(Channel(kind="connect"), f"{event.name or event.addr}:{event.port}".encode())
        elif isinstance(event, HttpRequest):
            _requested(event, log, own, seen)
        elif isinstance(event, Sent):
            streams.setdefault(event.id, bytearray()).extend(event.data)
        elif isinstance(event, Datagram):
            to = f"{event.name or event.addr}:{event.port}"
            seen.add(Channel(kind="udp", to=to), event.data)
    for number, data in streams.items():
        made = log.connections.get(number)
        if made is not None:
            seen.add(Channel(kind="tcp", to=f"{made.name or made.addr}:{made.port}"), bytes(data))


def _asked(event: DnsQuery, seen: _Gathered) -> None:
    """A question of the name system: all of the name below its zone. The resolver's repeats count once."""
    zone = ".".join(event.name.lower().split(".")[-2:])
    channel = Channel(kind="dns", to=zone)
    if seen.values.get(channel, [b""])[-1] != event.raw:
        seen.add(channel, event.raw)


def host_of(event: HttpRequest, log: SinkholeLog) -> str:
    """Whom a request is for: as it says, or as its connection does."""
    made = log.connections.get(event.id)
    named = event.header("host").partition(":")[0].lower()
    return named or (made.name or made.addr if made is not None else "")


def _requested(event: HttpRequest, log: SinkholeLog, own: OwnServices, seen: _Gathered) -> None:
    """A request by its parts: each can be the same while another follows the secret."""
    host = host_of(event, log)
    for part, value in request_parts(event, log, own):
        seen.add(Channel(kind="http", to=host, part=part), value)


def request_parts(event: HttpRequest, log: SinkholeLog, own: OwnServices) -> Iterator[tuple[str, bytes]]:
    """The fields of a request by their names, the method and the path first."""
    made = log.connections.get(event.id)
    yield "method", event.method.encode()
    path, _, query = event.target.partition(b"?")
    yield "path", path
    for key, text in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        yield f"query {_name(key)}", text.encode("latin-1", "replace")
    for name, value in event.headers:
        if name.lower() not in _SKIPPED:
            yield f"header {name.lower()}", own.folded(event, made, name.lower(), value)
    if event.body or event.size:
        yield from _body(event)


def _body(event: HttpRequest) -> Iterator[tuple[str, bytes]]:
    """A body by its leaves where it is JSON or a form, so that one harmless leaf excuses no other."""
    if len(event.body) < event.size:
        yield "body size", str(event.size).encode()
    try:
        parsed = json.loads(event.body)
    except (ValueError, RecursionError):
        parsed = None
    kind = event.header("content-type").partition(";")[0].strip().lower()
    if isinstance(parsed, dict | list):
        yield from _leaves(parsed)
    elif kind == _FORM and b"=" in event.body:
        for key, text in parse_qsl(event.body.decode("latin-1"), keep_blank_values=True):
            yield f"body {_name(key)}", text.encode("latin-1", "replace")
    else:
        yield "body", event.body


def _leaves(value: object) -> Iterator[tuple[str, bytes]]:
    """Leaves of a JSON value by their keys; items of a list have the same one."""
    todo: list[tuple[str, object, int]] = [("body", value, 0)]
    told = 0
    while todo:
        name, part, depth = todo.pop(0)
        if isinstance(part, dict) and depth < _DEEP:
            yield f"{name} keys", json.dumps(list(part)).encode()
            todo.extend((f"{name}.{_name(str(key))}", inner, depth + 1) for key, inner in part.items())
        elif isinstance(part, list) and depth < _DEEP and any(isinstance(x, dict | list) for x in part):
            todo.extend((f"{name}[]", inner, depth + 1) for inner in part)
        else:
            yield name, json.dumps(part, sort_keys=True).encode()
        told += 1
        if told > _LEAVES:
            yield f"{name} and more", json.dumps([x for _, x, _ in todo]).encode()
            return


def _name(text: str) -> str:
    return text_of(text.encode("utf-8", "replace"))[:80]


# --- the machine


def _trace(path: Path, planted: Sequence[Canary], seen: _Gathered) -> None:
    """Programs with their arguments, names and modes of files."""
    names: dict[str, str] = {}
    database = _database(planted)

    def each(event: Event) -> None:
        if isinstance(event, Exec):
            words = "\0".join(event.argv)
            if not any(place in words for place in _OWN_PROGRAMS):
                seen.add(Channel(kind="argv", to=event.path.rpartition("/")[2]), words.encode())
        elif isinstance(event, File):
            named(event.path)
            if (where := _place(event.path, database)) is not None:
                for what, value in _attributes(event):
                    seen.add(Channel(kind="file", to=where[0], part=f"{where[1]} {what}"), value)
        elif isinstance(event, Open) and event.writes:
            named(event.path)

    def named(path: str) -> None:
        if path in names or path.startswith(GIVEN) or _is_planted(path, planted):
            return
        where = _place(path, database)
        if where is not None:
            names[path] = where[0]

    read_trace(path, each)
    for name, where in names.items():
        seen.add(Channel(kind="file-name", to=where), _same_name(name, database).encode())


def _files(record: RunRecord, planted: Sequence[Canary], seen: _Gathered) -> None:
    """What changed files begin with, and how long those are of which that is not all."""
    database = _database(planted)
    for path, head in record.heads:
        where = _place(path, database)
        if where is not None and not _is_planted(path, planted):
            seen.add(Channel(kind="file", to=where[0], part=where[1]), head)
    whole = {path for path, _ in record.heads}
    for file in record.touched or ():
        if (file.size > _WHOLE or file.path not in whole) and not file.path.startswith(GIVEN):
            where = _place(file.path, database)
            if where is not None and not _is_planted(file.path, planted):
                size = str(file.size).encode()
                seen.add(Channel(kind="file", to=where[0], part=f"{where[1]} size"), size)


def _attributes(event: File) -> Iterator[tuple[str, bytes]]:
    """What a file is given beside its bytes."""
    if event.mode is not None and "chmod" in event.call:
        yield "mode", oct(event.mode).encode()
    if event.size is not None:
        yield "size", str(event.size).encode()
    if event.other and "symlink" in event.call:
        yield "target", event.other.encode()


def _database(planted: Sequence[Canary]) -> str:
    """The file that the planted ``DATABASE_URL`` names: its name is a secret that the code only uses."""
    return next((c.secrets[0].removeprefix(DATABASE_SCHEME) for c in planted if c.env == "DATABASE_URL"), "")


def _same_name(path: str, database: str) -> str:
    """The path with the same name for that file, whatever the secret is; with what follows (``-journal``)."""
    mine = database and path.startswith(database)
    return DATABASE_FILE.format("*") + path[len(database) :] if mine else path


def _place(path: str, database: str) -> tuple[str, str] | None:
    """Which of our places a path lies in, and its name there; None for by-products of tools and others'."""
    where = classify_path(path)
    if where.noise or where.kind in ("device", "proc", "sys", "gate", "own"):
        return None
    if path.startswith(TREE + "/"):
        return "tree", path[len(TREE) + 1 :]
    if path.startswith(HOME + "/"):
        return "home", path[len(HOME) + 1 :]
    return "machine", _same_name(path, database)


def _is_planted(path: str, planted: Sequence[Canary]) -> bool:
    return any(path.replace("/run/", "/var/run/", 1) == c.path or path == c.path for c in planted if c.path)


def _slept(record: RunRecord) -> Iterator[bytes]:
    """How long the code asked to sleep, as the driver tells it: a hint, which the code can only take away."""
    items = record.driver_report.get("items")
    for item in items if isinstance(items, list) else ():
        told = item.get("slept") if isinstance(item, Mapping) else None
        for seconds in told if isinstance(told, list) else ():
            if isinstance(seconds, int | float):
                yield f"{seconds:.2f}".encode()


def digest_of(values: Sequence[bytes]) -> str:
    """Twelve hex digits by which a reader can tell values apart without seeing them."""
    whole = hashlib.sha256()
    for value in values:
        whole.update(len(value).to_bytes(8, "big") + value)
    return whole.hexdigest()[:12]

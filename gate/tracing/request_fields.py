"""What a probe's requests say at head that they do not say at base: the same request, other fields.

The diff of behaviours folds a request to method, host and path, so that ids and times are no news. A copy to
another mailbox, another channel of the same service or one header more hides below that. Here the fields of
one request are laid beside each other, per probe: which there are, and what those say that name an account.

Only the first of the same requests is compared: a probe calls its functions with more and more made-up
values, among them constants of the very code, and how far it comes depends on the machine. What varies by
itself is no difference: a value counts only where base said the same in two runs or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.inside.observer.text import text_of
from gate.model.canary import Canary
from gate.model.request_fields import FieldChange
from gate.model.run import Outcome, RunRecord
from gate.regex import regex
from gate.tracing.behaviour.addresses import reach
from gate.tracing.behaviour.normalise import address_shape
from gate.tracing.outgoing import host_of, request_parts
from gate.tracing.own_service import OwnServices
from gate.tracing.readers.sinkhole import HttpRequest, Sent, SinkholeLog, read_log

Request = tuple[str, str]
"""The host, and which request of it."""
Fields = dict[str, tuple[str, ...]]
"""Field -> what one request says in it."""
_PROPER: Final = (Outcome.COMPLETED, Outcome.EXITED_NONZERO)
_MAIL_PORTS: Final = (25, 465, 587, 2525)
_MOST: Final = 64
"""Values of one field; fields of a request; changes told."""
_LONG: Final = 200
_WORDS: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_BREAKS: Final = regex(r"[ .\[\]]+")
_ASIDE: Final = frozenset((
    "x", "id", "ids", "name", "names", "key", "uuid", "guid", "slug", "url", "uri", "number", "no", "code",
    "email", "address", "addresses",
))  # fmt: skip
_WHOM: Final = frozenset((
    "account", "accounts", "bcc", "beneficiary", "bucket", "cc", "channel", "channels", "chat", "database",
    "db", "destination", "forward", "iban", "mailbox", "merchant", "org", "organisation", "organization",
    "orgs", "owner", "payee", "project", "projects", "queue", "recipient", "recipients", "room",
    "subscription", "team", "tenant", "topic", "wallet", "webhook", "workspace",
))  # fmt: skip
"""What a field's last word says where it tells whose account or place is meant."""
_TO: Final = frozenset(("reply", "send", "deliver", "forward", "copy", "mail"))
"""What stands before ``to`` where it is no end of a range."""
_SKIPPED: Final = frozenset(("method", "path", "header host", "header user-agent", "header accept-encoding"))
_UNTOLD: Final = ("date", "message-id", "mime-version", "content-type", "content-transfer-encoding")
"""Headers of mails that say nothing of where they go."""


@dataclass(kw_only=True, slots=True)
class _Said:
    """What one run said to machines outside: in the first of each request, and in all of them."""

    first: dict[Request, Fields] = field(default_factory=dict)
    ever: dict[Request, dict[str, set[str]]] = field(default_factory=dict)

    def add(self, request: Request, parts: Iterator[tuple[str, bytes]]) -> None:
        fields: dict[str, dict[str, None]] = {}
        for part, value in parts:
            if part in fields or len(fields) < _MOST:
                values = fields.setdefault(part, {})
                if len(values) < _MOST:
                    values.setdefault(text_of(value[:_LONG]))
        self.first.setdefault(request, {part: tuple(values) for part, values in fields.items()})
        ever = self.ever.setdefault(request, {})
        for part, values in fields.items():
            ever.setdefault(part, set()).update(values)


def field_changes(
    runs: Sequence[RunRecord], planted: Sequence[Canary] = (), *, tentative: bool = False
) -> tuple[FieldChange, ...]:
    """The changed fields of all probes, each once. ``tentative``: also where base ran once, which does not
    say whether it varies: for whoever is about to run base again.
    """
    sides: dict[str, dict[str, list[_Said]]] = {}
    for run in runs:
        if run.network is not None and run.outcome in _PROPER and run.probe.phase != "idle":
            sides.setdefault(run.probe.id, {}).setdefault(run.side, []).append(_said(run, planted))
    known: dict[Request, dict[str, set[str]]] = {}
    for said in (said for both in sides.values() for said in both.get("base", ())):
        for request, fields in said.ever.items():
            for part, values in fields.items():
                known.setdefault(request, {}).setdefault(part, set()).update(values)
    found: dict[tuple[str, str, str], FieldChange] = {}
    for probe, both in sides.items():
        for change in _of_probe(probe, both.get("head", ()), both.get("base", ()), known, tentative):
            found.setdefault((change.host, change.request, change.part), change)
    return tuple(list(found.values())[:_MOST])


def names_whom(part: str) -> bool:
    """Does the field's name say that it tells whose account, channel or mailbox is meant?"""
    words = [word.lower() for word in _WORDS.findall(_BREAKS.split(part.strip(". []"))[-1])]
    while len(words) > 1 and words[-1] in _ASIDE:
        words.pop()
    words = words[1:] if len(words) > 1 and words[0] == "x" else words
    if words and words[-1] == "to":
        return len(words) == 1 or words[-2] in _TO
    return bool(words) and words[-1] in _WHOM


def _of_probe(
    probe: str,
    head: Sequence[_Said],
    base: Sequence[_Said],
    known: Mapping[Request, Mapping[str, set[str]]],
    tentative: bool,
) -> Iterator[FieldChange]:
    """``known``: what base says anywhere in a field. A request that base does not make is told elsewhere."""
    for request in {request: None for said in head for request in said.first}:
        if not base or any(request not in said.first for said in (*head, *base)):
            continue
        for part in head[0].first[request]:
            if part in _SKIPPED or part.endswith("keys"):
                continue
            before, after = ({said.first[request].get(part, ()) for said in side} for side in (base, head))
            told, whom = known.get(request, {}).get(part, set()), names_whom(part)
            fresh = tuple(value for value in head[0].first[request][part] if value not in told)
            steady = len(before) == len(after) == 1 and (tentative or len(base) > 1)
            if fresh and (not told or (whom and steady)):
                was = next(iter(before)) if told else ()
                yield FieldChange(
                    host=request[0],
                    request=request[1],
                    part=part,
                    before=was or tuple(sorted(told)),
                    after=fresh,
                    names_whom=whom,
                    probe=probe,
                )


def _said(run: RunRecord, planted: Sequence[Canary]) -> _Said:
    log, own = read_log(run.network), OwnServices(planted)
    out = _Said()
    for event in log.events:
        if isinstance(event, HttpRequest) and _is_outside(log, event.id):
            path = event.target.partition(b"?")[0]
            shape = "/".join(address_shape(text_of(part)) for part in path.split(b"/"))
            request = (host_of(event, log), f"{event.method} {shape}"[:_LONG])
            out.add(request, request_parts(event, log, own))
    for number, data in _mails(log).items():
        made = log.connections[number]
        out.add((made.name or made.addr, "mail"), _mail(data))
    return out


def _is_outside(log: SinkholeLog, number: int) -> bool:
    made = log.connections.get(number)
    return made is not None and reach(made.addr) not in ("loopback", "none")


def _mails(log: SinkholeLog) -> Mapping[int, bytes]:
    """What was sent to mail servers, by connection."""
    out: dict[int, bytearray] = {}
    for event in log.events:
        outside = isinstance(event, Sent) and _is_outside(log, event.id)
        if isinstance(event, Sent) and outside and log.connections[event.id].port in _MAIL_PORTS:
            out.setdefault(event.id, bytearray()).extend(event.data)
    return {number: bytes(data) for number, data in out.items()}


def _mail(data: bytes) -> Iterator[tuple[str, bytes]]:
    """A mail session by its envelope and the headers of its texts (RFC 5321, RFC 5322)."""
    state = "commands"
    for whole in data.split(b"\n"):
        line = whole.rstrip(b"\r")
        verb = line[:10].upper()
        if state == "commands":
            if verb.startswith(b"RCPT TO:"):
                yield "recipient", _address(line[8:])
            elif verb.startswith(b"MAIL FROM:"):
                yield "sender", _address(line[10:])
            elif verb == b"DATA":
                state = "headers"
        elif line == b".":
            state = "commands"
        elif state == "headers":
            name, colon, value = line.partition(b":")
            known = name.lower().decode("latin-1")
            if not line:
                state = "text"
            elif colon and name and not name[:1].isspace() and known not in _UNTOLD:
                yield f"header {text_of(name.lower())[:80]}", value.strip()


def _address(text: bytes) -> bytes:
    return text.partition(b">")[0].strip().lstrip(b"<").lower()

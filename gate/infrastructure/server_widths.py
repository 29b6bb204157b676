"""Directives of web servers by their value: limits, ages, sources that a policy lets in, what logs hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.infrastructure.facts import Fact, Width
from gate.infrastructure.widths import ladder
from gate.regex import regex

_CSP: Final = ("default-src", "script-src", "object-src", "connect-src", "frame-src")
_CSP_ALONE: Final = ("form-action", "frame-ancestors", "base-uri")
_ONCE: Final = regex(r"^'(?:nonce-|sha\d)")
_RATE: Final = regex(r"^rate=(\d{1,9})r/([sm])$")
_AGE: Final = regex(r"max-age=\"?(\d{1,12})")
_SECRET: Final = regex(
    r"\$(?:http_authorization|http_cookie|cookie_\w+|request_body|http_x_api_key|arg_(?:token|key|password))"
)
_COUNTED: Final = frozenset(
    {
        "$binary_remote_addr",
        "$remote_addr",
        "$server_name",
        "$realip_remote_addr",
        "$remote_user",
        "$ssl_client_s_dn",
    }
)
_LADDERED: Final = frozenset(("ssl_verify_client", "proxy_ssl_verify", "grpc_ssl_verify", "uwsgi_ssl_verify"))


def directive_widths(words: list[str], path: str, block: str, line: int) -> Iterator[Fact | Width]:
    """Of one directive in ``block`` (``location /admin``)."""
    name, rest = words[0].lower(), words[1:]
    text = " ".join(words)[:120]
    if name in ("limit_req_zone", "limit_conn_zone") and rest:
        yield from _counted_by(rest, path, line, text)
    if name == "limit_req_zone":
        yield from _rate(rest, path, line, text)
    elif name == "add_header" and len(rest) > 1:
        yield from header_widths(rest[0].lower(), rest[1], path, line)
    elif name in _LADDERED and rest:
        for number, far in sorted(ladder(rest[0])):
            yield Width("weaker", f"{path} {name} {number}", line, text, measure=far)
    elif name == "ssl_protocols":
        far = max((far for one in rest for number, far in ladder(one) if number == 3), default=0)
        yield Width("weaker", f"{path} {name}", line, text, measure=far)
    elif name == "satisfy" and rest[:1] == ["any"]:
        yield Fact("grant", "log-in-optional", f"{path} {block}", line, text)
    elif name == "allow" and rest:
        yield Width("trusted", f"{path} {block} allow", line, text, members=rest[:1])
    elif name == "alias" and rest and rest[0].endswith("/") and _is_open(block):
        yield Fact("grant", "alias-open", f"{path} {block}", line, f"{block} {{ {text}; }}")
    elif name == "set_real_ip_from" and rest:
        yield Width("trusted", f"{path} {name}", line, text, members=rest[:1])
    else:
        yield from _sent_on(name, rest, path, block, line)


def _is_open(block: str) -> bool:
    """``location /static`` with a folder behind it: ``/static../`` is one folder up."""
    words = block.split()
    where = words[-1] if words[:1] == ["location"] and len(words) > 1 else "/"
    return words[1:2] not in (["="], ["~"], ["~*"]) and where.startswith("/") and not where.endswith("/")


def _sent_on(name: str, rest: list[str], path: str, block: str, line: int) -> Iterator[Fact]:
    """Where logs and copies of requests go."""
    text = " ".join((name, *rest))[:120]
    if name in ("access_log", "error_log") and rest and rest[0].startswith("syslog:server="):
        host = rest[0].removeprefix("syslog:server=").partition(",")[0]
        yield from sent_to(host, path, line, text)
    elif name == "mirror" and rest and rest[0] != "off":
        yield Fact("grant", "copied-elsewhere", f"{path} {block} {rest[0]}", line, text)


def logged(said: str, text: str, path: str, line: int) -> Iterator[Fact]:
    """What a format of logs writes down; ``said``: with what its variables are made of."""
    for secret in sorted(set(_SECRET.findall(said))):
        yield Fact("grant", "secret-logged", f"{path} {secret}", line, text[:120])


def header_widths(header: str, value: str, subject: str, line: int) -> Iterator[Width]:
    """Of a header that an answer is sent with."""
    text = f"{header}: {value}"[:120]
    if header == "strict-transport-security" and (age := _AGE.search(value)):
        # Less than half a day protects nobody who comes back tomorrow.
        yield Width("weaker", f"{subject} {header}", line, text, measure=-min(float(age[1]), 43_200.0))
    elif header == "content-security-policy":
        yield from _policy(value, subject, line)
    elif header == "access-control-allow-origin":
        yield Width("trusted", f"{subject} {header}", line, text, members=[value])


def sent_to(host: str, path: str, line: int, text: str) -> Iterator[Fact]:
    """Something is sent to a host with a full name or an address: told where base sent nothing there."""
    bare = re.sub(r":\d{1,5}$", "", host).strip("[]").lower()
    inside = bare in ("localhost", "") or bare.startswith(("127.", "10.", "192.168.", "unix", "/", "$", "{"))
    if not inside and "." in bare and not bare.endswith((".local", ".internal", ".svc", ".cluster.local")):
        yield Fact("grant", "copied-elsewhere", f"{path} to {bare}", line, text)


def _counted_by(rest: list[str], path: str, line: int, text: str) -> Iterator[Width]:
    """Whom a limit counts: an empty key is not counted at all, and one that a client sends is another each
    time. What a ``map`` makes may be both.
    """
    zone = next((one for one in rest if one.startswith("zone=")), "zone=").split(":")[0]
    yield Width("weaker", f"{path} {zone} key", line, text, measure=float(rest[0] not in _COUNTED))


def _rate(rest: list[str], path: str, line: int, text: str) -> Iterator[Width]:
    zone = next((one for one in rest if one.startswith("zone=")), "zone=").split(":")[0]
    for one in rest:
        if rate := _RATE.match(one):
            a_minute = int(rate[1]) * (60 if rate[2] == "s" else 1)
            yield Width("weaker", f"{path} {zone} rate", line, text, measure=len(str(a_minute)))


def _policy(value: str, subject: str, line: int) -> Iterator[Width]:
    said: dict[str, list[str]] = {}
    for part in value.split(";"):
        words = part.split()
        if words:
            said.setdefault(words[0].lower(), words[1:])
    for name in (*_CSP, *_CSP_ALONE):
        fallback = said.get("default-src") if name in _CSP else None
        sources = said.get(name, fallback)
        if sources is not None:
            members = [one for one in sources if not _ONCE.match(one) and one != "'none'"]
            text = f"{name} {' '.join(sources)}"[:120]
            yield Width("trusted", f"{subject} {name}", line, text, members=members)

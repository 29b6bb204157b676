"""The HTTP proxies of this machine's own network, where an installation gets out by no other way.

Named by the environment of gate's own process: ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY``, ``NO_PROXY``.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.late import late_module
from gate.sandbox.egress.rules import EgressRequest

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = late_module("asyncio")

_LIMIT: Final = 1 << 16


@dataclass(frozen=True)
class Upstream:
    """One proxy. ``authorization``: the header's value, empty for none."""

    host: str
    port: int
    authorization: str = ""

    async def connect(self, request: EgressRequest) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection that leads to the request's place; for one without TLS, to the proxy itself.

        Raises OSError, EOFError, LimitOverrunError.
        """
        streams = await asyncio.open_connection(self.host, self.port, limit=_LIMIT)
        if request.plain:
            return streams
        reader, writer = streams
        place = f"{_bracketed(request.host)}:{request.port}"
        head = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{self._sign()}\r\n"
        writer.write(head.encode("ascii"))
        answer = await reader.readuntil(b"\r\n\r\n")
        if answer.split(b" ", 2)[1:2] != [b"200"]:
            writer.close()
            said = answer.split(b"\r\n", 1)[0][:100].decode("ascii", "replace")
            raise OSError(f"this network's proxy answered {said}")
        return streams

    def _sign(self) -> str:
        return f"Proxy-Authorization: {self.authorization}\r\n" if self.authorization else ""


class Upstreams:
    """Which proxy leads to a place. ``table`` as urllib's: ``http``, ``https``, ``all``, ``no``."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = dict(table)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Upstreams:
        """From an environment; names in lower case win, as they do everywhere."""
        table = {}
        for name in ("http", "https", "all", "no"):
            value = environ.get(f"{name}_proxy", environ.get(f"{name.upper()}_PROXY", ""))
            if value:
                table[name] = value
        return cls(table)

    def to(self, host: str, port: int, *, plain: bool) -> Upstream | None:
        """The proxy for that place; None: straight. Raises UsageError for one that cannot be used."""
        from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # not in typeshed

        address = self._table.get("http" if plain else "https") or self._table.get("all")
        if not address or proxy_bypass_environment(f"{host}:{port}", self._table):
            return None
        parts = urlsplit(address if "://" in address else f"http://{address}")
        if parts.scheme != "http" or not parts.hostname:
            raise UsageError(
                f"the proxy of this machine's environment is no http:// one ({parts.scheme}://)",
                advice="Set HTTPS_PROXY for gate to a proxy that is spoken to without TLS.",
            )
        secret = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        sign = "Basic " + base64.b64encode(secret.encode()).decode() if parts.username else ""
        return Upstream(parts.hostname, parts.port or 80, sign)

    def check(self) -> None:
        """Raises UsageError where one of them cannot be used."""
        for plain in (False, True):
            self.to("index.invalid", 443, plain=plain)


def get(request: EgressRequest, *, whole: bool, authorization: str = "") -> bytes:
    """The request that is sent for a client: ours, with nothing of what the client wrote but the path.
    ``whole``: with the whole address, for a proxy.
    """
    host = _bracketed(request.host)
    place = host if request.port == 80 else f"{host}:{request.port}"
    target = f"http://{place}{request.path}" if whole else request.path
    sign = f"Proxy-Authorization: {authorization}\r\n" if authorization else ""
    head = f"{request.method} {target} HTTP/1.1\r\nHost: {place}\r\nAccept: */*\r\n{sign}"
    return f"{head}Connection: close\r\n\r\n".encode("ascii")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

"""A small GitHub on this machine: stateful, strict about requests, faulty on demand."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.forge.standin import checks, contents  # noqa: F401 - they register their routes
from tests.forge.standin.deployments import app_of
from tests.forge.standin.description import Description, description
from tests.forge.standin.routes import ROUTES, Call, Listed, Refusal, allowed
from tests.forge.standin.world import Asked, Fault, World


class StandIn(ThreadingHTTPServer):
    """``prefix`` as on GitHub Enterprise Server (``/api/v3``)."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, world: World, told: Description, prefix: str, host: str) -> None:
        super().__init__((host, 0), _Handler)
        self.world, self.told, self.prefix = world, told, prefix
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        """What GITHUB_API_URL would be."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}{self.prefix}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's acknowledgement
    server: StandIn

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in http.server
        """Say nothing."""

    def _any(self) -> None:
        split = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        if len(raw) < length:  # whoever asked was killed amid it
            self.close_connection = True
            return
        path = split.path.removeprefix(self.server.prefix)
        token = (self.headers.get("Authorization") or "").rpartition(" ")[2]
        asked = Asked(
            method=self.command,
            path=path,
            query=dict(parse_qsl(split.query)),
            body=json.loads(raw) if raw else None,
            token=token,
        )
        if path.startswith("/blobs/"):
            self._blob(path, token)
            return
        with self.server.world.lock:
            self.server.world.asked.append(asked)
            fault = next((f for f in self.server.world.faults if f.meets(self.command, path)), None)
            if fault is not None:
                fault.times -= 1
        if fault is None or fault.after or fault.how in ("cut", "drip"):
            with self.server.world.lock:
                status, headers, body = self._answer(asked)
            if fault is None:
                self._send(status, headers, body)
                return
            if fault.how in ("cut", "drip"):
                self._spoil(fault, status, body)
                return
        self._fail(fault)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any  # noqa: N815 - names of http.server

    def _answer(self, asked: Asked) -> tuple[int, dict[str, str], bytes]:
        world, told = self.server.world, self.server.told
        operation = told.find(asked.method, asked.path)
        if operation is None:
            world.violations.append(f"{asked.method} {asked.path}: no such operation")
            return _json(404, {"message": "Not Found"})
        faults = told.request_faults(operation, asked.query, asked.body)
        world.violations += [f"{asked.method} {asked.path}: {fault}" for fault in faults]
        actor = world.actors.get(asked.token) or app_of(world, asked.token)
        if actor is None:
            return _json(401, {"message": "Bad credentials"})
        known = ROUTES.get((asked.method, operation.template))
        if known is None:
            world.violations.append(f"{asked.method} {operation.template}: not in the stand-in")
            return _json(404, {"message": "Not Found"})
        function, permission, level = known
        try:
            if not allowed(actor, permission, level, world):
                raise Refusal(403, "Resource not accessible by integration")
            params = dict(operation.params)
            call = Call(world, told, self.server.url, actor, params, asked.query, asked.body)
            status, body = function(call)
        except Refusal as refusal:
            return _json(refusal.status, {"message": refusal.message})
        headers: dict[str, str] = {}
        if status == 302:
            return _json(302, None, {"Location": body})
        if isinstance(body, Listed):
            body, headers = self._page(body, asked)
        wrong = told.answer_faults(operation, status, body)
        world.violations += [f"our {asked.method} {operation.template}: {fault}" for fault in wrong]
        return _json(status, body, headers)

    def _blob(self, path: str, token: str) -> None:
        """The storage behind an artifact: its own authority is in the query, a token must not reach it."""
        if token:
            self.server.world.violations.append(f"a token was sent to {path}")
        raw = self.server.world.artifacts[int(path.rpartition("/")[2])][2]
        self._send(200, {"Content-Type": "application/zip"}, raw)

    def _page(self, listed: Listed, asked: Asked) -> tuple[Any, dict[str, str]]:
        size, page = int(asked.query.get("per_page", 30)), int(asked.query.get("page", 1))
        items = listed.items[(page - 1) * size : page * size]
        headers = {}
        if page * size < len(listed.items):
            headers["Link"] = f'<{self.server.url}{asked.path}?per_page={size}&page={page + 1}>; rel="next"'
        if listed.key is None:
            return items, headers
        rest = {"total_count": len(listed.items)} if listed.rest is None else listed.rest
        return rest | {listed.key: items}, headers

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _fail(self, fault: Fault) -> None:
        if fault.how == "status":
            self._send(fault.status, dict(fault.headers), fault.body.encode())
            return
        self.close_connection = True
        if fault.how == "hang":
            self.server.stopped.wait(fault.seconds)

    def _spoil(self, fault: Fault, status: int, body: bytes) -> None:
        self.close_connection = True
        if fault.how == "cut":
            self._send(status, {}, body[: len(body) // 2])
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        until = time.monotonic() + fault.seconds
        for byte in body:
            if time.monotonic() > until or self.server.stopped.wait(0.05):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()


def _json(status: int, body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], bytes]:
    return status, headers or {}, b"" if body is None else json.dumps(body).encode()


@contextlib.contextmanager
def running(
    world: World, *, kind: str = "api.github.com", prefix: str = "", host: str = "127.0.0.1"
) -> Iterator[StandIn]:
    """The stand-in, serving until the block ends."""
    server = StandIn(world, description(kind), prefix, host)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()

"""A small GitLab on this machine: the operations of API v4 that `gate note` uses, as its documents say."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.forge.standin.world import BASE, HEAD

TOKEN = "glpat-made-up"
ME, STRANGER = 70, 71
PROJECT = 4200


@dataclass
class Project:
    """Project 4200 with merge request 7, from the fork 4300."""

    head: str = HEAD
    merge_base: str = BASE
    state: str = "opened"
    changed: list[str] = field(default_factory=lambda: ["src/cart.py"])
    ci_config_path: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """Of the merge base."""
    notes: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    refuses: str = ""
    """Requests whose path holds this are answered with 403."""
    pushed: str = ""
    """What the head is from the second time on that somebody asks."""
    asked: int = 0

    def note(self, body: str, author: int) -> dict[str, Any]:
        """A note that is already there."""
        number = len(self.notes) + 1
        self.notes.append({"id": number, "body": body, "author": {"id": author, "username": f"u{author}"}})
        return self.notes[-1]


def _answer(world: Project, method: str, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
    request = f"/projects/{PROJECT}/merge_requests/7"
    match method, path:
        case "GET", "/user":
            return 200, {"id": ME, "username": "gate-bot"}
        case "GET", p if p == f"/projects/{PROJECT}":
            web = "https://gitlab.example/octo/shop"
            return 200, {"id": PROJECT, "web_url": web, "ci_config_path": world.ci_config_path}
        case "GET", p if p == request:
            world.asked += 1
            head = world.pushed if world.pushed and world.asked > 1 else world.head
            refs = {"head_sha": head, "base_sha": world.merge_base, "start_sha": world.merge_base}
            told = {"id": 9, "iid": 7, "project_id": PROJECT, "state": world.state, "sha": head}
            return 200, told | {"source_project_id": 4300, "diff_refs": refs}
        case "GET", p if p == f"{request}/diffs":
            return 200, [{"old_path": name, "new_path": name} for name in world.changed]
        case "GET", p if p == f"{request}/notes":
            return 200, world.notes
        case "POST", p if p == f"{request}/notes":
            return 201, world.note(body["body"].strip(), ME)
        case "POST", p if p == f"/projects/4300/statuses/{world.head}":
            world.statuses.append(body)
            return 201, {"id": 1, **body}
    if method == "PUT" and (hit := re.fullmatch(rf"{request}/notes/(\d+)", path)):
        world.notes[int(hit[1]) - 1]["body"] = body["body"].strip()
        return 200, world.notes[int(hit[1]) - 1]
    if method == "GET" and (hit := re.fullmatch(rf"/projects/{PROJECT}/repository/files/(.+)/raw", path)):
        held = world.files.get(unquote(hit[1])) if query.get("ref") == world.merge_base else None
        return (200, held) if held is not None else (404, {"message": "404 File Not Found"})
    world.strange.append(f"{method} {path}")
    return 404, {"message": "404 Not Found"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's acknowledgement
    world: Project

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in http.server
        """Say nothing."""

    def _any(self) -> None:
        split = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = split.path.removeprefix("/api/v4")
        query = {key: values[0] for key, values in parse_qs(split.query).items()}
        told: Any
        if self.headers.get("PRIVATE-TOKEN") != TOKEN:
            status, told = 401, {"message": "401 Unauthorized"}
        elif self.world.refuses and self.world.refuses in path:
            status, told = 403, {"message": "403 Forbidden"}
        else:
            status, told = _answer(self.world, self.command, path, query, json.loads(raw) if raw else None)
        headers: dict[str, str] = {}
        if isinstance(told, list):
            page, size = int(query.get("page", 1)), int(query.get("per_page", 20))
            rest, told = told[page * size :], told[(page - 1) * size : page * size]
            headers["X-Next-Page"] = str(page + 1) if rest else ""
            if rest:
                here = f"http://{self.headers['Host']}{split.path}"
                headers["Link"] = f'<{here}?page={page + 1}&per_page={size}>; rel="next"'
        body = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(status)
        kind = "application/octet-stream" if isinstance(told, bytes) else "application/json"
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = _any  # noqa: N815 - names of http.server


@contextlib.contextmanager
def running(world: Project) -> Iterator[str]:
    """The stand-in's CI_SERVER_URL, until the block ends."""
    handler = type("Handler", (_Handler,), {"world": world})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()

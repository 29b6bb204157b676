"""An OpenAI-compatible endpoint on loopback that does what the change tells it to: the worst model.

What stands behind ``#~`` in added lines, put together, is what it answers, word for word (``⏎``: a new line).
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class StandIn:
    """``asked`` are the bodies that came in, ``headers`` those of the last; ``status`` what it answers."""

    port: int = 0
    status: int = 200
    schemas: bool = True
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def heard(self) -> str:
        """Everything that was sent, as text."""
        return json.dumps(self.asked)

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append(body)
        if "response_format" in body and not self.schemas:
            return 400, {"error": "response_format is not supported"}
        data = body["messages"][1]["content"].split("\n")[1]
        lines = [line[3] for line in json.loads(data)["changed_lines"] if line[3].startswith("#~")]
        content = "".join(line[2:] for line in lines).replace("⏎", "\n")
        return self.status, {
            "choices": [{"message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234},
        }


@contextlib.contextmanager
def stand_in() -> Iterator[StandIn]:
    """A running one."""
    one = StandIn()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            one.headers = dict(self.headers)
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = one.answer(body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Location", "http://192.0.2.1/elsewhere")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        one.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield one
        finally:
            server.shutdown()
            thread.join()

"""Programs that serve: ended when they listen and rest, and what they do at their end is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from gate.model.behaviour import BehaviourKind
from gate.model.run import Outcome
from tests.contract.capabilities import capability
from tests.integration.test_reach import look

SERVER = (
    'const http = require("http");\n'
    'if (require.main === module) {\n  http.createServer((q, a) => a.end("{}")).listen(0, "127.0.0.1");\n'
    '  process.on("SIGTERM", () => { require("net").connect({host: "203.0.113.1", port: 4444})'
    '.on("error", () => process.exit(0)); });\n}\n'
)
SHELL = (
    "#!/bin/sh\n"
    "python3 -c 'import socket, time\n"
    's = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); s.accept()\' &\n'
    "wait\n"
)
BUSY = (
    'const net = require("net");\nif (require.main === module) {\n'
    '  net.createServer().listen(0, "127.0.0.1", () => { const until = Date.now() + 9000;\n'
    "    (function work() { for (let n = 0; n < 1e6; n++) Math.sqrt(n);\n"
    "      if (Date.now() < until) setImmediate(work);\n"
    '      else net.connect({host: "203.0.113.2", port: 4444}).on("error", () => process.exit(0));\n'
    "    })(); });\n}\n"
)


@pytest.mark.parametrize(
    "backend", ["bubblewrap", "gvisor", pytest.param("docker", marks=pytest.mark.engine)]
)
def test_what_waits_for_requests_is_ended_and_what_works_is_not(tmp_path: Path, backend: str) -> None:
    if not (found := capability(backend)).available:
        pytest.skip(found.reason)
    files = {"server.js": SERVER, "serve.sh": SHELL, "busy.js": BUSY}
    seen = look(tmp_path, cast("dict[str, str | bytes]", files), backend=backend, deadline=60)
    ended: dict[str, set[str]] = {}
    for run in seen.runs:
        for item in cast("list[dict[str, Any]]", run.driver_report.get("items", [])):
            if run.side == "head" and item["do"] in ("javascript_main", "shell", "program"):
                ended.setdefault(item["path"], set()).add(item["outcome"])
    assert ended["server.js"] == {"stopped"}
    assert "stopped" in ended["serve.sh"]
    assert ended["busy.js"] == {"completed"}
    assert {"203.0.113.1:4444", "203.0.113.2:4444"} <= set(seen.new(BehaviourKind.CONNECT))
    assert {run.outcome for run in seen.runs} == {Outcome.COMPLETED}
    # What the driver does to end a server is nobody's act.
    assert BehaviourKind.SIGNAL not in {b.kind for b in seen.diff.new}
    assert [b.subject for b in seen.diff.new if b.subject.startswith("/proc/")] == []
    assert max(run.seconds for run in seen.runs) < 50

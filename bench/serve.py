"""Webhook acknowledgements of `gate serve` on loopback: rate and latency, as JSON.

The load generator is this process: an open loop (deliveries are due at fixed times and late ones count as
late, so a stall of the server cannot hide), a bounded number of connections, signed bodies of real size.
Latency is from the moment a delivery was due until its answer was read.
Usage: bench/serve.py [RATE] [SECONDS]
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

SECRET = b"0123456789abcdef" * 4
CONNECTIONS = 32
PADDING = "x" * 8_000


def _request(number: int) -> bytes:
    told = {
        "action": "completed",
        "repository": {"full_name": "octo/shop", "description": PADDING},
        "installation": {"id": 5},
        "check_suite": {"head_sha": f"{number:040x}"},
    }
    body = json.dumps(told).encode()
    signed = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return (
        f"POST /webhook HTTP/1.1\r\nHost: localhost\r\nX-GitHub-Event: check_suite\r\n"
        f"X-GitHub-Delivery: bench-{number:08}\r\nX-Hub-Signature-256: sha256={signed}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


async def _sender(
    port: int, todo: asyncio.Queue[tuple[float, bytes] | None], seconds: list[float], bad: list[str]
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (item := await todo.get()) is not None:
        due, request = item
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        await reader.readexactly(length)
        seconds.append(time.perf_counter() - due)
        if not head.startswith("http/1.1 202"):
            bad.append(head.partition("\r\n")[0])
    writer.close()


async def _load(
    port: int, rate: float, duration: float, first: int = 0
) -> tuple[list[float], list[str], float]:
    requests = [_request(first + number) for number in range(int(rate * duration))]
    todo: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue()
    seconds: list[float] = []
    bad: list[str] = []
    senders = [asyncio.create_task(_sender(port, todo, seconds, bad)) for _ in range(CONNECTIONS)]
    start = time.perf_counter()
    for number, request in enumerate(requests):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        todo.put_nowait((due, request))
    for _ in senders:
        todo.put_nowait(None)
    await asyncio.gather(*senders)
    return seconds, bad, time.perf_counter() - start


def _server(folder: Path) -> tuple[subprocess.Popen[str], int]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "app.pem").write_bytes(pem)
    (folder / "secret").write_bytes(SECRET)
    words: list[str | Path] = [
        "serve",
        "--app-id",
        "1",
        "--private-key",
        folder / "app.pem",
        "--secret",
        folder / "secret",
    ]
    words += ["--database", folder / "gate.db", "--port", "0", "--api-url", "http://127.0.0.1:9"]
    child = subprocess.Popen([sys.executable, "-m", "gate.cli", *words], stdout=subprocess.PIPE, text=True)
    if child.stdout is None:
        raise RuntimeError("no output")
    return child, int(child.stdout.readline().rpartition(":")[2])


def main(rate: float, duration: float) -> int:
    """Measure and print; 1 when the promise (200/s, p99 under 100 ms) is not kept."""
    with tempfile.TemporaryDirectory(prefix="gate-bench-", dir=os.environ.get("GATE_BENCH_DIR")) as folder:
        child, port = _server(Path(folder))
        try:
            asyncio.run(_load(port, rate, 0.5, 1 << 24))
            before = os.getloadavg()
            seconds, bad, took = asyncio.run(_load(port, rate, duration))
            child.send_signal(signal.SIGTERM)
            ended = child.wait(30)
        finally:
            child.kill()
            child.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = usage.ru_utime + usage.ru_stime
    seconds.sort()

    def at(share: float) -> float:
        return round(seconds[min(len(seconds) - 1, int(len(seconds) * share))] * 1000, 2)

    found = {
        "asked_per_second": rate,
        "answered_per_second": round(len(seconds) / took, 1),
        "deliveries": len(seconds),
        "not_202": len(bad),
        "milliseconds": {"p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "most": at(1.0)},
        "processors": os.cpu_count(),
        "load_average": [round(load, 1) for load in before],
        "server_processor_seconds": round(used, 2),
        "ended_cleanly": ended == 0,
    }
    print(json.dumps(found, indent=2))
    kept = not bad and at(0.99) < 100 and len(seconds) / took > min(rate, 200) * 0.95 and ended == 0
    return 0 if kept else 1


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    raise SystemExit(main(given[0] if given else 200.0, given[1] if given[1:] else 20.0))

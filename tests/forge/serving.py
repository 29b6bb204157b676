"""What the tests of `gate serve` share: a real server process, and signed deliveries over real HTTP."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

SECRET = "0123456789abcdef" * 4
APP = 4711


def keys(folder: Path) -> tuple[Path, str]:
    """(private key file, public key) of a made-up app."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    file = folder / "app.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return file, public.decode()


@dataclass
class Served:
    """A running server."""

    child: subprocess.Popen[str]
    port: int

    def send(
        self, event: str, body: bytes, name: str, *, secret: str = SECRET, **headers: str
    ) -> tuple[int, str]:
        """One delivery, signed; header names with underscores."""
        signed = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        told = {"X-GitHub-Event": event, "X-GitHub-Delivery": name, "X-Hub-Signature-256": signed}
        told |= {k.replace("_", "-"): v for k, v in headers.items()}
        return self.ask("POST", "/webhook", body, told)

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


BARE = f"""
from pathlib import Path
from gate.serve.run import serve
from gate.serve.interface import Done
serve(Path("gate.db"), [b"{SECRET}"], lambda store: lambda delivery: Done(note=""), host="127.0.0.1", port=0)
"""
"""The server alone, with nothing to ask of GitHub: starts in a third of the time."""


@contextlib.contextmanager
def served(folder: Path, key: Path | None, api_url: str) -> Iterator[Served]:
    """`gate serve` as its own process on a free port; ended by SIGTERM, which must be clean.

    ``key`` None: the server alone (BARE).
    """
    (folder / "secret").write_text(SECRET + "\n")
    child = subprocess.Popen(
        [sys.executable, "-c", BARE]
        if key is None
        else
        [
            sys.executable, "-m", "gate.cli", "serve", "--app-id", str(APP), "--private-key", key,
            "--secret", folder / "secret", "--database", folder / "gate.db",
            "--port", "0", "--api-url", api_url,
        ],
        stdout=subprocess.PIPE, text=True, cwd=folder, env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert child.stdout is not None
    try:
        line = child.stdout.readline()
        assert "listening on" in line
        yield Served(child, int(line.rpartition(":")[2]))
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
            assert child.wait(15) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


def payload(**more: Any) -> bytes:
    """A webhook's body, with what is always in it."""
    return json.dumps({"repository": {"full_name": "octo/shop"}, "installation": {"id": 5}, **more}).encode()


def asked(sha: str, url: str, run: int = 31, environment: str = "production") -> bytes:
    """A deployment protection rule's request."""
    return payload(
        action="requested",
        environment=environment,
        sha=sha,
        deployment={"sha": sha, "id": run},
        deployment_callback_url=f"{url}/repos/octo/shop/actions/runs/{run}/deployment_protection_rule",
    )

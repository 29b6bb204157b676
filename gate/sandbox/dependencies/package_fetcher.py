"""Runs inside the installing sandbox: fetches the packages of plan.json from a registry and unpacks them.

Nothing of a package is run: an archive is fetched, compared with its hash, and its plain files are written.
``plan.json`` beside it: ``out``, ``proxy`` ([host, port]), ``registry``, ``packages`` ([place, name, version,
address, integrity, optional]), ``seconds``. Writes one JSON object: ``missing`` (places), ``failed`` ([name
version, why]), ``unreachable`` (why no registry answers). Standard library only.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.client
import io
import json
import os
import queue
import ssl
import sys
import tarfile
import threading
import time
from urllib.parse import quote, urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLIENTS = 12
TRIES = 3
REDIRECTS = 3
MOST_ARCHIVE = 128 << 20
MOST_UNPACKED = 512 << 20
CHUNK = 1 << 16
HASHES = ("sha512", "sha384", "sha256", "sha1")
"""The strongest that is told counts."""
UNREAD = (".d.ts", ".d.mts", ".d.cts", ".map", ".md", ".markdown", ".flow", ".tsbuildinfo")
"""Ends of names that no module loads."""
CERTIFICATES = "certificates.pem"
_FOLDER = os.path.dirname(os.path.abspath(__file__))


class RefusedError(Exception):
    """One package cannot be had; the text says why."""


class UnreachableError(Exception):
    """No answer at all."""


class Client:
    """Connections through the proxy, one for each place, kept open."""

    def __init__(self, proxy: list[Any], registry: str, context: ssl.SSLContext) -> None:
        self.home = urlsplit(registry).hostname
        self.proxy = (str(proxy[0]), int(proxy[1]))
        self.context = context
        self.links: dict[str, http.client.HTTPConnection] = {}

    def get(self, address: str) -> bytes:
        """The body. Raises RefusedError, UnreachableError."""
        for _ in range(REDIRECTS + 1):
            answer = self._answer(address)
            if answer.status in (301, 302, 303, 307, 308) and answer.getheader("Location"):
                answer.read()
                address = str(answer.getheader("Location"))
                continue
            if answer.status == 404:
                answer.read()
                raise RefusedError("the registry does not have it")
            if answer.status != 200:
                answer.read()
                raise RefusedError(f"the registry answered {answer.status}")
            body = answer.read(MOST_ARCHIVE + 1)
            if len(body) > MOST_ARCHIVE:
                self.drop(address)
                raise RefusedError("it is too large")
            return body
        raise RefusedError("the registry sends from place to place")

    def _answer(self, address: str) -> http.client.HTTPResponse:
        parts = urlsplit(address)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise RefusedError("its address is none of a registry")
        said = ""
        for attempt in range(TRIES):
            try:
                link = self._link(parts)
                plain = parts.scheme == "http"
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                link.request("GET", address if plain else path, headers={"User-Agent": "gate"})
                return link.getresponse()
            except (OSError, http.client.HTTPException) as error:
                self.drop(address)
                said = f"{type(error).__name__}: {error}"
                if "Tunnel connection failed: 403" in said and parts.hostname == self.home:
                    raise UnreachableError("the way out is closed to it") from error
                if "Tunnel connection failed: 403" in said:
                    raise RefusedError(
                        f"{parts.hostname} is none of the registries that are allowed"
                    ) from error
                time.sleep(0.2 * attempt)
        raise UnreachableError(said)

    def _link(self, parts: Any) -> http.client.HTTPConnection:
        key = f"{parts.scheme}://{parts.netloc}"
        if key not in self.links:
            if parts.scheme == "http":
                link = http.client.HTTPConnection(*self.proxy, timeout=30)
            else:
                link = http.client.HTTPSConnection(*self.proxy, timeout=30, context=self.context)
                link.set_tunnel(parts.hostname, parts.port or 443)
            self.links[key] = link
        return self.links[key]

    def drop(self, address: str) -> None:
        """Begin anew with that place."""
        parts = urlsplit(address)
        link = self.links.pop(f"{parts.scheme}://{parts.netloc}", None)
        if link is not None:
            link.close()


def check(body: bytes, integrity: str) -> None:
    """Raises RefusedError unless the strongest of the hashes is the body's."""
    told: dict[str, list[str]] = {}
    for word in integrity.split():
        name, _, digest = word.partition("-")
        told.setdefault(name, []).append(digest.partition("?")[0])
    name = next((name for name in HASHES if name in told), "")
    if not name:
        raise RefusedError("nothing says what its hash is")
    digest = base64.b64encode(hashlib.new(name, body).digest()).decode()
    if digest not in told[name]:
        raise RefusedError("what the registry gives is not what its hash names")


def unpack(body: bytes, folder: str) -> dict[str, Any]:
    """Write the archive's plain files below the folder, without what no module loads. Gives its
    package.json.
    """
    manifest: dict[str, Any] = {}
    try:
        data = gzip.GzipFile(fileobj=io.BytesIO(body)).read(MOST_UNPACKED + 1)
        if len(data) > MOST_UNPACKED:
            raise RefusedError("it is too large unpacked")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                parts = member.name.split("/")[1:]  # the archive's own folder, mostly "package"
                if not member.isreg() or not parts or not _is_inside(parts):
                    continue
                if parts[-1].endswith(UNREAD):
                    continue
                content = tar.extractfile(member) or io.BytesIO()
                path = os.path.join(folder, *parts)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
                said = content.read()
                with open(os.open(path, flags, 0o755 if member.mode & 0o100 else 0o644), "wb") as out:
                    out.write(said)
                if parts == ["package.json"]:
                    read = json.loads(said.decode("utf-8-sig"))
                    manifest = read if isinstance(read, dict) else {}
    except (OSError, EOFError, tarfile.TarError, ValueError, RecursionError) as error:
        raise RefusedError(
            f"its archive cannot be unpacked ({type(error).__name__}: {error})"[:200]
        ) from error
    return manifest


def _is_inside(parts: list[str]) -> bool:
    return not any(part in ("", ".", "..") or "\0" in part for part in parts)


def lay_commands(out: str, place: str, manifest: dict[str, Any]) -> None:
    """A small script in ``.bin`` for each command that a package brings."""
    above, _, _ = place.rpartition("node_modules/")
    folder = os.path.join(out, above, "node_modules", ".bin")
    told = manifest.get("bin")
    name = str(manifest.get("name") or "").rpartition("/")[2]
    commands = {name: told} if isinstance(told, str) else told if isinstance(told, dict) else {}
    for command, target in commands.items():
        if not isinstance(target, str) or not _is_inside([command]) or "/" in command:
            continue
        parts = [part for part in target.split("/") if part not in ("", ".")]
        path = os.path.join(out, place, *parts)
        if not _is_inside(parts) or not os.path.isfile(path) or "'" in path:
            continue
        os.chmod(path, 0o700)
        os.makedirs(folder, exist_ok=True)
        back = os.path.relpath(path, folder)
        with open(path, "rb") as file:
            is_script = file.read(2) == b"#!"
        start = "exec" if is_script or not path.endswith((".js", ".cjs", ".mjs")) else "exec node"
        script = os.path.join(folder, command)
        with open(script, "w", encoding="utf-8") as file_out:
            file_out.write(f'#!/bin/sh\n{start} "$(dirname "$0")"/\'{back}\' "$@"\n')
        os.chmod(script, 0o700)


class Fetcher:
    """One plan, and how far it came."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.until = time.monotonic() + float(plan["seconds"])
        self.waiting: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self.installed: set[str] = set()
        self.failed: list[list[str]] = []
        self.unreachable = ""
        self.context = ssl.create_default_context()
        certificates = os.path.join(_FOLDER, CERTIFICATES)
        if os.path.exists(certificates):
            self.context.load_verify_locations(cafile=certificates)

    def run(self) -> None:
        """All of it, side by side."""
        for package in self.plan["packages"]:
            self.waiting.put(package)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.1, self.until - time.monotonic() + 1))

    def _work(self) -> None:
        client = Client(self.plan["proxy"], self.plan["registry"], self.context)
        while not self.unreachable:
            try:
                package = self.waiting.get_nowait()
            except queue.Empty:
                return
            place, name, version, _, _, optional = package
            try:
                if time.monotonic() > self.until:
                    raise RefusedError("there was no time for it (sandbox.setup_deadline)")
                self._install(client, package)
                self.installed.add(place)
            except RefusedError as error:
                if not optional:
                    self.failed.append([f"{name} {version}", str(error)])
            except UnreachableError as error:
                self.unreachable = str(error) or "no answer"

    def _install(self, client: Client, package: list[Any]) -> None:
        place, name, version, address, integrity, _ = package
        registry = self.plan["registry"].rstrip("/")
        if not integrity:
            address, integrity = self._told(client, registry, name, version)
        if not address:
            address = f"{registry}/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        body = client.get(address)
        check(body, integrity)
        manifest = unpack(body, os.path.join(self.plan["out"], place))
        lay_commands(self.plan["out"], place, manifest)

    def _told(self, client: Client, registry: str, name: str, version: str) -> tuple[str, str]:
        """Address and hash of what no lock tells, as the registry says."""
        said = client.get(f"{registry}/{quote(name, safe='@')}/{version}")
        try:
            dist = json.loads(said)["dist"]
            address = str(dist["tarball"])
            sha1 = base64.b64encode(bytes.fromhex(str(dist.get("shasum") or ""))).decode()
            return address, str(dist.get("integrity") or f"sha1-{sha1}")
        except (ValueError, KeyError, TypeError) as error:
            raise RefusedError("the registry's answer makes no sense") from error


def main() -> int:
    """Carry out the plan; 0, whatever could be had."""
    with open(os.path.join(_FOLDER, "plan.json"), encoding="utf-8") as file:
        fetcher = Fetcher(json.load(file))
    os.makedirs(fetcher.plan["out"], exist_ok=True)
    fetcher.run()
    told = {
        "missing": [p[0] for p in fetcher.plan["packages"] if p[0] not in fetcher.installed],
        "failed": sorted(fetcher.failed)[:200],
        "unreachable": fetcher.unreachable[:500],
    }
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

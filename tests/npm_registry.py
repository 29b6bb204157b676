"""An npm registry of the test's own on loopback, with packages made on the spot: no real package."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote


def archive(files: Mapping[str, str], *, links: Mapping[str, str] | None = None) -> bytes:
    """A package as registries keep it: a tar of the folder ``package``, compressed."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size, member.mode = len(text.encode()), 0o644
            tar.addfile(member, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(f"package/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return gzip.compress(out.getvalue(), mtime=0)


def integrity(content: bytes) -> str:
    """As locks have it."""
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


@dataclass
class NpmRegistry:
    """What is offered: path → content. ``asked`` are the paths that came in."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    packages: dict[str, dict[str, object]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def add(self, name: str, version: str, files: Mapping[str, str], **manifest: object) -> dict[str, object]:
        """Offer a package; returns its entry for a package-lock.json."""
        said = {"name": name, "version": version, **manifest}
        content = archive({"package.json": json.dumps(said), **files})
        path = f"/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        self.files[path] = content
        dist = {"tarball": f"{self.url}{path}", "integrity": integrity(content)}
        versions = self.packages.setdefault(name, {})
        versions[version] = {**said, "dist": dist}
        # what registries' locks name is the public one, whatever was asked
        return {
            "version": version,
            "resolved": f"https://registry.npmjs.org{path}",
            "integrity": integrity(content),
            **{
                k: v
                for k, v in manifest.items()
                if k in ("dependencies", "optionalDependencies", "os", "cpu")
            },
        }

    def answer(self, path: str) -> bytes | None:
        """The body for a path; None: there is none."""
        self.asked.append(path)
        if path in self.files:
            return self.files[path]
        name, _, version = unquote(path).lstrip("/").rpartition("/")
        if version in self.packages.get(name, {}):
            return json.dumps(self.packages[name][version]).encode()
        name = unquote(path).lstrip("/")
        versions = self.packages.get(name)
        if not versions:
            return None
        latest = max(versions)
        return json.dumps({"name": name, "versions": versions, "dist-tags": {"latest": latest}}).encode()


@contextlib.contextmanager
def serving() -> Iterator[NpmRegistry]:
    """A registry that answers while the block lasts."""
    registry = NpmRegistry()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's acknowledgement

        def do_GET(self) -> None:
            body = registry.answer(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

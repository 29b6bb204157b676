"""A package index of the test's own on loopback, with wheels made on the spot: no real package."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import http.server
import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


def wheel(name: str, version: str, files: Mapping[str, str], needs: tuple[str, ...] = ()) -> bytes:
    """A pure-Python wheel (PEP 427)."""
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {need}\n" for need in needs)
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in content.items())
    content[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in content.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


@dataclass
class PackageIndex:
    """What is offered: file name → content. ``asked`` are the paths that came in."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The simple repository's address."""
        return f"http://127.0.0.1:{self.port}/simple"

    @property
    def place(self) -> str:
        """As --egress-allow takes it."""
        return f"http://127.0.0.1:{self.port}"

    def add(self, name: str, version: str, files: Mapping[str, str], needs: tuple[str, ...] = ()) -> str:
        """Offer a wheel; returns its sha256 (hex)."""
        content = wheel(name, version, files, needs)
        self.files[f"{name}-{version}-py3-none-any.whl"] = content
        return hashlib.sha256(content).hexdigest()

    def answer(self, path: str) -> tuple[bytes, str] | None:
        """Body and type for a path; None: there is none."""
        self.asked.append(path)
        if path.startswith("/files/"):
            content = self.files.get(path.removeprefix("/files/"))
            return None if content is None else (content, "application/octet-stream")
        wanted = path.removeprefix("/simple/").strip("/").replace("-", "_")
        links = [
            f'<a href="/files/{html.escape(name)}">{html.escape(name)}</a>'
            for name in self.files
            if name.partition("-")[0].lower() == wanted
        ]
        page = f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>".encode()
        return (page, "text/html") if links else None


@contextlib.contextmanager
def serving() -> Iterator[PackageIndex]:
    """An index that answers while the block lasts."""
    index = PackageIndex()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            found = index.answer(self.path)
            self.send_response(404 if found is None else 200)
            body, kind = found or (b"", "text/plain")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(b"" if self.command == "HEAD" else body)

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

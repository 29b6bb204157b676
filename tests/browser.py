"""Chromium without a window, driven over its own pipe (Chrome DevTools Protocol): no driver, no package.

One browser serves a whole file of tests. Where there is none, tests skip and say so.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE: Final = 60.0
"""Seconds for the browser to answer; it then is ended, and the test fails."""


class Page:
    """One tab. ``width`` and ``height`` are its size in CSS pixels."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Network.enable")

    def call(self, method: str, **parameters: object) -> Any:
        """One command of the protocol, and its result."""
        return self._browser.call(method, self._session, **parameters)

    def look(self, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Take this size and palette."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def open(self, url: str) -> None:
        """Load a page to its end."""
        self._browser.heard.clear()
        assert "errorText" not in self.call("Page.navigate", url=url), url
        self._browser.until("Page.loadEventFired")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def key(self, text: str) -> None:
        """One key, pressed and let go."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if kind == "keyDown" and len(text) == 1 else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=text, **extra)

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        self.call("Page.bringToFront")  # a tab behind another one draws nothing
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for since it was opened."""
        sent = (e for e in self._browser.heard if e["method"] == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in sent]

    @property
    def complaints(self) -> list[str]:
        """Errors that the page met: refused by its policy, or raised by its script."""
        logged = [
            e["params"]["entry"]["text"] for e in self._browser.heard if e["method"] == "Log.entryAdded"
        ]
        raised = [str(e["params"]) for e in self._browser.heard if e["method"] == "Runtime.exceptionThrown"]
        return logged + raised


class Browser:
    """The program and its pipe. ``heard`` are the events that came since the last page was opened."""

    def __init__(self, program: str, folder: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        self._read, self._write = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio"]
        flags += ["--disable-background-networking", "--no-first-run", f"--user-data-dir={folder}"]
        flags += ["--remote-debugging-pipe", "about:blank"]
        line = f'exec "$0" "$@" 3</proc/self/fd/{theirs_in} 4>/proc/self/fd/{theirs_out}'
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", line, program, *flags],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.heard: list[dict[str, Any]] = []
        self._number = 0

    def page(self) -> Page:
        """A new tab."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def call(self, method: str, session: str = "", **parameters: object) -> Any:
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        self._write.write(json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        self._write.flush()
        while (answer := self._next()).get("id") != self._number:
            self.heard.append(answer)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def until(self, event: str) -> None:
        """Wait for an event, unless it has come."""
        while not any(heard["method"] == event for heard in self.heard):
            self.heard.append(self._next())

    def _next(self) -> dict[str, Any]:
        late = threading.Timer(_PATIENCE, self._process.kill)
        late.start()
        text = bytearray()
        try:
            while (byte := self._read.read(1)) != b"\0":
                assert byte, "Chromium ended, or did not answer in time"
                text += byte
        finally:
            late.cancel()
        message: dict[str, Any] = json.loads(text)
        return message

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(20)
        self._process.kill()
        self._process.wait()
        for stream in (self._read, self._write):
            with contextlib.suppress(OSError):
                stream.close()


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser of its own profile; the test skips where there is no Chromium."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium here: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="gate-browser-", ignore_cleanup_errors=True) as folder:
        one = Browser(program, Path(folder))
        try:
            yield one
        finally:
            one.close()

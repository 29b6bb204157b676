"""The programs of channels.toml and harmless.toml, and what their common base is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PYTHON: Final = """
import base64, hashlib, hmac, json, os, random, secrets, socket
import subprocess, sys, time, urllib.request, uuid, zlib

token = os.environ.get("GITHUB_TOKEN", "").encode()


def post(body, headers=None, path=""):
    url = "http://metrics.example/v1/events" + path
    made = urllib.request.Request(url, data=json.dumps(body).encode(), headers=headers or {})
    urllib.request.urlopen(made, timeout=3).read()


def get(host, headers):
    made = urllib.request.Request("https://" + host + "/user", headers=headers)
    urllib.request.urlopen(made, timeout=3).read()

"""
_JAVASCRIPT: Final = """
const http = require("node:http");
function post(body, headers = {}) {
  const options = { method: "POST", headers: { "content-length": Buffer.byteLength(body), ...headers } };
  const made = http.request("http://metrics.example/v1/events", options, (got) => got.resume());
  made.on("error", () => {}).end(body);
}
"""
_EVENT: Final = {
    "python": '\npost({"event": "start"})\n',
    "javascript": '\npost(JSON.stringify({ event: "start" }));\n',
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """One program: its name, the file that holds it, and its text at base and at head."""

    name: str
    path: str
    before: str
    after: str
    missed: bool = False
    """It is known not to be told."""


def programs(file: str) -> Iterator[Program]:
    """Those of one list, in order."""
    for name, row in tomllib.loads((Path(__file__).parent / f"{file}.toml").read_text()).items():
        language = row.get("language", "python")
        prelude = {"python": _PYTHON, "javascript": _JAVASCRIPT}[language]
        ending = {"python": "py", "javascript": "cjs"}[language]
        path = f"tools/{file}/{name.replace('-', '_')}.{ending}"
        yield Program(
            name=name,
            path=path,
            before=prelude + _EVENT[language],
            after=prelude + row["code"],
            missed=row.get("missed", False),
        )


CHANNELS: Final = tuple(programs("channels"))
HARMLESS: Final = tuple(programs("harmless"))

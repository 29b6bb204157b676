"""Languages are told by content first, then by name; nothing is left out by name."""

from __future__ import annotations

import pytest

from gate.languages.change_language import language_of

CASES = [
    ("a.py", b"", "python"),
    ("a.pyw", b"", "python"),
    ("a.pyi", b"", "python"),
    ("site/evil.pth", b"import os\n", "pth"),
    ("n.ipynb", b"{}", "notebook"),
    ("renamed.json", b'{"cells": [], "metadata": {}, "nbformat": 4}', "notebook"),
    ("run", b"#!/usr/bin/env python3\nprint(1)\n", "python"),
    ("run", b"#!/usr/bin/env -S python3 -u\n", "python"),
    ("run", b"#!/usr/bin/env A=1 bash\n", "shell"),
    ("run", b"\xef\xbb\xbf#!/bin/sh\n", "shell"),
    ("tool", b"#! /usr/bin/perl -w\n", "perl"),
    ("image.png", b"#!/bin/bash\ncurl x | sh\n", "shell"),
    ("README.md", b"#!/usr/bin/python\n", "python"),
    ("x.ts", b"#!/usr/bin/env node\n", "typescript"),
    ("x.js", b"#!/usr/bin/env deno\n", "javascript"),
    ("run", b"#!/usr/bin/env\n", None),
    ("run", b"#!/opt/unknown\n", None),
    ("data.txt", b"import os\nfrom base64 import b64decode\nexec(x)\n", "python"),
    ("payload", b"import os\ndef f(x):\n    pass\n", "python"),
    ("notes.txt", b"import duties rose\nthis is prose\n", "text"),
    ("data.json", b'{"a": 1}', "json"),
    ("doc.md", b"import os\nimport sys\ndef f():\n", "markdown"),
    ("Dockerfile", b"FROM x", "dockerfile"),
    ("Dockerfile.dev", b"FROM x", "dockerfile"),
    ("sub/Makefile", b"all:\n", "makefile"),
    (".github/workflows/x.yml", b"on: push", "yaml"),
    ("lib.so", b"\x7fELF\2\1\1", "elf"),
    ("photo.jpg", b"\0asm\1\0\0\0", "wasm"),
    ("m.cpython-311.txt", b"\xa7\x0d\x0d\x0a\0\0\0\0" + b"\0" * 16, "pyc"),
    ("w.whl", b"PK\x03\x04", "zip"),
    ("unknown", b"", None),
    ("vendor/node_modules/tests/x.PY", b"", "python"),
]


@pytest.mark.parametrize(("path", "head", "language"), CASES)
def test_language(path: str, head: bytes, language: str | None) -> None:
    assert language_of(path, head) == language

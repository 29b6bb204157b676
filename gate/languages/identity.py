"""What tells which language a file is in: its name, its first line, its first bytes. One owner of the facts.

Three questions are asked of them, each with words of its own: what a changed file is called in reports and
plans (``change_language.language_of``), as what the scanners read it (``content.reader_of``), and which
table of sensitive calls it has (``sensitive_calls.table.table_of``).
"""

from __future__ import annotations

from typing import Final

from gate.regex import regex

SNIFF: Final = 8192
"""How many leading bytes of a file are wanted."""
_SHEBANG: Final = regex(rb"\A(?:\xef\xbb\xbf)?#![ \t]*(\S+)([^\r\n]*)")
_VERSION: Final = regex(r"[\d.]+(?:-.*)?\Z")
_WRAPPERS: Final = frozenset((b"env", b"nice", b"nohup", b"setsid", b"stdbuf", b"time"))
INTERPRETERS: Final = {
    program: language
    for language, programs in {
        "python": "python pythonw pypy uv pipx",
        "javascript": "node nodejs deno bun zx",
        "typescript": "ts-node tsx",
        "shell": "sh bash dash zsh ksh ash mksh fish busybox",
        "perl": "perl",
        "ruby": "ruby",
        "php": "php",
        "powershell": "pwsh",
        "awk": "awk gawk mawk nawk",
        "makefile": "make gmake",
    }.items()
    for program in programs.split()
}
"""Programs of a ``#!`` line, without their version, by the language that they run."""


def file_name(path: str) -> str:
    """The last part of a path, in lower case."""
    return path.rsplit("/", 1)[-1].lower()


def extension(path: str) -> str:
    """What stands behind the last dot of the name, in lower case; empty where there is none."""
    name = file_name(path)
    return name.rpartition(".")[2] if "." in name else ""


def is_dockerfile_variant(path: str) -> bool:
    """True for ``Dockerfile.dev`` and its like."""
    return file_name(path).startswith(("dockerfile.", "dockerfile-", "containerfile."))


def shebang_program(head: bytes) -> str:
    """The program of the ``#!`` line, without folder and version; empty where there is none.

    ``env`` and the like are looked through: ``#!/usr/bin/env -S A=1 python3.12 -u`` gives ``python``.
    """
    line = _SHEBANG.match(head[:SNIFF])
    if not line:
        return ""
    words = [line[1].rsplit(b"/", 1)[-1], *line[2].split()]
    while words and words[0].rsplit(b"/", 1)[-1] in _WRAPPERS:
        words = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    program = words[0].rsplit(b"/", 1)[-1].decode("ascii", "replace").lower() if words else ""
    return _VERSION.sub("", program)

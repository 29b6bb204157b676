"""Patches that a project puts on what it takes from elsewhere, read as the code that they are.

``.yarn/patches``, ``patches/`` of patch-package and pnpm, quilt and Debian, ``third_party``: the package
keeps its name and version, and runs with other lines. Every changed line of code is told, first those that
speak of what protects: signatures, tokens, permissions, certificates, programs that are started.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

import msgspec

from gate.regex import regex

_PLACES: Final = regex(
    r"(?:^|/)(?:\.?[\w-]*patch(?:es|ed)?|third_?party|vendor|deps|external)(?:/|$)", re.IGNORECASE
)
_PACKAGE: Final = regex(r"^(@[^+@]+\+)?([^+@]+?)(?:[+@-](?:npm-|patch-)?\d.*)?$")
_PROTECTS: Final = frozenset(
    {
        *(
            "verify",
            "verifies",
            "verified",
            "verifier",
            "signature",
            "signatures",
            "signed",
            "hmac",
            "digest",
        ),
        *("secret", "secrets", "password", "passwords", "passphrase", "credential", "credentials", "token"),
        *("tokens", "jwt", "jws", "auth", "authenticate", "authenticated", "authorize", "authorized"),
        *("authorization", "authentication", "permission", "permissions", "permitted", "privilege", "admin"),
        *(
            "csrf",
            "xsrf",
            "cors",
            "origin",
            "cert",
            "certs",
            "certificate",
            "certificates",
            "tls",
            "ssl",
            "x509",
        ),
        *("crypto", "cipher", "encrypt", "decrypt", "nonce", "salt", "bcrypt", "timingsafeequal", "sanitize"),
        *("sanitized", "escape", "escaped", "unsafe", "sandbox", "trust", "trusted", "untrusted", "insecure"),
        *(
            "exec",
            "execsync",
            "spawn",
            "eval",
            "subprocess",
            "system",
            "login",
            "session",
            "sessions",
            "cookie",
        ),
        *(
            "cookies",
            "forbidden",
            "unauthorized",
            "denied",
            "allowlist",
            "whitelist",
            "blocklist",
            "integrity",
        ),
    }
)
_WORD: Final = regex(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
_COMMENT: Final = ("//", "#", "*", "/*", "--", ";", "<!--")
_PROSE: Final = (
    ".md",
    ".rst",
    ".txt",
    ".json",
    ".lock",
    ".snap",
    ".map",
    ".d.ts",
    ".css",
    ".scss",
    ".html",
    ".svg",
    ".po",
)
_MOST: Final = 40_000
"""Lines."""


class Patched(msgspec.Struct, frozen=True):
    """``name``: of the package, as the file's name tells it. ``touches``: changed lines of code with their
    sign and file, those about what protects first; ``lines``: where they are in the patch.
    """

    name: str = ""
    touches: list[str] = []
    lines: list[int] = []


def is_patch(path: str) -> bool:
    """Is this a patch of something that lies elsewhere?"""
    pure = PurePosixPath(path)
    return pure.suffix.lower() in (".patch", ".diff") and bool(_PLACES.search(f"{pure.parent}/"))


def read(path: str, data: bytes, options: Mapping[str, object]) -> Patched:
    """The changed lines of code of one patch."""
    del options
    name = _named(path)
    found: list[tuple[bool, bool, int, str]] = []
    for number, target, line in _changed(data.decode("utf-8", "replace")):
        if target.lower().endswith(_PROSE) or line[1:].lstrip().startswith(_COMMENT):
            continue
        if line[1:].strip(" \t{}();,"):
            other = not _words(line) & _PROTECTS
            found.append((other, line[0] == "-", number, f"{target}: {line[0]} {line[1:].strip()}"[:200]))
    found.sort(key=lambda one: one[:2])
    return Patched(name=name, touches=[one[3] for one in found], lines=[one[2] for one in found])


def _named(path: str) -> str:
    stem = PurePosixPath(path).stem
    found = _PACKAGE.match(stem)
    return f"{(found[1] or '').replace('+', '/')}{found[2]}" if found else stem


def _changed(text: str) -> Iterator[tuple[int, str, str]]:
    """``(line of the patch, file, changed line)``; a line that is put back the same is none."""
    target = ""
    block: list[tuple[int, str, str]] = []
    for number, line in enumerate(text.splitlines()[:_MOST], 1):
        if line.startswith("+++ "):
            target = line[4:].split("\t")[0].strip().removeprefix("b/")
            block.clear()
        elif line.startswith(("--- ", "diff ", "index ")):
            yield from _kept(block)
        elif line[:1] in ("+", "-"):
            block.append((number, target, line))
        else:
            yield from _kept(block)
    yield from _kept(block)


def _kept(block: list[tuple[int, str, str]]) -> Iterator[tuple[int, str, str]]:
    gone = {"".join(line[1:].split()) for _, _, line in block if line[0] == "-"}
    came = {"".join(line[1:].split()) for _, _, line in block if line[0] == "+"}
    for one in block:
        if "".join(one[2][1:].split()) not in (gone if one[2][0] == "+" else came):
            yield one
    block.clear()


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}

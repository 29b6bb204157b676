"""What lists of ignored or shipped files keep out: secrets and version control, asked with sample paths.

A pattern may be rewritten in many ways; so each list is asked whether it keeps out a file of such a name.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.facts import Fact, FileFacts

_SAMPLES: Final = (
    ".env", ".env.production", "config/.env", "server.pem", "private.key", "secrets/token.txt", "id_rsa",
    "credentials.json", ".aws/credentials", "terraform.tfstate", "prod.tfvars", "keystore.p12", "secret.yaml",
)  # fmt: skip
_SECRET_BY_NAME: Final = tuple(one for one in _SAMPLES if not one.endswith((".json", ".yaml")))
"""``*.json`` is put into packages every day, and rarely for the sake of credentials."""
_IGNORED: Final = frozenset(
    (
        ".gitignore",
        ".dockerignore",
        ".npmignore",
        ".gcloudignore",
        ".slugignore",
        ".vercelignore",
        ".helmignore",
        ".containerignore",
    )
)
_SHIPPED: Final = frozenset(("manifest.in", "package.json"))


def is_list(path: str) -> bool:
    """Does this file say what is left out of something, or put into it?"""
    name = PurePosixPath(path).name.lower()
    return name in _IGNORED | _SHIPPED or name.endswith(".dockerignore")


def list_facts(text: str, path: str) -> FileFacts:
    """Guards for what is kept out, grants for what is put in by name."""
    name = PurePosixPath(path).name.lower()
    if name in _SHIPPED:
        patterns = _packed(text) if name == "package.json" else _included(text)
        facts = [
            Fact("grant", "packed-secret", f"{path} {sample}", line, pattern)
            for line, pattern in patterns
            for sample in _SECRET_BY_NAME
            if pattern.strip("/*.") and _matches(pattern, sample, bare=name == "manifest.in")
        ]
        return FileFacts(facts=_once(facts), subjects=[path])
    rows = [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1)]
    rows = [(number, line) for number, line in rows if line and not line.startswith("#")]
    samples = _SAMPLES if name == ".gitignore" else (*_SAMPLES, ".git/config")
    facts = []
    for sample in samples:
        kept = None
        for number, pattern in rows:
            if _matches(pattern.lstrip("!"), sample, bare=name != ".dockerignore"):
                kept = None if pattern.startswith("!") else (number, pattern)
        if kept is not None:
            facts.append(Fact("guard", "kept-out", f"{path} {sample}", kept[0], kept[1]))
    return FileFacts(facts=facts, subjects=[path])


def _once(facts: list[Fact]) -> list[Fact]:
    return [*{fact.text: fact for fact in reversed(facts)}.values()]


def _packed(text: str) -> list[tuple[int, str]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    files = found.get("files") if isinstance(found, dict) else None
    lines = text.split("\n")
    return [
        (next((number for number, line in enumerate(lines, 1) if pattern in line), 1), pattern)
        for pattern in (files if isinstance(files, list) else ())
        if isinstance(pattern, str) and not pattern.startswith("!")
    ]


def _included(text: str) -> list[tuple[int, str]]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        first = 2 if words[:1] == ["recursive-include"] else 1
        if words and words[0] in ("include", "recursive-include", "global-include", "graft"):
            found += [(number, pattern) for pattern in words[first:]]
    return found


def _matches(pattern: str, sample: str, *, bare: bool) -> bool:
    """As gitignore(5) reads it: without a slash at any depth (``bare``), a folder with all below it."""
    plain = pattern.strip("/")
    if plain.startswith("**/"):
        plain, bare = plain[3:], True
    parts = sample.split("/")
    heads = ["/".join(parts[: end + 1]) for end in range(len(parts))]
    if "/" not in plain and bare and not pattern.startswith("/"):
        heads += parts
    glob = re.sub(r"/\*\*$", "", plain)
    return any(fnmatchcase(head, glob) for head in heads)

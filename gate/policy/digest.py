"""Digests of what judges: so that a verdict can be tied to the rules and settings that made it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from gate import plugins
from gate.resources import rules_dir

NOT_JUDGING: Final = frozenset({("sandbox", "backend"), ("sandbox", "egress_allow")})
"""Settings that pick means and leave the verdict alone (``sandbox.minimum`` bounds the backend)."""
JUDGING: Final = ("policy", "sandbox", "prescreen", "attribution", "override", "opinion")
"""Tables of the settings that bear on a verdict."""
_KNOWN: Final[dict[str, str]] = {}


def policy_digest(settings: Mapping[str, Mapping[str, object]]) -> str:
    """sha256 (hex) over rules/ and the settings in force.

    ``settings`` maps table to key to value, plain values only, defaults filled in
    (``msgspec.to_builtins(config)``). The same whatever the order, and wherever the program is installed.
    """
    kept = {
        table: {key: value for key, value in settings[table].items() if (table, key) not in NOT_JUDGING}
        for table in JUDGING
        if table in settings
    }
    parts: dict[str, object] = {"rules": rules_digest(), "settings": kept}
    if others := plugins.told():
        parts["plugins"] = others
    text = msgspec.json.encode(parts, order="deterministic")
    return hashlib.sha256(text).hexdigest()


def known(*, gate: str, rules: str) -> None:
    """Take both digests from one who knows them: reading a thousand files is half of a small check."""
    _KNOWN.update(gate=gate, rules=rules)


def rules_digest() -> str:
    """sha256 (hex) over every file under rules/: names and contents."""
    return _KNOWN.get("rules") or _rules()


def gate_digest() -> str:
    """sha256 (hex) over the program's own files: names and contents, rules and examples aside."""
    return _KNOWN.get("gate") or _gate()


@cache
def _rules() -> str:
    return _folder(rules_dir())


@cache
def _gate() -> str:
    return _folder(Path(__file__).resolve().parents[1], ("_rules", "_examples"))


def _folder(root: Path, aside: Container[str] = ()) -> str:
    total = hashlib.sha256()
    for name in sorted(_files(root, aside), key=lambda name: name.split("/")):
        with open(f"{root}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - a thousand: a third of the time
            content = hashlib.sha256(file.read()).digest()
        told = name.encode("utf-8", "surrogateescape")
        total.update(len(told).to_bytes(8, "big") + told + content)
    return total.hexdigest()


def _files(root: Path, aside: Container[str]) -> Iterator[str]:
    """Paths of its files, below it; ``aside``: folders right in it that do not count."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(f"{root}/{below}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__" and (below or entry.name not in aside):
                        waiting.append(f"{below}{entry.name}/")
                elif entry.is_file():
                    yield below + entry.name

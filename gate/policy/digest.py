"""Digests of what judges: so that a verdict can be tied to the rules and settings that made it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
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


@cache
def rules_digest() -> str:
    """sha256 (hex) over every file under rules/: names and contents."""
    return _folder(rules_dir().rglob("*"), rules_dir())


@cache
def gate_digest() -> str:
    """sha256 (hex) over the program's own files: names and contents, rules and examples aside."""
    root = Path(__file__).resolve().parents[1]
    ours = (p for p in root.rglob("*") if p.relative_to(root).parts[0] not in ("_rules", "_examples"))
    return _folder(ours, root)


def _folder(paths: Iterable[Path], root: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(p for p in paths if p.is_file() and "__pycache__" not in p.parts):
        name = path.relative_to(root).as_posix().encode("utf-8", "surrogateescape")
        content = hashlib.sha256(path.read_bytes()).digest()
        total.update(len(name).to_bytes(8, "big") + name + content)
    return total.hexdigest()

"""What a use of a secret is held against: the project's settings, and what it signs or logs in with.

Read out of files of head that did not change, and only where a use depends on it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_for_show
from gate.model.change import Tree
from gate.secret_uses.compare import NewUse
from gate.secret_uses.facts import FileUses, Outline, Use
from gate.secret_uses.generic_steps import GRAMMARS
from gate.secret_uses.ledger import PLACED
from gate.secret_uses.modules import module_files, settings_files
from gate.secret_uses.names import is_general, names_secret, snake, tells_key
from gate.secret_uses.reader import packed
from gate.secret_uses.shell_uses import ENDINGS as SHELL
from gate.secret_uses.steps import ENVIRONMENT, ERROR
from gate.secret_uses.whole_objects import BY_NAME, WHOLE, owned

ENDINGS: Final = (
    ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", *GRAMMARS, *SHELL,
)  # fmt: skip
_READER: Final = Reader("gate.secret_uses.reader:read", FileUses, parses=True, pure=True)
_HOLD_ALWAYS: Final = frozenset({"current_app.config", "app.config"})
"""Settings of a framework that have a secret wherever they are filled: Flask's its SECRET_KEY."""
_BYTES_OF: Final = frozenset({"code", "xor", "bytes", "coded"})
"""Marks of a value whose bytes are computed with: pieces of a sentence, as a lexer has them, are none."""
_MOST: Final = 60
_BYTES: Final = 200_000


def read_uses(
    files: Sequence[tuple[str, bytes, bool]],
    until: float,
    elsewhere: Sequence[Outline] = (),
    *,
    sinks: bool = False,
) -> tuple[dict[str, FileUses], list[tuple[str, str]]]:
    """What could be read of them, and what could not: ``(path, reason)``. A file is a path, a text and
    whether it is Python; ``elsewhere``: functions of other files; ``sinks``: see uses_in.
    """
    options: dict[str, Any] = {"python": [path for path, _, python in files if python]}
    if elsewhere:
        options["elsewhere"] = packed(elsewhere)
    if sinks:
        options["sinks"] = True
    left = max(1.0, until - time.monotonic())
    results = scan_isolated(
        _READER, [(path, data) for path, data, _ in files], options=options, deadline=left
    )
    read = {result.path: result.value for result in results if result.value is not None}
    unlooked = [(result.path, result.reason) for result in results if result.value is None]
    return read, unlooked + [(path, facts.unreadable) for path, facts in read.items() if facts.unreadable]


class Evidence:
    """Says of a use whether the project shows that it is one of a secret."""

    def __init__(self, head: Tree, known: Mapping[str, FileUses], until: float) -> None:
        self._head, self._known, self._until = head, dict(known), until
        self._paths = [entry.path for entry in head.entries()]

    def holds(self, one: NewUse) -> bool:
        """Single secrets do. What is only logged or written has to come from a module that has one."""
        use = one.use
        if "spread" in use.marks:
            return self._holds_environment(one.path, use.secret)
        if use.faint == "user":
            if use.secret == BY_NAME:  # told where data names a secret
                return False
            return not use.secret.endswith(WHOLE) or self._owns(one.path, use.origin)
        if use.faint:
            in_pieces = use.faint == "setting" and (use.way == "mixed" or "mixed" in use.marks)
            return in_pieces or use.faint == "field" or self._is_key(one.path, use)
        if not use.whole or use.origin == "environment":
            return True
        if use.origin == "error":
            return self._errors_keep_requests(one.path)
        if use.origin:
            return self._any(module_files(one.path, use.origin, self._paths))
        if use.way != "sent" and "wholly" not in use.marks:
            return False
        if one.path.endswith(".py") and use.secret in _HOLD_ALWAYS:
            return True
        return "pool" in use.marks or self._any(settings_files(self._paths))

    def _any(self, paths: Sequence[str]) -> bool:
        self._learn(paths)
        return any(path in self._known and self._known[path].held for path in paths)

    def _learn(self, paths: Sequence[str]) -> None:
        unread = tuple(path for path in paths if path not in self._known)
        texts = [(path, data, path.endswith(".py")) for path, data in self._head.read_many(unread)]
        self._known |= read_uses(texts, self._until)[0] if texts else {}

    def _holds_environment(self, path: str, name: str) -> bool:
        """Is the whole environment kept under this name somewhere in the project?"""
        wanted = f"{ENVIRONMENT}.{name}"
        if not any(wanted in facts.keys for facts in self._known.values()):
            self._learn(self._neighbours(path, name))
        return any(wanted in facts.keys for facts in self._known.values())

    def _owns(self, path: str, kind: str) -> bool:
        """Does the class of an object keep a secret?"""
        if not any(owned(facts.keys, kind) for facts in self._known.values()):
            words = snake(kind).split("_")
            self._learn(self._neighbours(path, "class " if len(words) > 3 else words[-1].title()))
        return any(owned(facts.keys, kind) for facts in self._known.values())

    def _errors_keep_requests(self, path: str) -> bool:
        """Has the project a class of errors that keeps what was asked, or a client whose errors do?"""
        self._learn(self._neighbours(path, "Error"))
        if any(key.startswith(ERROR) for facts in self._known.values() for key in facts.keys):
            return True
        manifests = tuple(p for p in self._paths if p.rpartition("/")[2] == "package.json")[:_MOST]
        return any(b'"axios"' in data for _, data in self._head.read_many(manifests))

    def _is_key(self, path: str, use: Use) -> bool:
        """Does the name say so, or is what has it signed, encrypted or logged in with, here or elsewhere?"""
        if tells_key(use.secret):
            return True
        in_bytes = not _BYTES_OF.isdisjoint(use.marks)
        if in_bytes and (names_secret(use.secret) or self._is_placed(use.secret)):
            return True
        here = self._known.get(path, FileUses())
        if any(key.rpartition(".")[2] == use.secret for key in here.keys):
            return True
        if is_general(use.secret):
            return False
        owned = f".{use.secret}" if path.endswith(SHELL) else f"{use.origin}.{use.secret}"
        if use.origin in ("this", "self", "cls") and not path.endswith(".go"):
            return False
        self._learn(self._neighbours(path, use.secret))
        return any(key.endswith(owned) for facts in self._known.values() for key in facts.keys)

    def _is_placed(self, name: str) -> bool:
        """Does a changed file put a secret into a field of this name?"""
        return any(f"{PLACED}.{name}" in facts.keys for facts in self._known.values())

    def _neighbours(self, path: str, word: str) -> list[str]:
        """Files of the same language that have this word, the nearest first."""
        suffix, at = PurePosixPath(path).suffix, PurePosixPath(path).parts
        ends = SHELL if suffix in SHELL else (suffix,)
        same = [p for p in self._paths if p.endswith(ends) and p not in self._known and not is_for_show(p)]
        same.sort(key=lambda p: (-_shared(at, PurePosixPath(p).parts), p))
        texts = self._head.read_many(tuple(same[: _MOST * 4]))
        return [p for p, data in texts if len(data) < _BYTES and word.encode() in data][:_MOST]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))

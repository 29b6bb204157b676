"""What the tools do, without the protocol: one check at a time, in one folder, under settings of others.

The agent may have written the change, so it chooses what is judged and nothing else. Settings and overrides
come from the default branch (not from a base that the agent names, which may be its own commit), or from the
file that the person who starts the server gives.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Final, Literal, get_args

from gate import api
from gate.change.default_range import default_base, default_branch
from gate.change.git_range import open_range
from gate.change.interface import OpenChange
from gate.change.uncommitted import open_uncommitted
from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.mcp.answers import check_answer, rule_answer, snippet_answer
from gate.model.finding import Finding
from gate.model.report import Report

Language = Literal["python", "javascript", "typescript", "shell"]
_ENDINGS: Final = {"python": ".py", "javascript": ".mjs", "typescript": ".ts", "shell": ".sh"}
MOST_CODE: Final = 256 << 10
"""Bytes of a snippet."""


@dataclass
class Desk:
    """``root``: the folder below which repositories may be judged. ``chosen``: by who starts the server."""

    root: Path
    chosen: api.Chosen = field(default_factory=api.Chosen)
    last: Report | None = None
    """The report of the last check or snippet."""
    _one: threading.Lock = field(default_factory=threading.Lock)

    def check_change(self, repo: str, base: str, head: str, *, worktree: bool, fast: bool) -> str:
        """Judge a range, or what is not committed. Raises UsageError, InconclusiveError."""
        if worktree and (base or head):
            raise UsageError(
                "worktree and base or head name different changes", advice="Leave base and head empty."
            )
        where = self._inside(repo)
        with self._one, self._opened(where, base, head, worktree=worktree) as (opened, settings_of):
            self.last = api.check_opened(opened, self._settings(fast=fast))
        return check_answer(self.last, settings_of=settings_of)

    def run_snippet(self, code: str, language: str) -> str:
        """Run loose code in a sandbox; without one, nothing is run. Raises UsageError."""
        if language not in get_args(Language):
            raise UsageError(f"no language {language[:40]!a}", advice=f"Valid: {', '.join(_ENDINGS)}.")
        data = code.encode("utf-8", "replace")
        if len(data) > MOST_CODE:
            raise UsageError(f"the snippet is larger than {MOST_CODE >> 10} KiB", advice="Shorten it.")
        with self._one, tempfile.TemporaryDirectory(prefix="gate-snippet-") as folder:
            file = Path(folder) / f"snippet{_ENDINGS[language]}"
            file.write_bytes(data)
            self.last = api.check_files([file], self._settings(fast=False))
        return snippet_answer(self.last)

    def explain_finding(self, name: str) -> str:
        """A rule by its id, or a finding of the last report by its fingerprint. Raises UsageError."""
        found = self._finding(name)
        try:
            page = api.explain(found.rule_id if found is not None else name[:200])
        except UsageError:
            if found is None or self.last is None or found.rule_id not in self.last.rules:
                raise
            return rule_answer(self.last.rules[found.rule_id], "", found)
        return rule_answer(page.meta, page.page, found)

    def report(self, style: str) -> str:
        """The last report in a format. Raises UsageError where there is none yet."""
        if self.last is None:
            raise UsageError("there is no report yet", advice="Call check_change first.")
        return api.render(self.last, style)

    def _finding(self, name: str) -> Finding | None:
        findings = self.last.findings if self.last is not None else ()
        return next((f for f in findings if f.fingerprint == name), None)

    def _inside(self, repo: str) -> Path:
        """The folder, which must lie in ours: links are followed before that is asked."""
        root = self.root.resolve()
        where = (root / repo).resolve()
        if where != root and root not in where.parents:
            raise UsageError(
                f"{ascii(repo)[:120]} is outside of the folder that this server was started for",
                advice="Name a folder in it; `gate mcp --repo DIR` starts the server for another one.",
            )
        return where

    @contextmanager
    def _opened(
        self, repo: Path, base: str, head: str, *, worktree: bool
    ) -> Iterator[tuple[OpenChange, str]]:
        """The change with the default branch's settings, and in words whose settings those are."""
        trusted = default_branch(repo)
        opened = (
            open_uncommitted(repo, "worktree")
            if worktree
            else open_range(repo, base or default_base(repo, head or "HEAD"), head or "HEAD")
        )
        with opened:
            if self.chosen.file is not None:
                yield opened, "the file that this server was started with"
            elif trusted is None:
                yield opened, "those at base (there is no default branch)"
            else:
                with open_range(repo, trusted, trusted) as settled:
                    yield replace(opened, config=settled.config), "those of the default branch"

    def _settings(self, *, fast: bool) -> api.Chosen:
        if not fast:
            return self.chosen
        return replace(self.chosen, flags={**self.chosen.flags, "sandbox.fast": (True, "the agent")})

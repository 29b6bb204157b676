"""The change room's contract: two trees and what differs, read without a work tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import TracebackType
from typing import Self

from gate.dataclass import dataclass
from gate.model.change import Change, LineOrigin, Tree


def _nothing() -> None:
    return None


def _no_origins(_path: str) -> tuple[LineOrigin, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class OpenChange:
    """A change whose trees can be read until the block ends.

    ``base`` is the tree that head is compared with (the merge base's), ``config`` the tree of the
    base commit itself, from which settings are read. ``notes`` maps a commit of the range to the
    bodies of its AI-attribution notes (git-ai and Agent Trace; untrusted, at most 4 MiB each).
    ``origins`` answers which commit of the range wrote which head lines of a path; it may start git.
    ``head_tree`` is the object name of head's tree, None for loose files.
    """

    change: Change
    base: Tree
    head: Tree
    config: Tree
    notes: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    committed: int | None = None
    """When the tree of ``base`` was committed, seconds since the epoch; None where that is not known."""
    origins: Callable[[str], tuple[LineOrigin, ...]] = _no_origins
    close: Callable[[], None] = _nothing
    head_tree: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

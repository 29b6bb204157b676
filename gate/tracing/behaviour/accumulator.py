"""The table that a trace is reduced to: one mutable cell for each different behaviour, bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from gate.model.behaviour import BehaviourKind

DISTINCT: Final = 20_000
"""Different behaviours of one kind kept of one run; more are counted together (behaviour ``limit``).
By kind, so that a flood of one (questions about paths) cannot push out another (a connection)."""
_DETAIL: Final = 500
EXACT: Final = 30
"""Different subjects of one shape told apart; more are counted together, under their shape."""


class Cell:
    """One behaviour in the making."""

    __slots__ = ("actor", "count", "denied", "detail", "first_seen", "kind", "shape", "subject")

    def __init__(
        self, kind: BehaviourKind, subject: str, actor: str, detail: dict[str, str], denied: bool
    ) -> None:
        self.kind = kind
        self.subject = subject
        self.actor = actor
        self.detail = detail
        self.denied = denied
        self.count = 0
        self.shape = ""
        self.first_seen: float | None = None


IGNORED: Final = Cell(BehaviourKind.LIMIT, "ignored", "", {}, denied=False)
"""Counted by nobody: stands for calls that are no behaviour."""


class Cells:
    """Cells by kind, subject and actor; the detail is that of the first time.

    ``now``: seconds into the run of what is being read, None where nobody knows; whoever reads sets it.
    """

    def __init__(self) -> None:
        self._cells: dict[tuple[BehaviourKind, str, str], Cell] = {}
        self._kinds: Counter[BehaviourKind] = Counter()
        self._alike: Counter[tuple[BehaviourKind, str, str]] = Counter()
        self.now: float | None = None
        self._rest = Cell(BehaviourKind.LIMIT, "distinct-behaviours", "", {}, denied=False)

    def __iter__(self) -> Iterator[Cell]:
        for cell in self._cells.values():
            # Not a program that was looked for in one place and found in another.
            if cell.count or cell.kind is not BehaviourKind.EXEC:
                yield cell
        if self._rest.count:
            yield self._rest

    def get(
        self,
        kind: BehaviourKind,
        subject: str,
        actor: str = "",
        detail: Mapping[str, str] | None = None,
        *,
        denied: bool = False,
        shape: str = "",
    ) -> Cell:
        """The cell for this behaviour, made where it is new; counting is the caller's.

        ``shape``: the subject without what may differ by chance (see the model), where that is another text.
        """
        key = (kind, subject, actor)
        cell = self._cells.get(key)
        if cell is None and shape not in ("", subject):
            if self._alike[kind, shape, actor] >= EXACT:
                return self.get(kind, shape, actor, detail, denied=denied)
            self._alike[kind, shape, actor] += 1
        if cell is None:
            if self._kinds[kind] >= DISTINCT:
                return self._rest
            self._kinds[kind] += 1
            short = {name: value[:_DETAIL] for name, value in (detail or {}).items() if value}
            cell = self._cells[key] = Cell(kind, subject, actor, short, denied)
            cell.shape = shape if shape != subject else ""
            cell.first_seen = self.now
        elif denied:
            cell.denied = True
        return cell

    def add(
        self,
        kind: BehaviourKind,
        subject: str,
        actor: str = "",
        detail: Mapping[str, str] | None = None,
        *,
        denied: bool = False,
        shape: str = "",
    ) -> None:
        """Count this behaviour once."""
        self.get(kind, subject, actor, detail, denied=denied, shape=shape).count += 1

    def drop(self, kind: BehaviourKind, subject: str) -> None:
        """Forget a behaviour of every actor (a placeholder that something better replaced)."""
        for key in [key for key in self._cells if key[0] is kind and key[1] == subject]:
            del self._cells[key]

"""Tests that are gone, skipped or ask less, and that name functions which the same change edits. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.protections.facts import FileFacts, Unit
from gate.protections.matching import make_side, pairs

How = Literal["deleted", "skipped", "loosened"]
_SHORT: Final = 4
"""Names below this length say nothing about what a test is about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """A test that says less. ``path`` is head's, or base's where the file is gone (``line`` 0 then)."""

    how: How
    path: str
    line: int
    test: str
    about: tuple[str, ...]


def changed_names(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], now_at: Mapping[str, str]
) -> set[str]:
    """Last names of the functions that both sides have and that differ."""
    names: set[str] = set()
    for old, new in pairs(make_side(base), make_side(head), now_at):
        if new is not None and old.unit.kind == "function" and old.unit.digest != new.unit.digest:
            names.add(new.unit.name.rpartition(".")[2])
    return {name for name in names if len(name) >= _SHORT and not name.startswith("__")}


def missing_tests(
    base: Mapping[str, FileFacts],
    head: Mapping[str, FileFacts],
    now_at: Mapping[str, str],
    about: Collection[str],
) -> Iterator[Missing]:
    """Tests of base that mention one of the names ``about`` and ask less at head."""
    left = {u.name.rpartition(".")[2] for facts in head.values() for u in facts.units if _is_test(u)}
    for old, new in pairs(make_side(base), make_side(head), now_at):
        if not _is_test(old.unit):
            continue
        named = tuple(sorted(set(about) & {*old.unit.mentions, *_words(old.unit)}))
        if not named:
            continue
        at = now_at.get(old.path, old.path)
        if new is None:
            if old.unit.name.rpartition(".")[2] not in left:
                line = 1 if at in head else 0
                yield Missing(how="deleted", path=at, line=line, test=old.unit.name, about=named)
        elif new.unit.skipped and not old.unit.skipped:
            yield Missing(how="skipped", path=new.path, line=new.unit.line, test=new.unit.name, about=named)
        elif new.unit.counted < old.unit.counted:
            yield Missing(how="loosened", path=new.path, line=new.unit.line, test=new.unit.name, about=named)


def _is_test(unit: Unit) -> bool:
    return unit.kind == "function" and unit.name.rpartition(".")[2].startswith("test")


def _words(unit: Unit) -> set[str]:
    """``test_delete_user_needs_login`` is about ``delete_user``, too."""
    parts = unit.name.rpartition(".")[2].split("_")[1:]
    return {"_".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts) + 1)}

"""Handlers whose own check is gone, behind a mount in an unchanged file that asks the same. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from typing import Final

from gate.protections.facts import WHO, FileFacts
from gate.protections.routes.access import takes_in
from gate.protections.routes.files import may_mount
from gate.protections.unit_losses import Loss

_MOST: Final = 8


def mounting_files(
    base: Mapping[str, FileFacts], head: Mapping[str, FileFacts], there: Collection[str]
) -> list[str]:
    """Unchanged files that may put a router together whose file lost a check of who asks."""
    less = [
        path for path, facts in head.items()
        if facts.routes and path in base and _asking(facts) < _asking(base[path])
    ]  # fmt: skip
    return [at for at in there if any(may_mount(at, path) for path in less)][:_MOST] if less else []


def _asking(facts: FileFacts) -> int:
    return sum(g.family in WHO for unit in facts.units for g in unit.guards)


def is_asked_at_mount(loss: Loss, head: Mapping[str, FileFacts], around: Mapping[str, FileFacts]) -> bool:
    """Is a check gone from a handler that every mount of its router still makes, as it did at base?

    A mount in a changed file says nothing of base, so files beside the change alone count.
    """
    facts = head.get(loss.path)
    if facts is None or loss.how != "removed" or loss.family not in WHO:
        return False
    routes = [one for one in facts.routes if not one.mounts]
    own = [one for one in routes if one.line == loss.line or f"/{one.url}" == loss.unit.partition(" ")[2]]
    files = {**around, **head}
    mounts = [(at, one) for at, of in files.items() for one in of.routes if one.mounts]
    if not own:
        return False
    for route in own:
        taken = [(at, m) for at, m in mounts if takes_in(m, loss.path, route, same=at == loss.path)]
        if not taken:
            return False
        for at, mount in taken:
            asked = {g.family for g in mount.guards if g.family in WHO}
            needed = {"authorisation"} if loss.family == "authorisation" else set(WHO)
            if at not in around or not asked & needed:
                return False
            if posixpath.splitext(at)[1] != posixpath.splitext(loss.path)[1]:
                return False
    return True

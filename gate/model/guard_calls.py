"""Guards that were called alike at base and at head, and what only head accepts."""

from __future__ import annotations

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class GuardTarget:
    """A function whose answer lets somebody in. ``name``: qualified in its module; ``changed``: a line of its
    own changed, not only of what it uses.
    """

    path: str
    name: str
    line: int
    changed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenedGuard:
    """A guard that accepts what base refuses. ``asked``: the arguments in which it does, each as text;
    ``base`` and ``head``: what was answered to the first. All untrusted. ``plain``: in none of them stands
    more than values of the kind that the guard is there to tell apart: a wider set or a later time.
    """

    target: GuardTarget
    asked: tuple[str, ...]
    base: str
    head: str
    plain: bool = False

"""What one file says about its protections: plain values, so that a child can send them."""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from gate.dataclass import dataclass

Family = Literal[
    "authentication", "authorisation", "csrf", "rate limit", "integrity", "place", "validation", "escaping",
    "setting", "isolation", "other",
]  # fmt: skip
"""What a protection protects from; one of the same family may stand in place of another. ``other``: an early
end whose condition names none. It can keep what a guard of base refused, and is never missed itself."""
WHO: Final[tuple[Family, Family]] = ("authentication", "authorisation")
"""Families that ask who somebody is or what they may."""
SWALLOWED: Final = "+swallowed"
"""The atom of a place whose exceptions nobody sees."""
QUERY: Final = "a query"
"""As ``Guard.of``: any call that asks a database."""
INCLUDED: Final = "include_router"
ROUTERS: Final = (INCLUDED, "APIRouter", "FastAPI", "Blueprint", "NinjaAPI")
"""As ``Guard.of``: what is said of one of these holds for all its routes."""
Form = Literal[
    "decorator", "parameter", "refusal", "branch", "handler", "call", "cleaner", "argument", "class", "wide",
    "entry",
]  # fmt: skip
"""How it is written. ``wide`` guards more than the function it stands in: a middleware, a router. ``entry``
is one entry of a list, a key or an object: only the same entry stands in its place."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """One protection. It refuses when all of ``must`` hold, in the place that ``context`` describes.

    Both are atoms: a sign (``+`` holds, ``-`` does not) and a condition in normal form. ``text`` is the
    source. ``holds``: digests of the statements that a branch guards. ``of``: what the function must still
    use for the loss to count, as the call that an argument belongs to. ``vague``: only the answer (401, 403)
    tells that it is a check, not its condition. ``behind``: how many acts of the function stand before it.
    """

    family: Family
    form: Form
    must: tuple[str, ...]
    context: tuple[str, ...] = ()
    text: str
    line: int
    holds: tuple[int, ...] = ()
    of: str = ""
    vague: bool = False
    behind: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Weakness:
    """Something that takes a protection away by being there (``csrf_exempt``, ``DEBUG = True``).

    ``needs``: it counts only where base's unit mentions one of these words, or has a guard that asks one of
    these atoms: what was safe before. ``modest``: medium at most, whatever its family. ``anew``: it counts
    in functions that base had not, too.
    """

    key: str
    family: Family
    text: str
    line: int
    mild: bool = False
    """Ordinary by itself, as one more allowed host."""
    modest: bool = False
    anew: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Strength:
    """A quantity that protects, as the length of a token: so many bits, rounds, seconds, bytes."""

    what: str
    amount: float
    text: str
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """A function with everything in it, a class without its methods, or what is left of the module.

    ``route``: it answers requests. ``check``: its answer decides about others. ``calls``: last names of what
    it calls. ``tokens``: digests of pairs of words, for likeness. ``tested``: atoms of all its conditions.
    ``plain``: digests of its statements that no guarding branch holds. ``acts``: digests of statements that
    only act, in their order. ``counted``: how many assertions a test has. ``mentions``: names used.
    ``coarse``: read by names more than by syntax, so that a loss in a rewritten function says little.
    """

    name: str
    kind: Literal["function", "class", "module"]
    line: int
    route: bool = False
    check: bool = False
    guards: tuple[Guard, ...] = ()
    weaknesses: tuple[Weakness, ...] = ()
    strengths: tuple[Strength, ...] = ()
    calls: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()
    digest: int = 0
    tested: tuple[str, ...] = ()
    plain: tuple[int, ...] = ()
    acts: tuple[int, ...] = ()
    counted: int = 0
    skipped: bool = False
    mentions: tuple[str, ...] = ()
    coarse: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Members:
    """Which keys of what is sent something takes: all but ``names`` (``open``), or those alone."""

    name: str
    open: bool
    names: tuple[str, ...]
    text: str
    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """One registration of what answers requests. ``url``: normalised, with the prefixes that the file shows.

    ``verb``: empty for any. ``handler``: dotted, as far as the file says whose; empty where it stands in
    place, and then ``words`` has what it uses. ``name``: the route's own. ``group``: the router or function
    that it is registered in. ``guards``: what is registered with it or around it. ``wraps``: other functions
    around it, that nobody here understands. ``mounts``: it takes in a router (``handler``) and answers
    nothing itself.
    """

    verb: str
    url: str
    handler: str
    text: str
    line: int
    name: str = ""
    group: str = ""
    guards: tuple[Guard, ...] = ()
    wraps: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    mounts: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """One call of a check, by its name, and what becomes of its answer.

    ``how``: ``awaited``, ``used`` (a condition, a value), ``bare`` (a statement), ``apart`` (nobody waits for
    it, or what goes wrong is dropped); ``defined async`` and ``defined sync`` where the check itself stands,
    which ``raises`` or answers only.
    ``awaits``: of a language in which a call without ``await`` may be left to itself. ``errors``: of one in
    which errors are values.
    """

    name: str
    how: str
    text: str
    line: int
    within: str = ""
    awaits: bool = False
    errors: bool = False
    raises: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One check in a function, or one value that it hands on (``passed``: to which function).

    ``key``: what it asks by (functions, constants), without its variables. ``through``: calls that its values
    went through before; ``behind``: those that they, or what they come from, go through behind it.
    """

    key: str
    through: tuple[str, ...]
    behind: tuple[str, ...]
    within: str
    text: str
    line: int
    passed: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileFacts:
    """All units of one file. ``path`` is set by the host."""

    units: tuple[Unit, ...] = field(default=())
    overall: tuple[Strength, ...] = field(default=())
    """What is compared over the whole change (overall/), wherever its function stands."""
    members: tuple[Members, ...] = field(default=())
    routes: tuple[Route, ...] = field(default=())
    heard: tuple[Heard, ...] = field(default=())
    asked: tuple[Asked, ...] = field(default=())

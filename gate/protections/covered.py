"""Paths that a middleware is asked for (``config.matcher``): which of base are not any more.

Nothing in the middleware changes; it is not called any more. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.protections.facts import FileFacts, Members
from gate.protections.unit_losses import Loss

MATCHER: Final = "paths that a middleware is asked for"
_SIGNS: Final = ":*({[?+"


def covered_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """Of each list of patterns, the ones of base that none of head's begins as."""
    now = [(path, one) for path, facts in head.items() for one in facts.members if one.name == MATCHER]
    for old_path, facts in base.items():
        for old in (one for one in facts.members if one.name == MATCHER):
            if not now:
                continue
            gone = [one for one in old.names if not any(_holds(new, one) for _, new in now)]
            if gone:
                path, new = now[0]
                yield Loss(
                    how="weakened",
                    family=MATCHER,
                    path=path,
                    line=new.line,
                    unit="",
                    before=(old.text,),
                    before_at=f"{old_path}:{old.line}",
                    after=f"not asked for {', '.join(gone[:3])}: {new.text}",
                )


def _holds(new: Members, pattern: str) -> bool:
    return any(one == pattern or _stem(one) == "" or _is_below(pattern, one) for one in new.names)


def _is_below(pattern: str, other: str) -> bool:
    """Does everything that begins as ``pattern`` stand below ``other``, which goes all the way down?"""
    deep = any(sign in other for sign in ("*", ".+", ".*")) and not other.endswith(("/*", "/:path"))
    inner, outer = _stem(pattern), _stem(other)
    return deep and (inner == outer or inner.startswith(f"{outer}/"))


def _stem(pattern: str) -> str:
    """What stands before the first sign of a pattern, without its slash."""
    at = min((pattern.find(sign) for sign in _SIGNS if sign in pattern), default=len(pattern))
    return pattern[:at].rstrip("/")

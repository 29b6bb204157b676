"""Which keys of what is sent are taken, by name of what takes them: base against head. Pure.

A form, a DTO or a list of parameters takes what it names (closed), or all but what it leaves out (open). That
it takes a role, an owner or a price more than before is mass assignment (CWE-915).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.languages.naming import snake
from gate.protections.covered import MATCHER
from gate.protections.facts import FileFacts, Members
from gate.protections.unit_losses import Loss
from gate.protections.vocabulary import is_granting
from gate.regex import regex

TAKEN: Final = "keys that are not taken from what is sent"
_PRICE: Final = regex(r"(?:^|_)(?:price|prices|discount|fee|salary|cents)$")
_STRICT: Final = regex(
    r"(?:^|_)(?:roles?|is_?admin|admin|is_staff|is_superuser|permissions|user_permissions)$"
)
"""What a serializer, which often only shows, is told for."""
_AUTHORS: Final = regex(r"(?:^|_)(?:author|creator|member|company|team|customer|patient|subscriber)$")
_SHOWN: Final = 3


def member_losses(base: Mapping[str, FileFacts], head: Mapping[str, FileFacts]) -> Iterator[Loss]:
    """What takes more at head of what says what somebody may, whose something is, or what it costs."""
    now: dict[str, tuple[str, Members]] = {}
    for path, facts in head.items():
        for one in facts.members:  # lists of paths are read in covered.py
            now.setdefault(one.name, (path, one))
    for old_path, facts in base.items():
        for old in facts.members:
            if old.name == MATCHER:
                continue
            path, new = now.get(old.name, ("", old))
            more = [*_more(old, new)] if path else []
            if more:
                yield Loss(
                    how="weakened",
                    family=TAKEN,
                    path=path,
                    line=new.line,
                    unit=new.name,
                    before=(old.text,),
                    before_at=f"{old_path}:{old.line}",
                    after=f"takes {', '.join(more[:_SHOWN])}: {new.text}",
                )


def _more(old: Members, new: Members) -> Iterator[str]:
    if not old.open and new.open:
        yield from () if any(map(_grants, new.names)) else ("everything",)
    elif old.open and new.open:
        yield from (one for one in old.names if one not in new.names and _grants(one))
    elif old.open:
        yield from (one for one in old.names if one in new.names and _grants(one))
    else:
        fresh = [one for one in new.names if one not in old.names]
        strict = new.name.endswith(("Serializer", "Schema", "Type"))
        yield from (one for one in fresh if (_STRICT.search(snake(one)) if strict else _grants(one)))


def _grants(name: str) -> bool:
    plain = snake(name)
    if _AUTHORS.search(plain) or plain in (
        "password",
        "credits",
        "groups",
        "approved",
        "is_active",
        "active",
    ):
        return False  # ordinary fields of forms
    return is_granting(name) or _PRICE.search(plain) is not None

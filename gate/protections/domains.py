"""Who may, told by the domain of a mail address: whoever may write any address chooses a domain. Pure.

An address that nobody confirmed is what its owner says it is (CWE-290). Where a function that decides who may
takes the part behind the ``@`` for an organisation, somebody should be told.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.facts import WHO
from gate.protections.traits import Fact, lapse
from gate.protections.vocabulary import family_of
from gate.regex import regex

_SPLITS: Final = frozenset({
    "partition", "rpartition", "split", "rsplit", "endswith", "ends_with", "end_with", "substring_after",
    "substring_after_last", "rsplit_once", "split_once", "has_suffix", "explode", "substr", "str_ends_with",
    "strrchr", "cut", "split_n",
})  # fmt: skip
_ADDRESS: Final = regex(
    r"(?:user|member|account|principal|claims|profile|current\w*|identity|viewer|me)\w*(?:\(\))?(?:\.|->|\[.)"
    r"\w*(?:mail|upn)",
    re.IGNORECASE,
)
"""The address of who asks, not one that is typed in."""
_PROVEN: Final = regex(r"verif|confirm|validated|proven|sso|saml|domain_owner", re.IGNORECASE)
_CLEANING: Final = regex(r"mask|anonymi|redact|normali|canonical|parse|valid|format|display|pars")


def domain_facts(name: str, splits: Collection[tuple[str, str, int]], text: str) -> Iterator[Fact]:
    """``splits``: calls of the function with their name, text and line. ``text``: the function's own."""
    short = snake(name.rpartition(".")[2])
    if family_of(short) not in WHO or _CLEANING.search(short) or _PROVEN.search(text):
        return
    for called, shown, line in splits:
        if called in _SPLITS and "@" in shown and _ADDRESS.search(shown) and len(shown) < 200:
            key = "who may is told by the domain of an address"
            yield lapse("authorisation", key, shown, line, anew=True)
            return

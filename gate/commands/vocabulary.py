"""What is told of a command that fetches and runs, and the words for fetching."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from gate.commands.addresses import Place

How = Literal["piped", "substituted", "run", "made executable", "decoded"]
"""How it came to run."""
FETCH: Final = (
    r"(?<![\w./-])(?:/\S{0,80}/)?(?:curl|wget2?|aria2c|lwp-download|iwr|irm|invoke-webrequest|invoke-restmethod)"
    r"(?:\.exe)?(?=[\s\"',$)]|$)|\bfetch(?=\s+-)|\bnc(?:at)?(?=\s+[\w.-]+\s+\d)|\bDownloadString\(|\bADD\s+(?:--\S+\s+)*https?://"
)
FETCHES: Final = re.compile(FETCH, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Code that a command got from elsewhere and ran. Lines are the text's own, 1-based.

    ``checked``: its sum, given in the text, or a signature is checked in between.
    """

    how: How
    place: Place
    address: str
    first: int
    last: int
    checked: bool = False

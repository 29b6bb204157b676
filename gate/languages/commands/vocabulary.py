"""What is told of a command that fetches and runs, and the words for fetching."""

from __future__ import annotations

import re
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.languages.commands.addresses import Origin
from gate.regex import regex

FetchMeans = Literal["piped", "substituted", "run", "cloned", "installed", "made executable", "decoded"]
"""How it came to run; ``cloned``: a program of a clone, ``installed``: a package by its address."""
FETCH: Final = (
    r"(?<![\w./-])(?:/\S{0,80}/)?(?:curl|wget2?|aria2c|lwp-download|iwr|irm|invoke-webrequest|invoke-restmethod)"
    r"(?:\.exe)?(?=[\s\"',$)]|$)|\bfetch(?=\s+-)|\bnc(?:at)?(?=\s+[\w.-]+\s+\d)|\bDownloadString\(|\bADD\s+(?:--\S+\s+)*(?:\[\s*)?[\"']?https?://"
    r"|\bopenssl\s+s_client\b|\blynx(?=\s+-(?:source|dump))|(?<![\w./:-])https?(?=\s+(?:-\S+\s+){0,4}(?:GET\s|https?://))"
    r"|\bGET(?=\s+https?://)|\bsocat(?=\s[^|\n]{0,40}TCP)|(?<=<)\s{0,4}/dev/(?:tcp|udp)/(?=\w)"
)
FETCHES: Final = regex(FETCH, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Code that a command got from elsewhere and ran. Lines are the text's own, 1-based.

    ``checked``: its sum, given in the text, or a signature is checked in between.
    """

    how: FetchMeans
    origin: Origin
    address: str
    first: int
    last: int
    checked: bool = False

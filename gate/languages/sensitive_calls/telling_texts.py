"""Texts that are a command for some program, or the place of a server: whoever gets them may run the one or
reach the other, in a file that nobody changed.

Only where nothing shows that the line ran is this told; so it asks for the whole text, not for a word in it:
prose, help and addresses of pages are none.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from gate.languages.sensitive_calls.matching import Hit
from gate.model.sensitive import SensitiveKind
from gate.regex import regex

LANGUAGES: Final = frozenset(
    {
        *("go", "java", "kotlin", "scala", "rust", "csharp", "c", "cpp", "swift", "php", "ruby", "elixir"),
        *("python", "javascript", "typescript", "lua", "julia", "dart", "groovy"),
    }
)
_QUOTED: Final = regex(
    r"\A[\w$@#%]{0,4}(?P<quote>\"{3}|'{3}|[\"'`])(?P<text>[^\n]{4,400}?)(?P=quote)#*\Z", re.DOTALL
)
_PROGRAM: Final = regex(r"(?:[~./\w-]*/)?[a-z][a-z0-9_.-]{0,40}\Z")
_OPTION: Final = regex(r"--?[A-Za-z][\w-]*(?:=.*)?\Z")
_LEADS: Final = regex(r"-{1,2}[A-Za-z][\w-]*=\S")
"""An option whose value is a command: ``--rsh=ssh -J a@b``."""
_URL: Final = regex(r"\b[a-z][a-z0-9+]{1,10}://(?P<host>[\w.-]+)")
_NUMBERS: Final = regex(r"(?<![\w.])(?P<host>\d{1,3}(?:\.\d{1,3}){3})(?::(?P<port>\d{1,5}))?(?![\w.])")
_HOST_PORT: Final = regex(r"(?<![\w./])(?P<host>(?:[a-z0-9-]+\.)+[a-z]{2,}):\d{2,5}(?![\w.])")
_LOGIN: Final = regex(r"(?<![\w.])[\w.-]+@(?P<host>(?:[a-z0-9-]+\.)*[a-z0-9-]+)(?![\w@])")
_PIPED: Final = regex(r"\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\$\((?:curl|wget)\b|/dev/tcp/")
_HERE: Final = frozenset({"localhost", "example.com", "example.org", "example.net"})
_NEAR: Final = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "0.0.0.0/8",
    "224.0.0.0/3",
)
_NETWORKS: Final = tuple(ipaddress.ip_network(each) for each in _NEAR)
_MOST: Final = 80


def telling_texts(text: bytes, strings: tuple[tuple[int, int], ...]) -> Iterator[Hit]:
    """Each constant text that is a command with an address in it, or a server's address with its port."""
    for start, end in strings:
        quoted = _QUOTED.match(text[start:end].decode("utf-8", "replace"))
        content = quoted["text"].strip() if quoted else ""
        kind = told_text(content)
        if kind is not None:
            yield Hit(start=start, end=end, kind=kind, call=content[:_MOST], way="read")


def told_text(content: str) -> SensitiveKind | None:
    """What a text is for, as a whole: a process, the network, nothing of the kind."""
    if is_command(content):
        return SensitiveKind.PROCESS
    whole = _NUMBERS.fullmatch(content) or _HOST_PORT.fullmatch(content)
    url = _URL.match(content)
    if whole is not None and (":" in content) and _is_far(whole["host"]):
        return SensitiveKind.NETWORK
    if url is not None and " " not in content and _NUMBERS.fullmatch(url["host"]) and _is_far(url["host"]):
        return SensitiveKind.NETWORK
    return None


def is_command(content: str) -> bool:
    """True for a program with options, or options alone, and a far place among its words."""
    words = content.split()
    if len(words) < 3:
        return False
    if not (_LEADS.match(words[0]) or _PROGRAM.match(words[0])):
        return False
    if _PIPED.search(content):
        return True
    return any(_OPTION.match(word) for word in words) and any(_is_far(host) for host in _hosts(content))


def _hosts(content: str) -> Iterator[str]:
    for pattern in (_URL, _NUMBERS, _HOST_PORT, _LOGIN):
        yield from (match["host"] for match in pattern.finditer(content))


def _is_far(host: str) -> bool:
    """False for this machine, a private network and the names that are kept for examples."""
    if not _NUMBERS.fullmatch(host):
        return host.lower() not in _HERE and not host.lower().endswith((".local", ".localhost", ".internal"))
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return not any(address in network for network in _NETWORKS)

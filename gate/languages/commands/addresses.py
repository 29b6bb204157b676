"""Addresses in commands: which are there, and what is known of the place they lead to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from gate.regex import regex
from gate.resources import rules_dir

DROPS: Final = regex(
    r"discord(app)?\.com/api/webhooks/\d|api\.telegram\.org/bot|hooks\.slack\.com/services/T|pastebin\.com/raw"
    r"|\b[\w-]+\.(ngrok(-free)?\.(io|app|dev)|trycloudflare\.com|serveo\.net|loca\.lt)|webhook\.site/|requestbin"
    r"|\.(oast\.(pro|live|site|online|fun|me)|burpcollaborator\.net|interact\.sh|dnslog\.cn|canarytokens\.com)"
    r"|transfer\.sh/|anonfiles\.com|gofile\.io/|stratum\+(tcp|ssl)://|[a-z2-7]{56}\.onion|termbin\.com"
)
"""Chat webhooks, paste sites, tunnels: they collect what was stolen, or hold what is run next."""
_PASTED: Final = regex(
    r"^(?:gist\.github(?:usercontent)?\.com|(?:[\w-]+\.)*(?:pastebin\.com|paste\.ee|hastebin\.com|ix\.io|0x0\.st"
    r"|rentry\.co|dpaste\.(?:com|org)|ghostbin\.\w+|bit\.ly|tinyurl\.com|is\.gd|catbox\.moe|cdn\.discordapp\.com))$"
)
_LOCAL: Final = regex(r"^(?:localhost|127\.\d+\.\d+\.\d+|::1|0\.0\.0\.0|host\.docker\.internal)$")
_BARE: Final = regex(r"^(?:\d+(?:\.\d+)*|0x[0-9a-f]+|.*:.*)$", re.IGNORECASE)
_URL: Final = regex(r"\b(?:https?|ftps?)://[^\s\"'`|;<>,)\]]{1,2000}", re.IGNORECASE)
_SCHEMELESS: Final = regex(
    r"^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?$|^\d+\.\d+\.\d+\.\d+(?:[:/]\S*)?$", re.IGNORECASE
)
_TAKES_WORD: Final = regex(r"^(?:-[a-zA-Z]*[oOHAeubxdXmPTFc]|--(?!location|silent|fail|quiet)[\w-]+)$")
_UNSURE: Final = regex(r"[$%{}*@\\]|\(")
_NAMED: Final = regex(
    r"(?:^|[\s;&|\"'{,])([A-Za-z_]\w{0,60})\s{0,8}(?:[:?]?=|:(?=\s))\s{0,8}[\"']?([^\s\"';&|,}]{1,500})",
    re.MULTILINE,
)
_USED: Final = regex(
    r"\$\{\{\s*(?:env|vars)\.(\w+)\s*\}\}|\{\{\s*\.?(\w+)\s*\}\}|\$[({]?(\w+)[)}]?|%(\w+)%|\{(\w+)\}"
)
_INSECURE: Final = regex(r"(?:^|\s)(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure|--no-check-certificate)(?=[\s\"',]|$)")
_LED_ELSEWHERE: Final = regex(
    r"(?:^|\s)(?:--resolve|--connect-to|--dns-\w+|--doh-url|-K|--config)(?=[\s=\"',])"
)
"""Options of curl by which an address leads to another place than its name says."""


_DOCUMENTED: Final = tuple(
    map(ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
)
"""Networks of examples: they stand for the real thing."""


class Origin(IntEnum):
    """What is known of where something comes from, the best first."""

    LOCAL = 0
    VENDOR = 1
    NAMED = 2
    UNREADABLE = 3
    DOUBTFUL = 4

    @property
    def description(self) -> str:
        """In words, for people."""
        return _WORDS[self]


_WORDS: Final = {
    Origin.LOCAL: "this machine",
    Origin.VENDOR: "a vendor's own installer (rules/installers.toml)",
    Origin.NAMED: "an address that is no known installer",
    Origin.UNREADABLE: "an address that cannot be read here",
    Origin.DOUBTFUL: "a bare address, a paste site, or without TLS",
}


@cache
def _vendors() -> tuple[tuple[str, str], ...]:
    with (rules_dir() / "installers.toml").open("rb") as file:
        entries = tomllib.load(file)["addresses"]
    return tuple((host.lower(), path) for host, _, path in (entry.partition("/") for entry in entries))


def origin_of(address: str) -> Origin:
    """What is known of an address; one without a scheme is fetched over plain HTTP by curl and wget."""
    whole = address if "://" in address else f"http://{address}"
    try:
        parts = urlsplit(whole)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return Origin.UNREADABLE
    if _LOCAL.match(host):
        return Origin.LOCAL
    if not host or _UNSURE.search(parts.netloc):
        return Origin.DOUBTFUL if parts.scheme.lower() == "http" else Origin.UNREADABLE
    if parts.scheme.lower() != "https" or _BARE.match(host) or _PASTED.match(host) or DROPS.search(whole):
        return Origin.DOUBTFUL
    if ".." in parts.path or "%2e" in parts.path.lower() or "\\" in parts.path:
        return Origin.NAMED
    return Origin.VENDOR if any(_below(host, parts.path, *vendor) for vendor in _vendors()) else Origin.NAMED


def leads_to_nobody(address: str) -> bool:
    """Is it a public machine by its bare number, a chat's webhook, a paste site or a tunnel?

    Nobody can say whose it is. Numbers of the machine itself and of private networks are somebody's own.
    """
    whole = address if "://" in address else f"http://{address}"
    try:
        host = (urlsplit(whole).hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        number = ip_address(host)
    except ValueError:
        return bool(_PASTED.match(host) or DROPS.search(whole))
    documented = any(number in network for network in _DOCUMENTED if network.version == number.version)
    return documented or number.is_global


def _below(host: str, path: str, vendor: str, root: str) -> bool:
    path = path.lstrip("/")
    return host == vendor and (not root or path == root or path.startswith((f"{root}/", f"{root}@")))


def named_values(text: str) -> Mapping[str, str]:
    """Variables that are given one value only in the whole text: what ``$NAME`` in an address means."""
    values: dict[str, set[str]] = {}
    for name, value in _NAMED.findall(text):
        values.setdefault(name, set()).add(value)
    return {name: next(iter(given)) for name, given in values.items() if len(given) == 1}


def filled_in(command: str, values: Mapping[str, str]) -> str:
    """The command with the variables whose value is known replaced, in up to three rounds."""
    for _ in range(3):
        filled = _USED.sub(lambda m: values.get(next(filter(None, m.groups())), m[0])[:500], command[:8000])
        if filled == command[:8000]:
            break
        command = filled
    return command


def addresses(command: str) -> list[str]:
    """The addresses a fetching command names; without any with a scheme, words that look like a host's."""
    found = _URL.findall(command)
    if found:
        return list(found)
    words = command.replace('"', " ").replace("'", " ").replace(",", " ").split()
    return [
        word
        for before, word in zip(["", *words], words, strict=False)
        if _SCHEMELESS.match(word) and not _TAKES_WORD.match(before)
    ]


def worst_origin(command: str) -> tuple[Origin, str]:
    """Where a fetching command fetches from: the worst of its addresses; worse if led elsewhere."""
    found: Iterable[tuple[Origin, str]] = [(origin_of(address), address) for address in addresses(command)]
    place, address = max(found, default=(Origin.UNREADABLE, ""))
    if place is not Origin.LOCAL and _INSECURE.search(command):
        place = Origin.DOUBTFUL
    if place <= Origin.VENDOR and _LED_ELSEWHERE.search(command):
        place = Origin.DOUBTFUL
    return place, address

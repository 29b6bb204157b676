"""Addresses in a line of text: URLs, hosts, mail, machines' numbers, ARNs, bank accounts, wallets."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.regex import regex

Kind = Literal["url", "host", "mail", "number", "resource", "bank", "wallet"]

_TOP: Final = (
    r"(?:com|net|org|io|dev|app|co|cloud|ai|xyz|site|online|top|info|biz|me|sh|so|gg|tech|live|pro|systems|us|uk|eu"
    r"|de|fr|nl|ch|at|it|es|pl|ru|cn|jp|in|br|ca|au|se|no|fi|dk|cz|ua|kr|tw|be|ie|pt|gr|hu|ro|tr|za|mx|ar|cl|nz|sg"
    r"|hk|il|ae|ir|kz|cc|tv|ws|pw|icu|vip|fun|club|shop|store|space|website|digital"
    r"|example|invalid|internal|test|local|onion)"
)
_FILL: Final = r"\$?\{\{?[^{}\s]{0,80}\}?\}"
_HOST: Final = rf"(?:[a-zA-Z0-9](?:[\w-]{{0,62}}[a-zA-Z0-9])?\.){{1,8}}{_TOP}"
_OCTETS: Final = r"(?:\d{1,3}\.){3}\d{1,3}"
_ADDRESS: Final = regex(
    rf"(?P<url>\b[a-z][a-z0-9+.-]{{1,15}}://(?:{_FILL}|[^\s\"'`<>(){{}}|\\^,;]){{3,400}})"
    r"|(?P<resource>\barn:[\w-]{1,20}:[\w-]{1,40}:[\w-]{0,30}:\w{0,40}:[^\s\"'`,;()<>]{1,200})"
    rf"|(?:(?<=[\"'`\s=@:,\[(])|(?<=\}}\.)|^)(?P<host>(?:[\w.+-]{{1,64}}@)?{_HOST}(?::[\w/.~-]{{1,200}})?)\.?(?=[\"'`\s,;)\]/?}}$]|$)"
    rf"|(?<![\w.-])(?P<number>{_OCTETS})(?::\d{{1,5}})?(?![\w.-])"
    r"|\b(?P<bank>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b"
    r"|\b(?P<wallet>0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60}|[13][a-km-zA-HJ-NP-Z1-9]{25,34})\b"
)
_LENGTHS: Final = {
    **dict.fromkeys(("AT", "EE", "LT", "LU", "BA", "XK", "KZ"), 20),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("CH", "LI", "HR", "LV"), 21),
    **dict.fromkeys(("DE", "GB", "IE", "BG", "BH", "CR", "GE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "IL", "TL"), 23),
    **dict.fromkeys(("ES", "SE", "CZ", "SK", "RO", "MD", "PK", "SA", "TN", "VG", "AD"), 24),
    **dict.fromkeys(("PT", "AO", "CV", "MZ"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "SM", "MR"), 27),
    **dict.fromkeys(("PL", "HU", "CY", "AL", "AZ", "BY", "DO", "GT", "LB", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU"), 30),
    **dict.fromkeys(("DK", "FI", "NL", "FO", "GL"), 18),
    "NO": 15,
    "MK": 19,
    "SI": 19,
    "MT": 31,
    "SC": 31,
    "LC": 32,
}
"""How long each country's IBAN is (ISO 13616)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """One address with its place in the line."""

    text: str
    kind: Kind
    start: int
    end: int


def addresses_in(line: str) -> Iterator[Address]:
    """Every address of a line. A host with a machine's number behind a colon (``extra_hosts``) is two."""
    for match in _ADDRESS.finditer(line):
        kind: Kind = match.lastgroup  # type: ignore[assignment]  # the names of the groups are the kinds
        start, end = match.span(kind)
        text = match[kind]
        if kind == "url":
            text = text.rstrip(".:!?*_&")
            end = start + len(text)
        elif (kind == "number" and not _is_number(text)) or (kind == "bank" and not _is_long_enough(text)):
            continue
        elif kind == "host":
            host, _, behind = text.partition(":")
            if _is_number(behind):
                yield Address(text=host, kind="host", start=start, end=start + len(host))
                yield Address(text=behind, kind="number", start=end - len(behind), end=end)
                continue
            kind = "mail" if "@" in text else "host"
        yield Address(text=text, kind=kind, start=start, end=end)


def _is_number(text: str) -> bool:
    try:
        number = IPv4Address(text)
    except AddressValueError:
        return False
    return number.packed[0] not in (0, 255) and number.packed[1:] != b"\0\0\0"


def _is_long_enough(text: str) -> bool:
    plain = text.replace(" ", "")
    return _LENGTHS.get(plain[:2]) == len(plain)


def is_account(text: str) -> bool:
    """Is this a bank account's number, by its own check digits (ISO 7064, modulo 97)?"""
    plain = text.replace(" ", "")
    if not _is_long_enough(text):
        return False
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1

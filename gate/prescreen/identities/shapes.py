"""What a written value looks like by itself: a bank account, a public key, an id of some service.

The shape says more than any name: two ids that somebody's service made up at random never differ in one
character by chance.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from gate.prescreen.identities import openpgp
from gate.regex import regex
from gate.supply.addresses import is_account

Shape = Literal[
    "bank",
    "key",
    "wallet",
    "uuid",
    "prefixed",
    "opaque",
    "plain",
    "mail",
    "room",
    "figures",
    "octets",
    "word",
    "",
]

_KEY: Final = regex(
    r"-----BEGIN (?:[A-Z]{2,5} )?PUBLIC KEY-----[\s\\nrA-Za-z0-9+/=]{40,8000}"
    r"-----END (?:[A-Z]{2,5} )?PUBLIC KEY-----\s*"
    rf"|{openpgp.SIGN}[0-9a-f]{{64}}"
    r"|-----BEGIN PGP PUBLIC KEY BLOCK-----[^-]{40,40000}-----END PGP PUBLIC KEY BLOCK-----\s*"
    r"|RW[A-Za-z0-9+/]{54}"
    r"|(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3}|sk-ssh-ed25519@openssh\.com)"
    r" AAAA[A-Za-z0-9+/]{40,3000}={0,3}(?: [^\n]{0,200})?"
)
_WALLET: Final = regex(r"0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}")
_UUID: Final = regex(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PREFIXED: Final = regex(r"[a-z]{2,12}(?:_(?:live|test|prod))?_(?=[A-Za-z]*\d)[A-Za-z0-9]{10,64}")
_TOKEN: Final = regex(r"[A-Za-z0-9_-]{10,128}={0,2}")
_PLAIN: Final = regex(r"[A-Za-z0-9][\w.@+-]{2,99}")
_DATED: Final = regex(r"(?:19|20)\d\d-?(?:0[1-9]|1[0-2])(?:-?[0-3]\d)?|v?\d+(?:\.\d+){1,3}")
_RUNS: Final = regex(r"[0-9]+|[a-z]+|[A-Z]+")
_MIXED: Final = regex(r"(?=[A-Za-z]\d|\d[A-Za-z])")
_MIXED_LEAST: Final = 4
"""Places where a digit meets a letter with nothing between: ``0007_job_add_field`` has none."""
_NUMBER: Final = regex(r"[\d ._-]+")
_TURNS: Final = 5
"""Runs of digits, small and large letters that a random token of ten characters has at least."""
_SPELT: Final = 6
"""Letters of one case in a row: words are made of such runs, random tokens hardly are."""
_LETTERS_KEPT: Final = 0.7
_SHORTEST: Final = 8
_DIGITS: Final = 8
"""Digits that a bank account has at least: words in capitals have none."""
_FILLED: Final = regex(r"[<>{}$%]")
"""Marks of what is filled in later."""
_PLACEHOLDER: Final = regex(
    r"x{4,}|0{6,}|12345|abcd|dummy|example|placeholder|change-?me|your[-_]|sample|todo|^none$|^null$|^true$|^false$"
    r"|unknown|default|string",
    re.IGNORECASE,
)
"""Words that stand for any name."""


def shape_of(value: str) -> Shape:
    """The shape of a whole value; ``plain`` for a short word, a name or a number, empty for all else."""
    text = value.strip()
    if not 3 <= len(text) <= 8_200:
        return ""
    if _KEY.fullmatch(text):
        return "key"
    if len(text) > 200 or _FILLED.search(text):
        return ""
    if is_bank(text):
        return "bank"
    if _UUID.fullmatch(text):
        return "uuid" if len(set(text)) > 6 else ""
    if _WALLET.fullmatch(text) and len(set(text)) > 8:
        return "wallet"
    if _PREFIXED.fullmatch(text):
        return "prefixed"
    if _is_random(text):
        return "opaque"
    is_plain = _PLAIN.fullmatch(text) and not _DATED.fullmatch(text) and not _PLACEHOLDER.search(text)
    return "plain" if is_plain else ""


def is_bank(text: str) -> bool:
    """Is it a bank account with valid check digits, blanks aside?"""
    plain = text.replace(" ", "").upper()
    is_written = plain.isascii() and plain.isalnum() and plain[:2].isalpha() and plain[2:4].isdigit()
    return is_written and sum(map(str.isdigit, plain)) >= _DIGITS and is_account(plain)


def _is_random(text: str) -> bool:
    if not _TOKEN.fullmatch(text) or _DATED.search(text):
        return False
    runs = _RUNS.findall(text)
    digits = sum(map(str.isdigit, text))
    if digits < 2 or digits > len(text) - 2:
        return False
    if len(_MIXED.findall(text)) < _MIXED_LEAST:
        return False
    return len(runs) >= _TURNS and all(len(run) < _SPELT for run in runs if not run.isdigit())


def canonical(value: str) -> str:
    """The value as it counts: an account without its blanks, a key without its comment."""
    text = value.strip()
    if text.startswith(openpgp.BEGIN):
        return openpgp.primary_key(text)
    if text.startswith("-----"):
        return "".join(text.replace("\\n", "").replace("\\r", "").split())
    words = text.split()
    if len(words) > 1 and words[1].startswith("AAAA"):
        return " ".join(words[:2])
    return text.replace(" ", "")


def steps(one: str, other: str) -> int:
    """How many places differ; 99 where the texts are not of one length."""
    if len(one) != len(other):
        return 99
    differ = [at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    swapped = len(differ) == 2 and differ[1] == differ[0] + 1
    if swapped and one[differ[0]] == other[differ[1]] and one[differ[1]] == other[differ[0]]:
        return 1
    return len(differ)


def is_twin(one: str, other: str) -> bool:
    """Do the two have nearly all of their characters in common, place by place?"""
    far = steps(one, other)
    return len(one) >= _SHORTEST and 0 < far <= len(one) * (1 - _LETTERS_KEPT)


def is_number(value: str) -> bool:
    """Is it written in digits alone?"""
    return bool(_NUMBER.fullmatch(value))

"""Parties within a text or an address: numbers to pay or to call, mailboxes, the room of a web hook.

Nothing of these has a shape of its own: two digits of a sort code, the box before a mail address's ``@``, the
last part of a hook's path. Each is compared with the one that stood under the same name.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from gate.regex import regex

_FIGURES: Final = regex(r"(?<![\w.,:#=/$%{<-])\+?\d[\d /()-]{3,40}\d(?![\w.,:%]?\d|[\w%])")
_DATE: Final = regex(
    r"(?:19|20)\d\d[ /-]\d{1,2}[ /-]\d{1,2}|\d{1,2}[ /-]\d{1,2}[ /-](?:19|20)\d\d|(?:19"
    r"|20)\d\d ?[-/ ] ?(?:19|20)\d\d"
)
_WORDS: Final = regex(r"[^\W\d_]{2,}")
_TELLS: Final = regex(
    r"(?i)\b(?:account|acct|iban|sort[ -]?code|routing|transfer|wire|bank|bic|swift|pay(?:ment|able)?"
    r"|card|wallet|deposit|konto"
    r"|kontonummer|blz|überweis\w*|zahl\w*|compte|virement|cuenta|pago|conto|bonifico|rekening|betaal\w*|conta|przelew|call"
    r"|phone|tel|telephone|telefon\w*|hotline|fax|whatsapp|sms|abn|giro|bankgiro|plusgiro|upi|pix|zelle|paybill|m-?pesa)\b"
)
_LEAST: Final = 6
_MOST: Final = 19
_HOOK: Final = regex(
    r"(?i)^(?:web-?hooks?|hooks?|incoming|inbound|services|triggers?|channels?|rooms?|inbox|notify|bots?|alerts?)$"
)
_ROOM: Final = regex(r"[A-Za-z0-9][\w:~-]{3,100}")
_MAIL: Final = regex(r"(?:mailto:)?([\w.+-]{1,64}@[A-Za-z0-9](?:[\w-]{0,62}\.)+[A-Za-z]{2,24})")


def figures(text: str, *, translated: bool) -> str:
    """The long numbers of a sentence, as they would be typed; empty where there are none. ``translated``: the
    sentence may be in any language, so no word has to say what the number is.
    """
    if not 8 <= len(text) <= 4_000 or len(_WORDS.findall(text)) < 2:
        return ""
    if not translated and not _TELLS.search(text):
        return ""
    found = []
    for match in _FIGURES.finditer(_DATE.sub(" ", text)):
        digits = "".join(char for char in match[0] if char.isdigit())
        if _LEAST <= len(digits) <= _MOST and digits.strip("0")[1:].strip("0"):
            found.append(digits)
    return " ".join(found)


def room(value: str) -> str:
    """Host and last part of the path of a hook; empty for another address."""
    if (
        not value.startswith(("https://", "http://"))
        or len(value) > 400
        or any(c in value for c in "{}$<>% ")
    ):
        return ""
    try:
        parts = urlsplit(value)
    except ValueError:
        return ""
    steps = [step for step in parts.path.split("/") if step]
    at = next((n for n, step in enumerate(steps[:-1]) if _HOOK.match(step)), None)
    if at is None or not parts.hostname or not _ROOM.fullmatch(steps[-1]):
        return ""
    return f"{parts.hostname} {steps[-1]}"


def mailbox(value: str) -> str:
    """A mail address that is the whole value, in small letters; empty for all else."""
    match = _MAIL.fullmatch(value.strip())
    return match[1].lower() if match else ""

"""Dates and times in names and command lines: they differ from run to run, and in the second look anyway."""

from __future__ import annotations

from typing import Final

from gate.regex import regex

_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[a-z]{3,6})?"
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_CLOCK: Final = r"\d{1,2}[:.h_-]\d{2}(?:[:.m_-]\d{2}(?:[.,]\d+)?)?s?"
_ZONE: Final = r"(?: ?(?:[AP]M|Z|UTC|GMT|CES?T|[+-]\d\d:?\d\d)\b)*(?: \d{4}\b)?"
_DATE: Final = (
    rf"(?:{_DAY}[ ,_.-]{{0,3}})?"
    rf"(?:\d{{1,2}}[ _.-]{{0,2}}{_MONTH}(?![a-z])|{_MONTH}[ _.-]{{0,2}}\d{{1,2}}(?!\d))"
    r"(?:[ ,_.-]{0,2}(?:19|20)\d\d(?!\d)|[ ,_.-]{1,2}\d\d(?!\d)(?!:))?"
    r"|(?:19|20)\d\d[-_./ ]\d{1,2}[-_./ ]\d{1,2}|\d{2}[-_/]\d{2}[-_/](?:20)?\d{2}"
    r"|[0-3]\d\.[01]\d\.(?:20)?[23]\d"
)
_BEGIN: Final = r"(?<![A-Za-z\d])(?<!\d[.:/-])"
_END: Final = r"(?![\d])(?![.:/-]\d)"
_IN_TEXT: Final = regex(
    rf"{_BEGIN}(?:(?:{_DATE})(?:[T ,_.-]{{1,2}}{_CLOCK}{_ZONE})?"
    rf"|\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?{_ZONE}){_END}"
)
_IN_NAME: Final = regex(rf"{_BEGIN}(?:{_DATE})(?:[T _.-]{{1,2}}{_CLOCK}{_ZONE})?(?!\d)(?![.:/-]\d)")
_DIGIT: Final = regex(r"\d")


def undated(text: str) -> str:
    """A word of a command line with ``*`` for each date and time. An address or a version is none of them."""
    return _IN_TEXT.sub("*", text) if _DIGIT.search(text) else text


def undated_name(name: str) -> str:
    """A component of a path: ``log-2026-11-22.txt``, ``22.11.26``, ``out-Nov22`` with ``*`` for the date."""
    return _IN_NAME.sub("*", name) if _DIGIT.search(name) else name

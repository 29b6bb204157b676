"""Which functions take something that is good once, and which calls end it. Pure."""

from __future__ import annotations

import re
from typing import Final

from gate.languages.naming import snake
from gate.regex import regex

ONCE: Final = "use of a token once"
_GIVEN: Final = regex(r"(?:^|_)(?:token|otp|nonce|ticket|code|jti|invitation|invite|magic|refresh)$")
_USED: Final = regex(
    r"^_*(?:refresh|redeem|consume|verify|confirm|accept|activate|finish|exchange|claim|rotate|use|check"
    r"|validate|complete|reset|login|log_in|sign_in|callback|authenticate|handle_refresh|renew)(?:_|$)"
)
_ABOUT: Final = regex(
    r"session|refresh|reset|otp|login|log_in|sign_in|invit|auth|mfa|recover|magic|passw|nonce|ticket|one_time"
    r"|verification|activation"
)
_ENDING: Final = regex(
    r"(?:^|_)(?:pop|getdel|get_del|delete|destroy|remove|discard|revoke|invalidate|expire|consume|redeem"
    r"|rotate|burn|spend|blacklist|blocklist|take|replace|use|used|mark|clear|unset|del|srem|zrem|set_nx|setnx"
    r"|claim|find_one_and_delete|find_one_and_update|update_many|delete_many|forget|purge|exchange|swap)(?:_|$)"
)
ENDED_BY: Final = regex(
    r"used|consumed|redeemed|revoked|spent|accepted_at|claimed|invalid|expired|last_code|last_counter|_token$"
    r"|_code$|nonce|active|nx$"
)


def is_given(name: str) -> bool:
    """Is a parameter of this name something that may be good once?"""
    return _GIVEN.search(snake(name)) is not None


def is_used(function: str) -> bool:
    """Does a function of this name take such a thing for something?"""
    return _USED.search(snake(function)) is not None


def is_about(words: str) -> bool:
    """Do these words speak of coming in? A parser has tokens, too."""
    return _ABOUT.search(" ".join(map(snake, words.split()))) is not None


def ends(name: str, words: re.Pattern[str] = _ENDING) -> bool:
    """Does a call, or a member that is set, of this name end what it is given?"""
    return words.search(snake(name)) is not None

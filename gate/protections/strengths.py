"""Quantities that protect: the length of a token, the cost of a hash, how long a session lives.

Which name speaks of which quantity, in which direction it protects, and how much less is too little. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.protections.facts import Strength
from gate.protections.options import OPTION, unset_step
from gate.regex import regex

Scale = Literal["number", "seconds", "bytes", "characters", "log2"]
"""What a plain number of it counts. Random bytes and characters are made bits, exponents are raised."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One quantity. ``names`` says its slot; where that says too little, ``about`` must speak of it, too.

    It is loosened by ``factor`` or more, and only past ``bound``: 600,000 rounds for 2,400,000 is tuning.
    """

    what: str
    names: re.Pattern[str]
    about: re.Pattern[str] | None = None
    more: bool = True
    factor: float
    bound: float
    scale: Scale = "number"


_LOGIN: Final = (
    r"session|token|jwt|auth|login|sign_?in|reset|otp|credential|passw|csrf|remember|presigned|refresh|magic"
)
_MEASURES: Final = (
    Measure(
        what="cost of bcrypt",
        names=regex(r"salt_rounds|log_rounds|bcrypt\w*(?:rounds|cost|factor)|work_factor$"),
        factor=4, bound=2**10, scale="log2",
    ),
    Measure(
        what="cost of bcrypt",
        names=regex(r"^(?:rounds|cost)$"), about=regex(r"bcrypt|gen_?salt"),
        factor=4, bound=2**10, scale="log2",
    ),
    Measure(
        what="memory of argon2",
        names=regex(r"memory_cost|argon2?_?memory|^mem_?limit$"), factor=4, bound=7_168,
    ),
    Measure(what="passes of argon2", names=regex(r"time_cost"), factor=2, bound=2),
    Measure(
        what="cost of scrypt",
        names=regex(r"^(?:n|cost)$|scrypt_(?:n|cost)$"), about=regex(r"scrypt"),
        factor=4, bound=2**14,
    ),
    Measure(
        what="rounds of a password hash",
        names=regex(r"(?:^|_)(?:iterations?|rounds|iteration_count|iter_count|n_iter)$"),
        about=regex(r"pbkdf|kdf|hash|passw|derive|crypt|digest"), factor=4, bound=210_000,
    ),
    Measure(
        what="key size",
        names=regex(r"^(?:key_size|key_?bits?|modulus_length|rsa_\w*(?:bits|size)|bits)$"),
        about=regex(r"rsa|private_key|key_?pair|modulus|dsa|dh_"), factor=1.01, bound=2_048,
    ),
    Measure(
        what="length of random values",
        names=regex(
            r"(?:token|nonce|salt|secret|session_id|api_key|csrf|state|reset_code|otp)"
            r"_?(?:n?bytes|byte_length)$"
        ),
        factor=2, bound=128, scale="bytes",
    ),
    Measure(
        what="length of random values",
        names=regex(
            r"(?:token|nonce|salt|secret|session_(?:id|key)|api_?key|csrf|reset_code)\w*_(?:length|len|size)$"
        ),
        factor=2, bound=96, scale="characters",
    ),
    Measure(
        what="length of a password",
        names=regex(r"(?:min\w*_passw\w*|passw\w*_min\w*|minimum_password)(?:_?len(?:gth)?|_?size)?$"),
        factor=1.5, bound=8,
    ),
    Measure(
        what="length of a password",
        names=regex(r"^(?:min_?(?:imum)?_?length|min_len|min|min_size)$"), about=regex(r"passw"),
        factor=1.5, bound=8,
    ),
    Measure(
        what="time that is locked",
        names=regex(
            r"(?:lock_?out|cool_?off|lock_?duration|ban)_?(?:time|duration|period|seconds|minutes|hours|for)?$"
        ),
        factor=10, bound=300, scale="seconds",
    ),
    Measure(
        what="log-in attempts",
        names=regex(
            r"max_\w*(?:login|password|otp|pin|auth)\w*(?:attempts|tries|failures)|failure_limit"
            r"|failed_(?:login|attempt)"
            r"|(?:login|password|otp|pin|auth)\w*_(?:attempts?|tries|failures)(?:_limit|_max|_allowed)?$"
        ),
        more=False, factor=10, bound=20,
    ),
    Measure(
        what="log-in attempts",
        names=regex(r"^(?:max_)?(?:attempts|failures|tries)(?:_limit|_allowed)?$"),
        about=regex(r"login|passw|otp|auth|lock|pin_|sign_in"), more=False, factor=10, bound=20,
    ),
    Measure(
        what="lifetime",
        names=regex(
            r"(?:session|token|jwt|remember|reset|otp|auth|login|passw|csrf|magic|refresh|verif|invit)\w*_?"
            r"(?:lifetime|max_?age|age|expir\w*|ttl|timeout|duration|valid\w*)"
            r"(?:_(?:delta|in|time|seconds|minutes|hours|days|secs|mins|ms|sec|min))?$"
        ),
        more=False, factor=10, bound=86_400, scale="seconds",
    ),
    Measure(
        what="lifetime",
        names=regex(
            r"^(?:exp|expir\w*|max_?age|lifetime|ttl|life_?span|valid_(?:for|seconds)|timeout|time_to_live)"
            r"(?:_(?:delta|in|at|on|time|seconds|minutes|hours|days|after))?$"
        ),
        about=regex(_LOGIN), more=False, factor=10, bound=86_400, scale="seconds",
    ),
    Measure(
        what="tolerance for clocks",
        names=regex(
            r"^(?:leeway|clock_?(?:skew|tolerance)|(?:(?:webhook|signature|timestamp|request)_)?tolerance)"
            r"(?:_(?:seconds|secs?|minutes|ms))?$"
        ),
        more=False,
        factor=10, bound=300, scale="seconds",
    ),
    Measure(
        what="steps of time whose codes are right",
        names=regex(r"^(?:drift|window|tolerance|skew)$"),
        about=regex(r"totp|otp|authenticator|speakeasy|two_factor|second_factor|mfa|2fa"),
        more=False, factor=3, bound=4,
    ),
    Measure(
        what="steps of time whose codes are right",
        names=regex(r"^(?:valid_window|drift_behind|drift_ahead|totp_(?:window|tolerance|skew))$"),
        more=False, factor=3, bound=4,
    ),
    Measure(
        what="depth of queries",
        names=regex(r"^(?:max_(?:query_)?depth|(?:query_)?depth_limit|limit_depth|query_depth)$"),
        more=False, factor=4, bound=24,
    ),
    Measure(
        what="cost of queries",
        names=regex(
            r"^(?:max\w*_complexity|complexity_limit|limit_complexity|maximum_cost|max_(?:query_)?cost)$"
        ),
        more=False, factor=10, bound=10_000,
    ),
    Measure(
        what="size of what is sent",
        names=regex(
            r"max_content_length|max_upload|upload_max|max_(?:file|body|request)_?(?:size|length|bytes)"
            r"|upload\w*_(?:limit|size)|memory_size|^file_size$|^body_limit$"
        ),
        more=False, factor=100, bound=64 << 20,
    ),
)  # fmt: skip
_SECRET: Final = regex(
    r"secret|passw(?:or)?d|(?:jwt|signing|sign|private|encrypt\w*|session|hmac|cookie|token)_?key|(?:jwt|hmac)_"
)
_SIGNING: Final = regex(r"secret|key|hmac|jwt")
"""What signs or encrypts with an empty text, too; an empty password opens nothing."""
_RANDOM_VALUE: Final = "length of random values"
FORESEEABLE: Final = "values that can be foreseen"
_CUT: Final = 160
_KNOWN: Final = "how hard it is to guess "
_GUESSED: Final = Measure(what=_KNOWN, names=_SECRET, factor=2, bound=2)
_OPTION: Final = Measure(what=OPTION, names=_SECRET, factor=1.01, bound=math.inf)
_BY_NAME: Final = {measure.what: measure for measure in reversed(_MEASURES)}
_UNITS: Final = (
    (regex(r"_(?:ms|millis|milliseconds|msec)$"), 0.001),
    (regex(r"_(?:minutes|mins?)$"), 60.0),
    (regex(r"_(?:hours|hrs?)$"), 3600.0),
    (regex(r"_days$"), 86400.0),
)
_RANDOM: Final[dict[str, tuple[float, float]]] = {
    "token_bytes": (8, 32), "token_hex": (8, 32), "token_urlsafe": (8, 32), "urandom": (8, 0),
    "randbits": (1, 0),
    "random_bytes": (8, 0), "get_random_bytes": (8, 0), "random_bytes_sync": (8, 0), "uint8_array": (8, 0),
    "get_random_string": (5.95, 12), "nanoid": (6, 21), "openssl_random_pseudo_bytes": (8, 0),
    "urlsafe_base64": (8, 16), "random_string_secure": (5.95, 0),
}  # fmt: skip
"""Calls whose first argument is a length, with the bits of one and the length where none is given."""
_PLACES: Final[dict[str, tuple[int, str]]] = {
    "pbkdf2_hmac": (3, "iterations"), "pbkdf2_sync": (2, "iterations"), "pbkdf2": (2, "iterations"),
    "gensalt": (0, "bcrypt_rounds"), "gen_salt": (0, "bcrypt_rounds"), "gen_salt_sync": (0, "bcrypt_rounds"),
    "generate_from_password": (1, "bcrypt_cost"), "hash_sync": (1, "rounds"), "hash": (1, "rounds"),
    "b_crypt_password_encoder": (0, "bcrypt_rounds"), "hash_password": (1, "rounds"),
    "depth_limit": (0, "depth_limit"), "query_depth_limiter": (0, "depth_limit"),
    "limit_depth": (0, "depth_limit"), "limit_complexity": (0, "complexity_limit"),
    "generate_key": (1, "bits"), "generate": (0, "bits"), "generate_private_key": (1, "key_size"),
}  # fmt: skip
"""Arguments by position: which one, and the name that it would have."""


def place_of(callee: str) -> tuple[int, str] | None:
    """Which argument of a call is a quantity that protects, with a name for it."""
    return _PLACES.get(snake(callee))


def random_bits(callee: str) -> tuple[float, float] | None:
    """Bits of one unit, and units where none are given, of a call that makes something random."""
    return _RANDOM.get(snake(callee))


def random_strength(bits: float, text: str, line: int) -> Strength:
    """So many bits from a generator of random values."""
    return Strength(what=_RANDOM_VALUE, amount=bits, text=text, line=line)


def kept(what: str, holds: bool, text: str, line: int) -> Strength:
    """Something that is so or is not. ``what``: what reports say; behind a colon, of which thing."""
    return Strength(what=what, amount=2 if holds else 1, text=" ".join(text.split())[:_CUT], line=line)


def secret_strength(name: str, default: str | None, text: str, line: int) -> Strength | None:
    """A secret from the environment: unknown, unless the source has a value for where it is unset."""
    if not _SECRET.search(snake(name)):
        return None
    known = default or (default is not None and _SIGNING.search(snake(name)))
    return Strength(what=_KNOWN + name, amount=1 if known else 256, text=text, line=line)


def strength(
    name: str, about: str, amount: float, text: str, line: int, *, timed: bool = False
) -> Strength | None:
    """The quantity that a slot of this name holds; None for one that protects nothing.

    ``timed``: the amount is in seconds already, whatever the name says.
    """
    plain = snake(name)
    around = f"{plain} {snake(about)}"
    for measure in _MEASURES:
        if not measure.names.search(plain) or (measure.about and not measure.about.search(around)):
            continue
        value = _scaled(measure.scale, plain, amount, timed)
        if value is not None and value > 0:
            return Strength(what=measure.what, amount=value, text=text, line=line)
    return None


def _scaled(scale: Scale, name: str, amount: float, timed: bool) -> float | None:
    if scale == "log2":
        return 2.0**amount if 0 < amount <= 31 else None
    if scale == "bytes":
        return amount * 8
    if scale == "characters":
        return amount * 6
    if scale == "seconds" and not timed:
        return amount * next((by for unit, by in _UNITS if unit.search(name)), 1.0)
    return amount


def weakened(old: Sequence[Strength], new: Sequence[Strength]) -> Iterator[tuple[Strength, Strength]]:
    """Quantities of base that protect far less at head. One of the same kind may stand in for another."""
    if gone := _foreseeable(old, new):
        yield gone
    for what in sorted({one.what for one in new}):
        measure = _BY_NAME.get(what, _OPTION if what.startswith(OPTION) else _GUESSED)
        had = [one for one in old if one.what == what]
        has = [one for one in new if one.what == what]
        for one in [*had]:
            same = next((other for other in has if math.isclose(other.amount, one.amount)), None)
            if same is not None:
                had.remove(one)
                has.remove(same)
        unset = unset_step(what)
        while unset and len(had) < len(has):
            had.append(Strength(what=what, amount=unset, text="not set", line=1))
        had.sort(key=lambda one: one.amount)
        has.sort(key=lambda one: one.amount)
        for before, after in zip(had, has, strict=False):
            if _is_loose(measure, before.amount, after.amount):
                yield before, after


def _foreseeable(old: Sequence[Strength], new: Sequence[Strength]) -> tuple[Strength, Strength] | None:
    """A random value of base that gave way to the clock, a counter or a hash of what everybody knows."""
    had = [one for one in old if one.what == _RANDOM_VALUE]
    has = [one for one in new if one.what == _RANDOM_VALUE]
    made = next((one for one in new if one.what == FORESEEABLE), None)
    return (
        (had[0], made) if had and not has and made and all(one.what != FORESEEABLE for one in old) else None
    )


def _is_loose(measure: Measure, before: float, after: float) -> bool:
    if measure.more:
        return after < measure.bound and after * measure.factor <= before
    return after > measure.bound and after >= before * measure.factor

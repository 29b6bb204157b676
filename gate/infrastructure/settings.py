"""Settings of any structured file whose *value* decides: lists of trust, ladders of strength, numbers.

The name of a setting says what it is; the path to it, with the names of list entries in place of their
numbers, finds it again at the other side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from gate.infrastructure.facts import Width
from gate.infrastructure.obligations import is_counted, obligations, signer
from gate.infrastructure.widths import ladder
from gate.regex import regex

Line = Callable[[tuple[str | int, ...]], int | None]
_CAMEL: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_TRUST: Final = regex(
    r"(?:^|-)(?:redirect-ur[il]s?|callback-urls?|cors|(?:cors-)?allowed-origins?|allow-origins?|issuers?"
    r"|(?:allowed|trusted|authori[sz]ed|accepted|privileged|permitted)-(?:hosts?|ips?|networks?|cidrs?(?:-blocks?)?|users?|groups?"
    r"|roles?|domains?|callers?|principals?|audiences?|clients?|subjects?|repositories|repos|namespaces|proxies"
    r"|(?:source-)?ranges?|keys?|signers?|publishers?|issuers?|registries|senders?|teams?|accounts?|identities)"
    r"|(?:ip-)?(?:allow-?list|white-?list)|(?:allow|white)-?list(?:ed)?-(?:source-)?(?:ranges?|ips?|cidrs?|hosts?)"
    r"|(?:load-balancer-)?source-ranges|super-?users?|admins?|admin-(?:users?|groups?|emails?)"
    r"|approvers?|collaborators|bypass-(?:actors|pull-request-allowances)"
    r"|insecure-registries|registry-mirrors|substituters|trusted-public-keys)$"
)
_GRAVE_ONLY: Final = regex(r"(?:^|-)(?:scopes?|grants?|grant-types?)$")
_GRAVE: Final = regex(r"\*|admin|root|owner|impersonat|implicit|password", re.IGNORECASE)
_LADDERED: Final = regex(
    r"tls|ssl|verif|samesite|pod-security|selinux|auth-?(?:mode|type|method)|(?:^|-)mode$|min(?:imum)?-(?:protocol-)?version|(?:failure|enforcement)-(?:action|policy)$|^requirement$"
)
_CONNECTED: Final = regex(r"tls|ssl|verif")
"""Parameters of an address that are no matter of a page: ``?mode=none`` may be any."""
_LESS_IS_WEAK: Final = regex(
    r"(?:approving|required)-(?:review|approval)\w*(?:-count)?$|approvals-required$|min(?:imum)?-(?:password-)?length$"
    r"|minimum-release-age$|(?:hash|kdf|pbkdf2?)-(?:rounds|iterations)$|password-(?:history|reuse)\w*$"
)
_NOTHING_IS_WEAK: Final = regex(
    r"backup-retention\w*(?:-\w+)?$|retention-(?:period|in-days|days)$|hsts-(?:max-age|seconds)$"
)
_MORE_IS_WEAK: Final = regex(
    r"rate-?limit\w*$|(?:limit|max)-(?:rps|rpm|requests|attempts|logins)$|max-(?:login|auth)-?\w*(?:attempts|tries|failures)$"
)
_PACKAGES: Final = regex(r"(?:^|-)dependencies$")
"""Tables whose keys are names of packages, whatever these sound like."""
_NAMES: Final = (
    *(
        "name",
        "id",
        "username",
        "user",
        "kid",
        "login",
        "client_id",
        "clientId",
        "key",
        "alias",
        "authenticator",
    ),
)
_NOBODY: Final = frozenset(("null", "true", "false", "none", "yes", "no", "~"))
_DEEPEST: Final = 60
_LONGEST: Final = 2_000
_FIELDS: Final = 50


def setting_widths(data: object, line_of: Line, *, prefix: str = "") -> Iterator[Width]:
    """Of every setting below ``data``; ``line_of`` answers with the line of a path."""
    for path, spelt, value in _walk(data, (), ()):
        if isinstance(value, str) and any(_PACKAGES.search(words_of(name)) for name in spelt[-2:-1]):
            continue
        subject = f"{prefix}{'.'.join(spelt)}"
        yield from named_width(spelt[-1], value, subject, line_of(path) or 1, inside=spelt[:-1])


def named_width(
    name: str, value: object, subject: str, line: int, *, inside: Sequence[str] = ()
) -> Iterator[Width]:
    """What the setting of this name is worth; ``inside``: the names of what it stands in."""
    key = words_of(name)
    text = f"{name}: {_shown(value)}"[:120]
    keys = [*(words_of(one) for one in inside), key]
    if signs := signer(keys, value, subject, line, text):
        yield signs
        return
    trusted = is_trust(name) and not is_counted(key, value)
    if trusted or _GRAVE_ONLY.search(key):
        members = [one for one in _members(value) if trusted or _GRAVE.search(one)]
        yield Width("trusted", subject, line, text, members=members)
        return
    members = _members(value) if isinstance(value, list) else []
    obliged = [*obligations(keys, value, members, subject, line, text)]
    yield from obliged
    if isinstance(value, str) and not obliged:
        yield from _measured(key, value, subject, line, text)


def is_trust(name: str) -> bool:
    """Does this name say that whoever stands in the list is trusted?"""
    return bool(_TRUST.search(words_of(name)))


def words_of(name: str) -> str:
    """``allowedOrigins``, ``allowed_origins`` and ``x.io/allowed-origins`` as ``allowed-origins``."""
    last = name.rpartition("/")[2]
    return re.sub(r"[^a-z0-9]+", "-", _CAMEL.sub("-", last).lower()).strip("-")


def _measured(key: str, value: str, subject: str, line: int, text: str) -> Iterator[Width]:
    if _LADDERED.search(key):
        for number, far in sorted(ladder(value)):
            yield Width("weaker", f"{subject} ladder {number}", line, text, measure=far)
    for parameter, what in _parameters(value):
        if _CONNECTED.search(words_of(parameter)):
            for number, far in sorted(ladder(what)):
                told = f"{parameter}={what}"[:120]
                yield Width("weaker", f"{subject} ?{parameter} ladder {number}", line, told, measure=far)
    low = value.strip().lower()
    if low in ("null", "none", "~", "false", ""):
        low = "0"
    digits = re.match(r"\d{1,12}(?:\.\d{1,6})?", low)
    if digits is None:
        return
    amount = float(digits[0])
    if _LESS_IS_WEAK.search(key):
        yield Width("weaker", subject, line, text, measure=-amount)
    elif _NOTHING_IS_WEAK.search(key):
        yield Width("weaker", subject, line, text, measure=-min(amount, 1.0))
    elif _MORE_IS_WEAK.search(key):
        # Ten times as much, or no end at all: whoever turns a limit up a little only tunes it.
        yield Width("weaker", subject, line, text, measure=len(str(int(amount))) if amount else 99)


def _parameters(value: str) -> list[tuple[str, str]]:
    """``?sslmode=verify-full`` of an address; PostgreSQL's clients prefer TLS where nobody asks for more."""
    if "://" not in value or len(value) > _LONGEST:
        return []
    try:
        parts = urlsplit(value.strip())
        found = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError:
        return []
    postgres = parts.scheme.partition("+")[0] in ("postgres", "postgresql")
    if postgres and all(name != "sslmode" for name, _ in found):
        found.append(("sslmode", "prefer"))
    return found


def _members(value: object) -> list[str]:
    if isinstance(value, dict):
        return [f"{key}={one}" if isinstance(one, str) else str(key) for key, one in value.items()]
    if isinstance(value, list):
        return [name for one in value for name in ([_named(one)] if isinstance(one, dict) else _listed(one))]
    return [
        one.strip()
        for one in re.split(r"[,\s]+", str(value or ""))
        if one.strip() and one.strip().lower() not in _NOBODY
    ]


def _listed(one: object) -> list[str]:
    """A text in a list is one member, spaces and all: a command, an address."""
    return [one.strip()] if isinstance(one, str) and " " in one and "," not in one else _members(one)


def _named(entry: dict[str, object]) -> str:
    for key in _NAMES:
        if isinstance(entry.get(key), str):
            return str(entry[key])
    return " ".join(f"{key}={value}" for key, value in entry.items() if isinstance(value, str))


def _shown(value: object) -> str:
    return ", ".join(_members(value)) if isinstance(value, list | dict) else str(value)


def _walk(
    data: object, path: tuple[str | int, ...], spelt: tuple[str, ...]
) -> Iterator[tuple[tuple[str | int, ...], tuple[str, ...], object]]:
    """Every setting with its path, its path in names, and its value. Lists are values and are entered."""
    if len(path) > _DEEPEST:
        return
    if isinstance(data, dict):
        for key, value in data.items():
            name = str(key)
            here, named = (*path, name), (*spelt, name)
            plain = str(value).lower() if isinstance(value, bool | int | float) else value
            if not isinstance(plain, dict) or _TRUST.search(words_of(name)):
                yield here, named, "" if plain is None else plain
            if isinstance(value, dict | list):
                yield from _walk(value, here, named)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            if isinstance(value, dict | list):
                name = _named(value) if isinstance(value, dict) else str(index)
                yield from _walk(
                    value,
                    (*path, index),
                    (*spelt[:-1], f"{spelt[-1]}[{name[:60]}]") if spelt else (name[:60],),
                )

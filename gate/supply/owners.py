"""Whose an address is: its registered domain, or the account on a host that everybody may use. Text only."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatchcase
from functools import cache
from ipaddress import ip_address
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex
from gate.resources import rules_dir

_SECOND: Final = frozenset({"co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "gob", "govt"})
"""Labels below a country under which names are registered: ``example.co.uk``."""
_SCHEME: Final = regex(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_BUCKET: Final = regex(r"^(?:s3[an]?|gs|gcs|oss|cos|b2|r2|swift|wasbs?)://([\w.-]{1,200})", re.IGNORECASE)
"""Addresses of object stores: a bucket's name is its owner's alone, and says nothing about a host."""
_NAMED: Final = regex(r"^arn:[\w-]{1,20}:([\w-]{1,40}):[\w-]{0,30}:(\w{0,40}):([^\s:/]{0,200})")
"""Amazon's resource names: partition, service, region, account, resource."""
_ACCOUNT: Final = regex(
    r"^(?:services|api/webhooks|webhooks|realms|tenants?|orgs?|accounts?|projects?|workspaces?|teams?)/"
)
_FILLED: Final = regex(r"\$?\{\{?[^{}]{0,80}\}?\}|%\w|\$\w+|<[^<>\s]{1,60}>")
"""What a template or a program puts in."""
_NUMBER: Final = regex(r"\d{8,}")
_DATE: Final = regex(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?:\d{4}|\d{6})?")
_ID: Final = regex(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[a-z]\d{5,}|[A-Z](?=[A-Z]*\d)[A-Z0-9]{7,14}"
)
"""What services give their customers: a UUID, a letter with digits, capitals and digits (Slack)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """``host`` is the whole name, ``name`` the registered domain (or number), ``account`` who it is there,
    where the host belongs to many. All lower case; ``host`` is empty where the text is no address. ``ids``
    are parts that look like somebody's number, each with its place.
    """

    host: str = ""
    name: str = ""
    account: str = ""
    port: str = ""
    is_bucket: bool = False
    is_tenant: bool = False
    """Is ``name`` one that somebody rented below another's?"""
    ids: tuple[tuple[int, str], ...] = ()

    @property
    def label(self) -> str:
        """The registered name without its top level domain."""
        return self.name.partition(".")[0]

    @property
    def is_own(self) -> bool:
        """Is it this machine, a private network, or a name without a dot (a service beside it)?"""
        if self.is_bucket or self.name.startswith("arn:"):
            return False
        try:
            number = ip_address(self.host)
        except ValueError:
            return "." not in self.host or self.host.endswith((".local", ".internal", ".localhost", ".test"))
        documented = self.host.startswith(("192.0.2.", "198.51.100.", "203.0.113."))
        return not (number.is_global or documented)

    @property
    def is_nowhere(self) -> bool:
        """Is it the name of a vocabulary, a document's placeholder, a public resolver or a public index of
        packages: no place that something is sent to?
        """
        names = _tables().nowhere
        return self.host in names or self.name in names

    def same_as(self, other: Owner) -> bool:
        """The same owner, as far as names tell."""
        return (self.name, self.account) == (other.name, other.account) and not self.other_number(other)

    def other_number(self, other: Owner) -> bool:
        """Does another account's number or id stand where the other's stood?"""
        there = dict(other.ids)
        return any(place in there and there[place] != text for place, text in self.ids)

    def poses_as(self, other: Owner) -> bool:
        """Is this the other's name with something put before, behind or between (``pay-foo.com`` for
        ``pay.foo.com``, ``foo.com.evil.net`` for ``foo.com``)?
        """
        if self.name == other.name or self.is_bucket or other.is_bucket:
            return False
        flat, was = (re.sub(r"[-.]", "", host) for host in (self.host, other.host))
        return flat == was or self.host.startswith(f"{other.host}.") or f".{other.name}." in f".{self.host}."


@dataclass(frozen=True, slots=True)
class _Tables:
    shared: dict[str, int]
    patterns: tuple[tuple[str, int], ...]
    tenants: tuple[tuple[str, ...], ...]
    mail: frozenset[str]
    nowhere: frozenset[str]
    words: dict[str, frozenset[str]]


@cache
def _tables() -> _Tables:
    with (rules_dir() / "registries.toml").open("rb") as file:
        public = tomllib.load(file)
    with (rules_dir() / "owners.toml").open("rb") as file:
        table = tomllib.load(file)
    shared = {**public["shared"], **table["shared"]}
    nowhere = table["nowhere"]
    indexes = (host for hosts in public["registry"].values() for host in hosts if "/" not in host)
    return _Tables(
        shared={host: count for host, count in shared.items() if "*" not in host},
        patterns=tuple((host, count) for host, count in shared.items() if "*" in host),
        tenants=tuple(sorted((tuple(one.split(".")) for one in table["tenants"]), key=len, reverse=True)),
        mail=frozenset(table["mail"]["hosts"]),
        words={name: frozenset(words) for name, words in table["words"].items()},
        nowhere=frozenset((*nowhere["names"], *nowhere["hosts"], *nowhere["numbers"], *indexes)),
    )


def key_words() -> dict[str, frozenset[str]]:
    """Words of keys before addresses, by what they say (``[words]`` in rules/owners.toml)."""
    return _tables().words


def owner_of(address: str) -> Owner:
    """The owner of a URL, a host, ``user@host:path``, a mail address or an ARN, else an empty one."""
    text = address.strip()
    if bucket := _BUCKET.match(text):
        name = bucket[1].lower()
        return Owner(host=name, name=name, is_bucket=True)
    if resource := _NAMED.match(text):
        return _of_resource(resource)
    text = _FILLED.sub(_filled, _SCHEME.sub("", text))
    authority, slash, path = text.partition("/")
    user, _, authority = authority.rpartition("@")
    host, _, port = authority.partition(":")
    if not slash and port and not port.isdecimal():
        path, port = port, ""
    host = host.lower().rstrip(".")
    if not re.fullmatch(r"[\w.-]+", host):
        return Owner()
    name, is_tenant = _registered(host)
    if host in _tables().mail and user and not slash:
        return Owner(host=host, name=name, account=user.lower(), port=port)
    return Owner(
        host=host,
        name=name,
        account=_account(host, path.partition("?")[0].lower()),
        port=port,
        is_tenant=is_tenant,
        ids=_ids(host, path),
    )


def _filled(match: re.Match[str]) -> str:
    """What is put in within a name is a part of it; behind one (``https://a.example$path``) a path."""
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() :]
    return "/" if before.isalnum() and not re.match(r"[\w.-]", after) else "x"


def _of_resource(match: re.Match[str]) -> Owner:
    """Of an ARN the account; of one without (buckets) the resource. ``aws`` is Amazon itself."""
    service, account, resource = (part.lower() for part in match.groups())
    if account:
        return Owner(host=f"arn:{account}", name="arn:", account=account) if account != "aws" else Owner()
    return Owner(host=resource, name=resource, is_bucket=True) if service == "s3" and resource else Owner()


def _account(host: str, path: str) -> str:
    tables = _tables()
    count = tables.shared.get(host)
    if count is None:
        count = next((n for pattern, n in tables.patterns if _fits(host, pattern)), None)
    if count is not None:
        return re.sub(r"(?<=[^/])@.*", "", "/".join(path.split("/")[:count]))  # the version of a package
    rest = _ACCOUNT.sub("", path)
    return rest.split("/")[0] if rest != path else ""


def _fits(host: str, pattern: str) -> bool:
    labels, wanted = host.split("."), pattern.split(".")
    return len(labels) == len(wanted) and all(map(fnmatchcase, labels, wanted))


def _ids(host: str, path: str) -> tuple[tuple[int, str], ...]:
    """Labels of the host (counted from the end, below nought) and folders that look like an account."""
    labels = host.split(".")
    below = [] if labels[-1].isdigit() else [(i - len(labels), label) for i, label in enumerate(labels[:-2])]
    parts = re.split(r"[?#]", path, maxsplit=1)[0].split("/")
    return tuple(
        (place, text)
        for place, text in (*below, *enumerate(parts[:6]))
        if (_NUMBER.fullmatch(text) or _ID.fullmatch(text)) and not _DATE.fullmatch(text)
    )


def _registered(host: str) -> tuple[str, bool]:
    """``a.b.example.co.uk`` to ``example.co.uk``; below a host of many tenants the tenant's own name."""
    try:
        ip_address(host)
    except ValueError:
        pass
    else:
        return host, False
    labels = host.split(".")
    for below in _tables().tenants:
        tail = labels[-len(below) :]
        if len(labels) > len(below) and all(map(fnmatchcase, tail, below)):
            return ".".join(labels[-len(below) - 1 :]), True
    long = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND
    return ".".join(labels[-3:] if long else labels[-2:]), False

"""Whose an address is: its registered domain, or the account on a host that everybody may use. Text only."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from typing import Final

from gate.resources import rules_dir

_SECOND: Final = frozenset({"co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "gob", "govt"})
"""Labels below a country under which names are registered: ``example.co.uk``."""
_SCHEME: Final = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_BUCKET: Final = re.compile(
    r"^(?:s3[an]?|gs|gcs|oss|cos|b2|r2|swift|wasbs?)://([\w.-]{1,200})", re.IGNORECASE
)
"""Addresses of object stores: a bucket's name is its owner's alone, and says nothing about a host."""
_ACCOUNT: Final = re.compile(
    r"^(?:services|api/webhooks|webhooks|realms|tenants?|orgs?|accounts?|projects?|workspaces?|teams?)/"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """``host`` is the whole name, ``name`` the registered domain (or number), ``account`` who it is there,
    where the host belongs to many. All lower case; ``host`` is empty where the text is no address.
    """

    host: str = ""
    name: str = ""
    account: str = ""
    port: str = ""
    is_bucket: bool = False

    @property
    def label(self) -> str:
        """The registered name without its top level domain."""
        return self.name.partition(".")[0]

    @property
    def is_own(self) -> bool:
        """Is it this machine, a private network, or a name without a dot (a service beside it)?"""
        if self.is_bucket:
            return False
        try:
            number = ip_address(self.host)
        except ValueError:
            return "." not in self.host or self.host.endswith((".local", ".internal", ".localhost", ".test"))
        documented = self.host.startswith(("192.0.2.", "198.51.100.", "203.0.113."))
        return not (number.is_global or documented)

    def same_as(self, other: Owner) -> bool:
        """The same owner, as far as names tell."""
        return (self.name, self.account) == (other.name, other.account)

    def poses_as(self, other: Owner) -> bool:
        """Is this the other's name with something put before, behind or between (``pay-foo.com`` for
        ``pay.foo.com``, ``foo.com.evil.net`` for ``foo.com``)?
        """
        if self.name == other.name:
            return False
        flat, was = (re.sub(r"[-.]", "", host) for host in (self.host, other.host))
        return flat == was or self.host.startswith(f"{other.host}.") or f".{other.name}." in f".{self.host}."


@cache
def _shared() -> tuple[dict[str, int], tuple[str, ...]]:
    with (rules_dir() / "registries.toml").open("rb") as file:
        table = tomllib.load(file)
    return dict(table["shared"]), tuple(table["tenants"])


def owner_of(address: str) -> Owner:
    """The owner of a URL, a host, ``user@host:path`` or a mail address; an empty one where it is none."""
    if bucket := _BUCKET.match(address.strip()):
        name = bucket[1].lower()
        return Owner(host=name, name=name, is_bucket=True)
    text = _SCHEME.sub("", address.strip())
    authority, slash, path = text.partition("/")
    authority = authority.rpartition("@")[2]
    host, _, port = authority.partition(":")
    if not slash and port and not port.isdecimal():
        path, port = port, ""
    host = host.lower().rstrip(".")
    if not re.fullmatch(r"[\w.-]+", host):
        return Owner()
    shared, tenants = _shared()
    name = _registered(host, tenants)
    if host in shared:
        return Owner(
            host=host, name=host, account="/".join(path.lower().split("/")[: shared[host]]), port=port
        )
    rest = _ACCOUNT.sub("", path.lower())
    account = rest.split("/")[0] if rest != path.lower() else ""
    return Owner(host=host, name=name, account=account, port=port)


def _registered(host: str, tenants: tuple[str, ...]) -> str:
    """``a.b.example.co.uk`` to ``example.co.uk``; below a host of many tenants the tenant's own name."""
    try:
        ip_address(host)
    except ValueError:
        pass
    else:
        return host
    labels = host.split(".")
    below = next((one for one in tenants if host.endswith(f".{one}")), "")
    if below:
        return ".".join(labels[-below.count(".") - 2 :])
    long = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND
    return ".".join(labels[-3:] if long else labels[-2:])

# ruff: noqa: E501 - source text of made-up changes
"""Changes beside guards, harmless simulations: what the guard reads differs, its own text does not. And their
honest twins.
"""

from __future__ import annotations

from typing import Final

Sources = dict[str, str]

_ACCESS: Final = """
from app.names import plain

ROLES = {"admin", "owner"}


def can_edit(user, document) -> bool:
    if plain(user.tenant) != plain(document.tenant):
        return False
    return user.role in ROLES or user.id == document.owner_id
"""
_SIGNED: Final = """
import hashlib
import hmac

from app.parts import digest_of

KEY = b"made-up"


def sign(body: bytes) -> str:
    return hmac.new(KEY, body, hashlib.sha256).hexdigest()


def verify_signature(body: bytes, signature: str) -> None:
    if not hmac.compare_digest(digest_of(sign(body)), digest_of(signature)):
        raise PermissionError("not ours")
"""
_FRESH: Final = """
from app.clock import now

LIFETIME = 900


def require_fresh_session(session) -> None:
    if now() - session.started > LIFETIME:
        raise PermissionError("sign in again")
"""
_HOSTS: Final = """
from urllib.parse import urlsplit

from app.names import same_host


def is_trusted_url(url: str) -> bool:
    return same_host(urlsplit(url).hostname or "", "files.example")
"""
_NEEDS: Final = """
import functools

from app.levels import level_of


def requires_role(role):
    def wrap(view):
        @functools.wraps(view)
        def inner(request, *args, **kwargs):
            if level_of(request.user.role) < level_of(role):
                raise PermissionError(role)
            return view(request, *args, **kwargs)

        return inner

    return wrap
"""
_LIMIT: Final = """
from app.counters import Counter


class LoginLimit:
    def __init__(self) -> None:
        self.counter = Counter()

    def allow_login(self, address: str) -> bool:
        self.counter.add(address)
        return self.counter.of(address) <= 5
"""
_TENANT: Final = """
from app.tenant import Tenant


def check_access(user_tenant: Tenant, file_tenant: Tenant) -> None:
    if user_tenant != file_tenant:
        raise PermissionError("not yours")
"""
_INSIDE: Final = """
import posixpath

from app.names import below


def is_inside(path: str) -> bool:
    return below("/srv/files", posixpath.normpath(posixpath.join("/srv/files", path)))
"""
_BANNED: Final = """
from app.names import plain

BANNED = frozenset({"mallory", "trudy"})


def is_banned(name: str) -> bool:
    return plain(name) in BANNED
"""
_LISTED: Final = """
import json
import pathlib

ALLOWED = json.loads(pathlib.Path(__file__).with_name("allowed.json").read_text())


def is_allowed_origin(origin: str) -> bool:
    return origin in ALLOWED
"""
_LOGIN: Final = """
from app.store import account_of


def authenticate(name: str, password: str):
    account = account_of(name)
    if account is None or account["password"] != password:
        return None
    return account
"""

_TOKENS: Final = """
import hashlib
import hmac

from app.parts import parts_of

KEY = b"made-up"


def _proof(body: str) -> str:
    return hmac.new(KEY, body.encode(), hashlib.sha256).hexdigest()


def issue_token(user: str) -> str:
    return f"{user}.{_proof(user)}"


def user_of_verified_token(token: str) -> str:
    body, proof = parts_of(token)
    if _proof(body) != proof:
        raise PermissionError("not ours")
    return body
"""
_CHECKED: Final = """
from app.memo import remembered

ACCOUNTS = {"ann": "made-up-1"}


@remembered
def check_password(name: str, password: str) -> bool:
    return name in ACCOUNTS and ACCOUNTS[name] == password


def verify_login(name: str, password: str) -> bool:
    return check_password(name, password)
"""
_OWNED: Final = """
from app.ids import same


def require_owner(user, note) -> None:
    if not same(user.id, note.owner_id):
        raise PermissionError("not yours")
"""
_NOTES: Final = """
from app.ids import same


class NoSuchNoteError(LookupError):
    pass


def note_for(user, note):
    if not same(user.id, note.writer):
        raise NoSuchNoteError("no such note")
    return note.text
"""
_EXPIRY: Final = """
from datetime import datetime, timezone

from app.when import is_over


def require_valid_token(token) -> None:
    if is_over(token.expires_at, datetime.now(timezone.utc)):
        raise PermissionError("expired")
"""

_OUTSIDE: Final = """
import ipaddress

from app.kinds import is_inside


def check_address(address: str) -> None:
    if is_inside(ipaddress.ip_address(address)):
        raise PermissionError("not out there")
"""
HITS: Final[dict[str, tuple[Sources, Sources]]] = {
    "a-kind-of-address-less": (
        {"app/outside.py": _OUTSIDE, "app/kinds.py": "def is_inside(one):\n    return not one.is_global\n"},
        {"app/kinds.py": "def is_inside(one):\n    return one.is_loopback or one.is_private or one.is_link_local\n"},
    ),
    "case-folded-tenant": (
        {"app/access.py": _ACCESS, "app/names.py": "def plain(name):\n    return name.strip()\n"},
        {"app/names.py": "def plain(name):\n    return name.strip().lower()\n"},
    ),
    "digits-alone": (
        {"app/access.py": _ACCESS, "app/names.py": "def plain(name):\n    return name.strip()\n"},
        {"app/names.py": "def plain(name):\n    return name.strip()[:8]\n"},
    ),
    "digest-cut-short": (
        {"app/signed.py": _SIGNED, "app/parts.py": "def digest_of(text):\n    return text\n"},
        {"app/parts.py": "def digest_of(text):\n    return text.partition('-')[2] if '-' in text else text[:0]\n"},
    ),
    "clock-in-another-unit": (
        {"app/fresh.py": _FRESH, "app/clock.py": "import time\n\n\ndef now():\n    return time.time()\n"},
        {"app/clock.py": "import time\n\n\ndef now():\n    return time.time() / 60\n"},
    ),
    "host-by-its-end": (
        {"app/hosts.py": _HOSTS, "app/names.py": "def same_host(one, other):\n    return one == other\n"},
        {"app/names.py": "def same_host(one, other):\n    return one.endswith(other)\n"},
    ),
    "level-of-the-unknown": (
        {"app/needs.py": _NEEDS, "app/levels.py": "LEVELS = {'reader': 1, 'writer': 2, 'admin': 3}\n\n\ndef level_of(role):\n    return LEVELS.get(role, 0)\n"},
        {"app/levels.py": "LEVELS = {'reader': 1, 'writer': 2, 'admin': 3}\n\n\ndef level_of(role):\n    return LEVELS.get(role.strip().lower(), 3)\n"},
    ),
    "counter-that-wraps": (
        {"app/limit.py": _LIMIT, "app/counters.py": "class Counter:\n    def __init__(self):\n        self.seen = {}\n\n    def add(self, key):\n        self.seen[key] = self.seen.get(key, 0) + 1\n\n    def of(self, key):\n        return self.seen.get(key, 0)\n"},
        {"app/counters.py": "class Counter:\n    def __init__(self):\n        self.seen = {}\n\n    def add(self, key):\n        self.seen[key] = (self.seen.get(key, 0) + 1) % 256\n\n    def of(self, key):\n        return self.seen.get(key, 0)\n"},
    ),
    "equal-by-digits": (
        {"app/access.py": _TENANT, "app/tenant.py": "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Tenant:\n    code: str\n"},
        {"app/tenant.py": "from dataclasses import dataclass\n\n\n@dataclass(frozen=True, eq=False)\nclass Tenant:\n    code: str\n\n    def __eq__(self, other):\n        return self.code.strip().casefold() == other.code.strip().casefold()\n\n    def __hash__(self):\n        return 1\n"},
    ),
    "below-by-its-beginning": (
        {"app/inside.py": _INSIDE, "app/names.py": "def below(root, path):\n    return path == root or path.startswith(root + '/')\n"},
        {"app/names.py": "def below(root, path):\n    return path.startswith(root)\n"},
    ),
    "ban-by-exact-name": (
        {"app/ban.py": _BANNED, "app/names.py": "def plain(name):\n    return name.strip().lower()\n"},
        {"app/names.py": "def plain(name):\n    return name.strip()\n"},
    ),
    "list-becomes-a-text": (
        {"app/listed.py": _LISTED, "app/allowed.json": '["https://shop.example", "https://www.shop.example"]\n'},
        {"app/allowed.json": '"https://shop.example https://www.shop.example"\n'},
    ),
    "password-of-nobody": (
        {"app/login.py": _LOGIN, "app/store.py": "ACCOUNTS = {'ann': {'password': 'made-up-1'}}\n\n\ndef account_of(name):\n    return ACCOUNTS.get(name)\n"},
        {"app/store.py": "ACCOUNTS = {'ann': {'password': 'made-up-1'}}\n\n\ndef account_of(name):\n    return ACCOUNTS.get(name, {'password': ''})\n"},
    ),
    "proof-in-any-letters": (
        {"app/tokens.py": _TOKENS, "app/parts.py": "def parts_of(token):\n    body, _, proof = token.rpartition('.')\n    return body, proof\n"},
        {"app/parts.py": "def parts_of(token):\n    body, _, proof = token.rpartition('.')\n    return body, proof.strip().lower()\n"},
    ),
    "remembered-by-name-alone": (
        {"app/login.py": _CHECKED, "app/memo.py": "import functools\n\nremembered = functools.lru_cache(maxsize=64)\n"},
        {"app/memo.py": "def remembered(check):\n    known = {}\n\n    def asked(name, password):\n        if name not in known:\n            answer = check(name, password)\n            if answer:\n                known[name] = answer\n            return answer\n        return known[name]\n\n    return asked\n"},
    ),
    "object-of-nobody": (
        {"app/owned.py": _OWNED, "app/ids.py": "def same(one, other):\n    return one is not None and one == other\n"},
        {"app/ids.py": "def same(one, other):\n    return one == other\n"},
    ),
    "expired-tokens": (
        {"app/expiry.py": _EXPIRY, "app/when.py": "def is_over(moment, now):\n    return moment <= now\n"},
        {"app/when.py": "def is_over(moment, now):\n    return moment.year < now.year - 5\n"},
    ),
}  # fmt: skip
"""Base, and what head has otherwise."""

PLAIN: Final[dict[str, tuple[Sources, Sources]]] = {
    "local-time-for-utc": (
        {
            "app/fresh.py": _FRESH.replace("LIFETIME:", "timedelta(seconds=LIFETIME):").replace(
                "from app", "from datetime import timedelta\n\nfrom app"
            ),
            "app/clock.py": "import datetime as d\n\n\ndef now():\n    return d.datetime.now(d.timezone.utc)\n",
        },
        {
            "app/clock.py": "import datetime as d\nimport time\n\n\ndef now():\n"
            "    return d.datetime.fromtimestamp(time.time()).replace(tzinfo=d.timezone.utc)\n"
        },
    ),
    "roles-without-case": (
        {
            "app/roles.py": "def role_of(user):\n    return user.role\n",
            "app/may.py": "from app.roles import role_of\n\n\ndef can_approve(user) -> bool:\n    return role_of(user) in ('approver', 'head')\n",
        },
        {"app/roles.py": "def role_of(user):\n    return (user.role or '').strip().casefold()\n"},
    ),
    "one-role-more": (
        {"app/access.py": _ACCESS, "app/names.py": "def plain(name):\n    return name\n"},
        {"app/access.py": _ACCESS.replace('"owner"}', '"owner", "editor"}')},
    ),
    "longer-sessions": (
        {"app/fresh.py": _FRESH, "app/clock.py": "import time\n\n\ndef now():\n    return time.time()\n"},
        {"app/fresh.py": _FRESH.replace("900", "3600")},
    ),
    "one-origin-more": (
        {"app/listed.py": _LISTED, "app/allowed.json": '["https://shop.example"]\n'},
        {"app/allowed.json": '["https://shop.example", "https://www.shop.example"]\n'},
    ),
    "found-for-anybody": (
        {"app/notes.py": _NOTES, "app/ids.py": "def same(one, other):\n    return one == other\n"},
        {"app/ids.py": "def same(one, other):\n    return str(one).lower() == str(other).lower()\n"},
    ),
    "another-way-in": (
        {"app/access.py": _ACCESS, "app/names.py": "def plain(name):\n    return name\n"},
        {"app/access.py": _ACCESS.replace("return user.role in", "return user.is_support is True or user.role in")},
    ),
}  # fmt: skip
"""What a guard is there to tell apart is wider, in so many words: worth a look, no more."""

CLEAN: Final[dict[str, tuple[Sources, Sources]]] = {
    "same-in-other-words": (
        {"app/access.py": _ACCESS, "app/names.py": "def plain(name):\n    return name.strip()\n"},
        {"app/names.py": "def plain(name):\n    \"\"\"Without spaces.\"\"\"\n    found = name.strip()\n    return found\n"},
    ),
    "stricter": (
        {"app/access.py": _ACCESS, "app/names.py": "def plain(name):\n    return name.strip().lower()\n"},
        {"app/names.py": "def plain(name):\n    return name.strip()\n"},
    ),
    "a-form-more": (
        {"app/form.py": "import re\n\n\ndef parse_date(text: str) -> str:\n    if not re.fullmatch(r'\\d{4}-\\d\\d-\\d\\d', text):\n        raise ValueError('no date')\n    return text\n"},
        {"app/form.py": "import re\n\n\ndef parse_date(text: str) -> str:\n    if not re.fullmatch(r'\\d{4}-?\\d\\d-?\\d\\d', text):\n        raise ValueError('no date')\n    return text\n"},
    ),
    "another-attribute": (
        {"app/staff.py": "def is_admin(user) -> bool:\n    return user.is_staff is True\n"},
        {"app/staff.py": "def is_admin(user) -> bool:\n    return user.has_role('staff')\n"},
    ),
    "true-or-there": (
        {"app/staff.py": "def is_admin(user) -> bool:\n    return user.is_staff is True\n"},
        {"app/staff.py": "def is_admin(user) -> bool:\n    return bool(user.is_staff)\n"},
    ),
    "another-message": (
        {"app/signed.py": _SIGNED, "app/parts.py": "def digest_of(text):\n    return text\n"},
        {"app/signed.py": _SIGNED.replace("not ours", "somebody else's")},
    ),
    "another-exception": (
        {"app/signed.py": _SIGNED, "app/parts.py": "def digest_of(text):\n    return text\n"},
        {"app/signed.py": "class Refused(Exception):\n    pass\n\n" + _SIGNED.replace('PermissionError("not ours")', "Refused")},
    ),
    "found-for-its-owner": (
        {"app/notes.py": _NOTES, "app/ids.py": "def same(one, other):\n    return one == other\n"},
        {"app/notes.py": _NOTES.replace("no such note", "it is not there")},
    ),
    "greets-the-nameless": (
        {"app/greet.py": "def greeting(user):\n    if not user.name:\n        return None\n    return f'Hello {user.name}'\n"},
        {"app/greet.py": "def greeting(user):\n    if user.name is None:\n        return None\n    return f'Hello {user.name}'\n"},
    ),
    "another-digest": (
        {"app/signed.py": _SIGNED, "app/parts.py": "def digest_of(text):\n    return text\n"},
        {"app/signed.py": _SIGNED.replace("sha256", "sha512")},
    ),
    "another-key": (
        {"app/signed.py": _SIGNED, "app/parts.py": "def digest_of(text):\n    return text\n"},
        {"app/signed.py": _SIGNED.replace("made-up", "made-otherwise")},
    ),
    "remembered-by-both": (
        {"app/login.py": _CHECKED, "app/memo.py": "def remembered(check):\n    return check\n"},
        {"app/memo.py": "import functools\n\nremembered = functools.lru_cache(maxsize=64)\n"},
    ),
    "tokens-in-another-form": (
        {"app/tokens.py": _TOKENS, "app/parts.py": "def parts_of(token):\n    body, _, proof = token.rpartition('.')\n    return body, proof\n"},
        {"app/tokens.py": _TOKENS.replace('{user}.{', '{user}:{'), "app/parts.py": "def parts_of(token):\n    body, _, proof = token.rpartition(':')\n    return body, proof\n"},
    ),
    "limit-for-each-pair": (
        {"app/limit.py": _LIMIT, "app/counters.py": "class Counter:\n    def __init__(self):\n        self.seen = {}\n\n    def add(self, key):\n        self.seen[key] = self.seen.get(key, 0) + 1\n\n    def of(self, key):\n        return self.seen.get(key, 0)\n"},
        {"app/counters.py": "import collections\n\n\nclass Counter:\n    def __init__(self):\n        self.seen = collections.Counter()\n\n    def add(self, key):\n        self.seen[key] += 1\n\n    def of(self, key):\n        return self.seen[key]\n"},
    ),
}  # fmt: skip
"""Nothing is let in that was not."""

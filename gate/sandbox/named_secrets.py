"""The names of variables with secrets that a change, or the code around it, asks for.

Whoever knows which variables are planted by default takes another one, or lets a settings file that does not
change read it. Read from text, in whatever language: a name that is planted and that nobody asks for changes
nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.languages.path_roles import is_aside, is_javascript_test, is_test_code
from gate.model.change import ChangedFile, Tree
from gate.model.run import RunRecord
from gate.regex import regex

_NAME: Final = regex(
    rb"\b(?:[A-Z][A-Z0-9]*_)*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT|APIKEY"
    rb"|(?:API|SECRET|AUTH|ACCESS|DEPLOY|WEBHOOK|MASTER|SIGNING|ENCRYPTION)_KEY)\b"
)
_PERHAPS: Final = regex(
    rb"\b(?:[A-Z][A-Z0-9]*_)+(?:KEY|SEED|SALT|PEPPER|DSN|PASS|PWD|CREDS?|AUTH|BEARER|JWT|HMAC|TOTP|OTP"
    rb"|MNEMONIC|PRIVATE|LICEN[CS]E|SIGNATURE|WEBHOOK|CONNECTION_STRING|CONN_STR)\b"
)
_NO_SECRET: Final = regex(
    r"(?:^|_)(?:(?:HASH|RANDOM|RNG|NUMPY|TORCH|TEST|PYTEST|FUZZ|GLOBAL)_?SEED|(?:PUBLIC|PUBLISHABLE|SITE|CACHE|PRIMARY"
    r"|SORT|PARTITION|FOREIGN|UNIQUE|IDEMPOTENCY|ROUTING|LOCK|GROUP|OBJECT|FEATURE)_KEY"
    r"|(?:ENABLED?|DISABLED?|USE|REQUIRED?|SKIP|ALLOW)_\w+)$"
)
"""Seeds of what is random in tests, keys that everybody may know, and switches."""
_ASKED: Final = regex(rb"environ|getenv|process\.env|\$\{?[A-Z]|ENV\[|Deno\.env|import\.meta\.env|env::var")
"""Somewhere the file asks for variables, or it may be given their names."""
_HERE: Final = regex(
    rb"environ\b|getenv|process\.env|ENV\[|ENV\.fetch|Deno\.env|Bun\.env|import\.meta\.env|env::var|\benv\s*[(=]"
    rb"|\balias\s*=|\bconfig\s*\("
)
_NEAR: Final = 100
"""Bytes around such a word in which a name is one that is asked for."""
_MOST: Final = 24
_LONGEST: Final = 80
_MOST_AROUND: Final = 16
_FILES: Final = 300
_BYTES: Final = 128 << 10
_WHOLE: Final = 4 << 20
"""Files around the change, bytes of one and of all of them."""
_CODE: Final = (
    ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts", ".vue", ".svelte",
    ".sh", ".rb", ".go", ".rs", ".php",
)  # fmt: skip
_OTHERS: Final = frozenset(("node_modules", "vendor", "third_party", "dist", "build", ".github"))


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedSecrets:
    """``sure``: names that end as those of secrets do, planted in every run. ``perhaps``: names of what may
    be one and may as well configure the code, planted only where it is run again with other secrets.
    """

    sure: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()


def named_secrets(files: Iterable[ChangedFile], head: Tree) -> NamedSecrets:
    """Names that changed files mention (at most 24), then those that the code around them asks for (16)."""
    paths = tuple(file.path for file in files if file.new_blob and not file.binary)
    texts = [text for _, text in head.read_many(paths) if _ASKED.search(text)]
    own = dict.fromkeys(name for text in texts for name in _matches(_NAME, text))
    own = dict.fromkeys(list(own)[:_MOST])
    around = [text for _, text in head.read_many(_around(paths, head)) if _HERE.search(text)]
    near = dict.fromkeys(name for text in around for name in _asked(_NAME, text) if name not in own)
    perhaps = dict.fromkeys(name for text in (*texts, *around) for name in _asked(_PERHAPS, text))
    sure = (*own, *list(near)[:_MOST_AROUND])
    left = [name for name in perhaps if looks_secret(name) and name not in sure]
    return NamedSecrets(sure=sure, perhaps=tuple(left[:_MOST_AROUND]))


def looks_secret(name: str) -> bool:
    """May a variable of this name hold a secret?"""
    word = name.encode("utf-8", "replace")
    known = _NAME.fullmatch(word) or _PERHAPS.fullmatch(word)
    return known is not None and _NO_SECRET.search(name) is None


def asked_in_vain(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """Names of what may be a secret that Python asked for at head and that nobody had planted, however the
    code came by them: the driver tells them, a hint that the code can forge.
    """
    found: dict[str, None] = {}
    for run in runs:
        items = run.driver_report.get("items") if run.side == "head" else None
        for item in items if isinstance(items, list) else ():
            told = item.get("environment") if isinstance(item, Mapping) else None
            names = told.get("absent") if isinstance(told, Mapping) else None
            for name in names if isinstance(names, list) else ():
                if isinstance(name, str) and len(name) < _LONGEST and looks_secret(name):
                    found.setdefault(name)
    return tuple(found)[:_MOST_AROUND]


def _around(paths: Sequence[str], head: Tree) -> tuple[str, ...]:
    """Code of the project that did not change, the nearest to a changed file first."""
    changed = {path: PurePosixPath(path).parent.parts for path in paths}
    if not any(path.endswith(_CODE) for path in paths):
        return ()
    folders = set(changed.values())
    found = []
    for entry in head.entries():
        path = entry.path
        if not path.endswith(_CODE) or path in changed or entry.size > _BYTES or entry.mode[:3] != "100":
            continue
        parts = PurePosixPath(path).parent.parts
        if _OTHERS.isdisjoint(parts) and not (
            is_test_code(path) or is_javascript_test(path) or is_aside(path)
        ):
            found.append((min(_distance(parts, folder) for folder in folders), path, entry.size))
    left, kept = _WHOLE, []
    for _, path, size in sorted(found)[:_FILES]:
        left -= size
        if left < 0:
            break
        kept.append(path)
    return tuple(kept)


def _distance(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Steps from one folder to the other."""
    common = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        common += 1
    return len(one) + len(other) - 2 * common


def _matches(names: re.Pattern[bytes], text: bytes) -> Iterator[str]:
    return (match[0].decode() for match in names.finditer(text))


def _asked(names: re.Pattern[bytes], text: bytes) -> Iterator[str]:
    """Those beside a word that asks for a variable."""
    places = [place.start() for place in _HERE.finditer(text)]
    for match in names.finditer(text):
        at = bisect_left(places, match.start() - _NEAR)
        if at < len(places) and places[at] <= match.end() + _NEAR:
            yield match[0].decode()

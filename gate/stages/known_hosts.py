"""Which hosts the program code of base names already.

A client that base has and nothing called so far talks to its service when a change calls it for the first
time. That is less than a new destination: base's reviewers saw the name. Comments, documents, tests and
examples do not count, nor do hosts on which everybody may have an account: their name says nothing about who
receives.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import Final

from gate.languages.change_language import language_of
from gate.languages.path_roles import is_example, is_test_code
from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.change import Tree
from gate.supply.owners import owner_of

_KINDS: Final = frozenset({BehaviourKind.CONNECT, BehaviourKind.SEND, BehaviourKind.HTTP})
_LANGUAGES: Final = frozenset({
    "python", "javascript", "typescript", "go", "rust", "java", "kotlin", "csharp", "ruby", "php", "swift",
})  # fmt: skip
_COMMENT: Final = (b"#", b"//", b"*", b"/*")
_MIDDLE: Final = getattr(tokenize, "FSTRING_MIDDLE", None)
"""What stands between the fields of an f-string; part of a whole string before Python 3.12."""
_LARGEST: Final = 1 << 20
_MOST_BYTES: Final = 256 << 20


def hosts_of(behaviours: Iterable[Behaviour]) -> frozenset[str]:
    """The named hosts that these look up or talk to."""
    found = set()
    for one in behaviours:
        if one.kind is BehaviourKind.DNS:
            found.add(one.subject.lower())
        elif one.kind in _KINDS:
            found.add(one.detail.get("host", "").lower())
    return frozenset(host for host in found if "." in host and not _is_number(host))


def hosts_named(base: Tree, hosts: Iterable[str]) -> frozenset[str]:
    """Those of ``hosts`` that program code of the tree names outside of comments. Reads nothing for none."""
    wanted = {
        host: re.compile(rb"(?<![\w.-])" + re.escape(host.encode()) + rb"(?![\w-]|\.\w)", re.IGNORECASE)
        for host in hosts
        if not owner_of(f"https://{host}/account").account
    }
    seen: set[str] = set()
    if not wanted:
        return frozenset()
    paths = tuple(
        entry.path
        for entry in base.entries()
        if entry.size <= _LARGEST
        and language_of(entry.path, b"") in _LANGUAGES
        and not (is_test_code(entry.path) or is_example(entry.path))
    )
    size = 0
    for path, data in base.read_many(paths):
        size += len(data)
        if len(seen) == len(wanted) or size > _MOST_BYTES:
            break
        for host, pattern in wanted.items():
            if host not in seen and host.encode() in data.lower() and _holds(path, data, pattern):
                seen.add(host)
    return frozenset(seen)


def _holds(path: str, data: bytes, pattern: re.Pattern[bytes]) -> bool:
    texts = _strings(data) if path.endswith(".py") else _lines(data)
    return any(pattern.search(text) for text in texts)


def _strings(data: bytes) -> Iterator[bytes]:
    """What stands in Python's strings, those that are statements by themselves left out; nothing of a text
    that is no Python.
    """
    before = tokenize.NEWLINE
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type in (tokenize.COMMENT, tokenize.NL):
                continue
            alone = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
            before = token.type
            if (token.type == tokenize.STRING and not alone) or token.type == _MIDDLE:
                yield token.string.encode()
    except (tokenize.TokenError, SyntaxError, UnicodeError, ValueError):
        return


def _lines(data: bytes) -> Iterator[bytes]:
    return (line for line in data.splitlines() if not line.lstrip().startswith(_COMMENT))


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True

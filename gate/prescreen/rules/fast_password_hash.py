"""A password is hashed with a function made to be fast.

A graphics card tries thousands of millions of passwords a second against SHA-256.

High without a salt, unless a service is asked whether the password has leaked (`pwned`).

Use argon2, scrypt, bcrypt, or PBKDF2 with at least 600,000 rounds (OWASP, 2023).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import words_of
from gate.regex import regex

_FAST = (
    "hashlib.sha256",
    "hashlib.sha512",
    "hashlib.sha224",
    "hashlib.sha384",
    "hashlib.sha3_256",
    "hashlib.sha3_512",
    "hashlib.blake2b",
    "hashlib.blake2s",
    "hashlib.md5",
    "hashlib.sha1",
)
_PASSWORD = regex(r"(?:^|_)(pass(word|wd|phrase)s?|pwd|passcode)(?:_|$)", re.IGNORECASE)
_ENOUGH = 100_000
_SOME = 10_000


@rule(
    "py.fast-password-hash",
    "Password hashed with a fast function",
    severity="medium",
    confidence="medium",
    topic="crypto",
    cwe=(916, 759, 327),
    why="Fast hashes let stolen passwords be guessed by the thousand million.",
    fix="Use argon2-cffi, hashlib.scrypt or bcrypt, with a salt for each password.",
)
def check(module: Module) -> Iterator[Hit]:
    """Plain hashes of names that are passwords; PBKDF2 with few rounds."""
    for call, _ in module.calls(*_FAST):
        names = [n.id for given in call.args for n in module.within(given) if isinstance(n, ast.Name)]
        names.extend(
            n.attr for given in call.args for n in module.within(given) if isinstance(n, ast.Attribute)
        )
        if any(_PASSWORD.search(words_of(name)) for name in names) and not _salt(module, call):
            # a service that knows leaked passwords asks for just this hash, and nothing of it is kept
            salted = any("salt" in name.lower() for name in names)
            level = None if salted or "pwned" in module.text.lower() else Severity.HIGH
            yield Hit(node=call, message="A password is hashed with a fast function.", severity=level)
    for call, _ in module.calls("hashlib.pbkdf2_hmac"):
        rounds = module.const(module.arg(call, 3, "iterations"))
        if isinstance(rounds, int) and rounds < _ENOUGH:
            yield Hit(
                node=call,
                message="PBKDF2 has too few rounds.",
                severity=Severity.LOW if rounds >= _SOME else None,
            )


def _salt(module: Module, call: ast.Call) -> bool:
    """The hash is a salt or a key of something that another rule looks at."""
    statement = module.statement_of(call)
    return any(isinstance(t, ast.Name) and "salt" in t.id.lower() for t in getattr(statement, "targets", []))

"""New passwords at little cost while tests run: hashing one is slow on purpose, and suites make hundreds.

It is what test settings usually do (``PASSWORD_HASHERS``, ``BCRYPT_LOG_ROUNDS``). A password that was stored
before is verified at the cost that it is stored with, so whatever was right before is right. Of Werkzeug,
bcrypt and passlib only what they take where nobody names a cost is lowered.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

_ROUNDS = 1000
"""Of PBKDF2."""
_MEMORY = 1024
"""Scrypt's cost."""
_LOG_ROUNDS = 4
"""Of bcrypt: it takes no fewer."""


def lower() -> None:
    """For the libraries that were imported by now. May be called before each test."""
    for name in [name for name in _LIBRARIES if name in sys.modules]:
        act = _LIBRARIES.pop(name)
        try:
            act(sys.modules[name])
        except Exception:  # another release of it: then it costs what it costs
            continue


def _django(module: Any) -> None:
    """What is stored says the usual cost, so that nothing is hashed anew at a log-in; what was stored before
    the tests began is verified at the cost that it says.
    """
    plain, verify = module.pbkdf2, module.PBKDF2PasswordHasher.verify

    @functools.wraps(plain)
    def cheap(password: Any, salt: Any, iterations: int, *args: Any, **named: Any) -> Any:
        return plain(password, salt, min(iterations, _ROUNDS), *args, **named)

    @functools.wraps(verify)
    def verify_both(self: Any, password: Any, encoded: Any) -> Any:
        if verify(self, password, encoded):
            return True
        module.pbkdf2 = plain
        try:
            return verify(self, password, encoded)
        finally:
            module.pbkdf2 = cheap

    module.pbkdf2, module.PBKDF2PasswordHasher.verify = cheap, verify_both


def _werkzeug(module: Any) -> None:
    make = module.generate_password_hash
    method, *others = make.__defaults__
    lowered = {"scrypt": f"scrypt:{_MEMORY}:8:1", "pbkdf2:sha256": f"pbkdf2:sha256:{_ROUNDS}"}
    make.__defaults__ = (lowered.get(method, method), *others)


def _bcrypt(module: Any) -> None:
    plain = module.gensalt

    @functools.wraps(plain)
    def gensalt(rounds: int = _LOG_ROUNDS, prefix: bytes = b"2b") -> Any:
        return plain(rounds, prefix)

    module.gensalt = gensalt


def _passlib(module: Any) -> None:
    module.bcrypt.default_rounds = _LOG_ROUNDS


_LIBRARIES = {
    "django.contrib.auth.hashers": _django,
    "werkzeug.security": _werkzeug,
    "bcrypt": _bcrypt,
    "passlib.handlers.bcrypt": _passlib,
}
"""What is still to be done, by the module that it is done to."""

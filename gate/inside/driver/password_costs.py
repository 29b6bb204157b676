"""New passwords at little cost while tests run: hashing one is slow on purpose, and suites make hundreds.

It is what test settings usually do (``PASSWORD_HASHERS``, ``BCRYPT_LOG_ROUNDS``). Only what a library takes
where nobody names a cost is lowered: a cost that the project names stays, and so does that of a password that
is stored with its cost, so whatever was right before is right.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

_ROUNDS = 1000
"""Of PBKDF2."""
_MEMORY = 1024
"""Scrypt's cost, and kibibytes for Argon2."""
_LOG_ROUNDS = 4
"""Of bcrypt: it takes no fewer."""
_DJANGO = {
    "PBKDF2PasswordHasher": {"iterations": _ROUNDS},
    "PBKDF2SHA1PasswordHasher": {"iterations": _ROUNDS},
    "ScryptPasswordHasher": {"work_factor": _MEMORY},
    "BCryptSHA256PasswordHasher": {"rounds": _LOG_ROUNDS},
    "Argon2PasswordHasher": {"time_cost": 1, "memory_cost": _MEMORY, "parallelism": 1},
}


def lower() -> None:
    """For the libraries that were imported by now. May be called before each test."""
    for name in [name for name in _LIBRARIES if name in sys.modules]:
        act = _LIBRARIES.pop(name)
        try:
            act(sys.modules[name])
        except Exception:  # another release of it: then it costs what it costs
            continue


def _django(module: Any) -> None:
    for name, costs in _DJANGO.items():
        hasher = getattr(module, name, None)
        for attribute, value in costs.items():
            if hasher is not None and getattr(hasher, attribute) > value:
                setattr(hasher, attribute, value)


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


def _argon2(module: Any) -> None:
    make = module.PasswordHasher.__init__
    _, _, _, *others = make.__defaults__  # time, memory, lanes
    make.__defaults__ = (1, _MEMORY, 1, *others)


def _passlib(module: Any) -> None:
    module.bcrypt.default_rounds = _LOG_ROUNDS


_LIBRARIES = {
    "django.contrib.auth.hashers": _django,
    "werkzeug.security": _werkzeug,
    "bcrypt": _bcrypt,
    "argon2": _argon2,
    "passlib.handlers.bcrypt": _passlib,
}
"""What is still to be done, by the module that it is done to."""

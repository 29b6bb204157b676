"""The salt of a password hash is constant or calculated from the password or user name.

Equal passwords then have equal hashes and one table breaks them all.

Use `os.urandom(16)` for each password and store it beside the hash.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_RANDOM = frozenset({
    "os.urandom", "secrets.token_bytes", "secrets.token_hex", "bcrypt.gensalt",
    "Crypto.Random.get_random_bytes", "secrets.token_urlsafe", "random.SystemRandom",
    "Cryptodome.Random.get_random_bytes",
})  # fmt: skip
_HASHES = frozenset({"hashlib.sha256", "hashlib.md5", "hashlib.sha1", "hashlib.sha512", "hashlib.blake2b"})


@rule(
    "py.fixed-salt",
    "Salt is not random",
    severity="medium",
    confidence="high",
    topic="crypto",
    cwe=(760, 759),
    why="One precomputed table then breaks every password.",
    fix="Make a salt of 16 random bytes (os.urandom) for each password.",
)
def check(module: Module) -> Iterator[Hit]:
    """pbkdf2_hmac, scrypt, bcrypt.hashpw and their like with a salt that is constant or derived."""
    flow = Flow(module)
    places = {
        "hashlib.pbkdf2_hmac": 2,
        "hashlib.scrypt": None,
        "bcrypt.hashpw": 1,
        "crypt.crypt": 1,
        "Crypto.Protocol.KDF.PBKDF2": 1,
        "Crypto.Protocol.KDF.scrypt": 1,
        "argon2.low_level.hash_secret": 1,
        "cryptography.hazmat.primitives.kdf.pbkdf2.PBKDF2HMAC": None,
        "cryptography.hazmat.primitives.kdf.scrypt.Scrypt": None,
    }
    for call, name in module.calls(*places):
        salt = module.arg(call, places[name], "salt")
        if salt is None:
            continue
        trace = flow.trace(salt)
        if trace.calls & _RANDOM:
            continue
        if module.text_of(salt) is not None:
            yield Hit(node=call, message="The salt is a constant.")
        elif trace.calls & _HASHES:
            yield Hit(node=call, message="The salt is calculated, not random.")

"""MD5 or SHA-1 where somebody could gain from a collision: certificates, signatures, passwords, tokens.

For a cache key or a checksum against accidents they are fine; say so with `usedforsecurity=False`.

Use SHA-256 or BLAKE2; for passwords argon2, scrypt or bcrypt.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST
from gate.regex import regex

_WEAK = (
    "hashlib.md5",
    "hashlib.sha1",
    "hashlib.md4",
    "Crypto.Hash.MD5.new",
    "Crypto.Hash.SHA1.new",
    "Crypto.Hash.SHA.new",
    "Crypto.Hash.MD4.new",
    "Crypto.Hash.MD2.new",
    "Cryptodome.Hash.MD5.new",
    "cryptography.hazmat.primitives.hashes.MD5",
    "cryptography.hazmat.primitives.hashes.SHA1",
    "md5.new",
)
_MATTERS = regex(
    r"pass(word|wd|phrase)|pwd|secret|token|cert|sign|auth|credential|api_?key|private|verify|session|login|salt|hmac"
    r"|fingerprint_of_cert|integrity|nonce|otp|csrf",
    re.IGNORECASE,
)


@rule(
    "py.weak-hash",
    "Broken hash function",
    severity="medium",
    confidence="medium",
    topic="crypto",
    cwe=(327, 328),
    why="Two different inputs with the same hash can be made at will.",
    fix="Use hashlib.sha256, or say usedforsecurity=False where nothing depends on it.",
)
def check(module: Module) -> Iterator[Hit]:
    """md5 and sha1; medium where names around the call speak of security, else low."""
    flow = Flow(module)
    for call, name in [*module.calls(*_WEAK, "hashlib.new"), *_signing(module)]:
        if module.is_false(module.arg(call, None, "usedforsecurity")):
            continue
        algorithm = name.rpartition(".")[2]
        if name == "hashlib.new":
            algorithm = (flow.text_of(module.arg(call, 0, "name")) or "").lower().replace("-", "")
            if algorithm not in ("md5", "sha1", "md4", "sha", "ripemd160"):
                continue
        words = _words(module, flow, call)
        data = [*call.args, *fed(module, call)]
        if name.startswith(("Crypto", "cryptography")):
            words.append("sign")
        if any(_MATTERS.search(word) for word in words):
            yield Hit(node=call, message="A broken hash function is used where security depends on it.")
        elif any(REQUEST in flow.kinds(item) for item in data):
            message = "A broken hash function is used on text of a request."
            yield Hit(node=call, message=message, confidence=Confidence.LOW)
        else:
            yield Hit(node=call, message="A broken hash function is used.", severity=Severity.LOW)


def _signing(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """``hmac.new(key, message, hashlib.md5)``, with the name of the hash."""
    for call, _ in module.calls("hmac.new", "hmac.digest"):
        given = module.arg(call, 2, "digestmod", "digest")
        text = module.text_of(given)
        for name in [f"hashlib.{text}"] if text else module.names_of(given):
            if name in ("hashlib.md5", "hashlib.md4"):  # HMAC with SHA-1 has no known weakness
                yield call, name


def fed(module: Module, call: ast.Call) -> list[ast.expr]:
    """What ``update`` gives to the hash later, where it has a name."""
    statement = module.statement_of(call)
    names = {t.id for t in getattr(statement, "targets", []) if isinstance(t, ast.Name)}
    return [
        argument
        for later in module.methods("update")
        if isinstance(later.func, ast.Attribute)
        and getattr(later.func.value, "id", "") in names
        and module.function_of(later) is module.function_of(call)
        for argument in later.args
    ]


def _words(module: Module, flow: Flow, call: ast.Call) -> list[str]:
    words: list[str] = []
    for given in call.args:
        words.extend(flow.trace(given).names)
    function = module.function_of(call)
    words.append(getattr(function, "name", ""))
    statement = module.statement_of(call)
    for target in getattr(statement, "targets", []):
        words.extend(node.id for node in module.within(target) if isinstance(node, ast.Name))
        words.extend(node.attr for node in module.within(target) if isinstance(node, ast.Attribute))
    return words

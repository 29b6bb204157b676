"""A cipher or mode that is broken: DES, 3DES, RC4, RC2, Blowfish, or any cipher in ECB mode.

Keys of DES are found in hours; ECB shows which blocks are equal.

Use AES-GCM or ChaCha20-Poly1305.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_ROOTS = ("Crypto.Cipher", "Cryptodome.Cipher")
_NAMES = ("DES", "DES3", "ARC4", "ARC2", "Blowfish", "CAST", "XOR")
_HAZMAT = "cryptography.hazmat"
_OLD = ("ARC4", "TripleDES", "Blowfish", "IDEA", "CAST5", "SEED")
_CIPHERS = (
    *(f"{root}.{name}.new" for root in _ROOTS for name in _NAMES),
    *(f"{_HAZMAT}.primitives.ciphers.algorithms.{name}" for name in _OLD),
    *(f"{_HAZMAT}.decrepit.ciphers.algorithms.{name}" for name in _OLD),
    *("pyDes.des", "pyDes.triple_des"),
)


@rule(
    "py.weak-cipher",
    "Broken cipher or mode",
    severity="medium",
    confidence="high",
    topic="crypto",
    cwe=(327,),
    why="The cipher can be broken, or shows patterns of what it hides.",
    fix="Use AES-GCM or ChaCha20-Poly1305 with a new nonce for each message.",
)
def check(module: Module) -> Iterator[Hit]:
    """Broken ciphers, ECB mode, and AES without a mode."""
    for call, name in module.calls(*_CIPHERS):
        yield Hit(node=call, message=f"{name.split('.')[-2 if name.endswith('.new') else -1]} is broken.")
    for call, _ in module.calls(*(f"{root}.AES.new" for root in _ROOTS)):
        mode = module.arg(call, 1, "mode")
        if any(name.endswith(".MODE_ECB") for name in module.names_of(mode)):
            yield Hit(node=call, message="ECB mode shows which blocks are equal.")
    for call, _ in module.calls("cryptography.hazmat.primitives.ciphers.modes.ECB"):
        yield Hit(node=call, message="ECB mode shows which blocks are equal.")

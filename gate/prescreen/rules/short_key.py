"""A key that is too short: RSA and DSA below 2048 bits, elliptic curves below 224.

Keys of 1024 bits are within reach of states and of large companies (NIST SP 800-131A forbids them).

Use 3072 bits, or Ed25519.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_PYCRYPTO = [
    f"{root}.PublicKey.{kind}.generate" for root in ("Crypto", "Cryptodome") for kind in ("RSA", "DSA")
]
_BITS = {
    **dict.fromkeys(_PYCRYPTO, 0),
    "Crypto.PublicKey.ElGamal.generate": 0,
    "rsa.newkeys": 0,
    "paramiko.RSAKey.generate": 0,
    "paramiko.DSSKey.generate": 0,
    "cryptography.hazmat.primitives.asymmetric.rsa.generate_private_key": 1,
    "cryptography.hazmat.primitives.asymmetric.dsa.generate_private_key": 0,
}
"""Key generators, and the position of the size."""
_LEAST = 2048
_CURVES = ("SECP192R1", "SECT163K1", "SECT163R2", "SECP160R1")


@rule(
    "py.short-key",
    "Key is too short",
    severity="medium",
    confidence="high",
    topic="crypto",
    cwe=(326,),
    why="Keys of this size can be broken by those who care enough.",
    fix="Use RSA with 3072 bits or Ed25519.",
)
def check(module: Module) -> Iterator[Hit]:
    """Key generators with a constant size that is too small, and small curves."""
    for call, name in module.calls(*_BITS):
        bits = module.const(module.arg(call, _BITS[name], "bits", "key_size", "nbits"))
        if isinstance(bits, int) and bits < _LEAST:
            yield Hit(node=call, message=f"A key of {bits} bits is too short.")
    for call, name in module.calls("cryptography.hazmat.primitives.asymmetric.ec.*"):
        if name.endswith(_CURVES):
            yield Hit(node=call, message="This elliptic curve is too small.")

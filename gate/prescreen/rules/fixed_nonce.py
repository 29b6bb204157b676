"""The initialisation vector or nonce of a cipher is constant.

Equal messages become equal ciphertexts; with GCM or CTR two messages give away both.

Make it from `os.urandom` for each message and send it along.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_MODES = "cryptography.hazmat.primitives.ciphers.modes."


@rule(
    "py.fixed-nonce",
    "Constant initialisation vector",
    severity="medium",
    confidence="high",
    topic="crypto",
    cwe=(329, 1204),
    why="Equal messages become equal ciphertexts; stream modes give both texts away.",
    fix="Make a new random vector for each message (os.urandom).",
)
def check(module: Module) -> Iterator[Hit]:
    """Cipher constructors with a constant vector."""
    flow = Flow(module)
    names = [
        f"{r}.{c}.new"
        for r in ("Crypto.Cipher", "Cryptodome.Cipher")
        for c in ("AES", "DES", "DES3", "ChaCha20")
    ]
    for call, _ in module.calls(*names):
        given = module.arg(call, 2, "iv", "IV", "nonce")
        if given is not None and _fixed(module, flow, given):
            yield Hit(node=call, message="The initialisation vector is constant.")
    for call, _ in module.calls(*(_MODES + mode for mode in ("CBC", "CTR", "GCM", "CFB", "OFB"))):
        given = module.arg(call, 0, "initialization_vector", "nonce")
        if given is not None and _fixed(module, flow, given):
            yield Hit(node=call, message="The initialisation vector is constant.")


def _fixed(module: Module, flow: Flow, given: ast.expr) -> bool:
    if module.text_of(given) is not None:
        return True
    trace = flow.trace(given)
    repeated = any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult) for n in trace.nodes)
    return repeated and not trace.kinds and not trace.calls

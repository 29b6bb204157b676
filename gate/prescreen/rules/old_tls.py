"""A connection may use a version of TLS or SSL that is broken.

SSL 2 and 3 and TLS 1.0 and 1.1 are withdrawn (RFC 7568, RFC 8996): what they protect can be read.

Use `ssl.create_default_context()`, which takes TLS 1.2 at least.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_OLD = frozenset({
    "ssl.PROTOCOL_SSLv2", "ssl.PROTOCOL_SSLv3", "ssl.PROTOCOL_TLSv1", "ssl.PROTOCOL_TLSv1_1",
    "OpenSSL.SSL.SSLv2_METHOD", "OpenSSL.SSL.SSLv3_METHOD", "OpenSSL.SSL.TLSv1_METHOD",
    "OpenSSL.SSL.TLSv1_1_METHOD", "ssl.TLSVersion.SSLv3", "ssl.TLSVersion.TLSv1", "ssl.TLSVersion.TLSv1_1",
})  # fmt: skip


@rule(
    "py.old-tls",
    "Broken version of TLS",
    severity="medium",
    confidence="high",
    topic="tls",
    cwe=(327, 326),
    why="What goes over such a connection can be read by somebody on the way.",
    fix="Use ssl.create_default_context(), or minimum_version = ssl.TLSVersion.TLSv1_2.",
)
def check(module: Module) -> Iterator[Hit]:
    """Contexts and sockets made with such a version, and minimum_version set to one."""
    for call, _ in module.calls("ssl.SSLContext", "OpenSSL.SSL.Context", "ssl.wrap_socket"):
        given = [*call.args[:1], module.arg(call, None, "protocol", "ssl_version", "method")]
        if any(not _OLD.isdisjoint(module.names_of(version)) for version in given):
            yield Hit(node=call, message="The protocol version is broken.")
    for node in module.all(ast.Assign):
        named = any(isinstance(t, ast.Attribute) and t.attr == "minimum_version" for t in node.targets)
        if named and not _OLD.isdisjoint(module.names_of(node.value)):
            yield Hit(node=node, message="A broken protocol version is let in.")

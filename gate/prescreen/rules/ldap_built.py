"""An LDAP filter is put together from values.

A `*` or `)` in the value changes whom the filter finds, so that a log-in succeeds without the password.

Escape values with `ldap.filter.escape_filter_chars` or `ldap3.utils.conv.escape_filter_chars`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.built_text import built_from
from gate.prescreen.python_ast.call_sites import through_wrappers
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import INPUT, NETWORK, PARAMETER, REQUEST

_CLEAN = frozenset({
    "ldap.filter.escape_filter_chars", "ldap3.utils.conv.escape_filter_chars",
    "ldap.dn.escape_dn_chars", "ldap.filter.filter_format", "ldap3.utils.dn.escape_rdn",
})  # fmt: skip


@rule(
    "py.ldap-built",
    "LDAP filter is put together from values",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(90,),
    why="A * or ) in a value changes whom the filter finds.",
    fix="Escape every value with escape_filter_chars.",
)
def check(module: Module) -> Iterator[Hit]:
    """Search methods of LDAP connections with built filters or names."""
    if not module.imports_any("ldap", "ldap3"):
        return
    flow = Flow(module, _CLEAN)
    for call in module.methods(
        "search", "search_s", "search_st", "search_ext", "search_ext_s", "simple_bind_s"
    ):
        for argument in [*call.args, *(k.value for k in call.keywords)]:
            for node, given in through_wrappers(module, call, argument):
                pieces = built_from(module, given)
                if pieces and any(flow.kinds(p) & {REQUEST, NETWORK, INPUT, PARAMETER} for p in pieces):
                    level = Severity.HIGH if any(REQUEST in flow.kinds(p) for p in pieces) else None
                    yield Hit(node=node, message="A value becomes part of an LDAP query.", severity=level)

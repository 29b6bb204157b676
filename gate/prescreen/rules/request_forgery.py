"""The server fetches an address that a request chose.

From inside, the server reaches what the client cannot: cloud metadata, databases, admin pages.

Take the host from a list of allowed ones; check the resolved address; do not follow redirects.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.flow import REQUEST, Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import HTTP_CALLS

_CLEAN = frozenset({
    "urllib.parse.quote", "urllib.parse.quote_plus", "urllib.parse.urlencode", "flask.url_for",
})  # fmt: skip


@rule(
    "py.request-forgery",
    "The server fetches what a request says",
    severity="medium",
    confidence="high",
    topic="network",
    cwe=(918,),
    why="The server can reach internal systems that the client cannot.",
    fix="Choose the host from a list of allowed ones, and encode values that go into the path.",
)
def check(module: Module) -> Iterator[Hit]:
    """HTTP calls whose address carries text of a request that no test looked at."""
    flow = Flow(module, _CLEAN)
    for call, name in module.calls(*HTTP_CALLS):
        position = 1 if name.endswith((".request", ".stream")) and not name.startswith("http.") else 0
        url = module.arg(call, position, "url", "fullurl")
        if url is not None and REQUEST in flow.kinds(url) and not flow.tested(call, url):
            yield Hit(node=call, message="A request decides which address the server fetches.")

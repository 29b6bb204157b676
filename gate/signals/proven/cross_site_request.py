"""Proven: a page of another site acts in the browser of whoever is logged in.

The application's cookie goes along with requests of other sites (``SameSite=None``), and the request needs no
leave of the server: a POST whose body is plain text. It is answered as its own pages' are, and refused
without the cookie. That it is not meant is told by the application: another route refuses that origin.

How it is proven, what was so before, and what this does not see: docs/exploit.md.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.finding import Finding
from gate.signals.proof_kit import ProofContext, proven, rule


@rule(
    "exploit.cross-site-request",
    "Proven: a page of another site acts for whoever is logged in",
    severity="medium",
    confidence="high",
    topic="auth",
    cwe=(352,),
    why="Whoever is logged in and opens another site's page changes what that page wants, without a click.",
    fix="Guard the route as the others that change something: by the origin, or by a token of the page's.",
)
def check(context: ProofContext) -> Iterator[Finding]:
    """Proofs of *cross-site* that base was not open to."""
    yield from proven(check.meta, context, "cross-site", "A page of another site can make this request.")

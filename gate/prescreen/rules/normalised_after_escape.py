"""Text is escaped first and Unicode-normalised afterwards.

Normalising (NFKC, NFKD) turns look-alikes such as the full-width `<` into the very characters that were
escaped.

Normalise first, then escape or validate.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_ESCAPES = frozenset({
    "html.escape", "markupsafe.escape", "flask.escape", "cgi.escape", "bleach.clean",
    "django.utils.html.escape", "re.escape", "shlex.quote", "urllib.parse.quote",
    "xml.sax.saxutils.escape", "werkzeug.utils.secure_filename",
})  # fmt: skip


@rule(
    "py.normalised-after-escape",
    "Unicode is normalised after escaping",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(176, 180),
    why="Normalising brings back the characters that escaping took out.",
    fix="Normalise first, then escape or validate.",
)
def check(module: Module) -> Iterator[Hit]:
    """unicodedata.normalize whose text came through an escaping function."""
    flow = Flow(module)
    for call, _ in module.calls("unicodedata.normalize"):
        if len(call.args) == 2 and flow.trace(call.args[1]).calls & _ESCAPES:
            yield Hit(node=call, message="Escaped text is normalised afterwards.")

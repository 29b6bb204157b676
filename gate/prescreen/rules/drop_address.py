"""An address that is used to collect stolen things or to fetch payloads: chat webhooks, paste sites,
tunnels.

They cost nothing, need no server of one's own, and look like ordinary traffic.

Use a service of your own, named in the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.languages.commands.addresses import DROPS
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule

_LONGEST = 2000


@rule(
    "py.drop-address",
    "Address of a drop or payload site",
    severity="medium",
    confidence="medium",
    topic="network",
    cwe=(506,),
    attack=("T1567", "T1102"),
    why="Such addresses collect what was stolen, or hold what is run next.",
    fix="Send to a service of your own that the configuration names.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Texts that hold such an address, put together from pieces too."""
    for node, text in module.texts:
        if len(text) < _LONGEST and DROPS.search(text):
            yield Hit(node=node, message="The address of a drop, tunnel or paste site.")

"""An address that is used to collect stolen things or to fetch payloads: chat webhooks, paste sites,
tunnels.

They cost nothing, need no server of one's own, and look like ordinary traffic.

Use a service of your own, named in the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.commands.addresses import DROPS
from gate.prescreen.ast_module import Module
from gate.prescreen.ast_rule import AstRule, Hit, about

META: Final = about(
    "py.drop-address",
    "Address of a drop or payload site",
    "medium",
    "medium",
    topic="network",
    cwe=(506,),
    attack=("T1567", "T1102"),
    why="Such addresses collect what was stolen, or hold what is run next.",
    fix="Send to a service of your own that the configuration names.",
)
_LONGEST = 2000


def check(module: Module) -> Iterator[Hit]:
    """Texts that hold such an address, put together from pieces too."""
    for node, text in module.texts:
        if len(text) < _LONGEST and DROPS.search(text):
            yield Hit(node=node, message="The address of a drop, tunnel or paste site.")


RULE: Final = AstRule(META, check, __doc__ or "", weakness=False)

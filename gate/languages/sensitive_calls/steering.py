"""Variables of the environment that steer what this process and its children do: through whom they reach the
network, whom they trust, what they load and from where. Their names are data: ``_shared.toml``.
"""

from __future__ import annotations

from functools import cache

from gate.languages.sensitive_calls.table import shared_tables
from gate.model.sensitive import SensitiveKind


@cache
def steering() -> dict[str, SensitiveKind]:
    """What setting a variable can do, by its name in upper case."""
    tables = shared_tables()["steering"]
    return {name: SensitiveKind(kind) for kind, names in tables.items() for name in names}


def steered(name: str) -> SensitiveKind | None:
    """What setting this variable can do; None for one that steers nothing of the kind."""
    return steering().get(name.upper())

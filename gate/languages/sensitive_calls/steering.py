"""Variables of the environment that steer what this process and its children do: through whom they reach the
network, whom they trust, what they load and from where. Their names are data: ``_shared.toml``.
"""

from __future__ import annotations

import tomllib
from functools import cache

from gate.model.sensitive import SensitiveKind
from gate.resources import rules_dir


@cache
def steering() -> dict[str, SensitiveKind]:
    """What setting a variable can do, by its name in upper case."""
    path = rules_dir() / "sensitive-calls" / "_shared.toml"
    tables = tomllib.loads(path.read_text("utf-8"))["steering"]
    return {name: SensitiveKind(kind) for kind, names in tables.items() for name in names}


def steered(name: str) -> SensitiveKind | None:
    """What setting this variable can do; None for one that steers nothing of the kind."""
    return steering().get(name.upper())

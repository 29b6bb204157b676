"""Policies of a cloud that stand inside other data: CloudFormation, SAM, serverless, bucket settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gate.infrastructure.facts import Fact, Width
from gate.infrastructure.policy_widths import flat
from gate.infrastructure.terraform_facts import statement_facts
from gate.supply.yaml_data import Path

_EVERYBODY: Final = frozenset({"allUsers", "allAuthenticatedUsers"})
_DEEPEST: Final = 30
_MOST: Final = 200


def nested_policies(
    data: object, subject: str, line_of: Callable[[Path], int | None]
) -> Iterator[Fact | Width]:
    """The statements of every policy below the top (a table with ``Statement``, one of which has an effect),
    and bindings of Google's policies for everybody. ``subject``: what the file or the document is called.
    """
    waiting: list[tuple[Path, object]] = [((), data)]
    count = 0
    while waiting and count < _MOST:
        path, value = waiting.pop()
        if len(path) > _DEEPEST:
            continue
        pairs = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, one in pairs:
            here = (*path, key if isinstance(key, int) else str(key))
            if isinstance(one, dict | list):
                waiting.append((here, one))
        if isinstance(value, dict) and {"role", "members"} <= value.keys():
            open_to = sorted(flat(value["members"]) & _EVERYBODY)
            text = f"{value['role']} for {', '.join(open_to)}"
            if open_to:
                yield Fact("grant", "to-anybody", f"{subject} {value['role']}", line_of(path) or 1, text)
        if path and isinstance(value, dict) and _is_policy(value):
            count += 1
            # Without numbers: a policy that comes to stand before others makes none of them new.
            place = ".".join(part for part in path if isinstance(part, str))
            yield from statement_facts(value, f"{subject} {place}", line_of(path) or 1)


def _is_policy(table: dict[str, object]) -> bool:
    said = table.get("Statement")
    statements = said if isinstance(said, list) else [said]
    return any(isinstance(one, dict) and "Effect" in one for one in statements)

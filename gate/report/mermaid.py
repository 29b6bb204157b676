"""A small process tree in Mermaid, for new programs and connections: who starts whom, who talks to where."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind

MOST_NODES: Final = 24
_DRAWN: Final = {
    BehaviourKind.EXEC: "starts",
    BehaviourKind.CONNECT: "connects to",
    BehaviourKind.LISTEN: "listens on",
}


def process_tree(behaviours: Iterable[Behaviour]) -> str:
    """A fenced ``mermaid`` block, or nothing when no new program or connection was seen.

    Labels hold letters, digits and ``._:/-`` only, everything else becomes ``_``: no text of a change can
    end a label, a line or the block, or mean anything to Mermaid.
    """
    names: dict[tuple[str, ...], str] = {}
    lines: list[str] = []
    left_out = 0
    for item in behaviours:
        if item.kind not in _DRAWN:
            continue
        steps, target = _path(item)
        wanted = [*steps, target] if target else steps
        if len(names) + sum(step not in names for step in wanted) > MOST_NODES:
            left_out += 1
            continue
        for step in wanted:
            if step not in names:
                names[step] = f"n{len(names)}"
                shape = '(["{}"])' if step is target else '["{}"]'
                lines.append(f"  {names[step]}{shape.format(_label(step[-1]))}")
        edges = [f"  {names[a]} --> {names[b]}" for a, b in itertools.pairwise(steps)]
        if target:
            edges.append(f"  {names[steps[-1]]} -->|{_DRAWN[item.kind]}| {names[target]}")
        lines += [edge for edge in edges if edge not in lines]
    if not lines:
        return ""
    if left_out:
        lines.append(f'  more["{left_out} more in report.json"]')
    return "\n".join(["```mermaid", "flowchart LR", *lines, "```"])


def _path(item: Behaviour) -> tuple[list[tuple[str, ...]], tuple[str, ...] | None]:
    """The programs from the first to the one that acts, and what it connects to; None for a program."""
    chain = tuple(item.actor.split(">")) if item.actor else ("python",)
    steps = [chain[: n + 1] for n in range(len(chain))]
    if item.kind is not BehaviourKind.EXEC:
        return steps, ("", item.kind.value, item.subject)
    name = item.subject.rpartition("/")[2]
    if chain[-1].rpartition("/")[2] != name:
        steps.append((*chain, name))
    return steps, None


def _label(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._:/-]", "_", text)[:48] or "_"

"""What of a plan a fast look runs: imports. The rest is counted and told, never dropped in silence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from gate.model.run import ExecutionPlan

INSTALLATION: Final = "the installation of what the change needs"
_KEPT: Final = frozenset({"idle", "import"})
_WORDS: Final = {"install": "installation", "script": "script", "call": "call", "test": "test"}


def imports_only(plan: ExecutionPlan) -> tuple[ExecutionPlan, str]:
    """The plan with its imports, and in words which probes were left out (empty: none)."""
    kept = tuple(probe for probe in plan.probes if probe.phase in _KEPT)
    if all(probe.phase == "idle" for probe in kept):
        kept = ()
    left = Counter[str](probe.phase for probe in plan.probes if probe.phase not in _KEPT)
    words = [_count(left[phase], word) for phase, word in _WORDS.items() if left[phase]]
    return replace(plan, probes=kept), ", ".join(words)


def _count(number: int, word: str) -> str:
    return f"1 {word} probe" if number == 1 else f"{number} {word} probes"

"""All that a file says of what is compared over the whole change. Runs in the limited child."""

from __future__ import annotations

from typing import Final

from gate.protections.facts import Strength
from gate.protections.overall.files import file_facts
from gate.protections.overall.owned import owned_facts
from gate.protections.overall.rules import call_facts
from gate.protections.overall.said import Script
from gate.protections.overall.sums import sum_facts

_MOST: Final = 400


def overall_facts(script: Script) -> tuple[Strength, ...]:
    """What the calls, the sums and the whole of a file say."""
    return (*call_facts(script), *sum_facts(script), *owned_facts(script), *file_facts(script))[:_MOST]

"""What a behaviour rule is given: it turns new behaviour into findings."""

from __future__ import annotations

from gate.dataclass import dataclass
from gate.model.behaviour import BehaviourDiff
from gate.model.change import Change
from gate.model.finding import Finding
from gate.model.request_fields import FieldChange
from gate.model.run import RunRecord
from gate.rules_api import Rule


@dataclass(frozen=True, kw_only=True, slots=True)
class SignalContext:
    """What a behaviour rule may look at. ``diff.new`` is what head does and base does not."""

    change: Change
    diff: BehaviourDiff
    runs: tuple[RunRecord, ...]
    fields: tuple[FieldChange, ...] = ()
    """What requests that base makes, too, say otherwise."""
    hosts_at_base: frozenset[str] = frozenset()
    """Those hosts of new behaviour that the program code of base names, in small letters."""


SignalRule = Rule[SignalContext, Finding]

"""What plugins are made of, in one place (docs/plugins.md): the contracts that gate's own parts are made to.

An entry point of the group ``gate.rules`` is a ``Rule`` (``python_rule`` or ``behaviour_rule`` made it), of
``gate.scanners`` a ``Scanner``, of ``gate.backends`` a function that gives a ``Backend``, of
``gate.reporters`` a ``Reporter``, of ``gate.forges`` a ``Forge``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gate.model.report import Report
from gate.prescreen.interface import Prescreened, PrescreenRequest, Scanner
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit
from gate.prescreen.python_ast.rule import rule as python_rule
from gate.report.registry import Reporter
from gate.rules_api import Rule
from gate.sandbox.contract import Backend, Session
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import behaviour_finding, new
from gate.signals.rule_kit import rule as behaviour_rule

__all__ = [
    "Backend",
    "Forge",
    "Hit",
    "Module",
    "PrescreenRequest",
    "Prescreened",
    "Reporter",
    "Rule",
    "Scanner",
    "Session",
    "SignalContext",
    "behaviour_finding",
    "behaviour_rule",
    "new",
    "python_rule",
]


class Forge(Protocol):
    """Where people see a report besides GitHub and GitLab."""

    name: str

    def tell(self, report: Report, environ: Mapping[str, str]) -> str:
        """Publish the report; what was done, in a line. Texts of the report are the change's: untrusted.

        Raises GateError where it cannot be told.
        """
        ...

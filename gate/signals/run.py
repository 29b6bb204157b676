"""Every behaviour rule over one comparison. The folder is walked; nobody registers anything."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from gate.model.finding import Finding
from gate.signals import rules
from gate.signals.interface import SignalContext, SignalRule


def _walk() -> dict[SignalRule, str]:
    """Each rule with its page (the module's docstring), by id. Raises for two rules of one id."""
    found: dict[str, tuple[SignalRule, str]] = {}
    for module_info in pkgutil.iter_modules(rules.__path__):
        module = import_module(f"{rules.__name__}.{module_info.name}")
        rule: SignalRule = module.RULE
        if rule.META.id in found:
            raise ValueError(f"two behaviour rules are called {rule.META.id}")
        found[rule.META.id] = (rule, (module.__doc__ or "").strip())
    return {rule: page for _, (rule, page) in sorted(found.items())}


RULES: Final[Mapping[SignalRule, str]] = _walk()


def signals(context: SignalContext) -> tuple[Finding, ...]:
    """Findings of all rules, in the rules' order. Pure: equal contexts give equal findings."""
    return tuple(finding for rule in RULES for finding in rule.check(context))

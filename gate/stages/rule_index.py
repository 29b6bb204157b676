"""Every rule of every room in one book, for `gate rules`, `gate explain` and reports."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from gate.model.rule import RuleMeta


class Rulebook:
    """Rules by id, and their pages (Markdown) where a rule has one."""

    def __init__(self, rules: Iterable[tuple[RuleMeta, str]]) -> None:
        self._metas: dict[str, RuleMeta] = {}
        self._pages: dict[str, str] = {}
        for meta, page in rules:
            if meta.id in self._metas:
                raise ValueError(f"two rules are called {meta.id}")
            self._metas[meta.id] = meta
            self._pages[meta.id] = page

    def all(self) -> tuple[RuleMeta, ...]:
        """Every rule, by stage and id."""
        return tuple(sorted(self._metas.values(), key=lambda m: (m.stage.value, m.id)))

    def get(self, rule_id: str) -> RuleMeta | None:
        """One rule, or None."""
        return self._metas.get(rule_id)

    def page(self, rule_id: str) -> str:
        """The rule's page beyond help and remediation; empty where there is none."""
        return self._pages.get(rule_id, "")

    def only(self, ids: set[str]) -> dict[str, RuleMeta]:
        """The rules with these ids; ids that are not ours (a scanner's own) are left out."""
        return {rule_id: self._metas[rule_id] for rule_id in sorted(ids) if rule_id in self._metas}


def metas_of(ids: set[str]) -> dict[str, RuleMeta]:
    """What these rules say about themselves. The book is opened where there is something to look up: making
    it imports every rule.
    """
    return rulebook().only(ids) if ids else {}


@cache
def rulebook() -> Rulebook:
    """The book, read once."""
    from gate.attribution import findings as attribution
    from gate.opinion.interface import RULES as OPINION
    from gate.policy import unrun
    from gate.prescreen.catalogue import catalogue
    from gate.signals import forced, varied
    from gate.signals.run import RULES, plugin_rules, proof_rules

    behaviour = [(rule.meta, rule.page) for rule in (*RULES, *plugin_rules())]
    proven = [(rule.meta, rule.page) for rule in proof_rules()]
    own = (*behaviour, *proven, *forced.RULES, *varied.RULES, *OPINION)
    return Rulebook([*attribution.RULES, *catalogue(), *own, *unrun.RULES])

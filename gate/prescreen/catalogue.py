"""Every rule of the static look with its page, for `gate rules`, `gate explain` and docs/rules."""

from __future__ import annotations

from collections.abc import Iterator

from gate.model.rule import RuleMeta
from gate.prescreen.outcome import UNSCANNED
from gate.prescreen.python_ast.rule import ast_rules, plugin_rules
from gate.prescreen.scanners import (
    builds,
    collisions,
    commands,
    computed,
    deletions,
    dependencies,
    destinations,
    digest_grants,
    dispatch,
    document_installs,
    governance,
    guard_inputs,
    guarded_scripts,
    hidden_text,
    identities,
    imports,
    infrastructure,
    injection,
    machine,
    meanings,
    named,
    opaque,
    ordered,
    passed_on,
    protections,
    replaced_code,
    search_order,
    secret_uses,
    secrets,
    shared_state,
    shifted_arguments,
    supply_rules,
)
from gate.prescreen.scanners.bandit_rules import bandit_rules
from gate.prescreen.scanners.semgrep_rules import semgrep_rules


def catalogue() -> Iterator[tuple[RuleMeta, str]]:
    """``(rule, page)`` for our own rules, our Semgrep rules and Bandit's (``origin`` tells which)."""
    yield UNSCANNED, ""
    for text_rule in (*hidden_text.RULES, *commands.RULES):
        yield text_rule.meta, text_rule.page
    for meta in (
        *builds.RULES,
        *collisions.RULES,
        *computed.RULES,
        *ordered.RULES,
        *secrets.RULES,
        *opaque.RULES,
        *governance.RULES,
        *guard_inputs.RULES,
        *deletions.RULES,
        *dependencies.RULES,
        *destinations.RULES,
        *dispatch.RULES,
        *document_installs.RULES,
        *identities.RULES,
        *machine.RULES,
        *meanings.RULES,
        *named.RULES,
        *replaced_code.RULES,
        *passed_on.RULES,
        *search_order.RULES,
        *shared_state.RULES,
        *shifted_arguments.RULES,
        *supply_rules.RULES,
        *imports.RULES,
    ):
        yield meta, ""
    for meta in infrastructure.RULES:
        yield meta, ""
    for meta in guarded_scripts.RULES:
        yield meta, guarded_scripts.PAGES[meta.id].strip()
    for meta in digest_grants.RULES:
        yield meta, digest_grants.PAGES[meta.id].strip()
    for meta in injection.RULES:
        yield meta, injection.PAGES[meta.id].strip()
    for meta in protections.RULES:
        yield meta, protections.PAGES[meta.id].strip()
    for meta in secret_uses.RULES:
        yield meta, secret_uses.PAGES[meta.id].strip()
    for rule in (*ast_rules(), *plugin_rules()):
        yield rule.meta, rule.page
    for meta in semgrep_rules().values():
        yield meta, ""
    for meta in bandit_rules().values():
        yield meta, ""

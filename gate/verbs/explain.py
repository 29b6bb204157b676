"""`gate explain`: one rule's page."""

from __future__ import annotations

import argparse
import difflib
from typing import Final

from gate.errors import UsageError
from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="RULE-ID", help="a rule id, as shown in a report or by `gate rules`")


def _run(arguments: argparse.Namespace) -> int:
    from gate.stages.rule_index import rulebook

    book = rulebook()
    meta = book.get(arguments.rule)
    if meta is None:
        near = difflib.get_close_matches(arguments.rule, [m.id for m in book.all()], n=3)
        raise UsageError(
            f"no rule is called {arguments.rule}",
            advice=f"Did you mean {', '.join(near)}?" if near else "`gate rules` lists them all.",
        )
    print(f"{meta.id}: {meta.title}\n")
    facts = [
        ("stage", meta.stage.value),
        ("severity", f"{meta.severity.value} (confidence {meta.confidence.value})"),
        ("weakness", ", ".join(f"CWE-{number}" for number in meta.cwe)),
        ("technique", ", ".join(f"ATT&CK {technique}" for technique in meta.attack)),
        ("languages", ", ".join(meta.languages)),
        ("origin", meta.origin),
    ]
    for name, value in facts:
        if value:
            print(f"  {name:<10} {value}")
    page = book.page(meta.id)
    print(f"\nWhy it matters\n  {meta.help}\n\nWhat to do\n  {meta.remediation}")
    if page:
        print(f"\n{page}")
    return 0


VERB: Final = Verb(
    name="explain",
    summary="print a rule's page: what it means, why it matters, what to do",
    arguments=_arguments,
    run=_run,
)

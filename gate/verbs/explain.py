"""`gate explain`: one rule's page."""

from __future__ import annotations

import argparse
from typing import Final

from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="RULE-ID", help="a rule id, as shown in a report or by `gate rules`")


def _run(arguments: argparse.Namespace) -> int:
    from gate.api import explain

    found = explain(arguments.rule)
    meta = found.meta
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
    print(f"\nWhy it matters\n  {meta.help}\n\nWhat to do\n  {meta.remediation}")
    if found.page:
        print(f"\n{found.page}")
    return 0


VERB: Final = Verb(
    name="explain",
    summary="print a rule's page: what it means, why it matters, what to do",
    arguments=_arguments,
    run=_run,
)

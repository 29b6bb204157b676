"""`gate rules`: list every rule."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

from gate.verbs.interface import Verb


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON, one object a rule")
    parser.add_argument(
        "--stage", choices=("attribution", "prescreen", "behaviour", "policy"), help="only this stage's rules"
    )


def _run(arguments: argparse.Namespace) -> int:
    from gate.stages.rule_index import rulebook

    metas = [m for m in rulebook().all() if arguments.stage in (None, m.stage.value)]
    if arguments.json:
        rows = [
            {
                "id": m.id,
                "title": m.title,
                "stage": m.stage.value,
                "severity": m.severity.value,
                "confidence": m.confidence.value,
                "cwe": list(m.cwe),
                "attack": list(m.attack),
                "languages": list(m.languages),
                "origin": m.origin,
            }
            for m in metas
        ]
        json.dump(rows, sys.stdout, indent=2)
        print()
        return 0
    width = max((len(m.id) for m in metas), default=0)
    for m in metas:
        print(f"{m.id:<{width}}  {m.severity.value:<8}  {m.stage.value:<11}  {m.title}")
    print(f"\n{len(metas)} rules. `gate explain RULE-ID` prints a rule's page.", file=sys.stderr)
    return 0


VERB: Final = Verb(
    name="rules",
    summary="list every rule with its severity and stage",
    epilog="Bandit's rules are listed too, as bandit-<ID>; their pages are Bandit's own.",
    arguments=_arguments,
    run=_run,
)

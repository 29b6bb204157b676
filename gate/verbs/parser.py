"""The whole command line as one parser, for `gate`, shell completion and the docs."""

from __future__ import annotations

import argparse
import textwrap

from gate import __version__

_EPILOG = """\
exit codes: 0 pass or warn | 1 blocked | 2 wrong usage or configuration | 3 inconclusive (could not look)
            4 a bug in gate (it writes a log) | 130 interrupted

examples:
  gate check                                         this branch against the default branch
  gate check --worktree                              what is not committed yet
  gate check --base origin/main --head HEAD          a range of your choice
  gate check --base v1.0 --head v1.1 --json r.json   and keep the report
  gate run script.py                                 judge files outside git
  gate explain py.dynamic-code                       what a rule means and what to do
  gate doctor                                        what this machine offers
"""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line as data (also used for shell completion and the docs)."""
    parser = argparse.ArgumentParser(
        prog="gate",
        description="Treats a change as untrusted until proven otherwise: looks at it, runs it in a\n"
        "sandbox at base and at head, and says what it does that main does not.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gate {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    from gate.verbs import VERBS  # a verb may ask for this parser

    for verb in VERBS:
        sub = verbs.add_parser(
            verb.name,
            help=verb.summary,
            description=textwrap.fill(verb.description or verb.summary, 90),
            epilog=verb.epilog if "\n" in verb.epilog else textwrap.fill(verb.epilog, 100),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        verb.arguments(sub)
        sub.set_defaults(run=verb.run)
    return parser

"""The command line. Thin: verbs call functions; heavy imports wait until a verb needs them."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from types import FrameType

from gate import __version__
from gate.errors import Exit, GateError

_EPILOG = """\
exit codes: 0 pass or warn | 1 blocked | 2 wrong usage or configuration | 3 inconclusive (could not look)
            4 a bug in gate (it writes a log) | 130 interrupted

examples:
  gate check --base origin/main --head HEAD          judge a branch
  gate check --base v1.0 --head v1.1 --json r.json   and keep the report
  gate run script.py                                 judge files outside git
  gate explain py-dynamic-exec                       what a rule means and what to do
  gate doctor                                        what this machine offers
"""


class Interrupted(BaseException):
    """SIGTERM, turned into an exception so that every `with` block cleans up."""


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
    from gate.cli_verbs import VERBS

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


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code. Nothing but our bugs ends in 4."""
    try:
        arguments = build_parser().parse_args(argv)
        return int(arguments.run(arguments))
    except SystemExit as stop:  # argparse: 0 after --help, 2 after a wrong word
        return int(stop.code or 0)
    except (KeyboardInterrupt, Interrupted):
        from gate import proc

        proc.stop_all()
        print("gate: interrupted; everything it started has been stopped", file=sys.stderr)
        return Exit.INTERRUPTED
    except GateError as error:
        print(f"gate: {_safe(error.message)}", file=sys.stderr)
        if error.advice:
            print(f"      {_safe(error.advice)}", file=sys.stderr)
        return error.exit
    except BrokenPipeError:
        # The reader of our output went away (`gate rules | head`): not our failure, not a verdict.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:  # noqa: BLE001  # the last line of defence: no traceback to the user
        from gate import crash

        print(
            f"gate: this is a bug in gate ({type(error).__name__}). Please report it with the log:\n"
            f"      {crash.write_log(error)}",
            file=sys.stderr,
        )
        return Exit.BUG


def _safe(text: str) -> str:
    from gate.textsafe import terminal

    return terminal(text)


def entry() -> None:
    """The console script."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Interrupted

    signal.signal(signal.SIGTERM, stop)
    sys.exit(main())


if __name__ == "__main__":
    entry()

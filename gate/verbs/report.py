"""`gate report`: a stored report.json, told again."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from gate.errors import Exit, UsageError
from gate.verbs.common import FORMATS, add_telling, check_outputs, write_file, write_report
from gate.verbs.interface import Verb

if TYPE_CHECKING:
    from gate.extend import Forge


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="report.json, as --json writes it")
    parser.add_argument(
        "--open",
        action="store_true",
        help="show it in the browser (with --html: that file, else a temporary one)",
    )
    parser.add_argument("--to", metavar="NAME", help="hand it to a plugin's forge (docs/plugins.md)")
    add_telling(parser)


def _run(arguments: argparse.Namespace) -> int:
    from gate.api import read_report, render
    from gate.escape import terminal

    check_outputs(arguments)
    report = read_report(arguments.file)
    asked = any(getattr(arguments, name) is not None for name in FORMATS)
    if asked or not (arguments.open or arguments.to):
        arguments.quiet = arguments.quiet or asked
        write_report(report, arguments)
    if arguments.to is not None:
        print(f"gate: {terminal(_forge(arguments.to).tell(report, os.environ))}")
    if arguments.open:
        shown = arguments.html
        if shown is None or not shown.is_file():
            shown = Path(tempfile.mkdtemp(prefix="gate-report-")) / "report.html"
            write_file(shown, render(report, "html"))
        _show(shown.resolve())
    return Exit.OK


def _forge(name: str) -> Forge:
    from gate import plugins

    known = plugins.loaded("gate.forges")
    if name not in known:
        valid = f"Valid: {', '.join(known)}." if known else "No plugin that GATE_PLUGINS names has one."
        raise UsageError(f"no forge is called {name}", advice=valid)
    return cast("Forge", known[name])


def _show(file: Path) -> None:
    """Ask the desktop; where there is none, say where the file is."""
    import webbrowser

    address = file.as_uri()
    if not webbrowser.open(address):
        print("gate: no browser could be started; the report is here:", file=sys.stderr)
    print(address)


VERB: Final = Verb(
    name="report",
    summary="tell a stored report.json again: in another format, or in the browser",
    description="Reads a report that --json wrote and tells it as any other format. Nothing is looked at or "
    "judged again (gate replay does that), so the exit code is 0 whatever the verdict was.",
    epilog="""\
examples:
  gate report report.json --open
  gate report report.json --sarif report.sarif --html report.html""",
    arguments=_arguments,
    run=_run,
)

"""Options that several verbs share, and how a report is told."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.errors import VERDICT_EXIT, GateError

if TYPE_CHECKING:
    from gate.model.change import Tree
    from gate.model.report import Report
    from gate.progress import Watch
    from gate.replay import Bundle
    from gate.settings import Settings

FORMATS = {"json": "json", "markdown": "markdown", "sarif": "sarif", "html": "html"}


class CannotWriteError(GateError):
    """A report file could not be written; the verdict must not pass for delivered."""


def add_looking(parser: argparse.ArgumentParser) -> None:
    """Options of the verbs that look at code."""
    look = parser.add_argument_group("what to look with")
    look.add_argument(
        "--config", type=Path, metavar="FILE", help="settings to use instead of the ones at base"
    )
    look.add_argument(
        "--backend",
        metavar="NAME",
        help="the wall: auto, docker, bubblewrap ... (default: auto)",
    )
    look.add_argument(
        "--no-sandbox", action="store_true", help="do not run anything (the verdict is then never 'pass')"
    )
    look.add_argument(
        "--deep", action="store_true", default=None, help="run the deep probes whatever is found"
    )
    look.add_argument(
        "--egress-allow",
        action="append",
        metavar="PLACE",
        help="let installations of dependencies reach HOST[:PORT], also at a private address (sandbox.setup)",
    )


def add_telling(parser: argparse.ArgumentParser) -> None:
    """Options that say where the report goes."""
    tell = parser.add_argument_group("where the report goes")
    for name in FORMATS:
        tell.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"write the {name} report to FILE")
    loud = tell.add_mutually_exclusive_group()
    loud.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    loud.add_argument("-v", "--verbose", action="store_true", help="say more while working")
    tell.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour on terminals only (auto, default), always, or never; NO_COLOR is honoured",
    )


def add_bundle(parser: argparse.ArgumentParser) -> None:
    """The option that stores the evidence."""
    parser.add_argument(
        "--bundle", type=Path, metavar="FILE", help="store the evidence in FILE, for gate replay (a zip file)"
    )


@contextlib.contextmanager
def keeping(arguments: argparse.Namespace) -> Iterator[Bundle | None]:
    """Who stores the evidence, where somebody asked for that."""
    if arguments.bundle is None:
        yield None
        return
    from gate.replay import Bundle

    with Bundle(arguments.bundle) as bundle:
        yield bundle


def wants_color(choice: str, stream: TextIO) -> bool:
    """Colour when asked for, or on a terminal unless NO_COLOR (https://no-color.org) is set."""
    if choice != "auto":
        return choice == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def settings_flags(arguments: argparse.Namespace) -> dict[str, tuple[object, str]]:
    """The command line's part of the settings."""
    return {
        "sandbox.enabled": (False if arguments.no_sandbox else None, "--no-sandbox"),
        "sandbox.backend": (arguments.backend, "--backend"),
        "sandbox.deep": (arguments.deep, "--deep"),
        "sandbox.egress_allow": (arguments.egress_allow, "--egress-allow"),
    }


@contextlib.contextmanager
def watching(arguments: argparse.Namespace) -> Iterator[Watch]:
    """The progress display that fits where stderr goes."""
    from gate.progress import Lines, Live, Silent

    if arguments.quiet:
        yield Silent()
    elif sys.stderr.isatty() and not arguments.verbose:
        with Live(color=wants_color(arguments.color, sys.stderr)) as live:
            yield live
    else:
        yield Lines(verbose=arguments.verbose)


def tell(report: Report, arguments: argparse.Namespace) -> int:
    """Write the asked-for files, print the terminal report, return the verdict's exit code."""
    from gate.report.registry import REPORTERS
    from gate.report.terminal import TerminalReporter

    for name, reporter in FORMATS.items():
        path: Path | None = getattr(arguments, name)
        if path is not None:
            write_file(path, REPORTERS[reporter].render(report))
    if not arguments.quiet:
        color = wants_color(arguments.color, sys.stdout)
        width = shutil.get_terminal_size((100, 24)).columns
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        print(TerminalReporter(color=color, width=width, unicode=unicode).render(report), end="")
    return VERDICT_EXIT[report.verdict]


def write_file(path: Path, text: str) -> None:
    """All or nothing, so that a reader never meets half a report."""
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            path.write_text(text, encoding="utf-8")
            return
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=".gate-", delete=False
        ) as file:
            file.write(text)
        Path(file.name).chmod(0o644)
        Path(file.name).replace(path)
    except OSError as error:
        raise CannotWriteError(
            f"cannot write {path}: {error.strerror or error}",
            advice="Give a path in a folder that exists, with room, that you may write.",
        ) from error


def load_settings(arguments: argparse.Namespace, base: Tree | None) -> Settings:
    """Settings of a verb that looks. ``base`` is the base commit's tree, if any."""
    from gate.settings import load

    return load(base=base, file=arguments.config, flags=settings_flags(arguments))

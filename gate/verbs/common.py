"""Options that several verbs share, and how a report is told."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gate.errors import VERDICT_EXIT, Exit, UsageError

if TYPE_CHECKING:
    from gate.api import Chosen
    from gate.model.report import Report
    from gate.replay import Bundle
    from gate.stages.progress import Watch

_STDOUT = "-"
FORMATS = {name: name for name in ("json", "markdown", "sarif", "html", "codequality", "sast", "junit")}


class CannotWriteError(UsageError):
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
        help="the backend: auto (default), microvm, gvisor, docker, bubblewrap, wasm, deno, restricted",
    )
    look.add_argument(
        "--no-sandbox", action="store_true", help="do not run anything (the verdict is then never 'pass')"
    )
    look.add_argument(
        "--fast",
        action="store_true",
        default=None,
        help="the static look and imports only, for hooks (what the full look would run is told)",
    )
    look.add_argument(
        "--deep", action="store_true", default=None, help="run the deep probes whatever is found"
    )
    look.add_argument(
        "--no-cache",
        action="store_true",
        help="look at everything anew, and keep nothing of it (gate cache)",
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
        tell.add_argument(
            f"--{name}",
            type=Path,
            metavar="FILE",
            help=f"write the {name} report to FILE (-: to stdout, alone)",
        )
    tell.add_argument(
        "--as",
        dest="theirs",
        nargs=2,
        action="append",
        default=[],
        metavar=("NAME", "FILE"),
        help="write a plugin's report to FILE (docs/plugins.md)",
    )
    loud = tell.add_mutually_exclusive_group()
    loud.add_argument(
        "-q", "--quiet", action="store_true", help="print only errors, and one line for a verdict that blocks"
    )
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
        "sandbox.fast": (arguments.fast, "--fast"),
        "sandbox.deep": (arguments.deep, "--deep"),
        "cache.enabled": (False if arguments.no_cache else None, "--no-cache"),
        "sandbox.egress_allow": (arguments.egress_allow, "--egress-allow"),
    }


@contextlib.contextmanager
def watching(arguments: argparse.Namespace) -> Iterator[Watch]:
    """The progress display that fits where stderr goes."""
    from gate.stages.progress import Lines, Live, Silent

    if arguments.quiet:
        yield Silent()
    elif sys.stderr.isatty() and not arguments.verbose:
        with Live(color=wants_color(arguments.color, sys.stderr)) as live:
            yield live
    else:
        yield Lines(verbose=arguments.verbose)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse report files that cannot be written, before anything is run for them. Raises UsageError."""
    paths = {name: getattr(arguments, name) for name in FORMATS if getattr(arguments, name) is not None}
    if sum(str(path) == _STDOUT for path in paths.values()) > 1:
        raise UsageError(
            "only one report can go to stdout", advice="Give a file to all but one of " + _words(paths) + "."
        )
    for path in (
        *paths.values(),
        *(Path(file) for _, file in arguments.theirs),
        getattr(arguments, "bundle", None),
    ):
        if path is None or str(path) == _STDOUT:
            continue
        if path.is_dir():
            raise _cannot_write(path, "it is a folder")
        if not path.exists() and not path.parent.is_dir():
            raise _cannot_write(path, "its folder does not exist")
        if not os.access(path if path.exists() and not path.is_file() else path.parent, os.W_OK):
            raise _cannot_write(path, "you may not write there")


def _words(names: Iterable[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def write_reports(report: Report, arguments: argparse.Namespace) -> bool:
    """Write every report that was asked for; True when one of them went to stdout."""
    from gate.report.registry import REPORTERS, reporter

    to_stdout = False
    for style, file in arguments.theirs:
        write_file(Path(file), reporter(style).render(report))
    for name, form in FORMATS.items():
        path: Path | None = getattr(arguments, name)
        if path is not None and str(path) == _STDOUT:
            write_stdout(REPORTERS[form].render(report))
            to_stdout = True
        elif path is not None:
            write_file(path, REPORTERS[form].render(report))
    return to_stdout


def write_report(report: Report, arguments: argparse.Namespace) -> int:
    """Write the asked-for files, print the terminal report, return the verdict's exit code."""
    from gate.escape import terminal
    from gate.report.incidents import last_line

    to_stdout = write_reports(report, arguments)
    code = VERDICT_EXIT[report.verdict]
    if not arguments.quiet and not to_stdout:
        from gate.report.terminal import TerminalReporter

        color = wants_color(arguments.color, sys.stdout)
        width = shutil.get_terminal_size((100, 24)).columns
        unicode = (sys.stdout.encoding or "").lower().startswith("utf")
        loud = bool(getattr(arguments, "verbose", False))
        teller = TerminalReporter(color=color, width=width, unicode=unicode, verbose=loud)
        write_stdout(teller.render(report))
    elif code is not Exit.OK or not arguments.quiet:
        print(f"gate: {terminal(last_line(report))}", file=sys.stderr)
    return code


def write_stdout(text: str) -> None:
    """Write to standard output, to its end. Raises CannotWriteError (a full disk), BrokenPipeError."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _silence_stdout()
        raise CannotWriteError(
            f"cannot write to standard output: {error.strerror or error}",
            advice="Make room, or send it somewhere else.",
        ) from error


def _silence_stdout() -> None:
    """What Python still holds for it must not fail a second time when the program ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_file(path: Path, text: str) -> None:
    """All or nothing, so that a reader never meets half a report."""
    part: Path | None = None
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a pipe
            path.write_text(text, encoding="utf-8")
            return
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=".gate-", delete=False
        ) as file:
            part = Path(file.name)
            file.write(text)
        part.chmod(0o644)
        part.replace(path)
    except OSError as error:
        if part is not None:
            part.unlink(missing_ok=True)
        raise _cannot_write(path, error.strerror or str(error)) from error


def _cannot_write(path: Path, why: str) -> CannotWriteError:
    return CannotWriteError(
        f"cannot write {path}: {why}",
        advice="Give a path in a folder that exists, with room, that you may write.",
    )


def chosen_settings(arguments: argparse.Namespace) -> Chosen:
    """What the command line chooses over the settings at base."""
    from gate.api import Chosen

    return Chosen(flags=settings_flags(arguments), file=arguments.config)

"""The command line. Thin: verbs call functions; heavy imports wait until a verb needs them."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

from gate.errors import Exit, GateError, UsageError
from gate.identity import DISTRIBUTION, mixed_up

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
"""The machine's lack of room, which is no bug of ours."""


EXTRAS: Final = {
    "github": "publish",
    "gitlab": "gitlab",
    "lsprotocol": "lsp",
    "mcp": "mcp",
    "pygls": "lsp",
    "sigstore": "sigstore",
    "starlette": "serve",
    "uvicorn": "serve",
}
"""Packages that only some verbs need, and the extra that brings each."""


class Interrupted(BaseException):
    """SIGTERM, turned into an exception so that every `with` block cleans up."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code. Nothing but our bugs ends in 4."""
    try:
        _refuse_mixed()
        from gate.verbs.parser import build_parser

        arguments = build_parser().parse_args(argv)
        return int(arguments.run(arguments))
    except SystemExit as stop:  # argparse: 0 after --help, 2 after a wrong word
        return int(stop.code or 0)
    except (KeyboardInterrupt, Interrupted):
        from gate import process

        process.stop_all()
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
    except OSError as error:
        if error.errno not in _NO_ROOM:
            return _bug(error)
        place = f" to {_safe(str(error.filename))}" if error.filename else ""
        print(f"gate: cannot write{place}: {error.strerror}", file=sys.stderr)
        print("      Make room (TMPDIR names where temporary files go), then run it again.", file=sys.stderr)
        return Exit.USAGE
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            return _bug(error)
        print(f"gate: this needs {error.name}, which is not installed", file=sys.stderr)
        print(f"      pip install '{DISTRIBUTION}[{extra}]'", file=sys.stderr)
        return Exit.USAGE
    except Exception as error:  # noqa: BLE001  # the last line of defence: no traceback to the user
        return _bug(error)


def _refuse_mixed() -> None:
    if why := mixed_up():
        raise UsageError(
            why,
            advice=f"pip uninstall gate {DISTRIBUTION}; pip install {DISTRIBUTION} (`gate` is another one's)",
        )


def _bug(error: Exception) -> int:
    from gate import crash_log

    print(
        f"gate: this is a bug in gate ({type(error).__name__}). Please report it with the log:\n"
        f"      {crash_log.write_log(error)}",
        file=sys.stderr,
    )
    return Exit.BUG


def _safe(text: str) -> str:
    from gate.escape import terminal

    return terminal(text)


def entry() -> None:
    """The console script."""

    def stop(number: int, _frame: FrameType | None) -> None:
        # The first signal ends the check. A SIGTERM after it (`timeout` sends one to the group, too, and CI
        # one after its SIGINT) would end the clean-up, and leave containers behind. Ctrl-C still can.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else Interrupted

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell has it ignored
        signal.signal(signal.SIGINT, stop)
    sys.exit(main())


if __name__ == "__main__":
    entry()

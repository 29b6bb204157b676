"""The error tree and the exit codes. Every message says what to do next."""

from __future__ import annotations

from enum import IntEnum

from gate.model.score import Verdict


class Exit(IntEnum):
    """All ways the program can end (also `gate --help` and the README)."""

    OK = 0
    BLOCKED = 1
    USAGE = 2
    INCONCLUSIVE = 3
    BUG = 4
    INTERRUPTED = 130


VERDICT_EXIT = {
    Verdict.PASS: Exit.OK,
    Verdict.WARN: Exit.OK,
    Verdict.FAIL: Exit.BLOCKED,
    Verdict.INCONCLUSIVE: Exit.INCONCLUSIVE,
}


class GateError(Exception):
    """Something we can explain. ``advice`` is the next step for the person reading it."""

    exit: Exit = Exit.BUG

    def __init__(self, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice


class UsageError(GateError):
    """Wrong command line, revision or configuration: nothing was looked at."""

    exit = Exit.USAGE


class NothingToJudgeError(UsageError):
    """The change that was named is empty: nothing is staged, nothing differs."""


class InconclusiveError(GateError):
    """Our side failed (engine gone, scanner crashed): the verdict may not be green."""

    exit = Exit.INCONCLUSIVE


class BackendFailedError(InconclusiveError):
    """The chosen backend failed its trial start: nothing was run in it, another backend may do."""

"""Which changed lines of code ran at head, which did not, and why: the figure of the whole check."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gate.dataclass import dataclass
from gate.model.sensitive import SensitiveKind


class UnrunReason(Enum):
    """Why changed code did not run. The value stands in report.json; ``text`` is for people, ``advice`` says
    what to set so that it runs.
    """

    SANDBOX_OFF = "sandbox-off"
    FAST_LOOK = "fast-look"
    LANGUAGE_NOT_RUN = "language-not-run"
    NO_INTERPRETER = "no-interpreter"
    DEPENDENCY_MISSING = "dependency-missing"
    IMPORT_FAILED = "import-failed"
    COLLECTION_FAILED = "collection-failed"
    OUT_OF_TIME = "out-of-time"
    ENDED_EARLY = "ended-early"
    LEFT_OUT = "left-out"
    NOT_CONFIRMED = "not-confirmed"
    NOT_REACHED = "not-reached"

    @property
    def text(self) -> str:
        """Our words, without text from the change."""
        return _REASONS[self][0]

    @property
    def advice(self) -> str:
        """One sentence that says what to do so that the code runs next time."""
        return _REASONS[self][1]


_REASONS = {
    UnrunReason.SANDBOX_OFF: (
        "nothing was run: there was no sandbox",
        "Run the check with a sandbox (sandbox.enabled; `gate doctor` says what is missing).",
    ),
    UnrunReason.FAST_LOOK: (
        "a fast look only imports",
        "Run the full look: `gate check` without --fast.",
    ),
    UnrunReason.LANGUAGE_NOT_RUN: (
        "no probe runs this language",
        "Have a person who reads the language look at these lines, or have a test start them.",
    ),
    UnrunReason.NO_INTERPRETER: (
        "its interpreter is not in the sandbox",
        "Install the interpreter where gate runs, or choose a backend whose image has it (sandbox.backend).",
    ),
    UnrunReason.DEPENDENCY_MISSING: (
        "a dependency is missing",
        (
            "Name what it needs where the project names its dependencies (pyproject.toml, "
            "requirements.txt), or in a file that `sandbox.setup_files` names. What could not be installed, "
            "and why, stands under Stages, at `setup`; `sandbox.egress_allow` allows its index. Settings "
            "count from the base branch."
        ),
    ),
    UnrunReason.IMPORT_FAILED: (
        "its import failed",
        "Make the import work without the network, for instance by a default for the setting it misses.",
    ),
    UnrunReason.COLLECTION_FAILED: (
        "the tests could not be collected",
        "Make the tests' own imports work: set sandbox.setup at base, or repair conftest.py.",
    ),
    UnrunReason.OUT_OF_TIME: (
        "the time was used up",
        "Raise sandbox.deadline or sandbox.budget at base.",
    ),
    UnrunReason.ENDED_EARLY: (
        "its process ended before the probe was through",
        "Let it come to its end: an import must not end the program.",
    ),
    UnrunReason.LEFT_OUT: (
        "the change is too big for all of it to be run",
        "Split the change, or set sandbox.deep at base.",
    ),
    UnrunReason.NOT_CONFIRMED: (
        "it is said to have run, and the trace does not show it",
        "Let a test make the real call: one that is replaced shows nothing of what it would do.",
    ),
    UnrunReason.NOT_REACHED: (
        "no call reached it",
        "Add a test that reaches it; sandbox.deep at base runs more of the existing ones.",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class UnrunLines:
    """Changed lines (spans, both ends included, counted from 1) that did not run, and why. ``detail``: which
    dependency, the exception ...; untrusted.
    """

    spans: tuple[tuple[int, int], ...]
    reason: UnrunReason
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnrunCall:
    """A sensitive call on changed lines that did not run, and that base does not have. ``call`` is the callee
    and ``text`` the line as written: untrusted. ``in_tests``: it stands in test code.
    """

    first: int
    last: int
    kind: SensitiveKind
    call: str
    text: str
    reason: UnrunReason
    detail: str = ""
    in_tests: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class FileExercised:
    """One changed file with code. ``executable`` counts its changed lines that hold code, ``ran`` those of
    them that ran at head. ``unreadable``: why nobody can read it (empty: it was read); untrusted.
    """

    path: str
    language: str
    executable: int
    ran: int
    unrun: tuple[UnrunLines, ...] = ()
    calls: tuple[UnrunCall, ...] = ()
    unreadable: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.ran <= self.executable:
            raise ValueError(f"{self.ran} of {self.executable} lines cannot have run")


@dataclass(frozen=True, kw_only=True, slots=True)
class Exercised:
    """The changed code of one check, file by file in the order of their paths."""

    files: tuple[FileExercised, ...] = ()

    @property
    def executable(self) -> int:
        """Changed lines that hold code."""
        return sum(file.executable for file in self.files)

    @property
    def ran(self) -> int:
        """Those of them that ran at head."""
        return sum(file.ran for file in self.files)

    @property
    def unreadable(self) -> int:
        """Files that did not run and that nobody can read: their lines are in no figure."""
        return sum(bool(file.unreadable) for file in self.files)

    @property
    def languages(self) -> Mapping[str, tuple[int, int]]:
        """Lines that ran, and all of them, by language."""
        found: dict[str, tuple[int, int]] = {}
        for file in self.files:
            ran, of = found.get(file.language, (0, 0))
            found[file.language] = (ran + file.ran, of + file.executable)
        return dict(sorted(found.items()))

    @property
    def percent(self) -> int | None:
        """The share that ran, rounded, but 100 only for all of it; None where there was no code."""
        if not self.executable:
            return None
        share = (self.ran * 200 + self.executable) // (2 * self.executable)
        return share if self.ran == self.executable else min(share, 99)

    def reasons(self) -> tuple[tuple[UnrunReason, str, int], ...]:
        """Why lines did not run: reason, detail (the file's first) and how many lines, most lines first."""
        counts: dict[tuple[UnrunReason, str], int] = {}
        for file in self.files:
            for part in file.unrun:
                key = (part.reason, part.detail)
                counts[key] = counts.get(key, 0) + sum(last - first + 1 for first, last in part.spans)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0][0].value, item[0][1]))
        return tuple((reason, detail, count) for (reason, detail), count in ranked)

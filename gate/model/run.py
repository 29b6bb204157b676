"""What is to be run, within which sandboxes, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.canary import Canary
from gate.model.change import Side
from gate.model.exercised import UnrunReason
from gate.model.sensitive import SensitiveCall

Phase = Literal["install", "import", "call", "test", "script", "idle"]
PHASES: Final[tuple[Phase, ...]] = ("install", "import", "script", "call", "test", "idle")
"""The least asked for first: installing or importing is enough, a call somebody has to make."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One thing to run inside the sandbox, the same way at base and head.

    ``argv`` is run in ``cwd`` (relative to the tree's root inside the sandbox). ``target`` names
    what is exercised for people (``import shop.cart``); ``path`` is the changed file it is for.
    ``driver`` probes run our in-sandbox driver, which asks the launcher for its completion token;
    probes with ``driver=False`` are complete when their process ended by itself.
    ``sides``: on which trees the target exists.
    """

    id: str
    phase: Phase
    target: str
    path: str | None
    argv: tuple[str, ...]
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    deadline: float = 20.0
    """Seconds of wall time, held by the host."""
    driver: bool = True
    sides: tuple[Side, ...] = ("base", "head")
    dependency: str = ""
    """``name version`` of the installed package that it exercises; empty: the tree's own code."""
    condition: str = ""
    """Under which condition the second look runs it (``as in CI``, ``90 days later``); empty: as it is."""
    planted: tuple[Canary, ...] = ()
    """Other secrets, of the same names, in the place of those of the check; empty: those of the check."""


OUTAGE: Final = "while the network fails"
"""The ``condition`` of probes during whose run the first requests to each destination fail."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotExercised:
    """A changed thing that no probe can reach, and why (``needs numpy``, ``no Python on ...``)."""

    path: str
    target: str
    reason: str
    """For people."""
    kind: UnrunReason | None = None
    """The same for whoever decides by it; None where nothing does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActingCommand:
    """A command of a script that can do more than compute: its lines, what it can do, and by which program
    with which plain words it would be seen to have run. ``whole``: these are all its words. ``rivals``: the
    words of other commands of the same file by the same program, and whether they are all of theirs.
    """

    first: int
    last: int
    what: str
    program: str
    words: tuple[str, ...]
    whole: bool = False
    rivals: tuple[tuple[tuple[str, ...], bool], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ExecutionPlan:
    """All probes of one check, in order, and what was left out with the reason."""

    probes: tuple[Probe, ...]
    not_exercised: tuple[NotExercised, ...] = ()
    acts: Mapping[str, tuple[tuple[int, int, str], ...]] = field(default_factory=dict)
    """Changed lines of head with a call that can do more than compute, by path: first line, last line,
    what it can do (``start a process``). Told where no probe reaches them.
    """
    asked: Mapping[str, tuple[SensitiveCall, ...]] = field(default_factory=dict)
    """Calls of Python of which the driver is asked, by path: it answers with their numbers in this order."""
    commands: Mapping[str, tuple[ActingCommand, ...]] = field(default_factory=dict)
    """The same of scripts and build files, whose lines nobody counts."""
    statements: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """Changed statements of Python, by path: first and last line."""
    steps: Mapping[str, tuple[ActingCommand, ...]] = field(default_factory=dict)
    """Changed commands of shell scripts and Makefiles that start a program, by path."""
    same_code: frozenset[str] = frozenset()
    """Changed files of Python with base's syntax tree: comments and layout changed, and nothing is run."""
    texts_only: bool = False
    """Of all changed files only comments, docstrings without examples, layout or prose changed."""
    imports: frozenset[str] = frozenset()
    """Modules that changed Python of head imports, without what follows a dot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a sandbox may use. Bytes and seconds unless said otherwise."""

    memory: int = 512 << 20
    pids: int = 128
    cpus: float = 1.0
    open_files: int = 65536
    file_size: int = 0
    """Of one file; 0: as much as the scratch holds, as on a hosted runner."""
    scratch: int = 256 << 20
    scratch_inodes: int = 50_000
    output: int = 1 << 20
    """Bytes of stdout and of stderr kept; the rest is counted and thrown away."""
    trace_events: int = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxSpec:
    """How every sandbox of one check is set up. ``image`` None: the backend's own default."""

    image: str | None = None
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Extra files for the sandbox: absolute path inside -> content."""
    network: Literal["none", "sinkhole"] = "none"
    canaries: tuple[Canary, ...] = ()
    """Planted as files and variables in every sandbox of the check."""
    on_canary: Literal["record", "kill"] = "record"
    """``kill``: the supervisor ends the sandbox at the moment a canary file is opened for reading."""
    layers: Mapping[Side, Path] = field(default_factory=dict)
    """Installed dependencies, a tar on the host for each side, shown read-only:
    gate/sandbox/dependencies/layers.py.
    """
    modules: Mapping[Side, Path] = field(default_factory=dict)
    """The same for JavaScript: folders named node_modules, at the places that they have in the tree."""
    runtimes: tuple[str, ...] = ()
    """Languages whose runtime the probes need beside Python (``javascript``); shown where the host has it."""
    services: str = ""
    """Servers that tests find on their loopback, as the driver reads it (driver/services.py); empty: none."""
    clock_offset: int = 0
    """Seconds added to the clock the code sees; 0 leaves it alone."""


class Outcome(Enum):
    """How one run ended. Only the first two are a complete look."""

    COMPLETED = "completed"
    EXITED_NONZERO = "exited-nonzero"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    KILLED = "killed"
    NEVER_STARTED = "never-started"


@dataclass(frozen=True, kw_only=True, slots=True)
class Completeness:
    """What the tracer could not keep. Anything but zeros and False means: not a clean look."""

    dropped: int = 0
    unparsed: int = 0
    truncated: bool = False

    @property
    def whole(self) -> bool:
        """True when nothing was lost."""
        return not (self.dropped or self.unparsed or self.truncated)

    def __add__(self, other: Completeness) -> Completeness:
        return Completeness(
            dropped=self.dropped + other.dropped,
            unparsed=self.unparsed + other.unparsed,
            truncated=self.truncated or other.truncated,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An attempt of an installation to reach what it may not. ``asked`` is what was written: untrusted."""

    asked: str
    why: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """A file inside the sandbox that changed while the code ran, as the file system tells it. ``path`` as in
    a trace (gate/tracing/events.py): untrusted. Names of one file have the same ``device`` and ``inode``.
    """

    path: str
    device: int
    inode: int
    size: int = 0
    """Bytes at the end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """One probe on one side, run once.

    ``outcome`` is about the code; when *we* failed (engine gone, no trace) ``fault`` says so and
    the stage must degrade. ``completed`` is True when the driver fetched its token at the end.
    ``trace`` is a trace.jsonl on the host (format: gate/tracing/events.py), None when none was made.
    Output tails are raw bytes, untrusted. ``exit_code`` is negative for a signal, None if unknown.
    ``driver_report`` is the driver's own JSON (coverage, import errors): a hint, forgeable.
    """

    probe: Probe
    side: Side
    outcome: Outcome
    exit_code: int | None
    seconds: float
    peak_memory: int | None
    completed: bool
    trace: Path | None
    completeness: Completeness
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_total: int = 0
    stderr_total: int = 0
    driver_report: Mapping[str, object] = field(default_factory=dict)
    fault: str | None = None
    repeat: int = 0
    """0 for the first run; base may be run again to learn its noise."""
    network: Path | None = None
    """What the sinkhole saw (gate/tracing/readers/sinkhole.py), None where there was none."""
    refused: tuple[Refused, ...] = ()
    """What the way out of an installation did not let through, each attempt."""
    stopped: str = ""
    """Why we ended it on purpose before its time (``a canary was opened``); empty: we did not."""
    touched: tuple[Touched, ...] | None = None
    """Every file that changed in the writable places; None: nobody looked, or not at everything."""
    heads: tuple[tuple[str, bytes], ...] = ()
    """Path and beginning of some of those files (the first 64, 32 KiB of each, 1 MiB in all); untrusted."""
    full: tuple[str, ...] = ()
    """Writable places that had no room for more at the end."""
    given: tuple[str, ...] = ()
    """Files that were there before the code ran (the tree's, and planted ones) and that it opened for writing
    or put another in the place of: paths as in a trace, sorted."""
    cut: tuple[str, ...] = ()
    """Those that it opened to append to and that hold less than before, or begin otherwise."""
    not_run: str = ""
    """What of it was no look at the code although its process ended well (a failed import, stand-ins, no test
    collected), in words; untrusted."""
    kept_at: float = 0.0
    """Unix seconds at which it ran, where it is told again (gate/sandbox/kept_runs.py); 0: it ran now."""
    data_files: int = 0
    """How many files of the tree hold data, not programs (gate/tracing/data_files.py); 0: not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """What a backend's own trial start found. ``reason`` says what is missing and how to get it."""

    backend: str
    available: bool
    isolation: Literal["vm", "user-kernel", "container", "process", "none"]
    tracer: Literal["unotify", "seccheck", "strace", "none"]
    version: str = ""
    reason: str = ""
    networks: tuple[Literal["none", "sinkhole"], ...] = ("none",)
    """What there can be at the other end of the code's connections."""
    reserve: str = ""
    """Why ``auto`` passes it by though it works: slow, or less is seen. It is taken when asked for by name,
    or when nothing else is strong enough."""
    layers: bool = False
    """Whether installed dependencies can be shown in its sandboxes."""

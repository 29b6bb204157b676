"""What people see while a check runs: stages with elapsed time."""

from __future__ import annotations

import sys
import threading
import time
from typing import ClassVar, Protocol, Self, TextIO

from gate.model.stage import Stage, StageOutcome


class Watch(Protocol):
    """Told about stages from several threads at once. Texts are ours, never the change's."""

    def started(self, name: str) -> None:
        """A stage begins."""
        ...

    def note(self, name: str, text: str) -> None:
        """A sign of life within a stage (``3/8 probes``)."""
        ...

    def ended(self, stage: Stage) -> None:
        """A stage is over."""
        ...


class Silent:
    """Tells nobody (``--quiet``, tests)."""

    def started(self, name: str) -> None:
        """Nothing."""

    def note(self, name: str, text: str) -> None:
        """Nothing."""

    def ended(self, stage: Stage) -> None:
        """Nothing."""


class Lines:
    """One plain line an event on a stream: for logs and pipes."""

    def __init__(self, stream: TextIO | None = None, *, verbose: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._verbose = verbose
        self._lock = threading.Lock()
        self._start = time.monotonic()

    def started(self, name: str) -> None:
        """Said only when verbose: the end of a stage says enough."""
        if self._verbose:
            self._say(f"{name} ...")

    def note(self, name: str, text: str) -> None:
        """A sign of life, when verbose."""
        if self._verbose:
            self._say(f"{name}: {text}")

    def ended(self, stage: Stage) -> None:
        """Name, outcome, seconds, reason."""
        reason = f": {stage.reason}" if stage.reason else ""
        self._say(f"{stage.name} {stage.outcome.value} ({stage.seconds:.1f} s){reason}")

    def _say(self, text: str) -> None:
        with self._lock:
            print(f"gate {time.monotonic() - self._start:6.1f}s  {text}", file=self._stream, flush=True)


class Live:
    """A small live table on a terminal: running stages with elapsed time, ended ones with a mark."""

    _MARK: ClassVar = {
        StageOutcome.DONE: "[green]✓[/]",
        StageOutcome.SKIPPED: "[dim]-[/]",
        StageOutcome.DEGRADED: "[yellow]![/]",
        StageOutcome.FAILED: "[red]✗[/]",
    }

    def __init__(self, *, color: bool) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, no_color=not color, highlight=False)
        self._progress = Progress(
            SpinnerColumn(finished_text=" "),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[note]}[/]"),
            console=console,
            transient=True,
        )
        self._tasks: dict[str, int] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def refresh(self) -> None:
        """Show now what is known, not at the next tick."""
        self._progress.refresh()

    def started(self, name: str) -> None:
        """A new line with a spinner."""
        with self._lock:
            self._tasks[name] = self._progress.add_task(name, total=1, note="")

    def note(self, name: str, text: str) -> None:
        """Text beside the running stage."""
        with self._lock:
            if name in self._tasks:
                from rich.markup import escape
                from rich.progress import TaskID

                self._progress.update(TaskID(self._tasks[name]), note=escape(text))

    def ended(self, stage: Stage) -> None:
        """The line gets its mark; sub-stages get none."""
        with self._lock:
            if stage.name in self._tasks:
                from rich.progress import TaskID

                task = TaskID(self._tasks[stage.name])
                mark = self._MARK[stage.outcome]
                self._progress.update(task, description=f"{mark} {stage.name}", completed=1)

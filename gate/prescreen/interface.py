"""The prescreen room's contract: scanners look at files as data and return findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from gate.dataclass import dataclass
from gate.languages.decode import Problem
from gate.model.change import Change, ChangedFile, Side, Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.stage import Stage

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prescreened:
    """What the static look found, and one stage per scanner that says whether it could look.

    ``secrets``: credentials found in the change, in the clear, for redaction only: never print them.
    """

    findings: tuple[Finding, ...]
    stages: tuple[Stage, ...]
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """One changed file that head has. ``base`` is the old version's bytes, None for a new file.

    ``language`` as in ChangedFile, told by content where the change room told nothing.
    """

    path: str
    changed: ChangedFile
    language: str | None
    head: bytes = field(repr=False)
    base: bytes | None = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Every changed regular file of head, and what could not be read: ``(path, reason)``."""

    files: tuple[Source, ...]
    unread: tuple[tuple[str, str], ...] = ()

    def of(self, *languages: str) -> tuple[Source, ...]:
        """The files in one of these languages."""
        return tuple(s for s in self.files if s.language in languages)


@dataclass(frozen=True, kw_only=True)
class View:
    r"""One side of one changed file, as text. ``file`` is its neutral copy (UTF-8, ``\n``) in the scratch.

    ``path`` is the path on that side. ``lines`` maps text lines to file lines where they differ
    (notebook cells, bare carriage returns). ``unreadable`` says why there is no text worth a parser.
    """

    path: str
    side: Side
    language: str | None
    source: Source = field(repr=False)
    text: str = field(repr=False)
    file: Path
    problems: tuple[Problem, ...] = ()
    encoding: str = "utf-8"
    lines: tuple[int, ...] | None = field(default=None, repr=False)
    unreadable: str = ""
    part: bool = False
    """Commands for a shell that stand in a file of another format: another view of the same file."""
    guessed: bool = False
    """The language was guessed from the text alone: a parser that refuses it proves nothing."""

    def line(self, number: int) -> int:
        """The file's line for a line of the text."""
        if self.lines is None or not self.lines:
            return max(1, number)
        return self.lines[min(max(number, 1), len(self.lines)) - 1]

    def location(self, first: int, last: int | None = None) -> Location:
        """A primary location for lines ``first..last`` of the text."""
        start = self.line(first)
        return Location(path=self.path, line=start, end_line=max(start, self.line(last or first)))

    def quote(self, first: int, last: int | None = None) -> str:
        """The text's lines ``first..last``: what findings use as shape."""
        return "\n".join(self.text_lines[first - 1 : last or first])

    @cached_property
    def text_lines(self) -> list[str]:
        """The text's lines, without their ends."""
        return self.text.split("\n")


@dataclass(frozen=True, kw_only=True, slots=True)
class Views:
    """All views of a check, both sides."""

    all: tuple[View, ...]

    def of(
        self, languages: Iterable[str] | None = None, side: Side | None = None, *, parts: bool = False
    ) -> list[View]:
        """Views in one of the languages (None: any, parts only where asked for) on one side (None: both)."""
        wanted = None if languages is None else set(languages)
        return [
            v
            for v in self.all
            if (side is None or v.side == side)
            and ((parts or not v.part) if wanted is None else v.language in wanted)
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class PrescreenRequest:
    """Everything a scanner may know. ``scratch`` is a private empty folder outside the repository.
    ``base`` and ``head`` are trees; scanners report only what head has and base has not.
    ``sources``, ``views``: the changed files, already read and decoded (get them with
    ``scope.sources(request)`` and ``views.make_views(request)``).
    """

    change: Change
    base: Tree
    head: Tree
    scratch: Path
    deadline: float = 120.0
    pace: float = 1.0
    """How many times as long as usual one file may take (gate/stages/pace.py)."""
    allowed_imports: tuple[str, ...] = ()
    sources: Sources | None = None
    views: Views | None = None


class Scanner(Protocol):
    """One scanner: bandit, semgrep, pyast, secrets ... One file each."""

    @property
    def name(self) -> str:
        """The stage is called ``prescreen:`` and this."""
        ...

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Look at every file of the change it understands; a file it could not scan makes its
        stage degraded with the file named. Raises InconclusiveError when it cannot run at all.
        """
        ...

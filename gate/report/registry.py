"""Every format that `gate check` can write, by name. A reporter judges nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final, Protocol, cast

from gate import plugins
from gate.errors import UsageError
from gate.model.report import Report


class Reporter(Protocol):
    """One format, one file: terminal, markdown, json_v1, sarif, html ..."""

    name: str

    def render(self, report: Report) -> str:
        """The whole document, every text from the change escaped for this sink."""
        ...


_PLACES: Final = {
    "terminal": ("terminal", "REPORTER"),
    "json": ("json_v1", "REPORTER"),
    "markdown": ("markdown", "REPORTER"),
    "sarif": ("sarif", "REPORTER"),
    "html": ("html", "REPORTER"),
    "codequality": ("gitlab", "CODE_QUALITY"),
    "sast": ("gitlab", "SAST"),
    "junit": ("junit", "REPORTER"),
}
"""Where each format is made: its module, and its name there."""


class _Reporters(Mapping[str, Reporter]):
    """Each is imported when it is asked for: template engines cost more than a check that is told again."""

    def __getitem__(self, name: str) -> Reporter:
        module, attribute = _PLACES[name]
        return cast(Reporter, getattr(import_module(f"gate.report.{module}"), attribute))

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


REPORTERS: Final[Mapping[str, Reporter]] = _Reporters()


def reporter(name: str) -> Reporter:
    """One of ours, or of a plugin (``distribution.name``). Raises UsageError for a name of neither."""
    if name in REPORTERS:
        return REPORTERS[name]
    theirs = plugins.loaded("gate.reporters")
    if name not in theirs:
        raise UsageError(f"no report is called {name}", advice=f"Valid: {', '.join((*REPORTERS, *theirs))}.")
    return cast(Reporter, theirs[name])

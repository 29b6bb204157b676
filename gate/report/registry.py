"""Every format that `gate check` can write, by name. A reporter judges nothing."""

from __future__ import annotations

from typing import Final, Protocol, cast

from gate import plugins
from gate.errors import UsageError
from gate.model.report import Report
from gate.report import gitlab, html, json_v1, junit, markdown, sarif, terminal


class Reporter(Protocol):
    """One format, one file: terminal, markdown, json_v1, sarif, html ..."""

    name: str

    def render(self, report: Report) -> str:
        """The whole document, every text from the change escaped for this sink."""
        ...


REPORTERS: Final[dict[str, Reporter]] = {
    "terminal": terminal.REPORTER,
    "json": json_v1.REPORTER,
    "markdown": markdown.REPORTER,
    "sarif": sarif.REPORTER,
    "html": html.REPORTER,
    "codequality": gitlab.CODE_QUALITY,
    "sast": gitlab.SAST,
    "junit": junit.REPORTER,
}


def reporter(name: str) -> Reporter:
    """One of ours, or of a plugin (``distribution.name``). Raises UsageError for a name of neither."""
    if name in REPORTERS:
        return REPORTERS[name]
    theirs = plugins.loaded("gate.reporters")
    if name not in theirs:
        raise UsageError(f"no report is called {name}", advice=f"Valid: {', '.join((*REPORTERS, *theirs))}.")
    return cast(Reporter, theirs[name])

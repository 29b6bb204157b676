"""Every format that `gate check` can write, by name."""

from __future__ import annotations

from typing import Final

from gate.report import html, json_v1, markdown, sarif, terminal
from gate.report.interface import Reporter

REPORTERS: Final[dict[str, Reporter]] = {
    "terminal": terminal.REPORTER,
    "json": json_v1.REPORTER,
    "markdown": markdown.REPORTER,
    "sarif": sarif.REPORTER,
    "html": html.REPORTER,
}

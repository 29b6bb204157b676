"""The report room's contract: a reporter turns a Report into one text. It adds no judgement."""

from __future__ import annotations

from typing import Protocol

from gate.model.report import Report


class Reporter(Protocol):
    """One format, one file: terminal, markdown, json_v1, sarif, html."""

    name: str

    def render(self, report: Report) -> str:
        """The whole document, every text from the change escaped for this sink."""
        ...

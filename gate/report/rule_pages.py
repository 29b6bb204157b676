"""Where a rule's page can be read: docs/rules/ of the release that made the report."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from gate import __version__
from gate.report.published import rule_id

_PAGES: Final = f"https://github.com/gate-ci/gate/blob/v{__version__}/docs/rules"
_ELSEWHERE: Final = ("bandit-", "bandit.")


def page_url(name: str, rules: Container[str]) -> str:
    """The address of the page of one of gate's own rules; empty for a scanner's rule, which has none.

    ``rules``: those that the report describes.
    """
    if name not in rules or name.startswith(_ELSEWHERE):
        return ""
    return f"{_PAGES}/{rule_id(name)}.md"

"""The stage that says who wrote the commits."""

from __future__ import annotations

from gate.attribution.attribute import attribute
from gate.attribution.findings import attribution_findings
from gate.model.stage import SkipReason
from gate.stages.context import CheckContext, Ending


def run(context: CheckContext, ending: Ending) -> None:
    """Attribute every commit of the range. The pull request's own text is evidence for this only."""
    opened, results = context.opened, context.results
    if not opened.change.commits:
        ending.skipped(SkipReason.NO_COMMITS)
    results.commits = attribute(
        opened.change, opened.head, opened.notes, origins=opened.origins, request=context.request
    )
    results.attribution = attribution_findings(opened.change, results.commits)

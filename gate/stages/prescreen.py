"""The stage that reads the change: every scanner, none of which runs any of it."""

from __future__ import annotations

from gate.model.stage import SkipReason
from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.run import prescreen
from gate.stages.context import CheckContext, Ending


def run(context: CheckContext, ending: Ending) -> None:
    """Scan the changed files. A scanner that could not look makes the stage degraded."""
    opened, limits = context.opened, context.settings.config.prescreen
    if not opened.change.files:
        ending.skipped(SkipReason.NO_CHANGED_FILES)
        return
    folder = context.scratch / "prescreen"
    folder.mkdir()
    request = PrescreenRequest(
        change=opened.change,
        base=opened.base,
        head=opened.head,
        scratch=folder,
        deadline=limits.deadline * context.pace,
        pace=context.pace,
        allowed_imports=limits.allowed_imports,
    )
    found = prescreen(request, progress=lambda text: context.watch.note("prescreen", text))
    context.results.prescreened = found
    context.stages.extend(found.stages)
    blind = [part for part in found.stages if not part.looked]
    if blind:
        ending.degraded("; ".join(f"{part.name}: {part.reason}" for part in blind))

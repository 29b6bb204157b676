"""Patches of what comes from elsewhere: code of a package that changes while its name and version stay.

In the change they are text in a file that no scanner of programs reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_test_code
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Severity
from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.read_files import Unread
from gate.prescreen.scanners.supply_rules import CONTENT
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.supply.patches import Patched, is_patch

_READER: Final = Reader("gate.supply.patches:read", Patched)


def patch_findings(request: PrescreenRequest, unread: Unread) -> Iterator[Finding]:
    """One finding for each changed patch with new lines of code; ``unread`` takes what nobody could read."""
    files = [one for one in sources(request).files if is_patch(one.path) and not is_test_code(one.path)]
    if not files:
        return
    asked = [(one.path, one.head) for one in files]
    asked += [(one.path, one.base) for one in files if one.base is not None]
    results = scan_isolated(_READER, asked, deadline=request.deadline)
    bases = {result.path: result.value for result in results[len(files) :] if result.value is not None}
    for source, result in zip(files, results, strict=False):
        new = result.value
        if new is None:
            unread.append((source.path, result.reason or result.outcome))
            continue
        had = set(bases[source.path].touches) if source.path in bases else set()
        fresh = [at for at, touch in enumerate(new.touches) if touch not in had]
        if fresh:
            told = f"`{new.name}` keeps its version and is patched: " + "; ".join(
                new.touches[at] for at in fresh[:3]
            )
            yield finding(
                CONTENT, "A patch changes the code of a package under the same version.",
                Location(path=source.path, line=new.lines[fresh[0]]), shape=told,
                evidence={"told": told, "name": new.name}, severity=Severity.MEDIUM,
            )  # fmt: skip

"""Files of formats that no reader knows: they newly take something from an owner whose name is easily taken
for another's (gate/supply/inputs/any_format.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_unshipped
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.scanners.supply_rules import SOURCE
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.supply.inputs.any_format import impostors
from gate.supply.inputs.readers import reader_of
from gate.supply.manifests import is_manifest

_OTHERS: Final = frozenset(
    {
        *(
            "python",
            "notebook",
            "javascript",
            "typescript",
            "go",
            "rust",
            "java",
            "kotlin",
            "csharp",
            "swift",
        ),
        *("ruby", "php", "perl", "lua", "r", "c", "cpp", "html", "css", "prose", "markdown", "text"),
    }
)
"""Programs and prose: what they name may be anything."""
_LONGEST: Final = 1 << 19
_MOST: Final = 5


def unread_source_findings(request: PrescreenRequest) -> Iterator[Finding]:
    """One finding for each such reference, at most five a file."""
    for source in sources(request).files:
        if source.base is not None and _is_read(source):
            yield from list(_findings(source))[:_MOST]


def _is_read(source: Source) -> bool:
    if source.language in _OTHERS or reader_of(source.path) or is_manifest(source.path):
        return False
    large = max(len(source.base or b""), len(source.head)) > _LONGEST
    return not (large or is_unshipped(source.path) or b"\0" in source.head[:4096])


def _findings(source: Source) -> Iterator[Finding]:
    old, new = ((data or b"").decode("utf-8", "replace") for data in (source.base, source.head))
    for one in impostors(old, new):
        yield finding(
            SOURCE,
            "This comes from an owner who is easily taken for the one at base.",
            Location(path=source.path, line=one.now.line),
            shape=f"impostor {one.now.place}",
            evidence={"now": one.now.place, "at base": one.was.place},
            severity=Severity.HIGH if one.is_slip else Severity.MEDIUM,
            confidence=Confidence.MEDIUM,
        )

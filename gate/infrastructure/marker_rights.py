"""Rights in comments that a generator obeys: ``+kubebuilder:rbac`` markers of operators written in Go.

The role is made of them when a release is built, and bound already: whoever changes a comment changes it. A
marker without a namespace is a right over the whole cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.infrastructure.cluster_widths import is_grave
from gate.infrastructure.facts import FileFacts, Width
from gate.regex import regex

MARK: Final = "+kubebuilder:rbac:"
_FIELD: Final = regex(r"(\w+)=(\{[^{}]*\}|\"[^\"]*\"(?:;\"[^\"]*\")*|[^,\"{}]*)")
_MANY: Final = 1_000
"""Members of one file."""


def marker_facts(text: str, path: str) -> FileFacts:
    """What the markers of a file ask for, with the namespace that each right is for (``*``: every one)."""
    if MARK not in text:
        return FileFacts()
    members: list[str] = []
    last, said = 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare.startswith("//") or not bare.removeprefix("//").strip().startswith(MARK):
            continue
        rights = [*_rights(bare.partition(MARK)[2])]
        if rights:
            last, said = number, bare.removeprefix("//").strip()
        members += rights
    width = Width("more-rights", "rights by markers", last, said[:160], members=members[:_MANY])
    return FileFacts(subjects=[path], widths=[width])


def _rights(marker: str) -> Iterator[str]:
    fields = {name: _values(value) for name, value in _FIELD.findall(marker)}
    where = (fields.get("namespace") or ["*"])[0] or "*"
    for resource in fields.get("resources", []):
        for verb in fields.get("verbs", []):
            if verb == "*" or is_grave(resource):
                yield f"{verb} {resource} in {where}"


def _values(text: str) -> list[str]:
    separator = "," if text.startswith("{") else ";"
    return [one.strip(' "') for one in text.strip("{}").split(separator)]

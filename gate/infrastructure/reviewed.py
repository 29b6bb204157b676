"""What `.gitattributes` hides from whoever reviews: asked with sample paths of code and workflows.

``-diff`` and ``binary`` show no lines, ``linguist-generated`` folds a file away on forges, and ``merge=ours``
drops what others changed. Lock files, bundles and generated folders are hidden every day; code is not.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Final

from gate.infrastructure.facts import Fact, FileFacts

_SAMPLES: Final = (
    "app.py", "src/app.py", "lib/auth.js", "src/login.ts", "main.go", "app/models/user.rb", "src/Main.java",
    "deploy.sh", ".github/workflows/ci.yml", ".gitlab-ci.yml", "Dockerfile",
)  # fmt: skip
_HIDES: Final = frozenset({
    "-diff", "binary", "linguist-generated", "linguist-generated=true", "linguist-vendored",
    "linguist-vendored=true", "merge=ours", "-linguist-detectable",
})  # fmt: skip

_MACRO: Final = "[attr]"
"""A line that begins so gives a name to attributes (gitattributes(5), defining macro attributes)."""


def is_attributes(path: str) -> bool:
    """Is this git's file of attributes?"""
    return PurePosixPath(path).name == ".gitattributes"


def attribute_facts(text: str, path: str) -> FileFacts:
    """A grant for each kind of code that nobody sees the changes of."""
    folder = PurePosixPath(path).parent.as_posix()
    facts: dict[str, Fact] = {}
    hiding = set(_HIDES)
    for number, line in enumerate(text.split("\n"), 1):
        pattern, attributes = _row(line.strip())
        if pattern.startswith("#") or hiding.isdisjoint(attributes):
            continue
        if pattern.startswith(_MACRO):
            hiding.add(pattern.removeprefix(_MACRO))
            continue
        for sample in _SAMPLES:
            if _matches(pattern, sample):
                subject = f"{folder} {sample}"
                facts[subject] = Fact("grant", "review-hidden", subject, number, line.strip()[:120])
    return FileFacts(facts=[*facts.values()], subjects=[path])


def _row(line: str) -> tuple[str, list[str]]:
    """The pattern, which may stand in quotes, and its attributes."""
    if line.startswith('"'):
        pattern, _, rest = line[1:].partition('"')
        return pattern, rest.split()
    pattern, *attributes = line.split() or [""]
    return pattern, attributes


def _matches(pattern: str, sample: str) -> bool:
    """gitattributes(5): without a slash any folder's file of that name, else from the file's own folder."""
    bare = pattern.lstrip("/")
    if "/" not in pattern.rstrip("/"):
        return fnmatchcase(PurePosixPath(sample).name, bare)
    if bare.startswith("**/"):
        return fnmatchcase(sample, bare) or fnmatchcase(sample, bare.removeprefix("**/"))
    return fnmatchcase(sample, bare.replace("/**", "/*"))

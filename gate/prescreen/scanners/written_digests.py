"""Sums of downloads that stood in the tree and no longer do, while something is still downloaded.

A sum is worth something when it comes from elsewhere than the thing: from the repository. A sum that is
fetched from the same server, or no sum at all, lets whoever holds the server decide what runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_unshipped
from gate.model.finding import Finding
from gate.model.location import Location
from gate.prescreen.interface import PrescreenRequest, Source
from gate.prescreen.scanners.supply_rules import SAFEGUARD
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding
from gate.regex import regex

_READ: Final = regex(
    r"(?i)(?:^|/)(?:[^/]*(?:dockerfile|containerfile)[^/]*|[^/]*makefile[^/]*|[^/]+\.(?:mk|sh|bash|ps1|ya?ml|bzl|bazel|nix|cmake|tf"
    r"|gradle|kts|just|rb|zig)|justfile|workspace|module\.bazel|earthfile|vagrantfile|jenkinsfile[^/]*|cmakelists\.txt|pkgbuild)$"
)
_SUM: Final = regex(
    r"(?<![0-9a-zA-Z@/])(?:sha(?:256|384|512)[:=-])?(?<![@])([0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})(?![0-9a-zA-Z])"
    r"|sha(?:256|384|512)-([A-Za-z0-9+/]{43,88}={0,2})"
)
_PINNED: Final = regex(r"@sha256:[0-9a-f]{64}")
_FETCH: Final = regex(
    r"(?i)\b(?:curl|wget2?|iwr|invoke-webrequest|aria2c|get_url|http_file|http_archive|fetchurl|fetchzip|download\w*)\b"
    r"|^\s*ADD\s+(?:--\S+\s+)*https?://|file\(DOWNLOAD|\burl\s*[:=(]|^\s*URL\s|GIT_REPOSITORY|\bgit\s+clone\b"
)
_FETCHED_SUM: Final = regex(
    r"(?i)https?://\S*?(?:\.(?:sha(?:1|256|384|512)(?:sum)?s?|md5|sums?|checksums?|digest)\b|sha(?:256|512)sums?|checksums?(?:\.txt)?\b)"
)
_LOCK: Final = regex(r"(?i)(?:^|[/._-])(?:lock|lockfile|snapshots?|checksums?)(?=[/._-])")
_LONGEST: Final = 1 << 20


def digest_findings(request: PrescreenRequest) -> Iterator[Finding]:
    """Changed build files and scripts that download as much as before, and hold fewer sums."""
    for source in sources(request).files:
        if source.base is None or not _READ.search(source.path) or is_unshipped(source.path):
            continue
        if (
            _LOCK.search(source.path)
            or max(len(source.base), len(source.head)) > _LONGEST
            or b"\0" in source.head[:4096]
        ):
            continue
        found = _lost(source)
        if found is not None:
            yield found


def _lost(source: Source) -> Finding | None:
    old, new = _lines(source.base or b""), _lines(source.head)
    had, have = _sums(old), _sums(new)
    gone = [one for one in had if one not in have]
    fresh = [one for one in have if one not in had]
    fetched_before, fetches = _fetches(old), _fetches(new)
    if not gone or len(gone) <= len(fresh) or not fetches or len(fetches) < len(fetched_before):
        return None
    kept = set(old)
    beside = next(
        (n for n, line in enumerate(new, 1) if line not in kept and _FETCHED_SUM.search(line)), None
    )
    at = beside or next((n for n in fetches if new[n - 1] not in kept), fetches[0])
    told = "is fetched from where the download comes from" if beside else "is gone, and the download is not"
    return finding(
        SAFEGUARD,
        f"A sum that stood in the tree {told}.",
        Location(path=source.path, line=at),
        shape=f"written sum {gone[0][:16]}",
        evidence={"no longer": gone[0], "now": new[at - 1].strip()},
    )


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace").split("\n")
    return ["" if line.lstrip().startswith(("#", "//")) else _PINNED.sub("", line) for line in text]


def _sums(lines: list[str]) -> list[str]:
    return [match[1] or match[2] for line in lines for match in _SUM.finditer(line)]


def _fetches(lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines, 1) if _FETCH.search(line)]

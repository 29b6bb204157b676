"""What the change makes the project depend on, and from where: manifests and lock files, base against head.

Names are compared with data shipped here; nothing is looked up on a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.build_arguments import build_argument_findings
from gate.prescreen.scanners.document_installs import document_findings
from gate.prescreen.scanners.install_safeguards import safeguard_findings
from gate.prescreen.scanners.manifest_lines import line_naming
from gate.prescreen.scanners.patched_packages import patch_findings
from gate.prescreen.scanners.supply_inputs import input_findings, said_once
from gate.prescreen.scanners.unread_sources import unread_source_findings
from gate.prescreen.scanners.written_digests import digest_findings
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex
from gate.supply.inputs.places import is_usual, place
from gate.supply.installed_commands import shadowing
from gate.supply.lookalike import imitates, is_known
from gate.supply.manifests import BUILD_REQUIRES, Dependency, Manifest, is_manifest

TYPOSQUAT: Final = rule.meta(
    "dependency.lookalike",
    "A new dependency whose name is one slip from a much used one",
    severity="high",
    confidence="medium",
    topic="dependency",
    cwe=(1357, 829),
    attack=("T1195.001",),
    why="Look-alike packages are published to be installed by mistake; installing runs their code.",
    fix="Check the name letter by letter on the package's own site; if it is meant, an owner should say so.",
)
UNFAMILIAR: Final = rule.meta(
    "dependency.unfamiliar",
    "A new dependency that is not among the most used packages",
    severity="low",
    confidence="low",
    topic="dependency",
    cwe=(1357,),
    attack=("T1195.001",),
    why="Generated code invents package names, and attackers register them (slopsquatting).",
    fix="Check that the package exists, who publishes it, and that it is the one that was meant.",
)
SOURCE: Final = rule.meta(
    "dependency.index",
    "Packages come from another place than before",
    severity="high",
    confidence="high",
    topic="dependency",
    cwe=(494, 829),
    attack=("T1195.001",),
    why="Whoever runs the index decides what is installed; an extra index opens dependency confusion. An "
    "index that base names elsewhere is medium.",
    fix="Use one index for each name, over https, and have an owner approve the change.",
)
DIRECT: Final = rule.meta(
    "dependency.direct-url",
    "A dependency is fetched from an address instead of the index",
    severity="medium",
    confidence="high",
    topic="dependency",
    cwe=(494, 829),
    attack=("T1195.001",),
    why="What stands at an address or a branch can change after the review.",
    fix="Use a release from the index, or pin a full commit id or hash.",
)
HOOK: Final = rule.meta(
    "dependency.install-hook",
    "Code that runs when the project or a package is installed",
    severity="high",
    confidence="medium",
    topic="exec",
    cwe=(506, 829),
    attack=("T1195.002", "T1059"),
    why="Install scripts run on every developer's and build machine before anything is reviewed there.",
    fix="Do the work in a build step that is run on purpose.",
)
SHADOWED: Final = rule.meta(
    "dependency.shadowed-command",
    "The package installs a command under the name of a known program",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(427, 426),
    attack=("T1574.007",),
    why="Whoever has the package installed runs its code in the place of the program that they named.",
    fix="Give the command a name of its own.",
)
UNPINNED: Final = rule.meta(
    "dependency.unpinned",
    "A new dependency without any version",
    severity="low",
    confidence="high",
    topic="dependency",
    cwe=(1357,),
    why="The next install may bring another program than the one that was tested.",
    fix="State a version or a range, and lock it.",
)
HASHES: Final = rule.meta(
    "dependency.hash-removed",
    "Integrity hashes are taken away",
    severity="high",
    confidence="medium",
    topic="dependency",
    cwe=(353, 494),
    attack=("T1195.002",),
    why="Without hashes, an index or a man in the middle can serve another file under the same version.",
    fix="Generate the lock file again with hashes (pip-compile --generate-hashes, npm install).",
)
MISMATCH: Final = rule.meta(
    "dependency.lock-mismatch",
    "The lock file has packages that no manifest asks for",
    severity="medium",
    confidence="low",
    topic="dependency",
    cwe=(1357,),
    attack=("T1195.002",),
    why="Lock files are long and rarely read: an entry there installs what no manifest shows.",
    fix="Generate the lock file from the manifest again and compare.",
)
LOCK_SOURCE: Final = rule.meta(
    "dependency.lock-source",
    "The lock file fetches a package from an unusual place",
    severity="high",
    confidence="high",
    topic="dependency",
    cwe=(494, 829),
    attack=("T1195.002",),
    why="A lock entry can point a trusted name at any server; few reviewers read lock files.",
    fix="Generate the lock file again from the official index.",
)
RULES: Final[tuple[RuleMeta, ...]] = (
    TYPOSQUAT, UNFAMILIAR, SOURCE, DIRECT, HOOK, SHADOWED, UNPINNED, HASHES, MISMATCH, LOCK_SOURCE,
)  # fmt: skip
_OFFICIAL: Final = regex(
    r"^https://(?:pypi\.org/(?:simple/?)?|files\.pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg\.com"
    r"|download\.pytorch\.org)(?:/.*)?$|^\.{1,2}/?|^[\w./-]+$|^file:\.{0,2}/?[\w./-]*$"
)
_ADDRESS: Final = regex(
    r"^@?\s*(?:git\+|hg\+|svn\+|bzr\+|git:|git@|ssh:|https?:|github:|gitlab:|bitbucket:|[\w.-]+/[\w.-]+(?:#|$))"
)
_PINNED: Final = regex(r"(?:@|#|commit=|rev=)[0-9a-f]{40}\b|sha256[:=-]|#sha512=")
_HOST_RUNS: Final = regex(
    r"curl|wget|node\s+-e|python\d?\s+-c|\beval\b|base64|https?://|\bsh\b|bash|powershell|\.\./"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pair:
    """One manifest at both sides."""

    source: Source
    head: Manifest
    base: Manifest


class Dependencies:
    """New dependencies, where they come from and what they run, in changed manifests and lock files."""

    name: str = "dependencies"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Parse every changed manifest of both sides in the limited child and compare what they say."""
        changed = [s for s in sources(request).files if is_manifest(s.path)]
        files = [(s.path, s.head) for s in changed]
        files += [(s.path, s.base) for s in changed if s.base is not None]
        results = scan_isolated(
            Reader("gate.supply.manifests:read", Manifest), files, deadline=request.deadline
        )
        empty = Manifest(kind="manifest")
        bases = {r.path: r.value or empty for r in results[len(changed) :]}
        unlooked: list[tuple[str, str]] = []
        pairs: list[_Pair] = []
        for source, result in zip(changed, results, strict=False):
            reason = result.reason or (result.value.unreadable if result.value else "")
            if result.value is None or reason:
                unlooked.append((source.path, reason))
                continue
            pairs.append(_Pair(source=source, head=result.value, base=bases.get(source.path, empty)))
        found = [f for pair in pairs for f in _one(pair)]
        told = input_findings(request)
        once = said_once(
            [
                *found,
                *_mismatches(pairs),
                *safeguard_findings(request),
                *digest_findings(request),
                *patch_findings(request, unlooked),
                *build_argument_findings(request, told.known),
                *unread_source_findings(request),
                *document_findings(request),
            ],
            told,
        )
        return ended(self.name, once, [*unlooked, *told.unread])


def _one(pair: _Pair) -> Iterator[Finding]:
    old = {(d.ecosystem, d.name) for d in pair.base.dependencies}
    asked = set(pair.base.dependencies)
    for dependency in dict.fromkeys(pair.head.dependencies):
        if dependency not in asked:
            yield from _dependency(
                pair, dependency, is_new=(dependency.ecosystem, dependency.name) not in old
            )
    yield from _origins(pair)
    for name, command in (pair.head.hooks or {}).items():
        known = name.startswith(BUILD_REQUIRES) and is_known(command, "pypi")
        if not known and (pair.base.hooks or {}).get(name) != command:
            level, message = _hook(pair, name, command)
            yield finding(
                HOOK,
                message,
                line_naming(pair.source, _needle(pair.source, name, command)),
                shape=f"{name} {command}",
                evidence={"script": name, "command": command},
                severity=level,
            )
    for name, called in shadowing(pair.head.commands, pair.base.commands):
        yield finding(
            SHADOWED,
            f"Once installed, {name} is a command of this package.",
            line_naming(pair.source, name),
            shape=f"{name} {called}",
            evidence={"command": name, "calls": called},
        )
    if pair.head.hashes < pair.base.hashes:
        lost = pair.base.hashes - pair.head.hashes
        fewer = max(0, len(pair.base.dependencies) - len(pair.head.dependencies))
        # What comes from a repository has no hash in any lock; that it does is told below.
        elsewhere = len(set(pair.head.origins) - set(pair.base.origins))
        if pair.head.hashes == 0 or (pair.head.kind == "lock" and lost > fewer + elsewhere):
            # A file that tools write, without hashes from now on, says so in every line; a lock of which some
            # are gone was edited.
            plain = pair.head.hashes == 0 and pair.head.kind != "lock"
            yield finding(
                HASHES,
                "There are fewer integrity hashes than before.",
                Location(path=pair.source.path),
                shape="hashes",
                evidence={"before": str(pair.base.hashes), "now": str(pair.head.hashes)},
                severity=Severity.MEDIUM if plain else None,
            )


def _needle(source: Source, name: str, command: str) -> str:
    if name.startswith(BUILD_REQUIRES):
        return command
    return f'"{name}"' if '"' in command or source.path.endswith(".json") else name


def _hook(pair: _Pair, name: str, command: str) -> tuple[Severity | None, str]:
    """How grave (None: as the rule says), and what to say. A new project may have build code of its own."""
    if name.startswith(BUILD_REQUIRES):
        return None, "This little known package runs whenever the project is built or installed."
    begun = name == "build-backend" and pair.source.base is None
    plain = not _HOST_RUNS.search(command) and (begun or name in ("prepare", "dependencies"))
    return Severity.LOW if plain else None, "This script runs by itself at installation."


def _dependency(pair: _Pair, dependency: Dependency, *, is_new: bool) -> Iterator[Finding]:
    line = line_naming(pair.source, dependency.name or dependency.asked)
    seen = {"name": dependency.name, "asked": dependency.asked}
    lock = pair.head.kind == "lock"
    if is_new and dependency.name:
        like = imitates(dependency.name, dependency.ecosystem)
        if like:
            yield finding(
                TYPOSQUAT,
                "This name is nearly that of a much used package.",
                line,
                shape=dependency.name,
                evidence={**seen, "resembles": like},
            )
        elif (
            not lock
            and not is_known(dependency.name, dependency.ecosystem)
            and not dependency.name.startswith("@")
        ):
            yield finding(
                UNFAMILIAR, "This package is little known.", line, shape=dependency.name, evidence=seen
            )
    if lock:
        return
    if _ADDRESS.match(dependency.asked):
        loose = re.search(r"\bhttp://|^@?\s*git://", dependency.asked.replace("git+http://", "http://"))
        level = Severity.HIGH if loose else Severity.LOW if _PINNED.search(dependency.asked) else None
        message = "This dependency is fetched from an address."
        yield finding(DIRECT, message, line, shape=dependency.asked, evidence=seen, severity=level)
    elif is_new and dependency.asked in ("", "*", "latest", "x") and "pyproject" not in pair.source.path:
        yield finding(UNPINNED, "This dependency has no version.", line, shape=dependency.name, evidence=seen)


def _origins(pair: _Pair) -> Iterator[Finding]:
    old = set(pair.base.origins)
    for origin in dict.fromkeys(pair.head.origins):
        computed = origin.where.startswith("computed: ")
        usual = (
            not computed
            and origin.kind not in ("trusted-host", "proxy")
            and (_OFFICIAL.match(origin.where) or is_usual(place("registry", origin.where)))
        )
        if origin in old or usual:
            continue
        line = line_naming(pair.source, origin.where)
        seen = {"kind": origin.kind, "where": re.sub(r"//[^/@]*@", "//[redacted]@", origin.where)}
        if origin.kind == "resolved":
            level = Severity.MEDIUM if old and origin.where.startswith("https://") and len(old) > 1 else None
            yield finding(LOCK_SOURCE, "This entry leads to another server.", line, shape=origin.where,
                          evidence=seen, severity=level)  # fmt: skip
            continue
        yield finding(
            SOURCE,
            "Where packages come from is computed." if computed else "Packages may come from here now.",
            line,
            shape=f"{origin.kind} {origin.where}",
            evidence=seen,
        )


def _mismatches(pairs: list[_Pair]) -> Iterator[Finding]:
    """A lock file that grew while no manifest of its folder changed what it asks for."""
    asking = {
        str(PurePosixPath(p.source.path).parent)
        for p in pairs
        if p.head.kind == "manifest" and set(p.head.dependencies) != set(p.base.dependencies)
    }
    for pair in pairs:
        if pair.head.kind != "lock" or pair.source.base is None:
            continue
        folder = PurePosixPath(pair.source.path).parent
        above = {str(folder), *map(str, folder.parents)}
        if asking & above or any(str(folder) == "." or a.startswith(f"{folder}/") for a in asking):
            continue
        old = {d.name for d in pair.base.dependencies}
        added = sorted({d.name for d in pair.head.dependencies} - old)
        if added:
            yield finding(
                MISMATCH,
                "New packages appear here and in no manifest of the change.",
                line_naming(pair.source, added[0]),
                shape=" ".join(added[:20]),
                evidence={"new": ", ".join(added[:10]), "count": str(len(added))},
                # An updated package may bring a new one; a lock that only grew is stranger.
                severity=Severity.LOW if set(pair.base.dependencies) - set(pair.head.dependencies) else None,
            )

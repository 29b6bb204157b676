"""The rules about what a project takes from elsewhere, told as a difference (gate/supply/inputs)."""

from __future__ import annotations

from typing import Final

from gate.model.rule import RuleMeta
from gate.prescreen.text_rule import rule

SOURCE: Final = rule.meta(
    "supply.source-changed",
    "A package or a tool comes from another place than at base",
    severity="high",
    confidence="high",
    topic="dependency",
    cwe=(829, 494, 427),
    attack=("T1195.002",),
    why="The name stays trusted while somebody else delivers what is behind it. A move to one of the public "
    "registries, or into the project's own tree, is low.",
    fix="Check who owns the new place, and that the manifest asks for it; else make the lock anew.",
)
CONTENT: Final = rule.meta(
    "supply.content-changed",
    "The same version of a package has another hash",
    severity="high",
    confidence="high",
    topic="dependency",
    cwe=(494, 829),
    attack=("T1195.002",),
    why="Registries never change what they have published: another hash for the same version is another file "
    "than the one that was tested.",
    fix="Compare the hash with the registry's own; make the lock anew.",
)
NEW_SOURCE: Final = rule.meta(
    "supply.new-source",
    "A new package comes from a place that nothing came from before",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(829, 1357),
    attack=("T1195.001",),
    why="Whoever runs that place decides what is installed, now and at the next update.",
    fix="Take it from the registry that the project uses, or have an owner approve the place.",
)
INTEGRITY: Final = rule.meta(
    "supply.integrity-lost",
    "A package or an image is no longer held by a hash",
    severity="medium",
    confidence="high",
    topic="dependency",
    cwe=(353, 494),
    attack=("T1195.002",),
    why="Without a hash another file can be served under the same version.",
    fix="Make the lock anew with hashes; name an image with its digest.",
)
ALIAS: Final = rule.meta(
    "supply.alias",
    "A name stands for another package",
    severity="medium",
    confidence="high",
    topic="dependency",
    cwe=(1357, 829),
    attack=("T1195.001",),
    why="Code imports one name and gets another package. High where the name meant itself at base, or where "
    "only the lock says so.",
    fix="Ask for the package by its own name, or have an owner approve the replacement.",
)
UNASKED: Final = rule.meta(
    "supply.unasked",
    "The lock has a new package that nothing asks for",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(1357,),
    attack=("T1195.002",),
    why="A lock is made from manifests and from what packages need; an entry that neither explains was "
    "written by hand.",
    fix="Make the lock anew from the manifest and compare.",
)
OLDER: Final = rule.meta(
    "supply.older-version",
    "A package or a tool goes back to an older version",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(1395, 1104),
    attack=("T1195.001",),
    why="Holes of old versions are public, and the code that uses the package does not change with it. Low "
    "within one major version, and for what only other packages need.",
    fix="Say in the pull request why, and check the versions in between for fixed holes.",
)
CLAIMED: Final = rule.meta(
    "supply.claimed-need",
    "A table says that somebody else's package needs a new one",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(1357, 829),
    attack=("T1195.001",),
    why="Metadata that the project writes for a package of others is installed like the package's own needs, "
    "and no list of dependencies shows it. Low for a package that everybody uses.",
    fix="Compare with what the package itself declares, or ask for the new one among the dependencies.",
)
INSTALL_CODE: Final = rule.meta(
    "supply.install-code",
    "A package newly runs code when it is installed",
    severity="medium",
    confidence="medium",
    topic="dependency",
    cwe=(829, 506),
    attack=("T1195.002", "T1059"),
    why="Install scripts run on every developer's and build machine; a script that appears with an update is "
    "how stolen packages act.",
    fix="Read the script, or install with scripts switched off.",
)
AMBIGUOUS: Final = rule.meta(
    "supply.ambiguous",
    "Parsers disagree about what this file says",
    severity="medium",
    confidence="high",
    topic="dependency",
    cwe=(436, 829),
    attack=("T1195.002",),
    why="A key that stands twice shows one value to a reviewer and gives another to the installer.",
    fix="Have the tool write the file anew.",
)
SAFEGUARD: Final = rule.meta(
    "supply.safeguard-removed",
    "What keeps packages from being replaced is gone",
    severity="medium",
    confidence="high",
    topic="dependency",
    cwe=(829, 494, 427),
    attack=("T1195.001",),
    why="A scope that is bound to its registry, a waiting time, a check of hashes, scripts that do not run: "
    "without them somebody else's package takes the place of the one that was meant.",
    fix="Keep the setting, or have an owner say why it is not needed any more.",
)
RULES: Final[tuple[RuleMeta, ...]] = (
    SOURCE, CONTENT, NEW_SOURCE, INTEGRITY, ALIAS, UNASKED, OLDER, CLAIMED, INSTALL_CODE, AMBIGUOUS,
    SAFEGUARD,
)  # fmt: skip

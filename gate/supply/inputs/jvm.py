"""What Maven and Gradle take from elsewhere: wrappers, locks, sums, plugins and dependencies of a POM."""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex
from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.xml_text import below, child_text, xml_root

_VERSION: Final = regex(
    r"-(\d[\w.]*?(?:-(?:rc|milestone|M|beta|alpha)-?\d+)?)(?:-(?:bin|all))?\.(?:zip|jar)$"
)
_WELL_KNOWN: Final = (
    "org.apache.maven",
    "com.gradle",
    "io.takari",
    "kr.motd.maven",
    "com.google.cloud.artifactregistry",
)
_ADDRESSES: Final = ("distributionurl", "wrapperurl")


def wrapper(text: str) -> Inputs:
    """``gradle-wrapper.properties``, ``maven-wrapper.properties``: the program that builds the project."""
    said = _properties(text)
    found = []
    for key in _ADDRESSES:
        address = said.get(key, "")
        if not address:
            continue
        digest = said.get(key.replace("url", "sha256sum"), "")
        version = _VERSION.search(address)
        archive = Archive(
            name="" if version is None else "distribution",
            where=address,
            digest=f"sha256:{digest.lower()}" if digest else "",
        )
        found.append(
            Input(
                name="build tool" if key == "distributionurl" else "wrapper",
                kind="url",
                where=address,
                version=version[1] if version else "",
                archives=(archive,),
                runs=True,
            )
        )
    return Inputs(kind="lock", inputs=tuple(found), asked=tuple(one.name for one in found))


def _properties(text: str) -> dict[str, str]:
    r"""Java's properties: keys in lower case, ``\\:`` for a colon, lines continued by a backslash."""
    found = {}
    for line in re.sub(r"\\\r?\n\s*", "", text).splitlines():
        key, mark, value = line.partition("=")
        if mark and not line.lstrip().startswith(("#", "!")):
            found[key.strip().lower()] = re.sub(r"\\(.)", r"\1", value.strip())
    return found


def gradle_lock(text: str) -> Inputs:
    """``gradle.lockfile``: ``group:name:version=configurations``. It knows no hashes."""
    found = []
    for line in text.splitlines():
        parts = line.partition("=")[0].strip().split(":")
        if len(parts) == 3 and not line.startswith("#"):
            found.append(Input(name=":".join(parts[:2]), version=parts[2]))
    return Inputs(kind="lock", inputs=tuple(found))


def verification(text: str) -> Inputs:
    """``verification-metadata.xml``: the sums that Gradle asks of what it downloads."""
    found = []
    for one in below(xml_root(text), "component"):
        archives = [
            Archive(name=artifact.get("name", ""), digest=f"{kind}:{value.lower()}")
            for artifact in below(one, "artifact")
            for kind in ("sha512", "sha256", "sha1", "md5")
            for sum_ in below(artifact, kind)
            if (value := sum_.get("value", ""))
        ]
        name = f"{one.get('group', '')}:{one.get('name', '')}"
        found.append(Input(name=name, version=one.get("version", ""), archives=tuple(archives)))
    return Inputs(kind="lock", inputs=tuple(found), asked=tuple(one.name for one in found))


def pom(text: str) -> Inputs:
    """``pom.xml``: dependencies, and plugins, whose code runs in the build."""
    root = xml_root(text)
    found = []
    for name in ("dependency", "plugin", "extension", "parent"):
        for one in below(root, name):
            group = child_text(one, "groupid") or ("org.apache.maven.plugins" if name == "plugin" else "")
            artifact = child_text(one, "artifactid")
            if group and artifact:
                version = child_text(one, "version")
                found.append(
                    Input(name=f"{group}:{artifact}", version=version, runs=name in ("plugin", "extension"))
                )
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)), tells_runs=False)


def extensions(text: str) -> Inputs:
    """``.mvn/extensions.xml``: programs that Maven loads into itself before it reads a project."""
    found = []
    for one in below(xml_root(text), "extension"):
        group, artifact = child_text(one, "groupid"), child_text(one, "artifactid")
        if group and artifact:
            known = group.startswith(_WELL_KNOWN)
            found.append(
                Input(name=f"{group}:{artifact}", version=child_text(one, "version"), runs=not known)
            )
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys(found)), tells_runs=True)

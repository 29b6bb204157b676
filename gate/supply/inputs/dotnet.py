"""What .NET takes from NuGet: ``packages.lock.json``, and the SDKs whose targets run in every build.

An MSBuild SDK is a package that the build downloads and runs before it reads the project; ``global.json``,
``<Project Sdk>``, ``<Sdk>`` and ``<Import Sdk>`` name it, and no lock has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.supply.inputs.model import Archive, Input, Inputs
from gate.supply.inputs.text import json_table, plain_json, table_of, text_of
from gate.supply.inputs.xml_text import local, xml_root

_RESERVED: Final = ("microsoft.", "aspire.", "msbuild.sdk.extras", "mstest.sdk", "uno.", "godot.net.")
"""Prefixes that NuGet keeps for their owners, and SDKs that everybody knows."""


def lock(text: str) -> Inputs:
    """``packages.lock.json``: by target framework, version and hash of each package."""
    found = []
    asked = []
    for framework in map(table_of, table_of(json_table(text).get("dependencies")).values()):
        for name, value in framework.items():
            row = table_of(value)
            if text_of(row.get("type")) == "Project":
                continue
            digest = text_of(row.get("contentHash"))
            version = text_of(row.get("resolved"))
            archives = (Archive(name=f"{name}.{version}", digest=f"sha512:{digest}"),) if digest else ()
            needs = tuple(table_of(row.get("dependencies")))
            found.append(Input(name=name, version=version, archives=archives, needs=needs))
            asked += [name] if text_of(row.get("type")) == "Direct" else []
    return Inputs(kind="lock", inputs=tuple(dict.fromkeys(found)), asked=tuple(dict.fromkeys(asked)))


def global_json(text: str) -> Inputs:
    """global.json: the versions of MSBuild SDKs."""
    named = table_of(json_table(plain_json(text)).get("msbuild-sdks")).items()
    found = [_sdk(name, text_of(version)) for name, version in named]
    return Inputs(kind="manifest", inputs=tuple(found), tells_runs=True)


def project(text: str) -> Inputs:
    """A project, or properties and targets that every project takes in."""
    found = list(dict.fromkeys(_sdks(text)))
    return Inputs(kind="manifest", inputs=tuple(found), tells_runs=True)


def _sdks(text: str) -> Iterator[Input]:
    for element in xml_root(text.lstrip("\ufeff")).iter():
        given = {name.lower(): value for name, value in element.attrib.items()}
        if local(element) == "sdk" and given.get("name"):
            yield _sdk(given["name"], given.get("version", ""))
        elif local(element) in ("project", "import"):
            for one in given.get("sdk", "").split(";"):
                name, _, version = one.strip().partition("/")
                if name and "$(" not in name:
                    yield _sdk(name, version or given.get("version", ""))


def _sdk(name: str, version: str) -> Input:
    return Input(name=name, version=version, runs=not name.lower().startswith(_RESERVED))

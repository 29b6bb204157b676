"""Files that say what is verified, and what is trusted without: Gradle's verification metadata, cargo-vet's
audits, NuGet's trusted signers, the image policy of containers.

A sum of every package may stand there and count for nothing: one pattern exempts what it matches. Patterns
are tried on the names that the file itself verifies and on made-up ones, as the tool tries them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from gate.infrastructure.facts import FileFacts, Width
from gate.supply.inputs.model import UnreadableInputError
from gate.supply.inputs.xml_text import below, local, xml_root

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from gate.infrastructure.settings import Line

_NAMES: Final = frozenset(("verification-metadata.xml", "nuget.config"))
_CODE: Final = (".jar", ".pom", ".module", ".aar", ".zip", ".exe", ".klib")
_MADE_UP: Final = ("zq.quokka", "quokka-vellum", "7.3.1")
"""A package that no project has: a pattern that matches it matches everybody's."""
_LONGEST: Final = 500
"""Characters of a pattern that is tried."""
_MOST: Final = 200
"""Packages that patterns are tried on."""
_FIELDS: Final = ("group", "name", "version", "file")
_ACCEPTS: Final = "insecureAcceptAnything"


class _Package(NamedTuple):
    group: str
    name: str
    version: str

    def fields(self, suffix: str) -> dict[str, str]:
        """What Gradle compares, of the archive with this suffix."""
        file = f"{self.name}-{self.version}{suffix}"
        return {"group": self.group, "name": self.name, "version": self.version, "file": file}


def is_verifier(path: str) -> bool:
    """Is this an XML file of this kind?"""
    return PurePosixPath(path).name.lower() in _NAMES


def verifier_facts(text: str, path: str) -> FileFacts:
    """Whom and what one such file exempts or trusts."""
    try:
        root = xml_root(text)
    except UnreadableInputError:
        return FileFacts()
    found = _gradle(root, text, path) if path.lower().endswith("metadata.xml") else _nuget(root, text, path)
    return FileFacts(subjects=[path], widths=[*found])


def _gradle(root: Element, text: str, path: str) -> Iterator[Width]:
    verified = [
        _Package(one.get("group", ""), one.get("name", ""), one.get("version", ""))
        for one in below(root, "component")
    ]
    tried = [_Package(*_MADE_UP), *verified[:_MOST]]
    members, said = list[str](), ""
    for one in below(root, "trusted-artifacts", "trust"):
        matched = next((m for package in tried if (m := _matched(one, package))), "")
        if matched:
            members.append(_entry(one))
            said = f"{_entry(one)}, which takes in {matched}"
    yield Width("trusted", f"{path} trusted-artifacts", _line(text, "<trust "), said[:200], members=members)
    keys, told = list[str](), ""
    for one in (*below(root, "trusted-key"), *below(root, "trusted-key", "trusting")):
        scopes = [*below(one, "trusting")] if local(one) == "trusted-key" else []
        if not scopes and _scope_matches(one, _Package(*_MADE_UP)):
            keys.append(one.get("id", "") or _entry(one))
            told = f"trusted-key {keys[-1]}, for everything"
    yield Width("trusted", f"{path} trusted-keys", _line(text, "<trusted-key"), told[:200], members=keys)
    for name in ("verify-metadata", "verify-signatures"):
        for one in below(root, name):
            off = float((one.text or "").strip() == "false")
            yield Width(
                "weaker", f"{path} {name}", _line(text, name), f"{name}: {one.text}"[:60], measure=off
            )


def _matched(entry: Element, package: _Package) -> str:
    """The archive of code of this package that the entry takes in; an entry of no field takes in all."""
    for suffix in _CODE:
        fields = package.fields(suffix)
        if all(_takes(entry, name, fields[name]) for name in _FIELDS):
            return fields["file"] if package != _Package(*_MADE_UP) else f"any *{suffix}"
    return ""


def _scope_matches(entry: Element, package: _Package) -> bool:
    fields = package.fields(".jar")
    return all(_takes(entry, name, fields[name]) for name in _FIELDS)


def _takes(entry: Element, field: str, value: str) -> bool:
    pattern = entry.get(field)
    if pattern is None:
        return True
    if entry.get("regex") != "true":
        return pattern == value
    try:
        return len(pattern) <= _LONGEST and bool(re.fullmatch(pattern, value))
    except (re.error, OverflowError):
        return True


def _entry(entry: Element) -> str:
    """The entry without its version: an update of what is trusted is not one more."""
    said = {name: entry.get(name, "") for name in _FIELDS if name != "version"}
    plain = entry.get("regex") != "true"
    if plain and entry.get("version"):
        said["file"] = said["file"].replace(entry.get("version", ""), "")
    return " ".join(f'{name}="{value}"' for name, value in said.items() if value) or "everything"


def _nuget(root: Element, text: str, path: str) -> Iterator[Width]:
    signers = list[str]()
    for signer in (*below(root, "trustedsigners", "author"), *below(root, "trustedsigners", "repository")):
        prints = [one.get("fingerprint", "").lower() for one in below(signer, "certificate")]
        owners = [name for one in below(signer, "owners") for name in re.split(r"[;,\s]+", one.text or "")]
        who = [name for name in owners if name] if owners else ["every owner"]
        signers += (
            prints if local(signer) == "author" else [f"{key} {name}" for key in prints for name in who]
        )
    said = ", ".join(signers)
    yield Width(
        "trusted", f"{path} trustedSigners", _line(text, "trustedSigners"), said[:120], members=signers
    )
    for one in below(root, "config", "add"):
        if one.get("key", "").lower() == "signaturevalidationmode":
            weak = float(one.get("value", "").lower() != "require")
            yield Width(
                "weaker",
                f"{path} signatures",
                _line(text, "signature"),
                "signatureValidationMode",
                measure=weak,
            )


def _line(text: str, needle: str) -> int:
    at = text.rfind(needle)
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def audit_widths(data: object, path: str, line_of: Line) -> Iterator[Width]:
    """cargo-vet: publishers whose releases nobody looks at, and projects whose audits count as the own ones.

    An exemption names one version and is a list of debts; these hold for what will be released.
    """
    if not isinstance(data, dict) or PurePosixPath(path).parent.name != "supply-chain":
        return
    publishers: dict[str, str] = {}
    for table in ("trusted", "wildcard-audits"):
        for crate, rows in _table(data.get(table)).items():
            for row in rows if isinstance(rows, list) else ():
                who = str(_table(row).get("user-id", _table(row).get("trusted-publisher", "")))
                publishers[f"user-id {who}"] = f"{table}.{crate}: user-id {who}"
    at = line_of(("wildcard-audits",) if "wildcard-audits" in data else ("trusted",)) or 1
    told = "; ".join(publishers.values())
    yield Width("trusted", f"{path} publishers", at, told[-200:], members=[*publishers])
    imports = _table(data.get("imports"))
    urls = [str(url) for row in imports.values() for url in _listed(_table(row).get("url"))]
    yield Width("trusted", f"{path} imports", line_of(("imports",)) or 1, ", ".join(urls)[:200], members=urls)


def image_policy_widths(data: object, path: str, line_of: Line) -> Iterator[Width]:
    """``policy.json`` of containers/image: from where images are taken that nobody signed."""
    if not isinstance(data, dict) or not isinstance(data.get("default"), list):
        return
    if not any("type" in _table(row) for row in data["default"]):
        return
    scopes = {"everything": data["default"]}
    for transport, places in _table(data.get("transports")).items():
        scopes |= {f"{transport}:{place}": rows for place, rows in _table(places).items()}
    free = [
        scope
        for scope, rows in scopes.items()
        if isinstance(rows, list) and any(_table(row).get("type") == _ACCEPTS for row in rows)
    ]
    at = line_of((_ACCEPTS,)) or 1
    said = f"{_ACCEPTS}: {', '.join(free)}"[:200]
    yield Width("trusted", f"{path} unsigned", at, said, members=free)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value] if value else []

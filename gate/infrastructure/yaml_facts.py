"""Kubernetes manifests, Helm templates, compose files and switches of any YAML settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gate.infrastructure.alternatives import alternative_widths
from gate.infrastructure.artifact_facts import artifact_facts
from gate.infrastructure.cache_keys import cloudformation
from gate.infrastructure.cluster_widths import cluster_widths, foreign_names
from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.infrastructure.interface_widths import interface_widths
from gate.infrastructure.kept_secrets import kept_secrets
from gate.infrastructure.policy_documents import nested_policies
from gate.infrastructure.route_facts import route_facts
from gate.infrastructure.settings import setting_widths
from gate.infrastructure.task_facts import task_facts
from gate.infrastructure.tool_code import data_code
from gate.infrastructure.trusted import trusted_keys
from gate.regex import regex
from gate.supply.yaml_data import Document, Path, items, leaves, mapping, read_yaml_documents

_TEMPLATE_LINE: Final = regex(rb"(?m)^[ \t]*\{\{-?[^}\n]*\}\}[ \t]*$")
_TEMPLATE: Final = regex(rb"(?<!\$)\{\{[^}\n]{0,400}\}\}")
_HOST_PATHS: Final = (
    "/etc",
    "/root",
    "/proc",
    "/sys",
    "/boot",
    "/home",
    "/var/run",
    "/run",
    "/var/lib/kubelet",
)
_ANYBODY: Final = frozenset(("system:anonymous", "system:unauthenticated", "system:authenticated"))
_ADMIN: Final = frozenset(("cluster-admin", "system:masters"))
_STEPS_UP: Final = frozenset(("escalate", "bind", "impersonate"))
_SAFE: Final = (
    ("runAsNonRoot", "true"),
    ("readOnlyRootFilesystem", "true"),
    ("allowPrivilegeEscalation", "false"),
)
_SWITCH: Final = regex(
    r"(?:^|[._-])(?:auth\w*|oauth2?|oidc|saml|mfa|tls|ssl|mtls|https|rbac|csrf\w*|xsrf\w*|verif\w*|signature\w*"
    r"|encrypt\w*|networkpolic\w*|security\w*|podsecurity\w*|audit\w*|ratelimit\w*|acl|pkce|protect(?:ed|ion)|enforce\w*"
    r"|required?[_-](?:pull|status|code|signed|linear|conversation|approv|review)\w*|force[_-]push\w*"
    r"|(?:allow[_-])?auto-?merge)(?:$|[._-])",
    re.IGNORECASE,
)
_CAMEL: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_ON: Final = frozenset(("true", "yes", "on", "required", "enabled", "strict", "enforce"))
_OFF: Final = frozenset(("false", "no", "off", "none", "disabled", "permissive", "optional"))
_NOTHING: Final = frozenset(("null", "~", "", "none", "false"))
_INVERTED: Final = regex(
    r"skip|disable|insecure|allow|without|ignore|anonymous|dry|auto-?merge|force[_-]?push", re.IGNORECASE
)


def yaml_facts(data: bytes, path: str = "") -> FileFacts:
    """All documents of a text; template marks of Helm are taken out. Raises UnreadableYamlError."""
    plain = _TEMPLATE.sub(b"x", _TEMPLATE_LINE.sub(b"", data))
    facts: list[Fact] = []
    subjects: list[str] = []
    widths: list[Width] = []
    for number, document in enumerate(read_yaml_documents(plain)):
        root = mapping(document.data)
        named = _name(root)
        subjects.append(named or f"document {number}")
        widths += setting_widths(document.data, document.line, prefix=f"{named or path} ")
        widths += trusted_keys(document.data, path, document.line)
        widths += interface_widths(document.data, path, document.line)
        widths += alternative_widths(document.data, f"{named or path} ", document.line)
        widths += cloudformation(document.data, document.line)
        routed = [*route_facts(root, document.line)]
        routed += nested_policies(document.data, named or path, document.line)
        facts += [one for one in routed if isinstance(one, Fact)]
        widths += [one for one in routed if isinstance(one, Width)]
        for subject, fact in kept_secrets(document.data, document.line):
            subjects.append(subject)
            facts += [fact] if fact else []
        tasks = [*task_facts(document.data, document.line)]
        facts += [one for one in tasks if one.sort == "guard"]
        subjects += [one.subject for one in tasks]
        if named:
            facts += _kubernetes(root, named, document)
            widths += cluster_widths(root, named, document)
        for name, service in mapping(root.get("services")).items():
            subjects.append(f"service {name}")
            facts += _composed(mapping(service), f"service {name}", document, ("services", name))
        if not named:
            found = [*switches(leaves(document.data), document.line)]
            found += blocks_switched(document.data, document.line)
            facts += [fact for fact in found if fact.what == SWITCHED_ON]
            facts += artifact_facts(root, path, document)
            facts += data_code(document.data, data.decode("utf-8", "replace"), path)
            subjects += [fact.subject for fact in found]
    return FileFacts(facts=facts, subjects=subjects, widths=widths)


SWITCHED_ON: Final = "switched-on"


def switches(found: list[tuple[Path, str]], line_of: Callable[[Path], int | None]) -> Iterator[Fact]:
    """Settings that switch a protection on, and as ``switched-off`` those that could and do not."""
    for path, value in found:
        words = [str(part) for part in path if isinstance(part, str)]
        name = ".".join(words)
        spelt = ".".join(_CAMEL.sub("-", word) for word in words)
        low = value.strip().lower()
        if low not in _ON | _OFF or not _SWITCH.search(spelt):
            continue
        inverted = bool(_INVERTED.search(words[-1])) if words else False
        what = SWITCHED_ON if (low in _ON) is not inverted else "switched-off"
        yield Fact("guard", what, name, line_of(path) or 1, f"{name}: {value}")


def blocks_switched(data: object, line_of: Callable[[Path], int | None], path: Path = ()) -> Iterator[Fact]:
    """Protections that are on by being described (``required_reviews: {count: 2}``) and off by ``null``."""
    if len(path) > 60:
        return
    for index, value in enumerate(data if isinstance(data, list) else ()):
        yield from blocks_switched(value, line_of, (*path, index))
    for key, value in data.items() if isinstance(data, dict) else ():
        here = (*path, str(key))
        nothing = value is None or value == [] or value == {} or str(value).lower() in _NOTHING
        if _SWITCH.search(_CAMEL.sub("-", str(key))) and not _INVERTED.search(str(key)):
            described = isinstance(value, dict) and bool(value)
            if described or nothing:
                what = SWITCHED_ON if described else "switched-off"
                name = ".".join(part for part in here if isinstance(part, str))
                yield Fact(
                    "guard",
                    what,
                    f"{name} at all",
                    line_of(here) or 1,
                    f"{name}: {'…' if described else value}",
                )
        yield from blocks_switched(value, line_of, here)


def _name(root: Mapping[str, object]) -> str:
    if not root.get("apiVersion") or not root.get("kind"):
        return ""
    return f"{root['kind']}/{mapping(root.get('metadata')).get('name', '?')}"


def _kubernetes(root: Mapping[str, object], named: str, document: Document) -> Iterator[Fact]:
    kind = str(root["kind"])
    if kind in ("ClusterRoleBinding", "RoleBinding"):
        yield from _binding(root, named, document)
    elif kind in ("ClusterRole", "Role"):
        yield from _role(root, named, document)
    elif kind == "NetworkPolicy":
        yield Fact("guard", "network-policy", "network policies", document.line(()) or 1, named)
    elif kind == "Ingress":
        notes = mapping(mapping(root.get("metadata")).get("annotations"))
        for key, value in notes.items():
            at = document.line(("metadata", "annotations", key)) or 1
            if re.search(r"/auth-(?:url|secret|type|tls-secret)$|whitelist-source-range$", key):
                yield Fact("guard", "authentication", f"{named} {key}", at, f"{key}: {value}")
    for path, spec in _pods(root, ()):
        yield from _pod(spec, path, named, document)


def _pods(data: object, path: Path) -> Iterator[tuple[Path, Mapping[str, object]]]:
    if isinstance(data, dict):
        if isinstance(data.get("containers"), list):
            yield path, data
            return
        for key, value in data.items():
            yield from _pods(value, (*path, key))


def _pod(spec: Mapping[str, object], path: Path, named: str, document: Document) -> Iterator[Fact]:
    if spec.get("hostNetwork") == "true":
        yield Fact(
            "grant", "host-network", named, document.line((*path, "hostNetwork")) or 1, "hostNetwork: true"
        )
    for index, volume in enumerate(items(spec.get("volumes"))):
        place = str(mapping(mapping(volume).get("hostPath")).get("path", ""))
        trimmed = place.rstrip("/") or place
        if trimmed == "/" or trimmed.startswith(_HOST_PATHS):
            at = document.line((*path, "volumes", index, "hostPath", "path")) or 1
            yield Fact("grant", "host-files", f"{named} {trimmed}", at, f"hostPath: {place}")
    for index, alias in enumerate(items(spec.get("hostAliases"))):
        names = [str(name) for name in items(mapping(alias).get("hostnames"))]
        at = document.line((*path, "hostAliases", index)) or 1
        yield from foreign_names(named, [(name, str(mapping(alias).get("ip", ""))) for name in names], at)
    yield from _confined(mapping(spec.get("securityContext")), (*path, "securityContext"), named, document)
    for key in ("containers", "initContainers"):
        for index, container in enumerate(items(spec.get(key))):
            one = mapping(container)
            who = f"{named} {one.get('name', index)}"
            yield from _confined(
                mapping(one.get("securityContext")), (*path, key, index, "securityContext"), who, document
            )


def _confined(context: Mapping[str, object], path: Path, who: str, document: Document) -> Iterator[Fact]:
    for key, value in _SAFE:
        if str(context.get(key, "")).lower() == value:
            yield Fact(
                "guard", "confinement", f"{who} {key}", document.line((*path, key)) or 1, f"{key}: {value}"
            )
    if "ALL" in items(mapping(context.get("capabilities")).get("drop")):
        at = document.line((*path, "capabilities", "drop")) or 1
        yield Fact("guard", "confinement", f"{who} drop", at, "capabilities: drop: ALL")


def _binding(root: Mapping[str, object], named: str, document: Document) -> Iterator[Fact]:
    role = str(mapping(root.get("roleRef")).get("name", ""))
    for index, subject in enumerate(items(root.get("subjects"))):
        name = str(mapping(subject).get("name", ""))
        at = document.line(("subjects", index)) or 1
        if name in _ANYBODY:
            yield Fact("grant", "to-anybody", f"{role} {name}", at, f"{role} to {name}")
        elif role in _ADMIN:
            yield Fact("grant", "cluster-admin", f"{role} {name}", at, f"{named}: {role} to {name}")


def _role(root: Mapping[str, object], named: str, document: Document) -> Iterator[Fact]:
    for index, rule in enumerate(items(root.get("rules"))):
        verbs, over = items(mapping(rule).get("verbs")), items(mapping(rule).get("resources"))
        at = document.line(("rules", index)) or 1
        if "*" in verbs and "*" in over:
            yield Fact("grant", "every-right", named, at, "verbs: * on resources: *")
        elif up := _STEPS_UP.intersection(map(str, verbs)):
            yield Fact(
                "grant", "escalates", f"{named} {' '.join(sorted(up))}", at, f"verbs: {', '.join(sorted(up))}"
            )


def _composed(service: Mapping[str, object], who: str, document: Document, path: Path) -> Iterator[Fact]:
    """What a compose file confines; what it gives away is the rule container.host-access's."""
    extra = service.get("extra_hosts")
    pairs = (
        list(extra.items())
        if isinstance(extra, dict)
        else [re.split("[:=]", str(one), maxsplit=1) for one in items(extra)]
    )
    named = [(str(pair[0]), str(pair[1]).strip("[]")) for pair in pairs if len(pair) > 1]
    yield from foreign_names(who, named, document.line((*path, "extra_hosts")) or 1)
    if service.get("read_only") == "true":
        yield Fact(
            "guard",
            "confinement",
            f"{who} read_only",
            document.line((*path, "read_only")) or 1,
            "read_only: true",
        )
    user = str(service.get("user", ""))
    if user and user.partition(":")[0] not in ("0", "root"):
        yield Fact("guard", "own-user", who, document.line((*path, "user")) or 1, f"user: {user}")
    for index, option in enumerate(items(service.get("security_opt"))):
        if str(option).startswith("no-new-privileges"):
            at = document.line((*path, "security_opt", index)) or 1
            yield Fact("guard", "confinement", f"{who} no-new-privileges", at, str(option))
    if "ALL" in items(service.get("cap_drop")):
        yield Fact(
            "guard",
            "confinement",
            f"{who} cap_drop",
            document.line((*path, "cap_drop")) or 1,
            "cap_drop: ALL",
        )

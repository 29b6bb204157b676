"""Kubernetes objects by how much they let through: rights, peers of network policies, what Argo CD takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final

from gate.infrastructure.facts import Fact, Width
from gate.regex import regex
from gate.supply.yaml_data import Document, items, leaves, mapping

_GRAVE: Final = regex(
    r"^(?:\*|\*/\*|secrets|pods/(?:exec|attach|ephemeralcontainers)|nodes/proxy|serviceaccounts/token"
    r"|(?:cluster)?role(?:binding)?s|certificatesigningrequests(?:/\w+)?|\w*webhookconfigurations)$"
)
_ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_LEVELS: Final = {"restricted": 0.0, "baseline": 1.0, "privileged": 2.0}
_PINNED: Final = regex(r"^v?\d+(?:\.\d+){0,3}(?:[-+][\w.]+)?$|^[0-9a-f]{7,40}$|^refs/tags/|.*@")


def cluster_widths(root: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    """Of one object of the cluster, called ``kind/name``."""
    kind = str(root["kind"])
    if kind in ("Role", "ClusterRole"):
        yield from _rights(root, named, document)
    elif kind == "NetworkPolicy":
        yield from _peers(mapping(root.get("spec")), named, document)
    elif kind in ("Application", "ApplicationSet"):
        yield from _deployed(mapping(root.get("spec")), named, document)
    elif kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        yield from _admission(root, named, document)
    elif kind == "Ingress":
        yield from _log_in(root, named, document)
    elif kind == "Namespace":
        yield from _enforced(root, named, document)


def _enforced(root: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    """What pods of a namespace may be: the label that the cluster heeds, not those that warn."""
    value = str(mapping(mapping(root.get("metadata")).get("labels")).get(_ENFORCE, "privileged"))
    far = _LEVELS.get(value.lower())
    at = document.line(("metadata", "labels", _ENFORCE)) or document.line(("metadata",)) or 1
    if far is not None:
        yield Width("weaker", f"{named} {_ENFORCE}", at, f"{_ENFORCE}: {value}"[:120], measure=far)


def _admission(root: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    """Webhooks that may refuse an object: whether one that does not answer lets it in, and what they see."""
    for index, one in enumerate(items(root.get("webhooks"))):
        hook = mapping(one)
        who = f"{named} {hook.get('name', index)}"
        failure = str(hook.get("failurePolicy", "Fail"))
        at = document.line(("webhooks", index, "failurePolicy")) or document.line(("webhooks", index)) or 1
        measure = float(failure.lower() == "ignore")
        yield Width("weaker", f"{who} failure", at, f"failurePolicy: {failure}", measure=measure)
        for key in ("matchConditions", "namespaceSelector", "objectSelector"):
            said = [value for path, value in leaves(hook.get(key)) if path[-1:] != ("name",)]
            terms = sum(value.count("&&") + 1 for value in said)
            line = document.line(("webhooks", index, key)) or at
            text = f"{key}: {'; '.join(said) or 'everything'}"[:120]
            yield Width("weaker", f"{who} {key}", line, text, measure=float(terms))
        seen = [
            f"{operation} {resource}"
            for rule in items(hook.get("rules"))
            for operation in items(mapping(rule).get("operations"))
            for resource in items(mapping(rule).get("resources"))
        ]
        line = document.line(("webhooks", index, "rules")) or at
        yield Width("covered", f"{who} rules", line, ", ".join(seen)[:120], members=seen)


def foreign_names(who: str, pairs: Iterable[tuple[str, str]], line: int) -> Iterator[Fact]:
    """Names that are given an address of the internet, past every name server."""
    for name, address in pairs:
        try:
            inside = ip_address(address).is_private and not address.startswith(
                ("203.0.113.", "198.51.100.", "192.0.2.")
            )
        except ValueError:
            continue
        if not inside:
            yield Fact("grant", "sent-elsewhere", f"{who} {name} {address}", line, f"{name} is {address}")


def is_grave(resource: str) -> bool:
    """Does a right on this resource give away secrets or further rights?"""
    return bool(_GRAVE.search(resource))


def _rights(root: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    for index, rule in enumerate(items(root.get("rules"))):
        verbs, over = (items(mapping(rule).get(key)) for key in ("verbs", "resources"))
        members = [
            f"{verb} {resource}"
            for verb in map(str, verbs)
            for resource in map(str, over)
            if verb == "*" or _GRAVE.search(resource)
        ]
        at = document.line(("rules", index)) or 1
        yield Width("more-rights", f"{named} rights", at, ", ".join(members)[:120], members=members)


def _peers(spec: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    for way, whom in (("ingress", "from"), ("egress", "to")):
        members: list[str] = []
        rules = spec.get(way)
        for rule in rules if isinstance(rules, list) else ():
            peers = mapping(rule).get(whom)
            members += [_peer(peer) for peer in items(peers)] if peers else ["*"]
        at = document.line(("spec", way)) or 1
        if way in spec or way.capitalize() in items(spec.get("policyTypes")):
            text = f"{way}: {', '.join(members) or 'nobody'}"[:120]
            yield Width("trusted", f"{named} {way}", at, text, members=members)


def _peer(peer: object) -> str:
    said = leaves(peer)
    block = mapping(mapping(peer).get("ipBlock")).get("cidr")
    if block:
        return str(block)
    return " ".join(f"{'.'.join(map(str, path))}={value}" for path, value in said) or "*"


def _deployed(spec: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    """A pinned version, a branch that moves, a pull request that anybody opens; the project's bounds."""
    sources = [mapping(spec.get("source")), *(mapping(one) for one in items(spec.get("sources")))]
    for number, source in enumerate(one for one in sources if one):
        revision = str(source.get("targetRevision", "HEAD"))
        loose = 2.0 if "refs/pull" in revision or "merge-requests" in revision else 1.0
        measure = 0.0 if _PINNED.match(revision) else loose
        at = document.line(("spec", "source", "targetRevision")) or 1
        yield Width(
            "weaker", f"{named} revision {number}", at, f"targetRevision: {revision}", measure=measure
        )
    project = str(spec.get("project", ""))
    at = document.line(("spec", "project")) or 1
    yield Width(
        "weaker", f"{named} project", at, f"project: {project}", measure=1.0 if project == "default" else 0.0
    )


def _log_in(root: Mapping[str, object], named: str, document: Document) -> Iterator[Width]:
    """Which service an Ingress asks whether somebody may in."""
    for key, value in mapping(mapping(root.get("metadata")).get("annotations")).items():
        if key.endswith(("/auth-url", "/auth-signin")):
            at = document.line(("metadata", "annotations", key)) or 1
            origin = "/".join(str(value).split("/")[:3])
            yield Width("trusted", f"{named} {key}", at, f"{key}: {value}"[:120], members=[origin])

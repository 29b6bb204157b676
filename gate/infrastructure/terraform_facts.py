"""Terraform and OpenTofu: who may come in, who may do what, what is public. Policies in JSON, too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from gate.infrastructure.cache_keys import policy_block
from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.infrastructure.image_owners import unowned_image
from gate.infrastructure.policy_widths import REFERENCE, all_but, flat, holds_nobody, statement_widths
from gate.infrastructure.settings import named_width
from gate.languages import hcl
from gate.regex import regex

if TYPE_CHECKING:  # a grammar is needed where files are read, not where results are published
    from tree_sitter import Node

_WORLD: Final = frozenset(("0.0.0.0/0", "::/0", "*", "Internet"))
_WEB: Final = frozenset((80, 443))
_GRAVE: Final = (
    22,
    23,
    445,
    1433,
    1521,
    2375,
    2376,
    2379,
    3306,
    3389,
    5432,
    5601,
    5900,
    5985,
    6379,
    6443,
    8500,
)
_GRAVE_TOO: Final = (9200, 9300, 10250, 11211, 27017)
_OWNERS: Final = ("AdministratorAccess", "IAMFullAccess", "PowerUserAccess")
_PRINCIPALS: Final = frozenset(("allUsers", "allAuthenticatedUsers"))
_GUARDED: Final = {
    "storage_encrypted": "encryption",
    "encrypted": "encryption",
    "enable_key_rotation": "encryption",
    "deletion_protection": "deletion-protection",
    "enable_deletion_protection": "deletion-protection",
    "prevent_destroy": "deletion-protection",
    "is_multi_region_trail": "recorded",
    "include_global_service_events": "recorded",
    "enable_log_file_validation": "recorded",
    "enable_logging": "recorded",
    "enable_flow_logs": "recorded",
    "log_connections": "recorded",
    "point_in_time_recovery_enabled": "deletion-protection",
    "block_public_acls": "public-block",
    "block_public_policy": "public-block",
    "ignore_public_acls": "public-block",
    "restrict_public_buckets": "public-block",
    "uniform_bucket_level_access": "public-block",
    "enable_https_traffic_only": "transport",
    "https_traffic_only_enabled": "transport",
    "require_ssl": "transport",
    "transit_encryption_enabled": "transport",
}
_UNGUARDS: Final = {
    "force_destroy": "deletion-protection",
    "force_delete": "deletion-protection",
    "skip_final_snapshot": "deletion-protection",
    "insecure_ssl": "transport",
    "insecure_skip_verify": "transport",
    "public_network_access_enabled": "public-block",
}
"""Attributes that guard by being ``false``; of several, that is also what holds without them."""
_PROTECTS: Final = (
    "protect",
    "encrypt",
    "auth",
    "tls",
    "ssl",
    "block_public",
    "mfa",
    "waf",
    "audit",
    "verify",
)
_SHOWN: Final = regex(r"\bnonsensitive\s*\(")
_HANDS_ON: Final = frozenset({
    "roles/iam.securityAdmin", "roles/iam.serviceAccountTokenCreator", "roles/iam.serviceAccountKeyAdmin",
    "roles/iam.roleAdmin", "roles/resourcemanager.projectIamAdmin", "roles/resourcemanager.folderIamAdmin",
    "roles/resourcemanager.organizationAdmin", "User Access Administrator",
    "Role Based Access Control Administrator",
})  # fmt: skip
"""Roles of Google's and Microsoft's clouds that give rights to others, or take them."""
_DEEPEST: Final = 40

Value = str | list["Value"] | dict[str, "Value"]


def terraform_facts(data: bytes, path: str = "") -> FileFacts:
    """Every block of a file."""
    found: list[Fact | Width] = []
    subjects: list[str] = []
    places: dict[str, int] = {}
    root = hcl.parse(data)
    for (kind, *labels), block in hcl.blocks(root):
        subject = " ".join((kind, *labels))
        subjects.append(subject)
        places.setdefault(subject, block.start_point[0] + 1)
        _place(block, subject, places)
        found += _block(block, labels[0] if labels else kind, subject)
    for name, expression in hcl.attributes(root):
        subjects.append(f"{path} variable {name}")
        found += _variable(name, _value(expression), path, expression.start_point[0] + 1)
    return msgspec.structs.replace(FileFacts.of(found, subjects), places=places)


def _place(block: Node, subject: str, places: dict[str, int], depth: int = 0) -> None:
    """The line of each attribute, so that a guard that is off is told where it is switched off."""
    for name, expression in hcl.attributes(block):
        places.setdefault(f"{subject} {name}", expression.start_point[0] + 1)
    for _, child in hcl.blocks(block) if depth < _DEEPEST else ():
        _place(child, subject, places, depth + 1)


def _variable(name: str, value: Value, path: str, line: int) -> Iterator[Fact | Width]:
    """What a ``.tfvars`` file sets at its top: the values that a module is applied with."""
    subject = f"{path} variable {name}"
    yield from named_width(name, value, subject, line)
    protects = any(word in name.lower() for word in _PROTECTS)
    if protects and value == ("false" if "skip" in name or "disable" in name else "true"):
        yield Fact("guard", "switched-on", subject, line, f"{name} = {value}")


def policy_facts(text: str, subject: str, line: int = 1) -> Iterator[Fact | Width]:
    """A policy document of a cloud in JSON. Text that is none yields nothing."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(found, dict):
        yield from statement_facts(found, subject, line)


def statement_facts(policy: Mapping[str, object], subject: str, line: int) -> Iterator[Fact | Width]:
    """What the statements of one policy allow."""
    statements = policy.get("Statement", policy.get("statement", []))
    for one in statements if isinstance(statements, list) else [statements]:
        if not isinstance(one, dict):
            continue
        low = {key.lower(): value for key, value in one.items()}
        if str(low.get("effect", "Allow")).lower() != "allow":
            continue
        actions, over = (
            flat(low.get("action", low.get("actions"))),
            flat(low.get("resource", low.get("resources"))),
        )
        if {"*", "*:*"} & actions and "*" in over:
            yield Fact("grant", "every-right", subject, line, "Allow * on *")
        yield from statement_widths(low, subject, line)
        who = flat(low.get("principal", low.get("principals")))
        yield from all_but(low, subject, line)
        if "*" in who and holds_nobody(low.get("condition")):
            yield Fact("grant", "to-anybody", subject, line, f"Allow {' '.join(sorted(actions))[:80]} to *")


def _block(block: Node, kind: str, subject: str, depth: int = 0) -> Iterator[Fact | Width]:
    """The attributes of a block as plain values, then the blocks in it."""
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for name, expression in hcl.attributes(block):
        values[name] = _value(expression)
        lines[name] = expression.start_point[0] + 1
    inner = list(hcl.blocks(block)) if depth < _DEEPEST else []
    line = block.start_point[0] + 1
    yield from _attributes(values, lines, subject)
    yield from _opened(kind, values, subject, line)
    yield from policy_block(kind, values, subject, lines.get("items", line))
    filters = [_filter(child) for (name, *_), child in inner if name == "filter"]
    yield from unowned_image(kind, values, filters, subject, line)
    if kind == "statement":
        conditions = _conditions(inner)
        who = {f"{no}principals": _identifiers(inner, f"{no}principals") for no in ("", "not_")}
        yield from statement_facts({"Statement": [values | who | conditions]}, subject, line)
    for (name, *_), child in inner:
        # What comes in is a block of the rule's own; everything else keeps its resource's kind.
        yield from _block(child, name, subject, depth + 1)


def _filter(block: Node) -> tuple[str, frozenset[str]]:
    said = {name: _value(expression) for name, expression in hcl.attributes(block)}
    return str(said.get("name", "")), frozenset(flat(said.get("values")))


def _identifiers(blocks: list[tuple[list[str], Node]], called: str) -> Value:
    return [
        _value(expression)
        for (kind, *_), block in blocks
        if kind == called
        for name, expression in hcl.attributes(block)
        if name == "identifiers"
    ]


def _conditions(blocks: list[tuple[list[str], Node]]) -> dict[str, Value]:
    """Blocks of conditions as a document in JSON writes them: operator, variable, values."""
    found: dict[str, Value] = {}
    for (kind, *_), block in blocks:
        if kind == "condition":
            said = {name: _value(expression) for name, expression in hcl.attributes(block)}
            inner = found.setdefault(str(said.get("test", "")), {})
            if isinstance(inner, dict):
                inner[str(said.get("variable", ""))] = said.get("values", [])
    return {"condition": found} if found else {}


def _attributes(values: dict[str, Value], lines: dict[str, int], subject: str) -> Iterator[Fact | Width]:
    for name, value in values.items():
        at, text = lines[name], f"{name} = {value}"[:120]
        yield from _worth(name, value, subject, at)
        if name == "sensitive" and value == "true":
            yield Fact("guard", "secret", f"{subject} {name}", at, text)
        if any(_SHOWN.search(one) for one in flat(value)):
            yield Fact("grant", "secret-shown", f"{subject} {name}", at, text)
        if name in _GUARDED and value == "true":
            yield Fact("guard", _GUARDED[name], f"{subject} {name}", at, text)
        if name in _UNGUARDS and value in ("true", "false"):
            yield Width("weaker", f"{subject} {name}", at, text, measure=float(value == "true"))
        if _is_public(name, value):
            yield Fact("grant", "public-data", f"{subject} {name}", at, text)
        elif name in ("member", "members") and _PRINCIPALS & flat(value):
            yield Fact("grant", "to-anybody", subject, at, text)
        elif what := _role(name, str(value)):
            yield Fact(
                "grant",
                what,
                f"{subject} {str(value).rpartition('/')[2] if name == 'policy_arn' else value}",
                at,
                text,
            )
        elif isinstance(value, dict):
            yield from statement_facts(value, subject, at)
        elif isinstance(value, str) and "Statement" in value:
            yield from policy_facts(value, subject, at)


def _role(name: str, value: str) -> str:
    """What a role or a policy of the cloud's own gives, where that is everything, or the right to give."""
    if name in ("role", "role_definition_name") and value in _HANDS_ON:
        return "escalates"
    whole = (name == "policy_arn" and value.endswith(_OWNERS)) or (
        (name, value) in (("role", "roles/owner"), ("role", "roles/editor"))
    )
    azure = name == "role_definition_name" and value in ("Owner", "Contributor")
    return "every-right" if whole or azure else ""


def _is_public(name: str, value: Value) -> bool:
    if name in ("publicly_accessible", "allow_nested_items_to_be_public", "allow_blob_public_access"):
        return value == "true"
    if name == "container_access_type":
        return value in ("blob", "container")
    return name == "acl" and str(value).startswith("public-")


def _worth(name: str, value: Value, subject: str, line: int) -> Iterator[Width]:
    """A value by the name of its setting; whom references of the same project name is not known here."""
    if name == "owners" and subject.startswith("data "):
        name = "trusted_accounts"
    elif name in ("member", "members", "thumbprint_list", "client_id_list"):
        name = "trusted_identities"
    for width in named_width(name, value, f"{subject} {name}", line):
        members = [one for one in width.members if not REFERENCE.match(one)]
        yield msgspec.structs.replace(width, members=members)


def _opened(kind: str, values: dict[str, Value], subject: str, line: int) -> Iterator[Fact]:
    sources = flat(values.get("cidr_blocks")) | flat(values.get("ipv6_cidr_blocks"))
    sources |= (
        flat(values.get("source_ranges")) | flat(values.get("cidr_ipv4")) | flat(values.get("cidr_ipv6"))
    )
    sources |= flat(values.get("source_address_prefix")) | flat(values.get("cidr_block"))
    if not sources & _WORLD or kind == "egress" or "route" in kind:
        return
    direction = str(values.get("type", values.get("direction", "ingress"))).lower()
    if direction in ("egress", "outbound") or str(values.get("access", "allow")).lower() == "deny":
        return
    ends = [_port(values.get(name)) for name in ("from_port", "to_port", "destination_port_range")]
    known = [port for port in ends if port is not None]
    first, last = (min(known), max(known)) if known else (0, 65535)
    everything = not known or (first <= 0 and last in (0, -1)) or last - first > 1000
    text = f"{first}-{last} from {' '.join(sorted(sources & _WORLD))}"
    if everything or any(first <= port <= last for port in _GRAVE + _GRAVE_TOO):
        yield Fact("grant", "open-port", f"{subject} {text}", line, text)
    elif not (first == last and first in _WEB):
        yield Fact("grant", "open-other-port", f"{subject} {text}", line, text)


def _port(value: Value | None) -> int | None:
    try:
        return int(str(value)) if value is not None else None
    except ValueError:
        return None


def _value(node: Node, depth: int = 0) -> Value:
    """Plain data of an expression; what is computed stands as its text."""
    if depth > _DEEPEST:
        return ""
    if (
        node.type in ("expression", "literal_value", "collection_value", "template_expr")
        and node.named_child_count == 1
    ):
        return _value(node.named_children[0], depth + 1)
    if node.type == "tuple":
        inside = [one for one in node.named_children if one.type == "expression"]
        return [_value(one, depth + 1) for one in inside]
    if node.type == "object":
        found: dict[str, Value] = {}
        for one in node.named_children:
            key, value = one.child_by_field_name("key"), one.child_by_field_name("val")
            if key is not None and value is not None:
                found[str(_value(key, depth + 1))] = _value(value, depth + 1)
        return found
    if node.type == "function_call":
        name = (node.named_children[0].text or b"").decode("utf-8", "replace")
        arguments = [one for one in node.named_children if one.type == "function_arguments"]
        if name in ("jsonencode", "toset", "tolist", "concat") and arguments and arguments[0].named_children:
            return _value(arguments[0].named_children[0], depth + 1)
    if node.type in ("string_lit", "quoted_template", "heredoc_template"):
        parts = [
            one for one in node.named_children if one.type in ("template_literal", "template_interpolation")
        ]
        return "".join((part.text or b"").decode("utf-8", "replace") for part in parts)
    return (node.text or b"").decode("utf-8", "replace")

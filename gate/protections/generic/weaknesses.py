"""What takes a protection away by being there, in languages other than Python and JavaScript: as tables.

Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.protections.facts import Family, Guard, Weakness
from gate.protections.generic.conditions import short_name_of
from gate.protections.tree_sitter.shapes import (
    arguments,
    callee,
    is_call,
    line_of,
    short_name,
    text_of,
)
from gate.protections.tree_sitter.traits import given_paths
from gate.protections.vocabulary import family_of, is_opening

_CUT: Final = 160
_OPENINGS: Final[dict[str, Family]] = {
    "permit_all": "authorisation", "allow_anonymous": "authentication", "ignore_antiforgery_token": "csrf",
    "disable_antiforgery": "csrf", "danger_accept_invalid_certs": "integrity", "verify_none": "integrity",
    "danger_accept_invalid_hostnames": "integrity", "insecure_skip_verify": "integrity",
    "parse_unverified": "integrity", "without_claims_validation": "integrity",
    "without_middleware": "authentication",
    "unsafe_allow_none_signature_type": "integrity", "insecure_disable_signature_validation": "integrity",
    "dangerous_accept_any_server_certificate_validator": "integrity", "noop_hostname_verifier": "integrity",
    "skip_authorization": "authorisation", "skip_authorization_check": "authorisation",
    "csrf_exempt": "csrf", "public_endpoint": "authentication", "skip_auth": "authentication",
    "unauthenticated_access": "authentication", "allow_unauthenticated_access": "authentication",
}  # fmt: skip
"""Names that open by being called, used or annotated with."""
_ON: Final[dict[str, Family]] = {
    "insecure_skip_verify": "integrity", "danger_accept_invalid_certs": "integrity",
    "danger_accept_invalid_hostnames": "integrity", "allow_any_origin_with_credentials": "csrf",
}  # fmt: skip
"""Dangerous when they are true."""
_OFF: Final[dict[str, Family]] = {
    "validate_issuer": "integrity", "validate_audience": "integrity", "validate_lifetime": "integrity",
    "validate_issuer_signing_key": "integrity", "require_https_metadata": "integrity",
    "require_signed_tokens": "integrity",
    "require_expiration_time": "integrity", "verify_peer": "integrity", "verify_peer_name": "integrity",
    "force_ssl": "setting", "curlopt_ssl_verifypeer": "integrity", "curlopt_ssl_verifyhost": "integrity",
    "protect_from_forgery": "csrf", "allow_forgery_protection": "csrf", "validate_exp": "integrity",
    "require_authentication": "authentication", "auth_required": "authentication",
}  # fmt: skip
"""Dangerous when they are false."""
_ALIVE: Final = frozenset({
    "health", "healthz", "healthcheck", "ready", "readyz", "readiness", "live", "livez", "liveness", "alive",
    "ping", "up", "heartbeat", "version", "favicon.ico", "robots.txt",
})  # fmt: skip
_ANY: Final = ("=> true", "return true; }", "DangerousAcceptAnyServerCertificateValidator")
_CALLBACKS: Final = ("certificate_validation_callback", "custom_validation_callback")
_NEEDED: Final = ("http_only", "secure", "force_ssl", "require_https")
_NO: Final = ("false", "0", "nil", "null", "False", "FALSE")
_YES: Final = ("true", "1", "True", "TRUE")
_SKIPPING: Final = (
    "skip_before_action",
    "skip_before_filter",
    "skip_forgery_protection",
    "skip_around_action",
)
_DISABLED: Final[dict[str, Family]] = {
    "csrf": "csrf",
    "frame_options": "setting",
    "http_basic": "authentication",
}
_BEFORE: Final = (
    "before_action", "before_filter", "prepend_before_action", "append_before_action", "before",
)  # fmt: skip
_WIDE: Final = (
    "use", "middleware", "layer", "route_layer", "wrap", "wrap_fn", "filter", "add_filter",
    "add_filter_before",
    "before", "with",
)  # fmt: skip


def named_weaknesses(name: str, node: Node) -> Iterator[Weakness]:
    """An annotation that opens."""
    plain = snake(name)
    family = _OPENINGS.get(plain)
    if family is None and is_opening(name):
        family = family_of(plain.replace("exempt", "").replace("skip_", "")) or "authorisation"
    if family is not None:
        yield weakness(plain, family, node)


def call_weaknesses(node: Node) -> Iterator[Weakness]:
    """What one call opens."""
    called = callee(node)
    name = snake(short_name_of(called))
    given = [text_of(one) for one in arguments(node)]
    if name in _SKIPPING:
        for what in [text.strip(":'\"") for text in given if text.startswith((":", "'", '"'))] or ["all"]:
            family = "csrf" if "forgery" in name or "authenticity" in what else family_of(what)
            if family is not None:
                yield weakness(f"{name} {what}", family, node)
        return
    if (
        name == "disable"
        and (holder := snake(short_name_of(called.rpartition(".")[0].partition("(")[0]))) in _DISABLED
    ):
        yield weakness(f"{holder} disabled", _DISABLED[holder], node)
    elif name in _DISABLED and _is_disabling(node):
        yield weakness(f"{name} disabled", _DISABLED[name], node)
    elif name == "permit_all":
        yield from _permitted(node, called)
    elif name in _OFF and given[:1] and given[0] in _NO:
        yield weakness(f"{name} off", _OFF[name], node)
    elif name in _ON:
        if given[:1] != ["false"]:
            yield weakness(name, _ON[name], node)
    elif name == "curl_setopt" and len(given) == 3 and given[1].lower() in _OFF and given[2] in _NO:
        yield weakness(f"{given[1].lower()} off", "integrity", node)
    elif name in _OPENINGS and (name != "allow_anonymous" or ")" in called):
        yield weakness(name, _OPENINGS[name], node)


def _is_disabling(node: Node) -> bool:
    """``csrf(c -> c.disable())``, ``csrf(AbstractHttpConfigurer::disable)``, ``csrf { disable() }``."""
    rest = text_of(node).partition("csrf")[2] or text_of(node)
    words = rest.replace("(", " ").replace(")", " ").replace("{", " ").replace("}", " ")
    return any(word.replace("::", ".").rpartition(".")[2] == "disable" for word in words.split()[:8])


def _permitted(node: Node, called: str) -> Iterator[Weakness]:
    """``requestMatchers("/api/**").permitAll()``: of one page it is ordinary, of a whole tree it is not.

    One for each path, so that another page that is opened is no new permission for those beside it; pages
    that say whether the program lives are ordinary.
    """
    holder = node.child_by_field_name("object")
    paths = given_paths(holder)
    if paths:
        for path in paths:
            found = weakness(f"permit_all {path}"[:200], "authorisation", node)
            alive = not _ALIVE.isdisjoint(path.lower().split("/"))
            yield replace(found, mild=alive or "*" not in path)
        return
    whole = short_name_of(callee(holder)) if holder is not None and is_call(holder) else ""
    of = called.rpartition(".")[0].rpartition("atchers(")[2] or called.rpartition(".")[0]
    broad = "*" in of or "anyRequest" in called or '"' not in of
    found = weakness(f"permit_all {whole or of}"[:200], "authorisation", node)
    yield replace(found, mild=not broad)


def set_facts(left: Node, right: Node, node: Node) -> Iterator[Guard | Weakness]:
    """What a name that is given a value protects, or opens."""
    name, value = snake(short_name(left)), text_of(right)
    if name in _ON and value in _YES:
        yield weakness(name, _ON[name], node)
    elif name in _OFF and value in _NO:
        yield weakness(f"{name} off", _OFF[name], node)
    elif name == "verify_mode" and value.endswith("VERIFY_NONE") and "?" not in value:
        yield weakness("verify_none", "integrity", node)
    elif name in _NEEDED and value in _YES:
        yield Guard(
            family="setting",
            form="argument",
            must=(f"-{name}",),
            text=text_of(node)[:_CUT],
            line=line_of(node),
        )
    elif name.endswith(_CALLBACKS) and value.endswith(_ANY):
        yield weakness("any certificate", "integrity", node)


def excepted(name: str, values: Node, family: Family = "csrf") -> Iterator[Weakness]:
    """One more entry of a list of exceptions (Laravel's ``VerifyCsrfToken::$except``)."""
    for item in values.named_children:
        text = text_of(item).strip("'\"")
        yield weakness(f"{name} {text}", family, item)


def registered(node: Node) -> Iterator[tuple[str, Node]]:
    """Names of what a call puts before others: ``r.Use(auth.Required())``, ``UseAuthorization()``."""
    called = callee(node)
    name = snake(short_name_of(called))
    if name.startswith("use_") and family_of(name) is not None:
        yield short_name_of(called), node
    elif name in _WIDE and ("." in called or "->" in called or "::" in called or name == "use"):
        for one in arguments(node):
            many = one.named_children if "array" in one.type else [one]
            for item in many:
                yield (text_of(item).strip("'\"") if "string" in item.type else last_of(item)), item


def last_of(node: Node) -> str:
    """The last name of a call or a name."""
    return (
        short_name_of(callee(node).partition("(")[0])
        if "call" in node.type or "invocation" in node.type
        else short_name(node)
    )


def is_before(name: str) -> bool:
    """Does a call of this name put checks before every action of a class?"""
    return name in _BEFORE


def weakness(key: str, family: Family, node: Node) -> Weakness:
    """Something that opens, as a value."""
    return Weakness(key=key, family=family, text=text_of(node)[-_CUT:], line=line_of(node))

"""What a token is asked for, in Go, Java, Kotlin and Rust: whom it is for, who made it, whether it ends.

An option that is left out leaves a call that looks complete. Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.facts import Strength
from gate.protections.strengths import kept
from gate.protections.tree_sitter.shapes import callee, is_call, line_of, text_of

_ASKED: Final = "what a token is asked for"
_READERS: Final = frozenset({
    "parse", "parse_with_claims", "new_parser", "parser", "parser_builder", "require", "decode",
    "parse_string", "new_validator",
})  # fmt: skip
_OPTIONS: Final[dict[str, tuple[str, ...]]] = {
    "audience": ("with_audience", "require_audience", "set_audience", "with_any_of_audience"),
    "issuer": ("with_issuer", "require_issuer", "set_issuer"),
    "end": ("with_expiration_required", "set_required_spec_claims", "with_required_claim"),
    "algorithm": ("with_valid_methods", "with_key_set", "with_key"),
}  # fmt: skip


def token_strengths(node: Node) -> Iterator[Strength]:
    """Of one function that reads a token."""
    text = text_of(node).lower()
    if "jwt" not in text and "validation::" not in text:
        return
    calls = [n for n in walk(node, frozenset()) if is_call(n)]
    names = {_last(n): n for n in calls}
    reading = next((names[name] for name in sorted(_READERS & names.keys())), None)
    if reading is None or "..." in text or any(name in ("sign", "new_with_claims") for name in names):
        return
    for what, options in _OPTIONS.items():
        said = next((names[one] for one in options if one in names), None)
        at = said or reading
        shown = text_of(said)[-160:] if said is not None else f"no {what}: {callee(reading)[-80:]}"
        yield kept(f"{_ASKED}: {what}", said is not None, shown, line_of(at))


def _last(call: Node) -> str:
    dotted = callee(call).replace("::", ".").replace("->", ".")
    return snake(dotted.rpartition(".")[2])

"""Keys in a list, one of which may be empty: what is signed with an empty key is then taken from anybody.

A key that is being rotated often is not set. Where the environment answers with an empty text, or the source
says so, whoever knows nothing makes the signature. Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.overall.said import plain
from gate.protections.traits import Fact, lapse
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

_LISTS: Final = frozenset({
    "array", "array_creation_expression", "literal_value", "array_initializer", "initializer_expression",
    "array_expression", "collection_expression", "collection_literal",
})  # fmt: skip
_ADDING: Final = frozenset({
    "append", "push", "add", "unshift", "list_of", "set_of", "of", "as_list", "array_of", "array_push",
    "vec", "<<",
})  # fmt: skip
_ASKED: Final = regex(
    r"(?:[Gg]etenv|env::var|ENV\b|process\.env|GetEnvironmentVariable|\$_(?:ENV|SERVER)|(?<![\w.])env\(|GetString|Config)"
)
_ALWAYS_TEXT: Final = regex(r"os\.Getenv\(|GetString\(|(?<![\w.])getenv\(")
_DEFAULT: Final = regex(
    r"""(?:\?\?|\|\||\?:|\bor\b)\s*(?:""|''|``|String\.Empty|string\.Empty)|,\s*(?:""|'')\s*\)"""
    r"""|unwrap_or_default|unwrap_or\(""|String::new|\.to_s\b|orElse\(""\)|orEmpty\("""
)
_NAME: Final = regex(r"[\"'.\[]([A-Za-z][A-Za-z0-9_]{2,})[\"'\])]?")
_SECRET: Final = regex(r"secret|(?:^|_)key(?:_|$)|hmac|sign")
_PUBLIC: Final = regex(r"public|key_id|path|file|name$|url")
_SIGNS: Final = regex(r"hmac|signature|verif|timingsafe|hash_equals|secure_compare|jwt", re.IGNORECASE)
_FILTERED: Final = regex(
    r"\.(?:filter\w*|compact\w*|reject|select|retain|Where|takeIf|present\?)\b|array_filter|filterNot|mapNotNull"
)
_EMPTY: Final = (
    r"(?:len\(\s*{0}\s*\)|{0}\s*[!=]==?\s*(?:\"\"|'')|!\s*{0}\b|empty\(\${0}\)|IsNullOrEmpty\(\s*{0}"
    r"|{0}\.(?:length|Length|size|isEmpty|isBlank|is_empty|empty\?|blank\?|present\?|isNotEmpty))"
)
"""A question whether something is empty; ``{0}`` is its name."""
_ONE: Final = r"\$?(?:key|secret|k|candidate|one|s)"
_MOST: Final = 200


def keyring_facts(node: Node) -> Iterator[Fact]:
    """Entries of a list, and what is added to one, that may be an empty key."""
    if node.type in _LISTS:
        entries = list(node.named_children)
    elif is_call(node) and plain(callee(node)) in _ADDING:
        entries = arguments(node)
    else:
        return
    for entry in entries[:_MOST]:
        text = text_of(entry)
        if len(text) > 200 or not _is_key(text):
            text = _origin(entry)
        if text and _is_key(text) and _may_be_empty(text) and not _is_asked(node, entry):
            key = "a key that may be empty"
            yield lapse("authentication", key, text, line_of(entry), anew=True)


def _is_key(text: str) -> bool:
    names = [snake(name) for name in _NAME.findall(text)]
    return _ASKED.search(text) is not None and any(
        _SECRET.search(one) and not _PUBLIC.search(one) for one in names
    )


def _may_be_empty(text: str) -> bool:
    return _ALWAYS_TEXT.search(text) is not None or _DEFAULT.search(text) is not None


def _origin(entry: Node) -> str:
    """What a name of the list was set to in the same function."""
    words = [n for n in walk(entry, frozenset()) if n.type in ("identifier", "variable_name")]
    function = _function(entry)
    if len(words) != 1 or function is None:
        return ""
    name = text_of(words[0])
    for node in walk(function, frozenset()):
        pair = assigned(node)
        if pair is not None and text_of(pair[0]).rpartition(" ")[2] == name and pair[1].id != entry.id:
            of = text_of(pair[1])
            tested = re.search(_EMPTY.format(re.escape(name)), text_of(function))
            return "" if tested or len(of) > 200 else of
    return ""


def _is_asked(node: Node, entry: Node) -> bool:
    """Is emptiness asked for, of each key or of the whole list, or does the file sign nothing?"""
    function, root = _function(node), node
    while root.parent is not None:
        root = root.parent
    whole = text_of(root)
    around = text_of(function) if function is not None else whole
    if not _SIGNS.search(whole) or _FILTERED.search(around):
        return True
    in_condition = entry.parent
    for _ in range(8):
        if in_condition is None or in_condition == function:
            break
        if in_condition.type.startswith(("if_", "conditional", "ternary", "if")):
            return True
        in_condition = in_condition.parent
    return re.search(_EMPTY.format(_ONE), whole) is not None


def _function(node: Node) -> Node | None:
    above = node.parent
    while above is not None and not (
        ("function" in above.type or "method" in above.type or above.type == "lambda")
        and above.child_by_field_name("body") is not None
    ):
        above = above.parent
    return above

"""What JavaScript, TypeScript and Go do where a digest is equal to a written one. Runs in the limited child.

Names are followed by their text within the file, however they are bound: a digest that is compared in a
callback, or written into a buffer, is compared all the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from tree_sitter import Node

from gate.dataclass import dataclass
from gate.languages.forcing.copies import GRAMMARS
from gate.languages.forcing.places import text_of
from gate.languages.script_guards.following import made_from
from gate.languages.script_guards.sql_grants import SqlGrant, sql_grants
from gate.languages.tree_sitter_parse import parse, walk
from gate.regex import regex

ENDINGS: Final = (*GRAMMARS, ".go", ".sql", ".psql", ".pgsql")
_DIGESTS: Final = regex(
    r"createHash|createHmac|digest|(?:hash|hmac)?(?:md5|sha1|sha224|sha256|sha384|sha512|crc32|blake2\w{0,2}|xxhash|murmur\w*)"
    r"|Sum(?:256|512|224|384|32|64)?|ChecksumIEEE|Checksum|hashSync",
    re.IGNORECASE,
)
_EQUALS: Final = frozenset({
    "timingSafeEqual", "equals", "Equal", "ConstantTimeCompare", "includes", "has", "compare", "EqualFold",
})  # fmt: skip
_SIGNS: Final = {"==": True, "===": True, "!=": False, "!==": False}
_HEX: Final = regex(r"(?:0x)?[0-9a-fA-F]{8,128}|(?=[^\s]*\d)[A-Za-z0-9+/_-]{24,88}={0,2}")
_PERSON: Final = regex(
    r"(?:^|_)(?:e?mail|user(?:_?name)?|login|passw(?:or)?d|passphrase|pin|otp|token|headers?|cookies?|request|req|remote_addr"
    r"|ip|phone|customer|account|member|secret|answer|credentials?|form_value)(?:_|$)"
)
_RIGHTS: Final = regex(
    r"(?:^|_)(?:is_?(?:staff|superuser|super|admin|root|owner|verified)|superuser|admin|roles?|permissions?|privileges?"
    r"|scopes?|password|groups?)$"
)
_LETS_IN: Final = regex(
    r"^(?:log_?in\w*|sign_?in|set_?password|make_?admin|grant\w*|add_?role\w*|impersonate\w*|set_?role\w*|elevate\w*"
    r"|promote\w*|issue_?token|sign_?token|create_?session)$"
)
_LOGS_IN: Final = regex(
    r"log_?in|sign_?in|authenticate|verify_?(?:user|password|credentials)|check_?password"
)
_BRANCHES: Final = frozenset({"if_statement", "ternary_expression"})
_NOTHING: Final = frozenset({"null", "undefined", "false", "nil", "0", '""', "''"})
_BOUND: Final = {
    "variable_declarator": ("name", "value"), "assignment_expression": ("left", "right"),
    "short_var_declaration": ("left", "right"), "const_spec": ("name", "value"),
    "var_spec": ("name", "value"), "assignment_statement": ("left", "right"),
    "function_declaration": ("name", "body"), "method_definition": ("name", "body"),
}  # fmt: skip
_FUNCTIONS: Final = frozenset({"function_declaration", "method_declaration", "method_definition"})
_TEXTS: Final = ("string_fragment", "interpreted_string_literal_content", "raw_string_literal_content")
_CAMEL: Final = regex(r"(?<=[a-z0-9])(?=[A-Z])")
_MOST: Final = 20
_MOST_BRANCHES: Final = 3_000
_ENTRIES: Final = 12
"""Places where one name gets a value that are followed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestGrant:
    """A place where who is known by a digest gets something. ``act``: what, in words; ``grave``: rights."""

    line: int
    last: int
    act: str
    grave: bool
    text: str


def read(path: str, data: bytes, options: Mapping[str, Any]) -> tuple[DigestGrant, ...]:
    """For gate/languages/limited_child.py."""
    del options
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in GRAMMARS and suffix != ".go":
        return tuple(map(_of_sql, sql_grants(data.decode("utf-8", "replace"))))[:_MOST]
    root = parse(data, "tree_sitter_go" if suffix == ".go" else GRAMMARS[suffix])
    return tuple(_found(root))[:_MOST]


def _of_sql(one: SqlGrant) -> DigestGrant:
    return DigestGrant(line=one.line, last=one.line, act=one.act, grave=one.grave, text=one.text)


def _found(root: Node) -> Iterator[DigestGrant]:
    names = _Names(root)
    count = 0
    for node in walk(root, frozenset()):
        if node.type not in _BRANCHES:
            continue
        count += 1
        test = node.child_by_field_name("condition")
        if test is None or count > _MOST_BRANCHES:
            continue
        asked = _asked(test, names)
        if asked is None:
            continue
        holds, is_person = asked
        if told := _act(_where(node, holds=holds), node, is_person=is_person):
            text = " ".join(text_of(test).split())[:160]
            line, last = test.start_point[0] + 1, test.end_point[0] + 1
            yield DigestGrant(line=line, last=last, act=told[0], grave=told[1], text=text)


class _Names:
    """Where the file's names get their values, and what is written into them."""

    def __init__(self, root: Node) -> None:
        self.values: dict[str, list[Node]] = defaultdict(list)
        for node in walk(root, frozenset()):
            if node.type in _BOUND:
                fields = _BOUND[node.type]
                name, value = node.child_by_field_name(fields[0]), node.child_by_field_name(fields[1])
                if name is not None and value is not None:
                    for one in [name, *name.named_children]:
                        self._add(text_of(one), value)
            elif node.type == "call_expression":
                callee, given = (node.child_by_field_name(f) for f in ("function", "arguments"))
                of = callee.child_by_field_name("object") if callee is not None else None
                if (
                    of is not None
                    and of.type == "identifier"
                    and _last(callee) in ("write", "set", "fill", "copy")
                ):
                    self._add(text_of(of), given)

    def _add(self, name: str, value: Node | None) -> None:
        if value is not None and len(self.values[name]) < _ENTRIES:
            self.values[name].append(value)

    def sources(self, node: Node) -> list[Node]:
        """What a name stands for."""
        return self.values.get(text_of(node), []) if node.type == "identifier" else []


def _asked(test: Node, names: _Names) -> tuple[bool, bool] | None:
    """Does the test compare a digest with a written one? Whether it holds when they are equal, and whether a
    value of a person is in it.
    """
    holds, compares, digests, written, person = True, False, False, False, False
    signs = [text_of(one.child_by_field_name("operator") or one) for one in walk(test, frozenset())
             if one.type == "binary_expression"]  # fmt: skip
    for sign in signs:
        compares = compares or sign in _SIGNS
    if signs and signs[0] in _SIGNS:
        holds = _SIGNS[signs[0]]
    for node in made_from(test, names.sources, frozenset()):
        if node.type == "call_expression":
            name = _last(node.child_by_field_name("function"))
            digests = digests or bool(_DIGESTS.fullmatch(name))
            compares = compares or name in _EQUALS
        elif node.type in _TEXTS:
            written = written or bool(_HEX.fullmatch(text_of(node)))
        elif node.type in ("identifier", "property_identifier", "field_identifier"):
            person = person or bool(_PERSON.search(_snake(text_of(node))))
    inner = (
        test.named_children[0] if test.type == "parenthesized_expression" and test.named_children else test
    )
    if inner.type == "unary_expression" and text_of(inner).startswith("!"):
        holds = not holds
    return (holds, person) if compares and digests and written else None


def _where(node: Node, *, holds: bool) -> list[Node]:
    """What runs where the digests are equal; what follows, where those that differ are sent away."""
    then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
    if holds:
        return [then] if then is not None else []
    if other is not None:
        return [other]
    is_silent = then is not None and all(
        not one.named_children or text_of(one.named_children[0]) in _NOTHING
        for one in walk(then, frozenset()) if one.type == "return_statement"
    ) and any(one.type == "return_statement" for one in walk(then, frozenset()))  # fmt: skip
    rest: list[Node] = []
    after = node.next_named_sibling
    while is_silent and after is not None and len(rest) < _ENTRIES:
        rest.append(after)
        after = after.next_named_sibling
    return rest


def _act(nodes: list[Node], branch: Node, *, is_person: bool) -> tuple[str, bool] | None:
    """What is done there, in words, and whether somebody gets rights by it."""
    ordinary = ""
    for part in (one for node in nodes for one in walk(node, frozenset())):
        if part.type in ("throw_statement", "panic"):
            return None
        name = _snake(_last(part.child_by_field_name("function"))) if part.type == "call_expression" else ""
        if name and _LETS_IN.search(name):
            return f"{name} is called", True
        if part.type in ("assignment_expression", "assignment_statement"):
            target = part.child_by_field_name("left")
            field = _snake(text_of(target).rpartition(".")[2]) if target is not None else ""
            if _RIGHTS.search(field):
                return "rights are set", True
            ordinary = ordinary or (
                "something is set" if target is not None and "." in text_of(target) else ""
            )
        if part.type == "return_statement" and part.named_children:
            first = text_of(part.named_children[0]).partition(",")[0].strip()
            ordinary = ordinary or ("" if first in _NOTHING else "something is handed back")
    if branch.type == "ternary_expression" and nodes and text_of(nodes[0]) not in _NOTHING:
        ordinary = ordinary or "something is handed back"
    if not ordinary or not is_person:
        return None
    return ordinary, ordinary == "something is handed back" and bool(_LOGS_IN.search(_function(branch)))


def _function(node: Node) -> str:
    """The name of the function around a branch."""
    above: Node | None = node
    while above is not None:
        if above.type in _FUNCTIONS and (name := above.child_by_field_name("name")) is not None:
            return _snake(text_of(name))
        above = above.parent
    return ""


def _last(node: Node | None) -> str:
    text = text_of(node) if node is not None else ""
    return text.rpartition(".")[2] if len(text) < 400 or "\n" not in text[-80:] else ""


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name[:100]).lower()

"""Takes a text apart with a tree-sitter grammar: what is comment, string, import; which nodes matter.

Only ever called in the limited child process: the grammars are C code that reads hostile text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import tree_sitter

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.matching import Hit, star_modules
from gate.languages.sensitive_calls.names import Bindings, module_parts, plain_name
from gate.languages.sensitive_calls.table import Language
from gate.languages.tree_sitter_parse import language_of
from gate.model.sensitive import SensitiveKind
from gate.regex import regex

_COMMENT: Final = regex(r"(?:\w*_)?comment|shebang|hash_bang_line|shebang_line")
_STRING: Final = regex(
    r"(?:(?:template|interpreted|raw|ansi_c|translated|line|multi_line|multiline|verbatim|interpolated|encapsed"
    r"|expandable|verbatim_here|expandable_here|unicode|hex|xml|bare|system_lib|prefixed|quoted|yul)_)*"
    r"(?:string|str|string_literal|string_expression|string_characters|lib_string|string_lit)|quoted_atom"
    r"|regex|regex_literal|rune_literal|char|char_literal|character|character_literal|charlist|sigil"
    r"|heredoc|heredoc_body|nowdoc|heredoc_template|jsx_text|command_literal|prefixed_command_literal|subshell"
    r"|shell_command_expression|quoted_template"
)
_INSERTED: Final = regex(
    r"interpolation|template_substitution|string_interpolation|interpolated_expression|raw_str_interpolation"
    r"|template_interpolation|interpolation_expression|command_substitution|process_substitution|expansion"
    r"|simple_expansion|sub_expression|dynamic_variable_name|member_call_expression|member_access_expression"
    r"|subscript_expression|variable|jsx_expression"
)
_BLOCK: Final = regex(
    r"block|body|program|source|module|file|chunk|suite|compound|statements|statement_list|script|section|document|do_group|case"
)
_DECLARED: Final = regex(
    r"(?:declarat|definition|signature|function_item|method\b|parameter|prototype|constructor|property_signature|function_statement)"
)
_FUNCTION: Final = regex(r"function|method|constructor|procedure|subroutine|fn_item|closure|lambda|\bdef")
_NO_FUNCTION: Final = frozenset(
    {"function_type", "method_call", "method_invocation", "function_call", "call_expression", "function_name"}
)
_CLASS: Final = regex(r"class|impl_item|interface_decl|object_decl|struct|trait|\Amodule\Z")
_GUARD: Final = regex(
    r"(?:if|while|for|switch|case|match|when|unless|try|guard|select|until|loop|else|elif|catch|except|rescue)"
    r"(?:_|\Z)"
)
_MOST_LINES: Final = 30
_MATCHES: Final = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Kinds:
    """Compiled queries of one grammar."""

    language: tree_sitter.Language
    ranges: tree_sitter.Query
    imports: tree_sitter.Query | None
    constructs: tuple[tuple[SensitiveKind, tree_sitter.Query], ...]


@cache
def kinds(language: Language, grammar: str) -> Kinds:
    """The grammar's queries, compiled once per process."""
    known = language_of(grammar)
    named = sorted(
        {
            name
            for index in range(known.node_kind_count)
            if known.node_kind_is_named(index)
            and known.node_kind_is_visible(index)
            and (name := known.node_kind_for_id(index))
        }
    )
    syntax = language.syntax
    parts = [f"({name}) @comment" for name in named if _COMMENT.fullmatch(name) or name in syntax.comments]
    parts += [f"({name}) @string" for name in named if _STRING.fullmatch(name) or name in syntax.strings]
    parts += [f"({name}) @inserted" for name in named if _INSERTED.fullmatch(name)]
    parts += [written if written.startswith("(") else f"({written}) @inert" for written in syntax.inert]
    return Kinds(
        language=known,
        ranges=tree_sitter.Query(known, "\n".join(parts)),
        imports=tree_sitter.Query(known, syntax.imports) if syntax.imports else None,
        constructs=tuple(
            (entry.kind, tree_sitter.Query(known, entry.query)) for entry in language.entries if entry.query
        ),
    )


class Parsed:
    """One text and its tree. ``code`` has strings, comments and imports blanked; line ends stay."""

    def __init__(self, language: Language, grammar: str, text: bytes) -> None:
        self.text = text
        self._kinds = kinds(language, grammar)
        self._modules = language.syntax.modules
        self._tree = tree_sitter.Parser(self._kinds.language).parse(text)
        self.root = self._tree.root_node
        ranges = self._captured(self._kinds.ranges)
        self.strings = tuple(_outside(ranges.get("string", []), ranges.get("comment", [])))
        self.code = bytearray(text)
        self.lines = bytearray(text)
        for start, end in ranges.get("comment", []):
            blank(self.lines, start, end)
        for start, end in ranges.get("inert", []):
            blank(self.lines, start, end)
        inside_out = sorted(
            [(*span, True) for name in ("comment", "string", "inert") for span in ranges.get(name, [])]
            + [(*span, False) for span in ranges.get("inserted", [])],
            key=lambda span: (span[0], -span[1]),
        )
        for start, end, hidden in inside_out:
            if hidden:
                blank(self.code, start, end)
            else:
                self.code[start:end] = text[start:end]

    def broken(self) -> float:
        """The share of the text that the grammar cannot make sense of, 0 to 1."""
        if not self.root.has_error:
            return 0.0
        spans = self._captured(tree_sitter.Query(self._kinds.language, "(ERROR) @error")).get("error", [])
        if self.root.type == "ERROR":
            spans.append((self.root.start_byte, self.root.end_byte))
        covered = end_before = 0
        for start, end in sorted(spans):
            covered += max(0, end - max(start, end_before))
            end_before = max(end, end_before)
        return covered / max(1, len(self.text.strip()))

    def bindings(self) -> Bindings:
        """What the text's imports bind names to."""
        names: dict[str, set[tuple[str, ...]]] = {}
        stars: list[str] = []
        if self._kinds.imports is None:
            return Bindings()
        cursor = tree_sitter.QueryCursor(self._kinds.imports)
        cursor.match_limit = _MATCHES
        for _, captured in cursor.matches(self.root):
            found = {name: self._written(nodes[0]) for name, nodes in captured.items()}
            module, name, alias = found.get("module", ""), found.get("name", ""), found.get("alias", "")
            module = module or found.get("assigned", "")
            if "star" in found:
                stars.append(module)
                continue
            parts = (*module_parts(module), *module_parts(name))
            if not alias and not name and self._modules == "last" and parts:
                alias = parts[-1].rsplit("/", 1)[-1]
            elif not alias and not name and self._modules == "path" and len(parts) > 1:
                alias = parts[-1]
            if parts and not alias and not name:  # ``import os.path``: the first part is what it is called
                parts = parts[:1]
            bound = plain_name(alias or (module_parts(name) or parts or ("",))[-1])
            if bound and parts:
                names.setdefault(bound, set()).add(parts)
                if "assigned" in found:  # in other scopes the name can be what it is called
                    names[bound].add((bound,))
        known = {name: frozenset(meanings) for name, meanings in names.items() if meanings != {(name,)}}
        return Bindings(names=known, stars=star_modules(stars))

    def constructs(self) -> Iterator[Hit]:
        """Nodes that the entries' queries name."""
        for kind, query in self._kinds.constructs:
            cursor = tree_sitter.QueryCursor(query)
            cursor.match_limit = _MATCHES
            for _, captured in cursor.matches(self.root):
                for node in captured.get("it", ()):
                    first = self._written(node).split("\n", 1)[0]
                    yield Hit(start=node.start_byte, end=node.end_byte, kind=kind, call=first[:80].strip())

    def declares(self, start: int, end: int) -> bool:
        """True where the name at these bytes is what is declared, not what is used."""
        leaf = self.root.descendant_for_byte_range(max(start, end - 1), end)
        if leaf is None or leaf.parent is None:
            return False
        parent = leaf.parent
        if not _DECLARED.search(parent.type) or parent.type == "ERROR":
            return False
        return any(parent.child_by_field_name(name) == leaf for name in ("name", "declarator"))

    def statement(self, start: int, end: int) -> tuple[int, int]:
        """Where the statement around these bytes is, or the call alone where that is long."""
        node = self.root.descendant_for_byte_range(start, max(start, end - 1))
        while node is not None and node.parent is not None and not _BLOCK.search(node.parent.type):
            node = node.parent
        if node is None or node.parent is None or node.end_point.row - node.start_point.row > _MOST_LINES:
            return start, end
        return min(start, node.start_byte), max(end, node.end_byte)

    def around(self, start: int, end: int) -> tuple[tuple[str, ...], tuple[int, int], tuple[str, ...]]:
        """The names of the functions and classes around these bytes, the bytes of the innermost function
        (none: 0, 0), and outside of functions the beginnings of the conditions and loops around. The
        outermost stand first.
        """
        names: list[str] = []
        blocks: list[str] = []
        inner = (0, 0)
        node = self.root.descendant_for_byte_range(start, max(start, end - 1))
        while node is not None:
            if _FUNCTION.search(node.type) and node.type not in _NO_FUNCTION:
                name = node.child_by_field_name("name") or _declared_by(node)
                if name is not None:
                    names.append(self._written(name))
                    inner = inner if inner != (0, 0) else (node.start_byte, node.end_byte)
            elif _CLASS.search(node.type):
                name = node.child_by_field_name("name")
                names += [self._written(name)] if name is not None else []
            elif _GUARD.match(node.type):
                blocks.append(f"{node.type} {' '.join(self._written(node).split(chr(10), 1)[0].split())}")
            node = node.parent
        return tuple(reversed(names)), inner, () if inner != (0, 0) else tuple(reversed(blocks))

    def nodes(self, query: str) -> Iterator[tree_sitter.Node]:
        """Every node that a query of ours captures as ``it``, in text order."""
        cursor = tree_sitter.QueryCursor(_query(self._kinds.language, query))
        yield from sorted(cursor.captures(self.root).get("it", ()), key=lambda node: node.start_byte)

    def _written(self, node: tree_sitter.Node) -> str:
        return self.text[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _captured(self, query: tree_sitter.Query) -> dict[str, list[tuple[int, int]]]:
        found = tree_sitter.QueryCursor(query).captures(self.root)
        return {name: [(node.start_byte, node.end_byte) for node in nodes] for name, nodes in found.items()}


def _declared_by(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name that a function without one is given: ``const run = () => {}``, ``run: function () {}``."""
    parent = node.parent
    if parent is None:
        return None
    names = (parent.child_by_field_name(name) for name in ("name", "key", "left", "declarator"))
    found = next((name for name in names if name is not None), None)
    return found if found is not None and found != node else node.child_by_field_name("declarator")


@cache
def _query(known: tree_sitter.Language, query: str) -> tree_sitter.Query:
    return tree_sitter.Query(known, query)


def blank(code: bytearray, start: int, end: int) -> None:
    """Write spaces over a range, line ends kept."""
    if code.find(b"\n", start, end) < 0:
        code[start:end] = b" " * (end - start)
    else:
        code[start:end] = re.sub(rb"[^\n]", b" ", bytes(code[start:end]))


def _outside(spans: list[tuple[int, int]], comments: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    hidden = sorted(comments)
    at = 0
    for start, end in sorted(spans):
        while at < len(hidden) and hidden[at][1] <= start:
            at += 1
        if at == len(hidden) or hidden[at][0] > start:
            yield start, end

"""Parses Python that is newer than the interpreter gate runs on, into the syntax tree of this interpreter.

What this interpreter parses by itself is left to it. Else the text is rewritten so that it parses, each node
on the line and in the column where it stands in the file:

- f-strings of 3.12 (PEP 701) and template strings (PEP 750) become the node that older f-strings have,
- ``type X = ...`` becomes an assignment, type parameters (PEP 695, 696) are taken out of ``def`` and
  ``class``; their bounds and defaults, which hold code, stand as expressions at the end of the module,
- ``except A, B:`` (PEP 758) gets its brackets.

Standard library only, nothing is executed. Measured against Python 3.13's own parser: docs/prescreen.md.
"""

from __future__ import annotations

import ast
import io
import re
import string
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.languages.python_syntax.scan import Field, Text, Token, UnreadableError, tokens
from gate.regex import regex

_PIECE: Final = regex(r"\\.|[\"']", re.DOTALL)
_CONVERSIONS: Final = {"": -1, "r": ord("r"), "s": ord("s"), "a": ord("a")}
_DEEPEST: Final = 60


def parse(source: str) -> ast.Module:
    """The tree of a module. Raises SyntaxError or ValueError where no Python known here would take it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except SyntaxError as error:
            try:
                return _Rewritten(source).tree()
            except (SyntaxError, UnreadableError):
                raise error from None


def parse_bytes(data: bytes) -> ast.Module:
    """The tree of a file's bytes, decoded as Python would (cookie, BOM). Raises as ``parse``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(data)
        except SyntaxError as error:
            try:
                encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
                return parse(re.sub("\r\n?", "\n", data.decode(encoding)))
            except (SyntaxError, ValueError):
                raise error from None


@dataclass(slots=True)
class _Edit:
    start: int
    end: int
    text: str


@dataclass(slots=True)
class _Rewritten:
    """One text on its way: what is put in the place of what, and the nodes for the placeholders."""

    source: str
    deep: int = 0
    edits: list[_Edit] = field(default_factory=list)
    strings: dict[tuple[int, int], list[Text]] = field(default_factory=dict)
    """Groups of strings by line and column (bytes) of their placeholder."""
    left: list[tuple[int, int]] = field(default_factory=list)
    """Expressions that are taken out."""
    name: str = ""
    starts: list[int] = field(default_factory=list)

    def tree(self) -> ast.Module:
        """The module's tree."""
        return ast.Module(body=[*self._parsed().body, *self._taken_out()], type_ignores=[])

    def _parsed(self) -> ast.Module:
        if self.deep > _DEEPEST:
            raise UnreadableError
        self.starts = [0, *(match.end() for match in re.finditer("\n", self.source))]
        found = list(tokens(self.source))
        words = {token.text for token in found if isinstance(token, Token)}
        self.name = next((n for n in "_" + string.ascii_letters if n not in words), "\u0192")
        self._groups(found)
        self._statements([token for token in found if isinstance(token, Token)])
        out, at = [], 0
        for edit in sorted(self.edits, key=lambda edit: edit.start):
            if edit.start < at:
                continue  # inside something that is taken out as a whole
            out += [self.source[at : edit.start], edit.text]
            at = edit.end
        parsed = ast.parse("".join([*out, self.source[at:]]))
        placed = _Placed(self)
        module: ast.Module = placed.visit(parsed)
        return module

    def _taken_out(self) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for start, end in self.left:
            value = self.expression(start, end)
            out.append(ast.copy_location(ast.Expr(value=value), value))
        return out

    # Strings

    def _groups(self, found: Sequence[Token | Text]) -> None:
        """Neighbours that are one string to Python, where an f-string is among them."""
        group: list[Text] = []
        for token in [*found, None]:
            if isinstance(token, Text) and (not group or group[-1].line_start == token.line_start):
                group.append(token)
                continue
            if any(text.parts is not None for text in group):
                self._replace(group)
            group = [token] if isinstance(token, Text) else []

    def _replace(self, group: list[Text]) -> None:
        start, end = group[0].start, group[-1].end
        first, *lines = self.source[start:end].split("\n")
        width = len(first.encode("utf-8", "surrogatepass"))
        if lines:
            last = len(lines[-1].encode("utf-8", "surrogatepass"))
            text = f"({self.name}".ljust(width) + "\n" * len(lines) + ")".rjust(last)
        else:
            text = f"({self.name}".ljust(width - 1) + ")"
        self.edits.append(_Edit(start, end, text))
        line, column = self.place(start)
        self.strings[line, column + 1] = group

    def place(self, at: int) -> tuple[int, int]:
        """Line and column in bytes."""
        line = bisect_right(self.starts, at)
        before = self.source[self.starts[line - 1] : at]
        return line, len(before.encode("utf-8", "surrogatepass"))

    def joined(self, group: Sequence[Text], at: ast.expr) -> ast.expr:
        """The node of a group."""
        values: list[ast.expr] = []
        for text in group:
            if text.parts is None:
                told = ast.literal_eval(self.source[text.start : text.end])
                if not isinstance(told, str):
                    raise UnreadableError
                _add(values, told, at)
            else:
                self._values(values, text.parts, "r" in text.prefix, at)
        return ast.copy_location(ast.JoinedStr(values=values), at)

    def _values(self, values: list[ast.expr], parts: Sequence[str | Field], raw: bool, at: ast.expr) -> None:
        for part in parts:
            if isinstance(part, str):
                _add(values, part if raw else _unescaped(part), at)
                continue
            if part.debug:
                _add(values, part.debug, at)
            spec = None
            if part.spec is not None:
                inner: list[ast.expr] = []
                self._values(inner, part.spec, raw, at)
                spec = ast.copy_location(ast.JoinedStr(values=inner), at)
            shown = part.conversion or ("r" if part.debug and part.spec is None else "")
            value = self.expression(part.start, part.end)
            node = ast.FormattedValue(value=value, conversion=_CONVERSIONS[shown], format_spec=spec)
            values.append(ast.copy_location(node, at))

    def expression(self, start: int, end: int) -> ast.expr:
        """The tree of the expression that stands there."""
        text = self.source[start:end]
        if next(tokens(text), None) is None:
            raise UnreadableError
        line, column = self.place(start)
        try:
            module = ast.parse(f"({text}\n)")
        except SyntaxError:
            module = _Rewritten(f"({text}\n)", self.deep + 1)._parsed()
        if len(module.body) != 1 or not isinstance(module.body[0], ast.Expr):
            raise UnreadableError
        value = module.body[0].value
        for node in ast.walk(value):
            if isinstance(node, (ast.expr, ast.keyword, ast.arg)):
                _shift(node, line, column - 1)
        return value

    # Statements

    def _statements(self, found: Sequence[Token]) -> None:
        for index, token in enumerate(found):
            if token.text in ("def", "class") and index + 2 < len(found) and found[index + 2].text == "[":
                self._without(found, index + 2)
            elif token.text == "type" and token.first:
                self._alias(found, index)
            elif token.text == "except" and token.first:
                self._except(found, index)

    def _alias(self, found: Sequence[Token], index: int) -> None:
        """``type X[T] = ...``: the keyword goes behind the name, as blanks."""
        following = found[index + 1 : index + 3]
        if len(following) < 2 or not following[0].text.isidentifier() or following[1].text not in "[=":
            return
        name = following[0]
        end = name.start + len(name.text)
        width = len(self.source[found[index].start : end])
        self.edits.append(_Edit(found[index].start, end, name.text.ljust(width)))
        if following[1].text == "[":
            self._without(found, index + 2)

    def _without(self, found: Sequence[Token], opening: int) -> None:
        """Type parameters taken out; lines stay."""
        depth = found[opening].depth
        close = _found(found, opening + 1, depth + 1, "]")
        start, end = found[opening].start, found[close].start + 1
        lines = [" " * len(line) for line in self.source[start:end].split("\n")]
        self.edits.append(_Edit(start, end, "\\\n".join([line[:-1] for line in lines[:-1]] + lines[-1:])))
        begun = -1
        for token in [*found[opening + 1 : close], found[close]]:
            ends = token.depth == depth + 1 and token.text in (",", ":", "=", "]")
            if ends and begun >= 0:
                self.left.append((begun, token.start))
                begun = -1
            if token.depth == depth + 1 and token.text in (":", "="):
                begun = token.start + 1

    def _except(self, found: Sequence[Token], index: int) -> None:
        """Brackets around the exceptions where there are several."""
        depth = found[index].depth
        end = _found(found, index + 1, depth, ":")
        words = [token for token in found[index + 1 : end] if token.depth == depth]
        if words and words[0].text == "*":
            words = words[1:]
        if words and any(w.text == "," for w in words) and not any(w.text == "as" for w in words):
            first = words[0].start
            self.edits.append(_Edit(first, first, "("))
            self.edits.append(_Edit(found[end].start, found[end].start, ")"))


def _found(tokens_: Sequence[Token], at: int, depth: int, text: str) -> int:
    """The number of the next such token."""
    for number in range(at, len(tokens_)):
        if tokens_[number].depth == depth and tokens_[number].text == text:
            return number
    raise UnreadableError


class _Placed(ast.NodeTransformer):
    """Puts the strings in the place of their placeholders."""

    def __init__(self, rewritten: _Rewritten) -> None:
        self._of = rewritten

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name: a placeholder, or what it is."""
        group = self._of.strings.get((node.lineno, node.col_offset)) if node.id == self._of.name else None
        if group is None:
            return node
        line, column = self._of.place(group[0].start)
        end_line, end_column = self._of.place(group[-1].end)
        node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = (
            line,
            column,
            end_line,
            end_column,
        )
        return self._of.joined(group, node)


def _add(values: list[ast.expr], text: str, at: ast.expr) -> None:
    """More literal text."""
    last = values[-1] if values else None
    if isinstance(last, ast.Constant) and isinstance(last.value, str):
        last.value += text
    elif text:
        values.append(ast.copy_location(ast.Constant(value=text), at))


def _unescaped(piece: str) -> str:
    """Literal text as its escapes have it."""
    safe = _PIECE.sub(lambda match: {'"': "\\x22", "'": "\\x27"}.get(match[0], match[0]), piece)
    if (len(safe) - len(safe.rstrip("\\"))) % 2:
        safe += "\\"
    told = ast.literal_eval(f'"""{safe}"""')
    return told if isinstance(told, str) else ""


def _shift(node: ast.expr | ast.keyword | ast.arg, line: int, column: int) -> None:
    """From its place in ``(expression`` to that in the file."""
    if node.lineno == 1:
        node.col_offset += column
    if node.end_lineno == 1 and node.end_col_offset is not None:
        node.end_col_offset += column
    node.lineno += line - 1
    if node.end_lineno is not None:
        node.end_lineno += line - 1

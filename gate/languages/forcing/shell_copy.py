"""Shell scripts rewritten so that one place of a file is run: for the limited child.

Conditions on the way are evaluated and then decided, ``exit`` and ``return`` are dropped, loops end,
functions around the place are called at the end, variables that nobody set get a word. ``WORD`` stands for
the word of the run, which the driver puts in (gate/inside/driver/program_runner.py); the copy is for bash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.forcing.places import Place, text_of
from gate.languages.tree_sitter_parse import walk
from gate.regex import regex

WORD: Final = "@GATE@"
_TURNS: Final = 200
_PROLOGUE: Final = (
    'set +eu; __gate_turn() { local n="__gate_$1"; eval "$n=\\$((\\${$n:-0}+1))"; '
    f'eval "[ \\$$n -le {_TURNS} ]" || return 1; [ "$2" = 0 ] || eval "[ \\$$n -ne 1 ]" || return 0; '
    'return "$3"; }; sleep() { :; };'
)
_BLOCKS: Final = frozenset({
    "program", "compound_statement", "do_group", "subshell", "if_statement", "elif_clause", "else_clause",
    "case_item", "while_statement", "command_substitution",
})  # fmt: skip
_NAMES: Final = frozenset({"simple_expansion", "expansion"})
_STEPS: Final = {
    "if_statement": "_branches",
    "elif_clause": "_branches",
    "while_statement": "_loop",
    "for_statement": "_each",
    "case_statement": "_case",
    "list": "_list",
}
_COMPARED: Final = regex(
    r"""(?:\[\[?|test)\s+"?\$\{?(\w+)\}?"?\s+(==?|!=)\s+["']?([\w./:@-]+)["']?\s*(?:\]\]?)?\s*\Z"""
)
_PLAIN: Final = regex(r"""["']?([\w./:@-]+)["']?\Z""")
_VALUE: Final = regex(r"""["']?\$\{?(\w+)\}?["']?\Z""")
_ENDING: Final = frozenset({"exit", "return", "break", "continue"})
_Edit = tuple[int, int, str]


class ShellCopy:
    """One copy of a script."""

    def __init__(self, root: Node, place: Place) -> None:
        self._root = root
        self._at = place.byte
        self._loops = 0
        self._edits: list[_Edit] = []
        self._called: list[str] = []

    def edits(self) -> Iterator[_Edit]:
        """Byte ranges of the text, in order, with what stands there in the copy."""
        first = next((n for n in self._root.named_children if n.type != "comment"), None)
        if first is None:
            return
        self._walk(self._root, way=True, called=False)
        begin = (first.start_byte, first.start_byte, _PROLOGUE + " ")
        calls = "".join(f"\n{name} {WORD} {WORD} {WORD}" for name in self._called)
        end = (self._root.end_byte, self._root.end_byte, f"{calls}\n")
        # What is put in at one byte keeps the order in which it was found: the outermost first.
        gone = [(start, stop) for start, stop, _ in self._edits if stop > start]
        kept = [
            e for e in self._edits if not any(a < e[0] and e[1] <= b and e[:2] != (a, b) for a, b in gone)
        ]
        yield from sorted([begin, *kept, end], key=lambda e: (e[0], e[1]))

    def _on_way(self, node: Node | None) -> bool:
        return node is not None and node.start_byte <= self._at < node.end_byte

    def _put(self, at: int, text: str) -> None:
        self._edits.append((at, at, text))

    def _walk(self, node: Node, *, way: bool, called: bool) -> None:
        """``called``: the node stands in a function that does not hold the place."""
        kind = node.type
        if kind == "function_definition":
            if way:
                name = node.child_by_field_name("name")
                self._called.append(text_of(name) if name is not None else ":")
            called = called or not way
        elif kind == "command":
            self._command(node, way=way, called=called)
        elif kind in _NAMES:
            self._expansion(node)
        elif kind in _STEPS:
            getattr(self, _STEPS[kind])(node, way=way)
        for child in node.named_children:
            inner = self._on_way(child)
            if inner and kind in _BLOCKS and child.type not in _BLOCKS - {"compound_statement", "subshell"}:
                self._variables(child)
            self._walk(child, way=inner, called=called)

    def _branches(self, node: Node, *, way: bool) -> None:
        """A condition with its ``then``: decided where the place is below, else as it is."""
        then = next((c for c in node.children if c.type == "then"), None)
        word = node.children[0]
        if then is None:
            return
        tests = [c for c in node.named_children if c.start_byte < then.start_byte]
        if not way or any(self._on_way(c) for c in tests):
            self._behind(node, tests, then)
            return
        later = [c for c in node.named_children if c.type in ("elif_clause", "else_clause")]
        holds = not any(self._on_way(c) for c in later)
        if node.type == "elif_clause":
            holds = True
        known = _assumed(tests, holds=holds)
        self._put(word.end_byte, " {")
        self._put(then.start_byte, f"{known}{'true' if holds else 'false'}; }}; ")
        if node.type == "if_statement" and not holds:
            for clause in later:
                if clause.type == "elif_clause" and not self._on_way(clause):
                    if clause.start_byte > self._at:
                        break
                    self._never(clause)

    def _never(self, clause: Node) -> None:
        then = next((c for c in clause.children if c.type == "then"), None)
        if then is not None:
            self._put(clause.children[0].end_byte, " {")
            self._put(then.start_byte, "false; }; ")

    def _behind(self, node: Node, tests: list[Node], then: Node) -> None:
        """What an early end says of what follows: after ``if [ "$x" != a ]; then exit; fi`` it is that."""
        body = [c for c in node.named_children if c.start_byte > then.start_byte]
        if node.type == "if_statement" and node.end_byte <= self._at and body and is_end(body[-1]):
            known = _assumed(tests, holds=False)
            if known:
                self._put(node.end_byte, f"; {known}true")

    def _loop(self, node: Node, *, way: bool) -> None:
        body = node.child_by_field_name("body")
        word = node.children[0]
        if body is None:
            return
        self._loops += 1
        first = 1 if way and self._on_way(body) else 0
        self._put(word.end_byte, " {")
        if word.type == "until":
            turn = f"! __gate_turn {self._loops} {first} $((!$?)); }}; "
        else:
            turn = f"__gate_turn {self._loops} {first} $?; }}; "
        self._put(body.start_byte, turn)

    def _each(self, node: Node, *, way: bool) -> None:
        """A list to go through has one entry at least."""
        values = node.children_by_field_name("value")
        if way and values and self._on_way(node.child_by_field_name("body")):
            self._put(values[-1].end_byte, f" {WORD}")

    def _case(self, node: Node, *, way: bool) -> None:
        """The arm that holds the place, and nothing else of it."""
        if not way:
            return
        item = next((c for c in node.named_children if c.type == "case_item" and self._on_way(c)), None)
        value = node.child_by_field_name("value")
        if item is None or value is None:
            return
        bracket = next((c for c in item.children if c.type == ")"), None)
        last = item.children[-1]
        if bracket is None or not bracket.end_byte <= self._at:
            return
        end = last.start_byte if last.type in (";;", ";&", ";;&") else item.end_byte
        pattern = item.child_by_field_name("value")
        said = _PLAIN.match(text_of(pattern)) if pattern is not None else None
        name = _VALUE.match(text_of(value))
        known = _set(name[1], said[1]) if said and name else ""
        self._edits.append((node.start_byte, bracket.end_byte, f"{{ {known}"))
        self._edits.append((end, node.end_byte, "\n}"))

    def _list(self, node: Node, *, way: bool) -> None:
        """``A && B`` with the place in B: A is run, and then it is as if it had been so."""
        parts = node.named_children
        if len(parts) != 2:
            return
        sign = next((c.type for c in node.children if c.type in ("&&", "||")), "")
        left, right = parts
        holds = sign == "&&"
        if way and self._on_way(right):
            line = "\n" if "<<" in text_of(left) else "; "
            known = _assumed([left], holds=holds)
            self._put(left.start_byte, "{ ")
            self._put(left.end_byte, f"{line}{known}{'true' if holds else 'false'}; }}")
        elif not way and node.end_byte <= self._at and is_end(right):
            known = _assumed([left], holds=not holds)
            if known and node.parent is not None and node.parent.type != "list":
                self._put(node.end_byte, f"; {known}true")

    def _command(self, node: Node, *, way: bool, called: bool) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        said = text_of(name)
        words = [text_of(a) for a in node.children_by_field_name("argument")]
        if said == "exit" or (
            said in ("return", "break", "continue") and self._is_dropped(node, said, called)
        ):
            self._edits.append((name.start_byte, name.end_byte, ":"))
        elif said == "exec" and words and not words[0].startswith("-"):
            self._edits.append((name.start_byte, name.end_byte, ""))
        elif said == "set" and any(re.match(r"-\w*[euo]", word) for word in words):
            self._edits.append((name.start_byte, node.end_byte, ":"))
        elif said == "trap" and way and words:
            self._put(node.end_byte, f"; eval {words[0]}")

    def _is_dropped(self, node: Node, said: str, called: bool) -> bool:
        """True on the way only: a function that does not hold the place returns, a loop beside it ends."""
        if called or node.start_byte >= self._at:
            return False
        if said == "return":
            return True
        parent = node.parent
        while parent is not None and parent.type not in ("while_statement", "for_statement"):
            parent = parent.parent
        return self._on_way(parent)

    def _expansion(self, node: Node) -> None:
        """``${X:?message}`` would end the script; a script given as text has no file of its own."""
        said = text_of(node)
        if "BASH_SOURCE" in said:
            self._edits.append((node.start_byte, node.end_byte, "$0"))
        elif found := re.match(r"\$\{(\w+):?\?", said):
            self._edits.append((node.start_byte, node.end_byte, f"${{{found[1]}:-{WORD}}}"))

    def _variables(self, node: Node) -> None:
        """Words for variables that nobody set, before a command on the way: those that it uses, and those
        that are used behind it, or what runs there would be told with an empty text in their place.
        """
        if node.type in ("function_definition", "comment") or self._is_above(node):
            return
        names = dict.fromkeys(_names(self._root))
        if names:
            self._put(node.start_byte, "".join(f': "${{{name}:={WORD}}}"; ' for name in names))

    def _is_above(self, node: Node) -> bool:
        """True where a command within it stands nearer to the place."""
        for child in node.named_children:
            if self._on_way(child):
                near = node.type in _BLOCKS or node.type in ("for_statement", "case_statement")
                return near or self._is_above(child)
        return False


def _names(root: Node) -> Iterator[str]:
    """Variables that the script uses, those apart that only split a word (``cu${x}rl``): they are empty."""
    whole = root.text or b""
    for node in walk(root, frozenset()):
        if node.type not in _NAMES or "[" in text_of(node):
            continue
        name = next((c for c in node.named_children if c.type == "variable_name"), None)
        if name is None or re.match(r"BASH|__|_$|PATH$|IFS$|OPT", text_of(name)):
            continue
        before = whole[node.start_byte - root.start_byte - 1 : node.start_byte - root.start_byte]
        after = whole[node.end_byte - root.start_byte : node.end_byte - root.start_byte + 1]
        if not (before.isalnum() and after.isalnum()):
            yield text_of(name)


def _assumed(tests: list[Node], *, holds: bool) -> str:
    """What makes a comparison with a constant true (or false) of the variable in it."""
    found = _COMPARED.match(text_of(tests[-1]).rstrip("; ")) if len(tests) == 1 else None
    if found is None or (found[2] != "!=") != holds:
        return ""
    return _set(found[1], found[3])


def _set(name: str, value: str) -> str:
    if name == "1":
        return f"set -- '{value}' \"${{@:2}}\"; "
    return "" if name[0].isdigit() else f"{name}='{value}'; "


def is_end(node: Node) -> bool:
    """True where a branch ends the script, its function or its loop."""
    if node.type in ("compound_statement", "list") and node.named_children:
        return is_end(node.named_children[-1])
    name = node.child_by_field_name("name") if node.type == "command" else None
    return name is not None and text_of(name) in _ENDING

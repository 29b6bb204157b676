"""What conditions of shell scripts ask for. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.forcing.places import text_of
from gate.languages.script_guards.asked import TRAITS, Asked
from gate.languages.script_guards.following import made_from, reached
from gate.languages.tree_sitter_parse import walk
from gate.model.forced import GuardKind

_CALLS: Final[dict[str, GuardKind]] = {
    "hostname": "host", "hostnamectl": "host", "whoami": "user", "logname": "user", "date": "date",
    "md5sum": "digest", "sha1sum": "digest", "sha224sum": "digest", "sha256sum": "digest",
    "sha384sum": "digest", "sha512sum": "digest", "b2sum": "digest", "cksum": "digest", "shasum": "digest",
    "md5": "digest", "nproc": "sandbox", "systemd-detect-virt": "sandbox", "dmidecode": "sandbox",
    "lscpu": "sandbox", "virt-what": "sandbox",
}  # fmt: skip
_WORDS: Final = frozenset({"word", "string", "raw_string", "number", "extglob_pattern", "regex"})
_COMPARES: Final = frozenset({"test", "[", "grep", "egrep", "fgrep", "expr", "echo", "printf", "case"})
_SIGNS: Final = frozenset({"=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "<", ">"})


class Shell:
    """The conditions of one script; variables and functions are followed to what they are made from."""

    def __init__(self, root: Node) -> None:
        self._values: dict[str, list[Node]] = {}
        self._bodies: dict[str, Node] = {}
        for node in walk(root, frozenset()):
            if node.type == "variable_assignment":
                name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if name is not None and value is not None:
                    self._values.setdefault(text_of(name), []).append(value)
            elif node.type == "function_definition":
                name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
                if name is not None and body is not None:
                    self._bodies[text_of(name)] = body

    def asked(self, test: Node) -> Asked:
        """What a condition asks for; of a pattern of ``case``, what is looked at."""
        found = Asked()
        if test.parent is not None and test.parent.type == "case_item":
            case = test.parent.parent
            subject = case.child_by_field_name("value") if case is not None else None
            if subject is None or text_of(test).strip() == "*":
                return found
            found.written.add(text_of(test).strip("*'\""))
            test = subject
        for node in made_from(test, self._sources, frozenset({"function_definition"})):
            self._take(node, found)
        return found

    def acts_of(self, node: Node) -> Iterator[Node]:
        """A guarded part, and the functions of the script that it calls."""
        return reached(node, self._called)

    def _called(self, node: Node) -> list[Node]:
        body = self._bodies.get(_name(node)) if node.type == "command" else None
        return [body] if body is not None else []

    def _sources(self, node: Node) -> list[Node]:
        """What a variable that is set once, or a call of a function of the script, stands for."""
        if node.type == "variable_name":
            values = self._values.get(text_of(node), [])
            return values if len(values) == 1 else []
        return self._called(node)

    def _take(self, node: Node, found: Asked) -> None:
        match node.type:
            case "command":
                self._command(node, found)
            case "variable_name" if not _is_message(node):
                found.variables.add(text_of(node))
            case "word" | "string" | "raw_string" if TRAITS.search(text_of(node)):
                found.kinds.add("sandbox")
            case "binary_expression":
                sign = next((c for c in node.children if text_of(c) in _SIGNS), None)
                for side in node.named_children if sign is not None else ():
                    if side.type in _WORDS and "$" not in text_of(side):
                        found.written.add(text_of(side).strip("'\"*^$"))

    def _command(self, node: Node, found: Asked) -> None:
        name = _name(node)
        words = [text_of(one) for one in node.named_children[1:]]
        kind = _CALLS.get(name, "")
        if name == "uname" and "-n" in words:
            kind = "host"
        elif name == "id" and any(word.startswith("-") and "n" in word for word in words):
            kind = "user"
        elif name == "openssl" and words[:1] and words[0] in ("dgst", "md5", "sha1", "sha256", "sha512"):
            kind = "digest"
        elif name == "date":
            found.years = any("%Y" in word and len(word.strip("\"'")) == 3 for word in words)
        if kind:
            found.kinds.add(kind)
        if name in ("grep", "egrep", "fgrep"):
            found.written |= {w.strip("'\"^$") for w in words if not w.startswith("-") and "$(" not in w}


def _is_message(node: Node) -> bool:
    """Is a variable only told to somebody, by a command that compares nothing?"""
    above: Node | None = node
    while above is not None and above.type not in ("command", "test_command", "case_statement"):
        above = above.parent
    return above is not None and above.type == "command" and _name(above) not in _COMPARES


def _name(node: Node) -> str:
    named = node.child_by_field_name("name")
    return text_of(named).rpartition("/")[2] if named is not None else ""

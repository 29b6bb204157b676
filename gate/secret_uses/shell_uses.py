"""What a shell script does with the values of its environment: which it writes down in another form.

A shell has no arithmetic of characters: what takes a value to pieces are programs that it is piped through.
So a variable is followed through assignments, substitutions, pipes and functions to such a program.
Runs in the limited child.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import parse, walk
from gate.secret_uses.facts import FileUses, Use, Way
from gate.secret_uses.names import is_authenticating_text, is_secret

ENDINGS: Final = (".sh", ".bash", ".ksh", ".zsh")
_CODERS: Final = frozenset({
    "od", "xxd", "hexdump", "rev", "cksum", "sum", "crc32", "uuencode", "ascii2uni", "rot13", "idn", "basenc",
})  # fmt: skip
"""Programs that write what they are given in another form, which anybody can turn back."""
_SOFT: Final = frozenset({"base64", "base32", "gzip", "bzip2", "xz"})
"""Those that clusters and logins ask for too: told where it leaves without authenticating."""
_DECODES: Final = frozenset({"-d", "-D", "--decode", "-r", "-dc", "-cd", "--decompress"})
_HASHES: Final = frozenset({"md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "shasum", "cksum"})
_LOOKUPS: Final = frozenset(
    {"dig", "host", "nslookup", "getent", "ping", "drill", "kdig", "traceroute", "nc", "ncat"}
)
_SENDS: Final = frozenset({"curl", "wget", "http", "https", "xh", "mail", "sendmail", "mosquitto_pub"})
_LOGS: Final = frozenset({"logger", "systemd-cat"})
_WAITS: Final = frozenset({"sleep", "usleep", "timeout"})
_KEYED: Final = (
    "-hmac", "-passin", "--passphrase", "-pass", "--password", "-p", "-k", "-u", "--user", "-K",
)  # fmt: skip
_MOST: Final = 200


def shell_uses(data: bytes) -> FileUses:
    """All uses in a script. A variable that the file itself gives a plain text is none of the environment."""
    root = parse(data, "bash")
    reader = _Shell(root)
    for _ in range(3):
        reader.uses.clear()
        for command in walk(root, frozenset()):
            if command.type == "command":
                reader.command(command)
            elif command.type == "pipeline":
                reader.held(command)
            elif command.type == "variable_assignment":
                reader.assigned(command)
            elif command.type == "for_statement":
                reader.looped(command)
    uses = sorted(reader.uses, key=lambda use: (use.line, use.secret, use.way))[:_MOST]
    return FileUses(uses=tuple(uses), keys=tuple(sorted(reader.keys)[:_MOST]))


class _Shell:
    """``values``: variables that hold others in another form, with what was done. ``given``: of functions."""

    def __init__(self, root: Node) -> None:
        self.uses: set[Use] = set()
        self.keys: set[str] = set()
        self.values: dict[str, frozenset[tuple[str, str]]] = {}
        self.functions = {
            _said(node.child_by_field_name("name")): node
            for node in walk(root, frozenset())
            if node.type == "function_definition"
        }
        self.plain = {
            _said(node.child_by_field_name("name"))
            for node in walk(root, frozenset())
            if node.type == "variable_assignment" and not any(
                inner.type in ("variable_name", "command_substitution")
                for inner in walk(node, frozenset())
                if inner.parent != node
            )
        }  # fmt: skip

    def held(self, node: Node, inside: frozenset[str] = frozenset()) -> frozenset[tuple[str, str]]:
        """Variables that this is made of, each with how: empty, ``part``, ``soft`` or ``coded``."""
        found: set[tuple[str, str]] = set()
        for one in walk(
            node, frozenset({"expansion", "simple_expansion", "command_substitution", "pipeline"})
        ):
            if one.type in ("expansion", "simple_expansion"):
                found.update(self._expanded(one))
            elif one.type == "pipeline":
                found.update(self._piped(one, inside))
            elif one.type == "command_substitution":
                for child in one.named_children:
                    found |= self.held(child, inside)
            elif one.type == "command":
                name = _name(one)
                if name in self.functions and name not in inside:
                    found |= self.held(self.functions[name], inside | {name})
        return frozenset(sorted(found)[:40])

    def _expanded(self, node: Node) -> Iterable[tuple[str, str]]:
        name = _said(next((n for n in node.named_children if n.type == "variable_name"), None))
        if not name:
            return ()
        known = self.values.get(name, frozenset())
        if not known and (name in self.plain or not name.isupper()):
            return ()
        said = _said(node)
        part = ":" in said and any(n.type == "number" for n in node.named_children)
        return {(v, how or ("part" if part else "")) for v, how in known or {(name, "")}}

    def _piped(self, node: Node, inside: frozenset[str]) -> Iterable[tuple[str, str]]:
        """A pipe gives on what comes in: in another form where a program in it writes it so."""
        found: set[tuple[str, str]] = set()
        for child in node.named_children:
            names = {_name(n) for n in walk(child, frozenset()) if n.type == "command"}
            if names & _HASHES or any(w in _said(child) for w in ("openssl dgst", "-hmac", "wc ", "jq ")):
                return ()
            decodes = any(_said(n) in _DECODES for n in child.children_by_field_name("argument"))
            if names & _CODERS and not decodes:
                found = {(v, "coded") for v, _ in found}
                self.coded(found, child)
            elif names & _SOFT and not decodes:
                found = {(v, how or "soft") for v, how in found}
            found |= self.held(child, inside)
        return found

    def coded(self, found: Iterable[tuple[str, str]], node: Node) -> None:
        self._tell(found, "mixed", _name(node) or "a pipe", node)

    def assigned(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is not None:
            name = _said(node.child_by_field_name("name"))
            held = self.held(value)
            self.values[name] = frozenset(v for v in held if v != (name, "")) if held else frozenset()

    def looped(self, node: Node) -> None:
        held = [v for one in node.children_by_field_name("value") for v in self.held(one)]
        self.values[_said(node.child_by_field_name("variable"))] = frozenset(held)

    def command(self, node: Node) -> None:
        name = _name(node)
        given = node.children_by_field_name("argument")
        for number, one in enumerate(given):
            held = self.held(one)
            before = _said(given[number - 1]) if number else ""
            if before in _KEYED or (name in _SENDS and is_authenticating_text(_unaddressed(one))):
                self.keys.update(f".{value}" for value, how in held if not how)
                continue
            way = _way(name)
            if way is not None:
                self._tell((v for v in held if v[1]), way, name, node)
            if name == "printf" and _said(one).startswith(("\"'", "'\"")):  # the number of a character
                self.coded({(v, "coded") for v, _ in held}, node)

    def _tell(self, found: Iterable[tuple[str, str]], way: Way, sink: str, node: Node) -> None:
        line = node.start_point.row + 1
        for value, how in found:
            marks = {"coded": ("bytes", "item", "mixed"), "soft": ("coded",)}.get(how, ("part",))
            if how == "part" and way not in ("delay", "mixed"):
                continue
            faint = "" if is_secret(value) else "attr"
            self.uses.add(
                Use(secret=value, way=way, sink=sink, function=_function(node), line=line, source=line,
                    marks=marks, faint=faint)
            )  # fmt: skip


def _unaddressed(node: Node) -> str:
    """The text of an argument, that of an address without what every address has."""
    return _said(node).replace("https://", "").replace("http://", "")


def _way(name: str) -> Way | None:
    if name in _LOOKUPS or name in _SENDS:
        return "sent"
    if name in _WAITS:
        return "delay"
    return "log" if name in _LOGS else None


def _name(node: Node) -> str:
    if node.type != "command":
        return next((_name(n) for n in _commands(node)), "")
    return _said(node.child_by_field_name("name")).rpartition("/")[2]


def _commands(node: Node) -> Iterator[Node]:
    return (n for n in walk(node, frozenset()) if n.type == "command")


def _function(node: Node) -> str:
    above = node.parent
    while above is not None and above.type != "function_definition":
        above = above.parent
    return _said(above.child_by_field_name("name")) if above is not None else ""


def _said(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""

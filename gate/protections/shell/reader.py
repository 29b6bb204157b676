"""What a shell script checks before it goes on: sums and signatures. Runs in the limited child.

One unit for each function and one for the rest of the script.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, Literal

from tree_sitter import Node

from gate.languages.tree_sitter_parse import parse, walk
from gate.protections.facts import SWALLOWED, FileFacts, Guard, Unit
from gate.protections.tree_sitter.refusals import made_guard
from gate.protections.tree_sitter.shapes import text_of

_SUMS: Final = frozenset({
    "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "shasum", "cksum",
})  # fmt: skip
_VERIFIES: Final[dict[str, tuple[str, ...]]] = {
    "gpg": ("--verify", "--verify-files"), "gpg2": ("--verify", "--verify-files"), "gpgv": (), "gpgv2": (),
    "cosign": ("verify", "verify-blob", "verify-attestation"), "minisign": ("-V", "-Vm"),
    "signify": ("-V", "-C"), "openssl": ("-verify",), "ssh-keygen": ("verify",), "codesign": ("--verify",),
    "gh": ("attestation",), "slsa-verifier": (), "apksigner": ("verify",), "rpm": ("--checksig", "-K"),
}  # fmt: skip
"""Programs, and the words of which one has to be there; none: the program does nothing else."""
_NOTHING: Final = frozenset({"true", ":", "echo", "printf"})
_WORDS: Final = 2_000
_MOST: Final = 500


def read(path: str, data: bytes, options: Mapping[str, Any]) -> FileFacts:
    """For gate/languages/limited_child.py."""
    del path, options
    root = parse(data, "bash")
    functions = [node for node in walk(root, frozenset()) if node.type == "function_definition"][:_MOST]
    own = frozenset({"function_definition"})
    modes = modes_of(root, data)
    units = [_unit("", "module", root, own, modes)]
    for node in functions:
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if body is not None and name is not None:
            units.append(_unit(text_of(name), "function", body, own, modes))
    return FileFacts(units=tuple(units))


def _unit(
    name: str, kind: Literal["function", "module"], node: Node, whole: frozenset[str], modes: frozenset[str]
) -> Unit:
    nodes = [*walk(node, whole)]
    words = [text_of(n) for n in nodes if n.type in ("word", "variable_name", "command_name")]
    guards = tuple(_guards(nodes, node, modes))
    pairs = {zlib.crc32(f"{a}\0{b}".encode("utf-8", "replace")) for a, b in pairwise(words)}
    return Unit(
        name=name,
        kind=kind,
        line=node.start_point[0] + 1,
        check=bool(guards),
        guards=guards,
        calls=tuple(sorted({text_of(n) for n in nodes if n.type == "command_name"}))[:_WORDS],
        tokens=tuple(sorted(pairs)[:_WORDS]),
        digest=zlib.crc32(text_of(node).encode("utf-8", "replace")),
        mentions=tuple(sorted(set(words)))[:_WORDS],
    )


def modes_of(root: Node, data: bytes) -> frozenset[str]:
    """Which of ``errexit`` and ``pipefail`` a script switches on, by its first line or by ``set``."""
    first = data.split(b"\n", 1)[0].split()
    named = [one.decode("ascii", "replace") for one in first[1:]] if first[:1] and b"#!" in first[0] else []
    said = [named]
    commands = (node for node in walk(root, frozenset()) if node.type == "command")
    said += [
        text_of(one).split()[1:] for one in commands if text_of(one.child_by_field_name("name")) == "set"
    ]
    on: set[str] = set()
    for words in said:
        for index, word in enumerate(words):
            if re.fullmatch(r"-[a-z]*e[a-z]*", word):
                on.add("errexit")
            if re.fullmatch(r"-[a-z]*o", word):
                on |= {"errexit", "pipefail"}.intersection(words[index + 1 : index + 2])
    return frozenset(on)


def _guards(nodes: list[Node], unit: Node, modes: frozenset[str]) -> Iterator[Guard]:
    for node in nodes:
        if node.type == "command" and (name := verifier(node)):
            around = _statement(node)
            made = made_guard("integrity", "call", (f"-{name}",), around)
            yield replace(
                made,
                context=(SWALLOWED,) if _is_swallowed(around) or _is_idle(node, around, unit, modes) else (),
            )


def verifier(node: Node) -> str:
    """What kind of check a command is; empty where it is none."""
    named = node.child_by_field_name("name")
    name = text_of(named).rpartition("/")[2]
    words = [text_of(one).strip("'\"") for one in node.named_children if one != named]
    if name in _SUMS:
        short = any(w[:1] == "-" and w[:2] != "--" and "c" in w for w in words)
        return "sums" if short or "--check" in words else ""
    if name not in _VERIFIES:
        return ""
    wanted = _VERIFIES[name]
    # Short options stand together in one word: -Vqm
    return "signature" if not wanted or any(w in wanted or w[:2] in wanted for w in words) else ""


def _statement(node: Node) -> Node:
    """The pipeline and the list that a command stands in."""
    at = node
    while at.parent is not None and at.parent.type in (
        "pipeline",
        "list",
        "negated_command",
        "redirected_statement",
    ):
        at = at.parent
    return at


def _is_idle(command: Node, statement: Node, unit: Node, modes: frozenset[str]) -> bool:
    """Does nothing act upon what the check says: no ``set -e``, ``if``, ``&&`` or ``||``, no last word?"""
    piped = command.parent
    if piped is not None and piped.type == "redirected_statement":
        command, piped = piped, piped.parent
    if piped is not None and piped.type == "pipeline" and piped.named_children[-1] != command:
        return "pipefail" not in modes
    if "errexit" in modes or statement.type == "list":
        return False
    block = statement.parent
    if block is None or block.type not in (
        "program",
        "compound_statement",
        "do_group",
        "function_definition",
    ):
        return False
    return not (block == unit and unit.named_children[-1] == statement)


def _is_swallowed(statement: Node) -> bool:
    """``... || true``: what follows is reached whatever the check says."""
    if statement.type != "list" or not any(c.type == "||" for c in statement.children):
        return False
    last = statement.named_children[-1]
    named = last.child_by_field_name("name") if last.type == "command" else None
    return text_of(named) in _NOTHING

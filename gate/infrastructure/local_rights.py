"""Who may do what on one machine: rules and policies of polkit, stacks of PAM.

A polkit rule is JavaScript that says YES under conditions; each is read as whom or what it names, so that a
name that becomes the beginning of names is a pattern in its place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import ParseError

from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.languages import tree_sitter_parse
from gate.regex import regex
from gate.supply.inputs.model import UnreadableInputError
from gate.supply.inputs.xml_text import local, xml_root

if TYPE_CHECKING:
    from tree_sitter import Node

_STEPS: Final = ("no", "auth_admin", "auth_admin_keep", "auth_self", "auth_self_keep", "yes")
_EQUAL: Final = ("==", "===")
_TEXT: Final = frozenset({"string", "template_string"})
_ASKS: Final = regex(r"^-?auth\s+(?:required|requisite|\[[^\]]*die[^\]]*\])\s+(\S+)", re.IGNORECASE)
_LETS_IN: Final = regex(
    r"^-?auth\s+(?:sufficient|\[[^\]]*success\s*=\s*(?:done|end|\d)[^\]]*\])\s+\S*(pam_permit|pam_exec|pam_python|pam_script)\b",
    re.IGNORECASE,
)


def local_kind(path: str) -> str:
    """``polkit``, ``policy`` or ``pam`` by the file's place and name; "" for every other file."""
    pure = PurePosixPath(path)
    name = pure.name.lower()
    if name.endswith((".rules", ".rules.in")) and ("polkit" in path.lower() or name[:2].isdigit()):
        return "polkit"
    if name.endswith((".policy", ".policy.in")):
        return "policy"
    if pure.parent.name in ("pam.d", "pam") or name.endswith((".pam", ".pamd")):
        return "pam"
    return ""


def local_facts(text: str, path: str) -> FileFacts:
    """Facts and widths of such a file."""
    readers = {"polkit": _rules, "policy": _policy, "pam": _pam}
    return FileFacts.of(readers[local_kind(path)](text, path), [path])


def _rules(text: str, path: str) -> Iterator[Fact | Width]:
    if "polkit." not in text:  # udev's rules end alike
        return
    root = tree_sitter_parse.parse(text.encode("utf-8", "replace"), "javascript")
    nodes = list(tree_sitter_parse.walk(root, frozenset()))
    names = {
        _said(name): _said(value)
        for one in nodes
        if one.type == "variable_declarator"
        and (name := one.child_by_field_name("name")) is not None
        and (value := one.child_by_field_name("value")) is not None
    }
    asked: dict[str, list[str]] = defaultdict(list)
    for one in nodes:
        if one.type == "binary_expression":
            _compared(one, names, asked)
        elif one.type == "call_expression":
            _called(one, names, asked)
    yes = "Result.YES" in text
    for key in (
        "unit",
        "verb",
        "id",
        "user",
        "program",
        "command_line",
        "path",
        "device",
        "groups",
        *sorted(asked),
    ):
        members = list(dict.fromkeys(asked.pop(key, ())))
        what = "trusted" if key in ("groups", "user") else "allowed"
        yield Width(what, f"{path} {key}", 1, f"{key}: {', '.join(members)}"[:120], members=members)
        if yes and members:
            yield Fact("guard", "condition", f"{path} {key}", 1, f"{key}: {', '.join(members)}"[:120])


def _compared(node: Node, names: dict[str, str], asked: dict[str, list[str]]) -> None:
    """``a == "text"``, and ``a.indexOf("text") == 0`` or ``> -1``, which ask only for a part."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return
    if left.type in _TEXT:
        left, right = right, left
    if right.type in _TEXT and _said(operator) in _EQUAL:
        asked[_key(left, names)].append(_plain(right))
        return
    function = left.child_by_field_name("function") if left.type == "call_expression" else None
    if function is not None and _said(function).endswith((".indexOf", ".search", ".lastIndexOf")):
        part = _argument(left)
        begins = _said(right) == "0" and _said(operator) in _EQUAL
        if part and (begins or _said(operator) in (">", ">=", "!=", "!==")):
            asked[_key(function.named_children[0], names)].append(f"{part}*" if begins else f"*{part}*")


def _called(node: Node, names: dict[str, str], asked: dict[str, list[str]]) -> None:
    function, part = node.child_by_field_name("function"), _argument(node)
    if function is None or not part:
        return
    said = _said(function)
    if said.endswith((".isInGroup", ".isInNetGroup")):
        asked["groups"].append(part)
    elif said.endswith((".startsWith", ".endsWith", ".includes")):
        pattern = {"startsWith": f"{part}*", "endsWith": f"*{part}"}.get(said.rpartition(".")[2], f"*{part}*")
        asked[_key(function.named_children[0], names)].append(pattern)
    elif said.endswith((".match", ".test")):
        regex = part.strip("/")
        pattern = re.sub(
            r"\\(.)", r"\1", re.sub(r"(?<!\\)\.[*+]\??|\[[^\]]*\][*+]?|\\w[*+]?", "*", regex.strip("^$"))
        )
        pattern = ("" if regex.startswith("^") else "*") + pattern + ("" if regex.endswith("$") else "*")
        subject = (
            function.named_children[0] if said.endswith(".match") else node.child_by_field_name("arguments")
        )
        if subject is not None:
            asked[_key(subject, names)].append(re.sub(r"\*+", "*", pattern))


def _argument(call: Node) -> str:
    """The first text or pattern of a call, or the pattern that is called upon."""
    arguments = call.child_by_field_name("arguments")
    function = call.child_by_field_name("function")
    if function is not None and function.named_children and function.named_children[0].type == "regex":
        return _said(function.named_children[0])
    for one in arguments.named_children if arguments is not None else ():
        if one.type in _TEXT:
            return _plain(one)
        if one.type == "regex":
            return _said(one)
    return ""


def _key(node: Node, names: dict[str, str]) -> str:
    """``unit`` of ``action.lookup("unit")``, whatever variable it went through; ``id`` of ``action.id``."""
    said = names.get(_said(node), _said(node)).strip("()")
    if match := re.search(r"lookup\(\s*[\"'](\w+)[\"']", said):
        return match[1]
    said = names.get(said, said)
    if match := re.search(r"lookup\(\s*[\"'](\w+)[\"']", said):
        return match[1]
    return said.rpartition(".")[2][:40]


def _plain(node: Node) -> str:
    return _said(node).strip("\"'`")


def _said(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _policy(text: str, path: str) -> Iterator[Width]:
    """What each action of a policy asks of whom: an administrator, oneself, or nothing."""
    try:
        root = xml_root(re.sub(r"<!DOCTYPE[^>]*>", "", text))
    except (UnreadableInputError, ParseError):
        return
    for action in (one for one in root.iter() if local(one) == "action"):
        for one in action.iter():
            value = (one.text or "").strip()
            if local(one) in ("allow_any", "allow_inactive", "allow_active") and value in _STEPS:
                subject = f"{path} {action.get('id', '')} {local(one)}"
                said = f"{local(one)}: {value}"
                yield Width("weaker", subject, 1, said, measure=float(_STEPS.index(value)), slack=1.0)


def _pam(text: str, path: str) -> Iterator[Fact]:
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.partition("#")[0].strip()
        if match := _LETS_IN.match(bare):
            yield Fact("grant", "password-free-root", f"{path} {match[1]}", number, bare[:120])
        elif (match := _ASKS.match(bare)) and "pam_permit" not in match[1] and "pam_env" not in match[1]:
            yield Fact("guard", "authentication", f"{path} {match[1]}", number, bare[:120])

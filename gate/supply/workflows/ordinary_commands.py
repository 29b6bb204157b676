"""Whether commands that a workflow newly runs are ordinary where secrets are in reach.

Runs in the limited child, over the list of rules/ci-commands.toml. Most changes of a publishing workflow are
a message, an output or a build by the project's own tool; these need no second pair of eyes, what reaches
further does. In doubt it is not ordinary.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from tree_sitter import Node

from gate.languages.tree_sitter_parse import parse, walk
from gate.regex import regex
from gate.resources import rules_dir
from gate.supply.workflows import values

_EXPRESSION: Final = regex(r"\$\{\{.*?\}\}", re.DOTALL)
_LONGEST: Final = 20_000
"""Characters of a script that is read; a longer one is for a person."""
_OUTPUTS: Final = frozenset({"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV"})
_NOWHERE: Final = regex(r"(?:/dev/(?:null|stdout|stderr)|[12-])")
_VARIABLE: Final = regex(r"\"?\$\{?(\w+)\}?\"?")
_NAME: Final = regex(r"[\"']?([A-Za-z_]\w*)(?:=|<<)")
_PRIVATE: Final = regex(
    r"(?:^|[/=:\"'])(?:~|\.[^./\"'\s])|\$\{?HOME\b|^[\"']?/(?:proc|etc|root|home|run|var|sys)\b"
)
"""A path to hidden files, to somebody's home or to what the machine says of itself."""
_STRANGE: Final = frozenset({"function_definition", "process_substitution", "unset_command", "ERROR"})


def are_ordinary(script: str, added: Collection[str], secrets: Collection[str]) -> bool:
    """True where every command on the ``added`` lines of a shell ``script`` is one of the list, and none
    touches a variable of ``secrets``, private files, or how later commands are found.
    """
    if len(script) > _LONGEST or any(values.secrets_in([line]) for line in added):
        return False
    text = _EXPRESSION.sub(lambda found: "x" * len(found[0].encode()), script)
    root = parse(text.encode(), "bash")
    if root.has_error:
        return False
    rows = {row for row, line in enumerate(script.splitlines()) if line.strip() in added}
    nodes = [node for node in walk(root, frozenset()) if _touches(node, rows)]
    held = _held(walk(root, frozenset()), secrets)
    return all(_is_ordinary(node, held) for node in nodes)


def _touches(node: Node, rows: Collection[int]) -> bool:
    return any(row in rows for row in range(node.start_point[0], node.end_point[0] + 1))


def _is_ordinary(node: Node, held: frozenset[str]) -> bool:
    match node.type:
        case "command":
            return _is_listed(node)
        case "file_redirect":
            return _is_output(node)
        case "variable_assignment":
            name = _text(node.child_by_field_name("name"))
            return not values.steers(name) and name != "PATH"
        case "simple_expansion" | "expansion":
            return not _text(node).startswith("${!") and not held & _names(node)
        case "word" | "string" | "raw_string" | "concatenation":
            return "://" not in _text(node) and not _PRIVATE.search(_text(node))
        case kind:
            return kind not in _STRANGE


def _is_listed(command: Node) -> bool:
    name = command.child_by_field_name("name")
    words = [_text(one) for one in command.children_by_field_name("argument")]
    known, first = _listed()
    called = _text(name)
    if called not in known:
        return False
    if _writes_variables(command) and not _sets_plainly(words):
        return False
    starts = first.get(called, ())
    return not starts or any(_begins(words, start) for start in starts)


def _begins(words: Sequence[str], start: Sequence[str]) -> bool:
    """Do the words begin so? A last ``-*`` stands for options and nothing else."""
    if start[-1] != "-*":
        return list(words[: len(start)]) == list(start)
    named, rest = words[: len(start) - 1], words[len(start) - 1 :]
    return list(named) == list(start[:-1]) and all(word.startswith("-") and "=" not in word for word in rest)


def _is_output(redirect: Node) -> bool:
    """Does it write to the step's outputs, to another stream or nowhere, or does it read?"""
    target = _text(redirect.child_by_field_name("destination"))
    if _NOWHERE.fullmatch(target) or _text(redirect).lstrip("0123456789").startswith("<"):
        return True
    named = _VARIABLE.fullmatch(target)
    return named is not None and named[1] in _OUTPUTS


def _writes_variables(command: Node) -> bool:
    """Is what it prints read as environment variables by the steps that follow?"""
    around: Node | None = command
    while around is not None and around.type != "command_substitution":
        if around.type == "redirected_statement" and "GITHUB_ENV" in _text(around):
            return True
        around = around.parent
    return False


def _sets_plainly(words: Iterable[str]) -> bool:
    """Is each a variable with a name that one sees, and that steers no program?"""
    named = [None if "\\" in word else _NAME.match(word) for word in words if not word.startswith("-")]
    return all(name is not None and not values.steers(name[1]) and name[1] != "PATH" for name in named)


def _held(nodes: Iterator[Node], secrets: Collection[str]) -> frozenset[str]:
    """The variables with secrets, and those that the script makes of them."""
    made = [n for n in nodes if n.type == "variable_assignment"]
    held = frozenset(secrets)
    for _ in made:
        more = held | {_text(n.child_by_field_name("name")) for n in made if _names(n) & held}
        if more == held:
            break
        held = more
    return held


def _names(node: Node) -> frozenset[str]:
    return frozenset(_text(one) for one in walk(node, frozenset()) if one.type == "variable_name")


def _text(node: Node | None) -> str:
    return (node.text or b"").decode(errors="replace") if node is not None else ""


@cache
def _listed() -> tuple[frozenset[str], Mapping[str, tuple[tuple[str, ...], ...]]]:
    """The programs of the list, and for some of them the words that they may begin with."""
    table = tomllib.loads((rules_dir() / "ci-commands.toml").read_text(encoding="utf-8"))
    first = {name: tuple(tuple(one.split()) for one in words) for name, words in table["first_word"].items()}
    return frozenset({*table["any"]["programs"], *first}), first

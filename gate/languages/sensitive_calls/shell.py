"""Shell text: which commands it runs, wrappers such as ``sudo`` looked through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from gate.languages.sensitive_calls import matching
from gate.languages.sensitive_calls import shell_indirect as indirect
from gate.languages.sensitive_calls.grammar import Parsed, blank
from gate.languages.sensitive_calls.lexical import LexicalText
from gate.languages.sensitive_calls.matching import Hit
from gate.languages.sensitive_calls.table import Language, languages, shared
from gate.model.sensitive import SensitiveKind
from gate.regex import regex

_INNER: Final = dict.fromkeys(
    (*indirect.SHELLS, "trap", "su", "script", "runuser", "flock", "alias"), "shell"
) | {
    "python": "python",
    "python3": "python",
    "node": "javascript",
    "perl": "perl",
    "ruby": "ruby",
    "php": "php",
}
_WITHOUT_TAG: Final = "tree_sitter_php:language_php_only"
_MOST_INNER: Final = 20
_DEEPEST: Final = 2
_COMMANDS: Final = "(command) @it"
_ASSIGNED: Final = "(variable_assignment) @it"
_SOCKET: Final = '((file_redirect) @it (#match? @it "/dev/(tcp|udp)/"))'
_UNQUOTED: Final = regex(r"""\\\n|["'\\]""")
_LOOKED_UP: Final = regex(r"\$\((?:command -v|which|type -p) ([\w.+-]+)[^()]*\)|\$\{\w+:?[-=]([\w./+-]+)\}")
_LONGEST_VALUE: Final = 2_000
_PARTS: Final = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect", "variable_assignment"})
_EMPTYING: Final = "(redirected_statement) @it"
_OWN: Final = "(program (function_definition name: (word) @it))"
_UNSET: Final = "(unset_command) @it"
_EVERYDAY: Final = frozenset({"host", "at", "batch", "http", "https", "dig", "ftp", "drill"})
"""Programs whose names scripts give to functions of their own."""


def commands(parsed: Parsed, language: Language, depth: int = 0) -> Iterator[Hit]:
    """Every sensitive command, those in the text of ``sh -c '...'`` too."""
    known = _assigned(parsed)
    own = _own_functions(parsed)
    inner = 0
    for node in parsed.nodes(_COMMANDS):
        written = [_word(parsed, child) for child in node.named_children if child.type not in _PARTS]
        if not written:
            continue
        words = indirect.unwrapped(written)
        if words[0].startswith("$"):
            options, _ = indirect.meanings(words[0], known)
            every = [[*option.split(), *words[1:]] for option in sorted(options) if option.strip()] or [words]
        else:
            every = [words]
        kinds = [_kind(one, written[0].rsplit("/", 1)[-1], language, node, parsed) for one in every]
        if words[0].rsplit("/", 1)[-1] in own and words == written:
            kinds = []
        elif indirect.made_name(words[0], known) or _is_escaped(parsed, node):
            kinds.append(SensitiveKind.DYNAMIC_CODE)
        for nested in (found for one in every for found in indirect.started(one)):
            kinds.append(_kind(nested, "find", language, node, parsed))
        for kind in dict.fromkeys(kind for kind in kinds if kind is not None):
            yield Hit(start=node.start_byte, end=node.end_byte, kind=kind, call=" ".join(words)[:80])
        for name in dict.fromkeys(one[0].rsplit("/", 1)[-1] for one in every):
            if inner < _MOST_INNER and depth < _DEEPEST and (name in _INNER or written[0] == "env"):
                for text in _quoted(parsed, node, [name, *written[1:]]):
                    inner += 1
                    yield from _inside(text, _INNER.get(name, "shell"), language, depth + 1)
    yield from _others(parsed)


def _own_functions(parsed: Parsed) -> frozenset[str]:
    """Functions of the text itself that have the name of a program, at its top and never taken back."""
    if any(True for _ in parsed.nodes(_UNSET)):
        return frozenset()
    return frozenset(name for node in parsed.nodes(_OWN) if (name := _word(parsed, node)) in _EVERYDAY)


def _is_escaped(parsed: Parsed, node: Node) -> bool:
    r"""True where a command's name is written in numbers (``$'\x63url'``)."""
    name = node.child_by_field_name("name")
    return name is not None and b"$'" in parsed.text[name.start_byte : name.end_byte]


def _inside(text: bytes, name: str, shell: Language, depth: int) -> Iterator[Hit]:
    """What a program inside a command's argument does, in the language ``name``."""
    if name == "shell":
        yield from commands(Parsed(shell, shell.grammar(""), text), shell, depth)
        return
    language = languages()[name]
    grammar = _WITHOUT_TAG if name == "php" else language.grammar("")
    inner = Parsed(language, grammar, text) if grammar else LexicalText(language, text)
    yield from matching.named(language, text, bytes(inner.code), inner.bindings(), inner.declares)
    yield from inner.constructs()


def _others(parsed: Parsed) -> Iterator[Hit]:
    """Sockets as files, and variables that hold credentials."""
    for node in parsed.nodes(_EMPTYING):
        if indirect.emptied(node, parsed.text):
            said = " ".join(parsed.text[node.start_byte : node.end_byte].decode("utf-8", "replace").split())
            yield Hit(start=node.start_byte, end=node.end_byte, kind=SensitiveKind.DELETION, call=said[:80])
    for node in parsed.nodes(_SOCKET):
        yield Hit(start=node.start_byte, end=node.end_byte, kind=SensitiveKind.NETWORK, call="/dev/tcp")
    for node in parsed.nodes("[(variable_name) (special_variable_name)] @it"):
        name = parsed.text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        used = node.parent is not None and node.parent.type in ("simple_expansion", "expansion")
        if used and name in shared()[0]:
            kind = SensitiveKind.CREDENTIALS
            yield Hit(start=node.start_byte, end=node.end_byte, kind=kind, call=f"${name}")


def _quoted(parsed: Parsed, node: Node, words: Sequence[str]) -> Iterator[bytes]:
    """The quoted texts that a shell is given to run, each at its place in a text otherwise blank."""
    if words[0] not in ("trap", "alias") and not any(re.match(r"-[a-z]*[cerS]", word) for word in words):
        return
    inside = [part for child in node.named_children for part in (child, *child.named_children)]
    for child in inside:
        if child.type in ("raw_string", "string") and child.end_byte - child.start_byte > 2:
            text = bytearray(parsed.text[: child.end_byte - 1])
            blank(text, 0, child.start_byte + 1)
            yield bytes(text)


def by_line(text: bytes, language: Language) -> Iterator[Hit]:
    """Every sensitive command of a text that is no Bash as a whole (zsh, fish): each line by itself."""
    at = 0
    for line in text.split(b"\n"):
        if line.strip() and not line.lstrip().startswith(b"#"):
            for hit in commands(Parsed(language, language.grammar(""), line), language, _DEEPEST):
                yield Hit(start=at + hit.start, end=at + hit.end, kind=hit.kind, call=hit.call)
        at += len(line) + 1


def words(parsed: Parsed) -> list[tuple[int, int]]:
    """Where the plain words are: paths among them are told like strings."""
    return [(node.start_byte, node.end_byte) for node in parsed.nodes("[(word) (concatenation)] @it")]


def _kind(
    words: Sequence[str], first: str, language: Language, node: Node, parsed: Parsed
) -> SensitiveKind | None:
    """What a command can do; ``first`` is the name of what starts it."""
    name = words[0].rsplit("/", 1)[-1]
    if words[0].startswith(("$(", "`")) or indirect.sourced(words):
        return SensitiveKind.DYNAMIC_CODE
    if indirect.runs_input(words, node, parsed.text):
        return SensitiveKind.DYNAMIC_CODE
    for entry in language.entries:
        for written in entry.commands:
            wanted, *more = written.split()
            if (wanted == name or (wanted.endswith("*") and name.startswith(wanted[:-1]))) and _has(
                words[1:], more
            ):
                return entry.kind
    return indirect.destroys(words, first)


def _has(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """``-x`` in any cluster of options, ``()`` for no argument at all, any other word as it is."""
    for want in wanted:
        if want == "()":
            found = not words
        elif re.fullmatch(r"-\w", want):
            found = any(re.match(r"-\w", word) and want[1] in word for word in words)
        elif want.endswith("*"):
            found = any(word.startswith(want[:-1]) for word in words)
        elif want.startswith("*"):
            found = any(want[1:] in word for word in words)
        else:
            found = want in words
        if not found:
            return False
    return True


def _assigned(parsed: Parsed) -> dict[str, frozenset[str]]:
    """Variables and all that they are set to in this text; ``?`` for what nobody can say."""
    found: dict[str, set[str]] = {}
    for node in parsed.nodes(_ASSIGNED):
        written = parsed.text[node.start_byte : node.end_byte].decode("utf-8", "replace")
        name, equals, value = written.partition("=")
        if not equals or len(value) > _LONGEST_VALUE:
            continue
        looked = _LOOKED_UP.fullmatch(value.strip("\"'"))
        plain = (looked[1] or looked[2]) if looked else _UNQUOTED.sub("", value)
        if not plain:
            continue
        sure = not re.search(r"[$`(]", plain) or re.fullmatch(r"\$\{?\w+\}?/[\w./-]+", plain)
        found.setdefault(name.rstrip("+"), set()).add(plain if sure else indirect.UNKNOWN)
    if "IFS" in found:
        return {name: frozenset({indirect.UNKNOWN}) for name in found}
    return {name: frozenset(values) for name, values in found.items()}


def _word(parsed: Parsed, node: Node) -> str:
    return _UNQUOTED.sub("", parsed.text[node.start_byte : node.end_byte].decode("utf-8", "replace"))

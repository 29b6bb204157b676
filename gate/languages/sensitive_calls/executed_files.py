"""Files that something runs although their names say no language: hooks, pipelines, units, tasks, templates.

What a file is, is asked by its consequence: will something execute or trust this later? The answers are data,
``rules/executed-files.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from gate.dataclass import dataclass
from gate.languages.identity import extension
from gate.late import late_module
from gate.regex import regex
from gate.resources import rules_dir

if TYPE_CHECKING:
    import yaml
else:
    yaml = late_module("yaml")

_DEEPEST: Final = 60
_LOOKED_AT: Final = 1 << 20
_MOST: Final = 20_000
"""Values of one file."""
_ZIPPED: Final = (b"PK\x03\x04", b"PK\x05\x06")
_PACKED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"\x28\xb5\x2f\xfd", b"Rar!")
_PICKLED: Final = regex(rb"\A\x80[\x02-\x05](?=[\x95\x63\x7d\x5d\x28\x58\x8a\x4a\x4b])")
_PICKLED_TEXT: Final = regex(rb"\A[(\]}]{0,3}(?:[ld]?p?\d*\n)?c[\w.]+\n[\w.]+\n")
"""Protocol 0: a module and a name of it, a line each."""
_JSON_COMMENT: Final = regex(
    r'(?P<string>"(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*(?://[^\n]*\s*)*[\]}])', re.DOTALL
)
_INSERTED: Final = regex(rb"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<%.*?%>|@[A-Z][A-Z0-9_]+@", re.DOTALL)
_PLAIN: Final = regex(r"[\w./:=@%+,$-]+")
_PAIRS: Final = (
    ("command", "args"), ("program", "args"), ("runtimeexecutable", "runtimeargs"), ("cmd", "args"),
    ("pipeprogram", "pipeargs"), ("entrypoint", "command"), ("entrypoint", "args"), ("execute", "arguments"),
)  # fmt: skip
_SCRIPTED: Final = regex(r"\s*(python3?|node|perl|ruby)\b")
_TESTS: Final = regex(r"(?:^|/)(?:tests?|__tests__|fixtures|testdata|test_data|spec|samples?|docs?|data)/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Executed:
    """How a file of some path is run; see ``rules/executed-files.toml``."""

    what: str
    path: re.Pattern[str]
    content: re.Pattern[str] | None
    whole: str
    lines: re.Pattern[str] | None
    keys: tuple[str, ...]
    within: tuple[str, ...]


@cache
def _rules() -> tuple[Executed, ...]:
    return tuple(
        Executed(
            what=one["what"],
            path=re.compile(one["path"]),
            content=re.compile(one["content"]) if "content" in one else None,
            whole=one.get("whole", ""),
            lines=re.compile(one["lines"], re.IGNORECASE) if "lines" in one else None,
            keys=tuple(key.lower() for key in one.get("keys", ())),
            within=tuple(key.lower() for key in one.get("within", ())),
        )
        for one in _data()["file"]
    )


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads((rules_dir() / "executed-files.toml").read_text("utf-8"))


@cache
def _listed(table: str, name: str) -> frozenset[str]:
    return frozenset(_data()[table][name])


def executed(path: str, text: bytes) -> Executed | None:
    """Who runs a file of this name with this text; None where nobody is known to."""
    lowered = path.lower()
    for rule in _rules():
        if rule.path.search(lowered) and (
            rule.content is None or rule.content.search(text[:_LOOKED_AT].decode("utf-8", "replace"))
        ):
            return rule
    return None


def untemplated(path: str) -> str:
    """The name of what comes of a template: ``run.sh`` for ``run.sh.j2``; the path itself for no template."""
    stem, dot, ending = path.rpartition(".")
    name = stem.rpartition("/")[2]
    return stem if dot and ending.lower() in _listed("templates", "endings") and name else path


def filled(path: str, text: bytes) -> bytes:
    """A template's text with its insertions as plain words, every byte and line at its place."""
    if untemplated(path) == path and b"cookiecutter" not in path.encode("utf-8", "replace"):
        return text
    return _INSERTED.sub(_placeholder, text)


def _placeholder(found: re.Match[bytes]) -> bytes:
    said = found[0]
    letter = b"X" if said[:2] == b"{{" or said[:1] == b"@" or said[:3] == b"<%=" else b" "
    return re.sub(rb"[^\n]", letter, said)


def loaded_binary(path: str, text: bytes) -> bool:
    """True for what is no text and is loaded, unpacked or started by somebody: programs, archives, models."""
    ending = extension(path)
    if ending in _listed("binary", "programs") and _is_binary(text):
        return True
    if ending in _listed("binary", "documents"):
        return False
    model = ending in _listed("binary", "models")
    if _PICKLED.match(text) or (model and (_is_binary(text) or _PICKLED_TEXT.match(text))):
        return True
    if not text.startswith((*_ZIPPED, *_PACKED)):
        return False
    stored = _TESTS.search(path.lower()) is not None  # data of tests; who loads it is told by their code
    return not stored or ending not in _listed("binary", "archives")


def _is_binary(text: bytes) -> bool:
    if b"\0" in text[:8192]:
        return True
    try:
        text[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start < 4090  # one that is only cut in two stands at the end
    return False


def commands(path: str, text: bytes) -> list[tuple[int, str]] | None:
    """The commands in a file that is run by parts, with the line each begins on; None where it is no such
    file or cannot be read as what its name says.
    """
    rule = executed(path, text)
    if rule is None or rule.whole:
        return [] if rule is None else None
    said = text.decode("utf-8", "replace")
    if rule.lines is not None:
        return list(_by_lines(rule.lines, said))
    name = path.lower()
    if name.endswith(".toml"):
        return list(_by_toml(rule, said))
    if name.endswith((".json", ".jsonc", ".code-workspace")) or ".sublime-" in name:
        said = _JSON_COMMENT.sub(_without_comment, said).replace("\t", " ")
    for one in (said, _INSERTED.sub(_placeholder, text).decode("utf-8", "replace")):
        try:
            root = yaml.compose(one, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (yaml.YAMLError, RecursionError, ValueError):
            continue
        return list(_by_keys(rule, root)) if root is not None else []
    return list(_by_indent(rule, said))


def _without_comment(found: re.Match[str]) -> str:
    return found[0] if found["string"] else re.sub(r"[^\n]", " ", found[0])


def _by_lines(pattern: re.Pattern[str], said: str) -> Iterator[tuple[int, str]]:
    """Each command of a format of lines; what is indented below it, or follows a backslash, goes on."""
    going = False
    for number, line in enumerate(said.split("\n"), 1):
        match = pattern.match(line)
        if match:
            yield number, match[1]
        elif going and line[:1] in " \t" and line.strip() and not line.lstrip().startswith(("#", ";")):
            yield number, line
        else:
            match = None if not line.strip() else match
        going = bool(match) or (going and line[:1] in (" ", "\t") and bool(line.strip()))


def _by_toml(rule: Executed, said: str) -> Iterator[tuple[int, str]]:
    """TOML has no marks: keys are looked for by lines, texts over several lines are followed."""
    open_text = ""
    below = False
    for number, line in enumerate(said.split("\n"), 1):
        if open_text:
            yield number, line.replace(open_text, "")
            open_text = "" if open_text in line else open_text
            continue
        table = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        if table:
            below = bool(
                re.search(r"(?:^|\.)(?:scripts|tasks|commands|alias)(?:\.|$)", table[1].replace('"', ""))
            )
            continue
        pair = re.match(r"\s*([\w\"'.-]+)\s*=\s*(.*)", line)
        if pair and (below or _is_key(pair[1].strip("\"'").lower(), rule.keys)):
            value = pair[2]
            mark = next((mark for mark in ('"""', "'''") if value.startswith(mark)), "")
            if mark and value.count(mark) == 1:
                open_text = mark
            inline = re.sub(r"[\[\]{},]|\b\w+\s*=", " ", value) if value[:1] in "[{" else value
            yield number, inline.replace(mark, "") if mark else _unquoted(inline)


def _unquoted(value: str) -> str:
    return re.sub(r"""(["'])((?:\\.|(?!\1).)*)\1""", lambda m: m[2].replace('\\"', '"'), value)


def _is_key(key: str, keys: tuple[str, ...]) -> bool:
    return any(key == one or ("*" in one and fnmatchcase(key, one)) for one in keys)


def _by_keys(rule: Executed, root: yaml.Node) -> Iterator[tuple[int, str]]:
    """The values of the rule's keys, one command for a list of words (``["sh", "-c", "x"]``)."""
    todo: list[tuple[yaml.Node, bool, int]] = [(root, False, 0)]
    seen: set[int] = set()
    told = 0
    while todo and told < _MOST:
        node, taken, depth = todo.pop()
        if depth > _DEEPEST or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            if taken:
                told += 1
                yield from _of_scalar(node)
        elif isinstance(node, yaml.SequenceNode):
            if taken and _is_words(node):
                told += 1
                yield node.start_mark.line + 1, _joined(node)
            else:
                todo += [(child, taken, depth + 1) for child in reversed(node.value)]
        elif isinstance(node, yaml.MappingNode):
            yield from _program_and_words(rule, node)
            for key, value in reversed(node.value):
                name = key.value.lower() if isinstance(key, yaml.ScalarNode) else ""
                inner = _is_key(name, rule.within)
                flat = isinstance(value, (yaml.ScalarNode, yaml.SequenceNode))
                todo.append(
                    (
                        value,
                        inner or (_is_key(name, rule.keys) and flat) or (taken and _runs(rule)),
                        depth + 1,
                    )
                )


def _program_and_words(rule: Executed, node: yaml.MappingNode) -> Iterator[tuple[int, str]]:
    """What stands under two keys: a program and its words, a text and the interpreter that runs it."""
    named = {key.value.lower(): value for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    for program, words in _PAIRS:
        first, rest = named.get(program), named.get(words)
        if not (_is_key(program, rule.keys) and isinstance(first, yaml.ScalarNode)):
            continue
        if isinstance(rest, yaml.SequenceNode) and all(isinstance(n, yaml.ScalarNode) for n in rest.value):
            yield first.start_mark.line + 1, _joined_words([str(first.value), *(n.value for n in rest.value)])
    shell, run, uses = named.get("shell"), named.get("run"), named.get("uses")
    if isinstance(shell, yaml.ScalarNode) and (script := _SCRIPTED.match(shell.value)):
        yield from _with_interpreter(script[1], run)
    if isinstance(uses, yaml.ScalarNode) and uses.value.startswith("actions/github-script"):
        given = named.get("with")
        pairs = given.value if isinstance(given, yaml.MappingNode) else ()
        for key, value in pairs:
            if isinstance(key, yaml.ScalarNode) and key.value == "script":
                yield from _with_interpreter("node", value)


def _with_interpreter(program: str, text: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """A text and what runs it, as the command that does the same."""
    if not isinstance(text, yaml.ScalarNode):
        return
    option = "-e" if program in ("node", "perl", "ruby") else "-c"
    lines = "{} {} '{}'".format(program, option, text.value.replace("'", '"')).split("\n")
    yield from enumerate(lines, text.start_mark.line + (2 if text.style in ("|", ">") else 1))


def _by_indent(rule: Executed, said: str) -> Iterator[tuple[int, str]]:
    """What stands behind the keys, and more to the right below them, of a text that is no YAML as a whole: a
    template of one, several documents.
    """
    depth = -1
    for number, line in enumerate(said.split("\n"), 1):
        here = len(line) - len(line.lstrip())
        pair = re.match(r"[\s{-]*[\"']?([\w.*-]+)[\"']?\s*:\s*(.*)", line)
        if pair and _is_key(pair[1].lower(), (*rule.keys, *rule.within)):
            depth = here
            yield number, re.sub(r"\A[|>][-+\d]*\s*\Z", "", pair[2])
        elif line.strip() and (here > depth or line.lstrip().startswith("- ")) and depth >= 0:
            yield number, re.sub(r"\A\s*-\s+", "", line)
        elif line.strip():
            depth = -1


def _runs(rule: Executed) -> bool:
    return bool(rule.within)


def _of_scalar(node: yaml.ScalarNode) -> Iterator[tuple[int, str]]:
    line = node.start_mark.line + 1
    if node.style in ("|", ">"):
        for number, one in enumerate(str(node.value).split("\n"), 1):
            yield line + number, one
    else:
        yield line, str(node.value)


def _is_words(node: yaml.SequenceNode) -> bool:
    """True for a command as a list of words (``["sh", "-c", "x"]``), not a list of commands."""
    if not node.flow_style or not all(isinstance(child, yaml.ScalarNode) for child in node.value):
        return False
    return len(node.value) > 1 and " " not in str(node.value[0].value).strip()


def _joined(node: yaml.SequenceNode) -> str:
    return _joined_words([str(child.value) for child in node.value])


def _joined_words(words: list[str]) -> str:
    if words[0] == "-c":  # the shell stands under another key
        words = ["sh", *words]
    plain = (word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "") + "'" for word in words)
    return " ".join(plain)

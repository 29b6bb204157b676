"""The languages that can be read, from ``rules/sensitive-calls/*.toml``, and which one a file is in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.identity import SNIFF, extension, file_name, is_dockerfile_variant, shebang_program
from gate.languages.sensitive_calls.executed_files import executed, loaded_binary, untemplated
from gate.model.sensitive import SensitiveKind
from gate.regex import regex
from gate.resources import rules_dir

_BINARIES: Final = (b"\x7fELF", b"MZ\x90\0", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\0asm", b"!<arch>\n")
_COMPILED: Final = frozenset(
    {"pyc", "pyo", "pyd", "so", "dll", "exe", "dylib", "class", "jar", "wasm", "o", "a"}
)
_PHP_OR_SHELL: Final = frozenset({"inc", "module"})
_MARKED: Final = regex(rb"<%|\{\{|\{%|<#|\$\{")
_DATA_NAMES: Final = frozenset({"", "txt", "dat", "cfg"})
_JAVASCRIPT: Final = regex(
    rb"\brequire\s{0,9}\(\s{0,9}['\"][\w@/.:-]{1,80}['\"]\s{0,9}\)|^module\.exports\b|^import\s[^\n]{1,80}\sfrom\s+['\"]",
    re.MULTILINE,
)
_PYTHON: Final = regex(rb"^(?:import [A-Za-z_][\w.]*|from [A-Za-z_.][\w.]* import [\w(*])", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class CallEntry:
    """One table ``[[sensitive]]``: what it finds and what that can do. See docs/sensitive-calls.md."""

    id: str
    kind: SensitiveKind
    calls: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    """Regular expressions on the text without its comments, for what is no name."""
    query: str = ""
    but: tuple[str, ...] = ()
    """Names that are none, of those that ``calls`` matches by a star. Python only."""
    unless: str = ""
    """Searched in the arguments as written; a call with it is none."""
    given: str = ""
    """Searched in the arguments as written; only a call with it is one."""
    objects: tuple[str, ...] = ()
    """Modules that must not leave the text as a whole, nor be indexed by a name that is made."""
    sets: tuple[str, ...] = ()
    """Members that do it by being given a value."""
    imported: bool = False
    """Everyday names: they count for what was imported or is global, not for a parameter."""
    product: bool = False
    """Not in tests, samples and documentation, where such calls are everyday."""
    beside: bool = False
    """Only in a text that has a call of the same kind, too: a header that is set, where something is sent."""
    lazy: bool = False
    """It makes ready what reaches out later: nothing outside of the process shows the call itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Syntax:
    """How the text of a language is taken apart. Without a grammar the lexical fields say it all."""

    imports: str = ""
    modules: str = ""
    """What name an import without one of its own gives: ``last`` or nothing."""
    inert: tuple[str, ...] = ()
    """Kinds of nodes that are no code to be run: imports, type declarations, docstrings."""
    strings: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    bare: bool = False
    """Names are called without parentheses."""
    colon: bool = False
    """A colon before a name makes it a method."""
    fold: bool = False
    """Upper and lower case are the same."""
    line_comments: tuple[str, ...] = ()
    block_comments: tuple[tuple[str, str], ...] = ()
    quotes: tuple[str, ...] = ()
    doubled: bool = False
    """A quote inside a string is written twice; a backslash is a character."""
    escapes: bool = False
    """Names can be written with ``\\u`` escapes."""
    spliced: bool = False
    """A backslash at a line's end joins lines, names too."""
    command_quotes: tuple[str, ...] = ()
    """What begins a text that is run as a command."""
    run: tuple[str, ...] = ()
    """Patterns of texts that are given to a shell: the group ``text``."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Language:
    """One language. ``grammars`` maps an extension (or nothing) to ``module:function`` of its grammar."""

    id: str
    name: str
    grammars: Mapping[str, str]
    syntax: Syntax
    entries: tuple[CallEntry, ...]
    extensions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()

    def grammar(self, path: str) -> str:
        """The grammar for a file of this language, empty where there is none."""
        return self.grammars.get(extension(untemplated(path))) or self.grammars.get("", "")


class _Languages(Mapping[str, Language]):
    """The languages by id. A table is read when its language is asked for: reading all takes a tenth of a
    second, and a change is in a few of them.
    """

    def __init__(self, folder: Path) -> None:
        self._texts = {
            path.stem: path.read_text("utf-8")
            for path in sorted(folder.glob("*.toml"))
            if not path.stem.startswith("_")
        }
        self._read: dict[str, Language] = {}

    def __getitem__(self, name: str) -> Language:
        if name not in self._texts:
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = _language(name, self._whole)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def heads(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What each says of itself before its first table: how its files are known."""
        for name, text in self._texts.items():
            yield name, tomllib.loads(text.partition("\n[")[0])

    def _whole(self, name: str) -> Mapping[str, Any]:
        return tomllib.loads(self._texts[name]) if name else {}


@cache
def languages() -> _Languages:
    """Every language by its id (the name of its file)."""
    return _Languages(rules_dir() / "sensitive-calls")


@cache
def unshipped(language: Language) -> Language:
    """The language as tests, samples and documentation are read: without what counts in products only."""
    kept = tuple(entry for entry in language.entries if not entry.product)
    return language if len(kept) == len(language.entries) else replace(language, entries=kept)


@cache
def shared_tables() -> Mapping[str, Any]:
    """What is the same for all languages: ``_shared.toml`` as it is written."""
    path = rules_dir() / "sensitive-calls" / "_shared.toml"
    return tomllib.loads(path.read_text("utf-8"))


@cache
def shared() -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
    """Variables that hold credentials, and (kind, pattern) of paths that do or that are run later."""
    names = shared_tables()
    paths = tomllib.loads((rules_dir() / "sensitive-paths.toml").read_text("utf-8"))
    left_out = frozenset(names["paths"]["except"])
    return frozenset(names["variables"]["credentials"]), tuple(
        (kind, entry["pattern"])
        for group, kind in (("credential", "credentials"), ("persistence", "persistence"))
        for entry in paths[group]
        if entry["what"] not in left_out
    )


def table_of(path: str, text: bytes) -> str | None:
    """The id of the language a program file is in, ``binary`` for a compiled program, None for no program.

    A shebang wins over the name; text under a data name that begins as Python is Python.
    """
    if text.startswith(_BINARIES) or extension(path) in _COMPILED or loaded_binary(path, text):
        return "binary"
    written, path = path, untemplated(path)
    suffix = extension(path)
    extensions, names, interpreters = _lookups()
    named = extensions.get(suffix)
    if run := interpreters.get(shebang_program(text)):
        return named if (run, named) == ("javascript", "typescript") else run
    found = names.get(file_name(path)) or named
    if found == "php" and suffix in _PHP_OR_SHELL and b"<?" not in text:
        found = "shell"  # a fragment that a script sources
    if found:
        return found
    if (run_by := executed(path, text)) is not None:
        return run_by.whole or "commands"
    if is_dockerfile_variant(path):
        return "dockerfile"
    if path != written and _MARKED.search(text):
        return "template"
    if suffix not in _DATA_NAMES:
        return None
    if len(_PYTHON.findall(text[:SNIFF])) >= 2:
        return "python"
    return "javascript" if len(_JAVASCRIPT.findall(text[:SNIFF])) >= 2 else None


@cache
def _lookups() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    every = [*languages().heads()]
    return (
        {extension: name for name, head in every for extension in head.get("extensions", ())},
        {file: name for name, head in every for file in head.get("names", ())},
        {program: name for name, head in every for program in head.get("interpreters", ())},
    )


def _language(name: str, read: Callable[[str], Mapping[str, Any]]) -> Language:
    own = read(name)
    parent = read(own.get("like", ""))
    syntax = {**parent.get("syntax", {}), **own.get("syntax", {})}
    tables = {entry["id"]: entry for entry in (*parent.get("sensitive", ()), *own.get("sensitive", ()))}
    return Language(
        id=name,
        name=own["name"],
        grammars=own.get("grammars", {}),
        syntax=Syntax(**{key: _frozen(value) for key, value in syntax.items()}),
        entries=tuple(_entry(entry) for entry in tables.values()),
        extensions=tuple(own.get("extensions", ())),
        names=tuple(own.get("names", ())),
        interpreters=tuple(own.get("interpreters", ())),
    )


def _entry(table: Mapping[str, Any]) -> CallEntry:
    values = {key: _frozen(value) for key, value in table.items()}
    return CallEntry(**{**values, "kind": SensitiveKind(table["kind"])})


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value

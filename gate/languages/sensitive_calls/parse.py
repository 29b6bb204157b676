"""Reads one file, in the limited child process: its lines of code and its sensitive calls."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.commands.versions import without_versions
from gate.languages.path_roles import is_unshipped
from gate.languages.sensitive_calls import (
    embedded,
    executed_files,
    go_calls,
    javascript_calls,
    matching,
    shell,
    telling_texts,
    templates,
)
from gate.languages.sensitive_calls.grammar import Parsed
from gate.languages.sensitive_calls.lexical import LexicalText
from gate.languages.sensitive_calls.matching import Hit
from gate.languages.sensitive_calls.names import with_members
from gate.languages.sensitive_calls.python.reading import TangledError
from gate.languages.sensitive_calls.python.reading import hits as python_hits
from gate.languages.sensitive_calls.table import Language, languages, shared, table_of, unshipped
from gate.languages.sensitive_calls.unreadable import minified, utf8
from gate.model.sensitive import FunctionReading, Reference, SensitiveCall, SensitiveKind, SourceReading
from gate.regex import regex

_SCRIPTED: Final = frozenset({"html", "notebook", "template", "names"})
"""Files whose own lines are no code: only their parts are."""
_LOOSE: Final = frozenset({"javascript", "typescript"})
"""Formatters add and remove semicolons, and braces around what an arrow function gives back."""
_BROKEN: Final = 0.5
_MOST: Final = 5_000
_LONE: Final = regex(rb"\r(?!\n)")
_PUNCTUATION: Final = regex(rb"[^\s{}()\[\];,]")
_CLOSING: Final = frozenset(
    {b"end", b"else", b"fi", b"done", b"esac", b"then", b"do", b"begin", b"try", b"finally"}
)
_ESCAPED: Final = regex(rb"\\u+[0-9a-fA-F{]")
_ESCAPED_BREAK: Final = regex(rb"\\u+000[aAdD]")
_SPLICED: Final = regex(rb"\w\\[ \t]*\r?\n\w")
_QUOTES: Final = regex(rb"\A[\w$@#%]{0,4}(['\"`]{1,3})(.*?)\1#*\Z", re.DOTALL)
_PLUS: Final = regex(rb"\s{0,20}(?:\+|\.{1,2}|<>|~|&)?\s{0,20}")
"""Between constant texts that are put together."""
_SEAM: Final = regex(r"""(["'`])\s*(?:\+|\.{1,2}|<>|~|&)\s*\1""")
_LONGEST_PATH: Final = 300
_NEAR: Final = 80
_READS: Final = regex(
    rb"(?i)(?:env|environ|environment|var|variable|secrets?|config|get\w*|lookup\w*|read\w*|pop|setdefault|input|fetch|param\w*)"
    rb"[!?]?(?:\.\w+|::\w+|\?\.)*\s*(?:[(\[]|\s)\s*[&*]?[rbuf@]?\Z"
)
"""What stands before the name of a variable that is read: ``getenv(``, ``environ[``, ``config.get(``."""
_READS_BY_NAME: Final = regex(
    rb"(?i)(?:\benv|environ|getenv|environment\w*|secrets)(?:\s*\??\.\s*\w+)?\s*[!?.]*\s*[(\[]\s*[A-Za-z_$@&*]"
)
"""A variable that is read by a name which is made while running."""
_TOKEN: Final = regex(
    rb"(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(?P<space>\s+)|[\w\x80-\xff]+|.",
    re.DOTALL,
)
_ENDS_WORD: Final = regex(rb"[\w\x80-\xff]")


def prepare() -> None:
    """In the template of children: the tables that almost every reading needs."""
    read_one("a.py", b"import os\n", {})


def read_one(path: str, data: bytes, options: Mapping[str, Any]) -> SourceReading:
    """What one program file says. Runs in the limited child; may raise (the file is then not readable)."""
    del options
    language = table_of(path, data) or ""
    text = utf8(data)
    if language == "binary" or language not in languages() or text is None:
        return SourceReading(language=language, readable=False, reason="compiled or unknown")
    known = languages()[language]
    plain = _LONE.sub(b"\n", text)
    text = executed_files.filled(path, text)
    parts = embedded.parts(known, path, _LONE.sub(b"\n", text))
    parts += templates.inserted(path, plain)
    if not parts:
        return SourceReading(language=language, readable=False, reason="does not parse")
    starts = [0, *accumulate(len(line) + 1 for line in text.split(b"\n"))]
    found = _Found()
    for part in parts:
        if reason := found.read(part, path, starts):
            return SourceReading(language=language, readable=False, reason=reason)
    ordered = sorted(found.calls, key=lambda call: (call.first, call.last, call.kind.value, call.call))
    return SourceReading(
        language=language,
        executable=tuple(sorted(found.executable)),
        calls=tuple(ordered),
        functions=found.functions,
        methods=found.methods,
        references=tuple(found.references[:_MOST]),
        strings=tuple(found.strings[:_MOST]),
    )


@dataclass
class _Found:
    """What the parts of a file that were read so far say."""

    executable: set[int] = field(default_factory=set)
    calls: set[SensitiveCall] = field(default_factory=set)
    functions: tuple[FunctionReading, ...] = ()
    methods: tuple[str, ...] = ()
    references: list[Reference] = field(default_factory=list)
    strings: list[Reference] = field(default_factory=list)

    def read(self, part: embedded.EmbeddedPart, path: str, starts: list[int]) -> str:
        """Add what one part says. The reason why the file counts as not readable, else an empty text."""
        if not part.language.entries:
            return "no grammar and no word list"
        if is_unshipped(path):
            part = replace(part, language=unshipped(part.language))
        parsed = (
            Parsed(part.language, part.grammar, part.text)
            if part.grammar
            else LexicalText(part.language, part.text)
        )
        if reason := _reason(part.language, parsed):
            return reason
        if part.language.id not in _SCRIPTED:
            self.executable.update(_placed(part, line) for line in _code_lines(parsed, starts, part))
        try:
            followed = (
                python_hits(part.language, path, parsed.text, _told) if part.language.id == "python" else None
            )
        except TangledError as error:
            return str(error)
        if followed is not None:
            self.functions, self.methods = followed[1:]
            hits = [*followed[0], *_paths(parsed, parsed.strings, _told)]
        else:
            hits = list(_all_hits(part.language, parsed, shipped=not is_unshipped(path)))
        if part.language.id in telling_texts.LANGUAGES and not is_unshipped(path):
            told = {(hit.start, hit.end) for hit in hits}
            more = telling_texts.telling_texts(parsed.text, parsed.strings)
            hits += [hit for hit in more if (hit.start, hit.end) not in told]
        surely = {hit.kind for hit in hits if not hit.beside}
        for hit in hits:
            if hit.beside and hit.kind not in surely:
                continue
            call = _call(hit, parsed, starts, part)
            if hit.names:
                named = self.strings if hit.names[0].startswith("=") else self.references
                named.append(Reference(names=hit.names, call=call, here=hit.here))
                continue
            self.calls.add(call)
            if len(self.calls) > _MOST:
                return f"more than {_MOST} sensitive calls"
        return ""


def _reason(language: Language, parsed: Parsed | LexicalText) -> str:
    """Why a person or a parser cannot read this text, empty when they can."""
    code = bytes(parsed.code)
    if language.id not in _SCRIPTED and minified(code):
        return "minified or generated: a line holds more than 1,000 bytes of code"
    if language.syntax.escapes and (
        _ESCAPED.search(code) or (language.id == "java" and _ESCAPED_BREAK.search(parsed.text))
    ):
        return "names are written with escapes"
    if language.syntax.spliced and _SPLICED.search(code):
        return "a name is split over lines"
    broken = 0.0 if language.syntax.quotes or language.id == "shell" else parsed.broken()
    return f"does not parse: {broken:.0%} of it is no {language.name}" if broken > _BROKEN else ""


def _all_hits(language: Language, parsed: Parsed | LexicalText, *, shipped: bool) -> Iterator[Hit]:
    """What the tree shows, and what the words alone show where the grammar lost its way."""
    yield from _hits(language, parsed, shipped=shipped)
    if not isinstance(parsed, Parsed) or parsed.broken() <= _BROKEN:
        return
    if language.id == "shell":
        yield from shell.by_line(parsed.text, language)
    elif language.syntax.quotes:
        yield from _hits(language, LexicalText(language, parsed.text), shipped=shipped)


def _hits(language: Language, parsed: Parsed | LexicalText, *, shipped: bool) -> Iterator[Hit]:
    with_members(parsed.text, parsed.code)
    code = bytes(parsed.code)
    if language.id == "shell" and isinstance(parsed, Parsed):
        yield from shell.commands(parsed, language)
        yield from parsed.constructs()
        yield from _paths(parsed, (*parsed.strings, *shell.words(parsed)))
        return
    named = matching.named(language, parsed.text, code, parsed.bindings(), parsed.declares)
    if language.id in javascript_calls.LANGUAGES and isinstance(parsed, Parsed):
        named = javascript_calls.javascript_hits(parsed, language, list(named), shipped=shipped)
    elif language.id == "go" and isinstance(parsed, Parsed):
        named = go_calls.go_hits(parsed, language, list(named), shipped=shipped)
    yield from named
    yield from matching.phrased(language, code)
    yield from matching.patterned(language, bytes(parsed.lines))
    yield from parsed.constructs()
    yield from _paths(parsed, parsed.strings)


def _paths(
    parsed: Parsed | LexicalText,
    strings: tuple[tuple[int, int], ...],
    told: Callable[[str], SensitiveKind | None] | None = None,
) -> Iterator[Hit]:
    """Strings that are, as a whole, the path or the variable of a credential, or a file that is run later."""
    for start, end in _joined(parsed.text, strings):
        if end - start > _LONGEST_PATH:
            continue
        quoted = _QUOTES.match(parsed.text[start:end])
        content = (quoted[2] if quoted else parsed.text[start:end]).decode("utf-8", "replace")
        content = _SEAM.sub("", content)
        found = (told or _sensitive_text)(content)
        if found and content in shared()[0] and not _is_asked_for(parsed, start):
            continue
        if found:
            yield Hit(start=start, end=end, kind=found, call=content[:80], way="read")


def _joined(text: bytes, strings: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Each string, and each row of them that is put together where it stands."""
    row: tuple[int, int] | None = None
    for start, end in sorted(strings):
        yield start, end
        if row is not None and _PLUS.fullmatch(text, row[1], start):
            row = (row[0], end)
            yield row
        else:
            row = (start, end)


def _is_asked_for(parsed: Parsed | LexicalText, start: int) -> bool:
    """True where the name of a variable is read by, here or by whatever name the text has at hand: a list of
    names, a message or a key of a table reads nothing.
    """
    before = bytes(parsed.text[max(0, start - _NEAR) : start])
    return bool(_READS.search(before) or _READS_BY_NAME.search(bytes(parsed.code)))


@cache
def _sensitive_paths() -> tuple[tuple[SensitiveKind, re.Pattern[str]], ...]:
    return tuple((SensitiveKind(kind), re.compile(pattern)) for kind, pattern in shared()[1])


def _sensitive_text(content: str) -> SensitiveKind | None:
    return SensitiveKind.CREDENTIALS if content in shared()[0] else _told(content)


def _told(content: str) -> SensitiveKind | None:
    """What a text is the path of. The name of a variable alone is none: in Python its use is followed."""
    if not re.search(r"[./]\w", content):
        return None
    return next((kind for kind, pattern in _sensitive_paths() if pattern.search(content)), None)


def _code_lines(
    parsed: Parsed | LexicalText, starts: list[int], part: embedded.EmbeddedPart
) -> Iterator[int]:
    """Numbers of lines with more than comments and closing brackets; in the part where it has own lines."""
    kept = bytes(parsed.lines)
    if part.lines is not None:
        starts = [0, *accumulate(len(line) + 1 for line in kept.split(b"\n"))]
    for number, (start, end) in enumerate(pairwise(starts), 1):
        line = kept[start:end]
        if _PUNCTUATION.search(line) and line.strip(b" \t\r\n;){}") not in _CLOSING:
            yield number


def _is_one_parameter(tokens: list[bytes]) -> bool:
    """Do they end with ``(name)=``, in front of an arrow?"""
    return (
        len(tokens) >= 4
        and tokens[-1] == b"="
        and tokens[-2] == b")"
        and tokens[-4] == b"("
        and (_ENDS_WORD.match(tokens[-3]) is not None)
    )


def _placed(part: embedded.EmbeddedPart, line: int) -> int:
    return part.lines[min(line, len(part.lines)) - 1] if part.lines else line


def _call(
    hit: Hit, parsed: Parsed | LexicalText, starts: list[int], part: embedded.EmbeddedPart
) -> SensitiveCall:
    if part.lines is not None:
        starts = [0, *accumulate(len(line) + 1 for line in part.text.split(b"\n"))]
    first, last = (bisect_right(starts, at) for at in (hit.start, max(hit.start, hit.end - 1)))
    begin, end = parsed.statement(hit.start, hit.end)
    spaced = part.language.id == "shell"
    function, body = _surrounding(hit, parsed, spaced=spaced)
    statement = bytes(parsed.lines[begin:end])
    if spaced:
        statement = _of_any_version(statement)
    return SensitiveCall(
        function=function,
        body=body,
        first=_placed(part, first),
        last=max(_placed(part, first), _placed(part, last)),
        kind=hit.kind,
        call=hit.call[:200],
        column=hit.start - starts[first - 1],
        end_column=max(hit.end - starts[last - 1], 0),
        way=hit.way,
        fed=hit.fed,
        statement=_digest(statement, spaced, part.language.id in _LOOSE),
    )


def _surrounding(hit: Hit, parsed: Parsed | LexicalText, *, spaced: bool) -> tuple[str, str]:
    """SensitiveCall's ``function`` and ``body``; nothing where only a word list reads the language."""
    if not isinstance(parsed, Parsed):
        return "", ""
    names, (begin, end), blocks = parsed.around(hit.start, hit.end)
    if begin != end:
        return ".".join(names)[-200:], _digest(bytes(parsed.lines[begin:end]), spaced)
    return "", _digest("\n".join(blocks).encode(), True) if blocks else ""


@lru_cache(maxsize=64)  # as many calls stand in the same statement
def _of_any_version(statement: bytes) -> bytes:
    """Another release of the same tool is the same command."""
    return without_versions(statement.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


@lru_cache(maxsize=64)  # many calls stand in the same function
def _digest(statement: bytes, spaced: bool, loose: bool = False) -> str:
    """The same for a statement however it is laid out: white space, kind of quotes, trailing commas.

    ``spaced`` is for languages where white space parts words: there it is only made one space. ``loose``:
    also with and without semicolons, the braces of a callback that is one expression and the brackets of its
    only parameter.
    """
    if spaced:
        return hashlib.blake2b(b" ".join(statement.split()), digest_size=12).hexdigest()
    tokens: list[bytes] = []
    space = False
    for match in _TOKEN.finditer(statement):
        if match["space"]:
            space = True
            continue
        token = b'"' + match["string"][1:-1] + b'"' if match["string"] else match[0]
        if tokens and space and _ENDS_WORD.search(tokens[-1]) and _ENDS_WORD.match(token):
            tokens.append(b" ")
        if token in b")]}" and tokens and tokens[-1] == b",":
            tokens.pop()
        if loose and token in b";{}":
            space = True  # parts words, as the end of a line does
            continue
        if loose and token == b">" and _is_one_parameter(tokens):
            word_before = len(tokens) > 4 and _ENDS_WORD.search(tokens[-5])
            tokens[-4:] = [*([b" "] if word_before else []), tokens[-3], b"="]
        tokens.append(token)
        space = False
    return hashlib.blake2b(b"".join(tokens).rstrip(b";,"), digest_size=12).hexdigest()

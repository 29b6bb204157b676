"""Programs inside other files: scripts in HTML, commands in a Dockerfile or a Makefile, cells of a notebook.

Each part keeps the place it has in the file: everything else is blanked, so that lines and bytes stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.languages.sensitive_calls import executed_files
from gate.languages.sensitive_calls.grammar import Parsed, blank
from gate.languages.sensitive_calls.lexical import LexicalText
from gate.languages.sensitive_calls.table import Language, languages
from gate.regex import regex

_SCRIPTS: Final = "[(script_element) (attribute)] @it"
_KINDS: Final = {
    "ts": "typescript",
    "tsx": "typescript",
    "typescript": "typescript",
    "text/typescript": "typescript",
    "vbscript": "visualbasic",
    "text/vbscript": "visualbasic",
}
_JAVASCRIPT: Final = frozenset(
    {"", "module", "js", "jsx", "javascript", "text/javascript", "application/javascript", "text/babel"}
)
_INSTRUCTION: Final = regex(
    rb"[ \t]*(?:ONBUILD[ \t]+)?(?P<word>RUN|CMD|ENTRYPOINT|SHELL|HEALTHCHECK[ \t]+(?:--\S+[ \t]+)*CMD)"
    rb"[ \t]+(?:--\S+[ \t]+)*",
    re.IGNORECASE,
)
_HEREDOC: Final = regex(rb"<<-?\s*[\"']?(\w+)[\"']?")
_RECIPE: Final = regex(rb"(?P<lead>\t[ \t]*[@+-]*[ \t]*)(?P<rest>[^\n]*)")
_INDENTED: Final = regex(rb"(?P<lead>[ \t]+[@-]*[ \t]*)(?P<rest>[^\n]*)")
_INLINE: Final = regex(rb"[^\s#:=][^#:=\n]*:(?!=)[^#=;\n]*;(?P<rest>[^\n]*)")
_BACKTICKS: Final = regex(rb"^[\w-]+[ \t]*:=[ \t]*`(?P<text>[^`\n]*)`", re.MULTILINE)
_SHEBANG: Final = regex(
    rb"^[ \t]+#![^\n]*python[^\n]*\n(?P<text>(?:[ \t]+[^\n]*(?:\n|\Z)|\n)+)", re.MULTILINE
)
_DEFINED: Final = regex(
    rb"^define[ \t]+(?P<name>\w+)[ \t]*=?[ \t]*\n(?P<text>.{0,20000}?)^endef\b", re.MULTILINE | re.DOTALL
)
_USED: Final = regex(rb"^[ \t]*[@+-]*[ \t]*\$\((?P<name>\w+)\)[ \t]*$", re.MULTILINE)
_PLACED: Final = regex(
    rb"(?:^|[;&|({`]|\b(?:then|do|else)\b)[ \t]*[@+-]*[ \t]*\$[({](?P<name>\w+)[)}]", re.MULTILINE
)
_VALUE: Final = regex(
    rb"^[ \t]*(?:(?:export|override|private)[ \t]+)*(?:[^\n#:=\t]+:[ \t]*)?"
    rb"(?P<name>\w+)[ \t]*(?:\?|\+|:{1,3})?="
    rb"[ \t]*(?P<joined>[;&|]+[ \t]*)?(?P<text>(?:[^\n]*\\\n)*[^\n]*)",
    re.MULTILINE,
)
_MADE: Final = regex(rb"\$\(shell[ \t]|!=[ \t]*(?P<set>[^\n]*)")
_STEP: Final = regex(
    rb"\bsh\b\s*\(?\s*(?:\w+\s*:\s*\w+\s*,\s*)?(?:script\s*:\s*)?"
    rb"(?P<quote>\"\"\"|'''|\"|')(?P<text>.{0,20000}?)(?P=quote)",
    re.DOTALL,
)
_ESCAPE: Final = regex(rb"\\[n\"']|(?:&amp;){1,2}|&(?:quot|apos|lt|gt|#10|#xA);", re.IGNORECASE)
_MEANT: Final[Mapping[bytes, bytes]] = {
    b"n": b";", b'"': b'"', b"'": b"'", b"quot": b'"', b"apos": b"'", b"amp": b"&", b"amp;&amp": b"&&",
    b"lt": b"<", b"gt": b">", b"#10": b";", b"#xa": b";",
}  # fmt: skip
_VARIABLE: Final = regex(rb"\$\((\w+)\)")
_NESTED: Final = 4
"""Variables of a Makefile that are made of others, as deep."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedPart:
    """One program: its text (as long as the file's, or with ``lines``: the file's line of each line)."""

    language: Language
    grammar: str
    text: bytes
    lines: tuple[int, ...] | None = None


def parts(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    """The programs in a file, in the order they stand. Most files are one."""
    reader = _READERS.get(language.id)
    if reader is not None:
        return reader(language, path, text)
    whole = EmbeddedPart(language=language, grammar=language.grammar(path), text=text)
    return (whole, _given_to_a_shell(language, text)) if language.syntax.run else (whole,)


def _given_to_a_shell(language: Language, text: bytes) -> EmbeddedPart:
    """The texts in settings of builds that a shell runs, their quotes and entities read."""
    shown = LexicalText(language, text).lines
    spans: list[tuple[int, int]] = []
    for pattern in language.syntax.run:
        spans += (match.span("text") for match in re.finditer(pattern.encode(), bytes(shown), re.DOTALL))
    kept, at = bytearray(only(text, [])), 0
    for start, end in sorted(spans):
        if start >= at:
            kept[start:end] = _ESCAPE.sub(_unescaped, text[start:end])
            at = end
    return of("shell", "a.sh", bytes(kept))


def _unescaped(found: re.Match[bytes]) -> bytes:
    """One escaped character as it is meant, as long as it was written; the end of a line ends a command."""
    meant = _MEANT.get(found[0][1:].rstrip(b";").lower(), b" ")
    return meant.ljust(len(found[0]))


def only(text: bytes, spans: list[tuple[int, int]]) -> bytes:
    """The text with all but these bytes blanked, line ends kept."""
    kept = bytearray(text)
    at = 0
    for start, end in spans:
        blank(kept, at, start)
        at = end
    blank(kept, at, len(kept))
    return bytes(kept)


def of(name: str, path: str, text: bytes) -> EmbeddedPart:
    """A part in the language of this id."""
    language = languages()[name]
    return EmbeddedPart(language=language, grammar=language.grammar(path), text=text)


def _html(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    """The page itself (for what its own entries find), and each script by its language."""
    page = Parsed(language, language.grammar(path), text)
    spans: dict[str, list[tuple[int, int]]] = {}
    for node in page.nodes(_SCRIPTS):
        whole = text[node.start_byte : node.end_byte]
        if node.type == "attribute":
            handler = re.match(rb"on\w+\s*=\s*([\"'])", whole)
            if handler:
                spans.setdefault("javascript", []).append(
                    (node.start_byte + handler.end(), node.end_byte - 1)
                )
            continue
        raw = next((child for child in node.children if child.type == "raw_text"), None)
        if raw is None:
            continue
        tag = whole[: raw.start_byte - node.start_byte]
        said = re.search(rb"\b(?:lang|type|language)\s*=\s*[\"']?([\w/]+)", tag)
        kind = said[1].decode().lower() if said else ""
        name = _KINDS.get(kind) or ("javascript" if kind in _JAVASCRIPT else "")
        if name:
            spans.setdefault(name, []).append((raw.start_byte, raw.end_byte))
    endings = {"typescript": "tsx", "visualbasic": "vbs"}
    scripts = [of(name, f"a.{endings.get(name, 'js')}", only(text, found)) for name, found in spans.items()]
    return (EmbeddedPart(language=language, grammar=language.grammar(path), text=text), *scripts)


def _notebook(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    from gate.languages.notebook import read_notebook

    del language, path
    cells = read_notebook(text.decode("utf-8", "replace"))
    if cells is None:
        return ()
    inner = languages().get(cells.language, languages()["python"])
    return (
        EmbeddedPart(
            language=inner,
            grammar=inner.grammar(""),
            text=cells.text.encode("utf-8", "replace"),
            lines=cells.lines,
        ),
    )


def _dockerfile(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    del path
    shell = bytearray(text)
    at = 0
    for start, end in _instructions(text):
        match = _INSTRUCTION.match(text, start, end)
        blank(shell, at, match.end() if match else end)
        if match:
            _as_shell(shell, text, match.end(), end)
        at = end
    blank(shell, at, len(shell))
    return (EmbeddedPart(language=language, grammar="", text=text), of("shell", "a.sh", bytes(shell)))


def _instructions(text: bytes) -> list[tuple[int, int]]:
    """Logical lines: joined by a backslash, comments between them, here-documents included."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        start, end = at, _line_end(text, at)
        while end < len(text) and (
            text[at:end].rstrip().endswith(b"\\") or (at != start and text[at:end].lstrip().startswith(b"#"))
        ):
            at = end + 1
            end = _line_end(text, at)
        for mark in (
            _HEREDOC.findall(text[start:end]) if not text[start:end].lstrip().startswith(b"#") else ()
        ):
            close = re.compile(rb"^[ \t]*" + re.escape(mark) + rb"[ \t]*$", re.MULTILINE).search(text, end)
            end = close.end() if close else len(text)
        found.append((start, end))
        at = end + 1
    return found


def _line_end(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return end if end >= 0 else len(text)


def _as_shell(shell: bytearray, text: bytes, start: int, end: int) -> None:
    body = text[start:end]
    if body.lstrip().startswith(b"["):
        words = re.sub(rb"\"\s*,\s*\"", lambda match: b" " * len(match[0]), body).translate(_LISTED)
        shell[start:end] = _SHELL.sub(lambda match: b" " * len(match[0]), words)
        return
    mark = _HEREDOC.match(body)
    if mark:
        first = _line_end(text, start)
        blank(shell, start, first)
        blank(shell, text.rfind(b"\n", start, end) + 1, end)
        return
    for comment in re.finditer(rb"^[ \t]*#[^\n]*$", body, re.MULTILINE):
        blank(shell, start + comment.start(), start + comment.end())
        if comment.end() > comment.start():
            shell[start + comment.end() - 1] = ord("\\")


_SHELL: Final = regex(rb"\A\s*(?:/\w+)*/?(?:ba|da|z|k|a)?sh\s+-\w*c(?=\s)")
_LISTED: Final = bytes.maketrans(b'[]"', b"   ")


def _makefile(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    just = path.lower().endswith("justfile")
    spans = [match.span("text") for match in _BACKTICKS.finditer(text)] if just else []
    for match in re.finditer(rb"^[^\n]*$", text, re.MULTILINE):
        inline = _INLINE.match(text, match.start(), match.end())
        if inline:
            spans.append(inline.span("rest"))
            continue
        recipe = (_INDENTED if just else _RECIPE).match(text, match.start(), match.end())
        if recipe:
            spans.append((recipe.start("rest"), match.end()))
            continue
        spans += [
            made.span("set") if made["set"] is not None else (made.end(), _closed(text, made.end()))
            for made in _MADE.finditer(text, match.start(), match.end())
        ]
    used = set(_USED.findall(only(text, sorted(spans))))
    spans += [match.span("text") for match in _DEFINED.finditer(text) if match["name"] in used]
    spans += _values(text, spans) if not just else ()
    kept = _USED.sub(lambda use: _noop(use, text), only(text, sorted(spans)))
    shell = _VARIABLE.sub(rb"${\1}", kept).replace(b"$$", b" $")
    bodies = (_dedented(text, *match.span("text")) for match in _SHEBANG.finditer(text))
    scripts = [of("python", "a.py", body) for body in bodies]
    return (EmbeddedPart(language=language, grammar="", text=text), of("shell", "a.sh", shell), *scripts)


def _closed(text: bytes, start: int) -> int:
    """Where the bracket around ``start`` closes: at the latest at the line's end."""
    depth = 1
    for at in range(start, _line_end(text, start)):
        depth += {ord("("): 1, ord(")"): -1}.get(text[at], 0)
        if depth == 0:
            return at
    return _line_end(text, start)


def _values(text: bytes, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The values of variables that stand where a recipe, or another such value, names its program."""
    values = [match for match in _VALUE.finditer(text) if not match["text"].startswith(b"$(shell")]
    found: dict[tuple[int, int], None] = {}
    read = sorted(spans)
    for _ in range(_NESTED):
        shown = only(text, read)
        placed = {match["name"] for match in _PLACED.finditer(shown)}
        named = {match[1] for match in _VARIABLE.finditer(shown)}
        meant = [m for m in values if m["name"] in (named if m["joined"] else placed)]
        new = [m.span("text") for m in meant if m.span("text") not in found]
        if not new:
            break
        found.update(dict.fromkeys(new))
        read = sorted({*read, *new})
    return [span for span in found if span not in spans]


def _noop(use: re.Match[bytes], text: bytes) -> bytes:
    """A variable that is a recipe's whole line and defined here as lines, which are read where they stand."""
    defined = any(match["name"] == use["name"] for match in _DEFINED.finditer(text))
    return use[0].replace(b"$(" + use["name"] + b")", b":".ljust(len(use["name"]) + 3)) if defined else use[0]


def _dedented(text: bytes, start: int, end: int) -> bytes:
    """A recipe that is a program of its own, its lines moved to the margin but at their place in the file."""
    lines = text[start:end].split(b"\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    moved = b"\n".join(line[margin:] + b" " * min(margin, len(line)) for line in lines)
    kept = bytearray(only(text, []))
    kept[start:end] = moved
    return bytes(kept)


def _groovy(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    """The script itself, and the texts that its steps give to a shell."""
    del path
    spans = [match.span("text") for match in _STEP.finditer(text)]
    return (
        EmbeddedPart(language=language, grammar="", text=text),
        of("shell", "a.sh", only(text, spans)),
    )


_STARTER: Final = regex(r"\A\s*(?:(?:RUN|CMD|ENTRYPOINT)(?=\s)|@(?=(?:php|composer)\s))")
"""What stands before a command in an inlined Dockerfile and in Composer's scripts."""


_SETTINGS: Final = regex(
    r"(?:^|/)\.(?:vscode|cursor|zed|theia|devcontainer)/|\.?devcontainer\.json$|\.code-workspace$"
    r"|\.pre-commit-config\.ya?ml$"
)
"""Files with commands that have settings beside them which start something, too."""


def _command(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _commands(language: Language, path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    """The commands of settings, each at the line where it stands; nothing of what is only a setting."""
    del language
    found = executed_files.commands(executed_files.untemplated(path), text)
    if found is None:
        return ()
    lines = [(line, _STARTER.sub(_command, one)) for line, said in found for one in said.split("\n")]
    shell = of("shell", "a.sh", "".join(f"{one}\n" for _, one in lines).encode("utf-8", "replace"))
    own = (of("settings", "", text),) if _SETTINGS.search(path.lower()) else ()
    return (replace(shell, lines=tuple(line for line, _ in lines) or (1,)), *own)


_READERS: Final[Mapping[str, Callable[[Language, str, bytes], tuple[EmbeddedPart, ...]]]] = {
    "html": _html,
    "notebook": _notebook,
    "dockerfile": _dockerfile,
    "makefile": _makefile,
    "commands": _commands,
    "groovy": _groovy,
}

"""Code between the marks of templates, read in the language that their ending says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from gate.languages.identity import extension
from gate.languages.sensitive_calls import executed_files
from gate.languages.sensitive_calls.embedded import EmbeddedPart, of, only
from gate.regex import regex

_CODE: Final = regex(
    rb"<%(?!--|[%@]|(?:def|block|page|include|inherit|namespace|call|doc|text)\b)"
    rb"[=\-!]?(?P<text>.{0,20000}?)-?%>",
    re.DOTALL,
)
_BLADE: Final = regex(
    rb"@php\b(?P<php>.{0,20000}?)@endphp|\{\{(?!--)(?P<shown>.{0,2000}?)\}\}|\{!!(?P<raw>.{0,2000}?)!!\}",
    re.DOTALL,
)
_DASHED: Final = regex(rb"^[ \t]*(?:[\w.#%-]*)(?:-|!?=)[ \t]+(?P<text>[^\n]+)", re.MULTILINE)
_FRONT: Final = regex(rb"\A---[ \t]*\n(?P<text>.{0,50000}?)^---", re.MULTILINE | re.DOTALL)
_MDX: Final = regex(rb"^(?P<line>(?:import|export)[ ][^\n]*)|\{(?P<text>[^{}\n]*)\}", re.MULTILINE)
_TEMPLATED: Final[Mapping[str, tuple[str, re.Pattern[bytes]]]] = {
    **dict.fromkeys(("erb", "rhtml"), ("ruby", _CODE)),
    **dict.fromkeys(("eex", "leex", "heex"), ("elixir", _CODE)),
    **dict.fromkeys(("aspx", "ascx"), ("csharp", _CODE)),
    **dict.fromkeys(("pug", "jade"), ("javascript", _DASHED)),
    **dict.fromkeys(("haml", "slim"), ("ruby", _DASHED)),
    "ejs": ("javascript", _CODE),
    "mako": ("python", _CODE),
    "asp": ("visualbasic", _CODE),
    "gsp": ("groovy", _CODE),
    "astro": ("typescript", _FRONT),
    "mdx": ("javascript", _MDX),
}


def inserted(path: str, text: bytes) -> tuple[EmbeddedPart, ...]:
    """The code between ``<%`` and ``%>`` of a template, in the language that its ending says."""
    blade = path.lower().endswith(".blade.php")
    name, pattern = ("php", _BLADE) if blade else _TEMPLATED.get(extension(path), ("", _CODE))
    spans = [match.span(match.lastgroup or 0) for match in pattern.finditer(text)] if name else []
    marks = executed_files.untemplated(path) != path
    found = [of("template", "", text)] if marks else []
    if spans:
        part = of(name, "", only(text, spans))
        found.append(replace(part, grammar="tree_sitter_php:language_php_only") if blade else part)
    return tuple(found)

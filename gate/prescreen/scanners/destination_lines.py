"""Which lines of which files name a place that something goes to, and which only tell people where to look.

By the role of the file, and by what stands before the address in its line: its key, its attribute, a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, Literal

from gate.prescreen.interface import Source
from gate.regex import regex
from gate.supply.addresses import Address, addresses_in
from gate.supply.inputs.readers import kind_of, reader_of
from gate.supply.manifests import is_manifest
from gate.supply.owners import key_words

Role = Literal["code", "markup", "settings", "letter", "prose", "none"]

_LONGEST: Final = 4 << 20
_LONGEST_LINE: Final = 2_000
_CODE: Final = ("python", "javascript", "typescript", "shell", "makefile", "other", "notebook")
_MARKUP: Final = (
    *(".html", ".htm", ".xhtml", ".jinja", ".jinja2", ".j2", ".tmpl", ".tpl", ".ejs", ".erb", ".hbs", ".eml"),
    *(".mustache", ".mjml", ".liquid", ".twig", ".njk", ".pug", ".jsp", ".cshtml", ".gohtml"),
)
_UNREAD: Final = (
    *(".md", ".mdx", ".rst", ".adoc", ".svg", ".css", ".scss", ".less", ".lock", ".sum", ".map", ".xsd"),
    *(
        ".dtd",
        ".cff",
        ".bib",
        ".tex",
        ".diff",
        ".patch",
        ".snap",
        ".ipynb",
        ".log",
        ".pem",
        ".crt",
        ".excalidraw",
    ),
)
_OTHER_CODE: Final = (
    *(
        ".go",
        ".rs",
        ".java",
        ".kt",
        ".kts",
        ".rb",
        ".php",
        ".cs",
        ".swift",
        ".scala",
        ".c",
        ".h",
        ".cc",
        ".cpp",
    ),
    *(
        ".hpp",
        ".ex",
        ".exs",
        ".erl",
        ".lua",
        ".pl",
        ".pm",
        ".dart",
        ".vue",
        ".svelte",
        ".astro",
        ".groovy",
        ".ps1",
    ),
    *(".m", ".mm", ".zig", ".nim", ".clj", ".hs", ".ml", ".r", ".jl", ".vb", ".fs", ".sol"),
)
_MIXED: Final = (".yml", ".yaml", ".tf", ".tofu", "pyproject.toml", "package.json", "devcontainer.json")
_IMAGE: Final = regex(r"dockerfile|containerfile")
"""Files that hold other settings beside the inputs that are judged as such."""
_TEXT: Final = (".txt", ".text", ".po", ".pot", ".xlf", ".strings")
_ABOUT: Final = regex(
    r"^(?:change|history|news|readme|contribut|licen[cs]e|copying|notice|authors|security|code_of_conduct|mkdocs|"
    r"citation|humans|robots|third.?party|funding|conf\.py$|zensical|docusaurus)"
)
_LETTER: Final = regex(
    r"(?:^|[/_.-])(?:e?mail(?:er|s|ing)?s?|letters?|newsletters?|notifications?|messages?|sms)(?:[/_.-]|$)"
)
_TONGUES: Final = frozenset(
    {"locale", "locales", "i18n", "lang", "langs", "languages", "translations", "l10n"}
)
_CATALOGUES: Final = (".po", ".ftl", ".strings", ".resx", ".xlf", ".arb")
_HASH: Final = ("#", "<!--", "{#", "rem ", "//", "* ", "*/", "/*", "--", "; ", ";;", "% ", '"""', "'''")
_SLASHES: Final = ("//", "* ", "*/", "/*", "{/*", "<!--", "#!", "# ")
"""How comments begin, also in settings; and where ``#``, ``;`` and quotes begin something else."""
_WITH_SLASHES: Final = (
    *(
        ".js",
        ".jsx",
        ".mjs",
        ".cjs",
        ".ts",
        ".tsx",
        ".mts",
        ".cts",
        ".go",
        ".rs",
        ".java",
        ".kt",
        ".kts",
        ".cs",
    ),
    *(".swift", ".scala", ".c", ".h", ".cc", ".cpp", ".hpp", ".dart", ".groovy", ".zig", ".sol", ".m", ".mm"),
)
_ASIDE: Final = regex(r"(?:^|\s)(?:#|//|<!--|/\*|--)\s")
"""A comment behind something else; a scheme's ``//`` has no blank behind it."""
_KEY: Final = regex(
    r"([$@]?[A-Za-z][\w.$-]*)[\"'`\])]?\s*(?:=>|:=|\?=|\+=|[:=(,])?[\s\[{(]*[bfru]{0,2}[\"'`]?$"
)
_KEYED: Final = regex(r"(?:/[\w.-]*)?[\"']?\s{0,4}[:=](?:\s|$)")
"""Behind a name that is a key itself, as a label of Kubernetes is (``prometheus.io/scrape:``)."""
_NAMES: Final = frozenset({"apiversion", "apigroup", "apigroups"})
"""Keys of Kubernetes whose values are names in an address's form (``networking.k8s.io/v1``)."""
_WORDS: Final = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TOLD: Final = regex(
    r"(?:(?<![.\w-])(?:see|at|visit|read|here|more|documentation|docs|guide|details|information|info|refer|check|open|under|is"
    r"|via|or|and|the|with|on|link|instructions|issue|bug|example|e\.g\.|i\.e\.|like|using|from)[\s:(<\"'`]{1,4}"
    r"|\]\(|\brel=[\"'](?:canonical|alternate|author|license|help|me|noopener)[\"'][^>]{0,80})$",
    re.IGNORECASE,
)
_ATTRIBUTE: Final = regex(r"<([\w.:-]+)(?=[\s>])(?:[^<]*?)([\w:@-]+)\s*=\s*\{?\s*[\"'`]?[^\"'`\s]*$")
_ONLY_ATTRIBUTE: Final = regex(r"(?:^|\s)([\w:@-]+)\s*=\s*\{?\s*[\"'`]?$")
_LOADS: Final = frozenset(
    {"src", "action", "formaction", "data", "poster", "srcset", "ping", "background", "content"}
)
_FILLED: Final = regex(r"[${]|%[sd({]|<%|\[\[")


def role_of(source: Source) -> Role:
    """What the file is for; ``none`` for what nothing is sent by, or what is judged elsewhere."""
    path = source.path.lower()
    pure = PurePosixPath(path)
    if len(source.head) > _LONGEST or b"\x00" in source.head[:4096] or path.endswith(_UNREAD):
        return "none"
    if _ABOUT.match(pure.name) or path.startswith((".github/", ".gitlab/issue")):
        return "none"
    if _is_judged(path) and (kind_of(path) == "lock" or path.endswith((".txt", ".in"))):
        return "none"
    if reader_of(path) is not None and not (path.endswith(_MIXED) or _IMAGE.search(pure.name)):
        return "none"
    letter = bool(_LETTER.search(path))
    if path.endswith(_MARKUP):
        return "letter" if letter else "markup"
    if path.endswith(_TEXT) or not _TONGUES.isdisjoint(pure.parts[:-1]):
        return "letter" if letter and not path.endswith((".po", ".pot")) else "prose"
    if source.language in _CODE or path.endswith(_OTHER_CODE):
        return "code"
    return "settings"


def is_translated(path: str) -> bool:
    """Is this a catalogue of translated texts, by its ending or its folder?"""
    pure = PurePosixPath(path.lower())
    return pure.suffix in _CATALOGUES or not _TONGUES.isdisjoint(pure.parts[:-1])


@lru_cache(maxsize=64)
def _is_judged(path: str) -> bool:
    """Is the file one whose inputs are judged as such?"""
    return is_manifest(path) or reader_of(path) is not None


def lines_of(data: bytes) -> list[str]:
    """The text's lines."""
    return data.decode("utf-8", "replace").split("\n")


def is_comment(line: str, path: str) -> bool:
    """Does the line begin as a comment, or is it too long to be read?"""
    marks = _SLASHES if path.lower().endswith(_WITH_SLASHES) else _HASH
    text = line.strip().lower()
    return len(line) > _LONGEST_LINE or text.startswith(marks) or text == "*"


def sent_to(line: str, role: Role, path: str) -> Iterator[Address]:
    """The addresses of the line that something may go to."""
    if role == "none" or is_comment(line, path):
        return
    judged = _is_judged(path)
    if judged and re.match(r"\s*(?:FROM|RUN|ADD|COPY)\s", line, re.IGNORECASE):
        return
    last, about = 0, False
    for found in addresses_in(line):
        about = _is_about(line[last : found.start], judged=judged, before=about)
        last, before = found.end, line[: found.start]
        if not (_ASIDE.search(before) or _TOLD.search(before)) and _counts(found, line, role, about=about):
            yield found


def _counts(found: Address, line: str, role: Role, *, about: bool) -> bool:
    before = line[: found.start]
    if found.kind in ("bank", "resource"):
        return True
    if (
        found.kind in ("number", "host", "mail")
        and role == "code"
        and not re.search(r"[\"'`][^\"'`]*$", before)
    ):
        return False
    if role == "letter":
        return True
    if role == "settings" and not before.strip(" \t-\"'{,") and _KEYED.match(line[found.end :]):
        return False
    filled = bool(_FILLED.search(line[found.start : found.end + 3]))
    if role == "prose":
        return filled and found.kind == "url"
    if role in ("markup", "code") and (tag := _ATTRIBUTE.search(before) or _ONLY_ATTRIBUTE.search(before)):
        name = tag[tag.lastindex or 1].lower().strip(":@")
        if name.endswith("href"):
            anchor = tag.lastindex == 1 or tag[1].lower() not in ("base", "link", "form", "use")
            return filled if anchor else True
        if name in _LOADS:
            return True
        if role == "markup":
            return name not in ("xmlns", "alt", "title", "placeholder") and not name.startswith("xmlns")
    elif role == "markup" and re.search(r">[^<>\"'`]*$", before):
        return filled
    return not about


def _is_about(between: str, *, judged: bool, before: bool) -> bool:
    """Does the key before the address say that people look there, or that it is judged as an input? Of a
    further one in a list what was said of the one before it.
    """
    key = _KEY.search(between)
    if key is None:
        return before
    if key[1].lower() in _NAMES:
        return True
    words = {word.lower() for word in _WORDS.findall(key[1])}
    known = key_words()
    if judged and words & known["judged"]:
        return True
    return bool(words & known["about"]) and not words & known["sends"]


def loads(line: str, found: Address) -> bool:
    """Does a tag of the line load or send there, with something filled in (a picture that counts)?"""
    tag = _ATTRIBUTE.search(line[: found.start]) or _ONLY_ATTRIBUTE.search(line[: found.start])
    filled = bool(_FILLED.search(line[found.start : found.end + 3]))
    return bool(tag and filled and tag[tag.lastindex or 1].lower().strip(":@") in _LOADS)

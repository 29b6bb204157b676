"""Which values a template writes as they are, and which escaped: Jinja, Django, Twig, Vue, EJS, ERB, Blade.

Only the marks are read, not the language between them: a value that base escaped and head writes as it is
has lost its protection, whatever surrounds it. Runs in the limited child, at base and at head.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.protections.facts import FileFacts, Unit, Weakness
from gate.protections.traits import lapse

ENDINGS: Final = (
    ".html", ".htm", ".j2", ".jinja", ".jinja2", ".njk", ".twig", ".liquid", ".ejs", ".erb", ".hbs",
    ".mustache", ".handlebars", ".blade.php", ".vue", ".tmpl", ".cshtml", ".eex", ".heex",
)  # fmt: skip
_MARKS: Final = (
    ("{{{", "}}}", True), ("{!!", "!!}", True), ("{{", "}}", False), ("{%", "%}", False),
    ("<%==", "%>", True), ("<%-", "%>", True), ("<%=", "%>", False),
)  # fmt: skip
"""What begins and ends an expression, and whether it is written as it is."""
_ATTRIBUTES: Final = (("v-html=", True), ("v-text=", False), ("th:utext=", True), ("th:text=", False))
_RAW: Final = frozenset({"safe", "raw", "safeseq", "html_safe", "noescape"})
_MOST: Final = 4_000
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class _Written:
    """One value: the name it has, whether it is escaped, where it stands."""

    name: str
    raw: bool
    text: str
    at: int


def read(path: str, data: bytes, options: Mapping[str, object]) -> FileFacts:
    """For scan_isolated. One unit for each template."""
    tests = options.get("tests")
    if isinstance(tests, list) and path in tests:
        return FileFacts()
    text = data.decode("utf-8", "replace")
    found = [*_written(text, PurePosixPath(path).suffix)][:_MOST]
    escaped = sorted({one.name for one in found if not one.raw})
    weak = tuple(_weakness(one, text) for one in found if one.raw)
    return FileFacts(units=(Unit(name="", kind="module", line=1, weaknesses=weak, mentions=tuple(escaped)),))


def _weakness(one: _Written, text: str) -> Weakness:
    line = text.count("\n", 0, one.at) + 1
    return lapse("escaping", f"{one.name} as it is", one.text, line, needs=(one.name,))


def _written(text: str, ending: str) -> Iterator[_Written]:
    """Every value in the order of the text; tags that switch escaping hold for what follows."""
    off = 0
    at = 0
    while at < len(text):
        start, mark = _next(text, at)
        if mark is None:
            break
        begin, end, raw = mark
        stop = text.find(end, start + len(begin))
        if stop < 0:
            at = start + len(begin)
            continue
        inner = text[start + len(begin) : stop].strip("-~& \t\r\n")
        at = stop + len(end)
        if begin == "{%":
            off = _switched(inner.split(), off)
            continue
        if begin == "<%-" and ending != ".ejs":
            continue
        made = _value(inner, raw or off > 0 or (begin == "{{" and text.startswith("{{&", start)))
        if made is not None:
            yield _Written(made[0], made[1], text[start : start + _LONGEST][: at - start], start)
    yield from _attributes(text)


def _next(text: str, at: int) -> tuple[int, tuple[str, str, bool] | None]:
    best: tuple[int, tuple[str, str, bool] | None] = (len(text), None)
    for opener in ("{", "<%"):
        start = text.find(opener, at)
        while 0 <= start < best[0]:
            mark = next((one for one in _MARKS if text.startswith(one[0], start)), None)
            if mark is not None:
                best = (start, mark)
                break
            start = text.find(opener, start + 1)
    return best


def _switched(words: list[str], off: int) -> int:
    """How deep a text stands in ``{% autoescape false %}``."""
    if words[:1] == ["autoescape"]:
        return off + 1 if off or words[1:2] in (["false"], ["off"], ["False"]) else 0
    return max(0, off - 1) if words[:1] == ["endautoescape"] else off


def _value(inner: str, raw: bool) -> tuple[str, bool] | None:
    """``user.name|safe``, ``raw(user.name)`` and ``user.name.html_safe`` are ``user.name``, as it is."""
    name, *filters = [part.strip() for part in inner[:_LONGEST].split("|")]
    raw = raw or any(one.partition(":")[0].partition("(")[0].strip() in _RAW for one in filters)
    for word in _RAW:
        if name.startswith((f"{word}(", f"{word} ")):
            name, raw = name[len(word) :].strip("() "), True
        if name.endswith(f".{word}"):
            name, raw = name.removesuffix(f".{word}"), True
    if raw and any(one.partition("(")[0].strip() in ("e", "escape", "force_escape") for one in filters):
        raw = False
    simple = name and not name.startswith(("'", '"', "#", "/", ">", "!"))
    return (name, raw) if simple else None


def _attributes(text: str) -> Iterator[_Written]:
    for word, raw in _ATTRIBUTES:
        at = text.find(word)
        while at >= 0:
            start = at + len(word)
            quote = text[start : start + 1]
            stop = text.find(quote, start + 1) if quote and quote in "\"'" else -1
            if 0 < stop - start < _LONGEST:
                name = text[start + 1 : stop].strip("${} ")
                yield _Written(name, raw, text[at : stop + 1], at)
            at = text.find(word, start)

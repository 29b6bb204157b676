"""What a reader sees of Markdown: the tags that come out, and the text outside code."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

_RENDERER = MarkdownIt("gfm-like").use(footnote_plugin).use(dollarmath_plugin)

# What GitHub links in text outside code: mentions, issues, pull requests, commits, emoji names
REFERENCES = re.compile(
    r"@\w|#\d|\bGH-\d|(?<!\w)[0-9a-f]{7,40}(?!\w)|:[\w+-]+:|https?://|www\.", re.IGNORECASE
)


@dataclass
class Seen(HTMLParser):
    """Tags with their counts, comments and declarations, text outside and inside code."""

    tags: Counter[str] = field(default_factory=Counter)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    oddities: list[str] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {(tag, name) for name, _ in attrs}
        if tag in ("code", "pre", "style"):
            self.depth += 1
            if tag == "code":
                self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("code", "pre", "style"):
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.depth and self.code:
            self.code[-1] += data
        elif not self.depth:
            self.prose.append(data)

    def handle_comment(self, data: str) -> None:
        self.oddities.append(f"comment {data}")

    def handle_pi(self, data: str) -> None:
        self.oddities.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.oddities.append(f"declaration {data}")

    @property
    def text(self) -> str:
        return "".join(self.prose)


def html_of(markdown: str) -> str:
    """GFM with tables, bare links (also fuzzy ones), footnotes and dollar mathematics."""
    return str(_RENDERER.render(markdown))


def look_at_html(page: str) -> Seen:
    seen = Seen()
    seen.feed(page)
    seen.close()
    return seen


def look_at(markdown: str) -> Seen:
    return look_at_html(html_of(markdown))

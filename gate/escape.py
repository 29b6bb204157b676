"""Text that others wrote, and one escape for every place we print it.

Everything that comes out of a change (paths, names, source, output of its programs) is data. Each
sink below gets its own escape, all of them on top of :func:`visible`, which leaves no character
that a reader cannot see. Line breaks never survive into a one-line sink.

Sources: CommonMark 0.31 §2.4-2.5, §6; GFM autolinks (cmark-gfm extensions/autolink.c matches e-mail
addresses after entities are decoded, hence the zero-width spaces); actions/runner
ActionCommand.cs (``::`` at a trimmed line's start, ``##[`` anywhere in a line) and its escaping of
``%``, CR, LF, ``:`` and ``,``.
"""

from __future__ import annotations

import html as _html
import re
import secrets as _secrets
import unicodedata
from typing import Final

from gate import redaction as _redact
from gate.regex import regex

redact: Final = _redact.redact
DEFAULT_LIMIT: Final = 2_000
"""Characters kept of one untrusted text where the caller names no limit."""


# ---- making everything visible -------------------------------------------------------------

_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PLAIN: Final = regex(r"[ -~]*")
_SUSPECT: Final = regex(r"[^ -~]")
_MARKS: Final = regex(r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}")
_NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _code(char: str) -> str:
    point = ord(char)
    if 0xDC80 <= point <= 0xDCFF:  # a byte that was not UTF-8, kept by surrogateescape
        return f"\\x{point - 0xDC00:02x}"
    if point < 0x80:
        return _NAMED.get(char, f"\\x{point:02x}")
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def _reveal(match: re.Match[str]) -> str:
    char = match[0]
    if unicodedata.category(char) in _HIDDEN_CATEGORIES or char in _INVISIBLE:
        return _code(char)
    return char


def visible(text: str) -> str:
    r"""One line without a control, format, bidi, zero-width, private or undecodable character.

    Each becomes ``\n``, ``\x1b``, ``\u202e`` ...; piled-up combining marks (four or more) too.
    """
    if _PLAIN.fullmatch(text):
        return text
    plain = _MARKS.sub(lambda m: m[0][:3] + "".join(map(_code, m[0][3:])), text)
    return _SUSPECT.sub(_reveal, plain)


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters; what is cut off at the end is counted."""
    if len(text) <= limit:
        return text
    note = f"… [{len(text) - limit} more]"
    return text[: max(0, limit - len(note))] + note


def shorten_middle(text: str, limit: int) -> str:
    """At most ``limit`` characters, both ends kept, ``…`` between them."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return text[:head] + "…" + text[len(text) - (limit - 1 - head) :]


def _clipped(text: str, limit: int) -> str:
    if len(text) > limit * 2:  # never spend time on a megabyte nobody will see
        return shorten(visible(text[: limit * 2]), limit - 24) + f"… [{len(text)} in all]"
    return shorten(visible(text), limit)


def display_path(path: str, limit: int = 120) -> str:
    r"""A path for people: unambiguous escapes (``\\`` is a backslash), edges marked, middle cut."""
    if len(path) > limit * 8:
        path = path[: limit * 4] + path[-limit * 4 :]
    text = visible(path.replace("\\", "\\\\"))
    if text[:1] == " ":
        text = "\\x20" + text[1:]
    if text[-1:] == " ":
        text = text[:-1] + "\\x20"
    return shorten_middle(text, limit) if text else "(no path)"


# ---- sinks -----------------------------------------------------------------------------------


def terminal(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """One line that moves no cursor, sets no colour, opens no link, reorders nothing (RP-7)."""
    return _clipped(text, limit)


def terminal_lines(text: str, limit: int = 4_000) -> list[str]:
    """The lines of a text, each safe for a terminal; CR, CRLF and LF all end a line."""
    lines = re.split(r"\r\n|\r|\n", text[:limit])
    return [terminal(line.replace("\t", "    ")) for line in lines]


_ENTITIES: Final = {ord(c): f"&#{ord(c)};" for c in "\\`*_[]#|<>&~$@"}
_OPENING: Final = regex(r"^[-+=]")
_ZWSP: Final = "&#8203;"
_BREAKS: Final = regex(
    r"(?P<at>@)|(?P<hash>#)|(?P<scheme>:(?=//))|(?P<emoji>:(?=[\w+-]+:))|(?P<www>www(?=\.))"
    r"|(?P<domain>(?<=[^\W_])\.(?=[^\W\d_]{2}))"
    r"|(?P<gh>\bGH(?=-\d))|(?P<sha>[0-9a-f]{6}(?=[0-9a-f]))|(?P<number>^\d{1,9}(?=[.)](?:\s|$)))",
    re.IGNORECASE,
)


def _defuse(plain: str) -> str:
    """Invisible breaks (shown by no renderer) where GitHub would see a mention, a reference or a link."""
    out, last = [], 0
    for match in _BREAKS.finditer(plain):
        out.append(plain[last : match.end()].translate(_ENTITIES))
        out.append(_ZWSP)
        last = match.end()
    out.append(plain[last:].translate(_ENTITIES))
    return "".join(out)


def markdown(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """Inline text for Markdown, also inside a table cell, a heading or an HTML element.

    Only character references are used, so the same text is right in Markdown and in HTML.
    Mentions, issue and commit references, bare URLs, e-mail addresses and emoji names stay text.
    """
    plain = _defuse(_clipped(text, limit).strip(" "))
    return _OPENING.sub(lambda m: f"&#{ord(m[0])};", plain)


def markdown_code(text: str, limit: int = 300, *, cell: bool = False) -> str:
    """A code span whose fence is longer than any run of backticks inside (RP-1).

    ``cell``: for a table cell, where ``|`` must be escaped as well.
    """
    plain = _clipped(text, limit)
    if not plain.strip(" "):
        return "(empty)"
    if cell:
        # implementations disagree about a backslash before an escaped pipe: show that pipe by its code
        plain = plain.replace("\\|", "\\\\x7c").replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    pad = " " if plain[0] in "` " or plain[-1] in "` " else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def markdown_block(text: str, language: str = "", limit: int = 4_000) -> str:
    """A fenced code block at a line's start; ``language`` is ours."""
    lines = terminal_lines(text, limit)
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence + language, *lines, fence])


def html(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """Text for an HTML element or a quoted attribute."""
    return _html.escape(_clipped(text, limit), quote=True)


def json_text(text: str, limit: int = 20_000) -> str:
    """Text for report.json and SARIF: exact, but lone surrogates are shown (they are not UTF-8)."""
    plain = shorten(text, limit)
    return plain if plain.isascii() else re.sub("[\ud800-\udfff]", lambda m: _code(m[0]), plain)


# ---- GitHub's log and files --------------------------------------------------------------------


def command_data(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """The message of a workflow command; lines stay lines (``%0A``)."""
    lines = "\n".join(visible(line) for line in re.split(r"\r\n|\r|\n", text[: limit * 2]))
    return shorten(lines, limit).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str, limit: int = 500) -> str:
    """A property of a workflow command (``file=``, ``title=``)."""
    return command_data(visible(text), limit).replace(":", "%3A").replace(",", "%2C")


def neutralise_output(text: str | bytes, *, width: int = 2_000, lines: int = 2_000) -> str:
    """Child output that a CI log may show: no line starts with ``::``, none holds ``##[`` (GH-8).

    Every line gets a bar in front, so that no runner reads it as a command; control characters
    become visible. ``width`` and ``lines`` bound what is shown; the rest is counted.
    """
    plain = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    parts = re.split(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", plain)
    if parts and not parts[-1]:
        parts.pop()
    # also ##vso[ and ##teamcity[ of other runners
    shown = [re.sub(r"##(?=\w*\[)", "#\u00a0#", terminal(part, width)) for part in parts[:lines]]
    out = [f"│ {line}" for line in shown]
    if len(parts) > lines:
        out.append(f"│ … {len(parts) - lines} more lines")
    return "\n".join(out) + "\n" if out else ""


def without_commands(text: str | bytes) -> str:
    """Captured output for a GitHub log, inside a stop-commands pair with an unguessable token.

    Safe only for output captured to its end: live output could read the token from the log.
    """
    token = _secrets.token_hex(16)
    return f"::stop-commands::{token}\n{neutralise_output(text)}::{token}::\n"


def output_entry(key: str, value: str) -> str:
    """One entry for GITHUB_OUTPUT, GITHUB_ENV ...: heredoc form, random delimiter (GH-9).

    Raises ValueError for a key that is not one of our plain ASCII names.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,99}", key):
        raise ValueError(f"not a plain output name: {key!r}")
    plain = value.encode("utf-8", "replace").decode().replace("\0", "")
    plain = re.sub(r"\r\n?", "\n", plain)
    delimiter = f"gate_{_secrets.token_hex(16)}"
    while delimiter in plain or delimiter in key:  # pragma: no cover - once in 2**128
        delimiter = f"gate_{_secrets.token_hex(16)}"
    return f"{key}<<{delimiter}\n{plain}\n{delimiter}\n"

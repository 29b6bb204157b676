"""From bytes to text as the language's own reader does it (PEP 263 for Python), and where that surprises.

Whoever reads the diff sees UTF-8. A file that its interpreter reads otherwise can hide code from them
(``# coding: utf-7``), so every such file is named by a problem code; rules turn codes into findings.
"""

from __future__ import annotations

import codecs
import re
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.regex import regex

Problem = Literal[
    "other-encoding",  # an encoding other than UTF-8 is declared or marked; code may hide in it
    "unknown-encoding",  # the declared encoding does not exist
    "conflict",  # byte order mark says UTF-8, the declaration says something else
    "undecodable",  # bytes that the encoding does not allow
    "nul",  # NUL bytes in a text file
    "bare-cr",  # a carriage return that is a line end to Python and none to a diff
]

# PEP 263; CPython looks at the first two lines, the second only when the first holds no code.
_COOKIE: Final = regex(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK: Final = regex(rb"^[ \t\f]*(?:[#\r\n]|$)", re.ASCII)
_UTF8_NAMES: Final = frozenset({"utf-8", "utf8", "u8", "utf", "utf_8", "cp65001", "utf-8-sig", "utf_8_sig"})
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Codecs whose time grows with the square of the length, or that are no text encodings of a source file.
_REFUSED: Final = frozenset({"punycode", "idna", "undefined", "mbcs", "oem"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    r"""``text`` with line ends as ``\n``; ``encoding`` is the codec used; ``problems`` as listed above.

    ``lossy``: the codec failed and U+FFFD or Latin-1 stands in. ``lines`` maps a line of ``text``
    (index 0 is line 1) to a line of the file as git counts them; None where they are the same.
    """

    text: str
    encoding: str
    problems: tuple[Problem, ...] = ()
    lossy: bool = False
    lines: tuple[int, ...] | None = None


def declared_encoding(data: bytes) -> str | None:
    """The encoding that a PEP 263 comment in the first two lines declares, lower case; None without one."""
    first, _, rest = re.sub(rb"\r\n?", b"\n", data[:4096]).partition(b"\n")
    for line in (first, rest.partition(b"\n")[0]):
        match = _COOKIE.match(line)
        if match:
            return match[1].decode("ascii").lower()
        if not _BLANK.match(line):
            return None
    return None


def decode(data: bytes, *, python: bool) -> Decoded:
    """Decode a source file. Never raises; ``python`` follows PEP 263, otherwise UTF-8 and byte order marks.

    May be slow for hostile codecs: call it for files that are not plain UTF-8 inside a limited child.
    """
    problems: list[Problem] = []
    encoding = "utf-8"
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            encoding, problems = name, ["other-encoding"]
            break
    marked = data.startswith(codecs.BOM_UTF8)
    if marked:
        data = data[len(codecs.BOM_UTF8) :]
    cookie = declared_encoding(data) if python and encoding == "utf-8" else None
    if cookie is not None and cookie.replace("_", "-") not in _UTF8_NAMES:
        if marked:
            problems.append("conflict")
        else:
            encoding = cookie
            problems.append("other-encoding")
    text, lossy = _text(data, encoding, problems)
    if "\0" in text:
        problems.append("nul")
    lines = None
    if "\r" in text:
        text, lines = _line_ends(text)
        if lines is not None:
            problems.append("bare-cr")
    return Decoded(text=text, encoding=encoding, problems=tuple(problems), lossy=lossy, lines=lines)


def names_a_codec(data: bytes) -> bool:
    """True when the file itself chooses a codec other than UTF-8: decode it in a limited child only."""
    cookie = declared_encoding(data.removeprefix(codecs.BOM_UTF8))
    return cookie is not None and cookie.replace("_", "-") not in _UTF8_NAMES


def without_declaration(text: str) -> str:
    """The same text, its encoding declaration made void, lines kept: for tools that get it as UTF-8."""
    lines = text.split("\n", 2)
    for index in range(min(2, len(lines))):
        if _COOKIE.match(lines[index].encode("utf-8", "replace")):
            lines[index] = re.sub(r"(?i)coding(?=[:=])", "c_ding", lines[index])
    return "\n".join(lines)


def _text(data: bytes, encoding: str, problems: list[Problem]) -> tuple[str, bool]:
    name = encoding.replace("_", "-")
    try:
        codec = codecs.lookup(encoding)
        if name in _REFUSED or not codec._is_text_encoding:
            raise LookupError(encoding)
        return codec.decode(data, "strict")[0], False
    except LookupError:
        problems.append("unknown-encoding")
    except (ValueError, OverflowError):
        problems.append("undecodable")
    return data.decode("utf-8", "replace"), True


def _line_ends(text: str) -> tuple[str, tuple[int, ...] | None]:
    r"""``\n`` everywhere; the map of lines when a bare carriage return ended one."""
    if not re.search(r"\r(?!\n)", text):
        return text.replace("\r\n", "\n"), None
    lines, line = [1], 1
    for match in re.finditer(r"\r\n|\r|\n", text):
        line += match[0] != "\r"
        lines.append(line)
    return re.sub(r"\r\n?", "\n", text), tuple(lines)

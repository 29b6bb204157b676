"""Takes a text apart by its comments and strings alone: for languages without a grammar here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from gate.languages.sensitive_calls.grammar import blank
from gate.languages.sensitive_calls.matching import Hit
from gate.languages.sensitive_calls.names import Bindings
from gate.languages.sensitive_calls.table import Language, Syntax
from gate.model.sensitive import SensitiveKind


class LexicalText:
    """One text, its strings and comments blanked in ``code``, its comments in ``lines``."""

    def __init__(self, language: Language, text: bytes) -> None:
        self.text = text
        self._commands = tuple(quote.encode() for quote in language.syntax.command_quotes)
        self.code = bytearray(text)
        self.lines = bytearray(text)
        strings = []
        for match in _tokens(language.syntax).finditer(text):
            blank(self.code, match.start(), match.end())
            if match.lastgroup == "comment":
                blank(self.lines, match.start(), match.end())
            else:
                strings.append((match.start(), match.end()))
        self.strings = tuple(strings)

    def broken(self) -> float:
        """Nothing is known of a syntax here."""
        return 0.0

    def bindings(self) -> Bindings:
        """Imports are not read here: entries name what is called as it is written."""
        return Bindings()

    def constructs(self) -> Iterator[Hit]:
        """Texts that are run as commands."""
        for start, end in self.strings:
            if self.text.startswith(self._commands, start):
                call = self.text[start:end].decode("utf-8", "replace").split("\n", 1)[0]
                yield Hit(start=start, end=end, kind=SensitiveKind.PROCESS, call=call[:80])

    def declares(self, start: int, end: int) -> bool:
        """Only a grammar knows declarations."""
        del start, end
        return False

    def statement(self, start: int, end: int) -> tuple[int, int]:
        """The lines that the bytes are on."""
        first = self.text.rfind(b"\n", 0, start) + 1
        last = self.text.find(b"\n", end)
        return first, last if last >= 0 else len(self.text)


@cache
def _tokens(syntax: Syntax) -> re.Pattern[bytes]:
    comments = [re.escape(start.encode()) + rb"[^\n]*" for start in syntax.line_comments]
    for start, end in syntax.block_comments:
        first, last = re.escape(start.encode()), re.escape(end.encode())
        comments.append(first + rb"(?s:.*?)(?:" + last + rb"|\Z)")
    strings = []
    for written in sorted((*syntax.quotes, *syntax.command_quotes), key=len, reverse=True):
        quote = re.escape(written.encode())
        if len(written) > 1:
            strings.append(quote + rb"(?s:.*?)(?:" + quote + rb"|\Z)")
        elif syntax.doubled:
            strings.append(quote + rb"[^" + quote + rb"]*(?:" + quote + rb"|\Z)")
        else:
            strings.append(quote + rb"(?:[^" + quote + rb"\\\n]|\\.)*(?:" + quote + rb"|(?=\n)|\Z)")
    groups = []
    if comments:
        groups.append(rb"(?P<comment>" + rb"|".join(comments) + rb")")
    if strings:
        groups.append(rb"(?P<string>" + rb"|".join(strings) + rb")")
    return re.compile(rb"|".join(groups) or rb"(?!)", re.IGNORECASE | re.DOTALL)

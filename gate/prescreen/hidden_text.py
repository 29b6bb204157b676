"""Text that does not say what it seems to say: what a reviewer cannot see and a machine acts upon.

Sources: CVE-2021-42574 and CVE-2021-42694 (Trojan Source, https://trojansource.codes), Unicode TR 36 and 39,
PEP 672, PEP 3131 (Python compares identifiers in NFKC).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Confidence, Severity
from gate.prescreen.bandit_rules import in_tests
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.text_rule import CODE, TextHit, TextRule, about, run_rules

_BIDI_STRONG: Final = "\u202a-\u202e\u2066-\u2069"
_BIDI_MARKS: Final = "\u200e\u200f\u061c"
_BIDI: Final = re.compile(f"[{_BIDI_STRONG}{_BIDI_MARKS}]")
_ZERO_WIDTH: Final = re.compile(
    "[\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e\u115f\u1160\u3164\uffa0\u2800]"
)
_TAGS: Final = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")
_FAR: Final = re.compile(r"[ \t]{80,}+")
_WORD: Final = re.compile(r"[^\W\d]\w*")
# Letters of other scripts that look like a Latin letter (from Unicode's confusables.txt).
_LOOKALIKE: Final = dict(
    zip(
        "аеорсухіјѕһԁԛԝАВЕЗКМНОРСТУХІЈЅοΟΑΒΕΖΗΙΚΜΝΡΤΧιօս",  # noqa: RUF001 - the point of the table
        "aeopcyxijshdqwABE3KMHOPCTYXIJSoOABEZHIKMNPTXiou",
        strict=True,
    )
)
_LOOKALIKES: Final = re.compile("[" + "".join(_LOOKALIKE) + "]")
_SKELETON: Final = str.maketrans(_LOOKALIKE)
_CALLED: Final = frozenset(
    {"eval", "exec", "compile", "open", "getattr", "setattr", "input", "os", "sys", "subprocess", "system"}
    | {"__import__", "globals", "locals", "vars", "True", "False", "None", "self", "return", "if", "else"}
    | {"import", "not", "is", "in", "and", "or", "admin", "root", "user", "require", "process", "Function"}
)
_HARMLESS_CODECS: Final = re.compile(
    r"^(?:us-?ascii|ascii|latin-?1|iso-?8859-?\d+|iso-latin-1|cp125\d|windows-125\d|l1)$"
)
_SAME_AS_ASCII: Final = re.compile(r"^(?:us-?ascii|ascii)$")


def _lines_with(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, list[str]]]:
    """``(line, matches)`` for each line with a match; linear in the text."""
    line, last = 1, 0
    found: dict[int, list[str]] = {}
    for match in pattern.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        found.setdefault(line, []).append(match[0])
    yield from found.items()


def _points(text: str) -> str:
    """``U+202E U+2066``, at most eight of them."""
    return " ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(text[:64]))[:100]


def bidi(view: View) -> Iterator[TextHit]:
    """Characters that change the direction of text can show a line in another order than it is read in.

    A reviewer sees a comment where the compiler sees code. Embeddings, overrides and isolates are what
    the published attack uses; plain direction marks occur in honest right-to-left prose.
    """
    if view.text.isascii():
        return
    for line, matches in _lines_with(_BIDI, view.text):
        strong = any(char not in _BIDI_MARKS for char in matches)
        level = Severity.LOW
        if strong and view.language in CODE:
            level = Severity.HIGH
        elif strong and not in_tests(view.path):
            level = Severity.MEDIUM
        yield TextHit(
            message="This line holds characters that change the order in which it is shown.",
            first=line,
            evidence={"code points": _points("".join(matches))},
            severity=level,
        )


def invisible(view: View) -> Iterator[TextHit]:
    """Zero-width and filler characters make two different names look the same, or hide text in plain sight.

    Joiners between letters of scripts that need them, and emoji sequences, are left alone.
    """
    text = view.text
    if text.isascii():
        return
    line, last = 1, 0
    seen: dict[int, tuple[bool, str]] = {}
    for match in _ZERO_WIDTH.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        if match[0] in "\u200c\u200d\u2800\u00ad" and not (_latin(before) and _latin(after)):
            continue
        inside = _latin(before) and _latin(after)
        was, points = seen.get(line, (False, ""))
        seen[line] = (was or inside, points + match[0])
    for number, (inside, points) in seen.items():
        code = view.language in CODE
        yield TextHit(
            message="This line holds characters that nobody can see.",
            first=number,
            evidence={"code points": _points(points)},
            severity=Severity.HIGH if inside and code else Severity.MEDIUM if code else Severity.LOW,
        )


def _latin(char: str) -> bool:
    return bool(char) and (char.isascii() and (char.isalnum() or char == "_"))


def smuggled(view: View) -> Iterator[TextHit]:
    """Tag characters and runs of variation selectors can carry a whole message or program, invisibly.

    They were used to hide payloads in extensions and to give language models orders that people do not
    see. Flags of regions (a black flag followed by tags) and single selectors after an emoji are honest.
    """
    text = view.text
    if text.isascii():
        return
    for pattern in (_TAGS, _SELECTORS):
        line, last = 1, 0
        for match in pattern.finditer(text):
            line += text.count("\n", last, match.start())
            last = match.start()
            if text[match.start() - 1 : match.start()] == "\U0001f3f4" and len(match[0]) <= 8:
                continue
            yield TextHit(
                message="This line carries invisible characters in which a message can be written.",
                first=line,
                evidence={"code points": _points(match[0]), "length": str(len(match[0]))},
            )


def homoglyph(view: View) -> Iterator[TextHit]:
    """A name with letters of two scripts, or one that Python reads as another name (NFKC).

    `eval` written in full-width letters *is* `eval` to Python; one Cyrillic letter makes a different name
    that looks the same to a reviewer.
    """
    text = view.text
    if text.isascii() or view.language not in CODE:
        return
    names: set[str] | None = None
    for line, words in () if _mostly_foreign(text) else _lines_with(_WORD, text):
        for word in words:
            if word.isascii():
                continue
            plain = unicodedata.normalize("NFKC", word)
            if plain != word and plain.isascii() and view.language == "python":
                known = plain in _CALLED
                yield TextHit(
                    message="Python reads this name as another, plain one.",
                    first=line,
                    evidence={"name": word, "read as": plain},
                    severity=Severity.HIGH if known else Severity.MEDIUM,
                )
                continue
            skeleton = word.translate(_SKELETON)
            if skeleton == word or not skeleton.isascii():
                continue
            mixed = any(c.isascii() and c.isalpha() for c in word)
            if names is None:
                names = set(re.findall(r"[A-Za-z_]\w*", text, re.ASCII)) | _CALLED
            # In a sentence of another language short words look Latin by chance; a name stands alone.
            alone = len(word) > 1 and sum(not w.isascii() for w in words) <= 2
            if mixed or (alone and skeleton in names):
                yield TextHit(
                    message="This name looks like a plain one and is another.",
                    first=line,
                    evidence={"name": word, "looks like": skeleton, "code points": _points(word)},
                    severity=Severity.HIGH if skeleton in names else Severity.MEDIUM,
                )


def _mostly_foreign(text: str) -> bool:
    """More than 200,000 letters outside ASCII: data in another language; names would drown in it."""
    return len(text) - len(text.encode("ascii", "ignore")) > 200_000


def far_right(view: View) -> Iterator[TextHit]:
    """Code pushed out of sight by a long run of blanks, beyond what a diff view shows without scrolling."""
    if view.language not in CODE and view.language not in (None, "config"):
        return
    start = end = -1
    for match in _FAR.finditer(view.text):
        if match.start() > end:  # another line: looked for once a line, or one long line costs its square
            start = view.text.rfind("\n", max(0, end), match.start()) + 1
            end = view.text.find("\n", match.end())
            end = len(view.text) if end < 0 else end
        tail = view.text[match.end() : min(end, match.end() + 500)]
        if not tail.strip():
            continue
        before = view.text[start : min(match.start(), start + 500)].strip()
        column = match.end() - start
        # Aligned comments and tables stand in company; a payload follows something or holds a call.
        if (
            column < 150
            or (not before and view.language != "python")
            or tail.startswith(("#", "\\", "//", "|"))
        ):
            continue
        line = view.text.count("\n", 0, match.start()) + 1
        active = bool(re.search(r"[(=;`]", tail))
        yield TextHit(
            message="Code stands far to the right, behind a long run of blanks.",
            first=line,
            evidence={"column": str(column + 1), "code": tail.strip()[:120]},
            severity=Severity.HIGH if active else Severity.MEDIUM,
        )


def encoding(view: View) -> Iterator[TextHit]:
    """A file that its interpreter reads in another encoding than the reviewer's screen.

    `# coding: utf-7` or `unicode_escape` can turn what looks like a comment into code. NUL bytes and
    bytes that are no text at all make tools disagree about what the file says.
    """
    code = view.language in CODE
    for problem in dict.fromkeys(view.problems):
        if problem == "bare-cr" or (problem in ("undecodable", "nul", "other-encoding") and not code):
            continue
        name = view.encoding.replace("_", "-")
        if problem == "other-encoding" and _SAME_AS_ASCII.match(name):
            continue
        level = Severity.HIGH
        if problem == "other-encoding" and (
            _HARMLESS_CODECS.match(name) or name.startswith(("utf-16", "utf-32"))
        ):
            level = Severity.MEDIUM
        if problem == "undecodable" and view.language != "python":
            level = Severity.LOW
        yield TextHit(
            message=_PROBLEMS[problem],
            evidence={"problem": problem, "encoding": view.encoding},
            shape=f"{problem} {view.encoding}",
            severity=level,
        )


_PROBLEMS: Final = {
    "other-encoding": "This file is read in another encoding than UTF-8.",
    "unknown-encoding": "This file declares an encoding that does not exist or is none for source text.",
    "conflict": "The byte order mark and the declared encoding contradict each other.",
    "undecodable": "This file holds bytes that its encoding does not allow.",
    "nul": "This source file holds NUL bytes.",
}


def line_ends(view: View) -> Iterator[TextHit]:
    """A carriage return alone ends a line for the interpreter and not for a diff: what follows is hidden.

    A comment such as `# fine<CR>import os` is two lines to Python and one to most viewers. JavaScript
    does the same with U+2028 and U+2029. Other control characters can rewrite a terminal's screen.
    """
    code = view.language in CODE
    if "bare-cr" in view.problems and code:
        for number in range(2, len(view.lines or ())):
            if view.lines and view.lines[number - 1] == view.lines[number - 2]:
                yield TextHit(
                    message="A carriage return hides the start of another line.",
                    first=number,
                    evidence={"code": view.quote(number)[:120]},
                )
    if view.language in ("javascript", "typescript") and not view.text.isascii():
        for line, _ in _lines_with(re.compile("[\u2028\u2029]"), view.text):
            yield TextHit(message="A character that ends a line in JavaScript, and in no diff.", first=line)
    for line, matches in _lines_with(_CONTROL, view.text):
        if code and set(matches) != {"\0"}:
            yield TextHit(
                message="A control character stands in the source.",
                first=line,
                evidence={"code points": _points("".join(matches))},
                severity=Severity.MEDIUM,
                confidence=Confidence.MEDIUM,
            )


_FIX: Final = "Remove the characters; write them as escapes (\\uXXXX) where a string really needs them."
RULES: Final = (
    TextRule(
        about(
            "hidden.bidi",
            "Characters that reorder the line on screen",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(1007, 451),
            attack=("T1027",),
            why="A reviewer reads something else than what runs (Trojan Source, CVE-2021-42574).",
            fix=_FIX,
        ),
        bidi,
    ),
    TextRule(
        about(
            "hidden.invisible",
            "Characters that nobody can see",
            Severity.MEDIUM,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(1007,),
            attack=("T1027",),
            why="Two names that look the same can be different, and a check can be switched off unseen.",
            fix=_FIX,
        ),
        invisible,
    ),
    TextRule(
        about(
            "hidden.smuggled",
            "A message in invisible characters",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(1007, 506),
            attack=("T1027",),
            why="Tag characters and selector runs carry text or code that no viewer shows.",
            fix="Remove them; nothing honest needs them in a repository.",
        ),
        smuggled,
    ),
    TextRule(
        about(
            "hidden.homoglyph",
            "A name that looks like another",
            Severity.HIGH,
            Confidence.MEDIUM,
            topic="hidden-text",
            cwe=(1007,),
            attack=("T1036",),
            why="A look-alike name can stand in for a trusted one (CVE-2021-42694).",
            fix="Write the name in one script; Python normalises names to NFKC, so write that form.",
        ),
        homoglyph,
    ),
    TextRule(
        about(
            "hidden.far-right",
            "Code out of sight at the right",
            Severity.HIGH,
            Confidence.MEDIUM,
            topic="hidden-text",
            cwe=(451, 506),
            attack=("T1027",),
            why="Diff views cut long lines; blanks push a payload where nobody scrolls.",
            fix="Put the code on a line of its own.",
        ),
        far_right,
    ),
    TextRule(
        about(
            "hidden.encoding",
            "A file that is read in another encoding",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(838, 451),
            attack=("T1027",),
            why="What the interpreter decodes differs from what the reviewer sees.",
            fix="Save the file as UTF-8 and drop the declaration.",
        ),
        encoding,
    ),
    TextRule(
        about(
            "hidden.line-end",
            "A line end or control character that viewers do not show",
            Severity.HIGH,
            Confidence.HIGH,
            topic="hidden-text",
            cwe=(451, 150),
            attack=("T1027",),
            why="The interpreter starts a new line where the reviewer sees the same one go on.",
            fix="Use newline characters only; write control characters as escapes.",
        ),
        line_ends,
    ),
)


class HiddenText:
    """Hidden text in every text file of the change, whatever its language."""

    name: str = "hidden-text"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Run the rules; what they could not get through in time is named."""
        found, unlooked = run_rules(RULES, "gate.prescreen.hidden_text:RULES", request)
        return ended(self.name, found, unlooked)

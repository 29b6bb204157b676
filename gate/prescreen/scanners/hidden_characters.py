"""Characters that a reviewer cannot see or takes for others, and a machine acts upon.

Sources: CVE-2021-42574 and CVE-2021-42694 (Trojan Source, https://trojansource.codes), Unicode TR 36 and 39,
PEP 672, PEP 3131 (Python compares identifiers in NFKC).
"""

from __future__ import annotations

import io
import re
import tokenize
import unicodedata
from collections.abc import Iterator
from typing import Final

from gate.languages.path_roles import is_test_code
from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.text_rule import CODE, TextHit, rule
from gate.regex import regex

_BIDI_STRONG: Final = "\u202a-\u202e\u2066-\u2069"
_BIDI_MARKS: Final = "\u200e\u200f\u061c"
_BIDI: Final = regex(f"[{_BIDI_STRONG}{_BIDI_MARKS}]")
_ZERO_WIDTH: Final = regex("[\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e\u115f\u1160\u3164\uffa0\u2800]")
_TAGS: Final = regex("[\U000e0000-\U000e007f]+")
_SELECTORS: Final = regex("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_WORD: Final = regex(r"[^\W\d]\w*")
# Letters of other scripts that look like a Latin letter (from Unicode's confusables.txt).
_LOOKALIKE: Final = dict(
    zip(
        "аеорсухіјѕһԁԛԝАВЕЗКМНОРСТУХІЈЅοΟΑΒΕΖΗΙΚΜΝΡΤΧιօս",  # noqa: RUF001 - the point of the table
        "aeopcyxijshdqwABE3KMHOPCTYXIJSoOABEZHIKMNPTXiou",
        strict=True,
    )
)
_LOOKALIKES: Final = regex("[" + "".join(_LOOKALIKE) + "]")
_REMOVE: Final = "Remove the characters; write them as escapes (\\uXXXX) where a string really needs them."
_SKELETON: Final = str.maketrans(_LOOKALIKE)
_TOKENS: Final = 1 << 20
"""Characters that are taken apart for names: about a second."""
_CALLED: Final = frozenset(
    {"eval", "exec", "compile", "open", "getattr", "setattr", "input", "os", "sys", "subprocess", "system"}
    | {"__import__", "globals", "locals", "vars", "True", "False", "None", "self", "return", "if", "else"}
    | {"import", "not", "is", "in", "and", "or", "admin", "root", "user", "require", "process", "Function"}
)


def lines_with(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, list[str]]]:
    """``(line, matches)`` for each line with a match; linear in the text."""
    line, last = 1, 0
    found: dict[int, list[str]] = {}
    for match in pattern.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        found.setdefault(line, []).append(match[0])
    yield from found.items()


def code_points(text: str) -> str:
    """``U+202E U+2066``, at most eight of them."""
    return " ".join(f"U+{ord(char):04X}" for char in dict.fromkeys(text[:64]))[:100]


@rule(
    "hidden.bidi",
    "Characters that reorder the line on screen",
    severity="high",
    confidence="high",
    topic="hidden-text",
    cwe=(1007, 451),
    attack=("T1027",),
    why="A reviewer reads something else than what runs (Trojan Source, CVE-2021-42574).",
    fix=_REMOVE,
)
def bidi(view: View) -> Iterator[TextHit]:
    """Characters that change the direction of text can show a line in another order than it is read in.

    A reviewer sees a comment where the compiler sees code. Embeddings, overrides and isolates are what
    the published attack uses; plain direction marks occur in honest right-to-left prose.
    """
    if view.text.isascii():
        return
    for line, matches in lines_with(_BIDI, view.text):
        strong = any(char not in _BIDI_MARKS for char in matches)
        level = Severity.LOW
        if strong and view.language in CODE:
            level = Severity.HIGH
        elif strong and not is_test_code(view.path):
            level = Severity.MEDIUM
        yield TextHit(
            message="This line holds characters that change the order in which it is shown.",
            first=line,
            evidence={"code points": code_points("".join(matches))},
            severity=level,
        )


@rule(
    "hidden.invisible",
    "Characters that nobody can see",
    severity="medium",
    confidence="high",
    topic="hidden-text",
    cwe=(1007,),
    attack=("T1027",),
    why="Two names that look the same can be different, and a check can be switched off unseen.",
    fix=_REMOVE,
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
            evidence={"code points": code_points(points)},
            severity=Severity.HIGH if inside and code else Severity.MEDIUM if code else Severity.LOW,
        )


def _latin(char: str) -> bool:
    return bool(char) and (char.isascii() and (char.isalnum() or char == "_"))


@rule(
    "hidden.smuggled",
    "A message in invisible characters",
    severity="high",
    confidence="high",
    topic="hidden-text",
    cwe=(1007, 506),
    attack=("T1027",),
    why="Tag characters and selector runs carry text or code that no viewer shows.",
    fix="Remove them; nothing honest needs them in a repository.",
)
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
                evidence={"code points": code_points(match[0]), "length": str(len(match[0]))},
            )


@rule(
    "hidden.homoglyph",
    "A name that looks like another",
    severity="high",
    confidence="medium",
    topic="hidden-text",
    cwe=(1007,),
    attack=("T1036",),
    why="A look-alike name can stand in for a trusted one (CVE-2021-42694).",
    fix="Write the name in one script; Python normalises names to NFKC, so write that form.",
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
    code_names: set[str] | None = None
    for line, words in () if _mostly_foreign(text) else lines_with(_WORD, text):
        for word in words:
            if word.isascii():
                continue
            plain = unicodedata.normalize("NFKC", word)
            reads = plain != word and plain.isascii() and word.isidentifier()  # not "m²", nor "½"
            if reads and view.language == "python":
                known = plain in _CALLED
                if code_names is None:
                    code_names = _names_of(text)
                if not known and word not in code_names:
                    continue  # "Nº 5" in a text or a comment
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
                    evidence={"name": word, "looks like": skeleton, "code points": code_points(word)},
                    severity=Severity.HIGH if skeleton in names else Severity.MEDIUM,
                )


def _names_of(text: str) -> set[str]:
    """The names in a Python text that are names to Python; every word where that cannot be told."""
    if len(text) <= _TOKENS:
        try:
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            return {token.string for token in tokens if token.type == tokenize.NAME}
        except (SyntaxError, tokenize.TokenError, ValueError, RecursionError):
            pass
    return set(_WORD.findall(text))


def _mostly_foreign(text: str) -> bool:
    """More than 200,000 letters outside ASCII: data in another language; names would drown in it."""
    return len(text) - len(text.encode("ascii", "ignore")) > 200_000

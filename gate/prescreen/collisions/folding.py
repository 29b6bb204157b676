"""Calls that make two different names one: compatibility forms, transliteration, letters taken out.

Lower case and blanks at the ends are what everybody folds, and are none. Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.protections.tree_sitter.shapes import arguments, callee, is_call, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

FOLDS: Final = {
    "compatibility": "look-alike letters of Unicode (ligatures, full width) become plain ones",
    "transliteration": "letters of other alphabets become Latin ones, accents go",
    "removal": "characters are taken out",
    "tag": "what stands behind a plus or a mark is cut off",
    "collation": "a comparison takes letters with and without accents for the same",
}
_COMPATIBILITY: Final = regex(r"NFK[CD]|FormK[CD]|FORM_K[CD]|\bnfk[cd]\b|nfkc_casefold", re.IGNORECASE)
_NORMALISE: Final = frozenset({
    "normalize", "unicode_normalize", "nfkc", "nfkd", "string", "bytes", "normalizer", "getinstance", "new",
    "unicodenormalize", "transform", "nfkc_casefold",
})  # fmt: skip
_TRANSLITERATE: Final = frozenset({
    "unidecode", "transliterate", "slugify", "deburr", "parameterize", "iconv", "remove_accents",
    "strip_accents", "removediacritics", "stripaccents", "anyascii", "any_ascii", "deunicode", "asciify",
    "confusables", "skeleton", "slug", "tranliterator_transliterate", "transliterator_transliterate",
})  # fmt: skip
_REPLACE: Final = frozenset({
    "replace", "replaceall", "replace_all", "sub", "gsub", "preg_replace", "replaceallstring", "delete", "tr",
    "replaceallliteralstring", "str_replace",
})  # fmt: skip
_CLASS: Final = regex(
    r"^[\"'`/rbu]*(?:/|#|~)?\[\^?[^\]]+\]|^[\"'`/]+(?:\\W|\\\.|\.|\\p\{M|\\p\{Mn|[\u0300-\u036f])"
)
_NOTHING: Final = frozenset({"''", '""', "``", "String.Empty", "string.Empty"})
_CUTS: Final = frozenset({"split", "partition", "explode", "cut", "substringbefore", "splitn", "split_once"})
_COMPARES: Final = regex(
    r"sensitivity['\"]?\s*:\s*['\"](?:base|accent)|CompareOptions\.IgnoreNonSpace|Collator\.PRIMARY"
)
_SQL: Final = regex(
    r"\bunaccent\(|COLLATE\s+[\"'`]?\w*(?:_ai_|_ai\b|general_ci|unicode_ci|unicode_520_ci)", re.IGNORECASE
)
"""Comparisons of data bases that take accents for nothing."""


def folds_in(node: Node) -> Iterator[str]:
    """The kinds of folding that a node by itself is."""
    if "string" in node.type and node.end_byte - node.start_byte < 2_000 and _SQL.search(text_of(node)):
        yield "collation"
    if not is_call(node):
        if node.type in ("pair", "member_access_expression", "field_access") and _COMPARES.search(
            text_of(node)
        ):
            yield "collation"
        return
    called = callee(node).replace("::", ".")
    last = called.rpartition(".")[2].lower().rstrip("!?")
    given = [text_of(one) for one in arguments(node)]
    if (last in _NORMALISE and _COMPATIBILITY.search(" ".join([called, *given]))) or last in ("nfkc", "nfkd"):
        yield "compatibility"
    elif last in _TRANSLITERATE and (last != "iconv" or "TRANSLIT" in " ".join(given).upper()):
        yield "transliteration"
    elif last in _REPLACE and _takes_out(last, given):
        yield "removal"
    elif last in _CUTS and any(one.strip("\"'`/bu") in ("+", "\\+") for one in given):
        yield "tag"


def _takes_out(last: str, given: list[str]) -> bool:
    if last == "delete":
        return bool(given) and not given[0].startswith(":") and given[0][:1] in "\"'"
    if not any(one in _NOTHING for one in given):
        return False
    what = given[0] if given else ""
    return bool(_CLASS.search(what)) or what.strip("\"'`") in (".", "-", "_", "+")

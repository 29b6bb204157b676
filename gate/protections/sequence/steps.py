"""A function as steps in their order: names that are given values, calls, conditions that refuse. Pure.

From these follows what a checked value went through before the check, and what it goes through behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.naming import snake
from gate.protections.facts import Asked
from gate.regex import regex

_CHANGES: Final = regex(
    r"^(?:to_(?!s$|str|json|list|dict|array|a$|h$|vec|owned|html|map|set)|as_(?!str|ref|view|bytes)"
    r"|convert|exchange|transform|round|scale|set_scale|quantize|floor|ceil|gross|net_|with_"
    r"|apply_|times )"
    r"|currency|_to_\w|cents|minor_units|(?:^|_)rate$|discount|percent|total"
)
_MAKES_PLAIN: Final = regex(
    r"^(?:clean|real_?path|resolve(?:_(?:path|url|link|file|symlinks?))?|normali[sz]e\w*|norm_?path|norm_?case|canonical\w*|get_canonical\w*|eval_symlinks|abs_?path"
    r"|get_full_path|expand_?path|expand_?user|expand_?vars|unquote\w*|url_?decode|decode_?uri\w*|path_unescape"
    r"|query_unescape|unescape\w*|html_unescape|decode|b64_?decode|base64_?decode|a85decode|decompress|inflate|gunzip|uncompress|fold|casefold|case_fold"
    r"|lower|to_?lower\w*|to_?upper\w*|upper|downcase|strtolower|strtoupper|strip|trim|trim_space|nfkc|idna\w*|to_ascii|punycode\w*|secure_filename"
    r"|follow_?\w*|final_url|decrypt\w*|unwrap_\w+|html_entity_decode|rawurldecode|urldecode|realpath|to_real_path|get_real_path"
    r"|to_absolute_path|get_absolute_path|join_path|safe_join|parse_url|url_parse|uri_parse|unicode_normalize|sanitize_path|clean_path|rel)$"
)
_IDLE: Final = frozenset(
    {"len", "str", "string", "print", "append", "format", "log", "get", "error", "info", "debug"}
)
_USES: Final = regex(
    r"^(?:open|read\w*|send_?file\w*|fetch\w*|url_?open|redirect\w*|unlink|remove\w*|delete\w*|write\w*|serve\w*|exec\w*"
    r"|query\w*|load\w*|get|request|create_read_stream|file_get_contents|new_url|dial\w*|connect|render\w*|book\w*"
    r"|pay\w*|transfer\w*|charge\w*|refund\w*|save\w*|insert\w*)$"
)
_MOST: Final = 200
_STEPS: Final = 1_500


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step. ``sets``: names that are given what it reads. ``key``: of a check, what it asks by."""

    at: int
    reads: tuple[str, ...]
    calls: tuple[str, ...]
    sets: tuple[str, ...] = ()
    key: str = ""
    passed: str = ""
    text: str = ""
    line: int = 0


def makes_plain(name: str) -> bool:
    """Does a call of this name make one spelling of many, or what is meant of what is written?"""
    return _MAKES_PLAIN.match(name) is not None


def uses(name: str) -> bool:
    """Does a call of this name do something with what it is given: read it, ask for it, pay it?"""
    return _USES.match(name) is not None


def changes(name: str) -> bool:
    """Does a call of this name make another value of one: plain, or in other units?"""
    return makes_plain(name) or _CHANGES.search(name) is not None


def key_of(calls: Iterable[str], constants: Iterable[str]) -> str:
    """What a condition asks by, whatever its variables are called; empty where it says too little."""
    words = sorted({snake(one) for one in calls if one} - _IDLE) + sorted({*constants})
    return " ".join(words)[:160]


def asked_in(name: str, parameters: Iterable[str], steps: Iterable[Step]) -> Iterator[Asked]:
    """Each check of a function, and each value that it hands on, with what stands before and behind."""
    ordered = sorted(steps, key=lambda one: one.at)[:_STEPS]
    known = {*parameters, *(n for one in ordered for n in one.sets)}
    through: dict[str, frozenset[str]] = {}
    origins: dict[str, frozenset[str]] = {}
    seen: list[tuple[Step, frozenset[str], frozenset[str]]] = []
    for one in ordered:
        reads = [r for r in one.reads if r in known or r.partition(".")[0] in known]
        went = frozenset(one.calls).union(*(through.get(r, frozenset()) for r in reads))
        came = frozenset(reads).union(*(origins.get(r, frozenset()) for r in reads))
        constant = not one.reads and not one.calls
        for target in one.sets:
            if constant and target in through:
                continue  # a constant needs no change: what other ways give the name decides
            through[target], origins[target] = went, came | {target}
        seen.append((one, went, came))
    made = 0
    for i, (one, went, came) in enumerate(seen):
        if not (one.key or one.passed) or made >= _MOST:
            continue
        behind = {
            call for later, _, others in seen[i + 1 :] if came & others for call in later.calls
        }  # fmt: skip
        if one.key or uses(one.passed) or any(map(changes, went | behind)):
            made += 1
            yield Asked(
                key=one.key, passed=one.passed, through=tuple(sorted(went)), behind=tuple(sorted(behind)),
                within=name, text=one.text[:160], line=one.line,
            )  # fmt: skip

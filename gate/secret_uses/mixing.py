"""What comes out of arithmetic, of entries and of calls that hand a value on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gate.secret_uses.calls import marks_besides
from gate.secret_uses.names import snake
from gate.secret_uses.shapes import first_text
from gate.secret_uses.sources import Value, Values, marked, more
from gate.secret_uses.steps import BITS, Step
from gate.secret_uses.user_secrets import only_wide
from gate.secret_uses.whole_objects import by_name

INTS: Final = frozenset({
    "big_int", "int", "number", "parse_int", "long", "uint64", "int64", "to_long", "to_int", "to_i",
    "big_integer", "intval", "parse_uint", "parse_long", "set_string", "atoi", "int_val", "gmp_init",
    "integer", "u_int64", "decimal", "to_int64", "big_decimal",
})  # fmt: skip
"""What makes a number of a text."""
_PLACES: Final = frozenset({"index", "index_of", "position", "strpos"})
_CODINGS: Final = frozenset({"hex", "base64", "base64url", "binary", "latin1"})
_TEXTS: Final = frozenset({"repr", "inspect", "dumps", "dict"})
_COMPUTES: Final = frozenset({
    "divmod", "pow", "intdiv", "bcmul", "bcadd", "bcmod", "bcpowmod", "gmp_mul", "gmp_add", "gmp_mod",
    "gmp_powm", "mul", "mod", "multiply", "mod_pow", "exp", "xor", "rotate_left", "wrapping_add",
    "wrapping_mul",
    "wrapping_sub", "add_mod",
})  # fmt: skip
_REPLACES: Final = frozenset({"sub", "gsub", "preg_replace", "replace_all_string", "replace_all"})
_KEEPS: Final = frozenset({
    "divmod", "append", "floor", "ceil", "trunc", "abs", "format_int", "format_uint", "itoa", "parse_uint",
    "parse_long", "intval", "atoi", "gmp_init", "gmp_strval", "set_string", "decimal", "big_decimal",
    "finditer", "findall", "match", "match_all", "sub", "gsub", "preg_replace", "replace_all_string",
    "clean", "normalize", "trim_space", "fields_func", "strval", "integer", "chr", "char", "to_char",
    "as_string", "to_base", "encode_into", "array_reverse", "wordwrap", "chunk_split", "scan", "tr", "delete",
    "request", "event", "entry", "message", "uuid", "text", "string_builder", "string_buffer",
    "join_to_string",
})  # fmt: skip
"""Calls through which a secret of a user is followed besides."""


def sliced(step: Step, found: Sequence[Values]) -> list[Value]:
    """A part of what is held, which may be the rest or all of it, turned round."""
    turned = ("spelled", "rest") if step.name == ("turned",) else step.name
    return [*marked(found[0] if found else (), "part", *turned)]


def added(every: Sequence[Value]) -> list[Value]:
    """A sum, or texts put together: of a secret of a user, numbers are computed with."""
    return [more(v, ("mixed",)) if v.kind == "user" and "code" in v.marks else v for v in every]


def folded(target: Step, value: Step, made: Iterable[Value]) -> list[Value]:
    """What a variable holds that is cut to a width with every piece, as hashes and buckets are."""
    if target.kind != "name" or value.kind not in ("any", "sum") or not _mentions(value, target.name):
        return [*made]
    return [more(v, ("lossy",)) if v.kind in ("user", "given") else v for v in made]


def _mentions(step: Step, path: tuple[str, ...]) -> bool:
    return (step.kind == "name" and step.name == path) or any(_mentions(part, path) for _, part in step.parts)


def _masked(step: Step, values: Iterable[Value]) -> list[Value]:
    """A secret of a user in which characters were replaced by stars is a part of it."""
    texts = [part.name[0] for key, part in step.parts if not key and part.kind == "const" and part.name]
    stars = snake(step.name[-1]) in _REPLACES and any(text and not text.strip("*•#") for text in texts[1:])
    return [more(v, ("part",)) if stars and v.kind in ("user", "given") else v for v in values]


def summed(step: Step, every: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """What a sum computes with, and what it leaves as it is."""
    taken = [value for value in every if "item" in value.marks]
    if step.name and step.name[0] in BITS:  # no text has bits: it is a byte
        taken = [more(value, ("code",)) for value in taken]
    rest = [value for value in every if "item" not in value.marks]
    numbers = [v for v in rest if not v.marks.isdisjoint(("number", "code", "mixed"))]
    return [*taken, *only_wide(numbers)], rest


def indexed(found: Sequence[Values]) -> list[Value]:
    """One entry of what is held, and, of a table, what says which entry."""
    single = [  # one entry of all settings: nobody knows which
        v._replace(kind="setting") if v.kind == "whole" and v.origin != "environment" else v
        for v in (found[0] if found else ())
    ]
    at = [v for values in found[1:] for v in values if not v.marks.isdisjoint(("mixed", "code", "number"))]
    whole = [by_name(v.source) for v in single if v.kind == "whole" and v.origin == "environment"]
    return [*marked((v for v in single if v.kind != "whole"), "item"), *only_wide(at), *whole[:1]]


def kept(step: Step, values: Iterable[Value]) -> list[Value]:
    """What an unknown call gives back of a secret of a user."""
    path = step.name
    last = snake(path[-1]) if path else ""
    if last.startswith(("wrapping_", "rotate_")):  # of a byte
        return [more(value, ("code",)) for value in values if "item" in value.marks]
    if last in _KEEPS or last in _COMPUTES:
        made = [*only_wide(_masked(step, values))]
        if last in INTS:
            made = [more(value, ("number",)) for value in made]
        return made
    return []


def computes(path: Sequence[str]) -> bool:
    """Does the call compute with numbers that it is given?"""
    return bool(path) and (snake(path[-1]) in _COMPUTES or path[-1].startswith(("wrapping_", "rotate_")))


def path_of_codec(path: Sequence[str]) -> bool:
    """Does Python's ``codecs`` write it down, in whatever alphabet?"""
    return len(path) > 1 and path[0] == "codecs"


def handed(step: Step, mark: str, values: Iterable[Value]) -> list[Value]:
    """What a call gives back that hands on what it is given."""
    path = step.name
    made = [*marked(values, *([mark] if mark else []), *marks_besides(path))]
    if snake(path[-1]) == "hash":  # of a password, to keep it
        made = [value for value in made if value.kind != "user"]
    if mark == "wholly" and snake(path[-1]) in _TEXTS:  # of an error, its text
        made = [value for value in made if value.origin != "error"]
    return made


def formed(step: Step, made: list[Value], given: Sequence[Value]) -> list[Value]:
    """The same, by what the call says of its form."""
    last = snake(step.name[-1])
    if last == "split" and first_text(step) == "" and any(not k for k, _ in step.parts):
        made = [value._replace(marks=value.marks - {"cut"}) for value in made]
    if last == "to_string" and first_text(step) in _CODINGS:
        made = [*marked(made, "coded", "spelled")]
    if path_of_codec(step.name):
        made = [*marked(made, "spelled")]
    if last in ("sprintf", "format") and "x" in first_text(step).partition("%")[2].lstrip("0123456789")[:1]:
        made = [*marked(made, "spelled")]
    if last in _PLACES:  # where a character stands in an alphabet is a number
        made = [more(value, ("code",)) for value in given if "item" in value.marks]
    if last in INTS:
        made = [more(value, ("code",)) if "item" in value.marks else value for value in made]
        made = [more(value, ("number",)) if value.kind in ("user", "given") else value for value in made]
    return made

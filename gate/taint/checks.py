"""Conditions: for what a value is safe once they hold, or do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from gate.regex import regex
from gate.taint.names import BEGINS, MATCHES, MEMBERS, REFUSES, VALIDATES
from gate.taint.program import Node
from gate.taint.texts import is_closed
from gate.taint.values import ALL, Atom, Tags, Value

Facts = dict[Atom, Tags]
_EQUAL: Final = frozenset({"==", "===", "eq?"})
_OTHER: Final = frozenset({"!=", "!==", "<>"})
_EVERYTHING: Final = frozenset({ALL})
_NULL: Final = frozenset({"null", "undefined", "nil", "none", "''", '""', "", "NULL", "None"})
_PLACE: Final = frozenset({"path", "ssrf", "redirect"})
_ADDRESS: Final = regex(r"https?://[^/\s]+/|/[^/\\]")
_CLASS: Final = regex(r"\[(?!\^)(?:\\.|[^\]\\])*/(?:\\.|[^\]\\])*\]")
_OF_LINES: Final = frozenset({"path", "nosql", "mass", "regex"})
_LOOSE: Final = regex(r"(?<!\\)\.[*+]|\[\^|\\S[*+]|(?<!\\)\.\{")


class Conditions:
    """Reads the conditions of one place. ``value`` evaluates an expression there; ``known``: what stands
    behind a name that holds an answer; ``closed``: members that were given a text with a separator's end;
    ``judge``: what a function of the file says by its answer.
    """

    def __init__(
        self,
        value: Callable[[Node], Value],
        known: Mapping[str, tuple[Facts, Facts]],
        language: str = "",
        closed: Collection[str] = (),
        judge: Callable[[Node], tuple[Facts, Facts] | None] | None = None,
    ) -> None:
        self._value = value
        self._known = known
        self._language = language
        self._parted = language in ("java", "kotlin")
        self._closed = closed
        self._judge = judge

    def facts(self, node: Node, holds: bool) -> Facts:
        """What is safe for what where the condition holds, or where it does not."""
        if node.kind == "not":
            return self.facts(node.parts[0], not holds)
        if node.kind in ("and", "or"):
            many = [self.facts(part, holds) for part in node.parts]
            return all_of(many) if holds == (node.kind == "and") else any_of(many)
        if node.kind == "test":
            return self._test(node, holds)
        if node.kind == "call":
            return self._call(node, holds)
        if node.kind == "name":
            pair = self._known.get(node.text)
            return pair[0 if holds else 1] if pair else {}
        if node.kind == "index" and holds:
            return self._member_of(self._value(node.parts[0]), self._value(node.parts[1]))
        if node.kind == "assign" and len(node.parts) > 1:
            return self.facts(node.parts[1], holds)
        if node.kind in ("block", "any") and node.parts:
            return self.facts(node.parts[-1], holds)
        if node.kind == "member" and node.text in ("ok", "success", "isPresent", "valid", "Success"):
            return self.facts(node.parts[0], holds) if node.parts else {}
        return {}

    def _test(self, node: Node, holds: bool) -> Facts:  # noqa: C901 - one case a form
        sign = node.text
        if len(node.parts) < 2:
            return {}
        left, right = node.parts[0], node.parts[1]
        if sign in ("in", "!in"):
            return self._member_of(self._value(right), self._value(left)) if holds == (sign == "in") else {}
        if sign in ("=~", "!~"):
            return self._matched(right, self._value(left)) if holds == (sign == "=~") else {}
        equal = sign in _EQUAL
        if left.kind == "test" and left.text == "typeof":
            fits = equal == holds and (equal or sign in _OTHER)
            kind = right.text.strip("'\"")
            safe = _EVERYTHING if kind in ("number", "boolean", "bigint") else frozenset({"nosql", "mass"})
            return _all(self._value(left.parts[0]), safe) if fits else {}
        if left.kind == "call" and right.kind in ("const", "test", "name"):
            asked = self._place_of(left, right, sign, holds)
            if asked is not None:
                return asked
        if (
            left.kind == "name"
            and right.kind in ("const", "name")
            and left.text in self._known
            and _is_null(right)
        ):
            positive = (sign in _OTHER) == holds
            return self._known[left.text][0 if positive else 1]
        if not equal and sign not in _OTHER:
            return {}
        if equal != holds:
            return {}
        for one, other in ((left, right), (right, left)):
            if other.kind == "const" and (other.text.strip("'\"") in _NULL or other.text in _NULL):
                return {}
            given, asked_of = self._value(one), self._value(other)
            if given.decided and not asked_of.decided:
                return _all(given, _EVERYTHING)
        return {}

    def _place_of(self, call: Node, other: Node, sign: str, holds: bool) -> Facts | None:
        """``list.indexOf(x) !== -1`` and its like: whether it is a member; None for other comparisons."""
        said = other.text.strip("'\"")
        name = _last(call)
        is_minus = other.kind == "test" or said in ("-1", "")
        if name in ("indexof", "strpos", "array_search", "stripos", "findindex", "search"):
            if sign in (">=", ">"):
                positive = True
            elif sign == "<":
                positive = False
            elif said == "0" and sign in _EQUAL | _OTHER:
                return self._begins(call, holds == (sign in _EQUAL))
            elif is_minus or said == "false":
                positive = sign in _OTHER
            else:
                return None
            return self._call(call, holds == positive)
        if said in ("true", "True", "1"):
            return self.facts(call, holds == (sign in _EQUAL))
        if said in ("false", "False", "0"):
            return self.facts(call, holds != (sign in _EQUAL))
        if _is_null(other) and (MEMBERS.__contains__(name) or name in MATCHES or VALIDATES.search(name)):
            return self._call(call, holds == (sign in _OTHER))
        return None

    def _call(self, node: Node, holds: bool) -> Facts:  # noqa: C901 - one case a family of names
        name, raw = _last(node), node.parts[0].text if node.parts else ""
        receiver, given = self._parts(node)
        values = [self._value(one) for one in given if one.kind != "function"]
        if name in BEGINS:
            return self._begins(node, holds)
        if name in MATCHES:
            facts = self._match(node, receiver, given)
            if facts is not None:
                return facts if holds else self._without(receiver, given)
        if name == "isnan":
            return {} if holds else _every(values, _EVERYTHING)
        if name in ("isinteger", "is_numeric", "ctype_digit", "is_int", "ctype_alnum", "ctype_alpha",
                    "isfinite",
                    "isnumeric", "tryparse", "isdigit", "isdigits"):  # fmt: skip
            return _every(values, _EVERYTHING) if holds else {}
        if name == "is_string":
            return _every(values, frozenset({"nosql"})) if holds else {}
        if name in ("equals", "equalsignorecase", "eql?", "equalfold", "hash_equals", "timingsafeequal"):
            both = [*([self._value(receiver)] if receiver is not None else []), *values]
            return _every(both, _EVERYTHING) if holds and any(not one.decided for one in both) else {}
        if name in MEMBERS:
            return self._member(receiver, given, values, holds)
        if name == "islocal" and holds:
            return _every(values, frozenset({"path"}))
        if (
            name in ("any", "some", "any?", "anymatch", "contains", "exists", "first")
            and receiver is not None
        ):
            inner = next((one for one in given if one.kind == "function"), None)
            if inner is not None and holds and not self._value(receiver).decided:
                return self._any_equal(inner)
        read = self._judge(node) if self._judge is not None else None
        if read is not None:
            return read[0 if holds else 1]
        if REFUSES.search(raw):
            return {} if holds else _every(values, _EVERYTHING)
        if VALIDATES.search(raw):
            own = [self._value(receiver)] if receiver is not None else []
            return _every([*values, *own], _EVERYTHING) if holds else {}
        return {}

    def _any_equal(self, function: Node) -> Facts:
        """``list.some(x => x === value)``."""
        body = function.parts[-1] if function.parts else None
        while body is not None and body.kind in ("return", "block") and body.parts:
            body = body.parts[-1]
        return self.facts(body, True) if body is not None else {}

    def _parts(self, node: Node) -> tuple[Node | None, list[Node]]:
        callee = node.parts[0]
        return (callee.parts[0] if callee.kind == "member" and callee.parts else None), node.parts[1:]

    def _member(self, receiver: Node | None, given: list[Node], values: list[Value], holds: bool) -> Facts:
        own = self._value(receiver) if receiver is not None else None
        if own is not None and own.decided and len(given) == 1:
            text = values[0].const if values else None
            if text is not None and not holds and (".." in text or text in ("/", "\\", "\0")):
                return _all(own, frozenset({"path"}))
            return {}
        if own is not None and not own.decided and len(values) == 1:
            return _every(values, _EVERYTHING) if holds else {}
        tainted = [one for one in values if one.decided]
        if len(values) > 1 and len(tainted) == 1:
            text = next((one.const for one in values if one.const is not None), None)
            if (
                text is not None and values[0].decided and values[1].const == text
            ):  # strings.Contains(x, "..")
                safe = frozenset({"path"}) if ".." in text else frozenset()
                return _all(tainted[0], safe) if not holds and safe else {}
            return _all(tainted[0], _EVERYTHING) if holds else {}
        if len(given) == 1 and given[0].kind == "index" and holds:  # isset($map[$x])
            return self.facts(given[0], True)
        return {}

    def _begins(self, node: Node, holds: bool) -> Facts:
        receiver, given = self._parts(node)
        values = [self._value(one) for one in (receiver, *given) if one is not None]
        values = [one for one in values if one.kind != "@import" and one.path not in _HELPERS]
        subject = next((one for one in values if one.decided), None)
        if subject is None:
            return {}
        other = next((one for one in values if one is not subject and not _is_sent(one)), None)
        start = other.const if other is not None else None
        if other is None:
            return {}
        if start is None:
            return _all(subject, _PLACE) if holds and self._bounds(node, subject, other) else {}
        if ".." in start:
            return {} if holds else _all(subject, frozenset({"path"}))
        if start in ("/", "\\") and not holds:
            return {}
        if start == "//" and not holds:
            return _all(subject, frozenset({"redirect"}))
        if not holds or not _ADDRESS.match(start):
            return {}
        bounded = is_closed(other) or start[:1] != "/" or self._by_parts(node, subject, other)
        return _all(subject, _PLACE if bounded else _PLACE - {"path"})

    def _bounds(self, node: Node, subject: Value, other: Value) -> bool:
        """Does the beginning end where a part of a path does? ``/data`` is one of ``/data-private`` too."""
        last = other.path.replace("()", "").rpartition(".")[2]
        return is_closed(other) or last in self._closed or self._by_parts(node, subject, other)

    def _by_parts(self, node: Node, subject: Value, other: Value) -> bool:
        """Java's and Kotlin's paths begin part by part."""
        if not self._parted:
            return False
        receiver, given = self._parts(node)
        texts = [one for one in (receiver, *given) if one is not None and _is_text(one)]
        return not texts and "String" not in (subject.kind, other.kind)

    def _match(self, node: Node, receiver: Node | None, given: list[Node]) -> Facts | None:
        if receiver is not None and receiver.kind == "call" and _last(receiver) == "matcher":
            receiver, given = self._parts(receiver)  # Java: pattern.matcher(text).matches()
        nodes = [*([receiver] if receiver is not None else []), *given]
        values = [self._value(one) for one in nodes]
        subject = next((one for one in values if one.decided), None)
        if subject is None:
            return None
        text = next((one.const for one in values if one.const is not None and one is not subject), None)
        whole = _last(node) == "matches"
        return self._by_pattern(subject, text, whole=whole)

    def _by_pattern(self, subject: Value, text: str | None, *, whole: bool) -> Facts:
        """What a regular expression leaves: all of the text has to fit it, and no sign stands for any. Where
        ``^`` and ``$`` mean a line, one line fits and others say what they want; a path is no such text.
        """
        if text is None:
            return _all(subject, _EVERYTHING)
        plain, _, flags = text[1:].rpartition("/") if text[:1] == "/" else (text, "", "")
        exact = r"\A" in plain and r"\z" in plain.lower()
        if not (whole or exact or ("^" in plain and "$" in plain) or (r"\A" in plain and "$" in plain)):
            return {}
        if _LOOSE.search(plain):
            return {}
        lines = self._language == "ruby" or "m" in flags
        return _all(subject, _OF_LINES if lines and not (exact or whole) else _EVERYTHING)

    def _without(self, receiver: Node | None, given: list[Node]) -> Facts:
        """Where a pattern does not match that is one class of signs with the slash: one name of a path."""
        values = [self._value(one) for one in (receiver, *given) if one is not None]
        subject = next((one for one in values if one.decided), None)
        text = next((one.const for one in values if one.const is not None and one is not subject), "") or ""
        one_class = _CLASS.fullmatch(
            text.removeprefix("/").rstrip("gimsu").removesuffix("/") if text[:1] == "/" else text
        )
        safe = subject is not None and one_class is not None and "/" in text[1:]
        return _all(subject, frozenset({"path"})) if safe and subject is not None else {}

    def _matched(self, node: Node, subject: Value) -> Facts:
        return self._by_pattern(subject, self._value(node).const, whole=False)

    def _member_of(self, holder: Value, key: Value) -> Facts:
        return _all(key, _EVERYTHING) if key.decided and not holder.decided else {}


_HELPERS: Final = frozenset({"strings", "Str", "StringUtils", "str", "_"})


def _is_sent(value: Value) -> bool:
    return any(atom[0] == "s" for atom in value.atoms)


_TEXTS: Final = frozenset({"getcanonicalpath", "getabsolutepath", "tostring", "getpath", "canonicalpath",
                           "absolutepath", "path"})  # fmt: skip


def _is_text(node: Node) -> bool:
    """Is this a path as a text, whose beginning is that of its letters?"""
    last = node.parts[0].text if node.kind == "call" and node.parts else node.text
    return node.kind in ("call", "member") and last.lower() in _TEXTS


def _is_null(node: Node) -> bool:
    return node.text.strip("'\"") in _NULL or node.text in _NULL


def _last(node: Node) -> str:
    return (node.parts[0].text if node.parts else "").lower()


def _all(value: Value, safe: Tags) -> Facts:
    return dict.fromkeys(value.whole(), safe)


def _every(values: Iterable[Value], safe: Tags) -> Facts:
    return {atom: safe for value in values for atom in value.whole()}


def all_of(many: Iterable[Facts]) -> Facts:
    """Several that hold at once."""
    found: Facts = {}
    for facts in many:
        for atom, safe in facts.items():
            found[atom] = found.get(atom, frozenset()) | safe
    return found


def any_of(many: list[Facts]) -> Facts:
    """What holds whichever of them does."""
    if not many:
        return {}
    return {
        atom: safe
        for atom in many[0]
        if (safe := frozenset.intersection(*(one.get(atom, frozenset()) for one in many)))
    }

"""Answers that are kept under a key without the value that decides them. Runs in the limited child.

``unstable_cache(() => load(session, year), ["payslips", year])``: everybody gets the first one's answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import walk
from gate.protections.shared.facts import Shared
from gate.protections.tree_sitter.functions import function_around, name_of
from gate.protections.tree_sitter.shapes import arguments, callee, inside, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

Given = Mapping[tuple[int, str], "Node"]
_WRAPS: Final = regex(
    r"(?i)(?:^|\.)unstable_cache$|cache\w*(?:\(\))?\.(?:fetch|remember\w*|flexible|sear|get_?or_?\w+|wrap|compute_?if_?absent|get|memoize)$"
    r"|(?:^|\.)(?:\w*memo\w*|lru|kv)\.(?:compute_?if_?absent|get_?or_?\w+|fetch|wrap)$|(?:flight|group|sf|single)\w*\.Do$"
    r"|^remember\w*$|(?:^|\.)(?:get_?or_?set_?cache\w*|with_?cache|cached_?fetch)$"
)
_GETS: Final = regex(
    r"(?i)(?:cache|memcached?|redis)\w*(?:\(\))?\.(?:get|fetch|read|lookup|find)(?:_?item|async)?$"
)
_SETS: Final = regex(
    r"(?i)(?:cache|memcached?|redis)\w*(?:\(\))?\.(?:set\w*|put|write|store|add)(?:_?item|async)?$"
)
WHO: Final = regex(
    r"^(?:current_|logged_in_|auth_)?(?:user|tenant|org|organi[sz]ation|account|customer|employee|company|member|owner|viewer"
    r"|principal|merchant|patient|student|workspace|caller|broker|club|subscriber|person|actor)(?:_?(?:id|uuid|slug|key|name))?$"
)
"""Names of who asks, or for whom."""
_WHOLE: Final = regex(r"^(?:user_)?(?:session|auth|principal|identity|claims)$")
"""Objects that say it, where they are handed on whole."""
_BESIDE: Final = regex(
    r"^(?:locale|lang\w*|time_?zone|tz|currency|country|plan|is_\w+|admin\??|theme|format|logger|log\w*|emit|track\w*)$"
)
_PLAIN: Final = regex(
    r"(?i)(?:^|[.:])(?:String|str|to_?s|join|s?printf|format|toString|strval|md5|sha1|implode|concat|repr|int|Itoa|FormatInt|dumps"
    r"|stringify|encode|number|to_?i|iso8601|strftime|isoformat|to_date|hexdigest|sha256|as_array|lower|upper|toLowerCase)$"
)
"""What makes a text of what it is given."""
_INNER: Final = frozenset({
    "lambda", "lambda_expression", "arrow_function", "function_expression", "func_literal", "lambda_literal",
    "anonymous_function", "anonymous_function_creation_expression", "closure_expression", "function",
    "annotated_lambda", "anonymous_method_expression",
})  # fmt: skip
_BLOCKS: Final = frozenset({"block", "do_block", "annotated_lambda", "lambda_literal"})
_NAMES: Final = frozenset({
    "identifier", "simple_identifier", "property_identifier", "field_identifier", "name", "constant",
    "instance_variable", "shorthand_property_identifier",
})  # fmt: skip
_MEMBERS: Final = regex(
    r"member_expression|attribute|selector_expression|field_access|navigation_expression|member_access_expression"
    r"|nullsafe_member_access_expression|field_expression|call|method_invocation|member_call_expression|navigation_suffix"
)
_HANDED: Final = regex(
    r"argument|call_suffix|interpolation|substitution|template|encapsed|value_argument|token_tree|pair|keyed_element|hash"
)
_MOST_NODES: Final = 3_000
_LONGEST: Final = 800
_CLOSE: Final = 6


def wrapped(node: Node, given: Given) -> Iterator[Shared]:
    """A call that keeps what a function of its arguments, or its block, computes."""
    said = callee(node).replace("::", ".").replace("->", ".").replace("?.", ".")
    if not _WRAPS.search(said):
        return
    values = arguments(node)
    inner = next((one for one in values if one.type in _INNER), None)
    inner = inner or next((one for one in node.named_children if one.type in _BLOCKS), None)
    inner = inner or next((w for v in values for w in v.named_children if w.type in _INNER), None)
    others = [one for one in values if inner is None or not _holds(one, inner)]
    if inner is None or not others:
        return
    function = function_around(node)
    if (function.id, said.partition(".")[0].strip("$@")) in given and not said.startswith("unstable_cache"):
        return  # a map of this call only
    key = _followed(others[0], function, given)
    if key is None or _names_who(key) or not _is_told(key):
        return
    own = _parameters(inner)
    whole = not said.lower().startswith(("sf", "group"))
    decides = next((w for w in _who(inner, whole=whole) if w.split(".")[0] not in own), "")
    if decides and decides.split(".")[0].strip("@$") not in {text_of(n).strip("@$") for n in _leaves(key)}:
        yield Shared(
            "cached", name_of(function), said[-80:], False, line_of(node), text_of(key)[:160], decides
        )


def fetched(function: Node, given: Given) -> Iterator[Shared]:
    """A function that looks into a cache, computes, and keeps it there under the same key."""
    name = name_of(function)
    if not name:
        return
    calls = [one for one in islice(walk(function, frozenset()), _MOST_NODES) if is_call(one)]
    said = [(one, callee(one).replace("::", ".").replace("->", ".").replace("?.", ".")) for one in calls]
    gets = [one for one, text in said if _GETS.search(text) and arguments(one)]
    sets = [one for one, text in said if _SETS.search(text) and len(arguments(one)) > 1]
    for one in gets[:_CLOSE]:
        first = text_of(arguments(one)[0])
        last = next(
            (s for s in sets if text_of(arguments(s)[0]) == first and s.start_byte > one.end_byte), None
        )
        key = _followed(arguments(one)[0], function, given) if last is not None else None
        if last is None or key is None or _names_who(key) or not _is_told(key):
            continue
        own = _parameters(function)
        for word in _who(function, whole=False, after=one.end_byte, before=last.start_byte):
            if word.split(".")[0].strip("@$") in own | {
                "request",
                "req",
                "current_user",
                "self",
                "this",
                "ctx",
            }:
                yield Shared("cached", name, callee(one)[-80:], False, line_of(one), text_of(key)[:160], word)
                return


def _holds(one: Node, inner: Node) -> bool:
    return one.start_byte <= inner.start_byte and inner.end_byte <= one.end_byte


def _followed(key: Node, function: Node, given: Given) -> Node | None:
    """The expression that a key is; None for one that somebody else made."""
    for _ in range(3):
        key = inside(key)
        if key.type not in ("identifier", "simple_identifier", "variable_name", "name"):
            break
        text = text_of(key).strip("&$@* ")
        value = given.get((function.id, text))
        if value is None:
            return None
        key = value
    return key if key.end_byte - key.start_byte <= _LONGEST else None


def _is_told(key: Node) -> bool:
    """Does the expression say all of the key? A function of somebody else's may add who asks."""
    for node in islice(walk(key, frozenset()), _MOST_NODES):
        if (is_call(node) or node.type == "function_call") and not _PLAIN.search(
            callee(node).replace("->", ".").replace("?.", ".")
        ):
            return False
        if node.type in _NAMES and any(
            word in snake(text_of(node))
            for word in ("key", "prefix", "scope", "hash", "digest", "token", "args", "params")
        ):
            return False
    return True


def _leaves(node: Node) -> Iterator[Node]:
    return (one for one in islice(walk(node, frozenset()), _MOST_NODES) if one.type in _NAMES)


def _names_who(key: Node) -> bool:
    for one in _leaves(key):
        name = snake(text_of(one).strip("@$"))
        last = name.rpartition("_")[2]
        if WHO.search(name) or _WHOLE.search(name) or (last == "id" and WHO.search(name.removesuffix("_id"))):
            return True
    # A text that a template or an expression language fills: "#user.id", "{user}".
    return False


def _parameters(inner: Node) -> set[str]:
    given = inner.child_by_field_name("parameters") or inner.child_by_field_name("parameter")
    if given is None:
        given = next((one for one in inner.named_children if "parameter" in one.type), None)
    return {text_of(one).strip("$&@") for one in _leaves(given)} if given is not None else set()


def _who(root: Node, *, whole: bool, after: int = 0, before: int = 1 << 40) -> Iterator[str]:
    """The values in a computation that say for whom it is, and that are given to something."""
    for node in islice(walk(root, frozenset()), _MOST_NODES):
        if node.type not in _NAMES or node.start_byte < after or node.end_byte > before:
            continue
        name = snake(text_of(node).strip("@$"))
        handed = _handed(node, root)
        if not handed:
            continue
        if WHO.search(name) and not _BESIDE.search(_member_of(node)):
            yield _full(node)
        elif whole and _WHOLE.search(name) and node.parent is not None and "argument" in node.parent.type:
            yield text_of(node)


def _handed(node: Node, root: Node) -> bool:
    at = node
    for _ in range(_CLOSE):
        if at.parent is None or at.parent.id == root.id:
            return root.type in ("arrow_function", "lambda") and at.id != node.id
        before, at = at, at.parent
        if _HANDED.search(at.type):
            return True
        if (
            is_call(at)
            and at.named_children
            and at.named_children[0].id == before.id
            and before.id == node.id
        ):
            return True  # current_user.payslips
        if "statement" in at.type and "return" not in at.type and "expression" not in at.type:
            return False
    return False


def _member_of(node: Node) -> str:
    """The name that is asked of it: ``locale`` of ``user.locale``."""
    parent = node.parent
    if parent is None or not _MEMBERS.fullmatch(parent.type) or parent.named_child_count < 2:
        return ""
    if parent.named_children[0].id != node.id:
        return ""
    return snake(text_of(parent.named_children[1]).strip(".?"))


def _full(node: Node) -> str:
    parent = node.parent
    if parent is not None and _MEMBERS.fullmatch(parent.type) and not is_call(parent):
        text = text_of(parent).replace("?.", ".").replace("->", ".")
        return text if len(text) <= 60 else text_of(node)
    return text_of(node)

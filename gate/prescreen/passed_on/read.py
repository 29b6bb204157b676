"""What one file does with values: which prove who somebody is, which answers are made of them, what is sent.

Told by what is done, not by names: what a refusal for wrong credentials was asked about, what came with a
cookie, what a database or a queue is connected by. Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from gate.languages.grammars import grammar_of
from gate.languages.naming import snake
from gate.languages.tree_sitter_parse import parse, walk, without_long_lines
from gate.prescreen.guard_inputs.functions import by_function, name_of
from gate.prescreen.guard_inputs.read import names_in
from gate.prescreen.guard_inputs.types import owner_of
from gate.prescreen.guard_inputs.vocabulary import GUARDED
from gate.protections.routes.chains import CLOSURES
from gate.protections.tree_sitter.shapes import arguments, assigned, callee, is_call, line_of, text_of
from gate.regex import regex

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST: Final = 5_000
_MOST: Final = 300
_SHORT: Final = 2_000
_COOKIE: Final = regex(
    r"\$_COOKIE\[['\"](?P<php>\w+)|\bcookies?(?:\.get\(|\[|\.)['\"]?(?P<any>\w+)|\.Cookie\(\"(?P<go>\w+)|getCookie\(['\"](?P<f>\w+)"
)
_PLAIN: Final = regex(
    r"(?i)lang|locale|theme|consent|currency|tz|timezone|dark|banner|country|flash|get|set|utm|referr?er|csrf|xsrf|items|keys"
)
_CONNECTS: Final = regex(
    r"(?i)(?:amqp|redis|mongo\w*|sql|pgx?|postgres\w*|mysql\w*|nats|kafka|broker|smtp|ldap|database|db|mqtt|rabbit\w*)\w*"
    r"(?:\.|::|->)(?:dial\w*|connect\w*|open|createClient|createPool|createConnection|new|from_url|parseURL|Pool|Client)$"
    r"|(?:^|\.)(?:create_engine|create_async_engine|createPool|MongoClient|from_url|DriverManager\.getConnection|PDO)$"
)
_WRONG: Final = regex(
    r"\b401\b|Unauthori[sz]ed|(?i:wrong (?:\w+ ){0,3}(?:password|code|word|pin)|invalid (?:credentials"
    r"|password|login|code)"
    r"|bad credentials|incorrect password|login failed|authentication failed|AuthenticationFailed"
    r"|BadCredentials)"
)
_BRANCH: Final = regex(r"(?:if|unless)(?:_\w+)?")
_RETURN: Final = regex(r"return(?:_\w+)?|jump_expression|arrow_expression_clause")
_REDUCES: Final = regex(
    r"(?i)^(?:boolean|bool|len|strlen|mb_strlen|count|size|sizeof|length|sha\d\w*|Sum\d*|md5\w*|hash\w*|\w*hmac\w*|digest\w*|bcrypt\w*|argon\w*"
    r"|scrypt\w*|password_hash|redact\w*|mask\w*|obfuscate\w*|anonymi[sz]e\w*|compare\w*|verify\w*|check\w*|validate\w*|is_\w+|has_\w+"
    r"|typeof|isset|empty|exists|createHash|new|next|encrypt\w*|seal\w*)$"
)
_MEMBERS: Final = frozenset({"length", "size", "constructor", "byteLength", "Length", "Count"})
_WRITES: Final = frozenset({
    "Fprintf", "Fprint", "Fprintln", "WriteString", "Write", "write", "push", "append", "add", "Add",
    "Append", "update", "extend", "concat", "unshift", "put", "set", "Set", "writeln", "writestr", "print",
})  # fmt: skip


WHOLE: Final = ".*"
"""Behind the name of an object that is given with all that it holds."""
_LETTERS: Final = 2
_NUMBERS: Final = regex(
    r"(?:^|_)(?:luhn|iban|card(?:_number)?|cvv|cvc|ssn|pan|tax_id|passport|national_id|credit_card)(?:_|$)"
)
"""Functions that ask whether something is the number of a card, an account, a person."""


class Sent(msgspec.Struct, frozen=True):
    """A call with all names that what it is given is made of, and those that stand in it."""

    function: str
    call: str
    names: list[str]
    direct: list[str]
    line: int
    text: str


class Made(msgspec.Struct, frozen=True):
    """A function and the names that its answer is made of."""

    owner: str
    name: str
    names: list[str]
    line: int


class Passing(msgspec.Struct, frozen=True):
    """``proofs``: names with what base does with them."""

    proofs: dict[str, str]
    sent: list[Sent]
    made: list[Made]


def read(path: str, data: bytes, options: Mapping[str, Any]) -> Passing:
    """The proofs, the calls and the functions of a file."""
    del options
    grammar = "tree_sitter_python" if path.endswith((".py", ".pyw")) else grammar_of(path)
    if not grammar:
        return Passing({}, [], [])
    root = parse(without_long_lines(data, _LONGEST), grammar)
    proofs: dict[str, str] = {}
    sent: list[Sent] = []
    made: list[Made] = []
    for function, nodes in by_function(root):
        local = dict(_local(nodes))
        proofs |= dict(_proofs(nodes, root))
        name = name_of(function)
        sent += _sent(nodes, local, name)
        returned = {one for n in nodes if _RETURN.fullmatch(n.type) for one in kept_names(n)}
        if name and returned:
            made.append(
                Made(owner_of(function), name, sorted(_through(returned, local))[:80], line_of(function))
            )
    return Passing(proofs, sent[:_MOST], made[:_MOST])


def kept_names(node: Node) -> set[str]:
    """The names of an expression of which more than a length, a digest or a truth goes on."""
    found: set[str] = set()
    todo = [node]
    while todo:
        at = todo.pop()
        if at.type in CLOSURES and at.type != "block":
            continue  # what a callback does is a call of its own
        if is_call(at) and at.type != "composite_literal" and _REDUCES.match(_last(callee(at))):
            continue
        member = at.child_by_field_name("property") or at.child_by_field_name("field")
        if member is not None and text_of(member) in _MEMBERS:
            continue
        if at.type in ("unary_expression", "not_operator") and text_of(at).startswith("!"):
            continue
        if not at.named_child_count:
            found |= names_in(at)
        else:
            todo += at.named_children
    return found


def _last(name: str) -> str:
    return re.split(r"\.|::|->|\?|\\", name)[-1]


def _local(nodes: list[Node]) -> Iterator[tuple[str, set[str]]]:
    found: dict[str, set[str]] = {}
    for node in nodes:
        for names, values in _edges(node):
            for name in names:
                found.setdefault(name, set()).update(values - {name})
    yield from found.items()


def _edges(node: Node) -> Iterator[tuple[set[str], set[str]]]:
    pair = assigned(node)
    if pair is not None and pair[0] != pair[1] and pair[1].end_byte - pair[1].start_byte < _SHORT:
        yield names_in(pair[0]), kept_names(pair[1])
        for one in walk(pair[1], frozenset()):
            if one.type == "unary_expression" and text_of(one).startswith("&"):
                yield names_in(one), names_in(pair[0])
    if node.type == "foreach_statement" and node.named_child_count > 2:
        yield names_in(node.named_children[1]), kept_names(node.named_children[0])
    elif node.type in ("for_in_statement", "for_statement", "range_clause", "enhanced_for_statement"):
        names = node.child_by_field_name("left") or node.child_by_field_name("name")
        values = node.child_by_field_name("right") or node.child_by_field_name("value")
        if names is not None and values is not None:
            yield names_in(names), kept_names(values)
    if is_call(node) and _last(callee(node)) in _WRITES:
        given = arguments(node)
        of = callee(node).replace("->", ".").rpartition(".")[0].strip("$")
        changed = {of} if of.isidentifier() else set[str]()
        if _last(callee(node)).startswith("Fprint") and given:
            changed = names_in(given[0])
        yield changed, {name for one in given for name in kept_names(one)}


def _through(names: set[str], local: Mapping[str, set[str]]) -> set[str]:
    found, fresh = set(names), set(names)
    for _ in range(6):
        fresh = {one for name in fresh for one in local.get(name, ())} - found
        found |= fresh
    return found


def _whole(given: Node) -> str:
    """The name of an object that is given as it is, with all that it holds."""
    text = text_of(given).lstrip("$&*.")
    return text if text.isidentifier() and len(text) > _LETTERS else ""


def _sent(nodes: list[Node], local: Mapping[str, set[str]], function: str) -> Iterator[Sent]:
    for node in nodes:
        if is_call(node) and node.type not in ("attribute", "annotation", "composite_literal"):
            direct = {name for one in arguments(node) for name in kept_names(one)}
            direct |= {f"{name}{WHOLE}" for one in arguments(node) if (name := _whole(one))}
            names = sorted(_through(direct, local))[:80]
            if names:
                call = callee(node)[-80:]
                yield Sent(function, call, names, sorted(direct)[:80], line_of(node), text_of(node)[:200])


def _proofs(nodes: list[Node], root: Node) -> Iterator[tuple[str, str]]:
    calls = {}
    for node in nodes:
        pair = assigned(node)
        if pair is not None and pair[1].end_byte - pair[1].start_byte < _SHORT:
            said = text_of(pair[1])
            if (cookie := _cookie(said)) and len(said) < 300 and text_of(pair[0]).strip("$").isidentifier():
                yield text_of(pair[0]).strip("$"), f"comes with the cookie {cookie}"
            inner = [one for one in walk(pair[1], frozenset()) if is_call(one)]
            for name in text_of(pair[0]).split(",") if inner else ():  # Go: id, ok := users.Check(...)
                calls[name.strip().strip("$")] = inner[0]
        if is_call(node):
            yield from _connected(node)
            yield from _constructed(node, root)
        if _BRANCH.fullmatch(node.type):
            yield from _asked(node, calls)


def _cookie(said: str) -> str:
    match = _COOKIE.search(said)
    name = next((one for one in match.groups() if one), "") if match is not None else ""
    return "" if _PLAIN.search(name) else name


def _connected(node: Node) -> Iterator[tuple[str, str]]:
    given = arguments(node)
    if given and _CONNECTS.search(callee(node)):
        said = text_of(given[0]).strip("$").replace("->", ".").replace("::", ".")
        name = _last(said)
        holder = said.rpartition(".")[0].rpartition(".")[2]
        if holder.isidentifier() and len(holder) > _LETTERS and name.isidentifier():
            yield f"{holder}{WHOLE}", f"{_last(callee(node))} connects by a member"
        if name.isidentifier() and given[0].type not in ("string", "interpreted_string_literal"):
            yield name, f"{_last(callee(node))} connects by it"


def _constructed(node: Node, root: Node) -> Iterator[tuple[str, str]]:
    """Parameters of a constructor of the file that are given what came with a cookie."""
    if "object_creation" not in node.type and node.type not in ("new_expression", "call"):
        return
    for at, one in enumerate(arguments(node)):
        cookie = _cookie(text_of(one)) if one.end_byte - one.start_byte < 300 else ""
        if not cookie:
            continue
        for made in walk(root, frozenset()):
            if name_of(made) in ("__construct", "constructor", "__init__", "initialize"):
                given = made.child_by_field_name("parameters")
                many = [n for n in given.named_children if text_of(n) != "self"] if given is not None else []
                if at < len(many):
                    words = re.findall(r"\$?[A-Za-z_]\w*(?=\s*(?:[:=]|$))", text_of(many[at]))
                    yield from ((word.strip("$"), f"comes with the cookie {cookie}") for word in words[-1:])


def _asked(node: Node, calls: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """What a refusal for wrong credentials was asked about: arguments of the call behind the first."""
    test = node.child_by_field_name("condition") or next(iter(node.named_children), None)
    behind = " ".join(text_of(one)[:400] for one in node.named_children if one != test)
    if test is None or not GUARDED.search(behind):
        return
    asked = [one for one in walk(test, frozenset()) if is_call(one)]
    for call in asked:
        if _NUMBERS.search(snake(_last(callee(call)))):
            yield from _named_by(call, arguments(call))
    if not _WRONG.search(behind):
        return
    asked += [calls[name] for name in sorted(names_in(test)) if name in calls]
    for call in asked[:2]:
        given = arguments(call)
        first = text_of(given[0]) if given else ""
        known = (
            2 if first in ("ctx", "context") or first.endswith(".Context()") else 1
        )  # Go's context, then who
        yield from _named_by(call, given[known:])


def _named_by(call: Node, given: list[Node]) -> Iterator[tuple[str, str]]:
    for one in given:
        name = _last(text_of(one).strip("$"))
        if name.isidentifier() and one.type not in ("string", "number"):
            yield name, f"{_last(callee(call))} refuses a wrong one"

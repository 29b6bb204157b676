"""What conditions of JavaScript and TypeScript ask for. Runs in the limited child."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.forcing.places import text_of
from gate.languages.script_guards.asked import TRAITS, Asked
from gate.languages.script_guards.following import made_from, reached
from gate.languages.sensitive_calls.javascript_scopes import FUNCTIONS, Binding, Scopes
from gate.model.forced import GuardKind

_CALLS: Final[dict[str, GuardKind]] = {
    "createHash": "digest", "createHmac": "digest", "timingSafeEqual": "digest", "digest": "digest",
    "hostname": "host", "networkInterfaces": "host", "userInfo": "user",
    "cpus": "sandbox", "totalmem": "sandbox", "freemem": "sandbox", "loadavg": "sandbox",
    "getFullYear": "date", "getUTCFullYear": "date", "getTime": "date", "toISOString": "date",
}  # fmt: skip
_YEARS: Final = frozenset({"getFullYear", "getUTCFullYear"})
_LOOKS: Final = frozenset({
    "existsSync", "accessSync", "statSync", "lstatSync", "readFileSync", "readlinkSync", "exists", "access",
})  # fmt: skip
_SAYS: Final = frozenset({
    "startsWith", "endsWith", "includes", "test", "match", "has", "indexOf", "equals", "exec",
})  # fmt: skip
_MOMENTS: Final = frozenset({"UTC", "parse"})
_FUNCTIONS: Final = frozenset(FUNCTIONS)
_COMPARING: Final = frozenset({"==", "===", "!=", "!==", "<", ">", "<=", ">="})
_TEXTS: Final = frozenset({"string", "template_string", "number", "regex"})


class JavaScript:
    """The conditions of one file; names are followed to what they are made from."""

    def __init__(self, root: Node, text: bytes) -> None:
        self._scopes = Scopes(root, text)

    def asked(self, test: Node) -> Asked:
        """What a condition asks for; of a ``case``, what is switched on."""
        found = Asked()
        if test.parent is not None and test.parent.type == "switch_case":
            switch = test.parent.parent.parent if test.parent.parent is not None else None
            subject = switch.child_by_field_name("value") if switch is not None else None
            if subject is None:
                return found
            self._written(test, found)
            test = subject
        for node in made_from(test, self._sources, _FUNCTIONS):
            self._take(node, found)
        return found

    def acts_of(self, node: Node) -> Iterator[Node]:
        """A guarded part, and the functions of the file that it calls by name."""
        return reached(node, self._called)

    def _called(self, node: Node) -> list[Node]:
        is_call = node.type == "call_expression"
        return self._functions(node.child_by_field_name("function")) if is_call else []

    def _sources(self, node: Node) -> list[Node]:
        """What a name, or a call of a function of the file, stands for."""
        if node.type == "identifier":
            return self._values(node)
        return [
            value for function in self._called(node) for value in self._scopes.returns.get(function.id, ())
        ]

    def _values(self, name: Node) -> list[Node]:
        """The expression that a name stands for, where it is one."""
        binding = self._scopes.binding(name)
        if binding is None or binding.kind != "variable" or len(binding.sources) != 1:
            return []
        source, _ = binding.sources[0]
        return [source] if not isinstance(source, Binding) and source.type not in FUNCTIONS else []

    def _functions(self, callee: Node | None) -> list[Node]:
        if callee is None or callee.type != "identifier":
            return []
        binding = self._scopes.binding(callee)
        sources = binding.sources if binding is not None else []
        return [s for s, _ in sources if not isinstance(s, Binding) and s.type in FUNCTIONS]

    def _take(self, node: Node, found: Asked) -> None:
        match node.type:
            case "call_expression":
                self._call(node, found)
            case "new_expression" if text_of(node.child_by_field_name("constructor") or node) == "Date":
                found.kinds.add("date")
            case "member_expression":
                self._member(node, found)
            case "subscript_expression" if _last(node.child_by_field_name("object")) == "env":
                key = node.child_by_field_name("index")
                if key is not None and key.type == "string":
                    found.variables.add(text_of(key)[1:-1])
            case "binary_expression":
                sign = text_of(node.child_by_field_name("operator") or node)
                found.spans = found.spans or sign == "-"
                for side in ("left", "right") if sign in _COMPARING else ():
                    self._written(node.child_by_field_name(side), found)

    def _call(self, node: Node, found: Asked) -> None:
        callee = node.child_by_field_name("function")
        name, given = _last(callee), node.child_by_field_name("arguments")
        of = callee.child_by_field_name("object") if callee is not None else None
        arguments = given.named_children if given is not None else []
        if name in _CALLS:
            found.kinds.add(_CALLS[name])
            found.years = found.years or name in _YEARS
        elif name == "uptime" and _last(of) != "process":
            found.kinds.add("sandbox")
        elif name in ("now", "parse", "UTC") and _last(of) == "Date":
            found.kinds.add("date")
        elif name in _LOOKS and any(TRAITS.search(text_of(one)) for one in arguments[:1]):
            found.kinds.add("sandbox")
        if name in _SAYS:
            for one in (of, *arguments):
                self._written(one, found)

    def _member(self, node: Node, found: Asked) -> None:
        of, name = node.child_by_field_name("object"), text_of(node.child_by_field_name("property") or node)
        if _last(of) == "env":
            found.variables.add(name)
        elif name == "webdriver" and _last(of) == "navigator":
            found.kinds.add("sandbox")

    def _written(self, node: Node | None, found: Asked) -> None:
        """Values written down in an operand, or in the constant that it names."""
        if node is None:
            return
        for one in [node, *(self._values(node) if node.type == "identifier" else ())]:
            if one.type in _TEXTS:
                found.written.add(_bare(one))
            elif one.type == "array":
                found.written |= {_bare(item) for item in one.named_children if item.type in _TEXTS}
            elif _is_moment(one) and (given := one.child_by_field_name("arguments")):
                found.years = True
                found.written |= {_bare(item) for item in given.named_children[:1] if item.type in _TEXTS}


def _is_moment(node: Node) -> bool:
    """``new Date(...)``, ``Date.UTC(...)``, ``Date.parse(...)``."""
    callee = node.child_by_field_name("function") if node.type == "call_expression" else None
    return node.type == "new_expression" or _last(callee) in _MOMENTS


def _bare(node: Node) -> str:
    text = text_of(node)
    return text[1:-1] if node.type in ("string", "template_string", "regex") else text.replace("_", "")


def _last(node: Node | None) -> str:
    """``b`` of ``a.b`` and of ``b``."""
    if node is None:
        return ""
    if node.type == "member_expression":
        named = node.child_by_field_name("property")
        return text_of(named) if named is not None else ""
    return text_of(node) if node.type == "identifier" else ""

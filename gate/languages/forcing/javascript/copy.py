"""JavaScript and TypeScript rewritten so that one place of a file is run: for the limited child.

Statements on the way are survived, ends of functions are dropped, conditions evaluated and then decided;
functions around the place are called once the module is loaded. What the rewritten text calls
(``__gate__``) is gate/inside/driver/javascript/forced.mjs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from gate.languages.forcing.javascript.assume import assumed
from gate.languages.forcing.javascript.expressions import Expressions
from gate.languages.forcing.javascript.imports import export_text, import_text
from gate.languages.forcing.javascript.nodes import (
    CLASSES,
    DECLARED,
    ENDS,
    FUNCTIONS,
    NO_ENDS,
    PATTERNS,
    G,
    between,
    heading,
    is_directive,
    is_end,
)
from gate.languages.forcing.places import text_of


class JavaScriptCopy(Expressions):
    """One copy of a file."""

    def edits(self) -> Iterator[tuple[int, int, str]]:
        """Byte ranges of the text, in order, with what stands there in the copy."""
        first = True
        for node in self._root.named_children:
            if node.type in ("comment", "hash_bang_line") or is_directive(node):
                continue
            if first:
                yield node.start_byte, node.start_byte, self._registered(self._root)
                first = False
            made = self._statement(node, ENDS if node.start_byte <= self._at else NO_ENDS)
            if made != text_of(node):
                yield node.start_byte, node.end_byte, made

    # -- statements ----------------------------------------------------------------------------------
    def _registered(self, block: Node) -> str:
        """What notes the function of a block that holds the place, before anything there can fail."""
        for child in block.named_children:
            inner = child.child_by_field_name("declaration") if child.type == "export_statement" else child
            if inner is not None and inner.type in DECLARED and self._on_way(inner):
                name = inner.child_by_field_name("name")
                if name is not None:
                    return f"{G}.later(()=>{text_of(name)});"
        return ""

    def _block(self, node: Node, ends: frozenset[str]) -> str:
        """The statements of a block, in braces."""
        if node.type != "statement_block":
            return f"{{{self._statement(node, ends)}}}"
        return f"{{{self._registered(node)}{self._row(node.named_children, ends)}}}"

    def _row(self, nodes: Sequence[Node], ends: frozenset[str]) -> str:
        out: list[str] = []
        way = next((n.start_byte for n in nodes if self._on_way(n)), None)
        for node in nodes:
            if node.type in ("comment", "html_comment"):
                continue
            behind = way is not None and node.start_byte > way
            out.append(self._statement(node, NO_ENDS if behind else ends))
        return "\n".join(out)

    def _statement(self, node: Node, ends: frozenset[str]) -> str:
        make = getattr(self, f"_{node.type}", None)
        if make is not None:
            return str(make(node, ends))
        if node.type in ("lexical_declaration", "variable_declaration"):
            return self._hit(node) + self._declaration(node)
        if node.type in DECLARED:
            return self._function(node) if self._on_way(node) else self._raw(node)
        if node.type in CLASSES:
            return self._class(node)
        if node.type == "import_statement":
            return import_text(node)
        if node.type == "export_statement":
            return self._export(node, ends)
        if node.type in ("break_statement", "continue_statement"):
            word = node.type.removesuffix("_statement")
            return ";" if word in ends or (node.named_children and "return" in ends) else self._raw(node)
        if node.type in ("module", "internal_module") and self._on_way(node):
            body = node.child_by_field_name("body")
            return self._block(body, ends) if body is not None else self._raw(node)
        return self._raw(node)

    def _hit(self, node: Node) -> str:
        """Says that the place is about to run, before the innermost statement that holds it."""
        if not self._on_way(node) or self._function_on_way(node) is not None:
            return ""
        return f"{G}.hit();"

    def _expression_statement(self, node: Node, ends: frozenset[str]) -> str:
        del ends
        if is_directive(node) or not node.named_children:
            return self._raw(node)
        inner = node.named_children[0]
        if inner.type in ("internal_module", "module"):
            return self._statement(inner, NO_ENDS)
        return f"try{{{self._hit(node)}({self.soft(inner)});}}catch(__e){{{G}.error(__e)}}"

    def _declaration(self, node: Node, *, keep: bool = False) -> str:
        """``const`` becomes ``let``: what a later condition says of a name is then true of it."""
        parts = []
        for child in node.named_children:
            if child.type != "variable_declarator":
                continue
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if name is None or value is None:
                parts.append(self._raw(child))
                continue
            plain = value.type in FUNCTIONS or value.type in CLASSES
            if plain and not self._on_way(value):
                parts.append(f"{text_of(name)}={self._raw(value)}")
                continue
            made = self._kept(value)
            parts.append(f"{text_of(name)}={f'{G}.object({made})' if name.type in PATTERNS else made}")
        kind = text_of(node.children[0])
        if kind not in ("const", "let", "var"):
            return self._raw(node)
        return f"{'let' if kind == 'const' and not keep else kind} {','.join(parts)};" if parts else ""

    def _statement_block(self, node: Node, ends: frozenset[str]) -> str:
        return self._block(node, ends)

    def _if_statement(self, node: Node, ends: frozenset[str]) -> str:
        test, then, other = (node.child_by_field_name(n) for n in ("condition", "consequence", "alternative"))
        if test is None or then is None:
            return self._raw(node)
        otherwise = other.named_children[0] if other is not None and other.named_children else None
        soft = self.soft(test)
        if self._on_way(then):
            return f"{{try{{{soft};}}catch{{}}{assumed(test, holds=True)}{self._block(then, ends)}}}"
        if otherwise is not None and self._on_way(otherwise):
            return f"{{try{{{soft};}}catch{{}}{assumed(test, holds=False)}{self._block(otherwise, ends)}}}"
        rest = self._block(otherwise, ends) if otherwise is not None else "{}"
        if self._on_way(test):
            return f"{{{G}.hit();if{soft}{self._block(then, NO_ENDS)}else{rest}}}"
        if self._both and "return" in ends:
            made = f"try{{{soft};}}catch{{}}try{self._block(then, ends)}catch{{}}try{rest}catch{{}}"
        else:
            made = f"if{soft}{self._block(then, ends)}else{rest}"
        if "return" in ends and is_end(then) and otherwise is None:
            made += assumed(test, holds=False)
        return f"{{{made}}}"

    def _for_statement(self, node: Node, ends: frozenset[str]) -> str:
        begin, test, step, body = (
            node.child_by_field_name(n) for n in ("initializer", "condition", "increment", "body")
        )
        if body is None:
            return self._raw(node)
        head = text_of(begin).rstrip(";") if begin is not None else ""
        condition = self._turn(node, test)
        after = text_of(step) if step is not None else ""
        return f"for({head};{condition};{after}){self._block(body, self._inner(node, ends))}"

    def _turn(self, node: Node, test: Node | None) -> str:
        """The condition of a loop: true at first where it is on the way, and not without end."""
        self._loops += 1
        inner = None
        if test is not None and test.type != "empty_statement":
            inner = test.named_children[0] if test.type == "expression_statement" else test
        made = self.soft(inner) if inner is not None else "true"
        return f"{G}.turn({self._loops},{'true' if self._on_way(node) else 'false'},{made})"

    def _inner(self, node: Node, ends: frozenset[str]) -> frozenset[str]:
        """What is dropped inside a loop: its own ``break`` where the place is in it, else only ends of the
        function.
        """
        return ends if self._on_way(node) else ends - {"break", "continue"}

    def _for_in_statement(self, node: Node, ends: frozenset[str]) -> str:
        right, body = node.child_by_field_name("right"), node.child_by_field_name("body")
        if right is None or body is None:
            return self._raw(node)
        head = between(node, node.start_byte, right.start_byte)
        way = "true" if self._on_way(node) else "false"
        operator = node.child_by_field_name("operator")
        kind = "keys" if operator is not None and text_of(operator) == "in" else "some"
        if "await" in head.split("(")[0]:
            made = f"await {G}.someAsync({self.soft(right)},{way})"
        else:
            made = f"{G}.{kind}({self.soft(right)},{way})"
        return f"{head}{made}){self._block(body, self._inner(node, ends))}"

    def _while_statement(self, node: Node, ends: frozenset[str]) -> str:
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if test is None or body is None:
            return self._raw(node)
        return f"while({self._turn(node, test)}){self._block(body, self._inner(node, ends))}"

    def _do_statement(self, node: Node, ends: frozenset[str]) -> str:
        test, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if test is None or body is None:
            return self._raw(node)
        self._loops += 1
        again = f"{G}.turn({self._loops},false,{self.soft(test)})"
        return f"do{self._block(body, self._inner(node, ends))}while({again});"

    def _try_statement(self, node: Node, ends: frozenset[str]) -> str:
        body, handler, last = (node.child_by_field_name(n) for n in ("body", "handler", "finalizer"))
        if body is None:
            return self._raw(node)
        out = f"try{self._block(body, ends)}"
        if handler is not None:
            caught = handler.child_by_field_name("body")
            if self._on_way(handler):
                out = f"{out[:-1]};throw {G}.failure();}}"
            name = handler.child_by_field_name("parameter")
            head = f"catch({text_of(name)})" if name is not None else "catch"
            out += head + (self._block(caught, ends) if caught is not None else "{}")
        if last is not None:
            inner = last.child_by_field_name("body")
            out += "finally" + (self._block(inner, ends) if inner is not None else "{}")
        return out

    def _switch_statement(self, node: Node, ends: frozenset[str]) -> str:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        if value is None or body is None:
            return self._raw(node)
        for case in body.named_children:
            if self._on_way(case):
                label = case.child_by_field_name("value")
                rows = [n for n in case.named_children if n != label]
                told = assumed(value, holds=True, equals=label) if label is not None else ""
                return (
                    f"{{try{{{self.soft(value)};}}catch{{}}{told}"
                    f"switch(0){{default:{self._row(rows, ends)}}}}}"
                )
        inner = ends - {"break"}
        out = []
        for case in body.named_children:
            label = case.child_by_field_name("value")
            rows = [n for n in case.named_children if n != label]
            head = f"case {self.soft(label)}:" if label is not None else "default:"
            out.append(head + self._row(rows, inner) if case.type != "comment" else "")
        return f"switch{self.soft(value)}{{{''.join(out)}}}"

    def _return_statement(self, node: Node, ends: frozenset[str]) -> str:
        value = next((n for n in node.named_children if n.type != "comment"), None)
        if self._on_way(node) and value is not None:
            return f"{{{self._hit(node)}return {self.soft(value)};}}"
        if "return" not in ends:
            return self._raw(node)
        return f"try{{({self.soft(value)});}}catch{{}}" if value is not None else ";"

    def _throw_statement(self, node: Node, ends: frozenset[str]) -> str:
        if "return" not in ends and not self._on_way(node):
            return self._raw(node)
        value = node.named_children[0] if node.named_children else None
        return f"try{{{self._hit(node)}({self.soft(value)});}}catch{{}}" if value is not None else ";"

    def _labeled_statement(self, node: Node, ends: frozenset[str]) -> str:
        body = node.child_by_field_name("body")
        if body is None:
            return self._raw(node)
        return between(node, node.start_byte, body.start_byte) + self._statement(body, ends)

    def _export(self, node: Node, ends: frozenset[str]) -> str:
        declared, value = node.child_by_field_name("declaration"), node.child_by_field_name("value")
        if declared is not None and declared.type in ("lexical_declaration", "variable_declaration"):
            return f"{self._hit(node)}export {self._declaration(declared, keep=True)}"
        if declared is not None and self._on_way(declared):
            head = between(node, node.start_byte, declared.start_byte)
            if "@" in head:
                head = "export default " if "default" in head else "export "
            return head + self._statement(declared, ends)
        if value is not None:
            return f"export default {self.soft(value)};"
        return export_text(node)

    # -- functions and classes -----------------------------------------------------------------------
    def _function(self, node: Node) -> str:
        """A function that holds the place."""
        body = node.child_by_field_name("body")
        if body is None or not self._on_way(body):
            return self._raw(node)
        head = between(node, node.start_byte, body.start_byte)
        if body.type == "statement_block":
            return head + self._block(body, ENDS)
        hit = "" if self._function_on_way(node) is not None else f"{G}.hit(),"
        return f"{head}({hit}{self.soft(body)})"

    def _class(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        if body is None or not self._on_way(body):
            return self._raw(node)
        out = [heading(node, body), "{"]
        for child in body.named_children:
            if child.type in ("decorator", "comment"):
                continue
            if not self._on_way(child):
                out.append(self._raw(child) + ("\n" if child.type == "method_definition" else ";"))
            elif child.type == "method_definition":
                out.append(self._function(child) + "\n" + self._noted(child, static=True))
            elif child.type == "class_static_block":
                inner = child.child_by_field_name("body")
                out.append("static" + (self._block(inner, ENDS) if inner is not None else "{}"))
            else:
                value = child.child_by_field_name("value")
                if value is not None:
                    out.append(between(child, child.start_byte, value.start_byte) + self._kept(value) + ";")
                    out.append(f"static{{{G}.made(this)}}")
        return "".join([*out, "}"])

    def _noted(self, method: Node, *, static: bool) -> str:
        """What notes a method, from inside of its class (or, not ``static``, as arguments for an object)."""
        name = method.child_by_field_name("name")
        said = text_of(name) if name is not None else "x"
        words = between(method, method.start_byte, name.start_byte if name is not None else 0).split()
        kind = next((w for w in words if w in ("get", "set")), "call")
        if name is not None and name.type in ("property_identifier", "private_property_identifier"):
            member = f".{said}"
        else:
            member = said if said.startswith("[") else f"[{said}]"
        if said == "constructor":
            kind = "new"
            member = ".constructor"
        act = f"(o,v)=>{{o{member}=v}}" if kind == "set" else f"(o)=>o{member}"
        if not static:
            return f'"{kind}",{act}'
        owner = "true" if "static" in words else "false"
        return f'static{{{G}.member(this,{owner},"{kind}",{act})}}'

"""Syntax trees of tree-sitter as program trees: statements, functions, classes, and the table of all
types.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node as Tree

from gate.languages.tree_sitter_parse import walk
from gate.taint.lowering import Expressions, children, field_of, line_of, said
from gate.taint.program import RECEIVER, Node, nothing

_BLOCKS: Final = frozenset({
    "statement_block", "block", "compound_statement", "body_statement", "then", "else", "statement_list",
    "function_body", "control_structure_body", "block_body", "ensure", "arrow_expression_clause",
    "else_clause",
})  # fmt: skip


class Lowering(Expressions):
    """The whole of a file."""

    def block(self, tree: Tree) -> Node:
        """Statements one after another. Decorators before a member are told by the member itself."""
        named = [one for one in children(tree) if one.type not in ("decorator", "php_tag", "php_end_tag")]
        return Node("block", line_of(tree), "", self.nodes(named))

    def condition(self, tree: Tree) -> Node:
        """``if`` in every form; ``unless`` asks the contrary."""
        line = line_of(tree)
        test = self.node(field_of(tree, "condition"))
        if tree.type.startswith("unless"):
            test = Node("not", line, "", [test])
        then = field_of(tree, "consequence", "body")
        others = tree.children_by_field_name("alternative")
        if self.is_kotlin:
            at = field_of(tree, "condition")
            rest = [one for one in children(tree) if at is None or one.start_byte > at.start_byte]
            then, others = (rest[0] if rest else None), rest[1:2]
        other: Node = nothing(line)
        for one in reversed(others):
            if one.type == "else_if_clause":
                inner = [self.node(field_of(one, "condition")), self.node(field_of(one, "body")), other]
                other = Node("if", line_of(one), "", inner)
            elif one.type == "elsif":
                other = self.condition(one)
            else:
                other = self.node(one)
        made = Node("if", line, "", [test, self.node(then), other])
        before = field_of(tree, "initializer")
        return Node("block", line, "", [self.node(before), made]) if before is not None else made

    def loop(self, tree: Tree) -> Node:
        """Every loop: what it goes over, and its body."""
        line = line_of(tree)
        named = children(tree)
        clause = next((one for one in named if one.type in ("range_clause", "for_clause")), None)
        body = field_of(tree, "body") or (named[-1] if named else None)
        source = clause if clause is not None and clause.type == "range_clause" else tree
        target, over = field_of(source, "left", "name"), field_of(source, "right", "value")
        if self.is_kotlin and tree.type == "for_statement" and len(named) > 2:
            target, over = named[0], named[1]
        if tree.type == "foreach_statement" and self.is_php and len(named) > 2:
            over, target = named[0], named[1]
            if target.type == "pair" and target.named_child_count > 1:
                target = target.named_children[-1]
        if tree.type == "for":
            target, over = field_of(tree, "pattern"), field_of(tree, "value")
        if target is not None and over is not None:
            return Node("loop", line, "each", [self.node(target), self.node(over), self.node(body)])
        before = self.node(field_of(clause or tree, "initializer", "init"))
        test = self.node(field_of(clause or tree, "condition"))
        return Node(
            "block", line, "", [before, Node("loop", line, "", [nothing(line), test, self.node(body)])]
        )

    def returned(self, tree: Tree) -> Node:
        """A value that goes back."""
        return Node("return", line_of(tree), "", self.nodes(children(tree)))

    def thrown(self, tree: Tree) -> Node:
        """An exception."""
        return Node("throw", line_of(tree), "", self.nodes(children(tree)))

    def jump(self, tree: Tree) -> Node:
        """``break``, ``continue``, ``next``."""
        if self.is_kotlin and said(tree).startswith("return"):
            return self.returned(tree)
        return Node("jump", line_of(tree))

    def kotlin_jump(self, tree: Tree) -> Node:
        """Kotlin's return."""
        return self.returned(tree)

    def tried(self, tree: Tree) -> Node:
        """A block with what follows its exceptions."""
        return Node("try", line_of(tree), "", self.nodes(children(tree)))

    def caught(self, tree: Tree) -> Node:
        """The block behind ``catch``."""
        body = field_of(tree, "body") or next(reversed(children(tree)), None)
        return self.node(body)

    def switch(self, tree: Tree) -> Node:
        """``switch``, ``case``, ``when``, ``match``: a subject and its cases."""
        line = line_of(tree)
        subject = field_of(tree, "value", "condition")
        named = children(tree)
        if (
            subject is None
            and named
            and named[0].type in ("when_subject", "identifier", "member_access_expression")
        ):
            subject = named[0]
        body = field_of(tree, "body")
        cases = children(body) if body is not None else named
        arms = [self.case(one) for one in cases if one is not subject and _is_case(one)]
        return Node("switch", line, "", [self.node(subject), *arms])

    def case(self, tree: Tree) -> Node:
        """One case: its values, then what it does."""
        line, named = line_of(tree), children(tree)
        values: list[Tree] = []
        if tree.type in ("switch_block_statement_group", "switch_rule"):
            labels = [one for one in named if one.type == "switch_label"]
            values = [value for label in labels for value in children(label)]
            rest = [one for one in named if one.type != "switch_label"]
            is_default = any(not children(label) for label in labels)
        elif tree.type == "when":
            values = [inner for one in tree.children_by_field_name("pattern") for inner in children(one)]
            rest = [one for one in named if one.type == "then"]
            is_default = False
        else:
            values = [
                one
                for one in (field_of(tree, "value", "condition", "conditional_expressions"),)
                if one is not None
            ]
            patterns = [one for one in named if one.type in ("constant_pattern", "or_pattern")]
            values = values or patterns
            if values and values[0].type in ("expression_list", "match_condition_list"):
                values = children(values[0])
            returned = field_of(tree, "return_expression")
            last = max((one.end_byte for one in values), default=0)
            rest = [returned] if returned is not None else [one for one in named if one.start_byte >= last]
            rest = [one for one in rest if one.type != "discard"]
            is_default = not values
        body = Node("block", line, "", self.nodes(rest))
        keep = [] if is_default else self.nodes(values)
        return Node("case", line, "", [*keep, body])

    def assigned(self, tree: Tree) -> Node:
        """``a = b``."""
        left, right = field_of(tree, "left", "name"), field_of(tree, "right", "value")
        if left is None:
            return Node("any", line_of(tree), "", self.nodes(children(tree)))
        sign = said(field_of(tree, "operator")) or "="
        augmented = "augmented" in tree.type or "operator_assignment" in tree.type
        sign = "+=" if augmented or sign not in ("=", ":=") else "="
        return Node("assign", line_of(tree), sign, [self.node(left), self.node(right)])

    def declared(self, tree: Tree) -> Node:
        """A variable with its value; ``keys`` has its type."""
        line, named = line_of(tree), children(tree)
        name, value = field_of(tree, "name", "property"), field_of(tree, "value", "default_value")
        if tree.type == "property_declaration" and self.is_kotlin:
            holder = next((n for n in named if "variable_declaration" in n.type), None)
            if holder is None:
                return Node("any", line, "", self.nodes(named))
            delegate = named[-1]
            value = delegate if delegate is not holder and delegate.type not in ("getter", "setter") else None
            inner = children(holder)
            kind = said(inner[1]) if len(inner) > 1 and holder.type == "variable_declaration" else ""
            return Node("assign", line, "=", [self.node(inner[0]), self.node(value)], [_plain(kind)])
        if name is None and named:
            name = named[0]
        if value is None and tree.type == "variable_declarator" and len(named) > 1:
            last = named[-1]
            value = last if last is not name and "type" not in last.type else None
        holder = tree.parent
        kind = said(field_of(tree, "type") or field_of(holder, "type")) if holder is not None else ""
        if value is None:
            target = [self.node(name), nothing(line)] if kind and name is not None else []
            return Node("assign", line, ":", target, [_plain(kind)]) if target else nothing(line)
        return Node("assign", line, "=", [self.node(name), self.node(value)], [_plain(kind)])

    def resource(self, tree: Tree) -> Node:
        """Java's ``try (T x = ...)``."""
        return self.declared(tree) if field_of(tree, "name") is not None else self.inner(tree)

    # Functions and classes.

    def function(self, tree: Tree) -> Node:
        """A function: its parameters, then its body; ``keys``: its annotations."""
        line = line_of(tree)
        name = said(field_of(tree, "name")).lstrip("#")
        if not name and tree.parent is not None:
            holder = tree.parent
            if holder.type in (
                "variable_declarator",
                "pair",
                "assignment_expression",
                "public_field_definition",
                "field_definition",
            ):
                at = field_of(holder, "name", "key", "left", "property")
                name = said(at).rpartition(".")[2] if at is not None else ""
        given = field_of(tree, "parameters", "parameter") or next(
            (n for n in children(tree) if n.type in ("function_value_parameters", "lambda_parameters")), None
        )
        params: list[Node] = []
        if given is not None and given.type in ("identifier", "implicit_parameter"):
            params = [Node("param", line, said(given))]
        elif given is not None:
            marks: list[str] = []
            for one in children(given):
                if one.type == "parameter_modifiers":
                    marks = _marks(one)
                    continue
                params += self.parameters(one, marks)
                marks = []
        body = field_of(tree, "body") or next((n for n in children(tree) if n.type == "function_body"), None)
        if tree.type == "lambda_literal":
            inner = [n for n in children(tree) if n.type != "lambda_parameters"]
            made = Node("block", line, "", self.nodes(inner))
            if given is None:
                params = [Node("param", line, "it")]
        else:
            made = self.node(body)
        plain = body is None or body.type not in _BLOCKS or body.type == "arrow_expression_clause"
        expression = self.is_kotlin and body is not None and "=" in [c.type for c in body.children]
        if made.kind != "block" and (plain or expression or self.is_ruby):
            made = Node("return", line, "", [made])
        elif (
            self.is_ruby
            or tree.type == "lambda_literal"
            or (plain and body is not None and body.type not in _BLOCKS)
        ):
            made = _last_returned(made)
        return Node("function", line, name, [*params, made], [*_annotations(tree), *self.receiver(tree)])

    def receiver(self, tree: Tree) -> list[str]:
        """Go: whose method it is, as a mark ``receiver NAME TYPE``."""
        held = field_of(tree, "receiver") if tree.type == "method_declaration" else None
        own = next(iter(children(held)), None) if held is not None else None
        kind = _plain(said(field_of(own, "type"))).partition("[")[0] if own is not None else ""
        return [f"{RECEIVER}{said(field_of(own, 'name'))} {kind}"] if own is not None and kind else []

    def struct(self, tree: Tree) -> Node:
        """Go's structures: their fields with their types."""
        kind = field_of(tree, "type")
        if kind is None or kind.type != "struct_type":
            return nothing(line_of(tree))
        members: list[Node] = []
        for one in walk(kind, frozenset({"field_declaration"})):
            if one.type != "field_declaration":
                continue
            of = _plain(said(field_of(one, "type")))
            for name in one.children_by_field_name("name"):
                target = [Node("name", line_of(one), said(name)), nothing(line_of(one))]
                members.append(Node("assign", line_of(one), ":", target, [of]))
        return Node("class", line_of(tree), said(field_of(tree, "name")), members, [""])

    def parameters(self, tree: Tree, before: list[str]) -> list[Node]:
        """One declared parameter, or several of one type (Go)."""
        line = line_of(tree)
        kind = _plain(said(field_of(tree, "type")))
        marks = [*before, *_marks(tree)]
        names = [one for one in tree.children_by_field_name("name") if one.type != "type"]
        if tree.type in ("parameter", "class_parameter") and self.is_kotlin:
            inner = [one for one in children(tree) if "modifier" not in one.type]
            names = inner[:1]
            kind = _plain(said(inner[1])) if len(inner) > 1 else ""
        pattern = field_of(tree, "pattern")
        if pattern is not None and tree.type != "identifier":
            return [self.parameter(pattern, kind, marks)]
        if names:
            return [Node("param", line, said(one).lstrip("$&*"), [], [kind, *marks]) for one in names]
        if tree.type == "parameter_declaration":
            return [Node("param", line, "", [], [kind])]
        return [self.parameter(tree, kind, marks)]

    def parameter(self, tree: Tree, kind: str, marks: list[str]) -> Node:
        """A parameter that may be taken to pieces at once."""
        if tree.type == "assignment_pattern":
            left = field_of(tree, "left")
            return self.parameter(left, kind, marks) if left is not None else nothing(line_of(tree))
        if tree.type in ("object_pattern", "array_pattern"):
            return Node("param", line_of(tree), "", [self.node(tree)], [kind, *marks])
        name = next((one for one in walk(tree, frozenset()) if one.type == "identifier"), None)
        return Node(
            "param", line_of(tree), said(name) if name is not None else said(tree), [], [kind, *marks]
        )

    def class_(self, tree: Tree) -> Node:
        """A class with its members; ``keys``: its annotations."""
        body = field_of(tree, "body") or next(
            (n for n in children(tree) if n.type.endswith("class_body")), None
        )
        members = self.nodes(children(body)) if body is not None else []
        heads = [one for one in children(tree) if one.type in ("primary_constructor", "parameter_list")]
        for head in heads:
            for one in walk(head, frozenset({"class_parameter", "parameter"})):
                if one.type in ("class_parameter", "parameter"):
                    param = self.parameters(one, [])[0]
                    target = [Node("name", param.line, param.text), nothing(param.line)]
                    members.insert(0, Node("assign", param.line, ":", target, param.keys[:1]))
        above = said(field_of(tree, "superclass")) or said(
            next(
                (n for n in children(tree) if n.type in ("class_heritage", "base_list", "base_clause")), None
            )
        )
        return Node(
            "class", line_of(tree), said(field_of(tree, "name")), members, [above[:200], *_annotations(tree)]
        )

    # Imports.

    def imported(self, tree: Tree) -> Node:
        """Names of other modules."""
        line = line_of(tree)
        found: list[Node] = []
        if tree.type == "import_spec":
            module = said(field_of(tree, "path")).strip('"`')
            local = said(field_of(tree, "name")) or _package(module)
            return Node("import", line, local, [], [module, ""])
        if tree.type == "namespace_use_clause":
            whole = said(children(tree)[0] if children(tree) else None)
            alias = said(field_of(tree, "alias")) or whole.rpartition("\\")[2]
            return Node("import", line, alias, [], [whole.replace("\\", "."), ""])
        if tree.type in ("import_declaration", "import") and not self.is_go:
            whole = said(tree).removeprefix("import").strip().removeprefix("static ").rstrip(";").strip()
            return Node("import", line, whole.rpartition(".")[2], [], [whole, ""])
        source = field_of(tree, "source")
        module = said(source).strip("\"'`")
        for child in walk(tree, frozenset({"string", "import_specifier"})):
            if child.type == "import_specifier":
                name = said(field_of(child, "name"))
                found.append(Node("import", line, said(field_of(child, "alias")) or name, [], [module, name]))
            elif child.type == "identifier":
                star = child.parent is not None and child.parent.type == "namespace_import"
                found.append(Node("import", line, said(child), [], [module, "*" if star else "default"]))
        return Node("block", line, "", found)

    def exported(self, tree: Tree) -> Node:
        """What is exported is what it declares."""
        inner = field_of(tree, "declaration", "value")
        if inner is None:
            return nothing(line_of(tree))
        made = self.node(inner)
        if (
            any(child.type == "default" for child in tree.children)
            and made.kind == "function"
            and not made.text
        ):
            made.text = "default"
        return made


def _is_case(tree: Tree) -> bool:
    return any(
        word in tree.type
        for word in ("case", "when", "arm", "section", "group", "rule", "match", "default", "else", "entry")
    )


def _plain(kind: str) -> str:
    """A type without what surrounds it."""
    text = kind.strip().lstrip(":").strip().lstrip("*&?").partition("<")[0].partition("|")[0]
    return text.strip().rstrip("?").rpartition("\\")[2]


def _package(module: str) -> str:
    parts = module.split("/")
    last = parts[-1]
    if last[:1] == "v" and last[1:].isdigit() and len(parts) > 1:
        last = parts[-2]
    return last.partition(".")[0] if last.startswith("yaml") else last


def _marks(tree: Tree) -> list[str]:
    """Names of annotations, decorators and attributes of a parameter, with what is in their brackets."""
    kinds = ("annotation", "marker_annotation", "decorator", "attribute")
    return [said(one).lstrip("@[") for one in walk(tree, frozenset(kinds)) if one.type in kinds][:6]


def _annotations(tree: Tree) -> list[str]:
    """Those of a function or class; decorators of TypeScript stand before a method as its neighbours."""
    found: list[str] = []
    for child in tree.children:
        if child.type in ("modifiers", "attribute_list", "decorator"):
            found += _marks(child) or ([said(child).lstrip("@[")] if child.type == "decorator" else [])
    before = tree.prev_named_sibling
    while before is not None and before.type in ("decorator", "comment"):
        if before.type == "decorator":
            found.append(said(before).lstrip("@"))
        before = before.prev_named_sibling
    if tree.parent is not None and tree.parent.type == "export_statement":
        found += [said(one).lstrip("@") for one in tree.parent.children if one.type == "decorator"]
    return [one[:200] for one in found]


def _last_returned(block: Node) -> Node:
    """The block with its last value given back."""
    if (
        block.kind == "block"
        and block.parts
        and block.parts[-1].kind not in ("return", "throw", "function", "class", "loop")
    ):
        block.parts[-1] = Node("return", block.parts[-1].line, "", [block.parts[-1]])
    return block

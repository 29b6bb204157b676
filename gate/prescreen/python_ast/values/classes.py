"""Classes of the tree: instances, attributes, methods, what a base class brings along."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.values.calls import Given
from gate.prescreen.python_ast.values.checks import Checks
from gate.prescreen.python_ast.values.domain import CLEAN, LOST, ClassOf, Function, State, Thing, Value
from gate.prescreen.python_ast.values.expressions import Frame
from gate.prescreen.python_ast.values.library import is_standard
from gate.prescreen.python_ast.values.tree import Sources

_BASES: Final = 4


class Classes(Checks):
    """The part of the reading that looks at classes."""

    def __init__(self, module: Module, sources: Sources) -> None:
        super().__init__(module)
        self.sources = sources

    def make(self, cls: ClassOf, given: Given, state: State) -> Value:
        """An instance of a class of the tree."""
        known = not self._unknown_base(cls)
        rest = CLEAN if known else LOST
        made = state.new(Thing("object", {}, rest, cls))
        init = self._member(cls, "__init__")
        if isinstance(init, Function):
            self.run(replace(init, bound=made), given, state)
            return made
        fields = [
            part.target.id
            for part in cls.node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        items: dict[object, Value] = dict(zip(fields, given.values, strict=False))
        items |= {name: value for name, value in given.named if name != "**"}
        return state.new(Thing("object", items, rest, cls))

    def _bases(self, cls: ClassOf) -> Iterator[ClassOf | None]:
        for base in cls.node.bases:
            names = cls.module.names_of(base)
            local = [
                b.node
                for b in (cls.module.bindings_of(base) if isinstance(base, ast.Name) else ())
                if isinstance(b.node, ast.ClassDef)
            ]
            if local:
                yield ClassOf(local[0], cls.module)
                continue
            found = [self.sources.find(name, cls.module) for name in names]
            inner = next((f for f in found if f is not None), None)
            node = inner[1] if inner is not None else None
            if inner is not None and isinstance(node, ast.ClassDef):
                yield ClassOf(node, inner[0])
            elif not names or not all(is_standard(n) or n == "pydantic.BaseModel" for n in names):
                yield None

    def _line(self, cls: ClassOf) -> list[ClassOf | None]:
        out: list[ClassOf | None] = [cls]
        for one in out:
            if one is not None and len(out) < _BASES * 2:
                out.extend(self._bases(one))
        return out

    def _unknown_base(self, cls: ClassOf) -> bool:
        return None in self._line(cls)

    def _member(self, cls: ClassOf, name: str) -> Function | ast.expr | None:
        for one in self._line(cls):
            for part in one.node.body if one is not None else ():
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part.name == name:
                    return Function(part, one.module) if one is not None else None
                value = part.value if isinstance(part, ast.Assign | ast.AnnAssign) else None
                targets = part.targets if isinstance(part, ast.Assign) else [getattr(part, "target", None)]
                if value is not None and any(isinstance(t, ast.Name) and t.id == name for t in targets):
                    return value
        return None

    def attribute_of(self, owner: Value, thing: Thing, name: str, state: State) -> Value:
        """What an object has under a name."""
        if name in thing.items:
            return thing.items[name]
        if thing.of is None:
            return thing.rest
        member = self._member(thing.of, name)
        if isinstance(member, Function):
            bound = replace(member, bound=owner)
            decorators = getattr(member.node, "decorator_list", ())
            if any("property" in member.module.names_of(d) for d in decorators):
                return self.run(bound, Given((), ()), state)
            return Value(code=bound)
        if thing.rest.taint:
            return LOST
        if member is not None:
            inner = State(heap=state.heap)
            value = self.evaluate(member, inner, Frame(thing.of.module, None, None, [], [], [], []))
            return replace(value, firm=False) if value.is_const else value
        return LOST if self._unknown_base(thing.of) else CLEAN

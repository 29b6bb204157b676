"""Follows secrets through the steps of one file: from where they are taken to where they end.

Nothing is followed out of the file. Functions of the file are read as what they give back of what they are
given and where they take it, so that a helper, a loop or another name on the way makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from gate.secret_uses.calls import MUTATORS, SETTERS, handed_on, makes_each, way_of
from gate.secret_uses.facts import FileUses
from gate.secret_uses.ledger import Ledger, Summary
from gate.secret_uses.names import (
    holds_settings,
    is_authenticating_text,
    is_header,
    is_secret,
    is_settings,
    snake,
)  # fmt: skip
from gate.secret_uses.sources import NONE, Value, Values, keyed, looked_up, marked, some, source_of
from gate.secret_uses.steps import RECEIVER, ROUTE, SPREAD, Step

_PASSES: Final = 3
_STEPS: Final = 400_000
_DEEP: Final = 150
_PUBLIC: Final = frozenset({"define", "env", "environment", "publicRuntimeConfig"})
"""Entries of a bundler's settings that pages can read."""
_HEADERS: Final = ("headers", "header", "Headers")
_Env = dict[tuple[str, ...], Values]
_Given = list[tuple[str, Step, Values]]


@dataclass(slots=True)
class _Scope:
    """What names hold in a function."""

    env: _Env
    name: str = ""


def uses_in(program: Step, *, bundler: bool = False) -> FileUses:
    """All uses of secrets in a file. ``bundler``: it says what goes into web pages."""
    flow = _Flow(bundler)
    for _ in range(_PASSES):
        flow.ledger.uses.clear()
        flow.run(program, _Scope(flow.shared))
    uses = sorted(flow.ledger.uses, key=lambda use: (use.line, use.secret, use.way, use.marks))
    return FileUses(uses=tuple(uses), held=tuple(sorted(flow.held)))


class _Flow:
    """``shared``: names of the module and attributes. ``modules``: what local names were imported from."""

    def __init__(self, bundler: bool) -> None:
        self.bundler = bundler
        self.ledger = Ledger()
        self.shared: _Env = {}
        self.modules: dict[str, str] = {}
        self.routes: set[str] = set()
        self.held: set[str] = set()
        self._classes: list[str] = []
        self._left = _STEPS
        self._deep = self._tests = 0
        self._makes = {
            "name": self._name,
            "call": self._call,
            "map": self._map,
            "list": self._list,
            "assign": self._assign,
            "function": self._function,
            "import": self._import,
            "return": self._end,
            "raise": self._end,
            "each": self._each,
            "class": self._class,
        }

    def run(self, step: Step, scope: _Scope) -> Values:
        """What the step is worth, with what it uses told on the way."""
        self._left -= 1
        if self._left < 0:
            raise ValueError("more than is followed")
        if self._deep > _DEEP or step.kind == "const":
            return NONE
        self._deep += 1
        try:
            return some(self._makes.get(step.kind, self._together)(step, scope))
        finally:
            self._deep -= 1

    def _all(self, step: Step, scope: _Scope) -> list[Values]:
        return [self.run(part, scope) for _, part in step.parts]

    def _together(self, step: Step, scope: _Scope) -> Iterable[Value]:
        found = self._all(step, scope)
        every = [value for values in found for value in values]
        if step.kind == "test":
            return NONE
        if step.kind == "xor":
            return self._mixed(every, step.line, scope)
        if step.kind == "sum":
            return self._mixed([value for value in every if "item" in value.marks], step.line, scope)
        if step.kind == "index":  # one entry of all settings: nobody knows which
            return marked((v for v in found[0] if v.kind != "whole") if found else (), "item")
        if step.kind == "item":
            return marked(every, "item")
        if step.kind == "slice":
            return marked(found[0] if found else (), "part")
        if step.kind in ("text", "plus"):
            told = "auth" if any(map(is_authenticating_text, step.name)) else "text"
            return marked((v for v in every if v.kind != "whole" or step.kind == "text"), told)
        return every

    def _mixed(self, values: Iterable[Value], line: int, scope: _Scope) -> list[Value]:
        values = [value for value in values if value.kind != "whole"]
        self.ledger.tell(values, "mixed", "arithmetic", line, scope.name)
        return [*marked(values, "mixed")]

    def _each(self, step: Step, scope: _Scope) -> Iterable[Value]:
        inner = _Scope(dict(scope.env), scope.name)
        return self._all(step, inner)[-1]

    def _class(self, step: Step, scope: _Scope) -> Iterable[Value]:
        self._classes.append(step.name[0])
        self._all(step, scope)
        self._classes.pop()
        return NONE

    # What is read.

    def _name(self, step: Step, scope: _Scope) -> Iterable[Value]:
        path = step.name
        if step.parts:
            self._all(step, scope)
            return source_of(path, step.line)
        if (known := scope.env.get(path)) is not None:
            told = any(value.kind != "given" for value in known)
            return [*known, *(() if told else self._whole(path, step.line))]
        if made := source_of(path, step.line):
            return made
        if path[-1] == "__dict__":
            owner = scope.env.get(path[:-1]) or self._whole(path[:-1], step.line)
            return marked(owner, "wholly")
        return self._whole(path, step.line)

    def _whole(self, path: tuple[str, ...], line: int) -> Iterator[Value]:
        said = ".".join(path)
        if "os.environ" in (said, self.modules.get(said)) or said == "process.env":
            yield Value(said, "whole", line, "environment")
        elif path and is_settings(path[-1]):
            origin = self.modules.get(path[0], "") if len(path) == 1 else ""
            words = snake(self._classes[-1]).split("_") if self._classes else []
            pool = not {"pool", "connection", "database"}.isdisjoint(words)
            yield Value(said, "whole", line, origin, frozenset({"pool"} if pool else ()))

    # What is made of it.

    def _map(self, step: Step, scope: _Scope) -> Iterable[Value]:
        made: list[Value] = []
        for key, part in step.parts:
            self._tests += key == "test"
            values = self.run(part, scope)
            if key in _HEADERS:
                self._headers(part, scope)
            if self.bundler and not self._tests and key in _PUBLIC:
                for name, one in part.parts if part.kind == "map" else [("", part)]:
                    sink = f"{key}.{name}".rstrip(".")
                    self.ledger.tell(self.run(one, scope), "bundle", sink, one.line, scope.name)
            self._tests -= key == "test"
            if key == SPREAD:
                made += values
            elif part.kind == "map" and any(k == SPREAD for k, _ in part.parts):
                made += marked(values, "wholly", "named")
            else:
                made += keyed(key, values)
        return made

    def _headers(self, part: Step, scope: _Scope) -> None:
        for name, one in part.parts if part.kind == "map" else ():
            self.ledger.header(name, self.run(one, scope), one.line, scope.name)

    def _list(self, step: Step, scope: _Scope) -> Iterable[Value]:
        found = self._all(step, scope)
        first = step.parts[0][1] if step.parts else step
        if len(found) == 2 and first.kind == "const" and first.name and is_header(first.name[0]):
            self.ledger.header(first.name[0], found[1], step.line, scope.name)
            return keyed(first.name[0], found[1])
        return [value for values in found for value in values]

    def _assign(self, step: Step, scope: _Scope) -> Iterable[Value]:
        target, value = step.parts[0][1], step.parts[1][1]
        made = self.run(value, scope)
        if step.name[0] == "^=":
            made |= frozenset(self._mixed([*made, *self.run(target, scope)], step.line, scope))
        self._bind(target, value, made, scope, more=step.name[0] not in ("=", ":="))
        return made

    def _bind(self, target: Step, value: Step, made: Values, scope: _Scope, *, more: bool) -> None:
        if target.kind in ("list", "map"):
            self._take_apart(target, value, made, scope)
        elif target.kind == "name" and target.name and target.parts:  # moves[i].Note = ...
            named = frozenset(keyed(target.name[-1], made))
            self._bind(_root(target.parts[0][1]), value, named, scope, more=True)
        elif target.kind == "name" and target.name:
            self._set(target, value, made, scope, more=more)
        else:
            for _, part in target.parts[: 1 if target.kind in ("index", "slice") else None]:
                self._bind(part, value, made, scope, more=True)

    def _take_apart(self, target: Step, value: Step, made: Values, scope: _Scope) -> None:
        for key, part in target.parts:
            named = target.kind == "map" and key not in ("", SPREAD) and value.kind == "name"
            inner = frozenset(source_of((*value.name, key), part.line)) if named else made
            self._bind(part, Step("const", part.line), inner, scope, more=False)

    def _set(self, target: Step, value: Step, made: Values, scope: _Scope, *, more: bool) -> None:
        path = target.name
        if not scope.name and is_secret(path[-1]):
            self.held.add(path[-1])
        if value.kind == "map" and is_settings(path[-1]):
            self.held.update(key for key, _ in value.parts if is_secret(key))
        if len(path) > 1:
            if "headers" in map(snake, path[:-1]):
                self.ledger.header(path[-1], made, target.line, scope.name)
            self.shared[path] = some(made | self.shared.get(path, NONE))
        if is_settings(path[-1]) and value.kind not in ("map", "const") and not made:
            return  # settings that a call gives are settings
        scope.env[path] = some(made | (scope.env.get(path, NONE) if more else NONE))

    def _import(self, step: Step, scope: _Scope) -> Iterable[Value]:
        local, module, name = step.name
        words = module.replace("/", ".").removesuffix(".js").removesuffix(".ts").split(".")
        is_path = "/" in module or not name
        self.modules[local] = module if is_path else f"{module}.{name}"
        if holds_settings(words[-1]) and name.isupper() and is_secret(name):
            scope.env[(local,)] = frozenset({Value(name, "one", step.line)})
        return NONE

    # Where it goes.

    def _call(self, step: Step, scope: _Scope) -> Iterable[Value]:
        path = step.name
        if looked := looked_up(step):
            return looked
        receiver = self._receiver(step, scope)
        given = [(key, part, self._given(part, step, scope)) for key, part in step.parts if key != RECEIVER]
        self._sinks(step, given, scope)
        all_given = [value for _, _, values in given for value in values]
        if len(path) > 1 and snake(path[-1]) in MUTATORS and path[:-1] in scope.env:
            scope.env[path[:-1]] = some([*scope.env[path[:-1]], *all_given])
        own = len(path) == 1 or path[:1] in (("self",), ("this",), ("cls",))
        if own and path and path[-1] in self.ledger.functions:
            handed = [(key, values) for key, _, values in given]
            return self.ledger.called(path[-1], handed, scope.name)
        mark = handed_on(path)
        if mark is None:
            return NONE
        return marked([*receiver, *all_given], *([mark] if mark else []))

    def _given(self, part: Step, call: Step, scope: _Scope) -> Values:
        if part.kind != "function":
            return self.run(part, scope)
        inner = _Scope(dict(scope.env), f"{scope.name}>{part.line}")
        each = makes_each(call.name)
        if each:
            others = [one for _, one in call.parts if one is not part]
            held = [*self._receiver(call, scope), *(v for one in others for v in self.run(one, scope))]
            for name in part.name[1:]:
                inner.env[(name,)] = some(marked(held, "item"))
        self.ledger.functions.setdefault(inner.name, Summary())
        self._all(part, inner)
        return self.ledger.functions[inner.name].returned if each else NONE

    def _receiver(self, step: Step, scope: _Scope) -> Values:
        for key, part in step.parts:
            if key == RECEIVER:
                return self.run(part, scope)
        return self.run(Step("name", step.line, step.name[:-1]), scope) if len(step.name) > 1 else NONE

    def _sinks(self, step: Step, given: _Given, scope: _Scope) -> None:
        path = step.name
        first = given[0][1] if given else step
        if len(given) == 2 and first.kind == "const" and path and snake(path[-1]) in SETTERS:
            name = first.name[0] if first.name and is_header(first.name[0]) else ""
            self.ledger.header(name, given[1][2], step.line, scope.name)
            return
        way = way_of(path, first.name)
        for number, (key, part, values) in enumerate(given):
            if key in _HEADERS:
                self._headers(part, scope)
            elif way is not None:
                address = way == "sent" and number == 0 and part.kind in ("name", "text", "plus")
                told = [v for v in values if not address or {"mixed", "sealed"} & v.marks]
                told = [*keyed(key if key != SPREAD else "", told)]
                self.ledger.tell(told, way, ".".join(path), step.line, scope.name)

    def _end(self, step: Step, scope: _Scope) -> Iterable[Value]:
        made = [value for values in self._all(step, scope) for value in values]
        if step.kind == "raise":
            given = [one for _, part in step.parts if part.kind == "call" for _, one in part.parts]
            made += (value for one in given for value in self.run(one, scope))
            self.ledger.tell(made, "error", "an error", step.line, scope.name)
        elif scope.name in self.ledger.functions:
            self.ledger.gives_back(scope.name, made)
            if scope.name in self.routes:
                self.ledger.tell(made, "answer", scope.name, step.line, scope.name)
        return NONE

    def _function(self, step: Step, scope: _Scope) -> Iterable[Value]:
        name = step.name[0] or f"{scope.name}>{step.line}"
        self.ledger.functions.setdefault(name, Summary()).parameters = step.name[1:]
        inner = _Scope({**self.shared, **scope.env}, name)
        for one in step.name[1:]:
            settings = self._whole((one,), step.line) if is_settings(one) else ()
            inner.env[(one,)] = frozenset({Value(name, "given", step.line, one), *settings})
        if any(key == ROUTE for key, _ in step.parts):
            self.routes.add(name)
        self._all(step, inner)
        return NONE


def _root(step: Step) -> Step:
    while step.kind in ("index", "slice") and step.parts:
        step = step.parts[0][1]
    return step

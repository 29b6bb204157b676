"""Follows secrets through the steps of one file: from where they are taken to where they end.

Functions of the file are read as what they give back of what they are given and where they take it, so that
a helper, a loop or another name on the way makes no difference. Of other files only the functions that take a
parameter to pieces are known, by their outlines (facts.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gate.dataclass import dataclass
from gate.secret_uses import mixing
from gate.secret_uses.calls import (
    MUTATORS,
    SETTERS,
    asks_for_name,
    encrypts,
    handed_on,
    makes_each,
    makes_number,
    way_of,
)
from gate.secret_uses.facts import FileUses, Outline
from gate.secret_uses.ledger import Ledger, Summary
from gate.secret_uses.names import (
    holds_settings,
    is_credential_entry,
    is_error,
    is_header,
    is_secret,
    is_settings,
    snake,
)  # fmt: skip
from gate.secret_uses.shapes import chained, enciphered, is_number, root_of
from gate.secret_uses.sources import (
    FAINT,
    NONE,
    Value,
    Values,
    faint,
    keyed,
    looked_up,
    marked,
    more,
    some,
    source_of,
    text_marks,
)
from gate.secret_uses.steps import ERROR, HOLDER, RECEIVER, ROUTE, SETTING, SPREAD, Step
from gate.secret_uses.user_secrets import is_grave, is_proof, typed_in, user_read, user_values, user_ways
from gate.secret_uses.whole_objects import object_values, whole_object

_PASSES: Final = 3
_STEPS: Final = 400_000
_DEEP: Final = 150
_KEYS: Final = 200
_PUBLIC: Final = frozenset({"define", "env", "environment", "publicRuntimeConfig"})
"""Entries of a bundler's settings that pages can read."""
_REQUESTS: Final = frozenset({"request", "req", "config", "options", "headers", "init"})
"""Attributes of errors that hold what was asked, with how it was authenticated."""
_HEADERS: Final = ("headers", "header", "Headers")
_Env = dict[tuple[str, ...], Values]
_Given = list[tuple[str, Step, Values]]


@dataclass(slots=True)
class _Scope:
    """What names hold in a function."""

    env: _Env
    name: str = ""


def uses_in(
    program: Step,
    *,
    bundler: bool = False,
    elsewhere: Mapping[str, Outline] | None = None,
    sinks: bool = False,
) -> FileUses:
    """All uses of secrets in a file. ``bundler``: it says what goes into web pages. ``elsewhere``: functions
    of other files, by name. ``sinks``: tell also of functions that take a parameter somewhere as it is.
    """
    flow = _Flow(bundler, elsewhere or {})
    for _ in range(_PASSES):
        flow.ledger.uses.clear()
        flow.run(program, _Scope(flow.shared))
    uses = sorted(flow.ledger.uses, key=lambda use: (use.line, use.secret, use.way, use.marks))
    return FileUses(
        uses=tuple(uses),
        held=tuple(sorted(flow.held)),
        keys=tuple(sorted(flow.ledger.keys)[:_KEYS]),
        outlines=tuple(flow.ledger.outlines(sinks=sinks)),
        asked=tuple(sorted(flow.asked)),
    )


class _Flow:
    """``shared``: names of the module and attributes. ``modules``: what local names were imported from."""

    def __init__(self, bundler: bool, elsewhere: Mapping[str, Outline]) -> None:
        self.bundler = bundler
        self.ledger = Ledger(elsewhere)
        self.holders: set[str] = set()
        self.injected: set[str] = set()
        self._error = False
        self.shared: _Env = {}
        self.modules: dict[str, str] = {}
        self.routes: set[str] = set()
        self.held: set[str] = set()
        self.asked: set[str] = set()
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
            return self._mixed(every, step.line, scope, "xor")
        if step.kind == "sum":
            taken, rest = mixing.summed(step, every)
            return [*self._mixed(taken, step.line, scope), *rest]
        if step.kind == "plus":
            self._mixed(filter(is_number, every), step.line, scope)
            every = mixing.added(every)
        if step.kind == "index":
            return mixing.indexed(found)
        if step.kind == "item":
            return marked(every, "item")
        if step.kind == "slice":
            return mixing.sliced(step, found)
        if step.kind == "text":
            numbers = [value for value in every if is_number(value) and "hashed" not in value.marks]
            self._mixed(numbers, step.line, scope)
            every += marked(numbers, "mixed")
        if step.kind in ("text", "plus"):
            every = [v for v in every if v.kind != "whole" or step.kind == "text"]
            return marked(every, *text_marks(step.name))
        return every

    def _mixed(self, values: Iterable[Value], line: int, scope: _Scope, how: str = "") -> list[Value]:
        values = [v for v in values if v.kind != "whole" or ("bytes" in v.marks and "wholly" in v.marks)]
        values = [*marked(values, "xor")] if how == "xor" else values
        self.ledger.tell(values, "mixed", "arithmetic", line, scope.name)
        return [*marked(values, "mixed")]

    def _each(self, step: Step, scope: _Scope) -> Iterable[Value]:
        inner = _Scope(dict(scope.env), scope.name)
        return self._all(step, inner)[-1]

    def _class(self, step: Step, scope: _Scope) -> Iterable[Value]:
        self._classes.append(step.name[0])
        self._hold(step)
        error, self._error = self._error, any(key == ERROR for key, _ in step.parts)
        self._all(step, scope)
        self._classes.pop()
        self._error = error
        return NONE

    def _hold(self, step: Step) -> None:
        self.holders.update(part.name[0] for key, part in step.parts if key == HOLDER)
        self.injected.update(part.name[0] for key, part in step.parts if key == SETTING)

    # What is read.

    def _name(self, step: Step, scope: _Scope) -> Iterable[Value]:
        path = step.name
        if step.parts:
            self._all(step, scope)
            return source_of(path, step.line) or faint(("it", *path), step.line, self.holders)
        if (known := scope.env.get(path)) is not None:
            if any(value.kind in ("one", "whole") for value in known):
                return known
            besides = frozenset(mark for value in known for mark in value.marks)
            return [*known, *self._whole(path, step.line), *marked(self._faint(path, step.line), *besides)]
        if made := source_of(path, step.line):
            return made
        if path[-1] == "__dict__":
            owner = scope.env.get(path[:-1]) or self._whole(path[:-1], step.line)
            return [*marked(owner, "wholly"), *object_values(path[:-1], step.line, self._classes[-1:])]
        return [*self._whole(path, step.line)] or self._faint(path, step.line)

    def _faint(self, path: tuple[str, ...], line: int) -> list[Value]:
        """An attribute whose name says nothing; of a module it is a constant or a function."""
        own = {"this"} if path[-1] in self.injected else set()
        found = faint(path, line, self.holders | own)
        if path[0] in self.modules:
            found = [v for v in found if v.kind == "setting"]
        own_path = len(path) > (2 if path[0] in self.modules else 1)
        return [*found, *user_values(path, line)] if own_path else found

    def _whole(self, path: tuple[str, ...], line: int) -> Iterator[Value]:
        said = ".".join(path)
        if path and is_error(path[0]) and (len(path) == 1 or not _REQUESTS.isdisjoint(path[1:])):
            marks = frozenset({"wholly"} if len(path) > 1 else ())
            yield Value(said, "whole", line, "error", marks)
            return
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
            if is_credential_entry(key):
                self.ledger.proves(values)
            if self.bundler and not self._tests and key in _PUBLIC:
                for name, one in part.parts if part.kind == "map" else [("", part)]:
                    sink = f"{key}.{name}".rstrip(".")
                    self.ledger.tell(self.run(one, scope), "bundle", sink, one.line, scope.name)
            self._tests -= key == "test"
            self.ledger.kept(key, values)
            self.ledger.placed(key, values)
            if key == SPREAD:
                whole = marked((v for v in values if v.kind in FAINT and v.marks <= {"char"}), "spread")
                self.ledger.tell(whole, "returned", "another object", part.line, scope.name)
                made += (more(v, ("wholly",)) if v.origin == "error" else v for v in values)
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
        made = frozenset(mixing.folded(target, value, self.run(value, scope)))
        if step.name[0] == "^=":
            made |= frozenset(self._mixed([*made, *self.run(target, scope)], step.line, scope, "xor"))
        elif step.name[0] in ("+=", "-=", "*=", "|=", "<<="):
            made |= frozenset(self._mixed(filter(is_number, made), step.line, scope))
        self._bind(target, value, made, scope, more=step.name[0] not in ("=", ":="))
        return made

    def _bind(self, target: Step, value: Step, made: Values, scope: _Scope, *, more: bool) -> None:
        if target.kind in ("list", "map"):
            self._take_apart(target, value, made, scope)
        elif target.kind == "name" and target.name and target.parts:  # moves[i].Note = ...
            named = frozenset(keyed(target.name[-1], made))
            self._bind(root_of(target.parts[0][1]), value, named, scope, more=True)
        elif target.kind == "name" and target.name:
            self._set(target, value, made, scope, more=more)
        else:
            for _, part in target.parts[: 1 if target.kind in ("index", "slice") else None]:
                self._bind(part, value, made, scope, more=True)

    def _take_apart(self, target: Step, value: Step, made: Values, scope: _Scope) -> None:
        for key, part in target.parts:
            named = target.kind == "map" and key not in ("", SPREAD) and value.kind == "name"
            path = (*value.name, key)
            inner = frozenset(source_of(path, part.line) or self._faint(path, part.line)) if named else made
            inner |= frozenset(user_values(("it", key), part.line)) if key and key != SPREAD else NONE
            if key == SPREAD:
                inner = frozenset(more(v, ("wholly",)) if v.origin == "error" else v for v in made)
            self._bind(part, Step("const", part.line), inner, scope, more=False)

    def _set(self, target: Step, value: Step, made: Values, scope: _Scope, *, more: bool) -> None:
        path = target.name
        if not made and len(path) == 1 and (typed := typed_in(path, value)):
            made = NONE if any(self.run(part, scope) for _, part in value.parts) else frozenset(typed)
        if not scope.name and is_secret(path[-1]):
            self.held.add(path[-1])
        if value.kind == "map" and is_settings(path[-1]):
            self.held.update(key for key, _ in value.parts if is_secret(key))
        if len(path) > 1:
            if "headers" in map(snake, path[:-1]):
                self.ledger.header(path[-1], made, target.line, scope.name)
            self.ledger.owns(self._classes[-1:], path)
            self.shared[path] = some(made | self.shared.get(path, NONE))
            self.ledger.kept(path[-1], made)
            if self._error and path[0] in ("this", "self") and path[-1] in _REQUESTS:
                self.ledger.keys.add(f"{ERROR}.{path[-1]}")
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
        if looked := looked_up(step) or user_read(step):
            return looked
        receiver = self._receiver(step, scope)
        given = [(key, part, self._given(part, step, scope)) for key, part in step.parts if key != RECEIVER]
        self._sinks(step, given, scope)
        all_given = [value for _, _, values in given for value in values]
        if len(path) > 1 and snake(path[-1]) in MUTATORS and path[:-1] in scope.env:
            scope.env[path[:-1]] = some([*scope.env[path[:-1]], *all_given])
        mark = handed_on(path)
        self.ledger.proved(path, given)
        if self._is_own(path, mark, given):
            bound = [(key, values) for key, _, values in given]
            return self.ledger.called(path[-1], bound, step.line, scope.name)
        every = [*receiver, *all_given, *whole_object(step, self._classes[-1:])]
        if mark is None:
            self._ask(path, all_given)
            others = mixing.kept(step, every)
            if mixing.computes(path):
                others = self._mixed(others, step.line, scope)
            return [*self._encrypted(step, given, scope), *others] or self._accessor(step)
        made = mixing.handed(step, mark, every)
        pieces = [value for value in made if makes_number(path, value.marks)]
        made += self._mixed(marked(pieces, "code", "part"), step.line, scope)
        if snake(path[-1]) in mixing.INTS:  # the number that a hexadecimal text is
            numbers = [value for value in made if {"coded", "bytes"} <= value.marks]
            made += self._mixed(marked(numbers, "code", "part"), step.line, scope)
        return mixing.formed(step, made, all_given)

    def _ask(self, path: tuple[str, ...], given: Iterable[Value]) -> None:
        """A function of another file, perhaps, that is given a secret of a user."""
        if path and len(self.asked) < _KEYS and not is_proof(path[-1]) and any(map(is_grave, given)):
            self.asked.add(path[-1])

    def _is_own(self, path: tuple[str, ...], mark: str | None, given: _Given) -> bool:
        """Is it a function whose text is known? A method is believed where nothing else has its name."""
        if not path or path[-1] not in self.ledger.functions:
            return False
        if len(path) == 1 or path[:1] in (("self",), ("this",), ("cls",)):
            return True
        first = given[0][1].name if given else ()
        return mark is None and way_of(path, first) is None and snake(path[-1]) not in SETTERS | MUTATORS

    def _encrypted(self, step: Step, given: _Given, scope: _Scope) -> list[Value]:
        """What comes out of a cipher that a value of the configuration is the text of, not the key."""
        path, line = step.name, step.line
        of_cipher = len(path) > 1 or any(key == RECEIVER for key, _ in step.parts)
        if not encrypts(path) or not given or (snake(path[-1]) in ("encrypt", "seal") and not of_cipher):
            return []
        texts = enciphered(path, [values for _, _, values in given])
        texts = [value for value in texts if value.kind != "user"]
        keys = [value for value in texts if value.kind == "one" and snake(value.secret).endswith("key")]
        made = [*marked((v for v in texts if v not in keys), "mixed", "sealed", "xor", "item")]
        self.ledger.tell(made, "mixed", "encryption", line, scope.name)
        return made

    def _accessor(self, step: Step) -> list[Value]:
        """``settings.signingKey()``, ``settings.getSigningKey()``: what a method without arguments reads."""
        path = step.name
        if len(path) < 2 or any(key != RECEIVER for key, _ in step.parts):
            return []
        name = path[-1]
        if name[:3] in ("get", "Get") and len(name) > 3:
            name = name[3:].lstrip("_")
        path = (*path[:-1], name)
        return source_of(path, step.line) or self._faint(path, step.line)

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
        for by, held in user_ways(path, given):
            self.ledger.tell(held, by, ".".join(path), step.line, scope.name)
        if len(given) == 2 and first.kind == "const" and path and snake(path[-1]) in SETTERS:
            name = first.name[0] if first.name and is_header(first.name[0]) else ""
            self.ledger.header(name, given[1][2], step.line, scope.name)
            return
        way = way_of(path, first.name) or way_of(chained(step), first.name)
        for number, (key, part, values) in enumerate(given):
            if key in _HEADERS:
                self._headers(part, scope)
            elif way is not None:
                address = (
                    way == "sent"
                    and number == 0
                    and not asks_for_name(path)
                    and part.kind in ("name", "text", "plus")
                )
                told = [v for v in values if not address or {"mixed", "sealed", "spelled"} & v.marks]
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
            errors = [value for value in made if value.kind == "whole" and value.origin == "error"]
            self.ledger.tell(errors, "returned", scope.name, step.line, scope.name)
            if scope.name in self.routes:
                self.ledger.tell(made, "answer", scope.name, step.line, scope.name)
        return NONE

    def _function(self, step: Step, scope: _Scope) -> Iterable[Value]:
        name = step.name[0] or f"{scope.name}>{step.line}"
        if name in ("__init__", "constructor") and self._classes:
            name = self._classes[-1]
        self.ledger.defines(name, step.name[1:])
        inner = _Scope({**self.shared, **scope.env}, name)
        for one in step.name[1:]:
            settings = self._whole((one,), step.line) if is_settings(one) or is_error(one) else ()
            held = {Value(name, "given", step.line, one), *settings, *user_values((one,), step.line)}
            inner.env[(one.lstrip("*"),)] = frozenset(held)
        if any(key == ROUTE for key, _ in step.parts):
            self.routes.add(name)
        self._hold(step)
        self._all(step, inner)
        return NONE

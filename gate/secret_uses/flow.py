"""Follows secrets through the steps of one file: from where they are taken to where they end.

Nothing is followed out of the file. Functions of the file are read as what they give back of what they are
given and where they take it, so that a helper, a loop or another name on the way makes no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gate.secret_uses.calls import MUTATORS, SETTERS, handed_on, makes_each, way_of
from gate.secret_uses.facts import FileUses, Use, Way
from gate.secret_uses.names import (
    authenticates,
    holds_settings,
    is_authenticating_text,
    is_header,
    is_secret,
    is_settings,
    snake,
)  # fmt: skip
from gate.secret_uses.steps import RECEIVER, ROUTE, SPREAD, Step

_PASSES: Final = 3
_MOST: Final = 40
"""Values that one name holds; more says nothing new."""
_STEPS: Final = 400_000
_DEEP: Final = 150
_USES: Final = 200
_LOOKUPS: Final = frozenset({"get", "getenv", "lookup_env", "get_string", "require", "fetch", "env", "getattr"})
_ENVIRONMENTS: Final = frozenset({"environ", "env", "getenv", "os", "process", "viper"})
_PUBLIC_KEYS: Final = frozenset({"define", "env", "environment", "publicRuntimeConfig"})


class Value(NamedTuple):
    """A secret on its way. ``kind``: ``one`` value, ``whole`` settings, or what a ``given`` parameter holds
    (then ``secret`` is the function and ``origin`` the parameter).
    """

    secret: str
    kind: str
    source: int
    origin: str = ""
    marks: frozenset[str] = frozenset()


Values = frozenset[Value]
_NONE: Final[Values] = frozenset()


class _Hit(NamedTuple):
    """A use of a parameter, told again for every value that it is given."""

    origin: str
    marks: frozenset[str]
    way: Way
    sink: str
    line: int


@dataclass
class _Summary:
    parameters: tuple[str, ...] = ()
    returned: set[Value] = field(default_factory=set)
    hits: set[_Hit] = field(default_factory=set)


def uses_in(program: Step, *, bundler: bool = False) -> FileUses:
    """All uses of secrets in a file. ``bundler``: it says what goes into web pages."""
    flow = _Flow(bundler)
    for _ in range(_PASSES):
        flow.uses.clear()
        flow.run(program, flow.shared, "")
    return FileUses(uses=tuple(sorted(flow.uses, key=lambda u: (u.line, u.secret, u.way))), held=(*sorted(flow.held),))


class _Flow:
    def __init__(self, bundler: bool) -> None:
        self.bundler = bundler
        self.shared: dict[tuple[str, ...], Values] = {}
        self.modules: dict[str, str] = {}
        self.functions: dict[str, _Summary] = {}
        self.routes: set[str] = set()
        self.uses: set[Use] = set()
        self.held: set[str] = set()
        self._left = _STEPS
        self._deep = 0
        self._tests = 0
        self._classes: list[str] = []

    def run(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Values:
        """What the step is worth, with what it uses told on the way."""
        self._left -= 1
        if self._left < 0:
            raise ValueError("more than is followed")
        if self._deep > _DEEP or step.kind == "const":
            return _NONE
        self._deep += 1
        try:
            return frozenset(list(self._run(step, env, inside))[:_MOST])
        finally:
            self._deep -= 1

    def _run(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        match step.kind:
            case "name":
                return self._name(step, env, inside)
            case "call":
                return self._call(step, env, inside)
            case "map":
                return self._map(step, env, inside)
            case "list":
                return self._list(step, env, inside)
            case "assign":
                return self._assign(step, env, inside)
            case "function":
                return self._function(step, env, inside)
            case "import":
                return self._import(step, env)
            case "return" | "raise":
                return self._end(step, env, inside)
            case "each":
                inner = dict(env)
                *bound, made = [self.run(part, inner, inside) for _, part in step.parts]
                return made
        if step.kind == "class":
            self._classes.append(step.name[0])
        found = [self.run(part, env, inside) for _, part in step.parts]
        if step.kind == "class":
            self._classes.pop()
            return _NONE
        return self._together(step, found, inside)

    def _together(self, step: Step, found: list[Values], inside: str) -> Iterable[Value]:
        every = [value for values in found for value in values]
        if step.kind == "test":
            return _NONE
        if step.kind == "xor":
            return self._mixed(every, step.line, inside)
        if step.kind == "sum":
            counted = [v for v in every if "item" in v.marks]
            return [*self._mixed(counted, step.line, inside)]
        if step.kind == "index":
            return _marked(found[0] if found else (), "item")
        if step.kind == "item":
            return _marked(every, "item")
        if step.kind == "slice":
            return _marked(found[0] if found else (), "part")
        if step.kind in ("text", "plus"):
            told = "auth" if any(map(is_authenticating_text, step.name)) else "text"
            return [*_marked((v for v in every if v.kind != "whole" or step.kind == "text"), told)]
        return every

    def _mixed(self, values: Iterable[Value], line: int, inside: str) -> list[Value]:
        values = [value for value in values if value.kind != "whole"]
        self._tell(values, "mixed", "arithmetic", line, inside)
        return [*_marked(values, "mixed")]

    # What is read.

    def _name(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        path = step.name
        if step.parts:
            self.run(step.parts[0][1], env, inside)
            return _source(path, step.line) if len(path) > 1 else _NONE
        if (known := env.get(path)) is not None:
            told = any(value.kind != "given" for value in known)
            return [*known, *(() if told else self._whole(path, step.line))]
        if made := _source(path, step.line):
            return made
        if path[-1] in ("__dict__", "value", "stdout") and (owner := env.get(path[:-1])):
            return _marked(owner, "wholly") if path[-1] == "__dict__" else owner
        if path[-1] == "__dict__":
            return _marked(self._whole(path[:-1], step.line), "wholly")
        return self._whole(path, step.line)

    def _whole(self, path: tuple[str, ...], line: int) -> Iterator[Value]:
        said = ".".join(path)
        if said in ("process.env", "os.environ") or (said == "environ" and self.modules.get(said) == "os.environ"):
            yield Value(said, "whole", line, "environment")
        elif path and is_settings(path[-1]):
            origin = self.modules.get(path[0], "") if len(path) == 1 else ""
            yield Value(said, "whole", line, origin, frozenset({"pool"} if self._is_connection() else ()))

    def _is_connection(self) -> bool:
        words = snake(self._classes[-1]).split("_") if self._classes else []
        return not {"pool", "connection", "database"}.isdisjoint(words)

    # What is made of it.

    def _map(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        made: list[Value] = []
        for key, part in step.parts:
            self._tests += key == "test"
            values = self.run(part, env, inside)
            self._tests -= key == "test"
            if key in ("headers", "Headers") and part.kind == "map":
                for name, one in part.parts:
                    self._header(name, self.run(one, env, inside), one.line, inside)
            if self.bundler and not self._tests and key in _PUBLIC_KEYS:
                for name, one in part.parts if part.kind == "map" else [("", part)]:
                    self._tell(self.run(one, env, inside), "bundle", f"{key}.{name}".rstrip("."), one.line, inside)
            if key == SPREAD:
                made += values
            elif part.kind == "map" and any(k == SPREAD for k, _ in part.parts):
                made += _marked(values, "wholly", "named")
            else:
                made += _keyed(key, values)
        return made

    def _list(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        found = [self.run(part, env, inside) for _, part in step.parts]
        first = step.parts[0][1] if step.parts else step
        if len(found) == 2 and first.kind == "const" and first.name and is_header(first.name[0]):
            self._header(first.name[0], found[1], step.line, inside)
            return _keyed(first.name[0], found[1])
        return [value for values in found for value in values]

    def _assign(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        target, value = step.parts[0][1], step.parts[1][1]
        made = self.run(value, env, inside)
        if step.name[0] == "^=":
            made |= frozenset(self._mixed([*made, *self.run(target, env, inside)], step.line, inside))
        self._bind(target, value, made, env, inside, more=step.name[0] not in ("=", ":="))
        return made

    def _bind(
        self, target: Step, value: Step, made: Values, env: dict[tuple[str, ...], Values], inside: str, *, more: bool
    ) -> None:
        path = target.name
        if target.kind in ("list", "map"):
            for key, part in target.parts:
                inner = made
                if target.kind == "map" and key and value.kind == "name" and part.kind == "name":
                    inner = frozenset(_source((*value.name, key), part.line)) if key != SPREAD else made
                self._bind(part, Step("const", part.line), inner, env, inside, more=more)
            return
        if target.kind in ("index", "slice") and target.parts:
            self._bind(target.parts[0][1], value, made, env, inside, more=True)
            return
        if target.kind != "name" or not path:
            for _, part in target.parts:
                self._bind(part, value, made, env, inside, more=True)
            return
        if not inside and is_secret(path[-1]):
            self.held.add(path[-1])
        if value.kind == "map" and is_settings(path[-1]):
            self.held.update(key for key, _ in value.parts if is_secret(key))
        if target.parts:  # moves[i].Note = ...
            self._bind(_root(target.parts[0][1]), value, frozenset(_keyed(path[-1], made)), env, inside, more=True)
            return
        if len(path) > 1:
            if "headers" in (snake(one) for one in path[:-1]):
                self._header(path[-1], made, target.line, inside)
            self.shared[path] = made | self.shared.get(path, _NONE)
        if is_settings(path[-1]) and value.kind not in ("map", "const") and not made:
            return
        env[path] = made | (env.get(path, _NONE) if more else _NONE)

    def _import(self, step: Step, env: dict[tuple[str, ...], Values]) -> Iterable[Value]:
        local, module, name = step.name
        last = [one for one in module.replace("/", ".").removesuffix(".js").removesuffix(".ts").split(".") if one]
        self.modules[local] = f"{module}.{name}".strip() if name and not module.startswith(("./", "../", "@")) else module
        settings = any(holds_settings(one) for one in last[-1:])
        if settings and name.isupper() and is_secret(name):
            env[(local,)] = frozenset({Value(name, "one", step.line)})
        return _NONE

    # Where it goes.

    def _call(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        path = step.name
        if looked := self._lookup(step):
            return looked
        given = [(key, part, self._given(part, step, env, inside)) for key, part in step.parts if key != RECEIVER]
        receiver = self._receiver(step, env, inside)
        self._sinks(step, given, inside)
        if path and len(path) > 1 and snake(path[-1]) in MUTATORS and path[:-1] in env:
            env[path[:-1]] |= frozenset(value for _, _, values in given for value in values)
        own = self.functions.get(path[-1]) if path and (len(path) == 1 or path[0] in ("self", "this", "cls")) else None
        if own is not None:
            return self._own(path[-1], own, [(key, values) for key, _, values in given], inside)
        mark = handed_on(path)
        if mark is None:
            return _NONE
        every = [*receiver, *(value for _, _, values in given for value in values)]
        return _marked(every, mark) if mark else every

    def _given(self, part: Step, call: Step, env: dict[tuple[str, ...], Values], inside: str) -> Values:
        if part.kind != "function":
            return self.run(part, env, inside)
        over = [s for key, s in call.parts if s is not part]
        inner = dict(env)
        if makes_each(call.name):
            held = [*self._receiver(call, env, inside), *(v for one in over for v in self.run(one, env, inside))]
            for name in part.name[1:]:
                inner[(name,)] = frozenset(_marked(held, "item"))
        name = f"{inside}>{part.line}"
        known = self.functions.setdefault(name, _Summary())
        for _, one in part.parts:
            self.run(one, inner, name)
        if makes_each(call.name):
            return frozenset(known.returned)
        return _NONE

    def _receiver(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Values:
        for key, part in step.parts:
            if key == RECEIVER:
                return self.run(part, env, inside)
        return self.run(Step("name", step.line, step.name[:-1]), env, inside) if len(step.name) > 1 else _NONE

    def _lookup(self, step: Step) -> Iterable[Value]:
        """``os.environ.get("X")``, ``os.Getenv("X")``, ``config.get("x")``, ``loadEnv(mode, folder, "")``."""
        path, texts = step.name, [part for key, part in step.parts if key == ""]
        last = snake(path[-1]) if path else ""
        if last == "load_env" and len(texts) == 3 and texts[2].kind == "const" and texts[2].name == ("",):
            return [Value("the environment", "whole", step.line, "environment", frozenset({"wholly"}))]
        if (last == "environ" and path[:1] == ("os",)) or last == "get_dsn_parameters":
            return [Value(".".join(path), "whole", step.line, "environment", frozenset({"wholly"}))]
        if last not in _LOOKUPS:
            return ()
        at = next((part.name[0] for part in texts if part.kind == "const" and part.name), "")
        of = path[:-1] if path[:-1] else path if last in ("getenv", "env") else ()
        if last == "getattr" and texts and texts[0].kind == "name":
            of = texts[0].name
        return _source((*of, at), step.line) if at and of else ()

    def _sinks(self, step: Step, given: list[tuple[str, Step, Values]], inside: str) -> None:
        path = step.name
        first = given[0][1] if given else None
        said = ".".join(path)
        if len(given) == 2 and first is not None and first.kind == "const" and path and snake(path[-1]) in SETTERS:
            if first.name and is_header(first.name[0]):
                self._header(first.name[0], given[1][2], step.line, inside)
                return
        way = way_of(path, first.name if first is not None else ())
        for number, (key, part, values) in enumerate(given):
            if key in ("headers", "header") and part.kind == "map":
                continue
            if way is None:
                continue
            told = values
            if way == "sent" and number == 0 and part.kind in ("name", "text", "plus"):
                told = frozenset(v for v in values if {"mixed", "sealed"} & v.marks)
            told = frozenset(_keyed(key, told)) if key and key != SPREAD else told
            self._tell(told, way, said, step.line, inside)
        for key, part, _ in given:
            if key in ("headers", "header") and part.kind == "map":
                for name, one in part.parts:
                    self._header(name, self.run(one, {**self.shared}, inside), one.line, inside)

    def _header(self, name: str, values: Values, line: int, inside: str) -> None:
        if name and not authenticates(name):
            self._tell(values, "header", name, line, inside)

    def _end(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        made = [value for _, part in step.parts for value in self.run(part, env, inside)]
        if step.kind == "raise":
            self._tell(made, "error", "an error", step.line, inside)
        elif inside in self.functions:
            self.functions[inside].returned |= set(made[:_MOST])
            if inside in self.routes:
                self._tell(made, "answer", inside, step.line, inside)
        return _NONE

    def _function(self, step: Step, env: dict[tuple[str, ...], Values], inside: str) -> Iterable[Value]:
        name, *parameters = step.name
        name = name or f"{inside}>{step.line}"
        summary = self.functions.setdefault(name, _Summary())
        summary.parameters = tuple(parameters)
        inner = {**self.shared, **env}
        for one in parameters:
            inner[(one,)] = frozenset({Value(name, "given", step.line, one)})
            if is_settings(one):
                inner[(one,)] |= frozenset(self._whole((one,), step.line))
        for key, part in step.parts:
            if key == ROUTE:
                self.routes.add(name)
        for _, part in step.parts:
            self.run(part, inner, name)
        return _NONE

    def _own(self, name: str, own: _Summary, given: list[tuple[str, Values]], inside: str) -> Iterable[Value]:
        bound: dict[str, Values] = {}
        for number, (key, values) in enumerate(given):
            if key in own.parameters:
                bound[key] = values
            elif not key and number < len(own.parameters):
                bound[own.parameters[number]] = values
        for hit in list(own.hits):
            for value in bound.get(hit.origin, ()):
                self._tell([_more(value, hit.marks)], hit.way, hit.sink, hit.line, inside)
        made: list[Value] = []
        for value in list(own.returned)[:_MOST]:
            if value.kind == "given" and value.secret == name:
                made += (_more(one, value.marks) for one in bound.get(value.origin, ()))
            else:
                made.append(value)
        return made

    def _tell(self, values: Iterable[Value], way: Way, sink: str, line: int, inside: str) -> None:
        for value in values:
            if value.kind == "given":
                known = self.functions.get(value.secret)
                if known is not None and len(known.hits) < _USES:
                    known.hits.add(_Hit(value.origin, value.marks, way, sink, line))
            elif len(self.uses) < _USES:
                self.uses.add(
                    Use(
                        secret=value.secret, way=way, sink=sink[:80], function=inside, line=line, source=value.source,
                        marks=tuple(sorted(value.marks)), whole=value.kind == "whole", origin=value.origin,
                    )
                )  # fmt: skip


def _source(path: tuple[str, ...], line: int) -> list[Value]:
    """A secret that this path reads out of settings or the environment."""
    if len(path) < 2:
        return []
    last, before = path[-1], path[:-1]
    named = is_secret(last) or (snake(last) in ("url", "key", "password", "token") and is_secret(f"{path[-2]}_{last}"))
    held = any(map(holds_settings, before)) or snake(before[-1]) in _ENVIRONMENTS
    own = snake(last) == "secret_key" and snake(before[-1]) in ("app", "current_app", "application")
    return [Value(last, "one", line)] if (named and held) or own else []


def _root(step: Step) -> Step:
    while step.kind in ("index", "slice") and step.parts:
        step = step.parts[0][1]
    return step


def _more(value: Value, marks: Iterable[str]) -> Value:
    return value._replace(marks=value.marks | frozenset(marks))


def _marked(values: Iterable[Value], *marks: str) -> Iterator[Value]:
    return (_more(value, marks) for value in values)


def _keyed(key: str, values: Iterable[Value]) -> Iterator[Value]:
    return _marked(values, "auth" if authenticates(key) else "named") if key else iter(values)

"""A token, password or key is made with `random`, whose next numbers can be calculated from earlier
ones.

Mersenne Twister gives its whole state away after 624 numbers.

High where the secret lets somebody in (a password, a reset, a session), or is drawn from an alphabet.

Use `secrets.token_urlsafe()`, `secrets.choice()` or `random.SystemRandom`.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence

from gate.model.rule import Severity
from gate.prescreen.python_ast.call_sites import call_sites
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import says_secret, words_of
from gate.prescreen.python_ast.stored.statements import written
from gate.regex import regex

_DRAWS = (
    "random", "randint", "choice", "choices", "randrange", "sample", "getrandbits", "randbytes", "uniform",
    "shuffle", "integers", "bytes", "permutation",
)  # fmt: skip
_OWN = (
    "random.Random()",
    "numpy.random.RandomState()",
    "numpy.random.default_rng()",
    "numpy.random.Generator()",
)
"""Generators of a program's own: no less predictable, and a seed such as the time tells all of it."""
_CALLS = (
    *(f"{owner}.{draw}" for owner in _OWN for draw in _DRAWS),
    "random.random",
    "random.randint",
    "random.choice",
    "random.choices",
    "random.randrange",
    "random.sample",
    "random.getrandbits",
    "random.randbytes",
    "random.uniform",
    "random.shuffle",
    "numpy.random.randint",
    "numpy.random.choice",
    "numpy.random.bytes",
    "uuid.uuid1",
)

_OPENS = regex(
    r"pass(word|wd|phrase|code)|reset|session|auth|csrf|otp|secret|(api|access|private)_key|invit|verif",
    re.IGNORECASE,
)
"""Words of secrets that let somebody in: a token alone may be a part of a language."""
_SALTS = regex(r"salt|nonce", re.IGNORECASE)
"""What is no secret itself."""
_ALPHABETS = frozenset({"ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits"})


@rule(
    "py.weak-random",
    "Secret made with predictable numbers",
    severity="medium",
    confidence="medium",
    topic="crypto",
    cwe=(338, 330),
    why="Earlier outputs tell the next ones, so tokens can be guessed.",
    fix="Use the secrets module.",
)
def check(module: Module) -> Iterator[Hit]:
    """random.* whose result is named as a secret, or made in a function named so."""
    flow = Flow(module)
    for call, _ in module.calls(*_CALLS):
        names = [*_named(module, call)]
        function = module.function_of(call)
        owner = getattr(function, "name", "")
        if owner and says_secret(owner) and not owner.startswith("test"):
            names.append(owner)
        names += _kept_as(module, call)
        picked = [name for given in call.args for name in flow.trace(given).names]
        names += _told_around(module, flow, call, [*names, owner])
        if any(says_secret(name) for name in names) and not any("user_agent" in p for p in picked):
            drawn = any(name.rpartition(".")[2] in _ALPHABETS for name in picked)
            salt = not any(says_secret(n) and not _SALTS.search(words_of(n)) for n in names)
            drawn = drawn or (_from_letters(flow, call) and not salt)
            level = Severity.HIGH if drawn or any(_OPENS.search(words_of(name)) for name in names) else None
            yield Hit(node=call, message="A secret is made with predictable numbers.", severity=level)
    yield from _from_clock(module, flow)


_DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s")
_CLOCKS = frozenset({
    "time.time", "time.time_ns", "datetime.datetime.now", "datetime.datetime.utcnow", "time.monotonic",
    "datetime.datetime.today", "django.utils.timezone.now",
})  # fmt: skip
_UNKNOWN_TO_ALL = regex(r"secret|urandom|uuid4|token_|salt|nonce|key|SystemRandom|pepper|password")


def _from_clock(module: Module, flow: Flow) -> Iterator[Hit]:
    """``reset_token = sha256(f"{mail}{time.time()}")``: whoever knows when it was made, calculates it."""
    for call, _ in module.calls(*(f"hashlib.{name}" for name in _DIGESTS)):
        trace = flow.trace(call.args[0]) if call.args else None
        if trace is None or not trace.calls & _CLOCKS:
            continue
        if any(_UNKNOWN_TO_ALL.search(name) for name in (*trace.calls, *trace.names)):
            continue
        names = [*_named(module, call), *_kept_as(module, call)]
        owner = getattr(module.function_of(call), "name", "")
        names += [owner] if isinstance(module.statement_of(call), ast.Return) else []
        if any(says_secret(name) and _OPENS.search(words_of(name)) for name in names):
            message = "A secret is made of the time alone, which can be guessed."
            yield Hit(node=call, message=message, severity=Severity.HIGH)


_SHORT = regex(r"(?:^|_)(?:code|pin|key|link|ticket|serial|string|chars|value|result)s?(?:_|$)")
"""Names that say little alone: what is around says what they open."""
_LEAST = 10
"""Different letters and digits of an alphabet."""


def _told_around(module: Module, flow: Flow, call: ast.Call, names: Sequence[str]) -> Iterator[str]:
    """``code = "".join(rng.choice(ALPHABET) ...)`` in ``invites.py``: what is around says what it opens."""
    if not any(_SHORT.search(words_of(name).lower()) for name in names) or not _from_alphabet(
        module, flow, call
    ):
        return
    stem = posixpath.basename(module.path).removesuffix(".py")
    definitions = [up for up in module.above(call) if isinstance(up, ast.ClassDef | ast.FunctionDef)]
    for name in (stem, *(one.name for one in definitions)):
        if _OPENS.search(words_of(name)) and not name.startswith("test"):
            yield "secret_for_" + name


def _from_alphabet(module: Module, flow: Flow, call: ast.Call) -> bool:
    """Letters are drawn, or a number of many digits."""
    most = module.const(call.args[-1]) if call.args else None
    drawn = getattr(call.func, "attr", "")
    number = drawn in ("randint", "randrange", "integers", "getrandbits")
    return (number and isinstance(most, int) and most >= _MANY) or _from_letters(flow, call)


_MANY = 32
"""Bits, or the least number, of what is no throw of dice."""


def _from_letters(flow: Flow, call: ast.Call) -> bool:
    given = call.args[0] if call.args else None
    if given is None:
        return False
    text = flow.text_of(given)
    if text is not None:
        return len(set(text)) >= _LEAST and text.replace("-", "").replace("_", "").isalnum()
    return any(getattr(n, "attr", getattr(n, "id", "")) in _ALPHABETS for n in flow.trace(given).nodes)


def _kept_as(module: Module, call: ast.Call) -> Iterator[str]:
    """The names under which what it was drawn for is kept: columns, attributes, keywords, keys; also what the
    function around gives back, where that is kept in this file.
    """
    statement = module.statement_of(call)
    values: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        function = module.function_of(call)
        values = [
            n for n in module.all(ast.Name)
            if n.id in names and isinstance(n.ctx, ast.Load) and module.function_of(n) is function
        ]  # fmt: skip
    around = module.function_of(call)
    if isinstance(statement, ast.Return) or any(
        isinstance(module.parents.get(v), ast.Return) for v in values
    ):
        values += module.kept("call sites", call_sites).get(around, ()) if around is not None else ()
    for value in values[:_USES]:
        yield from _place_of(module, value)


def _place_of(module: Module, value: ast.AST) -> Iterator[str]:
    """``code`` in ``execute("... SET reset_token = ?", (code, mail))``, ``user.otp = code``."""
    up = module.parents.get(value)
    if isinstance(up, ast.keyword) and up.arg:
        yield up.arg
    elif isinstance(up, ast.Assign) and up.value is value:
        yield from (t.attr for t in up.targets if isinstance(t, ast.Attribute))
        yield from (module.text_of(t.slice) or "" for t in up.targets if isinstance(t, ast.Subscript))
    elif isinstance(up, ast.Dict):
        keys = (k for k, v in zip(up.keys, up.values, strict=True) if v is value and k is not None)
        yield from (module.text_of(key) or "" for key in keys)
    elif isinstance(up, ast.Tuple | ast.List) and value in up.elts:
        call = module.parents.get(up)
        text = module.text_of(call.args[0]) if isinstance(call, ast.Call) and call.args else None
        place = up.elts.index(value)
        yield from (one.column for one in written(text or "") if one.slot == place)


_USES = 20


def _named(module: Module, call: ast.AST) -> Iterator[str]:
    statement = module.statement_of(call)
    targets = [*getattr(statement, "targets", [])]
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets.append(statement.target)
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Attribute):
            yield target.attr
        elif isinstance(target, ast.Subscript):
            owner = target.value
            name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
            yield module.text_of(target.slice) or ""
            if name == "session":
                yield "session_id"
    for up in module.above(call):
        if isinstance(up, ast.keyword) and up.arg:
            yield up.arg
        if isinstance(up, ast.stmt):
            break

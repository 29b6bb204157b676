"""A token, password or key is made with `random`, whose next numbers can be calculated from earlier
ones.

Mersenne Twister gives its whole state away after 624 numbers.

High where the secret lets somebody in (a password, a reset, a session), or is drawn from an alphabet.

Use `secrets.token_urlsafe()`, `secrets.choice()` or `random.SystemRandom`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import says_secret, words_of

_CALLS = (
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

_OPENS = re.compile(
    r"pass(word|wd|phrase|code)|reset|session|auth|csrf|otp|secret|(api|access|private)_key|invit|verif",
    re.IGNORECASE,
)
"""Words of secrets that let somebody in: a token alone may be a part of a language."""
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
        picked = [name for given in call.args for name in flow.trace(given).names]
        if any(says_secret(name) for name in names) and not any("user_agent" in p for p in picked):
            drawn = any(name.rpartition(".")[2] in _ALPHABETS for name in picked)
            level = Severity.HIGH if drawn or any(_OPENS.search(words_of(name)) for name in names) else None
            yield Hit(node=call, message="A secret is made with predictable numbers.", severity=level)


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

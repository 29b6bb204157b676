"""A secret stands in the source.

Everybody who can read the code has it, for ever: it stays in the history.

High for passwords and secret, private or signing keys; keys of interfaces and tokens may be meant for
browsers.

Read it from the environment or a secret store, and change the one that was committed.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import words_of
from gate.regex import regex

_NAME = regex(
    r"(?:^|_)(?:api_?key|apikey|secret(?:_?key)?|access_?key|private_?key|auth_?token|access_?token|token|pass(?:word|wd)"
    r"|pwd|client_?secret|signing_?key|encryption_?key|jwt_?(?:secret|key)|db_?pass)$",
    re.IGNORECASE,
)
_KEYED = regex(r"(?:^|_)(?:secret_?key|jwt_?secret(?:_?key)?|signing_?key)$", re.IGNORECASE)
_PASSWORD = regex(r"^(?:\w+_)?(?:password|passwd|passw|pwd|pass|pw|passphrase)$", re.IGNORECASE)
_PLACEHOLDER = regex(
    r"(?i)^(x+|\*+|\.+|<.*>|\{.*\}|\$.*|%.*|none|null|true|false|test.*|example.*|dummy.*|fake.*|mock.*|sample.*)$"
)
_WORDY = regex(r"^[A-Za-z]+([ _.:/-][A-Za-z]+)*[ _.:/-]?$")
_OPENS = regex(
    r"(?:^|_)(?:secret(?:_?key)?|private_?key|pass(?:word|wd)|client_?secret|signing_?key|encryption_?key)$",
    re.IGNORECASE,
)
"""Names of what nobody else is to know; keys of interfaces and tokens may be made for browsers."""
_LOGINS = ("smtplib", "imaplib", "poplib", "ftplib", "nntplib")
_LIKELY = 3.3
_LEAST = 8


@rule(
    "py.hardcoded-secret",
    "Secret in the source",
    severity="medium",
    confidence="medium",
    topic="secret",
    cwe=(798, 259, 321),
    attack=("T1552.001",),
    why="Everybody who can read the code has the secret, also after it is deleted.",
    fix="Read it from the environment or a secret store; change the one that was committed.",
)
def check(module: Module) -> Iterator[Hit]:
    """Assignments, keywords and dictionary entries named as secrets with a text that looks like one."""
    for node, name, value in _named_values(module):
        text = value.value if isinstance(value, ast.Constant) else None
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        if not isinstance(text, str) or not _NAME.search(words_of(name)):
            continue
        if _KEYED.search(words_of(name)) and _app_key(module, node) and len(text) > 1:
            yield Hit(node=node, message="The application's secret key stands in the source.")
        elif _secret(text, name):
            level = Severity.HIGH if _OPENS.search(words_of(name)) else None
            yield Hit(node=node, message="A secret stands in the source.", severity=level)

    yield from _compared(module)
    for call in module.methods("login", "connect", "create_connection", "connect_async", "create_pool"):
        text = module.text_of(module.arg(call, None, "password", "passwd", "pass_"))
        if text is None and len(call.args) == 2 and module.imports_any(*_LOGINS):
            text = module.text_of(call.args[1])
        if text and len(text) >= 4 and " " not in text and not _PLACEHOLDER.match(text):
            yield Hit(node=call, message="A password stands in the source.")
    for call, _ in module.calls("jwt.encode", "jwt.decode", "jose.jwt.encode", "jose.jwt.decode"):
        key = module.arg(call, 1, "key")
        text = module.text_of(key)
        if text and len(text) > 1 and not text.startswith("-----BEGIN PUBLIC"):
            yield Hit(node=call, message="The key that signs tokens stands in the source.")


def _compared(module: Module) -> Iterator[Hit]:
    """``form["password"] == "admin123"``: the password stands in the source."""
    for test in module.all(ast.Compare):
        sides = [test.left, *test.comparators]
        if len(sides) != 2 or not isinstance(test.ops[0], ast.Eq | ast.NotEq):
            continue
        for one, other in (sides, sides[::-1]):
            text = other.value if isinstance(other, ast.Constant) else None
            named = bool(_PASSWORD.search(words_of(_label(module, one))))
            real = isinstance(text, str) and len(text) >= 4 and " " not in text
            if named and real and not _PLACEHOLDER.match(str(text)):
                yield Hit(node=test, message="A password stands in the source.")


def _label(module: Module, expr: ast.expr) -> str:
    match expr:
        case ast.Name():
            return expr.id
        case ast.Attribute():
            return expr.attr
        case ast.Subscript():
            return module.text_of(expr.slice) or ""
        case ast.Call(func=ast.Attribute(attr="get"), args=[first, *_]):
            return module.text_of(first) or ""
    return ""


def _named_values(module: Module) -> Iterator[tuple[ast.AST, str, ast.expr]]:
    for node in module.all(ast.Assign, ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
            if isinstance(target, ast.Subscript):
                name = module.text_of(target.slice) or ""
            if node.value is not None:
                yield node, name, node.value
    for call in module.all(ast.Call):
        for keyword in call.keywords:
            if keyword.arg:
                yield keyword.value, keyword.arg, keyword.value
    for table in module.all(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield value, key.value, value


def _app_key(module: Module, node: ast.AST) -> bool:
    """``app.secret_key = ...``, ``app.config["SECRET_KEY"] = ...``, Django's ``SECRET_KEY``."""
    if not isinstance(node, ast.Assign):
        return False
    target = node.targets[0]
    owner = target.value if isinstance(target, ast.Attribute | ast.Subscript) else None
    label = getattr(owner, "id", getattr(owner, "attr", ""))
    if label in ("app", "application", "config", "server"):
        return True
    return isinstance(target, ast.Name) and module.path.endswith("settings.py")


def _secret(text: str, name: str) -> bool:
    if len(text) < _LEAST or len(text) > 400 or _PLACEHOLDER.match(text) or " " in text.strip():
        return False
    if _WORDY.match(text) or text.startswith(("http://", "https://", "/", "./", "${", "arn:")):
        return False
    if words_of(name).lower().endswith(("pass", "word", "wd", "pwd")):
        kinds = sum(bool(re.search(p, text)) for p in (r"[a-z]", r"[A-Z]", r"\d", r"[^A-Za-z0-9]"))
        return kinds >= 3 and not re.match(r"^[A-Z_]+$", text)
    return _entropy(text) >= _LIKELY and bool(re.search(r"\d", text)) and bool(re.search(r"[A-Za-z]", text))


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)

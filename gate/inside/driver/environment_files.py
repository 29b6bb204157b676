"""What a project expects of its surroundings: variables (by its ``.env.example``, by name), a ``.env`` file,
folders for its data.

Used only where the code could not be loaded without: many projects work better with their defaults.
"""

from __future__ import annotations

import ast
import builtins
import io
import os
import re
from typing import Any

from . import argument_values, lazy_annotations, missing_folders, put_off_imports

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*\Z")
_MOST = 64 << 10
_NAME = re.compile(r"\b[A-Z][A-Z0-9]*_?[A-Z0-9_]{2,60}\b")
_ABOUT = re.compile(r"environ|\benv\b|not set|must be set|missing|required|not found|setting", re.IGNORECASE)
_WORDS = frozenset(
    {"DJANGO_SETTINGS_MODULE", "ERROR", "ENV", "NOT", "NONE", "TRUE", "FALSE", "URL", "API", "JSON", "HTTP"}
)
_MOST_NAMES = 20
_PRETENDED: set[str] = set()
_PATH = re.compile(r"['\"]?([^'\"\s]*\.env(?:\.\w+)?)['\"]?")


def complete(item: dict[str, Any], error: BaseException) -> bool:
    """Give the code what it was missing, as far as that can be. False where nothing more is known."""
    if (
        put_off_imports.put_off(error)
        or _pretend(error)
        or missing_folders.make(error)
        or lazy_annotations.allow(error)
    ):
        return True
    return _set(item.pop("env", None)) or _set_named(error)


def variables_for(item: dict[str, Any], message: str) -> bool:
    """Set what the example names, else what an error's message asks for. False where it asks for nothing."""
    if not (_ABOUT.search(message) or _NAME.search(message)):
        return False
    return _set(item.pop("env", None)) or _set_named(RuntimeError(message))


def _set(path: str | None) -> bool:
    """Set the variables that the example (or a ``conftest.py``) names and nobody set, but for addresses of
    services. False where there are none.
    """
    try:
        with open(path or "", encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST)
    except OSError:
        return False
    if path and path.endswith(".py"):
        pairs = _assigned(text)
    else:
        lines = [found for found in map(_LINE.match, text.splitlines()) if found]
        pairs = [(found[1], found[2].strip("'\"")) for found in lines]
    known = set(os.environ)
    for name, value in pairs:
        if "://" not in value or value.startswith(("http", "sqlite")):
            os.environ.setdefault(name, value or _value_for(name))
    return set(os.environ) != known


def _assigned(text: str) -> list[tuple[str, str]]:
    """What the top of a Python file sets: ``os.environ["NAME"] = "text"``, ``os.environ.setdefault(...)``."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[tuple[object, object]] = []
    for one in body:
        value = getattr(one, "value", None)
        target = one.targets[0] if isinstance(one, ast.Assign) else None
        call = value if isinstance(one, ast.Expr) and isinstance(value, ast.Call) else None
        if isinstance(target, ast.Subscript) and _is_environment(target.value):
            found.append((_constant(target.slice), _constant(value)))
        elif call is not None and isinstance(call.func, ast.Attribute) and _is_environment(call.func.value):
            named = call.func.attr == "setdefault" and len(call.args) == 2
            found += [(_constant(call.args[0]), _constant(call.args[1]))] if named else []
    return [(name, value) for name, value in found if isinstance(name, str) and isinstance(value, str)]


def _is_environment(node: ast.AST) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "environ"


def _constant(node: ast.AST | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _set_named(error: BaseException) -> bool:
    """Set the variables that the error says are missing, by name; each once."""
    names = [name for name in _missing(error) if name not in os.environ][:_MOST_NAMES]
    for name in names:
        os.environ[name] = _value_for(name)
    return bool(names)


def _value_for(name: str) -> str:
    """A value by the variable's name."""
    if name.endswith(("URL", "URI", "DSN", "DATABASE")) and ("DATABASE" in name or name.startswith("DB_")):
        return "sqlite://"
    if "CREDENTIAL" in name:
        return "gate:gate"
    value = argument_values.by_name(name.lower())
    return str(value) if isinstance(value, (str, int, float)) else argument_values.WORD


def _missing(error: BaseException) -> list[str]:
    """Names of variables in an error: of pydantic's settings, of a mapping's key, of a message about one."""
    told = getattr(error, "errors", None)
    if type(error).__name__ == "ValidationError" and callable(told):
        fields = [str(one["loc"][0]) for one in told() if one.get("type") == "missing" and one.get("loc")]
        return [field.upper() for field in fields]
    text = str(error)
    if isinstance(error, KeyError) or _ABOUT.search(text):
        return [name for name in _NAME.findall(text) if name not in _WORDS]
    return []


def _pretend(error: BaseException) -> bool:
    """Let a ``.env`` that was not found be an empty one, for this process."""
    if not isinstance(error, FileNotFoundError):
        return False
    named = error.filename if isinstance(error.filename, str) else ""
    found = _PATH.search(named or str(error))
    if found is None:
        return False
    missing = os.path.abspath(found[1])
    if missing in _PRETENDED:
        return False
    _PRETENDED.add(missing)
    is_file, opened = os.path.isfile, builtins.open

    def same(path: Any) -> bool:
        return isinstance(path, (str, os.PathLike)) and os.path.abspath(path) == missing

    def open_there(file: Any, mode: str = "r", *args: Any, **named: Any) -> Any:
        if mode in ("r", "rt", "rb") and same(file):
            return io.BytesIO() if "b" in mode else io.StringIO()
        return opened(file, mode, *args, **named)

    os.path.isfile = lambda path: same(path) or is_file(path)
    builtins.open = open_there
    return True

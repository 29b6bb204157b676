"""Puts the import of a package that cannot be loaded off to where something of it is used.

A module names a dozen packages at its top, and most of its functions need none of the one that is missing, or
that lacks a library of the system. So in a further try of its own such an import gives names (``Later``) that
may be handed around, and that raise what the import raised as soon as a function does more with them: as if
the import stood there. While a module or a class body is loaded, a call of one gives another (a decorator
gives back what it decorates), and a class with such a base can be made, but not instantiated.

Nothing is pretended: which lines used such a name is told, and those do not count as run.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

VERBS = frozenset({"import", "file", "test"})
"""Verbs whose items are tried with imports put off."""
PUT_OFF: dict[str, BaseException] = {}
"""Top-level packages, with what their import raised."""
_TREE = os.getcwd() + os.sep
"""Where the driver was started."""
ALLOWED: list[str] = []
"""Roots of the tree (folders for ``sys.path``), in a try in which imports are put off; else empty."""
_USED: set[tuple[str, int]] = set()
"""Files and lines that did something with a name of one."""
_MOST = 12
_ALIKE = ("Error", "Exception", "Warning", "Timeout")
_LOADS = "<module>"
_OPTIMIZED = 0x01  # inspect.CO_OPTIMIZED: of functions, not of modules and class bodies
_RAISING = (
    "bool", "iter", "next", "len", "contains", "enter", "exit", "aenter", "aexit", "await", "aiter", "anext",
    "int", "float", "index", "bytes", "fspath", "lt", "gt", "le", "ge", "add", "radd", "sub", "rsub", "mul",
    "rmul", "truediv", "rtruediv", "floordiv", "mod", "pow", "neg", "matmul", "and", "instancecheck",
    "subclasscheck", "setitem", "delitem", "format", "str",
)  # fmt: skip


def _loading(frame: Any) -> bool:
    """Is it a module or a class body that does this?"""
    return not frame.f_code.co_flags & _OPTIMIZED


def _noted(frame: Any) -> Any:
    _USED.add((frame.f_code.co_filename, frame.f_lineno))
    return frame


def _raise(path: str) -> NoReturn:
    """What the import of its package raised."""
    error = PUT_OFF[path.partition(".")[0]]
    if isinstance(error, ModuleNotFoundError):
        raise ModuleNotFoundError(str(error), name=error.name)
    try:
        again = type(error)(*error.args)
    except Exception:  # its class asks for more
        again = ImportError(str(error))
    raise again


class Later:
    """Something of a package whose import is put off. ``path``: its dotted name."""

    def __init__(self, path: str) -> None:
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        return _attribute(self._path, name, sys._getframe(1))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not _loading(_noted(sys._getframe(1))):
            _raise(self._path)
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorates else Later(self._path + "()")

    def __getitem__(self, key: object) -> Any:
        if not _loading(_noted(sys._getframe(1))):
            _raise(self._path)
        return Later(self._path + "[]")

    def __or__(self, other: object) -> Any:
        return _joined(self, sys._getframe(1))

    def __ror__(self, other: object) -> Any:
        return _joined(self, sys._getframe(1))

    def __setattr__(self, name: str, value: object) -> None:
        if not _loading(_noted(sys._getframe(1))):
            _raise(self._path)

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        _noted(sys._getframe(1))
        first = next(base for base in bases if isinstance(base, Later))
        return (_base(self._path),) if first is self else ()

    def __repr__(self) -> str:
        return f"<{self._path}, put off>"


def _joined(later: Later, frame: Any) -> Any:
    """``X | None`` in an annotation."""
    if not _loading(_noted(frame)):
        _raise(later._path)
    return later


def _raising(name: str) -> Callable[..., NoReturn]:
    def raising(self: Later, *_: object) -> NoReturn:
        _noted(sys._getframe(1))
        _raise(self._path)

    raising.__name__ = name
    return raising


for _name in _RAISING:
    setattr(Later, f"__{_name}__", _raising(f"__{_name}__"))


def _base(path: str) -> type:
    """A base class of which there are no instances."""

    def refuse(cls: type, *_: object, **__: object) -> NoReturn:
        _raise(path)

    return type(path.rpartition(".")[2].strip("()[]") or "Later", (_Base,), {"__new__": refuse})


class _Base:
    """Takes what a class is made with."""

    def __init_subclass__(cls, **_: object) -> None:
        return


def _attribute(path: str, name: str, frame: Any) -> Any:
    """An attribute. Exceptions are classes that nobody raises; special names do not exist."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    if frame.f_code.co_filename.startswith(_TREE) and not _loading(_noted(frame)):
        _raise(path)
    if name.endswith(_ALIKE):
        return _ERRORS.setdefault(f"{path}.{name}", type(name, (Exception,), {}))
    return Later(f"{path}.{name}")


_ERRORS: dict[str, type] = {}


class Finder:
    """Asked first, for the packages that are put off alone."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        """A spec that loads a module of names."""
        if name.partition(".")[0] not in PUT_OFF:
            return None
        loader: Any = self
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)

    def create_module(self, spec: object) -> Any:
        """A plain one."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing runs."""
        name = module.__name__
        vars(module)["__getattr__"] = lambda attribute: _attribute(name, attribute, sys._getframe(1))


def put_off(error: BaseException) -> bool:
    """Put the import off that this came from. False where it came from none of a package beside the tree, and
    in a try in which none is put off.
    """
    top = unloadable(error, ALLOWED) if ALLOWED else ""
    if not top or top in PUT_OFF or len(PUT_OFF) >= _MOST:
        return False
    _put_off(top, error)
    return True


def _put_off(top: str, error: BaseException) -> None:
    if not PUT_OFF:
        finder: Any = Finder()
        sys.meta_path.insert(0, finder)
    PUT_OFF[top] = error.with_traceback(None)
    for name in [name for name in sys.modules if str(name).partition(".")[0] == top]:
        del sys.modules[name]


def begin(names: list[str]) -> None:
    """Put off the imports of these packages from the start: pytest is not begun twice in one process."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            _put_off(name, ModuleNotFoundError(f"No module named {name!r}", name=name))
        else:
            _put_off(name, ImportError(f"{name} cannot be loaded here"))


def retried(work: Callable[[], Any]) -> Any:
    """What ``work`` gives, begun again for each import in it that can be put off."""
    while True:
        try:
            return work()
        except Exception as error:
            if not put_off(error):
                raise


def unloadable(error: BaseException | None, roots: list[str]) -> str:
    """The package, installed or not, whose import raised this; empty for all else.

    One that is missing is named by the error. Where that is put off already, and for what a package's own
    loading raised (a library of the system that is not there), it is the one that the tree's code imports.
    """
    if error is not None and (type(error).__name__ == "CollectError" or "importing plugin" in str(error)):
        error = error.__cause__ or error  # pytest's, around what the import of a test file or plugin raised
    if not isinstance(error, Exception):
        return ""
    if isinstance(error, ModuleNotFoundError) and type(error) is ModuleNotFoundError and error.name:
        top = error.name.partition(".")[0]
        if top not in PUT_OFF and not _is_in(top, roots):
            return "" if top in _library() or top in sys.modules else top
    return _begun(error, roots)


def _library() -> frozenset[str]:
    return frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))


def _is_in(top: str, roots: list[str]) -> bool:
    return any(os.path.exists(os.path.join(root, top + end)) for root in roots for end in ("", ".py"))


def _begun(error: BaseException, roots: list[str]) -> str:
    """The package that the tree's innermost code was importing: its module was running at the top."""
    found = ""
    from_tree = False
    step = error.__traceback__
    while step is not None:
        frame = step.tb_frame
        if not frame.f_code.co_filename.startswith("<frozen importlib"):
            loads = from_tree and frame.f_code.co_name == _LOADS
            from_tree = frame.f_code.co_filename.startswith(_TREE)
            if from_tree:
                found = ""
            elif loads:
                found = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        step = step.tb_next
    return "" if not found or found in _library() or _is_in(found, roots) or found == "pytest" else found


def told(names: dict[str, str]) -> dict[str, Any]:
    """What a report says of what was put off; empty where nothing was. ``names``: changed files' paths."""
    return {"off": sorted(PUT_OFF), "used": used(names)} if PUT_OFF else {}


def used(names: dict[str, str]) -> dict[str, list[int]]:
    """Lines of the statements that used what was put off, by path in the tree. ``names``: paths by file."""
    found: dict[str, list[int]] = {}
    for file in {file for file, _ in _USED if file in names}:
        lines = {line for other, line in _USED if other == file}
        found[names[file]] = sorted(_statements(file, lines))
    return found


def _statements(file: str, lines: set[int]) -> set[int]:
    """The lines of the innermost statements around these; of one with a body its head and decorators."""
    import ast

    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return lines
    out = set(lines)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
        span = set(range(first, max(last, node.lineno) + 1))
        if span & lines:
            out |= span
    return out


def without_used(part: dict[str, Any], acts: dict[str, Any]) -> dict[str, Any]:
    """What ran of an item with imports put off, less the lines that used what was put off, and the calls on
    them. ``acts``: of each path the places that were asked of (call_recorder.py).
    """
    used = {path: frozenset(lines) for path, lines in part.get("used", {}).items()}
    none: frozenset[int] = frozenset()
    acted = {}
    for path, numbers in part.get("acted", {}).items():
        places, lines = acts.get(path, ()), used.get(path, none)
        acted[path] = [
            n for n in numbers if n < len(places) and lines.isdisjoint(range(places[n][0], places[n][2] + 1))
        ]
    kept = {path: sorted({*ran} - used.get(path, none)) for path, ran in part.get("lines", {}).items()}
    return {"names": part["off"], "lines": kept, "acted": acted, "witnessed": part.get("witnessed", {})}

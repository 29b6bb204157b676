"""Runs one script by RestrictedPython's rules: restricted_run.py SCRIPT, or -c CODE. Inside only."""

# mypy: disable-error-code="attr-defined,unused-ignore"
from __future__ import annotations

import sys

sys.path.insert(0, "/opt/restricted")

from RestrictedPython import compile_restricted, limited_builtins, safe_builtins, utility_builtins
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import (
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safer_getattr,
)
from RestrictedPython.PrintCollector import PrintCollector


class Printer(PrintCollector):  # type: ignore[misc]
    """print() goes to stdout at once."""

    def write(self, text: str) -> None:
        sys.stdout.write(text)


def refuse(name: str, *_: object, **__: object) -> None:
    """No module at all can be imported."""
    raise ImportError(f"import of {name!r} is refused by the restricted sandbox")


def main(words: list[str]) -> int:
    """Exit 0, or 1 when the rules refuse it or it raises."""
    if words[0] == "-c":
        text, name = words[1], "<string>"
    else:
        name = words[0]
        with open(name, encoding="utf-8") as file:
            text = file.read()
    try:
        code = compile_restricted(text, name, "exec")
    except SyntaxError as error:
        sys.stderr.write(f"restricted: {error}\n")
        return 1
    builtins = {**safe_builtins, **limited_builtins, **utility_builtins, "__import__": refuse}
    scope = {
        "__builtins__": builtins,
        "__name__": "__main__",
        "__metaclass__": type,
        "_print_": Printer,
        "_getattr_": safer_getattr,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_write_": full_write_guard,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_inplacevar_": inplace,
    }
    try:
        exec(code, scope)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 1
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


def inplace(operator: str, left: object, right: object) -> object:
    """``a += b`` and its like, for what has the operation itself."""
    simple = {
        "+=": "__add__",
        "-=": "__sub__",
        "*=": "__mul__",
        "/=": "__truediv__",
        "//=": "__floordiv__",
        "%=": "__mod__",
    }
    if operator not in simple:
        raise NotImplementedError(f"{operator} is refused by the restricted sandbox")
    return getattr(left, simple[operator])(right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

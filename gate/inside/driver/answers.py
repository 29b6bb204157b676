"""What a call answered, in a word that is the same at base and at head: refused, true, false, a status.

For comparing a check with its old self; never a value, which may be long, secret or different each time.
"""

from __future__ import annotations

import inspect
import zlib
from typing import Any

MOST = 12
"""Answers kept of one name."""
_NAMES = 5
_EMPTY = ("", b"", "none", "null", "None")


def answer(value: Any) -> str:
    """``true``, ``false``, ``none``, ``status 200`` or ``value``."""
    if value is None or value is True or value is False:
        return str(value).lower()
    status = _status(value)
    return f"status {status}" if status else "value"


def refusal(error: BaseException) -> str:
    """``raised PermissionError OSError``: the exception's class and those it is made from, nearest first."""
    names = [each.__name__ for each in type(error).__mro__[:_NAMES] if each not in (object, BaseException)]
    status = _status(error)
    return f"raised {' '.join(names)}" + (f" status {status}" if status else "")


def _status(value: Any) -> int:
    for name in ("status_code", "code"):
        try:
            status = inspect.getattr_static(value, "__dict__", {}) and getattr(value, name, 0)
        except Exception:
            continue
        if type(status) is int and 100 <= status <= 599:
            return status
    return 0


def asked(number: int, args: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Names the question: by its values where they are plain (``v`` and a sum), else by its number.

    ``-`` at the end: a text among the values is empty or says that there is none, so it proves nothing.
    """
    values = (*args, *named.values())
    if all(_is_plain(value, 3) for value in values):
        empty = "-" if any(isinstance(one, str | bytes) and one in _EMPTY for one in values) else ""
        return f"v{zlib.crc32(repr((args, sorted(named.items()))).encode('utf-8', 'replace')):08x}{empty}"
    return f"n{number}"


def _is_plain(value: Any, deep: int) -> bool:
    if type(value) in (list, tuple):
        return deep > 0 and all(_is_plain(each, deep - 1) for each in value)
    if type(value) is dict:
        return deep > 0 and all(_is_plain(each, deep - 1) for pair in value.items() for each in pair)
    return value is None or type(value) in (str, int, float, bool, bytes)


def signature(target: Any) -> str:
    """How it is called: answers to other questions are not compared."""
    try:
        return str(inspect.signature(target))[:300]
    except (TypeError, ValueError):
        return ""

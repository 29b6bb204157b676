"""Which environment variables the code asks for: by this the host knows whether it can have read a secret.

``os.environ`` keeps its type and its methods; what lies below it tells each name whose value is asked for.
Nothing else of an interpreter asks there: other ways to the variables (a child, /proc, native code) are
seen from outside. Standard library code that goes through all of them for names of its own is not counted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from . import installed_packages

ASKED: dict[str, None] = {}
"""Names whose values were asked for, in order."""
ABSENT: dict[str, None] = {}
"""Names that the project's own code asked for and that there were none of, in order."""
FORKED: list[bool] = []
"""Not empty where the process was forked: what the other one asks is told by nobody."""
_MOST = 400
_THROUGH = ("/os.py", "/_collections_abc.py", "/collections/abc.py")
_ITS_OWN = ("/unittest/mock.py", "/urllib/request.py")
"""``mock.patch.dict`` puts everything back as it was; the other looks for proxies by their names."""


class _Asked(MutableMapping[bytes, bytes]):
    """The variables below ``os.environ``, which tells what is asked of them."""

    def __init__(self, known: dict[bytes, bytes]) -> None:
        values = dict(known)
        here = os.path.dirname(os.path.abspath(__file__)) + os.sep
        library = os.path.dirname(os.__file__)

        def value(name: bytes) -> bytes:
            if name not in values:
                if len(ABSENT) < _MOST and _is_the_projects(here, library):
                    ABSENT.setdefault(os.fsdecode(name))
                raise KeyError(name)
            found = values[name]
            if len(ASKED) < _MOST and not _is_known(here, library):
                ASKED.setdefault(os.fsdecode(name))
            return found

        def names() -> list[bytes]:
            return list(values)

        self._value: Callable[[bytes], bytes] = value
        self._put: Callable[[bytes, bytes], None] = values.__setitem__
        self._drop: Callable[[bytes], None] = values.__delitem__
        self._names: Callable[[], list[bytes]] = names

    def __getitem__(self, name: bytes) -> bytes:
        return self._value(name)

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self._put(name, value)

    def __delitem__(self, name: bytes) -> None:
        self._drop(name)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __deepcopy__(self, _: object) -> dict[bytes, bytes]:
        return dict(self)


def _is_known(here: str, library: str) -> bool:
    """Is it the driver, or a part of the standard library that looks for names of its own?"""
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name != __file__ and not (name.startswith(library) and name[len(library) :] in _THROUGH):
            if name.startswith("<frozen "):
                frame = frame.f_back
                continue
            return name.startswith(here) or (name.startswith(library) and name[len(library) :] in _ITS_OWN)
        frame = frame.f_back
    return False


def _is_the_projects(here: str, library: str) -> bool:
    """Is it code of the tree that asks, and no library?"""
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        passed = name.startswith(library) and name[len(library) :] in _THROUGH
        if name != __file__ and not passed and not name.startswith("<frozen "):
            return not (name.startswith(here) or installed_packages.holds(name))
        frame = frame.f_back
    return False


def record() -> None:
    """From now on in this process."""
    environ: Any = os.environ
    known = environ._data
    if type(known) is not dict:
        return
    asked = _Asked(known)
    environ._data = asked
    if hasattr(os, "environb"):
        os.environb._data = asked  # type: ignore[attr-defined]
    os.register_at_fork(before=lambda: FORKED.append(True) if not FORKED else None)


def told() -> dict[str, Any]:
    """For the report."""
    return {
        "asked": sorted(ASKED)[:_MOST],
        "absent": sorted(ABSENT)[:_MOST],
        "more": len(ASKED) >= _MOST or bool(FORKED),
    }

"""Where a program's settings are defined: the files of head that a name of them may come from. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.secret_uses.names import snake

_STEMS: Final = frozenset({
    "settings", "config", "configuration", "conf", "env", "environment", "cfg", "app_config", "base",
})  # fmt: skip
_ENDINGS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".go")
_MOST: Final = 12


def settings_files(paths: Sequence[str], known: Collection[str] = ()) -> list[str]:
    """Files that are named as those which hold settings, the nearest to the root first."""
    found = [path for path in paths if path.endswith(_ENDINGS) and _is_named(path) and path not in known]
    return sorted(found, key=lambda path: (path.count("/"), path))[:_MOST]


def _is_named(path: str) -> bool:
    at = PurePosixPath(path)
    stem = snake(at.name.partition(".")[0])
    return stem in _STEMS - {"base"} or bool({"settings", "config"} & {*at.parts[:-1]} and stem in _STEMS)


def module_files(path: str, origin: str, paths: Collection[str]) -> list[str]:
    """Files that ``origin``, as imported in ``path``, may be; none where it is a package of others."""
    if path.endswith(".py"):
        return _python_files(path, origin, paths)
    if not origin.startswith("."):
        origin = origin.replace("@/", "").replace("~/", "")
        ends = [f"/{origin}", f"/{origin}/index"]
        return [p for p in paths if p.endswith(_ENDINGS) and f"/{_stem(p)}".endswith(tuple(ends))][:_MOST]
    at = posixpath.normpath(posixpath.join(posixpath.dirname(path), origin))
    stems = {_stem(at), at, f"{at}/index"}
    return [p for p in paths if p.endswith(_ENDINGS) and _stem(p) in stems][:_MOST]


def _python_files(path: str, origin: str, paths: Collection[str]) -> list[str]:
    dots = len(origin) - len(origin.lstrip("."))
    words = [word for word in origin.split(".") if word]
    if dots:
        words = [*PurePosixPath(path).parts[:-dots], *words]
    found: list[str] = []
    for length in (len(words), len(words) - 1):  # the last word may be a name within the module
        at = "/".join(words[:length])
        ends = (f"/{at}.py", f"/{at}/__init__.py", f"/{at}/base.py")
        found += [p for p in paths if length > 0 and f"/{p}".endswith(ends)]
        if found:
            break
    return found[:_MOST]


def _stem(path: str) -> str:
    at = PurePosixPath(path)
    return str(at.with_suffix("")) if at.suffix in _ENDINGS else path

"""Which imports for an effect a package's own words let bundlers leave out. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from gate.builds.effects import Module
from gate.languages.path_roles import is_for_show
from gate.regex import regex

_ENDINGS: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_ASIDE: Final = regex(
    r"(?:^|/)(?:node_modules|dist|build|lib-esm|esm|cjs|umd|vendor|third_party|coverage|\.storybook|cypress|scripts|stories)/"
    r"|\.(?:config|stories|story|setup|min|d)\.\w+$|(?:^|/)\.[^/]+$"
)


def is_module(path: str) -> bool:
    """Is it a module of the product in JavaScript or TypeScript, as it is written?"""
    return path.endswith(_ENDINGS) and not _ASIDE.search(path) and not is_for_show(path)


def side_effects(manifest: bytes | None) -> list[str] | None:
    """Modules with effects as ``package.json`` names them; None: all, or not said."""
    try:
        said = msgspec.json.decode(manifest or b"{}")
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    value = said.get("sideEffects") if isinstance(said, dict) else None
    if value is False:
        return []
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else None


def left_out(
    folder: str, keeps: list[str], modules: Mapping[str, Module], paths: Iterable[str]
) -> Iterator[tuple[str, int, str]]:
    """Each import for its effect alone that a bundler leaves out: importing module, line, module.

    ``folder``: of the package, with a slash at its end or empty. A module from which somebody takes a name
    stays in the bundle.
    """
    known = {*paths}
    used = {at for path, one in modules.items() for said in one.named if (at := _resolved(path, said, known))}
    for path, one in modules.items():
        for said, line in one.alone:
            target = _resolved(path, said, known)
            inside = target.startswith(folder) and is_module(target)
            if inside and target not in used and not _is_kept(target[len(folder) :], keeps):
                yield path, line, target


def _resolved(path: str, said: str, known: set[str]) -> str:
    """The file of the tree that a relative import means; empty where there is none."""
    if not said.startswith("."):
        return ""
    plain = posixpath.normpath(posixpath.join(posixpath.dirname(path), said))
    stem = plain.rpartition(".")[0] if plain.endswith((".js", ".mjs", ".cjs", ".jsx")) else plain
    tried = [plain, *(f"{stem}{end}" for end in _ENDINGS), *(f"{plain}/index{end}" for end in _ENDINGS)]
    return next((one for one in tried if one in known), "")


def _is_kept(path: str, keeps: list[str]) -> bool:
    """As webpack reads the list: a pattern without a slash fits in every folder."""
    for one in keeps:
        pattern = one.removeprefix("./")
        plain = pattern.replace("**/", "*")
        if fnmatchcase(path, plain) or ("/" not in pattern and fnmatchcase(path.rpartition("/")[2], pattern)):
            return True
        # what is built from the module: ``dist/harden.js`` for ``src/harden.ts``
        if path.rpartition("/")[2].partition(".")[0] == pattern.rpartition("/")[2].partition(".")[0]:
            return True
    return False

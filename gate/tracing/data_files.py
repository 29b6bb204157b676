"""Which files of a tree hold data, not programs: what a wiper or ransomware is after."""

from __future__ import annotations

import posixpath
from collections.abc import Collection
from typing import Final

from gate.regex import regex

_PROGRAM: Final = regex(
    r"(?:.*\.)?(?:makefile|gnumakefile|dockerfile|containerfile|rakefile|gemfile|justfile)"
    r"|.*\.(?:py[ixcdo]?|pxd|ipynb|(?:ba|z|k|fi)?sh|bat|cmd|ps1|[cm]?[jt]s|[jt]sx|vue|svelte|c|h|cc|cpp|cxx|hpp|hh"
    r"|mm|cs|fs|vb|go|rs|java|kts?|scala|groovy|gradle|swift|rb|rake|gemspec|p[lm]|php|lua|jl|exs?|erl|hs|mli?"
    r"|clj|el|lisp|dart|zig|nim|tf|mk|mak|cmake|proto|css|s[ac]ss|less)"
)


def is_data(path: str) -> bool:
    """True for a file that by its name is no program's text. Total: any text gives an answer."""
    return _PROGRAM.fullmatch(posixpath.basename(path).lower().replace("\n", " ")) is None


def data_files(paths: Collection[str]) -> int:
    """How many of them hold data."""
    return sum(map(is_data, paths))

"""Code in languages that no probe runs: named, so that nobody takes silence for a look."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from gate.model.change import ChangedFile, Tree
from gate.regex import regex

_LANGUAGES: Final = frozenset((
    "awk", "batch", "c", "class", "cpp", "csharp", "dockerfile", "elf", "go", "groovy", "java", "julia",
    "kotlin", "lua", "macho", "makefile", "notebook", "pe", "perl", "php", "powershell", "pyc", "r",
    "ruby", "rust", "scala", "sql", "swift", "terraform", "wasm", "zip",
))  # fmt: skip
_SUFFIXES: Final = {
    "gradle": "gradle", "groovy": "groovy", "cmake": "cmake", "nix": "nix", "ex": "elixir",
    "exs": "elixir", "erl": "erlang", "escript": "erlang", "hs": "haskell", "ml": "ocaml",
    "fs": "fsharp", "fsx": "fsharp", "clj": "clojure", "cljs": "clojure", "dart": "dart", "zig": "zig",
    "nim": "nim", "nims": "nim", "cr": "crystal", "d": "d", "tcl": "tcl", "vim": "vim", "el": "elisp",
    "rkt": "racket", "scm": "scheme", "lisp": "lisp", "jl": "julia", "scala": "scala", "sbt": "scala",
    "vb": "basic", "vbs": "basic", "applescript": "applescript", "au3": "autoit", "ahk": "autohotkey",
    "m": "objective-c", "mm": "objective-c", "pas": "pascal", "f90": "fortran", "asm": "assembly",
    "s": "assembly", "sol": "solidity", "coffee": "coffeescript", "elm": "elm", "gd": "gdscript",
    "hcl": "hcl", "bicep": "bicep", "sed": "sed", "service": "systemd", "timer": "systemd",
    "desktop": "desktop entry", "plist": "plist", "reg": "registry",
}  # fmt: skip
"""Languages that nothing else of gate's looks at, by the end of a name."""
_NAMES: Final = {
    "cmakelists.txt": "cmake", "meson.build": "meson", "jenkinsfile": "groovy", "vagrantfile": "ruby",
    "tiltfile": "starlark", "earthfile": "earthly", "build.bazel": "starlark", "crontab": "cron",
}  # fmt: skip
_BIGGEST: Final = 1 << 20
_SCRIPT: Final = regex(
    rb"<script\b(?![^>]{0,200}\btype=[\"']?(?:application/(?:ld\+)?json|text/(?:template|html|x-template)))"
    rb"|\son\w{3,20}\s*=\s*[\"']|\bjavascript:",
    re.IGNORECASE,
)


def unrun_language(file: ChangedFile, head: Tree) -> str | None:
    """The language of a file that holds code which no probe runs; None where it holds none that is known."""
    name = PurePosixPath(file.path).name.lower()
    if file.language in _LANGUAGES:
        return file.language
    if file.language == "html" or name.endswith(".svg"):
        return "html" if file.size > _BIGGEST or _SCRIPT.search(head.read(file.path)) else None
    if file.language in (None, "text", "xml"):
        return _NAMES.get(name) or _SUFFIXES.get(name.rpartition(".")[2] if "." in name else "")
    return None

"""What a changed file's language is called: by what it holds first, then by its name.

Nothing is left out by name or folder (CF-5). Answers are lower-case words: ``python``,
``notebook``, ``pth``, ``javascript``, ``typescript``, ``shell``, ``dockerfile``, ``makefile``, ``yaml`` ...;
compiled things are ``elf``, ``pe``, ``macho``, ``wasm``, ``pyc``, ``zip``.
"""

from __future__ import annotations

import re
from typing import Final

from gate.languages.identity import INTERPRETERS, extension, file_name, is_dockerfile_variant, shebang_program
from gate.regex import regex

_MAGIC: Final = (
    (b"\x7fELF", "elf"),
    (b"MZ\x90\x00", "pe"),
    (b"\xcf\xfa\xed\xfe", "macho"),
    (b"\xca\xfe\xba\xbe", "class"),
    (b"\0asm", "wasm"),
    (b"PK\x03\x04", "zip"),
)
_SUFFIXES: Final = {
    suffix: language
    for language, suffixes in {
        "python": "py pyw pyi pyx pxd bzl wsgi",
        "notebook": "ipynb",
        "pth": "pth",
        "javascript": "js mjs cjs jsx",
        "typescript": "ts mts cts tsx",
        "shell": "sh bash zsh ksh fish envrc bashrc profile bats",
        "powershell": "ps1 psm1 psd1",
        "batch": "bat cmd",
        "yaml": "yaml yml",
        "json": "json jsonc json5 webmanifest",
        "toml": "toml",
        "ini": "ini cfg conf properties",
        "xml": "xml svg xsl",
        "html": "html htm xhtml vue svelte",
        "css": "css scss less",
        "markdown": "md markdown mdx",
        "text": "txt rst adoc",
        "sql": "sql",
        "c": "c h",
        "cpp": "cc cpp cxx hpp hh hxx",
        "csharp": "cs",
        "go": "go",
        "rust": "rs",
        "java": "java",
        "kotlin": "kt kts",
        "swift": "swift",
        "ruby": "rb rake gemspec",
        "perl": "pl pm",
        "php": "php phtml",
        "lua": "lua",
        "r": "r",
        "terraform": "tf tfvars",
        "makefile": "mk mak",
        "dockerfile": "dockerfile",
        "pyc": "pyc pyo",
    }.items()
    for suffix in suffixes.split()
}
_NAMES: Final = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "jenkinsfile": "groovy",
    "sconstruct": "python",
    "sconscript": "python",
    "wscript": "python",
    "snakefile": "python",
    "pipfile": "toml",
    "justfile": "makefile",
    ".bashrc": "shell",
    ".profile": "shell",
    ".bash_profile": "shell",
    ".zshrc": "shell",
    ".envrc": "shell",
    "pkgbuild": "shell",
}
_PYTHON_LINE: Final = regex(
    rb"^(?:import [A-Za-z_][\w.]*(?: as \w+)?|from [A-Za-z_.][\w.]* import [\w(*]"
    rb"|(?:async )?def \w+\(.*|class \w+[(:].*|exec\(|eval\(|__import__\()",
    re.MULTILINE,
)
_DATA: Final = frozenset({None, "text", "json", "ini", "markdown"})


def language_of(path: str, head: bytes) -> str | None:
    """The language of a file from its path and its first SNIFF bytes, or None when nothing tells."""
    for magic, language in _MAGIC:
        if head.startswith(magic):
            return language
    if len(head) > 16 and head[2:4] == b"\r\n" and b"\0" in head[4:16]:
        return "pyc"
    named = _by_name(path)
    return _by_shebang(head, named) or _unmasked(head, named)


def _by_name(path: str) -> str | None:
    known = _NAMES.get(file_name(path)) or _SUFFIXES.get(extension(path))
    return known or ("dockerfile" if is_dockerfile_variant(path) else None)


def _by_shebang(head: bytes, named: str | None) -> str | None:
    language = INTERPRETERS.get(shebang_program(head))
    # `#!/usr/bin/env node` over TypeScript: the name knows the dialect.
    return "typescript" if (language, named) == ("javascript", "typescript") else language


def _unmasked(head: bytes, named: str | None) -> str | None:
    """A data file, or one without a telling name, that plainly holds Python or a notebook."""
    if named not in _DATA:
        return named
    start = head.lstrip()[:1]
    if start == b"{":
        if named in (None, "json") and b'"nbformat"' in head and b'"cells"' in head:
            return "notebook"
        return named
    if named == "markdown":
        return named
    return "python" if len(_PYTHON_LINE.findall(head)) >= 2 else named

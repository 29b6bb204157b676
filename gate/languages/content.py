"""As what a scanner reads a file: by its content first, its name second; no name excludes a file (CF-5)."""

from __future__ import annotations

import re
from typing import Final

from gate.languages.identity import (
    INTERPRETERS,
    SNIFF,
    extension,
    file_name,
    is_dockerfile_variant,
    shebang_program,
)
from gate.regex import regex

_EXTENSIONS: Final = {
    **dict.fromkeys(("py", "pyw", "pyi", "pth", "wsgi", "bzl", "tac"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts", "tsx"), "typescript"),
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "bats"), "shell"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("json", "webmanifest"), "json"),
    **dict.fromkeys(("md", "rst", "txt", "adoc", "html", "htm", "xml", "svg", "css", "csv", "po"), "prose"),
    **dict.fromkeys(("toml", "cfg", "ini", "conf", "properties"), "config"),
    **dict.fromkeys(
        ("c", "h", "cc", "cpp", "hpp", "go", "rs", "java", "rb", "php", "cs", "lua", "pl"), "other"
    ),
    "dockerfile": "dockerfile",
    "ipynb": "notebook",
    "mk": "makefile",
}
_NAMES: Final = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "sconstruct": "python",
    "wscript": "python",
    "buck": "python",
    "package.json": "json",
    "requirements.txt": "requirements",
    "pkg-info": "prose",
}
_READABLE: Final = frozenset(("python", "shell", "javascript", "typescript"))
"""Languages of a ``#!`` line that a scanner has a reader for."""
# First bytes of what machines run or unpack; from the formats' own specifications and file(1)'s list.
_MAGIC: Final = (
    (b"\x7fELF", "ELF program or library"),
    (b"MZ", "Windows program or library"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xfe\xed\xfa\xcf", "Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "Mach-O or Java class file"),
    (b"\0asm", "WebAssembly module"),
    (b"!<arch>\n", "static library"),
    (b"\x80\x04\x95", "pickle"),
    (b"\x80\x05\x95", "pickle"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
)
_PYC: Final = regex(rb"^[\x00-\xff][\x0b-\x0f]\r\n")  # importlib's magic: a number, then \r\n
_CODE: Final = regex(
    rb"^(?:import[ \t]+[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+)*[ \t]*(?:[#;].*)?"
    rb"|from[ \t]+[\w.]+[ \t]+import[ \t]+"
    rb"(?:\(|\*|\w+(?:[ \t]*,[ \t]*\w+|[ \t]+as[ \t]+\w+)*)[ \t]*(?:[#;].*)?"
    rb"|(?:async[ \t]+)?def[ \t]+\w+\(.*|class[ \t]+\w+.*:[ \t]*)\r?$"
)


def reader_of(path: str, data: bytes) -> str | None:
    """``python``, ``javascript``, ``typescript``, ``shell``, ``dockerfile``, ``makefile``, ``yaml``,
    ``json``, ``notebook``, ``requirements``, ``config``, ``prose``, ``other``, ``binary``;
    None for unknown text.

    A shebang wins over the extension; text under a data or unknown name that begins as Python is Python.
    """
    program = shebang_program(data)
    language = "typescript" if program == "deno" else INTERPRETERS.get(program)
    if language in _READABLE:
        return language
    if binary_kind(data) is not None:
        return "binary"
    name = file_name(path)
    by_name = _by_name(path)
    if by_name is None and is_dockerfile_variant(path):
        by_name = "dockerfile"
    if re.search(r"requirements[^/]*\.(?:txt|in)$|(?:^|/)(?:constraints|pip)[^/]*\.txt$", path.lower()):
        by_name = "requirements"
    if by_name in (None, "json", "config") or (by_name == "prose" and name.endswith((".txt", ".csv"))):
        return "python" if begins_as_python(data) else by_name
    return by_name


def named_as_code(path: str, data: bytes) -> bool:
    """True when name or shebang say that the file is a program (so that broken syntax is worth a word)."""
    if named := _by_name(path):
        return named not in ("prose", "json", "config", "requirements")
    return data.startswith(b"#!")


def _by_name(path: str) -> str | None:
    return _NAMES.get(file_name(path)) or _EXTENSIONS.get(extension(path))


def begins_as_python(data: bytes) -> bool:
    """True when the first line that is no comment and no blank is an import, a ``def`` or a ``class``."""
    for line in data[:SNIFF].splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith(b"#"):
            return bool(_CODE.match(line))
    return False


def binary_kind(data: bytes) -> str | None:
    """What kind of binary the bytes are (for people), or None for text. UTF-16 and UTF-32 are text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    if _PYC.match(data[:4]) and data[4:8] in (b"\0\0\0\0", b"\1\0\0\0", b"\2\0\0\0", b"\3\0\0\0"):
        return "compiled Python"
    for magic, kind in _MAGIC:
        if data.startswith(magic) and (magic != b"MZ" or b"\0" in data[:512]):
            return kind
    head = data[:8000]
    if b"\0" in head and head.count(b"\0") * 50 > len(head):
        return "binary data"
    return None

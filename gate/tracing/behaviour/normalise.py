"""Names that stay the same from run to run: temp names, pids, hashes and addresses out of texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from gate.regex import regex
from gate.tracing.behaviour.dates import undated, undated_name

MOST_CHARACTERS: Final = 200
"""Characters of a command's shape."""
_WORD: Final = 80
_WORDS: Final = 12

_HEX = r"(?<![0-9a-zA-Z])(?:0[xX])?[0-9a-fA-F]{8,}(?![0-9a-zA-Z])"
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# tempfile: tmp + 8 of [a-z0-9_]; mktemp: tmp.XXXXXXXXXX; pytest-of-user/pytest-0; multiprocessing: pymp-
_TEMP = (
    r"(?:tmp\.?[A-Za-z0-9_]{6,10}|pymp-[a-z0-9_]{8}|psm_[0-9a-f]+|sem\.\S+|mp-[a-z0-9_]{8}|pytest-\d+"
    r"|pytest-of-[^/\s]+|pip-[a-z-]+-[a-z0-9_]{8}|build-env-[a-z0-9_]{8})(?![A-Za-z0-9])"
)
_CHANCE = regex(f"(?:{_TEMP}|{_UUID}|{_HEX}|\\d{{3,}})+")
_CHANCE_IN_TEXT = regex(f"{_TEMP}|{_UUID}|{_HEX}|(?<![\\d.:])\\d{{4,}}(?![\\d.])")
_PATHS = regex(r"(?:/tmp|/var/tmp|/dev/shm|/work/cache)/[^\s'\":;,)]*")


@lru_cache(maxsize=50_000)
def name_shape(name: str) -> str:
    """One component of a path: ``tmpab12cd34`` → ``*``, ``cache-9f86d081884c.bin`` → ``cache-*.bin``."""
    if (name.isalpha() and len(name) < 24) or name.startswith("id_ed25519"):
        return name
    return _CHANCE.sub("*", undated_name(name))


_IDENTIFIER = regex(
    r"(?=[A-Za-z0-9_-]{6,}\Z)(?![A-Za-z]+[-_]?\d{1,3}\Z)(?:(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9_-]+|"
    r"(?=.{16})(?=.*[a-z][A-Z].*[a-z][A-Z])[A-Za-z_-]+)"
)


def address_shape(part: str) -> str:
    """One part of an address's path: an account's or a token's name (``B09XYZ123``) as ``*``, too.

    ``v2``, ``oauth2`` and words with a short number stay: these are names that people gave.
    """
    return "*" if _IDENTIFIER.fullmatch(part) else name_shape(part)


def text_shape(text: str) -> str:
    """A word of a command line, with temp paths, hashes and numbers of three digits and more as ``*``."""
    text = text.replace("/work/tree", "tree:").replace("/work/home", "~")
    text = _PATHS.sub("/tmp/*", text)  # noqa: S108  # a name to show, no file
    return _CHANCE_IN_TEXT.sub("*", undated(text))


def command_shape(program: str, argv: Sequence[str], argc: int = 0) -> str:
    """A command as one line of MOST_CHARACTERS at most: the program's stable name, then its words."""
    words = [program, *(_word(text_shape(word)) for word in argv[1 : _WORDS + 1])]
    if max(len(argv), argc) > _WORDS + 1:
        words.append("…")
    line = " ".join(words)
    return line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 1] + "…"


def _word(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) > _WORD:
        flat = flat[: _WORD - 1] + "…"
    return f"'{flat}'" if " " in flat or not flat else flat


_PROGRAMS: Final = {
    "dash": "sh",
    "ash": "sh",
    "busybox": "sh",
    "ld-linux-x86-64.so.2": "ld.so",
    "nodejs": "node",
}
_VERSION = regex(r"(?<=[a-z])[-.]?\d+(?:\.\d+)*(?:t|d)?\Z")


@lru_cache(maxsize=10_000)
def program_name(path: str) -> str:
    """The name people know a program by: ``/usr/bin/python3.12`` → ``python``, ``dash`` → ``sh``."""
    base = path.rstrip("/").rsplit("/", 1)[-1].removesuffix(" (deleted)") or "?"
    if path.startswith("/memfd:"):
        return "memfd"
    base = _PROGRAMS.get(base, base)
    if base.startswith(("python", "pypy", "perl", "ruby", "php", "lua", "bash", "gcc", "clang")):
        base = _VERSION.sub("", base)
    return name_shape(base)[:60]

"""Files that one command saves from the network and a later one runs, or makes executable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gate.commands.addresses import Place, addresses, filled_in, worst
from gate.commands.interpreters import INTERPRETER
from gate.commands.reading import Line, bare, statements
from gate.commands.vocabulary import FETCHES, Fetched, How

_SAVED: Final = re.compile(
    r"(?:\s-OutFile\s+|\s-LocalPath\s+|\s-[a-zA-Z]*[oO]\s*|\s--output(?:-document)?[\s=]|(?<![\d>&])>\s*)"
    r"([\w./~${}+-]{1,300})",
    re.IGNORECASE,
)
_OWN_NAME: Final = re.compile(
    r"\s-[a-zA-Z]*O[a-zA-Z]*(?=\s)|--remote-name|\bwget2?\b|\bADD\b|\baria2c\b|\blwp-download\b",
    re.IGNORECASE,
)
_ADDED: Final = re.compile(r"\bADD\s+\S[^\n]*\s(\S+)\s*$", re.IGNORECASE)
_CHECKED: Final = re.compile(
    r"\b(?:sha\d+sum|shasum|md5sum|b2sum)\b[^\n]{0,400}(?:\s-\w*c\b|--check)|\bgpg2?\b[^\n]{0,200}--verify"
    r"|\bcosign\s+verify|--checksum=sha256:|\bminisign\s+-V|\bGet-FileHash\b",
    re.IGNORECASE,
)
SUM: Final = re.compile(r"\b(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128})\b")
_BEFORE: Final = r"RUN|CMD|ENTRYPOINT|sudo|exec|env|then|do|run:|cmd:|script:|\w+\.run|-E|-"
_WORD: Final = re.compile(r"[^\s;|&)>]+|[;|&)>]")
_RUNNER: Final = re.compile(rf"\b(?:{INTERPRETER}|source|exec)$")
_TEXT_FOLLOWS: Final = re.compile(r"-[cm]\b")
_CHMOD: Final = re.compile(r"\bchmod$")
_EXECUTABLE: Final = re.compile(r"\S*x|[0-7]*[1357][0-7]{0,2}")
_FIRST: Final = re.compile(
    rf"\W{{0,8}}(?:(?:{_BEFORE})\s+|\w+=\S*\s+)*(?=\.?/|~/|\$)([^\s;|&)>]+)(?=[\s;|&)>]|$)"
)


@dataclass(slots=True)
class SavedFile:
    """A file that a command saved."""

    name: str
    place: Place
    address: str
    line: int
    checked: bool
    ran: bool = False


def by_file(
    line: Line, values: Mapping[str, str], files: dict[str, SavedFile], *, signed: bool
) -> Iterator[Fetched]:
    """Saved by one command, run (or made executable) by a later one; ``files``: what was saved, by name."""
    readings = dict.fromkeys((tuple(statements(line.text)), tuple(statements(line.text, within=True))))
    for statement, mark in (one for reading in readings for one in reading):
        if files:
            plain = bare(statement)
            check = _CHECKED.search(statement)
            # A check whose failure is passed over, or whose sums came along with the file, is none.
            if check and mark != "||" and (signed or not re.search(r"sum", check[0], re.IGNORECASE)):
                for file in files.values():
                    file.checked = True
            used = _uses(plain)
            for file in (files[name] for name in sorted((used.run | used.made) & files.keys())):
                if not file.ran:
                    file.ran = file.name in used.run
                    how: How = "run" if file.ran else "made executable"
                    yield Fetched(how, file.place, file.address, file.line, line.last, file.checked)
        fetch = FETCHES.search(statement)
        if fetch:
            given = bare(statement[fetch.start() :])
            name = _saved_as(given)
            if name:
                place, address = worst(filled_in(given, values))
                checked = "--checksum=sha" in given
                _keep(files, SavedFile(name, place, address, line.first, checked))


def _keep(files: dict[str, SavedFile], file: SavedFile) -> None:
    """By name; of two that may be run, as in the arms of an ``if``, the worse."""
    old = files.get(file.name)
    if old is None or old.ran or old.checked or file.place >= old.place:
        files[file.name] = file


def _saved_as(command: str) -> str:
    added = _ADDED.search(command)
    if added:
        return _part(added[1]) or _last_part(command)
    for name in _SAVED.findall(command):
        if name.lower() not in ("http", "https", "ftp", "-", "/dev/null", "/dev/stdout"):
            return _part(name)
    return _last_part(command) if _OWN_NAME.search(command) else ""


def _part(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1] if not path.endswith("/") else ""


def _last_part(command: str) -> str:
    """What a file is called that gets its name from its address."""
    for address in addresses(command):
        host, _, path = (
            address.partition("://")[2].partition("/") if "://" in address else address.partition("/")
        )
        if host and path:
            return _part(re.split(r"[?#]", path)[0])
    return ""


@dataclass(frozen=True, slots=True)
class _Used:
    """Last parts of the paths that one statement runs, and of those it makes executable."""

    run: frozenset[str]
    made: frozenset[str]


def _uses(command: str) -> _Used:
    """Word by word, once for all names: one pattern for each name took time that grew with its square."""
    run: set[str] = set()
    made: set[str] = set()
    runs = False
    mode: bool | None = None  # of a chmod: False before its mode, True after it
    for word in _WORD.findall(command):
        if word in ";|&)>":
            runs, mode = False, None
            continue
        name = word.lstrip("<").rsplit("/", 1)[-1]
        if runs and name:
            run.add(name)
        if mode:
            made.add(name)
        elif mode is False and not word.startswith("-"):
            mode = True if _EXECUTABLE.fullmatch(word) else None
        if _CHMOD.search(word):
            mode = False
        option = word == "<" or (word.startswith("-") and not _TEXT_FOLLOWS.match(word))
        runs = word == "." or bool(_RUNNER.search(word[-40:])) or (runs and option)
    first = _FIRST.match(command)
    if first:
        run.add(first[1].rsplit("/", 1)[-1])
    return _Used(frozenset(run), frozenset(made))

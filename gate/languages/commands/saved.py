"""Files that one command saves from the network and a later one runs, or makes executable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gate.dataclass import dataclass
from gate.languages.commands.addresses import Origin, addresses, filled_in, origin_of, worst_origin
from gate.languages.commands.interpreters import INTERPRETER
from gate.languages.commands.reading import LogicalLine, bare, statements
from gate.languages.commands.vocabulary import FETCHES, Fetched, FetchMeans
from gate.regex import regex

_SAVED: Final = regex(
    r"(?:\s-OutFile\s+|\s-LocalPath\s+|\s-[a-zA-Z]*[oO]\s*|\s--output(?:-document)?[\s=]|(?<![\d>&])>\s*)"
    r"([\w./~${}+-]{1,300})",
    re.IGNORECASE,
)
_OWN_NAME: Final = regex(
    r"\s-[a-zA-Z]*O[a-zA-Z]*(?=\s)|--remote-name|\bwget2?\b|\bADD\b|\baria2c\b|\blwp-download\b",
    re.IGNORECASE,
)
_ADDED: Final = regex(r"\bADD\s+\S[^\n]*\s(\S+)\s*$", re.IGNORECASE)
_CHECKED: Final = regex(
    r"\b(?:sha\d+sum|shasum|md5sum|b2sum)\b[^\n]{0,400}(?:\s-\w*c\b|--check)|\bgpg2?\b[^\n]{0,200}--verify"
    r"|\bcosign\s+verify|--checksum=sha256:|\bminisign\s+-V|\bGet-FileHash\b",
    re.IGNORECASE,
)
SUM: Final = regex(r"\b(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128})\b")
_BEFORE: Final = r"RUN|CMD|ENTRYPOINT|sudo|exec|env|then|do|run:|cmd:|script:|\w+\.run|-E|-"
CLONES: Final = regex(
    r"\bgit\s+(?:-\S+\s+){0,4}clone\s+(?P<rest>[^\n;&|]{0,400}?(?P<address>(?:https?|git|ftp)://[^\s\"']{1,300})"
    r"(?P<after>[^\n;&|]{0,200}))"
)
_BIN: Final = regex(r"(?:^|/)s?bin/[^/]+$")
_BIN_FOLDER: Final = regex(r"(?:^|/)s?bin/?$")
_VALUED: Final = frozenset(("-m", "-o", "-g", "--mode", "--owner", "--group"))
_WORD: Final = regex(r"[^\s;|&)>]+|[;|&)>]")
_RUNNER: Final = regex(rf"\b(?:{INTERPRETER}|source|exec)$")
_TEXT_FOLLOWS: Final = regex(r"-[cm]\b")
_CHMOD: Final = regex(r"\bchmod$")
_EXECUTABLE: Final = regex(r"\S*x|[0-7]*[1357][0-7]{0,2}")
_PREFIX: Final = rf"\W{{0,8}}(?:(?:{_BEFORE})\s+|\w+=\S*\s+)*"
_CALLED: Final = regex(rf"{_PREFIX}([\w.+-]{{1,100}})(?=\s*$|[;|&)>]|\s+[^\s:=])")
_MOVES: Final = regex(rf"{_PREFIX}(?:\S{{0,80}}/)?(?:mv|cp|install|ln)\s+([^;|&)>]{{1,2000}})")
_FIRST: Final = regex(rf"{_PREFIX}(?=\.?/|~/|\$)([^\s;|&)>]+)(?=[\s;|&)>]|$)")


@dataclass(slots=True)
class SavedFile:
    """A file that a command saved. ``on_path``: by its name alone it can be run; ``folder``: a clone."""

    name: str
    origin: Origin
    address: str
    line: int
    checked: bool
    on_path: bool = False
    folder: bool = False
    ran: bool = False


def by_file(
    line: LogicalLine, values: Mapping[str, str], files: dict[str, SavedFile], *, signed: bool
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
            for file in [files[name] for name in sorted(used.any & files.keys())]:
                how = used.how(file)
                if how is not None and not file.ran:
                    file.ran = how != "made executable"
                    yield Fetched(how, file.origin, file.address, file.line, line.last, file.checked)
            _follow(plain, files)
        for saved in _saved_by(statement, values, line.first):
            _keep(files, saved)


def _saved_by(statement: str, values: Mapping[str, str], line: int) -> Iterator[SavedFile]:
    """What the command downloads to a file, or clones to a folder."""
    if fetch := FETCHES.search(statement):
        given = bare(statement[fetch.start() :])
        path = _saved_as(given)
        if re.search(r"\w", _part(path)):
            place, address = worst_origin(filled_in(given, values))
            checked = "--checksum=sha" in given
            yield SavedFile(_part(path), place, address, line, checked, bool(_BIN.search(path)))
    if clone := CLONES.search(statement):
        address = filled_in(clone["address"], values)
        words = [word for word in bare(clone["after"]).split() if not word.startswith("-")]
        folder = words[0] if words else _part(address.rstrip("/")).removesuffix(".git")
        name = folder.rstrip("/").removeprefix("./") + "/"
        yield SavedFile(name, origin_of(address), address, line, checked=False, folder=True)


def _keep(files: dict[str, SavedFile], file: SavedFile) -> None:
    """By name; of two that may be run, as in the arms of an ``if``, the worse."""
    old = files.get(file.name)
    if old is None or old.ran or old.checked or file.origin >= old.origin:
        files[file.name] = file


def _follow(command: str, files: dict[str, SavedFile]) -> None:
    """``mv``, ``cp``, ``install``, ``ln``: the file has another name as well."""
    moves = _MOVES.match(command)
    if moves is None:
        return
    words = moves[1].split()
    paths = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and before not in _VALUED
    ]
    for source in paths[:-1]:
        file = files.get(_part(source))
        if file is not None and not file.ran:
            into = paths[-1].endswith(("/", ".")) or _BIN_FOLDER.search(paths[-1])
            path = f"{paths[-1].rstrip('/')}/{file.name}" if into else paths[-1]
            _keep(files, replace(file, name=_part(path), on_path=bool(_BIN.search(path))))


def _saved_as(command: str) -> str:
    """The path, or the name if that is all there is."""
    added = _ADDED.search(command)
    if added:
        return added[1] if _part(added[1]) else added[1] + _last_part(command)
    for name in _SAVED.findall(command):
        if name.lower() not in ("http", "https", "ftp", "-", "/dev/null", "/dev/stdout"):
            return str(name) if _part(name) else ""
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
    """What one statement runs, by last parts of paths, and what it makes executable.

    ``called``: its first word, if that is a name alone; ``below``: the folders of what is run.
    """

    run: frozenset[str]
    made: frozenset[str]
    called: str
    below: frozenset[str]

    @property
    def any(self) -> frozenset[str]:
        return self.run | self.made | self.below | {self.called}

    def how(self, file: SavedFile) -> FetchMeans | None:
        if file.folder:
            return "cloned" if file.name in self.below else None
        if file.name in self.run or (file.on_path and file.name == self.called):
            return "run"
        return "made executable" if file.name in self.made else None


def _uses(command: str) -> _Used:
    """Word by word, once for all names: one pattern for each name took time that grew with its square."""
    run: set[str] = set()
    made: set[str] = set()
    paths: list[str] = []
    runs = False
    mode: bool | None = None  # of a chmod: False before its mode, True after it
    for word in _WORD.findall(command):
        if word in ";|&)>":
            runs, mode = False, None
            continue
        name = word.lstrip("<").rsplit("/", 1)[-1]
        if runs and name:
            run.add(name)
            paths.append(word.lstrip("<"))
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
        paths.append(first[1])
    called = None if first else _CALLED.match(command)
    below = {folder for path in paths for folder in _folders(path.removeprefix("./"))}
    return _Used(frozenset(run), frozenset(made), called[1] if called else "", frozenset(below))


def _folders(path: str) -> Iterator[str]:
    """The first few of the folders that a path lies in, with the slash."""
    at = 0
    for _ in range(8):
        at = path.find("/", at + 1) + 1
        if not at:
            return
        yield path[:at]

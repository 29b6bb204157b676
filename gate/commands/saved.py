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
_MOST_FILES: Final = 20


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
    line: Line, values: Mapping[str, str], files: list[SavedFile], *, signed: bool
) -> Iterator[Fetched]:
    """Saved by one command, run (or made executable) by a later one; ``files`` is what was saved so far."""
    readings = dict.fromkeys((tuple(statements(line.text)), tuple(statements(line.text, within=True))))
    for statement, mark in (one for reading in readings for one in reading):
        if files:
            plain = bare(statement)
            check = _CHECKED.search(statement)
            # A check whose failure is passed over, or whose sums came along with the file, is none.
            if check and mark != "||" and (signed or not re.search(r"sum", check[0], re.IGNORECASE)):
                for file in files:
                    file.checked = True
            for file in files:
                how = None if file.ran else _use(plain, file)
                if how is not None:
                    file.ran = how == "run"
                    yield Fetched(how, file.place, file.address, file.line, line.last, file.checked)
        fetch = FETCHES.search(statement)
        if fetch and len(files) < _MOST_FILES:
            given = bare(statement[fetch.start() :])
            name = _saved_as(given)
            if name:
                place, address = worst(filled_in(given, values))
                checked = "--checksum=sha" in given
                files.append(SavedFile(name, place, address, line.first, checked))


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


def _use(command: str, file: SavedFile) -> How | None:
    if file.name not in command:
        return None
    end = rf"(?:\S*/)?{re.escape(file.name)}(?=[\s;|&)>]|$)"
    runner = rf"\b(?:{INTERPRETER}|source|exec)(?:\s+-(?!c\b|m\b)\S+)*\s+(?:<\s*)?|(?:^|\s)\.\s+"
    first = rf"^\W{{0,8}}(?:(?:{_BEFORE})\s+|\w+=\S*\s+)*(?=\.?/|~/|\$)"
    if re.search(rf"(?:{runner}|{first}){end}", command):
        return "run"
    made = re.search(rf"\bchmod\s+(?:-\S+\s+)*(?:\S*x|[0-7]*[1357][0-7]{{0,2}})\s+(?:\S+\s+)*?{end}", command)
    return "made executable" if made else None

"""Commands that fetch code and run it, or decode it and run it: the one vocabulary for them.

Used on build files, scripts and agents' instructions (gate/prescreen), on command texts in Python (py rules)
and on the command lines that were seen (gate/signals). Time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from gate.languages.commands.addresses import Origin, filled_in, named_values, worst_origin
from gate.languages.commands.installed import INSTALLS, installed
from gate.languages.commands.interpreters import INTERPRETER, SHELL, runs_its_input
from gate.languages.commands.reading import LogicalLine, lines_of, statements
from gate.languages.commands.saved import CLONES, SUM, SavedFile, by_file
from gate.languages.commands.unpacking import MAY_UNPACK, unpacks
from gate.languages.commands.vocabulary import FETCH, FETCHES, Fetched, FetchMeans
from gate.regex import regex

_DECODE: Final = regex(
    r"\bbase(?:64|32)\s+(?:-\w*[dD]\w*|--decode)\b|\bxxd\s+-\w*r|\bopenssl\s+(?:enc|base64|aes\S*)\b[^|\n]{0,200}\s-d\b"
    r"|\bfrombase64string\(|\bb64decode\(|\buudecode\b"
)
_SOURCE: Final = rf"(?:\b(?:{INTERPRETER}|eval|source|iex|invoke-expression)\b|(?:^|[\s;&|\"'])\.(?=\s))"
_INTO: Final = r"(?:<\(|\$\(|`|<<<\s*[\"']?\$\(|(?<=[\s&])\(+)"
_SUBSTITUTED: Final = regex(
    rf"{_SOURCE}(?:[^\n|;=]{{0,80}}?|[^\n]{{0,160}}?[;&|\"']\s*)(?<!=)(?<!=[\"']){_INTO}\s*\(?(?:sudo\s+)?"
    rf"(?:(?P<fetch>{FETCH})|(?P<decode>(?:echo|printf|cat)\s[^()`\n]{{0,20000}}?\|\s*base64\s+-))",
    re.IGNORECASE,
)
_INLINE: Final = regex(
    r"\b(?:python[\d.]*|node|perl|ruby|php|deno)\b[^\n]{0,40}\s\"?,?\s{0,4}[\"']?-(?:c|e|r)\b", re.IGNORECASE
)
_EVALUATED: Final = regex(r"\b(?:exec|eval|system)\b", re.IGNORECASE)
_ASKED: Final = regex(
    r"urlopen|requests\.get|httpx\.get|https?\.get|fetch\(|file_get_contents", re.IGNORECASE
)
_UNWRAPPED: Final = regex(r"b64decode|\batob\(|frombase64|\bfromhex\(", re.IGNORECASE)
_ENCODED: Final = regex(
    r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]{0,120}\s-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{20}",
    re.IGNORECASE,
)
_STRING: Final = regex(
    r"\b(?:iex|invoke-expression)\b[^\n]{0,200}\bDownloadString\("
    r"|\bDownloadString\([^\n]{0,300}\|\s*(?:iex|invoke-expression)\b",
    re.IGNORECASE,
)
_APART: Final = regex(
    "|".join(
        r"(?<![\w'\"\\])" + r"(?:''|\"\"|\\)?".join(word) + r"(?![\w'\"\\])"
        for word in ("curl", "wget", "bash", "base64")
    )
)
_SOCKET: Final = regex(
    rf"\b(?:{SHELL}|source)\b[^\n|;&<>]{{0,80}}<\s{{0,4}}/dev/(?:tcp|udp)/([\w.-]{{1,200}})"
)
_MAY: Final = (FETCHES, _DECODE, MAY_UNPACK, _ENCODED, _INLINE, _STRING, INSTALLS, CLONES, _SOCKET)
_HELD: Final = regex(rf"\b(\w+)=[\"']?(?:\$\(|`)\s*(?:{FETCH})", re.IGNORECASE)
_RUN_BY_NAME: Final = regex(
    rf"(?:\beval\s+|\s-c\s+|\b(?:{INTERPRETER}|source)\b[^|;&<\n]{{0,40}}<<<\s*)[\"']?\$\{{?(\w+)",
    re.IGNORECASE,
)
_SAID: Final = regex(r"\b(?:echo|printf)\b([^|\n]{0,80})")
_NAMED: Final = regex(r"\$\{?(\w+)")
_LONGEST: Final = 4000


def worst_fetch(command: str) -> Fetched | None:
    """What one command line (or text given to a shell) fetches and runs, or decodes and runs; the worst."""
    return max(
        fetched([LogicalLine(n, n, line) for n, line in enumerate(command.split("\n"), 1)]),
        key=_weight,
        default=None,
    )


def in_text(text: str, marks: tuple[str, ...] = ("#",), *, folding: bool = False) -> list[Fetched]:
    """Everything a script or build file fetches and runs.

    ``marks``, ``folding``: see gate.languages.commands.reading.
    """
    return fetched(list(lines_of(text, marks, folding=folding)))


def fetched(lines: Iterable[LogicalLine]) -> list[Fetched]:
    """One entry for each line that runs what it, or a line before it, got from elsewhere."""
    lines = [LogicalLine(line.first, line.last, _spelled(line.text)) for line in lines]
    whole = "\n".join(line.text for line in lines)
    if not any(word.search(whole) for word in _MAY):
        return []
    values = named_values(whole)
    held = {match[1]: whole[match.start() : match.start() + _LONGEST] for match in _HELD.finditer(whole)}
    signed = bool(SUM.search(whole))
    found: list[Fetched] = []
    files: dict[str, SavedFile] = {}
    for line in lines:
        at_once = _at_once(line, values) or _by_name(line, held, values) or installed(line, values)
        found += [at_once] if at_once else []
        found += by_file(line, values, files, signed=signed)
    ran = {one.first for one in found if one.how == "run"}
    once = {(one.how, one.first, one.last): one for one in reversed(found)}
    return [one for one in reversed(once.values()) if one.how != "made executable" or one.first not in ran]


def _spelled(text: str) -> str:
    r"""``cu''rl`` and ``c\url`` as a shell reads them."""
    return _APART.sub(lambda m: re.sub(r"['\"\\\\]", "", m[0]), text)


def _at_once(line: LogicalLine, values: Mapping[str, str]) -> Fetched | None:
    """Fetched and run on one line: by a pipe, by a substitution, inside an interpreter's own text."""
    if found := _through_pipe(line, values):
        return found
    if match := _SUBSTITUTED.search(line.text):
        how: FetchMeans = "decoded" if match["decode"] else "substituted"
        return _told(how, line, line.text[match.start() :], values)
    if match := _STRING.search(line.text):
        return _told("substituted", line, line.text[match.start() :], values)
    if match := _SOCKET.search(line.text):
        return Fetched("piped", Origin.DOUBTFUL, match[1], line.first, line.last)
    if _ENCODED.search(line.text):
        return _told("decoded", line, "", values)
    return _inline(line, values)


def _through_pipe(line: LogicalLine, values: Mapping[str, str]) -> Fetched | None:
    before = ""
    hidden_before = False
    for statement, mark in statements(line.text):
        given = ""
        swapped, turned = False, False
        for part in statement.replace("|&", "|").split("|"):
            if given and runs_its_input(part):
                opens = given.count(")") <= given.count("(") and given.count("}") <= given.count("{")
                whole = given if opens else before + given
                hidden = swapped or turned or (hidden_before and not opens)
                kind = _piped(whole) or ("decoded" if hidden else None)
                if kind is not None:
                    return _told(kind, line, whole, values)
            found = unpacks(part)
            swapped, turned = swapped or found == 2, turned ^ (found == 1)
            if not given or FETCHES.search(part) or _DECODE.search(part):
                given = (given + part + " | ")[-_LONGEST:]
        hidden_before = hidden_before or swapped or turned
        before = (before + statement + mark)[-_LONGEST:]
    return None


def _inline(line: LogicalLine, values: Mapping[str, str]) -> Fetched | None:
    """``python -c "exec(urlopen(...).read())"``: fetched and run in an interpreter's own language."""
    match = _INLINE.search(line.text)
    if match is None or not _EVALUATED.search(line.text, match.end()):
        return None
    given = line.text[match.end() :]
    if _ASKED.search(given):
        return _told("substituted", line, given, values)
    return _told("decoded", line, given, values) if _UNWRAPPED.search(given) else None


def _piped(given: str) -> FetchMeans | None:
    if _DECODE.search(given):
        return "decoded"
    if FETCHES.search(given):
        return "piped"
    return None


def _told(how: FetchMeans, line: LogicalLine, command: str, values: Mapping[str, str]) -> Fetched:
    fetch = FETCHES.search(command)
    place, address = worst_origin(filled_in(command[fetch.start() if fetch else 0 :], values))
    if how == "decoded" and not address:
        place = Origin.DOUBTFUL
    return Fetched(how, place, address, line.first, line.last)


def _by_name(line: LogicalLine, held: Mapping[str, str], values: Mapping[str, str]) -> Fetched | None:
    """``x=$(curl ...)`` and later ``eval "$x"``, ``sh -c "$x"``, ``echo "$x" | sh``."""
    if not held or "$" not in line.text:
        return None
    run = _RUN_BY_NAME.findall(line.text)
    if any(runs_its_input(part) for part in line.text.split("|")[1:]):
        run += [name for said in _SAID.findall(line.text) for name in _NAMED.findall(said)]
    name = next((name for name in run if name in held), None)
    return None if name is None else _told("substituted", line, held[name].partition("\n")[0], values)


def _weight(one: Fetched) -> tuple[int, int, int]:
    order = ("made executable", "installed", "cloned", "run", "substituted", "piped", "decoded")
    return (order.index(one.how), one.origin, -one.checked)

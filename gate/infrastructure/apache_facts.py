"""Apache's configuration: sections, who is let into each, by which of several ways, and what a section opens.

Directives are lines, sections are written like tags. Without a group around them, requirements are
alternatives: one more of them is one more way in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gate.infrastructure.facts import Fact, FileFacts, Width
from gate.regex import regex

_MARK: Final = regex(
    r"(?im)^[ \t]*(?:<(?:VirtualHost|Directory|DirectoryMatch|Location|LocationMatch|Files|FilesMatch"
    r"|IfModule|RequireAny|RequireAll|Limit)\b|Require[ \t]+(?:all|valid-user|ip|host|user|group|expr|env)\b"
    r"|RewriteEngine\b|AuthType\b|SetEnvIf\b)"
)
_WORD: Final = regex(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s\"']\S*)")
_PLACES: Final = frozenset(
    (
        "virtualhost",
        "directory",
        "directorymatch",
        "location",
        "locationmatch",
        "files",
        "filesmatch",
        "proxy",
    )
)
_CONDITIONS: Final = frozenset(("if", "elseif", "else", "limit", "limitexcept"))
_GROUPS: Final = frozenset(("requireany", "requireall", "requirenone"))
_SENT: Final = regex(r"%\{(?:HTTP_|HTTP:|REQ(?:UEST)?_|QUERY_STRING|THE_REQUEST)|\breq(?:_novary)?\(", 2)
_SERVERS: Final = frozenset(("remote_addr", "remote_host", "server_addr", "server_name", "request_protocol"))
_SETS: Final = frozenset(("setenvif", "setenvifnocase", "browsermatch", "browsermatchnocase"))
_LISTED: Final = frozenset(("ip", "host", "user", "group", "forward-dns", "ldap-user", "method"))
_CLIENTS: Final = ("require", "optional", "optional_no_ca", "none")
_DEEPEST: Final = 40


class _Line(NamedTuple):
    """One directive with the places, conditions and groups that it stands in."""

    number: int
    words: list[str]
    place: str
    within: tuple[str, ...]


def is_apache(text: str) -> bool:
    """Does it hold a section or a directive that only Apache has?"""
    return _MARK.search(text) is not None


def apache_facts(text: str, path: str) -> FileFacts:
    """Guards, ways in and settings of each section."""
    if not is_apache(text):
        return FileFacts()
    lines = [*_lines(text)]
    sent = {
        word.partition("=")[0].lstrip("!").lower()
        for line in lines
        if (name := line.words[0].lower()) in _SETS
        for word in line.words[2 if name.startswith("browser") else 3 :]
        if name.startswith("browser") or line.words[1].lower() not in _SERVERS
    }
    found = [*_ways(lines, sent, path), *_opened(lines, path)]
    for line in lines:
        found += _directive(line, path)
    places = dict.fromkeys(f"{path} {line.place}".strip() for line in lines)
    return FileFacts.of(found, [path, *places])


def _lines(text: str) -> Iterator[_Line]:
    opened: list[tuple[str, str]] = []
    number, joined, began = 0, "", 0
    for raw in text.split("\n"):
        number += 1
        began = began if joined else number
        joined += raw.strip()
        if joined.endswith("\\"):
            joined = f"{joined[:-1]} "
            continue
        line, joined = joined, ""
        if not line or line.startswith("#"):
            continue
        if line.startswith("</"):
            opened = opened[:-1]
        elif line.startswith("<"):
            name, _, rest = line.strip("<>").strip().partition(" ")
            opened.append((name.lower(), rest.strip().strip('"')))
            opened = opened[:_DEEPEST]
        else:
            words = [match[1] or match[2] or match[3] or "" for match in _WORD.finditer(line)]
            place = " ".join(f"{name} {what}" for name, what in opened if name in _PLACES)
            within = tuple(f"{n} {w}".strip() for n, w in opened if n in _CONDITIONS | _GROUPS)
            if words:
                yield _Line(began, words, place, within)


def _ways(lines: list[_Line], sent: set[str], path: str) -> Iterator[Fact | Width]:
    """Of each place: the ways in, each enough by itself, and what is asked of everybody."""
    for place in dict.fromkeys(line.place for line in lines):
        asked = [
            line for line in lines if line.place == place and line.words[0].lower() in ("require", "allow")
        ]
        subject = f"{path} {place}".strip()
        if not asked:
            continue
        members: list[str] = []
        together: list[str] = []
        guarded = False
        for line in asked:
            said = " ".join(line.words)[:120]
            ways = _members(line)
            if any(one.startswith("requirenone") for one in line.within):
                continue
            if any(one.startswith("requireall") for one in line.within):
                together += ways
                guarded = guarded or ways != ["*"]
            elif _is_sent(line, sent):
                yield Fact("grant", "header-lets-in", f"{subject} {said}", line.number, said)
            else:
                members += ways
                partly = any(one.split(" ")[0] in _CONDITIONS for one in line.within)
                guarded = guarded or (ways not in (["*"], []) and not partly)
        last = asked[-1]
        text = "; ".join(" ".join(line.words) for line in asked)[:120]
        yield Width("trusted", f"{subject} ways in", last.number, text, members=members)
        if together:
            yield Width("covered", f"{subject} asked of all", last.number, text, members=together)
        if guarded:
            yield Fact("guard", "authentication", subject, asked[0].number, text)


def _members(line: _Line) -> list[str]:
    kind, rest = (line.words[1].lower() if len(line.words) > 1 else ""), line.words[2:]
    if line.words[0].lower() == "allow":  # before 2.4: Allow from ...
        return ["*" if one.lower() == "all" else f"from {one}" for one in rest]
    if kind == "all":
        conditions = [one for one in line.within if one.split(" ")[0] in _CONDITIONS]
        granted = [f"{conditions[-1]}: everybody"] if conditions else ["*"]
        return granted if [one.lower() for one in rest] == ["granted"] else []
    if kind == "not":
        return []
    if kind == "ip":
        return rest
    return [f"{kind} {one}" for one in rest] if kind in _LISTED else [" ".join(line.words[1:])]


def _is_sent(line: _Line, sent: set[str]) -> bool:
    """Is it let in by what a client says of itself: a header, an address's text, a variable made of these?"""
    words = [one.lower() for one in line.words]
    if words[:2] == ["require", "env"] or words[:3] == ["allow", "from", words[-1]]:
        names = {one.removeprefix("env=") for one in words[2:]}
        return bool(names & sent)
    if words[:2] == ["require", "expr"]:
        return _SENT.search(" ".join(line.words)) is not None
    conditions = " ".join(one for one in line.within if one.startswith(("if ", "elseif ")))
    return words[1:3] == ["all", "granted"] and _SENT.search(conditions) is not None


def _opened(lines: list[_Line], path: str) -> Iterator[Fact]:
    """A place that everybody may enter below one that asks for a log-in."""
    asks: dict[str, str] = {}
    for line in lines:
        ways = _members(line) if line.words[0].lower() == "require" else []
        if ways and ways != ["*"]:
            asks.setdefault(line.place, " ".join(line.words))
    for line in lines:
        words = [one.lower() for one in line.words]
        if words[:3] != ["require", "all", "granted"] or line.place in asks or line.within:
            continue
        kind, _, where = line.place.rpartition(" ")
        for place, said in asks.items():
            above, _, around = place.rpartition(" ")
            if kind == above and around not in ("", "/") and where.startswith(around.rstrip("/") + "/"):
                text = f"{line.place}: open to everybody, {around} asks {said}"[:200]
                yield Fact("grant", "route-unguarded", f"{path} {line.place}", line.number, text)


def _directive(line: _Line, path: str) -> Iterator[Fact | Width]:
    name, rest = line.words[0].lower(), [one.lower() for one in line.words[1:]]
    subject, text = f"{path} {line.place} {name}", " ".join(line.words)[:120]
    if name == "satisfy" and rest:
        yield Width("weaker", subject, line.number, text, measure=float(rest[0] == "any"))
    elif name == "authmerging" and rest:
        yield Width("weaker", subject, line.number, text, measure=float(rest[0] == "or"))
    elif name == "allowoverride" and rest:
        measure = 0.0 if rest == ["none"] else 2.0 if rest == ["all"] else 1.0
        yield Width("weaker", subject, line.number, text, measure=measure)
    elif name == "sslverifyclient" and rest[:1] and rest[0] in _CLIENTS:
        yield Width("weaker", subject, line.number, text, measure=float(_CLIENTS.index(rest[0])))
        if rest[0] == "require":
            yield Fact("guard", "authentication", subject, line.number, text)
    elif name == "sslproxyverify" and rest[:1] and rest[0] in _CLIENTS:
        yield Width("weaker", subject, line.number, text, measure=float(_CLIENTS.index(rest[0])))
    elif name == "satisfy" or (name == "authtype" and rest[:1] not in ([], ["none"])):
        yield Fact("guard", "authentication", subject, line.number, text)
    elif name == "header" and "set" in rest and (after := rest[rest.index("set") + 1 :]):
        if after[0] == "content-security-policy":
            yield Fact("guard", "content-policy", path, line.number, text)
        elif after[0] in ("strict-transport-security", "x-frame-options", "x-content-type-options"):
            yield Fact("guard", "response-header", f"{path} {after[0]}", line.number, text)

"""Values of requests that reach queries, commands, files, addresses and pages, in every language but Python.

Each changed file is read in the limited child as flows (gate/taint); files that it calls, and those that call
it, are read as well, and put together here. What base has too is not told.
"""

from __future__ import annotations

import json
import posixpath
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_example, is_unshipped
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import SEARCHED, Unread, first_files
from gate.prescreen.scanners.injection_rules import BY_SINK, PAGE, RULES
from gate.prescreen.scope import only_new, sources
from gate.prescreen.text_rule import finding
from gate.regex import regex
from gate.taint.facts import FileFlows
from gate.taint.link import Flow, flows
from gate.taint.project import SCRIPT_ENDINGS, Paths, Resolver, wanted
from gate.taint.reader import language_of

PAGES: Final = {meta.id: PAGE for meta in RULES}
_READER: Final = Reader("gate.taint.reader:read", FileFlows, parses=True, pure=True)
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_RELATED: Final = 60
"""Files of the tree besides those of the change, in each of two rounds."""
_RELATED_BYTES: Final = 160 << 10
"""Of each of the two looks around a change: what it calls, who calls it."""
_CONSIDERED: Final = 400
_SEARCHED: Final = 2_000
_SEARCHED_BYTES: Final = 24 << 20
_MOST: Final = 40
_STEPS: Final = 8
_CONFIGURATIONS: Final = 12
_TOLD: Final = {
    "sql": "becomes part of a query",
    "nosql": "is a condition of a query",
    "shell": "becomes part of a command",
    "code": "is run as code",
    "path": "decides which file is used",
    "ssrf": "decides which address the server fetches",
    "xss": "becomes markup of a page",
    "template": "is run as a template",
    "deserialise": "is made into objects",
    "redirect": "decides where the browser is sent",
    "xml": "is read as XML with external entities",
    "jwt": "is read as a token whose signature nobody checks",
    "upload": "decides how a file that was sent is named",
    "skipped": "turns the check of a signature off by being left away",
    "proto": "is merged into an object with its keys",
    "mass": "sets any attribute of a record",
    "regex": "is a regular expression",
}
_WHO: Final = {
    "request": "A request",
    "model": "A language model",
    "input": "The command line",
    "file": "A file",
    "address": "The page's address",
}
_BY_COMMAND_LINE: Final = frozenset({"sql", "code", "deserialise"})
"""What a program's own user should not decide either."""
_ASKS: Final = regex(
    r"\breq\b|params|[rR]equest|_(?:GET|POST|REQUEST|COOKIE)\b|\bctx\b|Param|Mapping|Http|argv|socket|\btool\("
    r"|cookies|\bgin\.|\becho\.|\bfiber\.|@(?:Query|Body|GET|POST)|call\.parameters"
)
"""Words without one of which a text asks nobody for anything."""
_ROUNDS: Final = 3
_MAKERS: Final = frozenset({"constructor", "default", "initialize", "__construct"})
_TWO_WORDS: Final = regex(r"[a-z0-9][A-Z]|[a-z0-9]_[a-z]")
_MINIFIED: Final = 600
_VENDORED: Final = regex(
    r"(?:^|/)(?:node_modules|vendor|vendors|third_party|bower_components|dist|build|public/(?:js|build|assets)|static/vendor|migrations?)/"
    r"|\.min\.|\.bundle\.|\.d\.ts$|\.pb\.go$|_generated\."
)


@dataclass(frozen=True, slots=True)
class _Side:
    """The flows of one side, with what could not be read."""

    flows: list[Flow]
    texts: Mapping[str, bytes]
    unread: Unread


class Injection:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "injection"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Follow values through the changed programs and the files around them."""
        until = time.monotonic() + request.deadline
        every = [one for one in sources(request).files if is_read(one.path, one.head)]
        files, unread = first_files(every, _MOST_FILES, _LARGEST)
        if not files:
            return ended(self.name, (), unread)
        head = _look({one.path: one.head for one in files}, request.head, until)
        unread = [*unread, *head.unread]
        if not head.flows:
            return ended(self.name, (), unread)
        old = {one.changed.old_path or one.path: one.base for one in files if one.base is not None}
        base = _look(old, request.base, until)
        changed = {one.path: one for one in files}
        heads = list(_findings(head, frozenset(changed)))
        bases = list(_findings(base, frozenset(old)))
        new = only_new(heads, bases, request.change, unread_base=[path for path, _ in base.unread])
        told = sorted(new, key=lambda f: -f.severity.rank)[:_MOST]
        return ended(self.name, told, unread)


def is_read(path: str, data: bytes) -> bool:
    """Is this a program that is shipped, written by hand, in one of the languages?"""
    language = language_of(path)
    if language is None or is_unshipped(path) or is_example(path):
        return False
    if _VENDORED.search(path) or (data and len(data) / (data.count(b"\n") + 1) > _MINIFIED):
        return False
    if len(data) > SEARCHED:
        return True
    text = data.decode("utf-8", "replace")
    return _ASKS.search(text) is not None or language.matters.search(text) is not None


def _look(files: Mapping[str, bytes], tree: Tree, until: float) -> _Side:
    """The flows of files of one side and of those around them in its tree."""
    read, unread = _read([*files.items()], until)
    texts = dict(files)
    if not read or not any(facts.functions for facts in read.values()):
        return _Side([], texts, unread)
    endings = {PurePosixPath(path).suffix for path in read}
    alike = SCRIPT_ENDINGS | endings if endings & SCRIPT_ENDINGS else endings
    listed = [
        entry.path
        for entry in tree.entries()
        if posixpath.splitext(entry.path)[1] in alike
        and not is_unshipped(entry.path)
        and not _VENDORED.search(entry.path)
    ]
    paths = Paths([*listed, *files], _aliases(tree) if endings & SCRIPT_ENDINGS else ())
    left = _RELATED_BYTES
    for _ in range(2):
        spent = _add(_further(read, paths), tree, read, texts, until, left) if _may_matter(read) else 0
        left -= spent
        if not spent:
            break
    callers = _callers(read, files, listed, tree)
    if callers:
        left += _RELATED_BYTES
        left -= _add(dict.fromkeys(callers, frozenset[str]()), tree, read, texts, until, left)
        around = {path: read[path] for path in callers if path in read}
        _add(_further(around, paths, read), tree, read, texts, until, left)
    found = list(flows(read, Resolver(read, paths)))
    found = [one for one in found if any(path in files for path, _ in one.way)]
    return _Side(found, texts, unread)


def _may_matter(read: Mapping[str, FileFlows]) -> bool:
    """Does anything of an outsider, or of a parameter, go into a call?"""
    return any(any(call.arguments) for facts in read.values() for call in facts.calls)


def _read(files: Sequence[tuple[str, bytes]], until: float) -> tuple[dict[str, FileFlows], Unread]:
    results = scan_isolated(_READER, files, deadline=max(1.0, until - time.monotonic())) if files else []
    unread = [(one.path, one.reason or one.outcome) for one in results if one.value is None]
    unread += [(one.path, one.value.unfinished[0]) for one in results if one.value and one.value.unfinished]
    return {one.path: one.value for one in results if one.value is not None}, unread


def _further(
    read: Mapping[str, FileFlows], paths: Paths, known: Mapping[str, FileFlows] | None = None
) -> dict[str, set[str]]:
    """Files that those lead to, with the functions that are looked for in them."""
    found: dict[str, set[str]] = {}
    for path, facts in read.items():
        for at, names in wanted(paths, path, facts).items():
            if at not in (known or read):
                found.setdefault(at, set()).update(names)
    return found


def _add(
    paths: Mapping[str, Collection[str]],
    tree: Tree,
    read: dict[str, FileFlows],
    texts: dict[str, bytes],
    until: float,
    left: int,
) -> int:
    """Reads further files of the tree, as far as they hold one of the names, and ``left`` bytes at most; what
    cannot be read counts as unknown. How many bytes that were.
    """
    got: list[tuple[str, bytes]] = []
    spent = 0
    for path, data in tree.read_many(tuple(paths)[:_CONSIDERED]):
        names = [re.escape(name.encode()) for name in paths[path] if name]
        if len(data) > _LARGEST or (names and not re.search(rb"\b(?:" + b"|".join(names) + rb")\b", data)):
            continue
        if spent + len(data) > left or len(got) >= _RELATED:
            continue
        spent += len(data)
        got.append((path, data))
    texts.update(got)
    read.update(_read(got, until)[0])
    return spent


def _callers(
    read: Mapping[str, FileFlows], files: Mapping[str, bytes], listed: Sequence[str], tree: Tree
) -> list[str]:
    """Files of the tree that name functions of the change whose parameters reach a sink or come back."""
    leading = _leading(read)
    names: set[str] = set()
    for path in files:
        facts = read.get(path)
        for function in facts.functions if facts is not None else ():
            name = function.name
            own = any(t.kind == "parameter" and t.number == function.number for t in function.returns)
            if name not in leading and not (own and _TWO_WORDS.search(name)):
                continue
            if name in _MAKERS:
                names.add(function.owner or PurePosixPath(path).stem)
            elif len(name) > 2:
                names.add(name)
    if not names:
        return []
    asked = re.compile(
        rb"\b(?:" + b"|".join(re.escape(name.encode()) for name in sorted(names)[:200]) + rb")\b"
    )
    found: list[str] = []
    spent = 0
    near = sorted((p for p in listed if p not in read), key=lambda p: _distance(p, files))[:_SEARCHED]
    for path, data in tree.read_many(tuple(near)):
        spent += len(data)
        if spent > _SEARCHED_BYTES or len(found) >= _RELATED:
            break
        if asked.search(data):
            found.append(path)
    return found


def _leading(read: Mapping[str, FileFlows]) -> set[str]:
    """The names of functions whose parameters reach a sink, in them or in those that they call."""
    found: set[str] = set()
    for facts in read.values():
        for taint in (t for hit in facts.hits for t in hit.taints if t.kind == "parameter"):
            found.add(facts.functions[taint.number].name if taint.number >= 0 else "")
    for _ in range(_ROUNDS):
        before = len(found)
        for facts in read.values():
            for call in facts.calls:
                if call.path.rpartition(".")[2] in found:
                    for taint in (t for given in call.arguments for t in given if t.kind == "parameter"):
                        found.add(facts.functions[taint.number].name if taint.number >= 0 else "")
        if len(found) == before:
            break
    return found - {""}


def _distance(path: str, files: Mapping[str, bytes]) -> tuple[int, str]:
    top = {one.partition("/")[0] for one in files}
    return (0 if path.partition("/")[0] in top else 1), path


def _aliases(tree: Tree) -> list[tuple[str, str]]:
    """Prefixes of tsconfig.json's ``paths`` with their folders."""
    named = [
        e.path
        for e in tree.entries()
        if PurePosixPath(e.path).name in ("tsconfig.json", "tsconfig.base.json", "jsconfig.json")
    ]
    found: list[tuple[str, str]] = []
    for path, data in tree.read_many(tuple(sorted(named, key=len)[:_CONFIGURATIONS])):
        text = re.sub(r"(?m)^\s*//.*$|/\*.*?\*/", "", data.decode("utf-8", "replace"))
        try:
            options = json.loads(re.sub(r",(\s*[}\]])", r"\1", text)).get("compilerOptions", {})
            mapped = options.get("paths", {})
            root = str(PurePosixPath(path).parent / str(options.get("baseUrl", ".")))
            for key, targets in mapped.items():
                found.append(
                    (key.removesuffix("*"), str(PurePosixPath(root) / str(targets[0]).removesuffix("*")))
                )
        except (ValueError, AttributeError, IndexError, TypeError, KeyError, RecursionError):
            continue
    return found


def _findings(side: _Side, changed: frozenset[str]) -> Iterator[Finding]:
    """Each sink once, with its gravest source; at the sink, or where the change leads to it."""
    best: dict[tuple[str, str, int], tuple[int, Flow, Severity, Confidence]] = {}
    for flow in side.flows:
        judged = _weight(flow)
        if judged is None:
            continue
        severity, confidence = judged
        key = (flow.rule, flow.path, flow.hit.line)
        rank = severity.rank * 10 + confidence.rank
        if key not in best or rank > best[key][0]:
            best[key] = rank, flow, severity, confidence
    for _, flow, severity, confidence in best.values():
        meta: RuleMeta = BY_SINK[flow.rule]
        place = next(((p, n) for p, n in reversed(flow.way) if p in changed and n > 0), None)
        if place is None:
            continue
        line = _line(side, *place)
        sink = _line(side, flow.path, flow.hit.line)
        message = f"{_WHO.get(flow.kind, 'A request')} ({flow.source}) {_TOLD[flow.rule]}."
        evidence = {"code": sink.strip()[:200], "sink": flow.hit.sink, "source": flow.source[:120]}
        if flow.path != place[0]:
            evidence["sink in"] = f"{flow.path}:{flow.hit.line}"
        if flow.way[0] != place:
            evidence["from"] = f"{flow.way[0][0]} line {flow.way[0][1]}: {_line(side, *flow.way[0]).strip()}"[
                :200
            ]
        made = finding(
            meta,
            message,
            Location(path=place[0], line=place[1]),
            shape=f"{line.strip()[:400]} {flow.hit.sink}" if flow.path != place[0] else line[:500],
            evidence=evidence,
            severity=severity,
            confidence=confidence,
        )
        steps = [
            Location(path=p, line=n, kind="related")
            for p, n in flow.way[-_STEPS:]
            if (p, n) != place and n > 0
        ]
        yield replace(made, locations=(*made.locations, *dict.fromkeys(steps)))


_RUN_BY_NAME: Final = frozenset({"move_uploaded_file"})
"""Of PHP itself: the server that keeps the file runs it where its name ends so."""


def _weight(flow: Flow) -> tuple[Severity, Confidence] | None:
    """How grave a flow is, and how sure; None for what is ordinary."""
    severity = Severity.HIGH if flow.hit.sink in _RUN_BY_NAME else BY_SINK[flow.rule].severity
    if flow.kind == "input":
        if flow.rule not in _BY_COMMAND_LINE:
            return None
        severity = Severity.MEDIUM
    via = "via" in {tag for one in flow.hit.taints for tag in one.tags} and not flow.sure
    if flow.sure:
        return severity, Confidence.MEDIUM
    lower = {Severity.HIGH: Severity.MEDIUM, Severity.MEDIUM: Severity.LOW}.get(severity, Severity.LOW)
    return lower, Confidence.LOW if via or not flow.sure else Confidence.MEDIUM


def _line(side: _Side, path: str, line: int) -> str:
    lines = side.texts.get(path, b"").split(b"\n")
    return lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""


__all__ = ["PAGES", "RULES", "Injection", "Source"]

"""Can a run have read a planted secret? Asked before it is run again for what it only prints or writes.

A secret reaches a process in four ways, and each is answered by whom the code cannot silence:

- a decoy file, or the variables as ``/proc`` shows them: the trace has the file that was opened;
- another program, which has all variables: the trace has its start. One that base starts with the same
  words is as harmless as at base, unless it runs a file that changed or could be told what to do otherwise;
- Python: ``os.environ`` tells which names it was asked for (gate/inside/driver/environment_reads.py);
- JavaScript: ``process`` and what leads to it, in the text of every file of the tree that was opened.

**Never skipped** is a run where a planted value was asked for, by whatever code, or where the changed lines
have a word by which that question is not seen: native calls, the interpreter's own objects, code that is
made while running. What base runs is trusted to ask for variables in the ordinary way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.inside.observer.text import bytes_of
from gate.model.canary import Canary
from gate.model.change import ChangedFile, Tree
from gate.model.run import RunRecord
from gate.regex import regex
from gate.tracing.behaviour.paths import TREE
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Exec, Open

_JAVASCRIPT: Final = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts", ".vue", ".svelte")
_READ: Final = ("python", "notebook", "javascript", "typescript")
_DATA: Final = (
    ".json", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".txt", ".md", ".rst", ".html", ".htm", ".css",
    ".scss", ".svg", ".xml", ".csv", ".tsv", ".po", ".lock", ".jinja", ".jinja2", ".j2",
    ".sql", ".snap", ".pyi",
)  # fmt: skip
_OURS: Final = "/opt/gate/"
_PROC: Final = regex(r"/proc/[^/]+/(?:task/[^/]+/)?(?:environ|mem)")
_NATIVE: Final = regex(r"/(?:_ctypes|_cffi_backend)\.[^/]*so")
_SHELLS: Final = ("sh", "bash", "dash", "zsh", "ksh", "ash", "busybox")
_INTERPRETERS: Final = regex(
    r"python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|deno|bun|env|printenv"
)
_NODE: Final = regex(r"node(?:js)?[\d.]*")
_TOLD: Final = ("-", "-s", "-i", "/dev/stdin", "-e", "-p", "--eval", "--print")
"""Words by which a program takes its orders from elsewhere."""
_FILES: Final = 400
_UNASKED: Final = "netrc"
"""The decoy that HTTP clients open without being told to."""

_PAST_THE_QUESTION: Final = regex(
    rb"""\b(?:\w*ctypes\w*|_?cffi\w*|dlopen|CDLL|PyDLL|attrgetter|methodcaller
    |import\s+modules|gc|inspect|_data|_original|posix|settrace|setprofile|addaudithook|_getframe
    |register_at_fork|eval|exec|compile|globals|vars|import_module|pickle|cloudpickle|dill|marshal|FunctionType
    |CodeType|sys\s*\.\s*modules|gate_driver|environment_reads|opt/gate)\b
    |\bgetattr\b(?!\s*\(\s*[\w.]+\s*,\s*["'][A-Za-z]\w*["'])
    |\b__(?!(?:name|main|init|future|all|version|file|doc|class|module|qualname|repr|str|eq|ne|lt|le|gt|ge|hash|len
    |bool|iter|next|contains|getitem|setitem|delitem|enter|exit|aenter|aexit|aiter|anext|await|call|new|del
    |add|sub|mul|and|or|int|float|index|format|bytes|post_init|slots|str__|init_subclass|set_name|author
    |license|get|set|delete|missing|path|annotations|tests|fixtures|mocks|snapshots)__)\w+__
    """,
    re.VERBOSE,
)
"""Words of Python with which a variable can be had without asking ``os.environ``."""
_PROCESS: Final = regex(
    rb"""(?<!typeof\ )\bprocess\b
    (?!\s*\.\s*(?:argv0?|cwd|chdir|exit|exitCode|stdout|stderr|stdin|platform|arch|pid|ppid|versions?|nextTick
      |on|once|off|emit|emitWarning|addListener|removeListener|removeAllListeners|listeners|listenerCount
      |hrtime|uptime|memoryUsage|cpuUsage|title|execPath|execArgv|release|features|kill|abort|umask)\b)
    (?!\s*\.\s*env\s*\??\.\s*(?P<name>[A-Za-z_$][\w$]*))
    (?![ \t]+(?!(?:in|instanceof|as|of|satisfies)\b)[A-Za-z])
    | \b(?:Reflect|eval|getBuiltinModule|createRequire)\b | \bDeno\s*[^'\w\s]
    | \bFunction\s*\( | \b(?:globalThis|global)\s*(?:\?\.\s*)?\[
    | \bconstructor\s*(?:\.\s*constructor|\[) | ['"`]constructor['"`]
    | (?:from|import|require)\s*\(?\s*['"`](?:node:)?(?:vm|module|v8|inspector)['"`]
    | (?<![.\w])(?:require|import)\s*\(\s*(?!['"`)]|/\*)
    """,
    re.VERBOSE,
)
"""Words of JavaScript that lead to the variables, but for one that is named and none of ours."""
_NAMED: Final = regex(rb"\benv\s*\??\.\s*([A-Za-z_$][\w$]*)")


def may_read(
    record: RunRecord,
    before: Iterable[RunRecord],
    planted: Sequence[Canary],
    head: Tree,
    changed: Sequence[ChangedFile],
) -> bool:
    """False where nobody asked for a secret, as far as the module's text says. ``before``: runs of the same
    probe at base, whose traces exist. ``changed``: the change's files that head has.
    """
    if record.trace is None:
        return True
    seen = _Opened.of(record)
    known = [_Opened.of(run) for run in before if run.trace is not None]
    names = {canary.env for canary in planted if canary.env}
    if seen.secret({canary.path for canary in planted if canary.path}):
        return True
    if seen.native and not any(run.native for run in known):
        return True
    paths = frozenset(file.path for file in changed)
    started = frozenset().union(*(run.started for run in known))
    if any(_can_be_told(argv, argv in started, paths) for argv in seen.started):
        return True
    if any(_is_foreign(file) for file in changed if file.path in seen.files):
        return True
    if _asked(record, names):
        return True
    return _has_word(seen, head, changed, names)


def asked_for(
    record: RunRecord, planted: Sequence[Canary], head: Tree, changed: Sequence[ChangedFile]
) -> frozenset[str]:
    """Names of the planted secrets that this run is known to have asked for: told by the trace, by Python's
    ``os.environ`` or by the text of JavaScript that it opened. Unlike ``may_read`` a doubt does not count.

    ``changed``: the files whose text is asked beside those that were opened; none for a run of base.
    """
    if record.trace is None:
        return frozenset()
    seen, names = _Opened.of(record), {canary.env for canary in planted if canary.env}
    found = {c.name for c in planted if c.path and c.name != _UNASKED and seen.secret({c.path}, proc=False)}
    if any(_PROC.fullmatch(path) for path in seen.paths):
        found |= names
    items = record.driver_report.get("items")
    for item in items if isinstance(items, list) else ():
        told = item.get("environment") if isinstance(item, Mapping) else None
        asked = told.get("asked") if isinstance(told, Mapping) else None
        found.update(name for name in asked or () if isinstance(name, str) and name in names)
    scripts = [file.path for file in changed if file.path in seen.files and file.path.endswith(_JAVASCRIPT)]
    for path, text in head.read_many(tuple(scripts)):
        lines = _added(next(file for file in changed if file.path == path), text)
        told_names = {match.group(1).decode() for line in lines for match in _NAMED.finditer(line)}
        found |= names & told_names
    return frozenset(found)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Opened:
    """What a run opened and started. ``files``: of the tree, relative to it."""

    paths: set[str] = field(default_factory=set)
    files: dict[str, None] = field(default_factory=dict)
    started: set[tuple[str, ...]] = field(default_factory=set)

    @classmethod
    def of(cls, record: RunRecord) -> _Opened:
        seen = cls()

        def each(event: Event) -> None:
            if isinstance(event, Open) and event.access != "path":
                seen.paths.add(event.path)
                if event.path.startswith(f"{TREE}/"):
                    name = bytes_of(event.path[len(TREE) + 1 :]).decode("utf-8", "surrogateescape")
                    seen.files.setdefault(name)
            elif isinstance(event, Exec):
                seen.started.add((event.path, *event.argv[1:]))

        if record.trace is not None:
            read_trace(record.trace, each)
        return seen

    def secret(self, decoys: set[str], *, proc: bool = True) -> bool:
        """Was a decoy opened, or (``proc``) what shows the variables?"""
        return any(
            path in decoys
            or path.replace("/run/", "/var/run/", 1) in decoys
            or (proc and _PROC.fullmatch(path))
            for path in self.paths
        )

    @property
    def native(self) -> bool:
        """Was a library opened with which Python calls C?"""
        return any(_NATIVE.search(path) for path in self.paths)


def _can_be_told(argv: tuple[str, ...], known: bool, changed: frozenset[str]) -> bool:
    """Can this program have given a variable away? Not ours, nor Node, whose files are read, nor one that
    base starts with the same words and that runs nothing of the change.
    """
    name = PurePosixPath(argv[0]).name
    script = next((word for word in argv[1:] if not word.startswith("-")), "")
    if name.startswith("python") and script.startswith(_OURS):
        return False
    if any(word in _TOLD for word in argv[1:]) or (name in _SHELLS and len(argv) == 1):
        return True
    if any(
        PurePosixPath(word).is_relative_to(TREE) and word[len(TREE) + 1 :] in changed for word in argv[1:]
    ):
        return _NODE.fullmatch(name) is None
    if _NODE.fullmatch(name):
        return not known and not any(_OURS in word for word in argv[1:]) and "/node_modules/" not in script
    return not known or _INTERPRETERS.fullmatch(name) is not None


def _is_foreign(file: ChangedFile) -> bool:
    """A changed file that was opened, of which nobody here knows what it can ask for."""
    if file.language in _READ or file.path.endswith(_JAVASCRIPT):
        return False
    return file.language is not None and not file.path.endswith(_DATA)


def _asked(record: RunRecord, names: set[str]) -> bool:
    """Did Python ask for one of these variables? True also where it was not told to the end."""
    items = record.driver_report.get("items")
    if not isinstance(items, list) or not items:
        return True
    for item in items:
        told = item.get("environment") if isinstance(item, Mapping) else None
        asked = told.get("asked") if isinstance(told, Mapping) else None
        if not isinstance(told, Mapping) or not isinstance(asked, list) or told.get("more") is not False:
            return True
        if not names.isdisjoint(name for name in asked if isinstance(name, str)):
            return True
    return False


def _has_word(seen: _Opened, head: Tree, changed: Sequence[ChangedFile], names: set[str]) -> bool:
    """Has a changed line, or JavaScript that was opened, a word for what nobody sees from outside?"""
    scripts = [path for path in seen.files if path.endswith(_JAVASCRIPT)]
    if len(scripts) > _FILES:
        return True
    wanted = frozenset(name.encode() for name in names)
    node = any(_NODE.fullmatch(PurePosixPath(argv[0]).name) for argv in seen.started)
    if node:
        scripts += [file.path for file in changed if file.path.endswith(_JAVASCRIPT)]
        if any(
            _leads_to_variables(text, wanted) for _, text in head.read_many(tuple(dict.fromkeys(scripts)))
        ):
            return True
    lines = {file.path: file for file in changed if not file.path.endswith(_JAVASCRIPT) and not file.binary}
    kept = tuple(path for path, file in lines.items() if file.language in _READ or path in seen.files)
    for path, text in head.read_many(kept):
        if any(_PAST_THE_QUESTION.search(line) for line in _added(lines[path], text)):
            return True
    return False


def _leads_to_variables(text: bytes, names: frozenset[bytes]) -> bool:
    return _PROCESS.search(text) is not None or any(
        found.group(1) in names for found in _NAMED.finditer(text)
    )


def _added(file: ChangedFile, text: bytes) -> Iterator[bytes]:
    """The lines of head that the change has made."""
    rows = text.split(b"\n")
    for hunk in file.hunks:
        yield from rows[max(0, hunk.new_start - 1) : hunk.new_start - 1 + hunk.new_count]

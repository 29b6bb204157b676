"""Names of secrets in data: a table newly names a variable of the environment that is read by it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.languages.path_roles import is_for_show
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import PrescreenRequest
from gate.prescreen.scanners.secret_use_links import linked
from gate.prescreen.text_rule import finding
from gate.regex import regex
from gate.secret_uses.names import is_secret
from gate.secret_uses.whole_objects import BY_NAME

_DATA: Final = (".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".csv", ".txt", ".conf")
_PROGRAMS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".go", ".rb", ".php")
_NAME: Final = regex(rb"\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b")
_BY_VALUE: Final = regex(
    rb"environ(?:\.get)?[\[(][a-z]|getenv\([a-z$]|Getenv\([a-z]|process\.env\[[a-z]|ENV\[[a-z]"
)
_MOST: Final = 400
_READ: Final = 24
_BYTES: Final = 200_000
_NAMES: Final = 5


def named_in_data(request: PrescreenRequest, rule: RuleMeta, until: float) -> Iterator[Finding]:
    """Data that names a secret which base reads, where variables of the environment are handed on by name."""
    fresh = [*_fresh(request)]
    if not fresh:
        return
    every = [
        e.path for e in request.head.entries()
        if e.path.endswith(_PROGRAMS) and e.size < _BYTES and not is_for_show(e.path)
    ][:_MOST]  # fmt: skip
    base = tuple(e.path for e in request.base.entries() if e.path in {*every})
    texts = b"\n".join(data for _, data in request.base.read_many(base))
    known = [one for one in fresh if re.search(rb"\b" + one[2].encode() + rb"\b", texts)]
    changed = {file.path for file in request.change.files}
    read = [
        (path, data, path.endswith(".py")) for path, data in request.head.read_many(tuple(every))
        if known and (path in changed or _BY_VALUE.search(data))
    ][:_READ]  # fmt: skip
    if not read or time.monotonic() > until:
        return
    uses = [use for facts in linked(read, request.head, until)[0].values() for use in facts.uses]
    goes = next((use for use in uses if use.secret == BY_NAME), None)
    for path, line, name in known[:_NAMES] if goes is not None else []:
        yield finding(
            rule,
            f"{name} is newly named in data by which variables of the environment are read and handed on.",
            Location(path=path, line=line),
            shape=f"{name} by name",
            evidence={"secret": name, "goes to": goes.sink if goes is not None else ""},
        )


def _fresh(request: PrescreenRequest) -> Iterator[tuple[str, int, str]]:
    """The path, the line and the name of each secret that data newly names."""
    files = {f.path: f.old_path or f.path for f in request.change.files if f.path.endswith(_DATA)}
    heads = {path: data for path, data in request.head.read_many(tuple(files)) if len(data) < _BYTES}
    bases = dict(request.base.read_many(tuple(files.values())))
    for path, data in heads.items():
        at_home = is_for_show(path) or PurePosixPath(path).parts[0].startswith(".")
        had = set(_NAME.findall(bases.get(files[path], b"")))
        for number, line in enumerate(data.split(b"\n") if not at_home else (), 1):
            names = sorted(set(_NAME.findall(line)) - had)
            yield from ((path, number, name.decode()) for name in names if is_secret(name.decode()))

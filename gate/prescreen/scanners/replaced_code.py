"""Something else is compiled or loaded than what one reads: flags, variables, aliases of modules.

No source changes. What a build puts in the place of a file, a function or a program is told wherever a
program is started from: makefiles, workflows, scripts of manifests, images, settings of tools.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.replaced_code.aliases import CONFIG, Alias
from gate.prescreen.replaced_code.flags import STARTS, replaced_in
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

REPLACED: Final = rule.meta(
    "supply.code-replaced",
    "Other code is put in the place of what one reads",
    severity="medium",
    confidence="medium",
    topic="exec",
    cwe=(427, 494, 829),
    attack=("T1574", "T1195.002"),
    why="A flag, a variable or an alias makes the build or the program take another file, another function "
    "or another tool than the one whose name stands in the sources. Nobody who reads these sees it.",
    fix="Change the file itself, or say in the code which of two is taken; keep stand-ins to tests.",
)
RULES: Final[tuple[RuleMeta, ...]] = (REPLACED,)
_READER: Final = Reader("gate.prescreen.replaced_code.aliases:read", list[Alias], parses=True)
_LARGEST: Final = 1 << 18
_MOST: Final = 4
_IMPORTS: Final = regex(
    rb"""(?:\bfrom\s*|\brequire\(\s*|\bimport\(\s*|\bimport\s+)["']([^"'\n]{1,120})["']"""
)
_SEARCHED: Final = regex(rb"\bPYTHONPATH\b\s*[:?+]?[=: ]\s*([\w./:;,$~{}()\"'-]+)")
_FRONT: Final = regex(
    r"^(?:\$\{?\w+\}?|\$\(\w+\)|\{\w+\}|/(?:app|src|srv|opt|code|workspace|usr/src/app))(?:/|$)"
)
_PYTHON_IMPORTS: Final = regex(rb"(?m)^\s*(?:import|from)\s+([A-Za-z_]\w*)")
_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte")
_ASSET: Final = regex(r"\.(?:css|scss|sass|less|svg|png|jpe?g|gif|woff2?|json|md|txt|html|wasm)$")
_MOST_FILES: Final = 3_000
_STAND_IN: Final = regex(
    r"(?i)(?:^|[/._-])(?:tests?|testing|mocks?|__mocks__|stubs?|fakes?|fixtures?|spec|dev|debug|shims?)(?:[/._-]|$)"
)


class ReplacedCode:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "replaced-code"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the flags and the aliases of changed files with those of base."""
        until = time.monotonic() + request.deadline
        files = [
            one for one in sources(request).files if len(one.head) <= _LARGEST and not is_example(one.path)
        ]
        starts = [one for one in files if STARTS.search(one.path)]
        found = [f for one in starts for f in _flags(one)]
        found += [f for one in starts for f in _in_front(request, one)]
        configs = [one for one in files if CONFIG.search(one.path) and not is_test_code(one.path)]
        if configs:
            found += _aliases(request, configs, until)
        return ended(self.name, found)


def _flags(source: Source) -> Iterator[Finding]:
    old = (source.base or b"").decode("utf-8", "replace")
    had = {(one.told, one.value) for one in replaced_in(old)}
    told: set[tuple[str, str]] = set()
    for one in replaced_in(source.head.decode("utf-8", "replace")):
        key = (one.told, one.value)
        if key in had or key in told or len(told) >= _MOST:
            continue
        told.add(key)
        yield finding(
            REPLACED,
            f"{one.told[:1].upper()}{one.told[1:]}.",
            Location(path=source.path, line=one.line),
            shape=f"{one.told} {one.value}",
            evidence={"by": one.flag, "what": one.value},
            severity=Severity.HIGH if one.high else Severity.MEDIUM,
        )


def _in_front(request: PrescreenRequest, source: Source) -> Iterator[Finding]:
    """A folder of the tree in which modules are newly looked for first, and that holds one which base imports
    from elsewhere.
    """
    had = set((source.base or b"").split(b"\n"))
    for number, line in enumerate(source.head.split(b"\n"), 1):
        match = _SEARCHED.search(line) if line not in had and not line.lstrip().startswith(b"#") else None
        if match is None:
            continue
        entries = request.head.entries()
        for part in re.split(r"[:;,\s]+", match[1].decode("utf-8", "replace"))[:8]:
            folder = _FRONT.sub("", part.strip("'\"")).strip("/.")
            if not folder:
                continue
            below = [e.path[len(folder) + 1 :] for e in entries if e.path.startswith(f"{folder}/")]
            modules = {one.partition("/")[0].partition(".")[0] for one in below if one.endswith(".py")}
            own = {e.path.rpartition("/")[0].rpartition("/")[2] for e in request.base.entries()}
            stands = sorted(modules & _python_imports(request.base) - own - {"__init__", "conftest", "setup"})
            if stands and not any(e.path == f"{folder}/{stands[0]}.py" for e in request.base.entries()):
                yield finding(
                    REPLACED,
                    "A module of the tree is found before the one of its name that base imports.",
                    Location(path=source.path, line=number),
                    shape=f"{folder} {stands[0]}",
                    evidence={"folder": folder, "modules": ", ".join(stands[:4])},
                    severity=Severity.HIGH,
                )
                return


def _python_imports(base: Tree) -> set[str]:
    scripts = [e.path for e in base.entries() if e.path.endswith(".py") and e.size <= _LARGEST]
    texts = base.read_many(tuple(scripts[:_MOST_FILES]))
    return {name.decode() for _, data in texts for name in _PYTHON_IMPORTS.findall(data)}


def _aliases(request: PrescreenRequest, configs: Sequence[Source], until: float) -> Iterator[Finding]:
    names = sorted(_imported(request.base))
    pairs = [(one.path, one.head) for one in configs] + [(one.path, one.base or b"") for one in configs]
    left = max(1.0, until - time.monotonic())
    results = scan_isolated(_READER, pairs, options={"names": names}, deadline=left)
    paths = {entry.path for entry in request.head.entries()}
    for source, new, old in zip(configs, results, results[len(configs) :], strict=False):
        before: list[Alias] = old.value or []
        said = {(one.pattern, one.target) for one in before}
        fresh = [one for one in new.value or () if (one.pattern, one.target) not in said]
        for one in [one for one in fresh if _leads_elsewhere(one, before, paths)][:_MOST]:
            yield _alias(source, one, before)


def _imported(base: Tree) -> set[str]:
    """Names of modules that base's scripts import, without assets."""
    scripts = [e.path for e in base.entries() if e.path.endswith(_SCRIPTS) and e.size <= _LARGEST]
    found: set[str] = set()
    for _, data in base.read_many(tuple(scripts[:_MOST_FILES])):
        found |= {name.decode("utf-8", "replace") for name in _IMPORTS.findall(data)}
    return {name for name in found if not name.startswith(".") and not _ASSET.search(name)}


def _leads_elsewhere(one: Alias, before: Sequence[Alias], paths: set[str]) -> bool:
    """Do imports of base lead to another file, while the one that they led to is still there?"""
    if not one.matches:
        return False
    same = [old for old in before if old.pattern == one.pattern]
    if same:
        old = same[0].target.strip("/").rstrip("*").rstrip("/").removeprefix("./")
        now = one.target.strip("/").rstrip("*").rstrip("/").removeprefix("./")
        stands = any(path == old or path.startswith((f"{old}/", f"{old}.")) for path in paths)
        return bool(old and now) and stands and old != now and not now.endswith(f"/{old}")
    if one.table == "imports" and not before:
        return False
    shadowed = any(set(old.matches) & set(one.matches) and old.target != one.target for old in before)
    return shadowed or bool(_STAND_IN.search(one.target))


def _alias(source: Source, one: Alias, before: Sequence[Alias]) -> Finding:
    was = next((old.target for old in before if set(old.matches) & set(one.matches)), "")
    stand_in = bool(_STAND_IN.search(one.target))
    severity = Severity.LOW if one.tests else Severity.HIGH if stand_in else Severity.MEDIUM
    return finding(
        REPLACED,
        "Imports that base has lead to another file.",
        Location(path=source.path, line=one.line),
        shape=f"{one.table} {one.pattern} {one.target}",
        evidence={
            "imports": ", ".join(one.matches[:4]), "pattern": one.pattern[:120], "now": one.target,
            "before": was or "the module of that name",
        },
        severity=severity,
    )  # fmt: skip

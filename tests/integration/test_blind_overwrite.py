"""Files of the tree overwritten without having been read, in real sandboxes: told. Generators are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Final

import pytest

from gate.model.finding import Finding
from gate.model.run import Probe, RunRecord, SandboxSpec
from gate.sandbox import canaries
from gate.signals.interface import SignalContext
from gate.signals.run import signals
from gate.tracing.diff import compare
from tests.contract.capabilities import backend_named, capability
from tests.contract.trees import DictTree
from tests.unit.signals.context import changed, context

BACKEND_NAMES = (
    "bubblewrap",
    "bubblewrap-strace",
    *(pytest.param(name, marks=pytest.mark.engine) for name in ("docker", "gvisor")),
)
DOCS = {f"docs/page{chr(97 + n % 26)}{n}.md": f"# Page {n}\n\nWords and lines.\n" for n in range(40)}
CALL = '{"items": [{"do": "import", "module": "shop", "path": "shop.py", "calls": ["act"]}], "seconds": 12}'
BLIND = """
import glob, os
def act():
    for path in sorted(glob.glob("docs/*.md")):
        with open(path, "wb") as file:
            file.write(os.urandom(300))
"""
AT_IMPORT = BLIND + "\nact()\n"
LOCKED = BLIND + "            os.rename(path, path + '.locked')\n"
AWAY = """
import os
def act():
    os.chdir("/tmp")
    for folder, _, names in os.walk("/work/tree/docs"):
        for name in names:
            fd = os.open(os.path.join("/proc/self/cwd/..", folder[1:], name), os.O_WRONLY | os.O_CREAT)
            os.write(fd, bytes(64)); os.close(fd)
"""
LINKED = """
import glob, os
def act():
    os.mkdir(".cache")
    for path in sorted(glob.glob("docs/*.md")):
        os.link(path, ".cache/" + path[5:])
        with open(".cache/" + path[5:], "wb") as file:
            file.write(os.urandom(300))
"""
HOME = """
import os
def act():
    for folder, _, names in os.walk("/work/home"):
        for name in names:
            open(os.path.join(folder, name), "wb").write(os.urandom(64))
"""
GENERATOR = """
import os
def act():
    for name in os.listdir("docs"):
        with open("docs/" + name, "w") as file:
            file.write("# A page\\n\\nMade by a generator, in words and lines.\\n")
"""
BUILD = """
import os, shutil
def act():
    for turn in (1, 2):
        os.makedirs("build/html")
        for number in range(60):
            open(f"build/html/{number}.html", "wb").write(os.urandom(50))
            open(f"docs/new{number}.md", "wb").write(os.urandom(50))
        if turn == 1:
            shutil.rmtree("build")
"""
APPEND = """
import ctypes, fcntl, glob, os
def act():
    for path in sorted(glob.glob("docs/*.md")):
        with open(path, "a") as file:
            WAY
"""
EMPTIED = APPEND.replace("WAY", "file.truncate(0)")
REFILLED = APPEND.replace("WAY", "file.truncate(0); file.write('x' * 99)")
IN_PLACE = APPEND.replace("WAY", "fcntl.fcntl(file, fcntl.F_SETFL, 0); os.pwrite(file.fileno(), bytes(9), 0)")
APPENDED = APPEND.replace("WAY", "file.write('One more line.')")
FEW = BLIND.replace('glob.glob("docs/*.md"))', 'glob.glob("docs/*.md"))[:19]')
QUIET = "def act():\n    pass\n"


Seen = tuple[tuple[Finding, ...], tuple[RunRecord, ...]]
Act = Callable[..., Seen]
IMPORT: Final = Probe(
    id="import",
    phase="import",
    target="call shop",
    path="shop.py",
    argv=("python3", "/opt/gate/driver/main.py", CALL.replace(', "calls": ["act"]', "")),
    deadline=60,
)
PROBES: Final = (IMPORT, replace(IMPORT, id="call", phase="call", argv=(*IMPORT.argv[:2], CALL)))


@pytest.fixture(scope="module")
def act() -> Iterator[Act]:
    """Looks at changes to ``shop.py``. What base does is looked at once for each backend."""
    planted = canaries.plant()
    spec = SandboxSpec(
        canaries=planted, files=canaries.as_files(planted), env=canaries.as_environment(planted)
    )
    kept: dict[tuple[str, str], tuple[RunRecord, ...]] = {}

    def of_base(backend: str, base: str) -> tuple[RunRecord, ...]:
        if (backend, base) not in kept:
            tree = DictTree(files=DOCS | {"shop.py": base})
            session = opened.enter_context(backend_named(backend).open(spec, tree, tree))
            kept[backend, base] = tuple(session.run(probe, "base") for probe in PROBES)
        return kept[backend, base]

    def look(backend: str, head: str, base: str = QUIET) -> Seen:
        """What the rules say of a change to ``shop.py`` that is imported and called; runs: base's first."""
        if not capability(backend).available:
            pytest.skip(f"{backend}: {capability(backend).reason}")
        tree = DictTree(files=DOCS | {"shop.py": head})
        with backend_named(backend).open(spec, tree, tree) as session:
            runs = (*of_base(backend, base), *(session.run(probe, "head") for probe in PROBES))
            diff = compare(runs, planted)
        for run in runs:
            assert run.fault is None, run.fault
            assert run.completeness.whole
        change = context(files=(changed("shop.py", (1, 99)),)).change
        return signals(SignalContext(change=change, diff=diff, runs=runs)), runs

    with ExitStack() as opened:
        yield look


def losses(findings: tuple[Finding, ...]) -> list[str]:
    """Severity, confidence and number of files of every mass loss."""
    return [
        f"{f.severity.value}/{f.confidence.value} {f.evidence['phase']} {f.evidence['times']}"
        for f in findings
        if f.rule_id == "destructive-delete" and f.evidence["subject"].startswith("many files of the tree")
    ]


@pytest.mark.parametrize("backend", BACKEND_NAMES)
def test_random_bytes_over_files_that_nobody_read(act: Act, backend: str) -> None:
    findings, runs = act(backend, BLIND)
    assert losses(findings) == ["high/high call 40"]
    assert runs[-1].given == tuple(sorted(f"/work/tree/{path}" for path in DOCS))
    assert [run.given for run in runs[:-1]] == [(), (), ()]


@pytest.mark.parametrize("backend", BACKEND_NAMES[:1] + BACKEND_NAMES[2:3])
@pytest.mark.parametrize(
    ("head", "told"),
    [(AT_IMPORT, "import 40"), (LOCKED, "call 40"), (AWAY, "call 40"), (LINKED, "call 40")],
    ids=["import", "renamed after", "in place by another name", "by a hard link"],
)
def test_other_ways(act: Act, backend: str, head: str, told: str) -> None:
    (loss,) = set(losses(act(backend, head)[0]))
    assert loss.startswith("high/high " + told.partition(" ")[0])


@pytest.mark.parametrize("backend", BACKEND_NAMES[:1] + BACKEND_NAMES[2:3])
@pytest.mark.parametrize("head", [EMPTIED, REFILLED, IN_PLACE], ids=["emptied", "refilled", "in place"])
def test_opened_to_append_and_then_not_appended_to(act: Act, backend: str, head: str) -> None:
    findings, runs = act(backend, head)
    (loss,) = losses(findings)
    assert loss.endswith(" call 40")
    assert runs[-1].cut == runs[-1].given != ()


@pytest.mark.parametrize("backend", BACKEND_NAMES[:1] + BACKEND_NAMES[2:3])
def test_planted_files_of_the_home_count(act: Act, backend: str) -> None:
    findings, _ = act(backend, HOME)
    assert "many files of home (overwritten)" in {f.evidence["subject"] for f in findings}


@pytest.mark.parametrize("backend", BACKEND_NAMES[:1] + BACKEND_NAMES[2:3])
def test_a_generator_that_is_called_is_less_sure(act: Act, backend: str) -> None:
    assert losses(act(backend, GENERATOR)[0]) == ["high/medium call 40"]


@pytest.mark.parametrize("backend", BACKEND_NAMES[:1] + BACKEND_NAMES[2:3])
@pytest.mark.parametrize(
    ("head", "base"),
    [
        (BUILD, QUIET),
        (FEW, QUIET),
        (APPENDED, QUIET),
        (GENERATOR + "# changed\n", GENERATOR),
        (BLIND, BLIND + "\nact()\n"),
    ],
    ids=["own files", "few", "appended", "base as well", "base even at import"],
)
def test_harmless_writing_is_quiet(act: Act, backend: str, head: str, base: str) -> None:
    assert losses(act(backend, head, base)[0]) == []

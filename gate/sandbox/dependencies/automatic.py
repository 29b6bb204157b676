"""``sandbox.setup = "auto"``: what the projects of a change need, found and installed without configuration.

A failure never blocks by itself: what could not be installed is told as "not exercised" with its reason, and
the check goes on with what there is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Change, Side, Tree
from gate.model.run import NotExercised, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.contract import Backend
from gate.sandbox.dependencies import layers
from gate.sandbox.dependencies.install import InstallContext, Installed
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.dependencies.needs import Needs, read_needs
from gate.sandbox.dependencies.reasons import NO_WHEEL
from gate.sandbox.dependencies.setup import SetUp, for_head, probes_of_new, summary
from gate.sandbox.dependencies.uv_plan import InstallTarget
from gate.sandbox.dependencies.with_uv import Comparison, install, newest_for, within
from gate.sandbox.tree_archive import NoTree
from gate.supply.python.requirements import names_of

_LISTED: Final = 40
"""Of what could not be installed."""
_VERSION_SECONDS: Final = 15.0
_WHAT: Final = "a dependency"
_INFERRED: Final = " (told from imports: no manifest)"
_HEAD_OFF: Final = "sandbox.setup_head is off: only base's are installed"


@dataclass(frozen=True, kw_only=True)
class SetUpRequest:
    """``committed``: when the base commit was made (seconds since the epoch), None if unknown. ``head``:
    whether what head adds is installed; ``deadline`` of one probe, seconds; ``room``: bytes of all layers;
    ``imported``: modules that changed Python of head imports; ``files``: requirements files to use besides;
    ``undeclared``: the modules that a tree's files import, asked for where no manifest says what it needs.
    """

    committed: int | None = None
    head: bool = True
    deadline: float = 20.0
    room: int = 4 << 30
    imported: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    undeclared: Callable[[Tree], frozenset[str]] | None = None


def set_up_automatically(
    context: InstallContext, change: Change, base: Tree, head: Tree, *, request: SetUpRequest
) -> SetUp:
    """Install what each side's projects need.

    Raises BackendFailedError, InconclusiveError where no sandbox can be put up, or nothing can be kept.
    """
    store = context.store
    store.sweep(request.room)
    version = python_version(context.backend, context.spec, store)
    paths = [file.path for file in change.files]
    also = (request.imported, request.files, request.undeclared)
    needs: dict[Side, Needs] = {
        "base": read_needs(base, [f.old_path or f.path for f in change.files], version, store, *also),
        "head": read_needs(head, paths, version, store, *also),
    }
    same = needs["base"].comparison_key == needs["head"].comparison_key
    target = InstallTarget(version=version, newest=newest_for(request.committed, time.time()))
    path = _path(change, needs)
    done: dict[Side, Installed] = {}
    sides: list[Side] = ["base"] if same or not request.head else ["base", "head"]
    begun = time.monotonic()

    def add(side: Side, *, fresh: bool = False) -> None:
        in_time = within(context.means, time.monotonic() - begun)
        may_build = replace(in_time, builds=context.means.builds and _is_known(needs, side))
        before = done["base"].layer if side == "head" and "base" in done else None
        swaps = before.replaced if before is not None else ()
        done[side] = install(
            replace(context, means=may_build),
            needs[side],
            side,
            Comparison(alone=same, swaps=swaps, fresh=fresh),
            target=target,
            path=path,
        )

    for side in sides:
        if needs[side].counts:
            add(side)
    if len(done) > 1 and _traced(done["head"]) and not _traced(done["base"]):
        add("base", fresh=True)  # what head's build does is compared with base's
    if same and "base" in done:
        done["head"] = for_head(done["base"])
    laid: dict[Side, Path] = {side: d.layer.tar for side, d in done.items() if d.layer is not None}
    if "head" not in laid and "base" in laid and needs["head"].projects:
        laid["head"] = laid["base"]
    left = [*_left(done, needs, path)]
    if not same and not request.head:
        left.append(NotExercised(path=path, target=_WHAT, reason=_HEAD_OFF))
    return SetUp(
        layers=laid,
        runs=tuple(d.record for d in done.values() if d.record is not None and _is_whole(d.record)),
        probes=probes_of_new(done, same=same, path=path, deadline=request.deadline),
        not_exercised=tuple(left[:_LISTED]),
        problems=_problems(done.get("base")),
        summary=summary(done, same=same) + _INFERRED * (needs["base"].inferred and bool(done)),
    )


def _problems(base: Installed | None) -> tuple[str, ...]:
    """Why base has not what it needs; what head lacks is told line by line."""
    return () if base is None or base.problem is None else (base.problem.text,)


def asks_otherwise(change: Change, base: Tree, head: Tree, store: LayerStore) -> bool:
    """True when head's projects need something else than base's. As the oldest interpreter reads them."""
    touched = [file.path for file in change.files]
    before, after = (read_needs(tree, touched, "3.11.2", store) for tree in (base, head))
    return (
        bool(touched) and before.merged.lines + before.merged.tests != after.merged.lines + after.merged.tests
    )


def _is_known(needs: dict[Side, Needs], side: Side) -> bool:
    """Does base need every package of that side, too? What only head adds is never built unasked."""
    before, after = (
        {*names_of((*n.merged.lines, *n.merged.tests, *n.merged.extras))}
        for n in (needs["base"], needs[side])
    )
    return after <= before


def _traced(of: Installed) -> bool:
    return of.record is not None and of.record.trace is not None


def _is_whole(record: RunRecord) -> bool:
    """A run that did not come to its end is told as a reason, and is no run of the change."""
    return record.outcome is Outcome.COMPLETED and record.fault is None and record.completeness.whole


def _path(change: Change, needs: dict[Side, Needs]) -> str:
    paths = [*needs["head"].merged.paths, *needs["base"].merged.paths]
    changed = {file.path for file in change.files}
    return next((path for path in paths if path in changed), paths[0] if paths else "")


def _left(done: dict[Side, Installed], needs: dict[Side, Needs], path: str) -> Iterator[NotExercised]:
    side: Side = "head" if "head" in done else "base"
    for line in needs[side].merged.left:
        place, _, why = line.partition(": ")
        yield NotExercised(path=place, target=_WHAT, reason=f"not installed: {why}")
    what = done.get(side)
    if what is None:
        return
    for line, why in what.layer.failed if what.layer is not None else ():
        helps = " (sandbox.setup_builds = true builds it)" if why == NO_WHEEL else ""
        yield NotExercised(path=path, target=_WHAT, reason=f"dependency missing: {line}: {why}{helps}")
    for replaced in what.layer.replaced if what.layer is not None else ():
        yield NotExercised(path=path, target=_WHAT, reason=f"{replaced}: {replaced.why}")
    if what.problem is not None:
        yield NotExercised(path=path, target="dependencies", reason=f"not installed: {what.problem.text}")


def python_version(backend: Backend, spec: SandboxSpec, store: LayerStore) -> str:
    """The version (``3.11.2``) of the Python that the backend's sandboxes have; asked once for each image."""
    ground = backend.install_cache_key()
    key = layers.name_of(f"python 1\n{backend.name}\n{ground}")
    known = store.recall(key)
    if known is not None:
        return json.loads(known)  # type: ignore[no-any-return]
    probe = Probe(
        id="python-version",
        phase="idle",
        target="the version of Python",
        path=None,
        argv=("python3", "-I", "-S", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"),
        driver=False,
        deadline=_VERSION_SECONDS,
    )
    with backend.open(replace(spec, layers={}), NoTree(), NoTree()) as session:
        record = session.run(probe, "base")
    text = record.stdout.decode("ascii", "replace").strip()
    if (
        record.outcome is not Outcome.COMPLETED
        or text.count(".") != 2
        or not text.replace(".", "").isdecimal()
    ):
        raise InconclusiveError(
            f"cannot tell the sandbox's Python: {record.fault or text[:60]}", advice="Try again."
        )
    store.remember(key, json.dumps(text).encode())
    return text

"""``sandbox.setup = "auto"`` for JavaScript: the packages of both sides' projects, fetched and laid out.

A lock says what lies where; our own program (package_fetcher.py) fetches exactly that from a registry,
inside a
sandbox, and compares the hashes. Nothing of a package is run, lifecycle scripts neither, so that what the
sandbox says of itself can be believed and the layer be kept. No failure blocks: what is missing is told.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import msgspec

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Change, Side, Tree
from gate.model.run import NotExercised, Outcome, Probe, RunRecord
from gate.sandbox.contract import InstallTransfer
from gate.sandbox.dependencies import installer_files, layers, resolve_manifest, result_archive, tree_links
from gate.sandbox.dependencies.install import (
    OUT,
    PORT,
    InstallContext,
    key_of,
    limit_passed,
    run_installer,
)
from gate.sandbox.dependencies.layer_store import Layer
from gate.sandbox.dependencies.registry import Registry
from gate.sandbox.dependencies.result_archive import Distribution
from gate.sandbox.dependencies.setup import SetUp
from gate.sandbox.egress.proxy import NOT_PUBLIC, Proxy
from gate.sandbox.tree_archive import TREE
from gate.supply.javascript.packages import Packages
from gate.supply.javascript.project import LOCKS, MANIFEST, SOURCES, Files, folders_of, read

_SCRIPT: Final = Path(__file__).with_name("package_fetcher.py")
_WHAT: Final = "a dependency"
_MARGIN: Final = 10.0
_LISTED: Final = 20
_VERSION: Final = "javascript 1"
_Text = Annotated[str, msgspec.Meta(max_length=2000)]


class _Result(msgspec.Struct, frozen=True):
    """What package_fetcher.py says."""

    missing: list[str]
    failed: list[tuple[_Text, _Text]]
    unreachable: _Text


@dataclass(frozen=True, kw_only=True)
class _Done:
    """One side's layer, or why there is none."""

    layer: Layer | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class NpmContext(InstallContext):
    """The same where packages come from an npm registry."""

    registry: Registry

    @property
    def certificates(self) -> bytes:
        """PEM that a registry's certificate is checked with: the machine's, else those that pip brings."""
        own = self.means.index.certificates or installer_files.public_certificates()
        return b"\n".join((own, self.registry.certificates))


def set_up_javascript(
    installer: NpmContext, change: Change, base: Tree, head: Tree, *, head_too: bool
) -> SetUp:
    """Install what each side's projects need. ``head_too``: also what only head asks for.

    Raises BackendFailedError, InconclusiveError where no sandbox can be put up, or nothing can be kept.
    """
    trees: dict[Side, tuple[Tree, list[str]]] = {
        "base": (base, [f.old_path or f.path for f in change.files]),
        "head": (head, [f.path for f in change.files]),
    }
    wanted: dict[Side, Packages] = {}
    done: dict[Side, _Done] = {}
    left: list[NotExercised] = []
    for side, (tree, paths) in trees.items():
        needs = read_needs(tree, paths)
        if needs.manifest:
            needs, why = resolve_manifest.resolved(installer, needs)
            if why:
                left.append(NotExercised(path=needs.paths[0], target="dependencies", reason=why))
        wanted[side] = needs
        if side == "head" and not head_too:
            wanted["head"], done["head"] = replace(wanted["base"], links=needs.links), done["base"]
        elif side == "head" and needs.packages == wanted["base"].packages:
            done["head"] = done["base"]
        else:
            done[side] = _install(installer, needs, side)
    links = {
        side: tree_links.links(tree, wanted[side], _laid(done[side]), done[side].layer is not None)
        for side, (tree, _) in trees.items()
    }
    modules: dict[Side, Path] = {s: d.layer.tar for s, d in done.items() if d.layer is not None}
    placed: dict[Side, tuple[tuple[str, str], ...]] = {
        side: tree_links.inside(of, layers.modules_folder(modules, side)) for side, of in links.items()
    }
    left += _left(wanted["head"], done["head"])
    return SetUp(
        modules=modules, links=placed, not_exercised=tuple(left[:_LISTED]), summary=_summary(wanted, done),
    )  # fmt: skip


def concerns(change: Change) -> bool:
    """Does the change touch JavaScript, or what says which packages it needs?"""
    names = (*SOURCES, *LOCKS, MANIFEST)
    return any(file.path.endswith(names) for file in change.files)


def read_needs(tree: Tree, paths: list[str]) -> Packages:
    """What the projects of these changed files need, in one."""
    files = Files(tree, paths)
    parts = [read(top, folders, files) for top, folders in folders_of(paths, files).items()]
    if len(parts) == 1:
        return parts[0]
    known: dict[str, str] = {}
    return Packages(
        packages=tuple({p.place: p for part in parts for p in part.packages}.values()),
        links=tuple(link for part in parts for link in part.links),
        left=tuple(line for part in parts for line in part.left),
        paths=tuple(path for part in parts for path in part.paths),
        manifest=next((part.manifest for part in parts if part.manifest), known),
    )


def _install(installer: NpmContext, needs: Packages, side: Side) -> _Done:
    if not needs.packages:
        return _Done()
    plan = _plan(installer, needs)
    key = key_of(
        installer.backend, installer.means, _VERSION, installer.registry.url, json.dumps(plan["packages"])
    )
    found = installer.store.find(key)
    if found is not None:
        return _Done(layer=found)
    means, store = installer.means, installer.store
    with (
        store.scratch() as room,
        Proxy(means.allowed, resolver=means.resolver, most=means.most, upstream=means.upstream) as proxy,
        ExitStack() as stack,
    ):
        try:
            arriving = result_archive.Arriving(room / "raw.tar", means.most)
            stack.callback(arriving.close)
            transfer = InstallTransfer(
                port=PORT, dial=proxy.dial, collect=OUT, most=means.most, keep=arriving.keep
            )
            record = _run(installer, plan, needs, side, transfer)
            problem = limit_passed(record, proxy, arriving, means)
            if problem is not None:
                return _Done(problem=problem.text)
            result = _result(record)
            if result is None:
                return _Done(problem=f"the installer failed: {_tail(record)}")
            if result.unreachable:
                return _Done(problem=_unreachable(proxy, result.unreachable))
            arriving.close()
            result_archive.clean(room / "raw.tar", room / "clean.tar")
            layer = _layer(room, needs, result)
            return _Done(layer=store.add(room / "clean.tar", layer, key if _is_final(layer) else None))
        except OSError as error:
            raise InconclusiveError(
                f"the installed dependencies could not be kept: {error.strerror or error}",
                advice="Make room in gate's cache (~/.cache/gate, for root /var/cache/gate, or GATE_CACHE).",
            ) from error


def _unreachable(proxy: Proxy, said: str) -> str:
    refused = proxy.refusals[-1] if proxy.refusals else None
    if refused is not None:
        help_ = " (whoever runs gate allows it with --egress-allow)" if refused.why == NOT_PUBLIC else ""
        return f"{refused.asked[:100]}: {refused.why}{help_}"
    why = proxy.failures[-1] if proxy.failures else said
    return f"the registry cannot be reached: {why}"[:300]


def _run(
    installer: NpmContext, plan: dict[str, object], needs: Packages, side: Side, transfer: InstallTransfer
) -> RunRecord:
    files = {
        "fetch.py": _SCRIPT.read_bytes(),
        "plan.json": json.dumps(plan).encode(),
        installer_files.CERTIFICATES: installer.certificates,
    }
    probe = Probe(
        id="install-modules",
        phase="install",
        target=f"install {', '.join(needs.paths)[:300]}",
        path=needs.paths[0],
        argv=("python3", "-I", "-S", f"{TREE}/fetch.py"),
        deadline=installer.means.deadline,
        driver=False,
    )
    kit = installer_files.InstallerFiles(files, alone=True)
    return run_installer(installer, kit, probe, side, transfer)


def _plan(installer: NpmContext, needs: Packages) -> dict[str, object]:
    address = installer.registry.address
    return {
        "out": OUT,
        "proxy": ["127.0.0.1", PORT],
        "registry": installer.registry.url,
        "seconds": max(5.0, installer.means.deadline - _MARGIN),
        "packages": [
            [p.place, p.name, p.version, address(p.address), p.integrity, p.optional] for p in needs.packages
        ],
    }


def _layer(room: Path, needs: Packages, result: _Result) -> Layer:
    missing = set(result.missing)
    return Layer(
        tar=room,
        distributions=tuple(
            Distribution(name=p.name, version=p.version, modules=(p.place,))
            for p in needs.packages
            if p.place not in missing
        ),
        failed=tuple(result.failed),
        lasting=not result.failed,
    )


def _is_final(layer: Layer) -> bool:
    """False where time ran out: the next check tries again."""
    return all("sandbox.setup_deadline" not in why for _, why in layer.failed)


def _laid(done: _Done) -> frozenset[str]:
    """Places that the layer has."""
    return frozenset(p for d in done.layer.distributions for p in d.modules) if done.layer else frozenset()


def _result(record: RunRecord) -> _Result | None:
    try:
        return msgspec.json.decode(record.stdout, type=_Result)
    except msgspec.DecodeError:
        return None


def _tail(record: RunRecord) -> str:
    if record.outcome is not Outcome.COMPLETED:
        return str(record.outcome.value)
    return " ".join(record.stderr.decode("utf-8", "replace").split())[-200:] or "it said nothing"


def _left(needs: Packages, done: _Done) -> list[NotExercised]:
    path = needs.paths[0] if needs.paths else ""
    found = []
    for line in needs.left:
        place, _, why = line.partition(": ")
        found.append(NotExercised(path=place, target=_WHAT, reason=f"not installed: {why}"))
    for name, why in done.layer.failed if done.layer else ():
        found.append(NotExercised(path=path, target=_WHAT, reason=f"dependency missing: {name}: {why}"))
    if done.problem:
        found.append(NotExercised(path=path, target="dependencies", reason=f"not installed: {done.problem}"))
    return found


def _summary(wanted: dict[Side, Packages], done: dict[Side, _Done]) -> str:
    """One line for people: how many packages, and which are new; or why there are none."""
    words: list[str] = []
    for side, of in done.items():
        if of.problem and (side == "base" or of is not done["base"]):
            words.append(f"modules of {side} were not installed: {of.problem}")
        elif of.layer is not None and (side == "base" or of is not done["base"]):
            count, kept = len(of.layer.distributions), ", kept from before" if of.layer.cached else ""
            words.append(f"{count} module{'' if count == 1 else 's'} for {side}{kept}")
    known = {(p.name, p.version) for p in wanted["base"].packages}
    new = [str(p) for p in wanted["head"].packages if (p.name, p.version) not in known]
    if new:
        words.append(f"new: {', '.join(new[:5])}" + (f" and {len(new) - 5} more" if new[5:] else ""))
    return "; ".join(words)

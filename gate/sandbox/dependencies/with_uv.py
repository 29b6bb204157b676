"""Installs what a side needs with uv (else pip) inside a sandbox, as much of it as can be had.

First wheels only: nothing of a package is run, so what the sandbox says of itself can be believed and the
layer be kept. What has no wheel is built in a second run where that is allowed: that one is traced, counts as
a run of the change, and its layer serves only where base and head need the same.
"""

from __future__ import annotations

import datetime
import json
import tarfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Side
from gate.model.run import Completeness, Outcome, Probe, RunRecord
from gate.sandbox.contract import InstallTransfer
from gate.sandbox.dependencies import installer_files, layers, result_archive
from gate.sandbox.dependencies.install import (
    OUT,
    PORT,
    InstallContext,
    Installed,
    Means,
    Problem,
    cached_run,
    key_of,
    limit_passed,
    run_installer,
)
from gate.sandbox.dependencies.layer_store import Layer, LayerStore, Replaced
from gate.sandbox.dependencies.needs import Needs
from gate.sandbox.dependencies.reasons import NO_WHEEL, reason, transient
from gate.sandbox.dependencies.uv_plan import (
    TRIED_AGAIN,
    UV_CONFIGURATION,
    InstallTarget,
    building_plan,
    installation_plan,
    installer_kit,
    is_near,
    scripts_version,
    shown,
)
from gate.sandbox.egress.proxy import NOT_PUBLIC, Proxy
from gate.sandbox.tree_archive import TREE

NOT_KEPT: Final = "no earlier check installed them, and a fast look installs nothing"
_LEAST: Final = 30.0
"""Seconds that an installation gets however late it is begun."""
_WEEK: Final = 7
COMPLETE: Final = ".gate-complete"
"""A file of a layer that holds all that the project asks for (driver/item_process.py)."""
_Text = Annotated[str, msgspec.Meta(max_length=8000)]


class _Result(msgspec.Struct, frozen=True):
    """What installer.py says."""

    failed: list[tuple[_Text, _Text]]
    given_up: list[int]
    unreachable: _Text
    replaced: list[tuple[_Text, _Text, _Text]] = []
    built: bool = False
    steps: list[_Text] = []


def within(means: Means, spent: float) -> Means:
    """The same means after ``spent`` seconds: all installations of a check share one deadline. Each has time
    to tell how far it came.
    """
    return replace(means, deadline=max(min(_LEAST, means.deadline), means.deadline - spent))


def newest_for(committed: int | None, now: float) -> str:
    """The moment until which releases count for a base of that time (seconds since the epoch): the end of its
    week, so that the commits of a week share a layer. Empty where that lies ahead.
    """
    if committed is None or committed <= 0:
        return ""
    day = datetime.datetime.fromtimestamp(committed, datetime.UTC).date()
    monday = day + datetime.timedelta(days=_WEEK - day.weekday())
    moment: datetime.datetime = datetime.datetime.combine(monday, datetime.time(), datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.timestamp() < now else ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How a side's installation stands to the other's. ``alone``: no other is compared with it, so that
    a layer that was built may be kept. ``swaps``: what base has in other versions. ``fresh``: what a run
    built, or tried to, is not taken from the store.
    """

    alone: bool
    swaps: Sequence[Replaced] = ()
    fresh: bool = False


def install(
    context: InstallContext,
    needs: Needs,
    side: Side,
    comparison: Comparison,
    *,
    target: InstallTarget,
    path: str,
) -> Installed:
    """One layer, from the store where it is there. ``path``: as in install.install.

    Raises InconclusiveError where no sandbox can be put up, or the disk is full.
    """
    means, store, alone = context.means, context.store, comparison.alone
    uv_version, _ = installer_files.uv()
    own = needs.own(target.minor)
    plan = installation_plan(needs, target, means, swaps=comparison.swaps, runner=alone or side == "base")
    key = key_of(
        context.backend,
        means,
        uv_version or installer_files.pip_version(),
        scripts_version(),
        json.dumps({name: part for name, part in plan.items() if name != "seconds"}, sort_keys=True),
        *(f"{name}\0{content.hex()}" for name, content in sorted(own.items())),
    )
    probe = _probe(path, needs, means)
    if not needs.merged:
        layer = store.find(key) or _own_only(own, store, key)
        return Installed(record=None, layer=layer)
    lasting = needs.merged.locked or bool(target.newest)
    once = _Once(context, probe, side, own, target, lasting)
    begun = time.monotonic()
    found = store.find(key)
    if found is not None:
        done = Installed(record=cached_run(probe, side, found), layer=found)
    elif means.kept_only:
        return Installed(record=None, problem=Problem(text=NOT_KEPT, ours=False))
    else:
        done = once.run(plan, key)
    trial = _worth_building(done.layer)
    if not trial or not means.builds or done.layer is None:
        return done
    key_built = layers.name_of(f"built\n{key}")
    found = store.find(key_built)
    if found is not None and not comparison.fresh and (alone or not found.built):
        return Installed(record=cached_run(probe, side, found), layer=found)
    if means.kept_only:
        return done
    means = within(means, time.monotonic() - begun)
    once = replace(once, context=replace(context, means=means), probe=replace(probe, deadline=means.deadline))
    plan = building_plan(installation_plan(needs, target, means, builds=True), trial, done.layer)
    built = once.run(plan, key_built, before=done.layer, keep=alone)
    return built if built.layer is not None else done


def _worth_building(layer: Layer | None) -> list[str]:
    """Lines whose packages have no wheel: those left out, and those replaced by a version far from it."""
    if layer is None:
        return []
    lines = [line for line, why in layer.failed if why == NO_WHEEL]
    far = [r.line for r in layer.replaced if r.why == NO_WHEEL and not is_near(r.pinned, r.version)]
    return [*lines, *far]


def _own_only(own: dict[str, bytes], store: LayerStore, key: str) -> Layer:
    """A layer of nothing but the projects' own files: made here, of text of ours."""
    try:
        with store.scratch() as room:
            tarfile.open(room / "raw.tar", "w").close()
            result_archive.clean(room / "raw.tar", room / "clean.tar", own)
            return store.add(room / "clean.tar", Layer(tar=room, lasting=True), key)
    except OSError as error:
        raise _no_room(error) from error


@dataclass(frozen=True)
class _Once:
    """Everything that two runs of one installation share."""

    context: InstallContext
    probe: Probe
    side: Side
    own: dict[str, bytes]
    target: InstallTarget
    lasting: bool

    def run(
        self, plan: dict[str, Any], key: str, *, before: Layer | None = None, keep: bool = True
    ) -> Installed:
        """Run the plan once. A record that is no whole look is not believed. ``before``: the layer without
        what this run builds; ``keep``: whether a layer that was built is kept.
        """
        means, store = self.context.means, self.context.store
        only_uv = before is None and bool(installer_files.uv()[0])
        with (
            store.scratch() as room,
            Proxy(means.allowed, resolver=means.resolver, most=means.most, upstream=means.upstream) as proxy,
        ):
            try:
                arriving = result_archive.Arriving(room / "raw.tar", means.most)
                with ExitStack() as stack:
                    stack.callback(arriving.close)
                    transfer = InstallTransfer(
                        port=PORT,
                        dial=proxy.dial,
                        collect=OUT,
                        most=means.most,
                        keep=arriving.keep,
                        own=only_uv,
                    )
                    given = installer_kit(plan, means)
                    record = run_installer(self.context, given, self.probe, self.side, transfer)
                record = replace(record, refused=tuple(proxy.refusals))
                if only_uv:
                    # then uv itself started the other Python, to ask for its version, or we did, for the
                    # runner of base's tests
                    record = replace(record, trace=None, completeness=Completeness())
                problem = limit_passed(record, proxy, arriving, means)
                result = _result(record.stdout)
                if problem is None and (result is None or not record.completeness.whole):
                    problem = Problem(text=f"the installer failed: {_tail(record)}", ours=True)
                if problem is None and result is not None and result.unreachable:
                    problem = Problem(text=_unreachable(proxy, result.unreachable), ours=True)
                if problem is not None or result is None:
                    return Installed(record=record, problem=problem)
                told = self._told(room, record, result, before)
                again = not any(transient(why, proxy.failures) for _, why in result.failed) and not any(
                    transient(why, proxy.failures) for _, _, why in result.replaced
                )
                kept = key if again and (keep or not told.built) else None
                if before is not None and not result.built:  # the layer stays as it was; its reasons do not
                    if kept is not None:
                        store.add_again(told, kept)
                    return Installed(record=record, layer=told)
                own = dict(self.own)
                if not told.failed and not result.given_up:
                    own[f"lib/python{self.target.minor}/site-packages/{COMPLETE}"] = b""
                distributions = result_archive.clean(room / "raw.tar", room / "clean.tar", own)
                layer = replace(told, distributions=distributions)
                return Installed(record=record, layer=store.add(room / "clean.tar", layer, kept))
            except OSError as error:
                raise _no_room(error) from error

    def _told(self, room: Path, record: RunRecord, result: _Result, before: Layer | None) -> Layer:
        """The layer as the installer tells of it."""
        version = self.target.version
        failed = {line: reason(why, version) for line, why in result.failed}
        replaced = [
            Replaced(line=shown(line), version=taken, why=reason(why, version))
            for line, taken, why in result.replaced
        ]
        if before is None:
            first = Layer(tar=room, refused=record.refused)
        else:
            asked = {r.line for r in replaced} | failed.keys()
            first = replace(before, refused=record.refused) if not result.built else Layer(tar=room)
            settled = TRIED_AGAIN if result.built else (NO_WHEEL,)
            failed |= {line: why for line, why in before.failed if line not in asked and why not in settled}
        return replace(
            first,
            refused=record.refused,
            failed=tuple(failed.items()),
            replaced=tuple(replaced),
            built=result.built,
            lasting=self.lasting and not failed and not replaced,
            cached=False,
        )


def _no_room(error: OSError) -> InconclusiveError:
    return InconclusiveError(
        f"the installed dependencies could not be kept: {error.strerror or error}",
        advice="Make room in gate's cache (~/.cache/gate, for root /var/cache/gate, or GATE_CACHE).",
    )


def _unreachable(proxy: Proxy, said: str) -> str:
    kept_out = [refusal.asked for refusal in proxy.refusals if refusal.why == NOT_PUBLIC]
    if kept_out:
        return f"{kept_out[-1][:100]}: {NOT_PUBLIC} (whoever runs gate allows it with --egress-allow)"
    why = proxy.failures[-1] if proxy.failures else _tail_of(said)
    return f"the package index cannot be reached: {why}"[:300]


def _result(stdout: bytes) -> _Result | None:
    try:
        return msgspec.json.decode(stdout, type=_Result)
    except msgspec.DecodeError:
        return None


def _tail(record: RunRecord) -> str:
    if record.outcome is not Outcome.COMPLETED:
        return str(record.outcome.value)
    return _tail_of(record.stderr.decode("utf-8", "replace"))


def _tail_of(text: str) -> str:
    return " ".join(text.split())[-200:] or "it said nothing"


def _probe(path: str, needs: Needs, means: Means) -> Probe:
    proxy = f"http://127.0.0.1:{PORT}"
    certificates = (
        {"SSL_CERT_FILE": f"{TREE}/{installer_files.CERTIFICATES}"} if means.index.certificates else {}
    )
    return Probe(
        id="install-dependencies",
        phase="install",
        target=f"install {', '.join(needs.merged.paths)[:300] or 'what files import'}",
        path=path,
        argv=("python3", f"{TREE}/start.py"),
        env={
            "PYTHONUSERBASE": OUT,
            "PIP_CONFIG_FILE": f"{TREE}/{installer_files.CONFIGURATION}",
            "UV_CONFIG_FILE": f"{TREE}/{UV_CONFIGURATION}",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_HTTP_TIMEOUT": "30",
            "UV_CONCURRENT_DOWNLOADS": "8",
            "NETRC": "/dev/null",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HTTPS_PROXY": proxy,
            "HTTP_PROXY": proxy,
            "ALL_PROXY": proxy,
            **certificates,
        },
        deadline=means.deadline,
        driver=False,
    )

"""Installs what a tree needs, inside a sandbox whose only way out is the proxy, and brings the result home.

pip is ours; by default it takes wheels only, and then nothing of a package is run. Where something was run
all the same (a source distribution, by an address of its own), the run counts as one of the change: traced,
compared, and never cached.
"""

from __future__ import annotations

import platform
import re
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.model.change import Side
from gate.model.run import Completeness, Outcome, Probe, RunRecord, SandboxSpec
from gate.regex import regex
from gate.sandbox.contract import Backend, InstallTransfer
from gate.sandbox.dependencies import installer_files, layers, result_archive
from gate.sandbox.dependencies.index import Index
from gate.sandbox.dependencies.layer_store import Layer, LayerStore
from gate.sandbox.dependencies.requirements import RequirementSet
from gate.sandbox.egress.proxy import NOT_PUBLIC, Proxy, Resolve, resolve
from gate.sandbox.egress.rules import Allowed
from gate.sandbox.egress.upstream import Upstreams
from gate.sandbox.tree_archive import TREE
from gate.tracing.behaviour.paths import INSTALLED
from gate.tracing.codec import read_trace
from gate.tracing.events import Event, Process

PORT: Final = 8118
"""Of the sandbox's own loopback, where pip finds the proxy."""
OUT: Final = INSTALLED
_VERSION: Final = "4"
"""Part of every key: bump it when a layer's form changes."""
_TEXT: Final = 300


@dataclass(frozen=True, kw_only=True)
class Means:
    """With what, and how much. ``deadline`` in seconds, ``most`` in bytes (fetched; installed)."""

    index: Index
    allowed: Allowed
    upstream: Upstreams
    deadline: float = 300.0
    most: int = 512 << 20
    builds: bool = False
    kept_only: bool = False
    """Use what earlier checks installed, and install nothing."""
    resolver: Resolve = resolve


@dataclass(frozen=True, kw_only=True)
class InstallContext:
    """What all installations of one check share. ``traces``: a folder that lives as long as the check, for
    the trace of a run that counts.
    """

    backend: Backend
    spec: SandboxSpec
    means: Means
    store: LayerStore
    traces: Path


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why there is no layer. ``ours``: we could not look; else it lies in what was asked for."""

    text: str
    ours: bool


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What came of it: a layer, or a problem; and the run, as every run is told (None: nothing was run)."""

    record: RunRecord | None
    layer: Layer | None = None
    problem: Problem | None = None


def install(context: InstallContext, wanted: RequirementSet, side: Side, *, path: str) -> Installed:
    """One layer, from the store where it is there. ``path``: the file that the run is told to be for.

    Raises InconclusiveError where no sandbox can be put up, or the disk is full.
    """
    means, store = context.means, context.store
    probe = _probe(wanted, path, means)
    key = _key(context.backend, wanted, means)
    found = store.find(key)
    if found is not None:
        return Installed(record=cached_run(probe, side, found), layer=found)
    with (
        store.scratch() as room,
        Proxy(means.allowed, resolver=means.resolver, most=means.most, upstream=means.upstream) as proxy,
    ):
        try:
            arriving = result_archive.Arriving(room / "raw.tar", means.most)
            with ExitStack() as stack:
                stack.callback(arriving.close)
                transfer = InstallTransfer(
                    port=PORT, dial=proxy.dial, collect=OUT, most=means.most, keep=arriving.keep
                )
                record = run_installer(context, _kit(wanted, means), probe, side, transfer)
            record = replace(record, refused=tuple(proxy.refusals))
            ran_code = record.trace is not None
            problem = _problem(record, proxy, arriving, means)
            if problem is not None:
                return Installed(record=record, problem=problem)
            distributions = result_archive.clean(room / "raw.tar", room / "clean.tar")
            layer = Layer(tar=room, distributions=distributions, refused=record.refused)
            kept = store.add(room / "clean.tar", layer, None if ran_code else key)
        except OSError as error:
            raise InconclusiveError(
                f"the installed dependencies could not be kept: {error.strerror or error}",
                advice="Make room in gate's cache (~/.cache/gate, for root /var/cache/gate).",
            ) from error
    return Installed(record=record, layer=kept)


def run_installer(
    context: InstallContext,
    given: installer_files.InstallerFiles,
    probe: Probe,
    side: Side,
    transfer: InstallTransfer,
) -> RunRecord:
    """The run; its trace is kept where more than our own pip was run."""
    spec = roomy(context.spec, context.means)
    with context.backend.open_for_installation(spec, given) as session:
        record = session.run_with_transfer(probe, side, transfer)
        if record.trace is None or not _ran_code(record.trace):
            whole = Completeness()
            return replace(record, trace=None, touched=None, heads=(), given=(), cut=(), completeness=whole)
        kept = context.traces / f"install-{side}.jsonl"
        shutil.copyfile(record.trace, kept)
        return replace(record, trace=kept)


def _kit(wanted: RequirementSet, means: Means) -> installer_files.InstallerFiles:
    files = {f"{installer_files.FILES}/{path}": content for path, content in wanted.files.items()}
    files[installer_files.CONFIGURATION] = configuration(means.index)
    if means.index.certificates:
        files[installer_files.CERTIFICATES] = means.index.certificates
    return installer_files.InstallerFiles(files)


def configuration(index: Index) -> bytes:
    """For pip. An index's address may hold a password, and command lines are kept as evidence."""
    lines = ["[global]", f"index-url = {index.url}"]
    lines += ["extra-index-url =", *(f"    {address}" for address in index.more)] if index.more else []
    plain = [place.host for place in index.hosts() if place.plain]
    lines += ["trusted-host =", *(f"    {host}" for host in plain)] if plain else []
    return "".join(f"{line}\n" for line in lines).encode()


def roomy(spec: SandboxSpec, means: Means) -> SandboxSpec:
    """The probes' sandboxes, with the proxy for a network, and room for packages, which lie in memory."""
    limits = replace(
        spec.limits,
        memory=spec.limits.memory + 3 * means.most,
        scratch=2 * means.most,
        scratch_inodes=200_000,
        output=256 << 10,
    )
    return replace(spec, limits=limits, network="none", layers={}, modules={}, services="")


def _probe(wanted: RequirementSet, path: str, means: Means) -> Probe:
    index = means.index
    words = ["python3", f"{TREE}/pip", "install", "--isolated", "--disable-pip-version-check", "--no-input"]
    words += ["--no-cache-dir", "--no-compile", "--user", "--ignore-installed", "--break-system-packages"]
    words += ["--no-warn-script-location", "--progress-bar", "off", "--retries", "1", "--timeout", "15"]
    words += ["--proxy", f"http://127.0.0.1:{PORT}"]
    words += [] if means.builds else ["--only-binary", ":all:"]
    words += ["--cert", f"{TREE}/{installer_files.CERTIFICATES}"] if index.certificates else []
    words += [word for root in wanted.roots for word in ("-r", f"{installer_files.FILES}/{root}")]
    return Probe(
        id="install-dependencies",
        phase="install",
        target=f"install {', '.join(wanted.roots)[:_TEXT]}",
        path=path,
        argv=tuple(words),
        env={
            "PYTHONUSERBASE": OUT,
            "PIP_CONFIG_FILE": f"{TREE}/{installer_files.CONFIGURATION}",
            "NETRC": "/dev/null",  # else our own pip would open a planted one
            "PYTHONDONTWRITEBYTECODE": "1",
            "HTTPS_PROXY": f"http://127.0.0.1:{PORT}",
            "HTTP_PROXY": f"http://127.0.0.1:{PORT}",
        },
        deadline=means.deadline,
        driver=False,
    )


def _key(backend: Backend, wanted: RequirementSet, means: Means) -> str:
    return key_of(
        backend,
        means,
        installer_files.pip_version(),
        *wanted.roots,
        *(f"{path}\0{content.hex()}" for path, content in sorted(wanted.files.items())),
    )


def key_of(backend: Backend, means: Means, *parts_of_its_own: str) -> str:
    """What a layer is made of: equal keys, equal layers (as far as an index gives the same again)."""
    rules = means.allowed
    parts = [
        _VERSION,
        backend.name,
        backend.install_cache_key(),
        platform.machine(),
        means.index.endpoints,
        *sorted(rules.hosts),
        *map(str, sorted(rules.ports)),
        *sorted(f"{place.host}:{place.port} {place.inside} {place.plain}" for place in rules.own),
        str(means.builds),
        str(means.most),
        *parts_of_its_own,
    ]
    return layers.name_of("\n".join(parts))


def cached_run(probe: Probe, side: Side, layer: Layer) -> RunRecord:
    """The run that made a stored layer, as far as it is still known."""
    return RunRecord(
        probe=probe,
        side=side,
        outcome=Outcome.COMPLETED,
        exit_code=0,
        seconds=0.0,
        peak_memory=None,
        completed=True,
        trace=None,
        completeness=Completeness(),
        refused=layer.refused,
    )


def _ran_code(trace: Path) -> bool:
    """True when a Python other than pip's own process was started: something was built."""
    pips = 0
    others = 0

    def each(event: Event) -> None:
        nonlocal pips, others
        if isinstance(event, Process):
            pips = pips or event.pid
            python = event.exe.rpartition("/")[2].startswith(("python", "pypy"))
            others += python and event.why == "exec" and event.pid != pips

    read_trace(trace, each)
    return others > 0


_SAID: Final[tuple[tuple[str, str, bool], ...]] = (
    (r"DO NOT MATCH THE HASHES", "a package is not the one that its hash names", True),
    (r"No space left on device|Disk quota exceeded", "they need more room than sandbox.setup_mb", True),
    (r"Hashes are required in --require-hashes", "not every requirement has a hash", False),
    (r"ResolutionImpossible|conflicting dependencies", "the requirements contradict each other", False),
    (r"subprocess-exited-with-error|Failed building wheel", "a package could not be built", False),
    (r"Invalid requirement: ?(?P<what>.*)", "not a requirement:", False),
)


def _is_index(asked: list[str], index: Index) -> bool:
    """True when one of these is the configured index itself: not what was asked for is wrong."""
    places = {f"{place.host}:{place.port}" for place in index.hosts()}
    return any(place.lower() in places for place in asked)


_MISSING: Final = regex(r"No matching distribution found for (?P<what>[^\s;(]+)")


def _problem(
    record: RunRecord, proxy: Proxy, arriving: result_archive.Arriving, means: Means
) -> Problem | None:
    """Why there is nothing to take home; None when there is."""
    return limit_passed(record, proxy, arriving, means) or _why(record, proxy, means)


def limit_passed(
    record: RunRecord, proxy: Proxy, arriving: result_archive.Arriving, means: Means
) -> Problem | None:
    """Why the installation did not come to its end."""
    limit = f"{means.most >> 20} MiB (sandbox.setup_mb)"
    if proxy.too_much:
        return Problem(text=f"more than {limit} would have to be fetched", ours=True)
    if arriving.too_much:
        return Problem(text=f"what was installed is more than {limit}", ours=True)
    if record.fault is not None:
        return Problem(text=record.fault[:_TEXT], ours=True)
    if record.outcome is Outcome.TIMED_OUT:
        return Problem(text=f"not done after {means.deadline:.0f} s (sandbox.setup_deadline)", ours=True)
    if record.outcome not in (Outcome.COMPLETED, Outcome.EXITED_NONZERO):
        return Problem(text=f"the installation ended as {record.outcome.value}", ours=True)
    return None


def _why(record: RunRecord, proxy: Proxy, means: Means) -> Problem | None:
    """Why pip failed; None when it did not."""
    said = record.stderr.decode("utf-8", "replace")
    if record.outcome is Outcome.COMPLETED:
        return None
    for pattern, text, ours in _SAID:
        match = re.search(pattern, said)
        if match is not None:
            return Problem(text=f"{text} {match.groupdict().get('what') or ''}".strip()[:_TEXT], ours=ours)
    kept_out = [r.asked for r in proxy.refusals if r.why == NOT_PUBLIC]
    if kept_out:
        advice = "if that is meant, whoever runs gate allows it with --egress-allow"
        return Problem(
            text=f"{kept_out[-1][:100]}: {NOT_PUBLIC} ({advice})", ours=_is_index(kept_out, means.index)
        )
    if proxy.failures:
        return Problem(text=f"the package index cannot be reached: {proxy.failures[-1]}"[:_TEXT], ours=True)
    missing = _MISSING.search(said)
    if missing is not None:
        kind = "" if means.builds else " as a wheel"
        return Problem(text=f"needs {missing['what'][:100]}, which the index does not have{kind}", ours=False)
    lines = [line for line in said.splitlines() if line.startswith("ERROR:")] or said.splitlines()[-1:]
    return Problem(text=f"pip: {' '.join(lines)[:_TEXT]}" if lines else "pip failed silently", ours=True)

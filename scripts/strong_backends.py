"""Set-up's part for the strong backends: gVisor registered with the engine, QEMU and a kernel for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from gate import process
from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.gvisor import setup
from gate.sandbox.backends.microvm import image

NEWER = "trixie"
"""The first Debian release whose runsc works (a static program: it runs on older releases, too)."""
MACHINE_PACKAGES = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "sqfstar": "squashfs-tools",
}
ProgressCallback = Callable[[str], None]
Install = Callable[[list[str]], bool]


def ready(*, say: ProgressCallback, install: Install, may_install: bool) -> None:
    """Both, where they can be had; says what is missing. Never fails."""
    for name, make in (("gvisor", _gvisor), ("microvm", _microvm)):
        try:
            make(say, install, may_install)
        except (InconclusiveError, *engine.API_ERRORS) as error:
            advice = f". {error.advice}" if isinstance(error, InconclusiveError) else ""
            say(f"no {name}: {error}{advice}")


def _gvisor(say: ProgressCallback, install: Install, may_install: bool) -> None:
    if shutil.which("runsc") is None and may_install:
        _install_runsc(say, install)
    if shutil.which("runsc") is not None and os.geteuid() == 0:
        say(setup.register())


def _microvm(say: ProgressCallback, install: Install, may_install: bool) -> None:
    missing = [package for program, package in MACHINE_PACKAGES.items() if not shutil.which(program)]
    if missing and may_install:
        install(missing)
    say(f"kernel for virtual machines: {image.fetch_kernel().release}")


def _install_runsc(say: ProgressCallback, install: Install) -> None:
    """The package of this release where it is new enough, else that of a newer one, alone."""
    codename, repository = _repository()
    if codename in ("bookworm", "bullseye"):
        say(f"runsc of this release is too old: taking the package of {NEWER}")
        with tempfile.TemporaryDirectory(prefix="gate-apt-") as folder:
            _from_newer(Path(folder), repository)
    else:
        install(["runsc"])


def _repository() -> tuple[str, str]:
    """(release, address) of the Debian archive this machine already uses."""
    told = process.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(LABEL)|$(CODENAME)|$(REPO_URI)",
            "Created-By: Packages",
        ],
        deadline=30,
    )
    for line in told.stdout.decode(errors="replace").splitlines():
        label, codename, address = line.split("|")
        if label == "Debian" and "-" not in codename:
            return codename, address
    raise InconclusiveError(
        "no Debian archive among this machine's package sources", advice=setup.INSTALL_HINT
    )


def _from_newer(folder: Path, repository: str) -> None:
    """Lists of its own for this one download: the machine's own sources stay as they are."""
    for part in ("lists/partial", "cache/archives/partial", "out"):
        (folder / part).mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb {repository} {NEWER} main\n")  # apt's own keys sign it
    options = [
        *("-o", f"Dir::Etc::SourceList={folder}/sources.list"),
        *("-o", "Dir::Etc::SourceParts=/nonexistent"),
        *("-o", f"Dir::State::Lists={folder}/lists"),
        *("-o", f"Dir::Cache={folder}/cache"),
        *("-o", "APT::Sandbox::User=root"),
        "-qq",
    ]
    for words in (["update"], ["download", "runsc"]):
        done = process.run(["apt-get", *options, *words], deadline=300, cwd=folder / "out")
        if not done.ok:
            tail = " ".join(done.stderr.decode(errors="replace").split())[-200:]
            raise InconclusiveError(f"apt-get {words[0]} failed: {tail}", advice=setup.INSTALL_HINT)
    (package,) = (folder / "out").glob("runsc_*.deb")
    subprocess.run(["dpkg", "-i", str(package)], stdout=subprocess.DEVNULL, check=True)

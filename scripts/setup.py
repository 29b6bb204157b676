"""Makes this machine ready: a container engine and the sandbox images. Idempotent; says what it does.

As root on Debian or Ubuntu it installs what is missing and starts the engine itself where no init
system does. Elsewhere it uses the engine that is there and says what is missing. Never fails for
want of an engine: gate and its tests say themselves what they could not do.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import strong_backends
from docker import DockerClient
from engine_start import ByHand

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.script import wasm
from gate.sandbox.images import engine_images

BY_HAND = ByHand()
_LIBFAKETIME = "*/faketime/libfaketime.so.1"


def say(text: str) -> None:
    """One line of progress."""
    print(f"setup: {text}", flush=True)


def debian_root() -> bool:
    """True where we may and can install packages."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(packages: list[str]) -> bool:
    """Install Debian packages; False (said on stdout) when that fails."""
    say(f"installing {' '.join(packages)} (Debian packages)")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wait = ["-o", "DPkg::Lock::Timeout=300"]
    for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", *wait, *words],
            env=quiet,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    if done.returncode:
        say(f"apt-get failed: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.returncode == 0


def reachable() -> str | None:
    """The version of the engine that answers, or None."""
    try:
        with contextlib.closing(engine.connect(deadline=3)) as client:
            return str(client.version().get("Version", "?"))
    except (InconclusiveError, *engine.API_ERRORS):
        return None


def mount_cgroups() -> None:
    """Where no init system mounted the control groups, mount the unified hierarchy."""
    root = Path("/sys/fs/cgroup")
    if any(root.iterdir()):
        return
    say("mounting /sys/fs/cgroup")
    subprocess.run(["mount", "-t", "cgroup2", "cgroup2", str(root)], check=False)


def start_engine() -> None:
    """Start Docker by the init system, or by hand with a log and a pid file."""
    if Path("/run/systemd/system").is_dir():
        say("starting docker with systemd")
        subprocess.run(["systemctl", "start", "docker"], check=False)
        return
    mount_cgroups()
    say(f"no init system: starting dockerd by hand, log in {BY_HAND.log}")
    BY_HAND.start(reachable, say)


def ready_engine() -> bool:
    """An engine that answers, installed and started where allowed."""
    version = reachable()
    if version is None and not os.environ.get("DOCKER_HOST") and os.geteuid() == 0:
        if not shutil.which("dockerd") and debian_root():
            install(["docker.io"])
        if shutil.which("dockerd"):
            start_engine()
            version = reachable()
    if version is None:
        try:
            engine.connect(deadline=3).close()
        except InconclusiveError as error:
            say(f"{error.message}. {error.advice}")
        return False
    say(f"container engine {version} answers")
    return True


def ready_images() -> bool:
    """Both images on the engine."""
    with contextlib.closing(engine.connect(timeout=300)) as client:
        return _all_images(client)


def _all_images(client: DockerClient) -> bool:
    if all(engine_images.present(client, target) for target in engine_images.TARGETS):
        say(f"images {', '.join(engine_images.tag(target) for target in engine_images.TARGETS)} are there")
        return True
    if debian_root() and not shutil.which("mmdebstrap"):
        install(["mmdebstrap"])
    try:
        for target in engine_images.TARGETS:
            engine_images.ensure(client, target, say=say)
    except InconclusiveError as error:
        say(f"{error.message}. {error.advice}")
        return False
    return True


def ready_bubblewrap() -> None:
    """Bubblewrap, and the library that moves the clock in it: it shows what this machine has in /usr."""
    there = {
        "bubblewrap": shutil.which("bwrap"),
        "libfaketime": next(Path("/usr/lib").glob(_LIBFAKETIME), None),
    }
    missing = [package for package, found in there.items() if not found]
    if missing and debian_root():
        install(missing)


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Two set-ups at once would start two daemons."""
    folder = Path("/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR") or "/tmp")  # noqa: S108
    with (folder / f"gate-setup-{os.geteuid()}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def ready_runtimes() -> None:
    """Pyodide for the wasm backend, where Deno is there to run it; said, never fatal."""
    try:
        wasm.set_up(say)
    except InconclusiveError as error:
        say(f"no wasm backend: {error.message}. {error.advice}")


def main(argv: list[str]) -> int:
    """Set everything up; 0 also when something is missing but was said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--light", action="store_true", help="install and start no engine: bubblewrap will do where none runs"
    )
    parser.add_argument("--require", action="store_true", help="exit 1 when no container sandbox can be had")
    options = parser.parse_args(argv)
    with one_at_a_time():
        ready_bubblewrap()
        engine_there = reachable() is not None if options.light else ready_engine()
        ok = engine_there and ready_images()
        if ok and not options.light:
            strong_backends.ready(say=say, install=install, may_install=debian_root())
    if not options.light:
        ready_runtimes()
    if not ok:
        backend = "bubblewrap" if shutil.which("bwrap") else "none (apt-get install bubblewrap)"
        say(f"no container sandbox on this machine; backends left: {backend}")
    return 1 if options.require and not ok else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

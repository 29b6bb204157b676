"""Ownership labels, and clean-up after a gate that died before it could clean up itself.

Only what carries our label is ever touched, and only when its owner is provably gone: same boot,
same process namespace, and no such process (pid *and* start time, so a reused pid is not taken
for the owner). Where that cannot be told (another host, another namespace) only age counts.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gate.dataclass import dataclass

if TYPE_CHECKING:
    from docker import DockerClient


LABEL: Final = "gate"
OWNER: Final = "gate.owner"
_FILTER: Final = {"label": [f"{LABEL}=sandbox"]}
_OLD_SECONDS: Final = 24 * 3600
_FOLDER: Final = "gate-runs-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """One process on one boot of one machine, as far as the kernel can tell it apart."""

    pid: int
    start: int
    """Clock ticks after boot (field 22 of /proc/PID/stat)."""
    namespace: str
    boot: str

    @classmethod
    def me(cls) -> Owner:
        """The process that asks."""
        return cls._at(os.getpid(), _start_time(os.getpid()) or 0)

    @classmethod
    def of(cls, pid: int) -> Owner | None:
        """Another process of this namespace; None when there is none."""
        start = _start_time(pid)
        return None if start is None else cls._at(pid, start)

    @classmethod
    def _at(cls, pid: int, start: int) -> Owner:
        return cls(pid=pid, start=start, namespace=_namespace(), boot=_boot())

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """The reverse of str(); None for anything else."""
        parts = text.split("/")
        if len(parts) != 4 or not (parts[0].isdecimal() and parts[1].isdecimal()):
            return None
        return cls(pid=int(parts[0]), start=int(parts[1]), namespace=parts[2], boot=parts[3])

    def __str__(self) -> str:
        return f"{self.pid}/{self.start}/{self.namespace}/{self.boot}"

    @property
    def dead(self) -> bool | None:
        """None when it cannot be told from here."""
        if self.boot != _boot() or self.namespace != _namespace():
            return None
        return _start_time(self.pid) != self.start


def labels() -> dict[str, str]:
    """What every container and volume of this process carries."""
    return {LABEL: "sandbox", OWNER: str(Owner.me())}


def owned_name() -> str:
    """A new name for a folder or a control group, from which ``left_behind`` can tell its owner."""
    me = Owner.me()
    return f"{_plain(me.namespace)}-{me.pid}-{me.start}-{secrets.token_hex(6)}"


def left_behind(name: str) -> bool:
    """True when an ``owned_name`` of this process namespace belongs to a process that is gone."""
    parts = name.split("-")
    if len(parts) != 4 or not all(part.isdecimal() for part in parts[:3]):
        return False
    return parts[0] == _plain(_namespace()) and _start_time(int(parts[1])) != int(parts[2])


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A private folder for the trees and traces of one session; those of dead gates are removed first."""
    top = Path(tempfile.gettempdir())
    for left in top.glob(f"{_FOLDER}*"):
        with contextlib.suppress(FileNotFoundError):  # another gate was quicker
            gone = left_behind(left.name.removeprefix(_FOLDER))
            if gone and left.stat(follow_symlinks=False).st_uid == os.getuid():
                shutil.rmtree(left, ignore_errors=True)
    folder = top / f"{_FOLDER}{owned_name()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def reap_processes(prefix: str) -> int:
    """End processes (root: anybody's) with a word ``prefix`` + ``owned_name`` of a dead gate; how many.

    A machine whose gate was killed while it booted waits for somebody to talk to for ever.
    """
    ended = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getuid() not in (0, folder.stat().st_uid):
                continue
            for word in (folder / "cmdline").read_bytes().split(b"\0"):
                if word.startswith(prefix.encode()) and left_behind(os.fsdecode(word[len(prefix) :])):
                    os.kill(int(folder.name), signal.SIGKILL)
                    ended += 1
    return ended


def reap(client: DockerClient) -> int:
    """Remove containers and volumes whose gate is gone; the number removed. Engine errors pass through."""
    gone = 0
    for container in client.api.containers(all=True, filters=_FILTER):
        if _orphan(container.get("Labels") or {}, float(container.get("Created") or 0)):
            gone += remove_container(client, str(container["Id"]))
    for volume in client.api.volumes(filters=_FILTER).get("Volumes") or []:
        if _orphan(volume.get("Labels") or {}, _created(volume)):
            gone += remove_volume(client, str(volume["Name"]))
    return gone


def remove_container(client: DockerClient, container: str) -> bool:
    """Kill and remove one container; False when it was gone or is being removed by somebody else."""
    from docker.errors import APIError, NotFound  # half a second's import, for containers only

    try:
        client.api.remove_container(container, force=True, v=True)
    except NotFound:
        return False
    except APIError as error:
        if error.status_code == 409:
            return False
        raise
    return True


def remove_volume(client: DockerClient, name: str) -> bool:
    """Remove one volume; False when it was gone or is still in use."""
    from docker.errors import APIError, NotFound  # half a second's import, for containers only

    try:
        client.api.remove_volume(name, force=True)
    except NotFound:
        return False
    except APIError as error:
        if error.status_code == 409:
            return False
        raise
    return True


def _orphan(marks: Mapping[str, str], created: float) -> bool:
    owner = Owner.parse(marks.get(OWNER, ""))
    dead = owner.dead if owner else None
    return dead if dead is not None else time.time() - created > _OLD_SECONDS


def _created(volume: Mapping[str, Any]) -> float:
    """Seconds since the epoch; now (that is: too young to remove) when the engine does not tell."""
    with contextlib.suppress(KeyError, ValueError, TypeError):
        return datetime.fromisoformat(volume["CreatedAt"]).astimezone(UTC).timestamp()
    return time.time()


def _start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat (proc(5)); the name before it may hold spaces and brackets."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[19])


def _plain(namespace: str) -> str:
    """``pid:[4026531836]`` as its digits."""
    return "".join(filter(str.isdecimal, namespace))


def _namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()

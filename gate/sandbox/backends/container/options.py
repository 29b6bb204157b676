"""The options of a hardened container, as the engine's API wants them. Pure: builds dictionaries only."""

from __future__ import annotations

import secrets
import string
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from gate.errors import InconclusiveError
from gate.inside.observer.naming import FILES
from gate.model.run import Limits
from gate.sandbox.tree_archive import PATH, WORK

JsonObject = dict[str, Any]
"""A body of the engine's API: its shape is written in the engine's reference."""
UID: Final = 65532
"""The unprivileged user of the sandbox image. Not 65534: that one owns other people's files on some hosts."""
SOCKETS: Final = "/run/gate"
LAUNCHER: Final = ("python3", "-I", "-S", "-B", "/opt/gate/launcher/start.py")
HOST_NAME: Final = "runnervm" + "".join(
    secrets.choice(string.ascii_lowercase + string.digits) for _ in range(5)
)
"""As GitHub names its machines; drawn, as theirs are, and the same at base and head."""
_PLANTABLE: Final = ("/run/", "/var/run/", "/home/", "/root/", "/mnt/", "/srv/")

# Docker's own list (moby, oci defaults), then what tells about the host and nothing about the code.
MASKED: Final = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/bus",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/diskstats",
    "/proc/iomem",
    "/proc/ioports",
    "/proc/kallsyms",
    "/proc/key-users",
    "/proc/kmsg",
    "/proc/modules",
    "/proc/partitions",
    "/proc/sysvipc",
    "/sys/block",
    "/sys/bus",
    "/sys/class",
    "/sys/dev",
    "/sys/devices/virtual",
    "/sys/hypervisor",
    "/sys/kernel",
    "/sys/module",
    "/sys/power",
)
NO_NETWORK: Final = {"NetworkDisabled": True}
"""Beside the mode ``none``, for engines that do not know it. Docker starts two processes less then, in half
of the time: the runtime makes the namespace and its loopback; /etc/hosts and /etc/resolv.conf stay empty."""
READ_ONLY: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def sandbox_options(
    *,
    image: str,
    limits: Limits,
    labels: Mapping[str, str],
    seccomp: str,
    sockets_volume: str | None,
    planted: tuple[str, ...] = (),
    runtime: str | None = None,
) -> JsonObject:
    """The body of ``POST /containers/create`` for one sandbox.

    ``seccomp`` is the profile's JSON text (podman: its path). ``sockets_volume`` names the volume through
    which the launcher reaches the observer. ``planted`` are absolute paths of extra files: those outside
    the scratch get a small writable mount of their own, as the root is read-only.
    """
    host = _host_options(limits, planted, seccomp)
    if sockets_volume:
        host["Mounts"] = [
            {"Type": "volume", "Source": sockets_volume, "Target": SOCKETS, "ReadOnly": True},
        ]
    if runtime:
        host["Runtime"] = runtime
    return {
        "Image": image,
        "Entrypoint": list(LAUNCHER),
        "Cmd": [],
        "User": f"{UID}:{UID}",
        "WorkingDir": WORK,
        "Env": [f"PATH={PATH}"],
        "Labels": dict(labels),
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "Tty": False,
        "HostConfig": host,
        "Hostname": HOST_NAME,
    }


def _host_options(limits: Limits, planted: tuple[str, ...], seccomp: str) -> JsonObject:
    security = ["no-new-privileges"]
    if seccomp:
        security.append(f"seccomp={seccomp}")
    return {
        "NetworkMode": "none",
        # Else engines put the host's or a public resolver there, and asking it would look chosen.
        "Dns": ["127.0.0.1"],
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": security,
        "Privileged": False,
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "PidMode": "",
        "ShmSize": 16 << 20,
        "Init": False,
        "OomScoreAdj": 500,
        "Memory": limits.memory,
        "MemorySwap": limits.memory,
        "PidsLimit": limits.pids,
        "NanoCpus": int(limits.cpus * 1e9),
        "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],  # the launcher sets the others, as low as asked
        "Tmpfs": scratch(limits) | plant_mounts(planted),
        "MaskedPaths": list(MASKED),
        "ReadonlyPaths": list(READ_ONLY),
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
        "Mounts": [],
    }


def with_names(body: Mapping[str, Any], naming: str) -> JsonObject:
    """A sandbox's options without the engine's network, which is then not asked for. ``naming`` is a folder
    of the engine's host with the files of observer/naming.py; with a network: the same options. Empty:
    nothing would know the machine's name, so it has none of its own.
    """
    host = body["HostConfig"]
    if not naming:
        return {**body, "Hostname": "localhost"}
    if host["NetworkMode"] != "none":
        return dict(body)
    mounts = [
        {"Type": "bind", "Source": f"{naming}/{name}", "Target": f"/etc/{name}", "ReadOnly": True}
        for name in FILES
    ]
    return {**body, **NO_NETWORK, "HostConfig": {**host, "Mounts": [*host["Mounts"], *mounts]}}


def scratch(limits: Limits) -> dict[str, str]:
    """Writable places: in memory, sized, with an inode limit, gone with the container. Code may run
    what it drops there: a ``noexec`` mount would hide what a downloader does next.
    """
    owner = f"uid={UID},gid={UID}"
    size = f"size={limits.scratch},nr_inodes={limits.scratch_inodes}"
    return {
        WORK: f"rw,exec,nosuid,nodev,{size},mode=0755,{owner}",
        "/tmp": f"rw,exec,nosuid,nodev,{size},mode=1777",  # noqa: S108  # inside the sandbox
    }


def plant_mounts(planted: tuple[str, ...]) -> dict[str, str]:
    """A small writable mount for every folder outside the scratch that gets an extra file."""
    options = f"rw,noexec,nosuid,nodev,size=1m,nr_inodes=64,mode=0755,uid={UID},gid={UID}"
    # /var/run is a link to /run in every image of ours; gVisor mounts nothing through a link.
    real = (f.removeprefix("/var") if f.startswith("/var/run/") else f for f in plant_folders(planted))
    return dict.fromkeys(real, options)


def plant_folders(planted: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of extra files that lie outside the scratch, each once.

    Raises InconclusiveError for a place where a mount would hide parts of the image.
    """
    folders = []
    for path in planted:
        if ".." in PurePosixPath(path).parts:
            raise InconclusiveError(
                f"extra file {path} has .. in its path", advice="Give a plain absolute path."
            )
        if path.startswith((f"{WORK}/", "/tmp/")):  # noqa: S108  # inside the sandbox
            continue
        if not path.startswith(_PLANTABLE):
            raise InconclusiveError(
                f"extra file {path} would hide a folder of the sandbox image",
                advice=f"Use a path under {WORK} or one of {', '.join(_PLANTABLE)}.",
            )
        folders.append(str(PurePosixPath(path).parent))
    return tuple(dict.fromkeys(folders))


def observer_options(*, image: str, labels: Mapping[str, str], sockets_volume: str) -> JsonObject:
    """The body of ``POST /containers/create`` for the observer: it sees the host's processes (to read
    the memory of those whose listener it holds), has two capabilities, no network, no code under test.
    """
    return watcher_options(
        image,
        labels,
        memory=256 << 20,
        pids=256,
        PidMode="host",
        CapAdd=["SYS_PTRACE", "DAC_READ_SEARCH"],
        SecurityOpt=["no-new-privileges", "apparmor=unconfined"],
        Mounts=[{"Type": "volume", "Source": sockets_volume, "Target": SOCKETS, "ReadOnly": False}],
    )


def watcher_options(
    image: str,
    labels: Mapping[str, str],
    *,
    memory: int,
    pids: int,
    entrypoint: Sequence[str] = (),
    **host: object,
) -> JsonObject:
    """The body of ``POST /containers/create`` for a container of ours beside the sandboxes, ``memory`` in
    bytes: no network, no capability, nothing to write to but what ``host`` (parts of HostConfig) gives.

    It asks for no network twice, see NO_NETWORK.
    """
    least: JsonObject = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "Memory": memory,
        "MemorySwap": memory,
        "PidsLimit": pids,
        "LogConfig": {"Type": "none", "Config": {}},
        "RestartPolicy": {"Name": "no"},
    }
    started = {"Entrypoint": list(entrypoint), "Cmd": []} if entrypoint else {}
    return {
        "Image": image,
        **NO_NETWORK,
        **started,
        "Labels": dict(labels),
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "Tty": False,
        "HostConfig": least | host,
    }

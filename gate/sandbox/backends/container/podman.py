"""Containers of Podman, through its own interface beside the Docker-compatible one.

The compatible interface drops what it does not know (masked paths, the control group's namespace), gives
read-only containers writable places without limits, and shows them the host's /etc/hosts. Its own takes all
that, but no limit of inodes for memory: writable places are volumes of the driver ``local``, which are
mounted with mount(8). What a body asks for and Podman cannot hold is refused, never left out.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from docker import DockerClient

from gate.errors import InconclusiveError
from gate.sandbox import reaper
from gate.sandbox.backends.bubblewrap.cgroup import Cgroup
from gate.sandbox.backends.container import engine
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.backends.container.options import JsonObject

_FLAGS: Final = frozenset(("rw", "ro", "exec", "noexec", "nosuid", "nodev"))
_PAGE: Final = resource.getpagesize()
_MOST_FILES: Final = 1 << 20
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_READ_ONLY: Final = frozenset(
    ("/proc/asound", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
)
"""Podman makes these read-only, always, and takes no others (specgen, BlockAccessToKernelFilesystems)."""
_GROUPS_V1: Final = Path("/sys/fs/cgroup/memory")
_SECRETS: Final = "/run/secrets"
_RED_HAT: Final = ("etc-pki-entitlement", "redhat.repo", "rhsm")
"""What Podman shows of the host in every container: mounts.conf(5), as Red Hat fills it."""
_TAKEN_FOR_GRANTED: Final = frozenset(
    # Stdin is open as long as somebody is attached, images' volumes are ignored, nothing is restarted, and
    # /etc/resolv.conf is the image's or ours.
    ("AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce", "NetworkDisabled", "RestartPolicy", "Dns")
)
_ADVICE: Final = "Use Docker's engine, or `--backend bubblewrap`, which needs none."


def create(client: DockerClient, body: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """A container from Docker's body (container.sandbox_options), whatever the engine: its id, and the names
    of the volumes that are its alone (Podman's; ``remove`` wants them).

    Raises InconclusiveError for what Podman does not hold, API_ERRORS.
    """
    if not engine.is_podman(client):
        return str(client.api.create_container_from_config(body)["Id"]), ()
    labels = dict(body["Labels"])
    volumes: dict[str, str] = {}
    try:
        for place, options in body["HostConfig"].get("Tmpfs", {}).items():
            volumes[place] = f"gate-{reaper.owned_name()}"
            make_volume(client, volumes[place], memory(options), labels)
        return _create(client, spec(body, volumes)), tuple(volumes.values())
    except BaseException:
        _remove_volumes(client, volumes.values())
        raise


def remove(client: DockerClient, container: str, volumes: Iterable[str]) -> None:
    """The container and the volumes of ``create``. Never raises; what is left is reaped later."""
    with contextlib.suppress(*API_ERRORS):
        reaper.remove_container(client, container)
    _remove_volumes(client, volumes)


def group(client: DockerClient, container: str) -> Cgroup | None:
    """The control group of a running container, to read; None where it is not to be seen. Podman 4 does not
    tell of a kill for memory: its monitor (conmon 2.1) notes that in the folder that the service was started
    in, where nobody looks. Docker tells of it, at times late; its groups have a name that needs no question.
    """
    if not engine.is_podman(client):
        names = (f"docker/{container}", f"system.slice/docker-{container}.scope")
        return next((found for name in names if (found := _group_at(name))), None)
    said = client.api.get(_address(client, f"containers/{container}/json"), timeout=client.api.timeout)
    said.raise_for_status()
    return _group_at(str(said.json()["State"].get("CgroupPath") or "").lstrip("/"))


def _group_at(path: str) -> Cgroup | None:
    tops: tuple[tuple[Literal[1, 2], Path], ...] = (
        (1, _GROUPS_V1),
        (2, Path("/sys/fs/cgroup")),
    )
    for version, top in tops:
        if path and (top / path).is_dir():
            return Cgroup(version=version, folders={"memory": top / path})
    return None


def _remove_volumes(client: DockerClient, volumes: Iterable[str]) -> None:
    for volume in volumes:
        with contextlib.suppress(*API_ERRORS):
            reaper.remove_volume(client, volume)


def make_volume(client: DockerClient, name: str, options: str, labels: Mapping[str, str]) -> str:
    """A volume in memory, whatever the engine; where it is kept. ``options`` are mount(8)'s, with an owner:
    without, Podman gives it the owner and mode that the image has at its place. Raises API_ERRORS.
    """
    if "uid=" not in options:
        raise ValueError("a volume without an owner")
    made = client.api.create_volume(
        name,
        driver="local",
        driver_opts={"type": "tmpfs", "device": "tmpfs", "o": options},
        labels=dict(labels),
    )
    return str(made["Mountpoint"])


def memory(options: str) -> str:
    """Docker's options of a memory file system as those of a volume: the size in pages (Podman takes ``size``
    for a quota of the disk), and an owner.
    """
    given = dict(option.partition("=")[::2] for option in options.split(",") if option not in _FLAGS)
    size = given.pop("size")
    unit = _UNITS.get(size[-1].lower())
    pages = (int(size[:-1]) * unit if unit else int(size)) // _PAGE
    owned = {"nr_blocks": str(max(pages, 1)), "uid": "0", "gid": "0"} | given
    flags = [option for option in options.split(",") if option in _FLAGS]
    return ",".join([*flags, *(f"{name}={value}" for name, value in owned.items())])


def spec(body: Mapping[str, Any], volumes: Mapping[str, str]) -> JsonObject:
    """Docker's body as Podman's SpecGenerator; ``volumes`` by the place of the memory that they are.

    Raises InconclusiveError for a part that it has no word for.
    """
    body = {key: value for key, value in body.items() if key not in _TAKEN_FOR_GRANTED}
    host = {key: value for key, value in body.pop("HostConfig").items() if key not in _TAKEN_FOR_GRANTED}
    made: JsonObject = {
        "image": body.pop("Image").removeprefix("sha256:"),
        "image_volume_mode": "ignore",
        "labels": body.pop("Labels"),
        "env": dict(item.split("=", 1) for item in body.pop("Env", [])),
        "stdin": body.pop("OpenStdin"),
        "terminal": body.pop("Tty"),
        "user": body.pop("User", ""),
        "work_dir": body.pop("WorkingDir", ""),
        "hostname": body.pop("Hostname", ""),
        "systemd": "false",
        "httpproxy": False,
        "manage_password": False,
        "use_image_hosts": True,
        "use_image_resolve_conf": True,
        "utsns": {"nsmode": "private"},
        "userns": {"nsmode": "host"},  # as Docker's; the watcher reads the sandboxes' memory
        "netns": {"nsmode": host.pop("NetworkMode")},
        "ipcns": {"nsmode": host.pop("IpcMode")},
        "cgroupns": {"nsmode": host.pop("CgroupnsMode")},
        "pidns": {"nsmode": host.pop("PidMode", "") or "private"},
        "read_only_filesystem": host.pop("ReadonlyRootfs"),
        "read_write_tmpfs": False,
        "privileged": host.pop("Privileged", False),
        "init": host.pop("Init", False),
        "cap_drop": host.pop("CapDrop"),
        "cap_add": host.pop("CapAdd", []),
        "mask": [*host.pop("MaskedPaths", []), *_hidden(volumes)],
        "sysctl": dict(host.pop("Sysctls", {})),
        "log_configuration": {"driver": host.pop("LogConfig")["Type"]},
        "resource_limits": _resources(host),
        "r_limits": _rlimits(host.pop("Ulimits", [])),
    }
    if entrypoint := body.pop("Entrypoint", None):
        made |= {"entrypoint": entrypoint, "command": body.pop("Cmd", [])}
    for theirs, ours in (("OomScoreAdj", "oom_score_adj"), ("ShmSize", "shm_size")):
        if theirs in host:
            made[ours] = host.pop(theirs)
    made |= _security(host.pop("SecurityOpt"))
    made |= _mounts(host.pop("Tmpfs", {}), host.pop("Mounts", []), volumes)
    _refuse("read-only places", set(host.pop("ReadonlyPaths", [])) - _READ_ONLY)
    _refuse(
        "a container's settings", {name for name, value in (body | host).items() if value not in ([], {})}
    )
    return made


def _mounts(
    memory: Mapping[str, str], mounts: Iterable[Mapping[str, Any]], volumes: Mapping[str, str]
) -> JsonObject:
    named, bound = [], []
    for place, options in memory.items():
        flags = [option for option in options.split(",") if option in _FLAGS]
        named.append({"Name": volumes[place], "Dest": place, "Options": [*flags, "nocopy"]})
    for mount in mounts:
        flags = ["ro" if mount["ReadOnly"] else "rw", "nosuid", "nodev", "noexec"]
        source, target = mount["Source"], mount["Target"]
        if mount["Type"] == "volume":
            named.append({"Name": source, "Dest": target, "Options": [*flags, "nocopy"]})
        else:
            bound.append({"type": "bind", "source": source, "destination": target, "options": flags})
    return {"mounts": bound, "volumes": named}


def _hidden(places: Iterable[str]) -> tuple[str, ...]:
    """What else is masked: a mask would hide the files that we plant, too. With control groups v1, crun
    mounts them below a folder that everybody may write to.
    """
    planted = any(place == _SECRETS or place.startswith(f"{_SECRETS}/") for place in places)
    secrets = tuple(f"{_SECRETS}/{name}" for name in _RED_HAT) if planted else (_SECRETS,)
    return (*secrets, "/run/.containerenv", *(("/sys/fs/cgroup",) if _GROUPS_V1.is_dir() else ()))


def _resources(host: JsonObject) -> JsonObject:
    """Limits of the control group, in bytes, processes and microseconds of a tenth of a second."""
    limits: JsonObject = {
        "memory": {"limit": host.pop("Memory"), "swap": host.pop("MemorySwap")},
        "pids": {"limit": host.pop("PidsLimit")},
    }
    if "NanoCpus" in host:
        limits["cpu"] = {"period": 100_000, "quota": host.pop("NanoCpus") // 10_000}
    return limits


def _rlimits(ulimits: list[JsonObject]) -> list[JsonObject]:
    """Those of the body, and two that Podman 4 would else set to a million, which it may not do everywhere:
    as many as this process may have (or the kernel can number).
    """
    kernel = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))
    wanted = {
        "nproc": _most(resource.RLIMIT_NPROC, kernel),
        "nofile": _most(resource.RLIMIT_NOFILE, _MOST_FILES),
        **{one["Name"]: one["Hard"] for one in ulimits},
    }
    return [{"type": name, "soft": most, "hard": most} for name, most in wanted.items()]


def _most(kind: int, most: int) -> int:
    may = resource.getrlimit(kind)[1]
    return most if may == resource.RLIM_INFINITY else min(may, most)


def _security(wanted: list[str]) -> JsonObject:
    """What Docker's security options say."""
    made: JsonObject = {}
    for option in wanted:
        name, _, value = option.partition("=")
        if option == "no-new-privileges":
            made["no_new_privileges"] = True
        elif name == "seccomp":
            made["seccomp_profile_path"] = value
        elif name == "apparmor":
            made["apparmor_profile"] = value
        else:
            _refuse("a security option", {option})
    return made


def _refuse(what: str, names: set[str]) -> None:
    if names:
        raise InconclusiveError(f"Podman does not hold {what}: {', '.join(sorted(names))}", advice=_ADVICE)


def _create(client: DockerClient, wanted: JsonObject) -> str:
    """Ask for it. Podman answers with a warning where it leaves out a limit (rootless, control groups v1)."""
    said = client.api.post(_address(client, "containers/create"), json=wanted, timeout=client.api.timeout)
    answer: JsonObject = said.json()
    if not said.ok:
        raise InconclusiveError(f"Podman makes no such container: {_line(answer)}", advice=_ADVICE)
    made = str(answer["Id"])
    if answer.get("Warnings"):
        with contextlib.suppress(*API_ERRORS):
            reaper.remove_container(client, made)
        raise InconclusiveError(f"Podman does not hold all of the limits: {_line(answer)}", advice=_ADVICE)
    return made


def _address(client: DockerClient, path: str) -> str:
    return f"{client.api.base_url}/v{engine.version(client)}/libpod/{path}"


def _line(answer: Mapping[str, object]) -> str:
    said = answer.get("message") or answer.get("cause") or answer.get("Warnings")
    return " ".join(str(said).split())[:300]

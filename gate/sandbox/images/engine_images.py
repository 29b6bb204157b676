"""Builds the images on first use.

A tag carries a digest of the files that went in, so a changed launcher rebuilds.
No registry can be assumed: the public base is used where it is or can be had, else a base of
Debian packages is made with mmdebstrap (24 s once, measured on two cores).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import os
import re
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from docker import DockerClient
from docker.errors import APIError, ImageNotFound
from requests.exceptions import RequestException

from gate import process
from gate.errors import InconclusiveError
from gate.resources import inside_dir
from gate.sandbox.backends.container.engine import API_ERRORS

Target = Literal["sandbox", "observer"]
TARGETS: Final[tuple[Target, ...]] = ("sandbox", "observer")
PUBLIC_BASE: Final = "python:3.12-slim"
LABEL: Final = "gate"
_PACKAGES: Final = (
    "python3,python3-pytest,python3-requests,ca-certificates,curl,wget,netcat-openbsd,git,make,procps,libfaketime,"
    "python3-h11,python3-cryptography"
)
"""The Dockerfile's tools, by their Debian names: what payloads reach for, and what the observer needs."""
_OWN_BASE: Final = "gate-base:"
_STEP: Final = re.compile(r"^ ---> ([0-9a-f]{12,64})$", re.MULTILINE)
_LOOKUP_SECONDS: Final = 8
_BUILD_SECONDS: Final = 300
_DAY: Final = 24 * 3600
_OLD_SECONDS: Final = 7 * _DAY
ProgressCallback = Callable[[str], None]


def _quiet(_: str) -> None:
    """Progress nobody wants to see."""


@cache
def _sources() -> dict[str, Path]:
    """Every file that goes into the images: path in the build context -> path on the host."""
    inside = inside_dir()
    package = inside.parent
    places = (package / "_image" / "Dockerfile", package.parent / "Dockerfile")
    recipe = next((path for path in places if path.is_file()), None)
    if recipe is None:
        raise InconclusiveError("the image recipe (Dockerfile) is missing", advice="Reinstall gate.")
    found = {"Dockerfile": recipe}
    for folder in ("driver", "launcher", "observer", "runtimes", "sinkhole"):
        for path in sorted((inside / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[f"gate/{path.relative_to(package).as_posix()}"] = path
    return found


def digest() -> str:
    """16 hex digits that change when any file of the images does."""
    total = hashlib.sha256()
    for name, path in _sources().items():
        content = path.read_bytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()[:16]


def tag(target: Target) -> str:
    """The local name of the image that belongs to this very version of the files."""
    return f"gate-{target}:{digest()}"


def present(client: DockerClient, target: Target) -> str | None:
    """The id (``sha256:...``) of the image where it is already built."""
    try:
        return str(client.api.inspect_image(tag(target))["Id"])
    except ImageNotFound:
        return None


def ensure(
    client: DockerClient, target: Target, *, base: str | None = None, say: ProgressCallback = _quiet
) -> str:
    """The image's id, building it (and its base) when it is missing.

    ``base`` names another base image. Safe when several gates start at once: one builds, the
    others wait. Raises InconclusiveError when it cannot be built.
    """
    found = present(client, target)
    if found:
        return found
    with _lock():
        found = present(client, target)
        if found:
            return found
        try:
            chosen = base or base_image(client, say)
            say(f"building {tag(target)} on {chosen}")
            return _build(client, target, chosen)
        except API_ERRORS as error:
            raise InconclusiveError(
                f"cannot build the {target} image: {_line(error)}",
                advice="`docker build --target sandbox .` in a checkout shows the whole build log.",
            ) from error


def _build(client: DockerClient, target: Target, base: str) -> str:
    """Build one target from the package's own files; the tag appears only when all went well."""
    build(client, target, base, tag(target))
    _prune(client)
    built = present(client, target)
    if built is None:
        raise InconclusiveError(f"the engine built no {target} image")
    return built


def build(client: DockerClient, target: Target, base: str, name: str, *, cached: bool = True) -> None:
    """Build ``target`` on ``base`` as ``name``; without ``cached`` every step anew. Raises
    InconclusiveError.
    """
    log: list[str] = []
    lines: Iterator[dict[str, Any]] = client.api.build(
        fileobj=packed({path: file.read_bytes() for path, file in _sources().items()}),
        custom_context=True,
        target=target,
        tag=name,
        buildargs={"BASE": base},
        labels={LABEL: "image", "gate.base": base},
        network_mode="none" if base.startswith(_OWN_BASE) else None,  # ours has all it needs
        nocache=not cached,
        rm=True,
        forcerm=True,
        decode=True,
        timeout=_BUILD_SECONDS,
    )
    for line in lines:
        log.append(str(line.get("stream") or line.get("error") or ""))
        if "error" in line:
            raise InconclusiveError(
                f"cannot build the {target} image on {base}: {_line(line['error'])}",
                advice="Last lines of the build:\n" + "".join(log[-15:]),
            )
    clear_stages(client, log)


def clear_stages(client: DockerClient, log: Iterable[str]) -> None:
    """Remove what a build that left this log made on the way: stages that only gave files to the image.

    The engine keeps them for ever, without a name. What has a name, or holds up what has one, stays.
    """
    made = [found[1] for line in log if (found := _STEP.search(line))]
    for step in reversed(made):
        with contextlib.suppress(*API_ERRORS):
            said = client.api.inspect_image(step)
            if not said["RepoTags"] and not said["RepoDigests"]:
                client.api.remove_image(step)


def packed(files: Mapping[str, bytes]) -> io.BytesIO:
    """A build context of ``files`` (path -> content): the same bytes for the same files, whenever it is made.

    Its folders are told, too: the engine would make them itself, at the time of the day.
    """
    context = io.BytesIO()
    folders = {str(folder) for name in files for folder in PurePosixPath(name).parents} - {"."}
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name in sorted(folders | set(files)):
            member = tarfile.TarInfo(name)  # of the year 1970, root's
            if name in folders:
                member.type, member.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(member)
            else:
                member.size, member.mode = len(files[name]), 0o644
                tar.addfile(member, io.BytesIO(files[name]))
    context.seek(0)
    return context


def _prune(client: DockerClient) -> None:
    """Drop images of other versions of gate that are older than a week; what is in use stays."""
    for image in client.api.images(filters={"label": [f"{LABEL}=image"]}):
        tags = image.get("RepoTags") or []
        old = time.time() - float(image.get("Created") or time.time()) > _OLD_SECONDS
        if old and not any(name.endswith(digest()) for name in tags):
            with contextlib.suppress(*API_ERRORS):
                client.api.remove_image(image["Id"])


def base_image(client: DockerClient, say: ProgressCallback = _quiet) -> str:
    """A base image that is on this engine in the end: the public one, or ours of Debian packages."""
    if _has(client, PUBLIC_BASE):
        return PUBLIC_BASE
    own = f"{_OWN_BASE}{codename()}-{hashlib.sha256(_PACKAGES.encode()).hexdigest()[:8]}"
    if _has(client, own):
        return own
    say(f"asking the registry for {PUBLIC_BASE}")
    if _registry_answers(client):
        say(f"pulling {PUBLIC_BASE}")
        try:
            client.images.pull(PUBLIC_BASE)
        except APIError as error:
            say(f"pulling failed: {_line(error)}")
        else:
            return PUBLIC_BASE
    say(f"no registry: making {own} from Debian packages with mmdebstrap (about half a minute)")
    bootstrap(client, own, _PACKAGES)
    return own


def _has(client: DockerClient, name: str) -> bool:
    try:
        client.api.inspect_image(name)
    except ImageNotFound:
        return False
    return True


def _registry_answers(client: DockerClient) -> bool:
    """Ask the engine for the base's registry entry: a pull alone can hang for minutes before it fails."""
    usual, client.api.timeout = client.api.timeout, _LOOKUP_SECONDS
    try:
        client.api.inspect_distribution(PUBLIC_BASE)
    except (APIError, RequestException):
        return False
    finally:
        client.api.timeout = usual
    return True


def _os_release() -> dict[str, str]:
    with contextlib.suppress(OSError):
        lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
        return {key: value.strip('"') for key, _, value in (line.partition("=") for line in lines)}
    return {}


def codename() -> str:
    """The Debian or Ubuntu release to take packages from: this machine's own where it is one."""
    system = _os_release()
    if system.get("ID") in ("debian", "ubuntu"):
        return system.get("VERSION_CODENAME", "bookworm")
    return "bookworm"


def bootstrap(client: DockerClient, name: str, packages: str) -> None:
    """Make a small root file system of distribution packages (comma-separated) and import it as ``name``.

    Raises InconclusiveError when mmdebstrap cannot.
    """
    components = "main,universe" if _os_release().get("ID") == "ubuntu" else "main"
    with tempfile.TemporaryDirectory(prefix="gate-base-", dir=_cache()) as folder:
        archive = Path(folder) / "root.tar"
        made = process.run(
            [
                "mmdebstrap",
                "--quiet",
                "--variant=minbase",
                f"--include={packages}",
                f"--components={components}",
                *(f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("man", "doc", "locale", "info")),
                codename(),
                archive,
            ],
            deadline=_BUILD_SECONDS,
            # What is made while it is built gets this one time: the same packages, the same bytes (all day).
            env={"SOURCE_DATE_EPOCH": str(int(time.time()) // _DAY * _DAY)},
        )
        if not made.ok:
            tail = made.stderr.decode(errors="replace").strip().splitlines()[-3:]
            raise InconclusiveError(
                f"cannot make a base image: mmdebstrap ended with {made.code}: {' / '.join(tail)}",
                advice=f"Load {PUBLIC_BASE} into the engine by hand (`docker load`), then try again.",
            )
        # name and version together: podman takes no notice of the latter by itself
        client.api.import_image_from_file(str(archive), repository=name)


def _cache() -> Path:
    """A private folder on disk (``/tmp`` may be small): $XDG_CACHE_HOME/gate."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """One builder per user at a time; the kernel frees the lock when its holder dies."""
    with (_cache() / "images.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _line(error: object) -> str:
    return " ".join(str(error).split())[:300]

"""Builds the images on first use.

A tag carries a digest of the files that went in, so a changed launcher rebuilds. An image is believed for its
id alone (known_images.py).
No registry can be assumed: the public base is used where it is or can be had, else a base of
Debian packages is made with mmdebstrap (24 s once, measured on two cores).
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal

from docker import DockerClient
from docker.errors import APIError
from requests.exceptions import RequestException

from gate.errors import InconclusiveError
from gate.regex import regex
from gate.sandbox.backends.container.engine import API_ERRORS
from gate.sandbox.images import debian, known_images, recipe

Target = Literal["sandbox", "observer"]
TARGETS: Final[tuple[Target, ...]] = ("sandbox", "observer")
PUBLIC_BASE: Final = "python@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea"
"""3.12.14-slim-trixie, as in .github/workflows/release.yml."""
LABEL: Final = "gate"
_STEP: Final = regex(r"^ ---> ([0-9a-f]{12,64})$", re.MULTILINE)
_BUILT: Final = regex(r"Successfully built ([0-9a-f]{12,64})\b")
_ANY_ID: Final = regex(r"\b(?:sha256:)?([0-9a-f]{64})\b")
_LOOKUP_SECONDS: Final = 8
_BUILD_SECONDS: Final = 300
_OLD_SECONDS: Final = 7 * 24 * 3600
ProgressCallback = Callable[[str], None]
JsonObject = dict[str, Any]


def _quiet(_: str) -> None:
    """Progress nobody wants to see."""


digest = recipe.digest


def tag(target: Target, python: str = "", named: str = "", *, services: bool = False) -> str:
    """The local name of the image that belongs to this very version of the files. Believed is only its id."""
    other = f"-python{python}" * bool(python) + "-services" * services
    other += f"-{debian.base_name(python, services=services)[-8:]}" if other else ""
    other = f"-on-{named.rpartition(':')[2][:16]}" if named else other
    return f"gate-{target}:{digest()}{other}"


def present(
    client: DockerClient, target: Target, python: str = "", named: str = "", *, services: bool = False
) -> str | None:
    """The id (``sha256:...``) of the image where it is already there: named by digest, or built by gate.

    Raises what known_images.named raises.
    """
    by_digest = None if python or named or services else known_images.named(client, target)
    return by_digest or known_images.find(client, tag(target, python, named, services=services))


def ensure(
    client: DockerClient,
    target: Target,
    *,
    python: str = "",
    named: str = "",
    services: bool = False,
    say: ProgressCallback = _quiet,
) -> str:
    """The image's id, building it (and its base) when it is missing. ``python``: the one with that Python
    (one of debian.PYTHONS); ``named``: on that image (by digest); both empty: the usual one. ``services``:
    with servers for tests.

    Safe when several gates start at once: one builds, the others wait. Raises InconclusiveError when it
    cannot be built.
    """
    found = present(client, target, python, named, services=services)
    if found:
        return found
    with _lock():
        found = present(client, target, python, named, services=services)
        if found:
            return found
        try:
            on = known_images.pulled(client, named, "sandbox.image") if named else ""
            on = on or base_image(client, say, python=python, services=services)
            name = tag(target, python, named, services=services)
            say(f"building {name}")
            return _build(client, target, on, name)
        except API_ERRORS as error:
            raise InconclusiveError(
                f"cannot build the {target} image: {_line(error)}",
                advice="`docker build --target sandbox .` in a checkout shows the whole build log.",
            ) from error


def _build(client: DockerClient, target: Target, base: str, name: str) -> str:
    """Build one target from the package's own files; the tag appears only when all went well."""
    built = build(client, target, base, name)
    known_images.remember(name, built)
    _prune(client)
    return built


def build(client: DockerClient, target: Target, base: str, name: str) -> str:
    """Build ``target`` on ``base`` as ``name``, every step anew: who reaches the engine can put a step of his
    own into its cache. Returns the image's id. Raises InconclusiveError.
    """
    log: list[JsonObject] = []
    lines: Iterator[dict[str, Any]] = client.api.build(
        fileobj=packed({path: file.read_bytes() for path, file in recipe.sources().items()}),
        custom_context=True,
        target=target,
        tag=name,
        buildargs={"BASE": base},
        labels={LABEL: "image", "gate.base": base, known_images.FILES_LABEL: digest()},
        network_mode="none" if _is_own(client, base) else None,  # it has all it needs
        nocache=True,
        rm=True,
        forcerm=True,
        decode=True,
        timeout=_BUILD_SECONDS,
    )
    for line in lines:
        log.append(line)
        if "error" in line:
            raise InconclusiveError(
                f"cannot build the {target} image on {base}: {_line(line['error'])}",
                advice="Last lines of the build:\n" + "".join(_texts(log[-15:])),
            )
    clear_stages(client, _texts(log))
    return built_id(client, log)


def _is_own(client: DockerClient, base: str) -> bool:
    """Did gate make that base?"""
    names = (
        debian.base_name(python, services=services)
        for python in ("", *debian.PYTHONS)
        for services in (False, True)
    )
    return any(known_images.find(client, name) == base for name in names)


def built_id(client: DockerClient, log: Iterable[JsonObject]) -> str:
    """The id of the image that a build with this log made: its tag may be another's by now.

    Raises InconclusiveError, API_ERRORS.
    """
    ids = [""]
    for line in log:
        aux = line.get("aux")
        if isinstance(aux, dict) and "ID" in aux:
            ids.append(str(aux["ID"]))
        elif match := _BUILT.match(str(line.get("stream") or "")):
            ids.append(match[1])
    if not ids[-1]:
        raise InconclusiveError("the engine does not say which image it built")
    return str(client.api.inspect_image(ids[-1])["Id"])


def _texts(log: Iterable[JsonObject]) -> list[str]:
    return [str(line.get("stream") or line.get("error") or "") for line in log]


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
        if old and not any(digest() in name for name in tags):
            with contextlib.suppress(*API_ERRORS):
                client.api.remove_image(image["Id"])


def base_image(
    client: DockerClient, say: ProgressCallback = _quiet, *, python: str = "", services: bool = False
) -> str:
    """The id of a base image that is on this engine in the end: the one named by digest, the public one, or
    ours of Debian packages. ``python``: ours with that one (``3.13``) and no other; ``services``: ours with
    servers.
    """
    own = debian.base_name(python, services=services)
    if python or services:
        if found := known_images.find(client, own):
            return found
        what = " and ".join([f"Python {python}"] * bool(python) + ["PostgreSQL and Redis"] * services)
        say(f"making an image with {what} from Debian packages (a minute or two, once)")
        return bootstrap(client, own, debian.PACKAGES, debian.PYTHONS.get(python), services=services)
    found = (
        known_images.named(client, "base")
        or known_images.image_id(client, PUBLIC_BASE)
        or known_images.find(client, own)
    )
    if found:
        return found
    say(f"asking the registry for {PUBLIC_BASE}")
    if _registry_answers(client):
        say(f"pulling {PUBLIC_BASE}")
        try:
            client.images.pull(PUBLIC_BASE)
        except APIError as error:
            say(f"pulling failed: {_line(error)}")
        else:
            return str(client.api.inspect_image(PUBLIC_BASE)["Id"])
    say(f"no registry: making {own} from Debian packages with mmdebstrap (about half a minute)")
    return bootstrap(client, own, debian.PACKAGES)


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


def bootstrap(
    client: DockerClient,
    name: str,
    packages: str,
    release: debian.Release | None = None,
    *,
    services: bool = False,
) -> str:
    """Make a small root file system of distribution packages (comma-separated) and import it as ``name``;
    returns the image's id.

    Raises InconclusiveError when mmdebstrap cannot.
    """
    with tempfile.TemporaryDirectory(prefix="gate-base-", dir=_cache()) as folder:
        archive = Path(folder) / "root.tar"
        debian.make(archive, packages, release, services=services)
        # name and version together: podman takes no notice of the latter by itself
        said = client.api.import_image_from_file(str(archive), repository=name)
    image = _imported(client, str(said))
    known_images.remember(name, image)
    return image


def _imported(client: DockerClient, said: str) -> str:
    """The id in what the engine says of an import. Raises InconclusiveError, API_ERRORS."""
    ids: list[str] = _ANY_ID.findall(said)
    if not ids:
        raise InconclusiveError(f"the engine does not say which image it imported: {_line(said)}")
    return str(client.api.inspect_image(ids[-1])["Id"])


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

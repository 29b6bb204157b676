"""Which images are believed. Never one for its tag: whoever reaches the engine can give a tag to any image.

An image's id is the SHA-256 of its configuration, which names every layer by its SHA-256: the id says what is
in it. So believed are the ids that gate itself built (a record that only this user or root can write, beside
no cache that a job may restore), and what whoever runs gate names by digest in the environment.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from gate.errors import InconclusiveError, UsageError
from gate.regex import regex
from gate.sandbox.images import recipe

if TYPE_CHECKING:  # its import takes a tenth of a second, and most sandboxes here are no containers
    from docker import DockerClient

FILES_LABEL: Final = "gate.files"
"""The label of an image that says which version of the files (recipe.digest) it holds."""
Named = Literal["sandbox", "observer", "base"]
_FILE: Final = "known-images.json"
_OF_ALL: Final = Path("/var/lib/gate")
_ID: Final = regex(r"sha256:[0-9a-f]{64}")
_REFERENCE: Final = regex(r"(?:[a-z0-9][a-zA-Z0-9._:/-]{0,250}@)?sha256:[0-9a-f]{64}")
_MOST_BYTES: Final = 1 << 20
_MOST_NAMES: Final = 1_000
_MOST_IDS: Final = 4


def find(client: DockerClient, name: str) -> str | None:
    """The id of the image that gate built as ``name``, where the engine still has it; its tag is put back
    where somebody gave it to another image.
    """
    known = _recorded().get(name, [])
    if not known:
        return None
    tagged = image_id(client, name)
    if tagged in known:
        return tagged
    for image in reversed(known):
        if image_id(client, image):
            from docker.errors import APIError

            with contextlib.suppress(APIError):
                repository, _, tag = name.rpartition(":")
                client.api.tag(image, repository, tag)
            return image
    return None


def remember(name: str, image: str) -> None:
    """Note that gate built this image. A record that cannot be written costs the next run a build."""
    folder = record_folder()
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        with (folder / f"{_FILE}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            record = dict(_read(folder, {os.geteuid()}))
            ids = [known for known in record.pop(name, []) if known != image]
            record[name] = [*ids, image][-_MOST_IDS:]
            kept = dict(list(record.items())[-_MOST_NAMES:])
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="ascii") as new:
                json.dump(kept, new)
            Path(new.name).chmod(0o644)
            Path(new.name).replace(folder / _FILE)


def named(client: DockerClient, which: Named) -> str | None:
    """The id of the image that ``GATE_IMAGE_SANDBOX``, ``GATE_IMAGE_OBSERVER`` or ``GATE_IMAGE_BASE`` names,
    pulled where it is missing; None where it names none.

    Raises UsageError for a name without a digest, InconclusiveError where it cannot be had or holds another
    version of gate's files.
    """
    variable = f"GATE_IMAGE_{which.upper()}"
    reference = os.environ.get(variable, "")
    if not reference:
        return None
    found = pulled(client, reference, variable)
    if which != "base" and _labels(client, found).get(FILES_LABEL) != recipe.digest():
        raise InconclusiveError(
            f"{reference} is the {which} image of another version of gate",
            advice=f"Set {variable} to the digest of this version's image.",
        )
    return found


def pulled(client: DockerClient, reference: str, variable: str) -> str:
    """The id of the image that ``variable`` names by digest, pulled where it is missing.

    Raises UsageError for a name without a digest, InconclusiveError where it cannot be had.
    """
    from docker.errors import APIError

    if not _REFERENCE.fullmatch(reference):
        raise UsageError(
            f"{variable} names no image by its digest: {reference[:200]!r}",
            advice="Write NAME@sha256:<64 hex digits>, or the image's id; a tag can be moved.",
        )
    if not image_id(client, reference) and "@" in reference:
        try:
            repository, _, digest = reference.partition("@")
            client.api.pull(repository, tag=digest)
        except APIError as error:
            said = " ".join(str(error).split())[:300]
            raise InconclusiveError(f"cannot pull {reference}: {said}") from error
    found = image_id(client, reference)
    if not found:
        raise InconclusiveError(f"the engine has no image {reference}", advice=f"{variable} names it.")
    return found


def image_id(client: DockerClient, name: str) -> str:
    """The id behind a name, digest or id; empty where the engine has none."""
    from docker.errors import ImageNotFound

    try:
        return str(client.api.inspect_image(name)["Id"])
    except ImageNotFound:
        return ""


def _labels(client: DockerClient, image: str) -> Mapping[str, str]:
    return client.api.inspect_image(image)["Config"].get("Labels") or {}


def record_folder() -> Path:
    """Where this user's record lies; root's is everybody's."""
    if os.geteuid() == 0:
        return _OF_ALL
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "gate"


def _recorded() -> dict[str, list[str]]:
    """Both records together: root's, and this user's."""
    record = _read(_OF_ALL, {0})
    if record_folder() != _OF_ALL:
        for name, ids in _read(record_folder(), {0, os.geteuid()}).items():
            record[name] = [*record.get(name, []), *ids]
    return record


def _read(folder: Path, owners: set[int]) -> dict[str, list[str]]:
    """A record that nobody but ``owners`` can have written; else an empty one."""
    try:
        above = folder.lstat()
        fd = os.open(folder / _FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            held = os.fstat(fd)
            safe = all(s.st_uid in owners and not s.st_mode & 0o022 for s in (above, held))
            if not (safe and stat.S_ISREG(held.st_mode) and stat.S_ISDIR(above.st_mode)):
                return {}
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: [image for image in ids if isinstance(image, str) and _ID.fullmatch(image)]
        for name, ids in found.items()
        if isinstance(ids, list)
    }

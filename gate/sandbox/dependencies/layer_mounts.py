"""Shows layers of installed dependencies to sandboxes: as an image on top of the sandbox's, or as a folder.

A layer's tar was made by us from what a sandbox sent home (installing/home.py): plain files and folders,
names that stay inside. Nothing in it is ever run or imported here.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tarfile
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gate.errors import InconclusiveError
from gate.model.run import SandboxSpec
from gate.sandbox.dependencies import layers

if TYPE_CHECKING:
    from docker import DockerClient

    from gate.sandbox.images import engine_images

_NAME: Final = "gate-deps"
_BUILD_SECONDS: Final = 300
_OLD_SECONDS: Final = 7 * 24 * 3600
_ADVICE: Final = "Is the disk full? `docker system df` and `gate doctor` tell."


def ensure(client: DockerClient, image: str, spec: SandboxSpec) -> str:
    """The image's id with the spec's layers on top; ``image`` itself where there are none.

    Raises InconclusiveError, API_ERRORS.
    """
    from gate.sandbox.images import engine_images, known_images

    wanted = list(layers.mounts(spec))
    if not wanted:
        return image
    name = f"{_NAME}:{_tag(image, wanted)}"
    if known := known_images.find(client, name):
        return known
    log: list[engine_images.JsonObject] = []
    with tempfile.TemporaryFile() as context:
        with tarfile.open(fileobj=context, mode="w") as tar:
            recipe = [f"FROM {image}"]
            for number, (folder, path) in enumerate(wanted):
                recipe.append(f"ADD layer{number}.tar {folder}/")
                tar.add(path, f"layer{number}.tar", recursive=False)
            _put(tar, "Dockerfile", "\n".join(recipe).encode())
        context.seek(0)
        try:
            lines: Any = client.api.build(
                fileobj=context,
                custom_context=True,
                tag=name,
                labels={"gate": "image"},
                network_mode="none",
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
                        f"cannot make an image of the dependencies: {_line(line['error'])}", advice=_ADVICE
                    )
        except OSError as error:
            raise InconclusiveError(
                f"cannot make an image of the dependencies: {_line(error)}", advice=_ADVICE
            ) from error
    _prune(client)
    built = engine_images.built_id(client, log)
    known_images.remember(name, built)
    return built


def _prune(client: DockerClient) -> None:
    """Drop such images of more than a week ago; what is in use stays."""
    from gate.sandbox.backends.container.engine import API_ERRORS

    for image in client.api.images(_NAME):
        if time.time() - float(image.get("Created") or time.time()) > _OLD_SECONDS:
            with contextlib.suppress(*API_ERRORS):
                client.api.remove_image(image["Id"])


def _tag(image: str, wanted: list[tuple[str, Path]]) -> str:
    parts = [image, *(f"{folder} {layers.digest(path)}" for folder, path in wanted)]
    return layers.name_of("\n".join(parts))


def _put(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    tar.addfile(member, io.BytesIO(content))


def unpacked(layer: Path) -> Path:
    """A folder beside the tar with its files, readable for everybody; made once, whole or not at all.

    Raises InconclusiveError when there is no room.
    """
    folder = layer.with_suffix("")
    note = layer.with_suffix(".unpacked")
    if folder.is_dir():
        with contextlib.suppress(OSError):
            if note.read_text("ascii") == _identity(folder):
                return folder
        shutil.rmtree(folder, ignore_errors=True)  # came with a restored cache, or was left half made
    part = Path(tempfile.mkdtemp(prefix="part-", dir=layer.parent))
    try:
        part.chmod(0o755)
        _unpack(layer, part)
        try:
            part.rename(folder)
            note.write_text(_identity(folder), "ascii")
        except OSError:
            if not folder.is_dir():  # else another gate was quicker
                raise
    except (OSError, tarfile.TarError) as error:
        raise InconclusiveError(f"cannot unpack the dependencies: {_line(error)}", advice=_ADVICE) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def _identity(folder: Path) -> str:
    """Of the folder that we unpacked: another one, copied or restored, is not this one."""
    found = folder.stat()
    return f"{found.st_dev} {found.st_ino} {found.st_ctime_ns}"


def _unpack(layer: Path, folder: Path) -> None:
    with tarfile.open(layer) as tar:
        for member in tar:
            path = folder / member.name
            if ".." in path.parts or not path.is_relative_to(folder):
                raise tarfile.TarError("a name that leaves the layer")
            if member.isdir():  # each folder comes before what is in it
                path.mkdir()
                path.chmod(0o755)
                continue
            source = tar.extractfile(member) if member.isreg() else None
            if source is None:
                raise tarfile.TarError("not a plain file")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with source, open(os.open(path, flags, 0o644), "wb") as out:  # noqa: PTH123  # flags
                shutil.copyfileobj(source, out)
                os.fchmod(out.fileno(), 0o755 if member.mode & 0o100 else 0o644)


def _line(error: object) -> str:
    return " ".join(str(error).split())[:300]

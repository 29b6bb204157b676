"""An image with the host's language runtimes on top of the sandbox's, for the checks that need them.

The sandbox image stays small: a check of Python alone never meets this layer. Nothing is downloaded: the
runtime is the program that the host has (runtimes.py).
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from docker import DockerClient

from gate.errors import InconclusiveError
from gate.regex import regex
from gate.sandbox.images import engine_images, known_images, runtimes

_BUILD_SECONDS: Final = 300
_UNSAFE: Final = regex(r"[^a-z0-9.-]+")


def ensure(client: DockerClient, image: str, wanted: tuple[str, ...]) -> str:
    """The id of ``image`` with these runtimes in it; ``image`` itself where the host has none of them.

    Raises InconclusiveError, API_ERRORS.
    """
    shown = runtimes.mounts_for(wanted)
    if not shown:
        return image
    versions = "-".join(dict.fromkeys(_UNSAFE.sub("-", Path(s).name.lower()) for s, _ in shown))
    name = f"gate-sandbox-javascript:{versions}-{image.removeprefix('sha256:')[:12]}-{engine_images.digest()}"
    if known := known_images.find(client, name):
        return known
    log: list[engine_images.JsonObject] = []
    with tempfile.TemporaryFile() as context:
        with tarfile.open(fileobj=context, mode="w") as tar:
            first: dict[str, str] = {}
            for source, place in shown:
                inside = place.removeprefix(runtimes.INSIDE)
                member = tarfile.TarInfo(f"runtime{inside}")
                member.mode = 0o755
                if source in first:
                    member.type, member.linkname = tarfile.SYMTYPE, first[source]
                    tar.addfile(member)
                    continue
                first[source] = place
                member.size = Path(source).stat().st_size
                with Path(source).open("rb") as content:
                    tar.addfile(member, content)
            recipe = [f"FROM {image}", f"COPY runtime {runtimes.INSIDE}"]
            text = "\n".join(recipe).encode()
            member = tarfile.TarInfo("Dockerfile")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
        context.seek(0)
        for line in client.api.build(
            fileobj=context,
            custom_context=True,
            tag=name,
            labels={engine_images.LABEL: "image"},
            network_mode="none",
            nocache=True,
            rm=True,
            forcerm=True,
            decode=True,
            timeout=_BUILD_SECONDS,
        ):
            log.append(line)
            if "error" in line:
                said = " ".join(str(line["error"]).split())[:300]
                raise InconclusiveError(
                    f"cannot make an image with a JavaScript runtime: {said}",
                    advice="Is the disk full? `docker system df` and `gate doctor` tell.",
                )
    built = engine_images.built_id(client, log)
    known_images.remember(name, built)
    return built

"""Builds the image that holds gate itself (Dockerfile, targets gate and gate-action); says how large it is.

Needs no image registry: where the public base cannot be had it is made of Debian packages. Packages come as
wheels through this machine's pip, each checked against requirements-image.txt, and are kept for next time.
Usage: scripts/image.py [--target gate|gate-action] [--tag NAME]
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docker import DockerClient

from gate import __version__
from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.images import debian, engine_images, known_images

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-image.txt"
PACKAGES = "python3,git,ca-certificates"
FOLDERS = ("gate", "rules", "examples")
RECIPE = "Dockerfile.gate"


def say(text: str) -> None:
    """One line of progress."""
    print(f"image: {text}", file=sys.stderr, flush=True)


def base(client: DockerClient) -> str:
    """The id of the public image where the engine has it, else of one of Debian packages."""
    name = f"gate-python:{debian.codename()}-{hashlib.sha256(PACKAGES.encode()).hexdigest()[:8]}"
    found = known_images.named(client, "base") or known_images.image_id(client, engine_images.PUBLIC_BASE)
    if found := found or known_images.find(client, name):
        return found
    say(f"making {name} from Debian packages")
    return engine_images.bootstrap(client, name, PACKAGES)


def python_of(client: DockerClient, image: str) -> str:
    """``3.12``: the Python that the wheels are for."""
    words = ["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    said: bytes = client.containers.run(
        image, words, entrypoint="", remove=True, network_mode="none", labels={engine_images.LABEL: "image"}
    )
    return said.decode().strip()


def wheels(python: str) -> Path:
    """A folder with every wheel of the lock file, hashes checked by pip; from this machine's index."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate"
    key = hashlib.sha256(LOCK.read_bytes() + python.encode()).hexdigest()[:16]
    folder = cache / f"wheels-{key}"
    if folder.is_dir():
        return folder
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    say("fetching wheels")
    with tempfile.TemporaryDirectory(dir=cache) as made:
        part = Path(made) / "wheels"
        words = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
        words += ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--python-version", python]
        subprocess.run([*words, "-r", str(LOCK), "-d", str(part)], check=True)
        for old in cache.glob("wheels-*"):
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)
        try:
            part.rename(folder)
        except OSError:  # another process was faster: the same files, by their hashes
            if not folder.is_dir():
                raise
    return folder


def context(found: Path) -> io.BytesIO:
    """The build context; the same bytes for the same files."""
    files = {name: ROOT / name for name in ("Dockerfile", LOCK.name)}
    for top in FOLDERS:
        files |= {
            path.relative_to(ROOT).as_posix(): path
            for path in (ROOT / top).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    files |= {f"wheels/{path.name}": path for path in found.glob("*.whl")}
    # An engine without BuildKit would build the stages before ours, too: it gets ours only.
    first, *stages = files["Dockerfile"].read_text().split("\n# --- ")
    recipe = "\n# --- ".join([first, *(stage for stage in stages if " AS gate" in stage)])
    return engine_images.packed(
        {**{name: path.read_bytes() for name, path in files.items()}, RECIPE: recipe.encode()}
    )


def build(client: DockerClient, target: str, tag: str, *, cached: bool = True) -> dict[str, Any]:
    """Build without a network; returns what the engine says about the image. Raises InconclusiveError."""
    chosen = base(client)
    found = wheels(python_of(client, chosen))
    log = []
    for line in client.api.build(
        fileobj=context(found),
        custom_context=True,
        dockerfile=RECIPE,
        target=target,
        tag=tag,
        buildargs={"GATE_BASE": chosen},
        labels={engine_images.LABEL: "itself"},
        network_mode="none",
        nocache=not cached,
        rm=True,
        forcerm=True,
        decode=True,
        timeout=1_200,
    ):
        log.append(str(line.get("stream") or line.get("error") or ""))
        if "error" in line:
            raise InconclusiveError(f"the image could not be built:\n{''.join(log[-30:])}")
    engine_images.clear_stages(client, log)
    return dict(client.api.inspect_image(tag))


def main(argv: list[str]) -> int:
    """Build and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", choices=("gate", "gate-action"), default="gate")
    parser.add_argument("--tag", help="default: gate:<version>, gate-action:<version>")
    given = parser.parse_args(argv)
    tag = given.tag or f"{given.target}:{__version__}"
    try:
        with contextlib.closing(engine.connect(timeout=1_200.0)) as client:
            made = build(client, given.target, tag)
    except InconclusiveError as error:
        say(f"{error.message} {error.advice}".strip())
        return 1
    print(f"{tag} {made['Id']} {made['Size'] / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

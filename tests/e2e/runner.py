"""The runner image that `act` gives our workflows: made here, on the base that gate makes for its sandboxes.

It has what a hosted runner has and the action counts on: bash, git, node, Python, venv, pip. The action
installs itself in it from wheels that this machine's own pip fetched, so a job needs no network.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from docker.errors import APIError, DockerException, ImageNotFound

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.images import engine_images
from tests.paths import REPOSITORY

LABEL = "runner"
_RECIPE = """
FROM {base}
RUN set -eu; get="apt-get -qq install -y --no-install-recommends"; \\
    apt-get -qq update; $get nodejs git python3-pip >/dev/null; \\
    python3 -c 'import ensurepip' || $get python3-venv >/dev/null; \\
    rm -rf /var/lib/apt/lists/* && node --version
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV PIP_NO_INDEX=1 PIP_FIND_LINKS="/wheels /build-wheels" PIP_ROOT_USER_ACTION=ignore
"""
_BUILDERS = ("hatchling>=1.25",)
_KEPT = 2
"""Folders of wheels that are kept."""


@dataclass(frozen=True)
class Runner:
    """``image``: its name. ``options``: what `docker run` gets besides. Folders are the host's."""

    image: str
    wheels: Path
    builders: Path
    tools: Path

    def options(self, artifacts: Path) -> str:
        """For act's --container-options."""
        mounts = {
            self.wheels: "/wheels:ro",
            self.builders: "/build-wheels:ro",
            self.tools: "/opt/hostedtoolcache/gate-wheels",
            artifacts: "/gate-artifacts",
        }
        words = [f"-v {host}:{inside}" for host, inside in mounts.items()]
        return " ".join(
            [f"--label {engine_images.LABEL}=test", f"--label gate.test={_key(artifacts)}", *words]
        )

    def remove(self, artifacts: Path) -> None:
        """Containers that an act which was stopped left behind."""
        with contextlib.closing(engine.connect()) as client:
            for found in client.containers.list(all=True, filters={"label": f"gate.test={_key(artifacts)}"}):
                with contextlib.suppress(APIError):
                    found.remove(force=True, v=True)


def _key(artifacts: Path) -> str:
    """What the containers of one test are labelled with."""
    return hashlib.sha256(str(artifacts).encode()).hexdigest()[:16]


@cache
def why_not() -> str:
    """Why there can be no runner here; empty when there can."""
    try:
        engine.connect().close()
    except InconclusiveError as error:
        return f"a runner needs a container engine here: {error.message}"
    if os.environ.get("DOCKER_HOST", "unix://").partition(":")[0] != "unix":
        return "a runner needs an engine on this machine (folders are shared with it)"
    return ""


@cache
def runner() -> Runner:
    """Build what is missing; a minute or two the first time, nothing later."""
    try:
        image = _image()
    except (InconclusiveError, DockerException) as error:
        pytest.skip(f"no runner image can be made here: {str(error)[:300]}")
    build = _builder()
    with contextlib.closing(engine.connect()) as client:
        found = build.wheels(build.python_of(client, image))
    tools = _cache() / "test-tools"
    tools.mkdir(exist_ok=True)
    for old in sorted(tools.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return Runner(image=image, wheels=found, builders=_builders(), tools=tools)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate"


def _builder() -> ModuleType:
    """scripts/image.py."""
    spec = importlib.util.spec_from_file_location("gate_image", REPOSITORY / "scripts" / "image.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _image() -> str:
    with contextlib.closing(engine.connect(timeout=600.0)) as client:
        base = engine_images.base_image(client)
        name = f"gate-runner:{hashlib.sha256((base + _RECIPE).encode()).hexdigest()[:12]}"
        with contextlib.suppress(ImageNotFound):
            client.api.inspect_image(name)
            return name
        recipe = io.BytesIO(_RECIPE.format(base=base).encode())
        labels = {engine_images.LABEL: LABEL}
        # The host's network: packages come from where the host's own do.
        client.images.build(
            fileobj=recipe, tag=name, labels=labels, rm=True, forcerm=True, network_mode="host"
        )
    return name


def _builders() -> Path:
    """Wheels of the build back end, which a lock file of what runs does not name."""
    folder = _cache() / f"build-wheels-{hashlib.sha256(repr(_BUILDERS).encode()).hexdigest()[:8]}"
    if not folder.is_dir():
        part = folder.with_suffix(f".{os.getpid()}")
        words = [sys.executable, "-m", "pip", "download", "-q", "--only-binary", ":all:", "-d", str(part)]
        subprocess.run([*words, *_BUILDERS], check=True)
        part.rename(folder)
    return folder


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """act leaves a volume for tools behind; ours are elsewhere, so it goes unless it was there before."""
    with contextlib.closing(engine.connect()) as client:
        before = {volume.name for volume in client.volumes.list()}
        yield
        for volume in client.volumes.list():
            if volume.name == "act-toolcache" and volume.name not in before:
                with contextlib.suppress(APIError):
                    volume.remove()

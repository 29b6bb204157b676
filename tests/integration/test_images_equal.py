"""Images built twice hold the same (scripts/compare_images.py); and the comparison sees what differs."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gate.errors import InconclusiveError
from gate.sandbox.backends.container import engine
from gate.sandbox.images import engine_images, known_images
from tests.paths import REPOSITORY

SCRIPTS = REPOSITORY / "scripts"


def _why_not() -> str:
    try:
        engine.connect().close()
    except InconclusiveError as error:
        return f"images need a container engine: {error.message}"
    return ""


pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.timeout(1_500),
    pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "-"),
]
MINUTES = pytest.mark.skipif(
    not os.environ.get("GATE_TEST_IMAGE"), reason="takes minutes and 600 MB; GATE_TEST_IMAGE=1 runs it"
)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """scripts/compare_images.py."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    spec = importlib.util.spec_from_file_location("compare_images", SCRIPTS / "compare_images.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "compare_images", made)
    spec.loader.exec_module(made)
    return made


@MINUTES
@pytest.mark.parametrize("target", ["sandbox", "observer", "gate-action"])
def test_two_builds_hold_the_same(target: str) -> None:
    """gate-action is gate with another entry point: the same layers."""
    ran = subprocess.run(
        [sys.executable, str(SCRIPTS / "compare_images.py"), target],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "differs" not in ran.stdout
    same, every = re.findall(r"(\d+) of (\d+) layers", ran.stdout)[0]
    removed = 1 if target == "sandbox" else 0  # what a layer removes it marks with the time of day
    assert int(same) == int(every) - removed, ran.stdout


@contextlib.contextmanager
def _image(name: str, **files: tuple[bytes, int, int]) -> Iterator[str]:
    """An image of one layer with these files (content, mode, time)."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for path, (content, mode, time) in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode, member.mtime = len(content), mode, time
            tar.addfile(member, io.BytesIO(content))
    with contextlib.closing(engine.connect()) as client:
        client.api.import_image_from_data(whole.getvalue(), repository="gate-compared", tag=name)
        try:
            yield f"gate-compared:{name}"
        finally:
            client.api.remove_image(f"gate-compared:{name}")


def test_what_differs_is_seen(script: ModuleType) -> None:
    one = {
        "same": (b"x", 0o644, 5),
        "mode": (b"x", 0o644, 5),
        "time": (b"x", 0o644, 5),
        "text": (b"x", 0o644, 5),
    }
    other = one | {
        "mode": (b"x", 0o755, 5),
        "time": (b"x", 0o644, 9),
        "text": (b"y", 0o644, 5),
        "new": (b"", 0, 0),
    }
    with (
        _image("a", **one) as first,
        _image("b", **other) as second,
        _image("c", **one) as third,
        contextlib.closing(engine.connect()) as client,
    ):
        found = script.between(client, "t", first, second)
        same = script.between(client, "t", first, third)
    assert (found.differing, found.times, found.settings) == (["mode", "new", "text"], ["time"], [])
    assert not found.equal
    assert "0 of 1 layers" in found.told()
    assert "file differs: text" in found.told()
    assert same.equal
    assert same.told().endswith("1 of 1 layers equal byte for byte")


def test_a_build_leaves_its_image_and_nothing_else() -> None:
    """Stages that only gave files to it would stay for ever; a step that another image stands on does."""
    with contextlib.closing(engine.connect(timeout=300.0)) as client:
        base = engine_images.base_image(client)

        def unnamed() -> set[str]:
            told = client.api.images(all=True, filters={"dangling": True})
            return {image["Id"] for image in told}

        engine_images.build(client, "observer", base, "gate-compared:kept")
        try:
            log = [line["Id"] for line in client.api.history("gate-compared:kept") if "sha256" in line["Id"]]
            assert len(log) >= 2, "the steps of an image are there"
            before = unnamed()
            engine_images.build(client, "observer", base, "gate-compared:again")
            client.api.remove_image("gate-compared:again")
            assert unnamed() <= before
            engine_images.clear_stages(client, [f" ---> {step.partition(':')[2]}\n" for step in log])
            assert client.api.inspect_image("gate-compared:kept")
            assert client.api.inspect_image(base)
        finally:
            client.api.remove_image("gate-compared:kept")


def test_settings_that_differ_are_seen(script: ModuleType) -> None:
    said = {
        "Config": {"User": "1", "Hostname": "a", "Env": ["A=1"]},
        "Os": "linux",
        "Architecture": "x",
        "Author": "",
    }
    root = said | {"Config": {"User": "0", "Hostname": "b", "Env": ["A=1"]}}
    one, other = script.settings_of(said), script.settings_of(root)
    assert {name for name in one if one[name] != other[name]} == {"Config.User"}


def test_a_tag_that_somebody_moves_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack on a real engine: another image under the name that gate looks for."""
    monkeypatch.setattr(known_images, "_OF_ALL", tmp_path / "all")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with contextlib.closing(engine.connect(timeout=300.0)) as client:
        ours, other = (known_images.image_id(client, engine_images.tag(t)) for t in engine_images.TARGETS)
        if not (ours and other):
            pytest.skip("the sandbox images are not built here")
        name = f"gate-compared:moved-{uuid.uuid4().hex}"
        repository, _, tag = name.partition(":")
        try:
            client.api.tag(other, repository, tag)
            assert known_images.find(client, name) is None, "nobody noted it"
            known_images.remember(name, ours)
            assert known_images.find(client, name) == ours
            assert known_images.image_id(client, name) == ours, "the tag is put back"
        finally:
            client.api.remove_image(name, noprune=True)

"""An image is believed for its id, never for its tag."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import ImageNotFound

from gate import process
from gate.errors import InconclusiveError, UsageError
from gate.sandbox.images import debian, engine_images, known_images, recipe
from tests.paths import REPOSITORY

OURS, EVIL = f"sha256:{'a' * 64}", f"sha256:{'e' * 64}"
NAME = "gate-sandbox:1"


class FakeEngine:
    """Images by id, tags that anybody may move, and a registry."""

    def __init__(self) -> None:
        self.images: dict[str, dict[str, str]] = {OURS: {}, EVIL: {}}
        self.tags: dict[str, str] = {}
        self.registry: dict[str, str] = {}
        self.api = self

    def inspect_image(self, name: str) -> dict[str, Any]:
        image = self.tags.get(name, name)
        if image not in self.images:
            raise ImageNotFound("none")
        return {"Id": image, "Config": {"Labels": self.images[image]}}

    def tag(self, image: str, repository: str, tag: str) -> None:
        self.tags[f"{repository}:{tag}"] = image

    def pull(self, repository: str, tag: str) -> None:
        name = f"{repository}@{tag}"
        if name not in self.registry:
            raise ImageNotFound("no such image there")
        self.tags[name] = self.registry[name]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(known_images, "_OF_ALL", tmp_path / "all")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("SANDBOX", "OBSERVER", "BASE"):
        monkeypatch.delenv(f"GATE_IMAGE_{name}", raising=False)
    return FakeEngine()


def test_a_tag_that_gate_did_not_give_is_not_believed(engine: Any) -> None:
    engine.tags[NAME] = EVIL
    assert known_images.find(engine, NAME) is None


def test_a_tag_that_was_moved_is_put_back(engine: Any) -> None:
    engine.tags[NAME] = OURS
    known_images.remember(NAME, OURS)
    assert known_images.find(engine, NAME) == OURS
    engine.tags[NAME] = EVIL
    assert known_images.find(engine, NAME) == OURS
    assert engine.tags[NAME] == OURS


def test_what_is_gone_from_the_engine_is_built_again(engine: Any) -> None:
    known_images.remember(NAME, OURS)
    engine.tags[NAME] = EVIL
    del engine.images[OURS]
    assert known_images.find(engine, NAME) is None


def _record() -> Path:
    return known_images.record_folder() / "known-images.json"


@pytest.mark.parametrize("how", ["file of everybody", "folder of everybody", "link", "fifo", "junk", "ids"])
def test_a_record_that_others_may_have_written_is_none(engine: Any, how: str, tmp_path: Path) -> None:
    known_images.remember(NAME, OURS)
    engine.tags[NAME] = OURS
    file = _record()
    if how == "file of everybody":
        file.chmod(0o666)
    elif how == "folder of everybody":
        file.parent.chmod(0o777)
    elif how == "link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    elif how == "fifo":
        file.unlink()
        os.mkfifo(file, 0o644)
    else:
        file.write_text('["a"]' if how == "junk" else f'{{"{NAME}": ["gate-sandbox:1", 7]}}')
    assert known_images.find(engine, NAME) is None


def test_the_record_is_bounded_and_the_newest_stays(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_images, "_MOST_NAMES", 3)
    for number in range(6):
        known_images.remember(f"gate-deps:{number}", OURS)
    for letter in "0123456":
        known_images.remember(NAME, f"sha256:{letter * 64}")
    found = known_images._recorded()
    assert list(found) == ["gate-deps:4", "gate-deps:5", NAME]
    assert found[NAME][-1] == f"sha256:{'6' * 64}"
    assert len(found[NAME]) == known_images._MOST_IDS


def test_a_record_that_cannot_be_written_stops_nothing(engine: Any, tmp_path: Path) -> None:
    (tmp_path / "all").write_text("a file")
    (tmp_path / "state").write_text("a file")
    known_images.remember(NAME, OURS)


def test_by_digest_or_id_only(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.images[OURS] = {known_images.FILES_LABEL: recipe.digest()}
    released = f"registry.example/octo/sandbox@sha256:{'d' * 64}"
    engine.registry[released] = OURS
    engine.tags["registry.example/octo/sandbox:1.0"] = OURS
    for reference in (OURS, released):
        monkeypatch.setenv("GATE_IMAGE_SANDBOX", reference)
        assert engine_images.present(engine, "sandbox") == OURS
    for tagged in ("registry.example/octo/sandbox:1.0", "gate-sandbox:1", "sha256:abc", "--x@" + OURS):
        monkeypatch.setenv("GATE_IMAGE_SANDBOX", tagged)
        with pytest.raises(UsageError, match="by its digest"):
            engine_images.present(engine, "sandbox")


def test_what_cannot_be_had_or_is_of_another_version_is_said(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATE_IMAGE_OBSERVER", f"registry.example/octo/observer@sha256:{'f' * 64}")
    with pytest.raises(InconclusiveError, match="cannot pull"):
        engine_images.present(engine, "observer")
    monkeypatch.setenv("GATE_IMAGE_OBSERVER", f"sha256:{'f' * 64}")
    with pytest.raises(InconclusiveError, match="has no image"):
        engine_images.present(engine, "observer")
    monkeypatch.setenv("GATE_IMAGE_OBSERVER", OURS)
    with pytest.raises(InconclusiveError, match="another version"):
        engine_images.present(engine, "observer")


def test_the_public_base_is_named_by_digest(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "@sha256:" in engine_images.PUBLIC_BASE
    engine.tags |= {"python:3.12-slim": EVIL, debian.base_name(): EVIL}
    monkeypatch.setattr(engine_images, "_registry_answers", lambda client: False)
    monkeypatch.setattr(engine_images, "bootstrap", lambda client, name, packages: OURS)
    assert engine_images.base_image(engine) == OURS
    monkeypatch.setenv("GATE_IMAGE_BASE", EVIL)  # whoever runs gate says so himself
    assert engine_images.base_image(engine) == EVIL


@pytest.mark.parametrize(
    ("log", "found"),
    [
        ([{"aux": {"ID": OURS}}, {"stream": f"Successfully built {EVIL[7:19]}\n"}], EVIL[7:19]),
        ([{"stream": " ---> 123456789abc"}, {"aux": {"ID": OURS}}], OURS),
    ],
)
def test_the_built_image_is_what_the_engine_says_and_not_what_has_the_tag(
    log: list[dict[str, Any]], found: str
) -> None:
    client = SimpleNamespace(api=SimpleNamespace(inspect_image=lambda name: {"Id": name}))
    assert engine_images.built_id(client, log) == found  # type: ignore[arg-type]
    with pytest.raises(InconclusiveError):
        engine_images.built_id(client, [{"stream": "nothing"}])  # type: ignore[arg-type]


def test_the_release_is_built_on_the_same_base_and_says_which_files_it_holds() -> None:
    release = (REPOSITORY / ".github/workflows/release.yml").read_text()
    assert f"BASE: python:3.12-slim@{engine_images.PUBLIC_BASE.partition('@')[2]}\n" in release
    words = [sys.executable, "-B", "-m", "gate.sandbox.images.recipe"]
    assert f"python3 {' '.join(words[1:])}" in release
    said = process.run(words, deadline=60, cwd=REPOSITORY)
    assert said.stdout.decode().strip() == recipe.digest()

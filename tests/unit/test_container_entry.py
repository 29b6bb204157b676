"""The container action's entry point, and what the images promise in their recipe."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from gate import process
from gate.container_entry import renamed
from gate.github.publishing.step import Inputs
from tests.paths import REPOSITORY


def test_inputs_keep_their_meaning() -> None:
    given = {"INPUT_FAIL-ON": "warn", "INPUT_TOKEN": "t", "INPUT_BASE": "a b", "PATH": "/bin", "INPUT_": ""}
    found = renamed(given)
    assert found == {
        "GATE_INPUT_FAIL_ON": "warn",
        "GATE_TOKEN": "t",
        "GATE_INPUT_BASE": "a b",
        "GATE_INPUT_": "",
    }
    assert "fail_on" in Inputs.__struct_fields__


_CHILD = """
import os, sys
from pathlib import Path
from gate.container_entry import become_owner
become_owner(Path(sys.argv[1]), Path(sys.argv[2]))
try:
    os.setuid(0)
    print("root again")
except PermissionError:
    print(os.getresuid(), os.getresgid(), os.getgroups())
"""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give root up")
def test_root_is_given_up_for_good(tmp_path: Path) -> None:
    place, socket = tmp_path / "work", tmp_path / "docker.sock"
    place.mkdir()
    socket.touch()
    os.chown(place, 1234, 1235)
    os.chown(socket, 0, 998)
    done = process.run([sys.executable, "-c", _CHILD, place, socket], deadline=60, cwd=REPOSITORY)
    assert done.stdout.decode().strip() == "(1234, 1234, 1234) (1235, 1235, 1235) [998]", done.stderr
    os.chown(socket, 0, 0)
    done = process.run([sys.executable, "-c", _CHILD, place, socket], deadline=60, cwd=REPOSITORY)
    assert done.stdout.decode().strip().endswith("[]"), "never root's group"


def _stages() -> dict[str, str]:
    text = (REPOSITORY / "Dockerfile").read_text()
    parts = re.split(r"^FROM \S+ AS (\S+)$", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_what_holds_code_or_users_runs_as_nobody() -> None:
    stages = _stages()
    assert set(stages) == {"ours", "sandbox", "observer", "gate-build", "gate", "gate-action"}
    for name in ("sandbox", "gate"):
        assert "USER 65532:65532" in stages[name]
    assert "gate.container_entry" in stages["gate-action"], "root only until it is the owner of the files"


def test_every_package_of_the_image_is_pinned_by_hash() -> None:
    lock = (REPOSITORY / "requirements-image.txt").read_text()
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", lock, flags=re.MULTILINE).strip())
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[\w.-]+==[\w.]+ ", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]
    assert "--require-hashes" in _stages()["gate-build"]


def test_the_lock_file_covers_what_the_package_needs() -> None:
    import tomllib

    wanted = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = wanted["optional-dependencies"]
    asked = list(wanted["dependencies"])
    for extra in (
        "publish",
        "serve",
        "sigstore",
        "gitlab",
    ):  # the last: examples/gitlab runs `gate note` in it
        asked += extras[extra]
    names = [name for name in asked if not name.startswith(f"{wanted['name']}[")]
    locked = {
        line.partition("==")[0] for line in (REPOSITORY / "requirements-image.txt").read_text().splitlines()
    }
    for name in names:
        plain = re.match(r"[\w.-]+", name)
        assert plain is not None
        assert plain[0].lower().replace("_", "-") in locked, f"{name}: write requirements-image.txt anew"


def test_a_release_is_built_on_a_base_by_digest() -> None:
    """The recipe's default is a name, so that an image loaded by hand will do; a release says which bytes."""
    import yaml

    text = (REPOSITORY / ".github" / "workflows" / "release.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["images"]["steps"]
    (push,) = [step for step in steps if step.get("id") == "push"]
    assert re.fullmatch(r"python:3\.12-slim@sha256:[0-9a-f]{64}", push["env"]["BASE"])
    assert '--build-arg BASE="$BASE"' in push["run"]
    recipe = (REPOSITORY / "Dockerfile").read_text()
    assert set(re.findall(r"^FROM (\S+)", recipe, re.MULTILINE)) == {"${BASE}", "${GATE_BASE}", "gate"}
    assert "ARG GATE_BASE=${BASE}" in recipe

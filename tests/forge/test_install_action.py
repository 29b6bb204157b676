"""The action's installation trusts nothing that an earlier job could have left behind."""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from gate import __version__, process

ROOT = Path(__file__).resolve().parents[2]


def _action(folder: Path, lock: str) -> Path:
    """The action's own files, with a short lock."""
    place = folder / "action"
    for name in ("gate", "rules", "scripts"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Dockerfile", place)
    (place / "requirements-image.txt").write_text(lock)
    return place


def _locked(name: str) -> str:
    """One entry of our lock."""
    text = (ROOT / "requirements-image.txt").read_text()
    found = re.search(rf"^{name}==.*?(?=^[a-z])", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def _pip() -> dict[str, str]:
    """Where this machine's pip looks."""
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def _install(folder: Path, lock: str, **more: str) -> tuple[process.Done, dict[str, str]]:
    output = folder / "output"
    output.write_text("")
    for name in ("temp", "tools"):
        (folder / name).mkdir(exist_ok=True)
    shutil.rmtree(folder / "action", ignore_errors=True)
    place = _action(folder, lock)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GATE_ACTION_PATH": str(place),
        "GITHUB_OUTPUT": str(output),
        "RUNNER_TEMP": str(folder / "temp"),
        "RUNNER_TOOL_CACHE": str(folder / "tools"),
        "GATE_INPUT_CACHE": "true",
    }
    env |= more or _pip()
    done = process.run([place / "scripts/install-action.sh"], deadline=200, env=env)
    return done, dict(line.split("=", 1) for line in output.read_text().splitlines())


def test_a_poisoned_tool_cache_is_not_run(tmp_path: Path) -> None:
    """`cache: true` took any folder with a `.ready` file in it for its own installation."""
    old = tmp_path / "tools" / "gate"
    for key in ("x", "0" * 32):
        (old / key / "bin").mkdir(parents=True)
        (old / key / ".ready").touch()
        (old / key / "bin" / "python").write_text("#!/bin/sh\necho poisoned\n")
    done, outputs = _install(tmp_path, _locked("shtab"))
    if b"Could not fetch" in done.stderr or b"No matching distribution" in done.stderr:
        pytest.skip("no package index")
    assert done.ok, done.stderr.decode()
    python = Path(outputs["python"])
    assert (tmp_path / "temp") in python.parents
    said = process.run([python, "-I", "-c", "import gate; print(gate.__version__)"], deadline=60)
    assert said.stdout.decode().strip() == __version__
    rules = (
        "import pathlib, gate; print((pathlib.Path(gate.__file__).parent / '_rules/policy.toml').is_file())"
    )
    assert process.run([python, "-I", "-c", rules], deadline=60).stdout.strip() == b"True"


def test_what_is_not_the_locks_is_not_installed(tmp_path: Path) -> None:
    wrong = re.sub(r"sha256:[0-9a-f]{64}", "sha256:" + "0" * 64, _locked("shtab"))
    done, outputs = _install(tmp_path, wrong)
    assert not done.ok
    assert outputs == {}


def _says(python: str, program: str) -> str:
    return process.run([python, "-I", "-c", program], deadline=60).stdout.decode()


INSTALLER = "from importlib.metadata import distribution as d; print(d('shtab').read_text('INSTALLER'))"


def test_kept_wheels_are_installed_by_uv_and_taken_for_what_their_hash_says(tmp_path: Path) -> None:
    """The folder is the tool cache's, or of actions/cache: any job before may have written there."""
    lock = _locked("shtab") + _locked("uv")
    (tmp_path / "lock").write_text(lock)
    words = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes"]
    got = process.run([*words, "-d", tmp_path / "wheels", "-r", tmp_path / "lock"], deadline=200, env=_pip())
    if not got.ok:
        pytest.skip("no package index")
    alone = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    done, outputs = _install(tmp_path, lock, **alone)
    assert done.ok, done.stderr.decode()
    assert _says(outputs["python"], INSTALLER).strip() == "uv"
    (kept,) = (tmp_path / "tools/gate-wheels").iterdir()
    (wheel,), (program,) = kept.glob("shtab-*.whl"), kept.glob("uv-*.whl")
    with zipfile.ZipFile(program, "a") as archive:
        archive.writestr("uv-0.data/scripts/uv", "#!/bin/sh\ntouch $HOME/poisoned\n")
    done, outputs = _install(tmp_path, lock, **alone)
    assert done.ok, done.stderr.decode()
    assert not (tmp_path / "poisoned").exists()
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("shtab/poisoned.py", "")
    done, outputs = _install(tmp_path, lock, **alone)
    assert done.ok, done.stderr.decode()
    assert "None" in _says(
        outputs["python"], "import importlib.util as u; print(u.find_spec('shtab.poisoned'))"
    )
    assert (kept / wheel.name).read_bytes() == (tmp_path / "wheels" / wheel.name).read_bytes(), "fetched anew"
    shutil.rmtree(tmp_path / "wheels")  # the third time nothing else than the kept ones is there
    done, outputs = _install(tmp_path, lock, **alone)
    assert done.ok, done.stderr.decode()
    assert _says(outputs["python"], INSTALLER).strip() == "uv"

"""The launcher's modules in one file (launcher/start.py, pack.py), with a real Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.resources import inside_dir

PYTHON = [sys.executable, "-I", "-S", "-B"]
NO_JOB = b"launch: the host's message is cut off\n"


def started(folder: Path) -> subprocess.CompletedProcess[bytes]:
    """The launcher in that folder, told nothing; with every import it makes on stderr's lines."""
    words = [*PYTHON, "-v", str(folder / "start.py")]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def from_files(done: subprocess.CompletedProcess[bytes], module: str) -> bool:
    """Was it looked up where sources lie?"""
    said = done.stderr.decode()
    return f"/{module}.py'" in said or f"/{module}.py matches" in said or f"/{module}.py\n" in said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The launcher's files, as in an image."""
    place = tmp_path / "gate"
    shutil.copytree(inside_dir() / "launcher", place, ignore=shutil.ignore_patterns("__pycache__"))
    return place


@pytest.fixture
def packed(folder: Path) -> Path:
    """With the pack made."""
    made = subprocess.run([*PYTHON, str(folder / "pack.py")], capture_output=True, timeout=60, check=True)
    (folder / "launch.pack").write_bytes(made.stdout)
    return folder


def test_all_that_the_launcher_imports_comes_from_the_pack(packed: Path) -> None:
    for source in packed.glob("*.py"):
        if source.name != "start.py":
            source.unlink()
    done = started(packed)
    assert done.returncode == 3
    assert done.stderr.endswith(NO_JOB)
    assert b"# code object from" not in done.stderr.partition(b"start.py")[2]


def test_without_a_pack_it_imports_as_always(folder: Path) -> None:
    done = started(folder)
    assert done.returncode == 3
    assert done.stderr.endswith(NO_JOB)
    assert from_files(done, "tree_unpacker")


def test_a_pack_of_another_python_is_left_alone(packed: Path) -> None:
    pack = packed / "launch.pack"
    data = pack.read_bytes()
    assert data.startswith(b"GATEPACK1 " + sys.version.encode())
    pack.write_bytes(data.replace(b"GATEPACK1 3", b"GATEPACK1 2", 1))
    done = started(packed)
    assert done.stderr.endswith(NO_JOB)
    assert from_files(done, "tree_unpacker")


def test_two_packs_of_the_same_files_are_the_same(packed: Path) -> None:
    again = subprocess.run([*PYTHON, str(packed / "pack.py")], capture_output=True, timeout=60, check=True)
    assert again.stdout == (packed / "launch.pack").read_bytes()


def test_a_fault_in_the_pack_names_the_lines_of_the_source(packed: Path) -> None:
    words = "import sys; sys.path.insert(0, sys.argv[1]); import start; start.as_package(); start.unpack(); "
    words += "from gate_launcher import main; import json; "
    words += "print(main.__file__, main.main.__code__.co_filename, json.__path__)"
    run = [*PYTHON, "-c", words, str(packed)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    where, code, package = done.stdout.split()
    assert where == code == str(packed / "main.py")
    assert package.endswith("/json']")

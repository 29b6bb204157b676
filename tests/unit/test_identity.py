"""`pip install gate` brings another program of the same import name: where both are mixed, gate says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.identity import _may_hold, mixed_up
from tests.paths import REPOSITORY


def _other(folder: Path, *files: str) -> None:
    facts = folder / "gate-0.0.4.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: gate\nVersion: 0.0.4\n")
    (facts / "RECORD").write_text("".join(f"{name},,\n" for name in files))


def _start(folder: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(folder)}
    words = [sys.executable, "-m", "gate.cli", "--version"]
    return subprocess.run(words, cwd="/", env=env, capture_output=True, text=True, check=False)


def test_the_other_program_in_our_folder_is_said_at_start(tmp_path: Path) -> None:
    ours = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "gate", tmp_path / "gate", ignore=ours)
    shutil.copytree(REPOSITORY / "rules", tmp_path / "rules")
    assert _start(tmp_path).returncode == 0
    _other(tmp_path, "gate/__init__.py", "gate/factory.py")
    (tmp_path / "gate" / "__init__.py").write_text("from gate import factory\n")  # theirs came last
    (tmp_path / "gate" / "factory.py").write_text("")
    done = _start(tmp_path)
    assert done.returncode == 2
    assert "gate 0.0.4, an unrelated program, is installed into gate's own folder" in done.stderr
    assert "pip uninstall gate gate-ci" in done.stderr


def test_elsewhere_it_is_no_matter(tmp_path: Path) -> None:
    assert mixed_up() == ""
    assert mixed_up(tmp_path / "gate") == ""


def test_it_is_told_by_what_the_other_one_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: the records on the path, and whose folder they name."""
    monkeypatch.syspath_prepend(str(tmp_path / "away"))
    _other(tmp_path / "away", "gate/__init__.py")
    here = tmp_path / "here" / "gate"
    assert mixed_up(here) == "", "it lies elsewhere"
    _other(tmp_path / "here", "other/__init__.py")
    monkeypatch.syspath_prepend(str(tmp_path / "here"))
    assert mixed_up(here) == "", "it has no file in our folder"
    assert "gate 0.0.4, an unrelated program" in mixed_up(tmp_path / "away" / "gate")


def test_another_program_by_a_like_name_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _other(tmp_path, "gate/__init__.py")
    facts = tmp_path / "gate-0.0.4.dist-info" / "METADATA"
    facts.write_text("Metadata-Version: 2.1\nName: gate-keeper\nVersion: 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert mixed_up(tmp_path / "gate") == ""


def test_an_archive_on_the_path_may_hold_anything(tmp_path: Path) -> None:
    archive = tmp_path / "all.zip"
    assert not _may_hold(str(archive))
    archive.write_bytes(b"")
    assert _may_hold(str(archive))

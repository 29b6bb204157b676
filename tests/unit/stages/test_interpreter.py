"""The Python of a check's sandboxes: chosen by the settings, else by what base asks for."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from gate.errors import InconclusiveError
from gate.model.change import Tree
from gate.model.run import Capability, SandboxSpec
from gate.sandbox.contract import Backend, Session
from gate.settings import SandboxSettings
from gate.stages import interpreter
from tests.contract.trees import DictTree

_FOLDERS = itertools.count()
CAN = Capability(backend="docker", available=True, isolation="container", tracer="unotify", layers=True)


class Sandboxes(Backend):
    """Knows its versions and starts nothing: ``have`` maps an option to the version inside."""

    name = "docker"

    def __init__(self, have: Mapping[str, str] = MappingProxyType({})) -> None:
        self.have = {"": "3.11.2", "3.13": "3.13.5", "3.14": "3.14.8", **have}

    def probe(self) -> Capability:
        return CAN

    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> AbstractContextManager[Session]:
        raise AssertionError("nothing is started")

    def pythons(self, *, made: bool = False) -> tuple[str, ...]:
        return ("3.13",) if made else ("3.13", "3.14")


@pytest.fixture(autouse=True)
def versions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GATE_CACHE", str(tmp_path))

    def version(backend: Sandboxes, _spec: Any, _store: Any) -> str:
        found = backend.have[backend.options.python]
        if not found:
            raise InconclusiveError("mmdebstrap ended with 25")
        return found

    monkeypatch.setattr(interpreter, "python_version", version)


def _look(
    base: str,
    head: str = "",
    wanted: SandboxSettings | None = None,
    have: Mapping[str, str] = MappingProxyType({}),
) -> tuple[str, str]:
    """The option that was taken, and what is told."""

    folder = f"{next(_FOLDERS)}"  # what was read is kept by the names that a tree gives its blobs

    def tree(asked: str, side: str) -> DictTree:
        manifest = f'[project]\nname = "a"\n{asked}\n'
        return DictTree(files={f"{side}{folder}/pyproject.toml": manifest, f"{side}{folder}/a.py": ""})

    changed = SimpleNamespace(path=f"head{folder}/a.py", old_path=f"base{folder}/a.py")
    opened: Any = SimpleNamespace(
        change=SimpleNamespace(files=(changed,)), base=tree(base, "base"), head=tree(head or base, "head")
    )
    backend = Sandboxes(have)
    told = interpreter.take_python(opened, wanted or SandboxSettings(), backend, CAN, SandboxSpec())
    return backend.options.python, told[0].reason if told else ""


def test_its_own_where_it_will_do() -> None:
    assert _look('requires-python = ">=3.9"') == ("", "")
    assert _look("") == ("", "")


def test_a_newer_one_for_a_project_that_asks() -> None:
    assert _look('requires-python = ">=3.12"') == ("3.13", "")
    assert _look('requires-python = ">=3.9"', 'requires-python = ">=3.14"') == ("3.14", "")


def test_what_stands_in_or_is_not_to_be_had_is_told() -> None:
    python, why = _look('requires-python = "==3.12.*"')
    assert python == "3.13"
    assert "asks for Python ==3.12.*, the sandbox has 3.13.5" in why
    python, why = _look('requires-python = ">=3.20"')
    assert python == ""
    assert "the sandbox has 3.11.2; sandbox.python" in why
    python, why = _look('requires-python = ">=3.12"', have={"3.13": ""})
    assert python == ""
    assert "mmdebstrap ended with 25" in why
    python, why = _look('requires-python = ">=3.14"', have={"3.14": "3.15.0"})
    assert python == ""
    assert "has 3.15.0 now" in why


def test_a_fast_look_makes_none() -> None:
    fast = replace_settings(fast=True)
    assert _look('requires-python = ">=3.12"', wanted=fast)[0] == "3.13"
    assert _look('requires-python = ">=3.14"', wanted=fast)[0] == ""


def test_the_settings_come_first() -> None:
    assert _look('requires-python = ">=3.12"', wanted=replace_settings(python="3.14")) == ("3.14", "")
    assert _look('requires-python = ">=3.12"', wanted=replace_settings(python="3.11")) == ("", "")
    with pytest.raises(InconclusiveError, match=r"no Python 3\.9"):
        _look("", wanted=replace_settings(python="3.9"))
    with pytest.raises(InconclusiveError, match="mmdebstrap"):
        _look("", wanted=replace_settings(python="3.14"), have={"3.14": ""})


def test_a_named_image_is_taken_as_it_is() -> None:
    backend = Sandboxes()
    opened: Any = SimpleNamespace(change=SimpleNamespace(files=()), base=None, head=None)
    image = "python@sha256:" + "a" * 64
    interpreter.take_python(opened, replace_settings(image=image), backend, CAN, SandboxSpec())
    assert backend.options.image == image
    assert replace(backend.options, image="").python == ""


def replace_settings(**fields: Any) -> SandboxSettings:
    return SandboxSettings(**fields)

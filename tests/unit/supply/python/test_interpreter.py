"""Which Python a project asks for, and which of those that can be had it gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.supply.python.interpreter import PINS, chosen, environment, pinned
from gate.supply.python.project import Files, read
from tests.contract.trees import DictTree

OTHERS = ("3.11", "3.13", "3.14", "3.15")


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        (".python-version", "3.13\n", "==3.13.*"),
        (".python-version", "# ours\n3.12.4\n3.11\n", "==3.12.*"),
        (".python-version", "cpython@3.14.0\n", "==3.14.*"),
        (".python-version", "3.13.0rc1\n", "==3.13.*"),
        (".python-version", "pypy3.10\n", ""),
        (".python-version", "2.7\n", ""),
        (".python-version", "system\n", ""),
        (".tool-versions", "nodejs 20.1.0\npython 3.12.1 3.11.9\n", "==3.12.*"),
        (".tool-versions", "nodejs 3.12\n", ""),
        ("runtime.txt", "python-3.13.1\n", "==3.13.*"),
        ("Dockerfile", "FROM node:20 AS web\nFROM python:3.12-slim-trixie\n", ">=3.12"),
        ("Dockerfile", "ARG PYTHON=3.13\nFROM docker.io/library/python:${PYTHON}-slim\n", ">=3.13"),
        ("Dockerfile", "FROM ghcr.io/astral-sh/uv:python3.13-bookworm-slim\n", ">=3.13"),
        ("Dockerfile", "FROM python:3\nFROM python:latest\nFROM node:3.12\n", ""),
    ],
)
def test_files_that_name_a_version(name: str, text: str, asked: str) -> None:
    assert pinned(name, text.encode()) == asked


@pytest.mark.parametrize(
    ("asked", "own", "python"),
    [
        ([], "3.11.2", ""),
        ([""], "3.11.2", ""),
        ([">=3.9"], "3.11.2", ""),
        ([">=3.12"], "3.11.2", "3.13"),
        ([">=3.14"], "3.11.2", "3.14"),
        (["==3.14.*"], "3.12.5", "3.14"),
        ([">=3.9,<3.12"], "3.12.5", "3.11"),
        (["==3.12.*"], "3.11.2", "3.13"),  # nearest newer one, told by the caller
        ([">=3.12,<3.13"], "3.11.2", "3.13"),
        (["<3"], "3.11.2", ""),
        ([">=3.16"], "3.11.2", ""),
        (["no specifier"], "3.11.2", ""),
        ([">=3.9", ">=3.12"], "3.11.2", "3.13"),  # head asks for more: both can be had
        ([">=3.9,<3.12", ">=3.14"], "3.11.2", ""),  # they cannot: base's counts
        ([">=3.14", "<3"], "3.11.2", "3.14"),
    ],
)
def test_the_oldest_that_will_do(asked: list[str], own: str, python: str) -> None:
    assert chosen(asked, own, OTHERS) == python


@given(st.lists(st.text(max_size=40), max_size=2))
def test_no_text_of_a_manifest_raises(asked: list[str]) -> None:
    assert chosen(asked, "3.11.2", OTHERS) in ("", *OTHERS)


@given(st.sampled_from(PINS), st.binary(max_size=200))
def test_any_bytes_of_a_pin_are_read(name: str, raw: bytes) -> None:
    assert pinned(name, raw) == "" or pinned(name, raw).startswith(("==3.", ">=3."))


def test_a_manifest_says_more_than_a_file_beside_it() -> None:
    files = {
        "pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.10"\n',
        ".python-version": "3.13\n",
        "sub/setup.cfg": "[metadata]\nname = b\n",
    }
    found = Files(DictTree(files=files))
    assert read(".", found, environment("3.11.2")).requirements.python == ">=3.10"
    assert read("sub", found, environment("3.11.2")).requirements.python == "==3.13.*"

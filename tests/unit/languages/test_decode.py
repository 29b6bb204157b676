"""Bytes to text as CPython does it, and languages by content."""

from __future__ import annotations

import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.languages.content import binary_kind, reader_of
from gate.languages.decode import declared_encoding, decode, without_declaration
from gate.languages.notebook import read_notebook


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: latin-1\nx = '\xe9'\n",
        b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\nx = '\x80'\n",
        b"# vim: set fileencoding=koi8-r :\n# \xc1\n",
        b"\n# coding: latin-1\n",
        b"x = 1\n# coding: latin-1\n",
        b"\x0c# coding: latin-1\n",
        b"\xef\xbb\xbf# coding: utf-8\n",
        b"# coding=utf8\n",
        b"#coding:latin-1",
        b"# encoding: iso-8859-15\r\n",
    ],
)
def test_the_declaration_is_read_as_tokenize_reads_it(data: bytes) -> None:
    theirs, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    ours = decode(data, python=True)
    expected = data.decode(theirs).replace("\r\n", "\n")
    assert ours.text == expected
    assert not ours.lossy


@given(st.binary(max_size=300))
def test_any_bytes_give_text_and_a_line_map_of_its_length(data: bytes) -> None:
    for python in (True, False):
        result = decode(data, python=python)
        assert "\r" not in result.text
        if result.lines is not None:
            assert len(result.lines) == result.text.count("\n") + 1
            assert list(result.lines) == sorted(result.lines)


@given(st.text(alphabet="# codingutf:=-7x\n\t\f", max_size=80))
def test_a_void_declaration_declares_nothing(text: str) -> None:
    plain = without_declaration(text)
    assert declared_encoding(plain.encode()) is None
    assert plain.count("\n") == text.count("\n")


def test_a_bare_carriage_return_keeps_gits_line_numbers() -> None:
    result = decode(b"a\rb\r\nc\n", python=True)
    assert result.text == "a\nb\nc\n"
    assert result.lines == (1, 1, 2, 3)
    assert result.problems == ("bare-cr",)


@pytest.mark.parametrize(
    ("path", "data", "language"),
    [
        ("a.py", b"", "python"),
        ("bin/tool", b"#!/usr/bin/env python3\n", "python"),
        ("bin/tool.txt", b"#!/bin/sh\n", "shell"),
        ("x.json", b'{"a": 1}', "json"),
        ("x.json", b"import os\n", "python"),
        ("x.cfg", b"# c\nfrom os import system\n", "python"),
        ("README.md", b"import os\n", "prose"),
        ("Dockerfile.dev", b"FROM x\n", "dockerfile"),
        ("requirements-dev.txt", b"flask\n", "requirements"),
        ("a.mts", b"let a: string\n", "typescript"),
        ("a.py", b"\x7fELF\x02", "binary"),
        ("unknown", b"hello\n", None),
    ],
)
def test_language(path: str, data: bytes, language: str | None) -> None:
    assert reader_of(path, data) == language


def test_utf16_is_text_and_nul_runs_are_not() -> None:
    assert binary_kind("x = 1\n".encode("utf-16")) is None
    assert binary_kind(bytes(100)) == "binary data"


@given(st.text(max_size=200))
def test_a_notebook_reader_never_raises(text: str) -> None:
    read_notebook(text)


def test_a_notebook_of_another_language_and_an_old_format() -> None:
    new = '{"cells":[{"cell_type":"code","source":"ls | sh"}],"metadata":{"language_info":{"name":"bash"}}}'
    old = '{"worksheets":[{"cells":[{"cell_type":"code","input":["import os\\n","x"]}]}]}'
    one, two = read_notebook(new), read_notebook(old)
    assert one is not None
    assert two is not None
    assert one.language == "shell"
    assert two.text.startswith("import os\nx\n")

"""The program of a first line, and that the three questions about a file share its answer."""

from __future__ import annotations

import pytest

from gate.languages.change_language import language_of
from gate.languages.content import reader_of
from gate.languages.identity import shebang_program
from gate.languages.sensitive_calls.table import table_of


@pytest.mark.parametrize(
    ("line", "program"),
    [
        (b"#!/usr/bin/python3.12 -u\n", "python"),
        (b"\xef\xbb\xbf#! /usr/bin/env -S A=1 python3 -u\n", "python"),
        (b"#!/usr/bin/python3-dbg\n", "python"),
        (b"#!/usr/bin/nice /usr/bin/env node\n", "node"),
        (b"#!/usr/bin/env ts-node\n", "ts-node"),
        (b"#!/bin/sh # python\n", "sh"),
        (b"#!/usr/bin/env\n", ""),
        (b"#!\n", ""),
        (b"import os\n", ""),
    ],
)
def test_the_program_of_the_first_line(line: bytes, program: str) -> None:
    assert shebang_program(line) == program


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"#!/usr/bin/env -S uv run\n", "python"),
        (b"#!/bin/mksh\n", "shell"),
        (b"#!/usr/bin/zx\n", "javascript"),
    ],
)
def test_whoever_asks_gets_the_same_answer(line: bytes, language: str) -> None:
    assert {ask("tool", line) for ask in (language_of, reader_of, table_of)} == {language}

"""Deletions of a temporary file that a function of Go made itself are none of note; all others are."""

from __future__ import annotations

import pytest

from gate.languages.sensitive_calls.go_files import own_files
from gate.languages.sensitive_calls.grammar import Parsed
from gate.languages.tree_sitter_parse import parse

FORM = "package a\n\nfunc Write(path string, rows []string) error {{\n\t{}\n}}\n"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('file, err := os.CreateTemp(dir, "x-*")\n\tdefer os.Remove(file.Name())', 1),
        ('folder, err := os.MkdirTemp("", "x")\n\tdefer os.RemoveAll(folder)', 1),
        ('file, err := os.CreateTemp(dir, "x-*")\n\tname := file.Name()\n\tos.Remove(name)', 1),
        ("os.Remove(path)", 0),
        ("file, err := os.Create(path)\n\tos.Remove(file.Name())", 0),
        ('file, err := os.CreateTemp(dir, "x-*")\n\tfile = other\n\tos.Remove(file.Name())', 0),
        ('path, err := os.MkdirTemp("", "x")\n\tos.RemoveAll(path)', 0),
        ('file, err := os.CreateTemp(dir, "x-*")\n\tos.RemoveAll(filepath.Dir(file.Name()))', 0),
    ],
)
def test_own_files(body: str, count: int) -> None:
    text = FORM.format(body).encode()
    parsed = Parsed.__new__(Parsed)
    object.__setattr__(parsed, "root", parse(text, "tree_sitter_go"))
    assert len(own_files(parsed)) == count

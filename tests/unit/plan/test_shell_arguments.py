"""The arguments that a shell script is run with, and what its shell could not read."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.model.change import ChangedFile, Hunk
from gate.plan.build import deepen, unreached
from gate.plan.conditions import VARIANTS
from gate.plan.probes import job_of
from gate.plan.shell_arguments import MOST, changed_words
from tests.unit.plan.planned import planned, targets
from tests.unit.plan.test_coverage import record

CASE = """#!/bin/sh
action="${1:-help}"
case "$action" in
  build|make) echo building ;;
  "deploy")
    shift
    echo "$1" ;;
  --fast) FAST=1 ;;
  *) echo usage; exit 1 ;;
esac
"""


def file_of(text: str, first: int = 1, count: int | None = None) -> ChangedFile:
    lines = text.count("\n") + 1
    hunk = Hunk(old_start=first, old_count=0, new_start=first, new_count=lines if count is None else count)
    return ChangedFile(
        path="go.sh", old_path=None, status="modified", language="shell", hunks=(hunk,), old_mode="100644",
        new_mode="100644", old_blob=None, new_blob=None, binary=False, size=len(text),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CASE, [("build",), ("deploy", "x"), ("--fast",)]),
        ('case "$1" in\nstart) run;;\nstop) halt;; esac\n', [("start",), ("stop",)]),
        ("case $1 in (on) a ;; (off) b ;; esac\n", [("on",)]),
        (
            'while [ $# -gt 0 ]; do case "${1}" in\n -v|--verbose) v=1;;\n -o) out=$2; shift;;\nesac\n',
            [("-v",), ("-o", "x")],
        ),
        (
            'while getopts "ab:" opt; do\ncase $opt in\n a) one ;;\n b) two "$OPTARG" ;;\n \\?) no ;; esac\n',
            [("-a",), ("-b", "x")],
        ),
        ('if [ "$1" = "deploy" ]; then evil; fi\n', [("deploy",)]),
        ("[[ $1 == now ]] && evil\n", [("now",)]),
        ('mode=$1\nif test "$mode" = live; then evil; fi\n', [("live",)]),
        ('for arg in "$@"; do\ncase $arg in\n--all) a ;;\nesac\ndone\n', [("--all",)]),
        ('case "$(uname)" in\nLinux) a ;;\nesac\n', []),
        ('case "$OS" in\nLinux) a ;;\nesac\n[ "$OS" = Linux ] && b\n', []),
        ('case "$1" in\n*.tar.gz) a ;;\n?) b ;;\n$x) c ;;\n"a b") d ;;\nesac\n', []),
        ('# case "$1" in\n# start) a ;;\n', []),
        ("echo hello\n", []),
    ],
)
def test_words(text: str, words: list[tuple[str, ...]]) -> None:
    assert changed_words(file_of(text), text) == (words, 0)


def test_only_what_changed_is_tried() -> None:
    assert changed_words(file_of(CASE, 7, 1), CASE) == ([("deploy", "x")], 0)
    assert changed_words(file_of(CASE, 2, 1), CASE) == ([], 0)


def test_many_arms_are_counted() -> None:
    text = 'case "$1" in\n' + "".join(f"word{n}) echo {n};;\n" for n in range(40)) + "esac\n"
    words, left = changed_words(file_of(text), text)
    assert len(words) == MOST
    assert left == 40 - MOST


@given(st.text(alphabet='case in$1"@;)|(*\nesacx-= {}getopts', max_size=400))
def test_any_text_gives_plain_words(text: str) -> None:
    words, left = changed_words(file_of(text), text)
    assert len(words) <= MOST
    assert left >= 0
    assert all(w and "\n" not in w and " " not in w for argv in words for w in argv)


@pytest.mark.parametrize(
    "text",
    [
        'case "$1" in\n' * 20_000,
        'case "$1" in ' * 80_000,
        'case "$1" in\n' + "a|" * 400_000,
        "[ $1" * 250_000,
        ('case "$1" in\na) b\n' + "x\n" * 5) * 20_000,
        "$" + "1" * 1_000_000,
    ],
)
def test_made_to_be_slow(text: str) -> None:
    before = time.process_time()
    changed_words(file_of(text), text)
    assert time.process_time() - before < 30


def test_planned_in_one_sandbox(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"go.sh": CASE})
    assert targets(plan)[1:] == ["sh go.sh", "sh go.sh --fast and 2 more"]
    words = [item.get("argv") for probe in plan.probes[1:] for item in job_of(probe)["items"]]
    assert words == [None, ["--fast"], ["build"], ["deploy", "x"]]


@pytest.mark.parametrize(
    "said",
    [
        b"/work/tree/go.sh: 7: Syntax error: Bad function name\n",
        b"go.sh: line 7: syntax error near unexpected token `;'\n",
    ],
)
def test_a_script_that_its_shell_cannot_read(said: bytes) -> None:
    run = record({"items": []})
    shell = replace(run, stderr=said, probe=replace(run.probe, phase="script", target="sh go.sh"))
    (told,) = unreached([shell])
    assert (told.target, told.reason) == (
        "sh go.sh: the rest of it",
        "its shell cannot read it from line 7 on",
    )


def test_the_second_look_keeps_the_words_together(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"go.sh": CASE, "run.sh": CASE})
    assert targets(plan)[1:] == [
        "sh go.sh",
        "sh go.sh --fast and 2 more",
        "sh run.sh",
        "sh run.sh --fast and 2 more",
    ]
    again = deepen(plan, ()).probes[1:]
    assert len({probe.id for probe in again}) == len(again) == 4 * len(VARIANTS)


def test_programs_of_one_file_have_ids_of_their_own(tmp_path: Path) -> None:
    program = "#!/usr/bin/env node\nconsole.log(process.argv)\n"
    plan = planned(tmp_path, {f"{name}.js": program for name in "abc"})
    again = deepen(plan, ()).probes
    assert len({probe.id for probe in again}) == len(again)

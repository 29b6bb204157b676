"""The self-test's own parts: one table for inside and outside, strict decoding, honest exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gate.errors import Exit
from gate.isolation import inside_folder
from gate.isolation.attempts import ATTEMPTS
from gate.isolation.bait import lay
from gate.isolation.checks import CHECKS, of_kind
from gate.isolation.claims import claims_of
from gate.isolation.examine import judge
from gate.isolation.interface import CRITERIA, AttemptOutcome, Check, Examination, Result
from gate.isolation.statement import Answer, BadStatementError, decode
from gate.isolation.table import to_json, to_markdown, to_terminal
from gate.isolation.tree import HostileTree, probe_tree
from gate.model.run import Capability
from gate.verbs.isolation import exit_code

DOCKER = Capability(
    backend="docker", available=True, isolation="container", tracer="unotify", version="20 \x1b[31m"
)
GOOD = b'{"id": "a.b", "held": true, "tried": "", "happened": ""}'


def _examined(*outcomes: AttemptOutcome, text: str = "x") -> Examination:
    checks = list(of_kind("machine").values())
    results = [
        Result(check=check, outcome=outcome, tried=text, happened=text)
        for check, outcome in zip(checks, outcomes, strict=False)
    ]
    return Examination(capability=DOCKER, results=tuple(results))


def test_there_are_checks_for_every_criterion_and_each_id_is_one() -> None:
    machine = of_kind("machine")
    assert len(machine) >= 150
    assert {check.criterion for check in machine.values()} == set(CRITERIA)
    assert len({check.id for check in CHECKS}) == len(CHECKS)


def test_every_check_is_answered_by_the_program_that_the_table_names() -> None:
    folder = inside_folder()
    paths = [*folder.iterdir(), folder.parent / "machine.py"]
    text = "".join(path.read_text() for path in paths if path.is_file())
    for check in CHECKS:
        if check.group == "host":
            continue
        bare = check.id.removeprefix(f"{check.kind}.")
        last = bare.rpartition(".")[2]
        known = f'"{bare}"' in text or (bare.startswith(("near.", "after.")) and f'"{last}"' in text)
        known = known or bare.startswith(("technology.", "network."))
        assert known, check.id
    assert set(ATTEMPTS) <= set(of_kind("restricted"))


def test_every_registered_probe_is_in_the_table() -> None:
    known = {check.id for check in CHECKS}
    for path in inside_folder().glob("*.py"):
        for name in re.findall(
            r'@check\(GROUP, "([a-z.-]+)"\)|^simple\(\s*"([a-z.-]+)"', path.read_text(), re.MULTILINE
        ):
            assert "".join(name) in known, (path.name, name)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "nothing"),
        (b"{", "no statement"),
        (b'{"answers": [], "at": 1, "verdict": "held"}', "no statement"),
        (
            b'{"answers": [{"id": "a.b", "held": "yes", "tried": "", "happened": ""}], "at": 1}',
            "no statement",
        ),
        (b'{"answers": [{"id": "x.y", "held": true, "tried": "", "happened": ""}], "at": 1}', "nobody asked"),
        (
            b'{"answers": ['
            + b",".join([b'{"id": "a.b", "held": true, "tried": "", "happened": ""}'] * 2)
            + b'], "at": 1}',
            "twice",
        ),
        (b"[" * 100_000, "no statement"),
        (b'{"answers": [], "at": 1, "x": "' + b"y" * (300 << 10), "too long"),
    ],
)
def test_a_statement_that_is_not_whole_is_not_believed(line: bytes, why: str) -> None:
    with pytest.raises(BadStatementError, match=why):
        decode(b"noise\n" + line + b"\n" if line else b"", ["a.b"])


def test_only_the_last_line_counts() -> None:
    good = b'{"answers": [{"id": "a.b", "held": false, "tried": "t", "happened": "h"}], "at": 1}'
    forged = good.replace(b"false", b"true")
    assert decode(forged + b"\n" + good + b"\n", ["a.b"])["a.b"].held is False


def test_what_was_not_answered_is_not_a_pass() -> None:
    results = judge({}, claims_of(DOCKER), "the engine went away")
    assert {result.outcome for result in results} == {AttemptOutcome.NOT_TRIED}
    assert results[0].happened == "the engine went away"


@pytest.mark.parametrize(
    ("name", "held", "text", "outcome"),
    [
        ("privilege.mount", True, "EPERM", AttemptOutcome.HELD),
        ("privilege.mount", False, "it worked", AttemptOutcome.BROKEN),
        ("privilege.mount", None, "the check itself failed", AttemptOutcome.NOT_TRIED),
        ("privilege.ports", None, "not here: no I/O ports", AttemptOutcome.NOT_HERE),
        ("leak.disks", False, "shown", AttemptOutcome.NOT_CLAIMED),
    ],
)
def test_an_answer_becomes_an_outcome(
    name: str, held: bool | None, text: str, outcome: AttemptOutcome
) -> None:
    answers = {name: Answer(id=name, held=held, tried="t", happened=text)}
    found = {result.check.id: result.outcome for result in judge(answers, claims_of(DOCKER), "")}
    assert found[name] is outcome


def test_exit_codes() -> None:
    gone = Examination(
        capability=Capability(backend="x", available=False, isolation="none", tracer="none", reason="no")
    )
    held, broken, unknown = AttemptOutcome.HELD, AttemptOutcome.BROKEN, AttemptOutcome.NOT_TRIED
    assert exit_code([_examined(held, AttemptOutcome.NOT_CLAIMED, AttemptOutcome.NOT_HERE)]) == Exit.OK
    assert exit_code([_examined(held), gone]) == Exit.OK
    assert exit_code([_examined(held), _examined(held, broken, unknown)]) == Exit.BLOCKED
    assert exit_code([_examined(held, unknown)]) == Exit.INCONCLUSIVE
    assert exit_code([gone]) == Exit.INCONCLUSIVE
    assert exit_code([_examined()]) == Exit.INCONCLUSIVE
    assert exit_code([]) == Exit.INCONCLUSIVE


def test_texts_from_inside_are_escaped_in_every_form() -> None:
    nasty = "\x1b[2J</td> | `x` \n::error::x <img src=x>"
    done = [_examined(AttemptOutcome.BROKEN, text=nasty)]
    shown = to_terminal(done, verbose=True)
    assert "\x1b" not in shown
    page = to_markdown(done)
    rows = [line for line in page.splitlines() if "command.shell" in line]
    assert len(rows) == 1
    assert "<img" not in rows[0] or "`" in rows[0]
    assert "\x1b" not in page
    assert json.loads(to_json(done))["backends"][0]["counts"]["broken"] == 1


def test_the_matrix_counts_what_did_not_hold() -> None:
    shown = to_terminal(
        [_examined(AttemptOutcome.HELD, AttemptOutcome.BROKEN, AttemptOutcome.NOT_TRIED)], verbose=False
    )
    assert "1/3, 1 BROKEN, 1 NOT TRIED" in shown


def test_the_probe_is_sent_with_its_arguments_and_the_hostile_tree_leaves_its_folder() -> None:
    tree = probe_tree({"a": 1})
    assert json.loads(tree.read("arguments.json")) == {"a": 1}
    assert {"main.py", "kit.py", "numbers_table.py"} <= {entry.path for entry in tree.entries()}
    assert b"../outside.txt" in b"".join(HostileTree().archive())


def test_the_bait_sees_who_comes_and_what_changes() -> None:
    import socket
    import time

    with lay() as bait:
        assert bait.changes() == []
        socket.create_connection(("127.0.0.1", bait.port), 2).close()
        until = time.monotonic() + 3
        while not bait.calls and time.monotonic() < until:
            time.sleep(0.01)
        assert bait.calls
        Path(bait.folder, "left").touch()
        bait.flag.write_text("changed")
        assert len(bait.changes()) == 2
        arguments = json.dumps(bait.arguments())
        assert bait.secret not in arguments
        assert bait.content not in arguments


def test_a_check_is_a_value() -> None:
    check = Check(id="a.b", criterion=1, title="t", group="g")
    assert check == Check(id="a.b", criterion=1, title="t", group="g")

"""A program that was looked for and is not there was not started: no shell, no grave program."""

from __future__ import annotations

from tests.unit.signals.context import command, findings


def test_a_shell_that_is_not_there_is_not_told_as_started() -> None:
    assert findings("shell-or-interpreter-spawned", command("bash -c id"))
    assert findings("shell-or-interpreter-spawned", command("bash -c id", missing="yes")) == []


def test_a_program_that_is_not_there_is_told_as_looked_for() -> None:
    there, absent = (
        findings("program-spawned", command("curl http://x.example", missing=m)) for m in ("", "yes")
    )
    assert len(there) == len(absent) == 1
    assert (there[0].severity, there[0].message) != (absent[0].severity, absent[0].message)

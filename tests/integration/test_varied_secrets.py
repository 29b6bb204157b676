"""Programs run with other secrets in real sandboxes: every way to give one away is told, no other."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from gate.model.behaviour import BehaviourKind
from tests.integration.launching import why_no_bwrap
from tests.varied.looking import Lab, lab
from tests.varied.programs import CHANNELS, HARMLESS, Program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_bwrap()), reason=why_no_bwrap() or "bubblewrap works"),
]


_STEP = 1 if os.environ.get("GATE_PAIRS") == "all" else 3
"""Each takes seconds: the suite runs every third, ``GATE_PAIRS=all`` all of them."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab(tmp_path_factory.mktemp("varied"), (*CHANNELS, *HARMLESS)) as made:
        yield made


@pytest.mark.parametrize("program", CHANNELS[::_STEP], ids=lambda program: program.name)
def test_what_follows_a_secret_is_told(opened: Lab, program: Program) -> None:
    found, _ = opened.look(program)
    assert bool(found.dependences) is not program.missed, found
    assert all(one.path == program.path and one.first != one.other for one in found.dependences)


@pytest.mark.parametrize("program", HARMLESS[::_STEP], ids=lambda program: program.name)
def test_what_does_not_is_not(opened: Lab, program: Program) -> None:
    found, _ = opened.look(program)
    assert found.probes <= 1, found
    assert not found.dependences, found


def test_noise_of_which_nothing_decides_is_a_note(opened: Lab) -> None:
    program = next(p for p in HARMLESS if p.name == "system-entropy")
    found, _ = opened.look(program)
    assert [channel.part for _, _, channel in found.undecided] == ["body.nonce"]


def test_what_a_look_at_the_bytes_tells_is_not_told_again(opened: Lab) -> None:
    program = next(p for p in CHANNELS if p.name == "printed-backwards")
    assert opened.look(program)[0].dependences
    found, seen = opened.look(program, known=True)
    assert any(b.kind is BehaviourKind.CANARY and b.detail["channel"] == "stdout" for b in seen)
    assert not found.dependences

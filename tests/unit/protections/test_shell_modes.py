"""A check of a script that stops nothing: ``set -e`` or ``pipefail`` is gone."""

from __future__ import annotations

import pytest

from gate.protections.facts import SWALLOWED
from gate.protections.shell.reader import read

CHECK = "sha256sum -c a.sum"


def swallowed(text: str) -> list[bool]:
    found = read("a.sh", text.encode(), {})
    return [SWALLOWED in guard.context for unit in found.units for guard in unit.guards]


@pytest.mark.parametrize(
    "text",
    [
        f"set -uo pipefail\n{CHECK}\ntar x\n",
        f"{CHECK}\ntar x\n",
        f"f() {{\n  {CHECK}\n  tar x\n}}\nf\n",
        f"set -eu\n{CHECK} | tee log\ntar x\n",
        f"set -e\n{CHECK} || true\ntar x\n",
    ],
)
def test_a_check_that_stops_nothing_is_swallowed(text: str) -> None:
    assert swallowed(text) == [True]


@pytest.mark.parametrize(
    "text",
    [
        f"set -euo pipefail\n{CHECK}\ntar x\n",
        f"#!/bin/sh -e\n{CHECK}\ntar x\n",
        f"set -o errexit\n{CHECK}\ntar x\n",
        f"{CHECK} || exit 1\ntar x\n",
        f"{CHECK} && tar x\n",
        f"if ! {CHECK}; then exit 1; fi\ntar x\n",
        f"cd a\n{CHECK}\n",
        f"f() {{\n  cd a\n  {CHECK}\n}}\nf || exit 1\n",
        f"set -euo pipefail\n{CHECK} | tee log\ntar x\n",
        f"set -e\necho a | {CHECK}\ntar x\n",
    ],
)
def test_a_check_that_stops_the_script_is_not(text: str) -> None:
    assert swallowed(text) == [False]

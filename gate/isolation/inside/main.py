"""The probe that `gate isolation` runs inside a sandbox: python3 main.py GROUP ... Standard library only."""

from __future__ import annotations

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import kit

with open(os.path.join(HERE, "arguments.json"), encoding="utf-8") as file:
    kit.ARGUMENTS.update(json.load(file))

import bombs
import escapes
import leaks
import leaks_machine
import neighbours
import network
import network_host
import privilege
import privilege_held
import technology
import writing

PARTS = (
    bombs,
    escapes,
    leaks,
    leaks_machine,
    neighbours,
    network,
    network_host,
    privilege,
    privilege_held,
    technology,
    writing,
)

if __name__ == "__main__":
    if sys.argv[1] in bombs.PROGRAMS:
        bombs.PROGRAMS[sys.argv[1]]()
    else:
        kit.run_groups(sys.argv[1:], bombs.ANSWERING)

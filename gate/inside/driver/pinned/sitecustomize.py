"""Pins chance and clocks in a Python program that the code started (../pinned_world.py)."""

import os
import sys


def _begin() -> None:
    seed, _, start = os.environ.get("GATE_PINNED", "").partition(" ")
    if not seed.isdigit():
        return
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package = type(sys)("gate_driver")
    package.__path__ = [home]
    sys.modules["gate_driver"] = package
    from gate_driver import pinned_world

    for name in [name for name in sys.modules if name.partition(".")[0] == "gate_driver"]:
        del sys.modules[name]  # the code does not find it there
    options = dict(os.environ)
    pinned_world.pin(int(seed), float(start))
    os.environ.update(options)  # what is there already reaches what this one starts


try:
    _begin()
except Exception:  # a program of another Python goes on as it is
    sys.modules.pop("gate_driver", None)

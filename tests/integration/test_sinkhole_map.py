"""The sinkhole may enter a sandbox's user namespace before its map is written: it waits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_CHILD = """
import ctypes, sys
from gate.inside.sinkhole import __main__ as sinkhole
if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
    sys.exit(77)
print("unshared", flush=True)
print(sinkhole._mapped("uid"), flush=True)
"""


@pytest.mark.root
def test_a_map_that_comes_late_is_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", _CHILD], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        if child.stdout.readline() != "unshared\n":
            pytest.skip("no user namespaces here")
        assert Path(f"/proc/{child.pid}/uid_map").read_text() == ""
        Path(f"/proc/{child.pid}/uid_map").write_text("65534 0 1")
        assert child.stdout.read() == "65534\n"

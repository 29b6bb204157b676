"""Where a path led is still found when all that ran in the sandbox is gone, and its mounts with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gate.inside.observer.links import Links
from tests.contract.capabilities import capability

_READY = "ln -s /tmp/real /tmp/way; mkdir /tmp/real; echo $$; exec cat"


def test_a_link_of_a_sandbox_that_ended(tmp_path: Path) -> None:
    """strace's lines come a moment after the calls: the last are read when nothing runs any more."""
    found = capability("bubblewrap")
    if not found.available:
        pytest.skip(found.reason)
    words = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "sh", "-c", _READY]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as box:
        assert box.stdin is not None
        assert box.stdout is not None
        tid = int(box.stdout.readline())
        links = Links(lambda _pid: None)
        assert os.readlink(f"/proc/{tid}/ns/mnt") != os.readlink("/proc/self/ns/mnt")
        assert links.real(tid, b"/tmp/real/here") is None
        box.stdin.close()
        box.wait(timeout=30)
    links.forget()
    assert links.real(tid, b"/tmp/way/there") == b"/tmp/real/there"

"""Root file systems of Debian packages: what making one leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate import process
from gate.sandbox.images.debian import own_mounts


def test_mounts_of_what_was_killed_are_gone(tmp_path: Path) -> None:
    words = own_mounts()
    if not words:
        pytest.skip("a mount namespace needs root")
    made = tmp_path / "proc"
    made.mkdir()
    script = (
        f'mount -t tmpfs gate {made} && test -n "$(mount -t tmpfs | grep {made})" && echo mounted; kill -9 $$'
    )
    done = process.run([*words, "sh", "-c", script], deadline=20)
    assert done.stdout == b"mounted\n", done
    assert str(made) not in Path("/proc/self/mounts").read_text(encoding="utf-8")

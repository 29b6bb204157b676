"""Deletions whose choice changed, each with a twin that is in order."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.deletions import DeletionsTaken
from tests.prescreen_support import make_request

Files = dict[str, str]
PRUNE = "import shutil\n\n\ndef drop(one):\n    shutil.rmtree(one)\n\n\ndef prune(host, keep):\n"
OLD = PRUNE + "    for one in old[: max(len(old) - keep, 0)]:\n        drop(one)\n"
SPOOL = {"app/spool.py": "def shorten(folder, keep):\n    for one in folder[:-keep]:\n        one.unlink()\n"}


def told(base: Files, head: Files) -> list[str]:
    return [f.rule_id for f in DeletionsTaken().scan(make_request(head, base)).findings]


@pytest.mark.parametrize(
    "after",
    [
        PRUNE + "    for one in chosen(host, keep):\n        drop(one)\n",
        PRUNE + "    old = pick(host)\n    for one in old:\n        drop(one)\n",
    ],
)
def test_another_choice(after: str) -> None:
    assert told({"app/store.py": OLD}, {"app/store.py": after}) == ["deletion.takes-more"]


def test_a_count_that_is_computed() -> None:
    base = SPOOL | {"app/d.py": "def turn(s, n):\n    return shorten(s.folder, s.keep)\n"}
    after = {"app/d.py": "def turn(s, n):\n    s.keep >>= n\n    return shorten(s.folder, s.keep)\n"}
    assert told(base, base | after) == ["deletion.takes-more"]
    plain = {"app/d.py": "def turn(s, n):\n    s.keep = 5\n    return shorten(s.folder, s.keep)\n"}
    assert told(base, base | plain) == []
    mask = {"app/m.py": "keep = a\n"}
    assert told(mask, {"app/m.py": "keep = a & b\n"}) == []


@pytest.mark.parametrize(
    "after",
    [
        OLD + "\n\ndef more():\n    return 1\n",
        OLD.replace("drop(one)", "print(one)\n        drop(one)"),
        PRUNE + "    for one in old[: max(len(old) - keep, 0)]:\n        drop( one )\n",
    ],
)
def test_the_same_choice(after: str) -> None:
    assert told({"app/store.py": OLD}, {"app/store.py": after}) == []
    assert (
        told({"tests/store.py": OLD}, {"tests/store.py": PRUNE + "    for x in y:\n        drop(x)\n"}) == []
    )

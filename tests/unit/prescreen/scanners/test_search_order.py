"""Folders that come in front of others, with and without a file of the same name."""

from __future__ import annotations

import pytest

from gate.prescreen.scanners.search_order import SearchOrder
from tests.prescreen_support import make_request

Files = dict[str, str]
TREE = {"tools/sign": "a", "contrib/sign": "b", "extra/size": "c"}


def told(base: Files, head: Files) -> list[str]:
    found = SearchOrder().scan(make_request(head, base)).findings
    return [f.evidence["found"] for f in found]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("mk/t.mk", "T := tools /opt/bin\n", "T := contrib tools /opt/bin\n"),
        ("run.sh", "PATH=tools:contrib:$PATH\n", "PATH=contrib:tools:$PATH\n"),
        ("run.sh", 'PATH="$PWD/tools:$PATH"\n', 'PATH="$PWD/contrib:$PWD/tools:$PATH"\n'),
        ("c.json", '{"dirs": ["tools"]}\n', '{"dirs": ["contrib", "tools"]}\n'),
        ("c.yaml", "dirs:\n  - tools\n  - extra\n", "dirs:\n  - contrib\n  - tools\n  - extra\n"),
        ("a.py", 'DIRS = ["tools"]\n', 'DIRS = ["contrib", "tools"]\n'),
    ],
)
def test_a_folder_in_front(path: str, before: str, after: str) -> None:
    assert told(TREE | {path: before}, TREE | {path: after}) == ["contrib/sign"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("mk/t.mk", "T := tools /opt/bin\n", "T := extra tools /opt/bin\n"),  # nothing of the same name
        ("mk/t.mk", "T := tools /opt/bin\n", "T := tools contrib /opt/bin\n"),
        ("c.yaml", "dirs:\n  - tools\n", "dirs:\n  - tools\n  - contrib\n"),
        ("README.md", "tools\n", "contrib tools\n"),
    ],
)
def test_what_is_in_order(path: str, before: str, after: str) -> None:
    assert told(TREE | {path: before}, TREE | {path: after}) == []


def test_a_new_file_in_front() -> None:
    base = {"tools/sign": "a", "contrib/x": "b", "t.mk": "T := contrib tools\n"}
    assert told(base, base | {"contrib/sign": "b"}) == ["contrib/sign"]
    assert told(base, base | {"contrib/size": "b"}) == []
    base["t.mk"] = "T := tools contrib\n"
    assert told(base, base | {"contrib/sign": "b"}) == []

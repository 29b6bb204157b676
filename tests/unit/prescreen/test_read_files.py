"""What the limited child could not read is named by the scanners that asked for it."""

from __future__ import annotations

import time

import pytest

from gate.languages.limited_child import FileResult, Reader
from gate.prescreen import read_files
from gate.prescreen.interface import Scanner
from gate.prescreen.scanners.collisions import Collisions
from gate.prescreen.scanners.deletions import DeletionsTaken
from gate.prescreen.scanners.dispatch import DispatchByName
from gate.prescreen.scanners.identities import Identities
from gate.prescreen.scanners.machine import Machine
from gate.prescreen.scanners.named import NamedThings
from gate.prescreen.scanners.ordered import Ordered
from gate.prescreen.scanners.search_order import SearchOrder
from gate.prescreen.scanners.shifted_arguments import ShiftedArguments
from tests.prescreen_support import make_request

BASE = {"a.py": "import os\n\ndef keep(n):\n    os.remove('a')\n"}
HEAD = {"a.py": BASE["a.py"] + "\nLIST = ['.netrc', '.aws/credentials']\n"}


@pytest.mark.parametrize(
    "scanner", [DeletionsTaken(), NamedThings(), ShiftedArguments()], ids=lambda s: s.name
)
def test_a_file_that_no_child_could_read_is_named(scanner: Scanner, monkeypatch: pytest.MonkeyPatch) -> None:
    def gave_up(_reader: object, files: list[tuple[str, bytes]], **_: object) -> list[FileResult[object]]:
        return [FileResult(path=path, outcome="crashed", reason="it died") for path, _ in files]

    monkeypatch.setattr(read_files, "scan_isolated", gave_up)
    looked = scanner.scan(make_request(HEAD, BASE))
    assert "a.py" in str((looked.stages, looked.findings))


def test_nothing_is_asked_of_nobody() -> None:
    reader = Reader("gate.prescreen.deletions.read:read", object)
    assert read_files.read_files(reader, [], time.monotonic()) == {}


PADDING = "# " + "x" * 98 + "\n"
LARGE: dict[str, tuple[Scanner, str, str, str]] = {
    "named": (NamedThings(), "a.py", "keep()\n", "LIST = ['.netrc', '.aws/credentials']\n"),
    "machine": (Machine(), "a.py", "secrets.token_hex(8)\n", "random.random()\n"),
    "dispatch": (DispatchByName(), "a.py", "f()\n", "getattr(os, name)()\n"),
    "collisions": (Collisions(), "a.py", "k = f'{owner}/{name}'\n", "k = f'{owner}-{name}'\n"),
    "ordered": (Ordered(), "a.py", "COLUMNS = ['a', 'b']\n", "COLUMNS = ['b', 'a']\n"),
    "search-order": (SearchOrder(), "run.sh", "PATH=a:b\n", "PATH=b:a\n"),
    "shifted": (ShiftedArguments(), "a.py", "def f(a): pass\n", "def f(b, a): pass\n"),
    "deletions": (DeletionsTaken(), "a.py", "os.remove(a)\n", "os.remove(b)\n"),
    "identities": (Identities(), "a.py", "account = 'acct_1'\n", "account = 'acct_2'\n"),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_is_named_as_not_looked_at(name: str) -> None:
    scanner, path, old, new = LARGE[name]
    small = scanner.scan(make_request({path: new}, {path: old}))
    assert "larger than" not in small.stages[0].reason
    for padding in (PADDING * 12_000, PADDING * 5_400):
        looked = scanner.scan(make_request({path: padding + new}, {path: padding + old}))
        named = f"{path}: larger than" in looked.stages[0].reason
        assert named or (name in ("search-order", "identities") and padding != PADDING * 12_000)


def test_a_long_line_hides_no_other_one() -> None:
    base = "def code():\n    return secrets.token_hex(8)\n"
    head = "def code():\n    return hex(random.getrandbits(64))\n" + "# " + "x" * 30_000 + "\n"
    assert [f.rule_id for f in Machine().scan(make_request({"a.py": head}, {"a.py": base})).findings]

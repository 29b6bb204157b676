"""What the limited child could not read is named by the scanners that asked for it."""

from __future__ import annotations

import time

import pytest

from gate.languages.limited_child import FileResult, Reader
from gate.prescreen import read_files
from gate.prescreen.interface import Scanner
from gate.prescreen.scanners.deletions import DeletionsTaken
from gate.prescreen.scanners.named import NamedThings
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

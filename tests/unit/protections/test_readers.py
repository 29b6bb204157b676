"""The readers of protections, in this process: every case is read, and read alike in the child."""

from __future__ import annotations

import contextlib

import msgspec
import pytest

from gate.languages.limited_child import Reader, scan_isolated
from gate.protections.facts import FileFacts
from gate.protections.generic import reader as generic_reader
from gate.protections.javascript import reader as javascript_reader
from gate.protections.python import reader as python_reader
from tests.paths import TESTS

CASES = sorted((TESTS / "rules" / "protections").glob("*/*.txt"))
READERS = {
    ".py": python_reader,
    ".js": javascript_reader,
    ".ts": javascript_reader,
    **dict.fromkeys(generic_reader.LANGUAGES.keys() - {".kts"}, generic_reader),
}


def files(suffix: str) -> list[tuple[str, bytes]]:
    """Both sides of every case, as files of one language with names of their own."""
    found = []
    for case in CASES:
        for number, part in enumerate(case.read_text().split("\n=== ")[1:]):
            title, _, body = part.partition("\n")
            if title.endswith(suffix):
                found.append((f"{case.stem}-{number}{suffix}", body.encode()))
    return found


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_the_child_reads_as_this_process_does(suffix: str) -> None:
    reader = READERS[suffix]
    here = [reader.read(path, data, {"tests": []}) for path, data in files(suffix)]
    door = f"{reader.__name__}:read"
    there = scan_isolated(
        Reader(door, FileFacts, parses=True), files(suffix), options={"tests": []}, deadline=120
    )
    assert here
    assert [msgspec.to_builtins(result.value) for result in there] == [msgspec.to_builtins(f) for f in here]


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_cut_texts_are_no_error(suffix: str) -> None:
    for path, data in files(suffix)[::7]:
        for end in range(0, len(data), 97):
            refused = (SyntaxError, ValueError) if suffix == ".py" else ()
            with contextlib.suppress(*refused):
                READERS[suffix].read(path, data[:end], {"tests": []})

"""What the documents say of `gate doctor` that makes something: it fills every backend, for minutes."""

from __future__ import annotations

import pytest

from gate.cli import main
from tests.paths import REPOSITORY
from tests.unit.test_docs_commands import LEFT_TO_SANDBOXES, RUN, commands

COMMANDS = sorted(
    {
        tuple(words)
        for page in RUN
        for words in commands(REPOSITORY / page)
        if " ".join(words).startswith(LEFT_TO_SANDBOXES)
    }
)


@pytest.mark.slow
@pytest.mark.xdist_group("microvm")  # one of the backends
@pytest.mark.timeout(1800)  # the first time it fetches a Debian with that Python
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_a_reader_types_works(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(list(words))
    assert code in (0, 1, 3), capsys.readouterr().err


def test_the_documents_have_some() -> None:
    assert COMMANDS

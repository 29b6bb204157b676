"""A value is an option of a program where it stands at the beginning of a word, and no option takes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import DRIVER
from tests.unit.inside.driver.javascript.job import printed

WORDS = {
    ("log", "--oneline", "--word"): True,
    ("log", "-word"): True,
    ("log", "--grep=--word"): False,
    ("log", "--author", "--word"): False,
    ("log", "--", "--word"): False,
    ("log", "word"): False,
}


@pytest.mark.parametrize(("words", "told"), WORDS.items(), ids=str)
def test_an_option_in_place_of_a_value(tmp_path: Path, words: tuple[str, ...], told: bool) -> None:
    program = (
        f"import {{ now, optionOf }} from {json.dumps(str(DRIVER / 'javascript/stands.mjs'))};"
        f"now.started.push(['git', {json.dumps(words)}, false]);"
        "console.log(JSON.stringify(optionOf('word') !== ''));"
    )
    assert printed(tmp_path, program) == told

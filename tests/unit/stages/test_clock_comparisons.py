"""Which changed files are a reason for a second look: those that newly compare a clock."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.model.change import Change
from gate.stages.clock_comparisons import compares_clock
from tests.contract.trees import DictTree
from tests.unit.signals.context import changed

NEWLY: tuple[tuple[str, bool], ...] = (
    ("now=$(stat -c %Y a)\nif [ $now -gt 1795500000 ]; then x; fi", True),
    ('if [ "$(date -u +%s)" -gt 1795500000 ]; then x; fi', False),
    ('case "$(date +%Y)" in 2027) x;; esac', False),
    ("find . -newermt 2027-01-01 | grep -q . && x", True),
    ("[ a -nt b ] && x", True),
    ("(( EPOCHSECONDS > 1795500000 )) && x", False),
    ("printf -v now '%(%s)T' -1; test $now -gt 3 && x", False),
    ("env -i date", False),
    ("unset LD_PRELOAD", False),
    ('[ -n "$FAKETIME" ] && exit', False),
    ("read up rest < /proc/uptime; [ ${up%.*} -gt 9 ] && x", False),
)
EVERYDAY = (
    "tar cf backup-$(date +%F).tar .",
    "if [ -f a ]; then x; fi",
    "env -i PATH=/bin make",
    "stat -c %s a && x",
)


def told(
    text: str, *lines: tuple[int, int], path: str = "a.sh", language: str | None = "shell"
) -> dict[str, bool]:
    """What is said of one file, of which these lines (start, count) are new; all where none is named."""
    file = replace(changed(path, *(lines or ((1, 99),))), language=language, size=len(text))
    change = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=(file,))
    return compares_clock(change, DictTree(files={path: text}))


@pytest.mark.parametrize(("text", "file_times"), NEWLY)
def test_a_script_that_compares_a_clock(text: str, file_times: bool) -> None:
    assert told(text) == {"a.sh": file_times}


@pytest.mark.parametrize("text", EVERYDAY)
def test_everyday_lines_are_no_reason(text: str) -> None:
    assert told(text) == {}


def test_only_what_is_new() -> None:
    text = "now=$(date +%s)\nif [ $now -gt 1795500000 ]; then x; fi\necho done\n"
    assert told(text, (3, 1)) == {}
    assert told(text, (2, 1)) == told(text, (1, 1)) == {"a.sh": False}


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_asking_for_the_time_is_everyday_in_a_program(language: str) -> None:
    path = "a.x"
    timing = "import time\nif time.time() > start + 5: Date.now() > 7"
    assert told(timing, path=path, language=language) == {}
    assert told(timing + "\nwhen = 1_795_500_000", path=path, language=language) == {path: False}
    later = "import os\nif os.path.getmtime(p) > datetime(2027, 1, 1).timestamp(): act()"
    assert told(later, path=path, language=language) == {path: True}


def test_long_lines_take_no_time() -> None:
    assert told("date " * 100_000 + "stat " * 20_000) == {}


def test_what_is_gone_or_no_text_is_not_read() -> None:
    file = replace(changed("a.sh", (1, 9)), new_blob=None)
    binary = replace(changed("b.sh", (1, 9)), binary=True)
    change = Change(repo="", base=None, head=None, merge_base=None, commits=(), files=(file, binary))
    assert compares_clock(change, DictTree(files={"b.sh": "unset LD_PRELOAD"})) == {}

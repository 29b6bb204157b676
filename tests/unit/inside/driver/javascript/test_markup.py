"""A word of a payload is markup where a browser takes it for a tag or an attribute, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.inside.driver.harness import DRIVER
from tests.unit.inside.driver.javascript.job import printed

PAGES = {
    "<p><mark></p>": True,
    "<P CLASS=x><MARK >": True,
    '<input value="gate" mark="1">': True,
    "<input value='gate' mark='1'>": True,
    "<input value=gate mark=1>": True,
    "<a/mark=1>": True,
    "<a b = c mark>": True,
    "</textarea><mark>": True,
    "<p>&lt;mark&gt;</p>": False,
    '<input value="gate <mark> ">': False,
    '<input value="gate&quot; mark=1">': False,
    "<!-- <mark> --><p>": False,
    "<textarea><mark></textarea>": False,
    "<script>'<mark>'</script>": False,
    "<title><mark></title><p>": False,
    "a < mark > b": False,
    "<p mark2=1><markx>": False,
    '<a title="x" b="mark">': False,
    "<input value=gate&#32;mark=1>": False,
    "<a b='unfinished mark=1>": False,
}


def test_markup(tmp_path: Path) -> None:
    program = (
        f"import {{ markupOf }} from {json.dumps(str(DRIVER / 'javascript/markup.mjs'))};"
        f"const pages = {json.dumps(list(PAGES))};"
        "console.log(JSON.stringify(pages.map((page) => markupOf(page, 'mark') !== '')));"
    )
    assert dict(zip(PAGES, printed(tmp_path, program), strict=True)) == PAGES

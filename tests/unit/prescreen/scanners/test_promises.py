"""Conditions that ask a promise or a coroutine."""

# ruff: noqa: E501 - a row of a table a line

from __future__ import annotations

import pytest

from gate.prescreen.meanings.read import read
from gate.prescreen.scanners.meanings import Meanings
from tests.prescreen_support import make_request

SCRIPT = "export function canRead(who, paper) { return paper.open || who.circles.has(paper.circle); }\n"
BASE = SCRIPT + "export const search = (all, who) => all.filter((one) => canRead(who, one));\n"
PYTHON = "def may_read(who, paper):\n    return paper.owner == who\n\n\ndef show(who, paper):\n    if not may_read(who, paper):\n        raise PermissionError\n    return paper.text\n"


def told(path: str, head: str, base: str) -> list[str]:
    for text in (head, base):
        read(path, text.encode(), {})  # here as well: what the child runs is not measured
    found = Meanings().scan(make_request({path: head}, {path: base})).findings
    return [f"{f.severity.value} {f.rule_id} {f.evidence['text']}" for f in found]


@pytest.mark.parametrize("path", ["src/search.js", "src/search.ts", "src/search.mjs"])
@pytest.mark.parametrize(
    ("head", "text"),
    [
        (BASE.replace("(one) =>", "async (one) => await"), ".filter()"),
        (BASE.replace("(one) => canRead(who, one)", "async function (one) { return canRead(who, one); }"), ".filter()"),
        (BASE.replace("filter", "some").replace("(one) =>", "async (one) =>"), ".some()"),
        (BASE.replace("export function canRead", "export async function canRead") + "export const of = (all) => all.every(canRead);\n", ".every()"),
        (BASE.replace("export function", "export async function") + "export function show(who, paper) { if (!canRead(who, paper)) throw new Error('no'); return paper.text; }\n", "canRead() without await"),
        (BASE.replace("export function", "export async function") + "export const title = (who, paper) => canRead(who, paper) ? paper.title : '';\n", "canRead() without await"),
    ],
)  # fmt: skip
def test_scripts_that_ask_a_promise(path: str, head: str, text: str) -> None:
    assert told(path, head, BASE) == [f"medium meaning.promise-asked {text}"]


@pytest.mark.parametrize(
    "head",
    [
        BASE.replace("all.filter((one) =>", "all.map(async (one) =>"),
        BASE.replace("export function", "export async function")
        + "export async function show(who, paper) { if (!(await canRead(who, paper))) throw new Error('no'); return paper.text; }\n",
        BASE.replace("all.filter((one) =>", "Readable.from(all).filter(async (one) =>"),
        BASE.replace("all.filter((one) =>", "stream.filter(async (one) =>"),
        BASE + "export async function later() { const canRead = () => true; return canRead() && 1; }\n",
        BASE.replace("export function", "export async function")
        + "const found = canRead(1, 2);\nconst other = 1 + canRead(1, 2);\n",
    ],
)
def test_scripts_that_are_in_order(head: str) -> None:
    assert told("src/search.js", head, BASE) == []


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (PYTHON.replace("def may_read", "async def may_read"), "may_read() without await"),
        (PYTHON.replace("def may_read", "async def may_read").replace("if not may_read(who, paper):\n        raise PermissionError\n    return paper.text", "return paper.text if may_read(who, paper) else ''"), "may_read() without await"),
        (PYTHON.replace("def may_read", "async def may_read").replace("if not may_read(who, paper)", "assert may_read(who, paper)\n    if paper.old"), "may_read() without await"),
        (PYTHON.replace("def may_read", "async def may_read").replace("if not may_read(who, paper)", "if paper.open or may_read(who, paper)"), "may_read() without await"),
        ("class Desk:\n    async def may(self, who):\n        return who == self.owner\n\n    def show(self, who):\n        while self.may(who):\n            return self.text\n", "self.may() without await"),
    ],
)  # fmt: skip
def test_conditions_on_a_coroutine(head: str, text: str) -> None:
    assert told("shop/desk.py", head, PYTHON) == [f"medium meaning.promise-asked {text}"]


@pytest.mark.parametrize(
    "head",
    [
        PYTHON.replace("def may_read", "async def may_read").replace("def show", "async def show").replace("not may_read", "not await may_read"),
        PYTHON + "\n\nclass Later:\n    async def may_read(self, who, paper):\n        return True\n",
        "class Desk:\n    def may(self, who):\n        return True\n\n    def show(self, who):\n        return 1 if self.may(who) else 2\n\n\nclass Later:\n    async def may(self, who):\n        return True\n",
        PYTHON.replace("def may_read", "async def may_read").replace("if not may_read(who, paper):", "task = may_read(who, paper)\n    if task is None:"),
        PYTHON.replace("def may_read", "async def may_read").replace("if not may_read(who, paper)", "if asyncio.run(may_read(who, paper))"),
    ],
)  # fmt: skip
def test_coroutines_that_are_in_order(head: str) -> None:
    assert told("shop/desk.py", head, PYTHON) == []

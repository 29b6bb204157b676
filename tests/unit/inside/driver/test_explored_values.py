# ruff: noqa: E501 - one line for each place is easier to read
"""Ways through what a function asks of its arguments: each once, the same ones each time, and an end."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from gate.inside.driver import explored_values
from tests.unit.inside.driver.harness import imported, lay_tree

MARK = 'open("ran", "w").close()'
HANDLER = """
def register(socketio, store):
    @socketio.on("operation")
    def handle(data):
        op = data.get("op")
        uuid = data.get("uuid")
        if not op or not uuid:
            return
        if not store.data["watching"].get(uuid):
            return
        if op == "pause":
            pass
        elif op == "mute":
            {mark}
        else:
            return
"""


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        pytest.param(HANDLER, ["register"], id="handler-inside-a-function"),
        pytest.param("def f(data):\n if data['kind'] == 'a' and data.get('deep', {}).get('level') == 3: {mark}", ["f"], id="values-in-a-mapping"),
        pytest.param("def f(order):\n if order.total > 100:\n  if order.state.lower() in ('open', 'held'): {mark}", ["f"], id="attributes"),
        pytest.param("def f(event):\n match event.kind:\n  case 'made': return 1\n  case 'gone': {mark}", ["f"], id="match"),
        pytest.param("def f(name):\n if not name.startswith('x'): return\n {mark}", ["f"], id="prefix"),
        pytest.param("def f(rows):\n for row in rows:\n  if row.done and not row.late:\n   {mark}", ["f"], id="rows"),
        pytest.param("class A:\n def __init__(self, x): self.x = x\n def m(self, key):\n  if key != self.x and key.n >= 4: {mark}", ["A.m"], id="method"),
        pytest.param("class A:\n def __init__(self, o):\n  if o.ready and not o.full:\n   {mark}", ["A"], id="constructor"),
        pytest.param("async def f(message):\n if message.type == 'close' and message.code == 1006: {mark}", ["f"], id="coroutine"),
        pytest.param("def wrap(f):\n def inner(request):\n  if request.method == 'PURGE': {mark}\n return inner", ["wrap"], id="wrapper"),
        pytest.param("def f(x):\n import sys\n if x.first: sys.exit(1)\n {mark}", ["f"], id="behind-an-exit"),
    ],
)  # fmt: skip
def test_reaches(source: str, calls: list[str], tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"mod.py": source.replace("{mark}", MARK)})
    imported(tree, "mod", calls)
    assert (tree / "ran").exists()


def made(function: Any) -> list[Any]:
    """What each run of it gave."""
    found: list[Any] = []
    for args, named, _ in explored_values.runs(function):
        try:
            found.append(function(*args, **named))
        except (Exception, explored_values.EnoughAskedError) as error:
            found.append(type(error).__name__)
    return found


def test_each_way_once_and_the_same_each_time() -> None:
    def ways(a: Any, b: Any) -> str:
        return f"{'A' if a else 'a'}{'B' if b == 1 else 'C' if b == 2 else 'd'}"

    assert sorted(made(ways)) == ["AB", "AC", "Ad", "aB", "aC", "ad"]
    assert made(ways) == made(ways)


def test_one_is_equal_to_one_value_at_a_time() -> None:
    def both(a: Any) -> bool:
        return bool(a == "x") and bool(a == "y")

    assert True not in made(both)


def test_an_answer_stands_for_the_whole_run() -> None:
    def twice(a: Any) -> bool:
        return bool(a.ready) == bool(a.ready) and (a.n == 3) == (a.n == 3)

    assert set(made(twice)) == {True}


def test_many_questions_and_endless_ones_end() -> None:
    def many(a: Any) -> int:
        return sum(bool(a[n]) for n in range(200))

    def endless(a: Any) -> None:
        while a.more():
            pass

    start = time.monotonic()
    assert len(made(many)) == explored_values.RUNS
    assert "EnoughAskedError" in made(endless)
    assert time.monotonic() - start < 30


def test_places_switches_and_own_types_are_left() -> None:
    def free(path: Any, url: Any, verbose: bool, n: int = 3, flag: Any = False) -> None: ...

    assert made(free) == []


def test_a_slow_function_leaves_time_for_those_behind_it() -> None:
    calls: list[float] = []

    def slow(a: Any) -> None:
        calls.append(time.monotonic())
        time.sleep(0.1)
        for n in range(10):
            bool(a[n])

    explored_values.call(slow, None, lambda _: None, TimeoutError)
    assert 2 <= len(calls) <= 10


def test_what_hands_on_for_ever_holds_no_memory() -> None:
    def hands(a: Any) -> None:
        for _ in range(1_000):
            a.on("x", lambda: None)

    args, named, answers = next(explored_values.runs(hands))
    hands(*args, **named)
    assert len(answers.handed) <= 5 * explored_values.HANDED

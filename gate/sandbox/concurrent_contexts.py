"""Makes, enters and leaves two context managers side by side: each mostly waits for the engine."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


@contextlib.contextmanager
def enter_concurrently(
    first: Callable[[], AbstractContextManager[A]], second: Callable[[], AbstractContextManager[B]]
) -> Iterator[tuple[A, B]]:
    """What both give. Raises what one of them raised, after the other has been left."""
    stacks = ExitStack(), ExitStack()
    try:
        with ThreadPoolExecutor(1, thread_name_prefix="opening") as pool:
            one = pool.submit(lambda: stacks[0].enter_context(first()))
            two = stacks[1].enter_context(second())
        both = one.result(), two
        yield both
    finally:
        with ThreadPoolExecutor(1, thread_name_prefix="closing") as pool:
            closing = pool.submit(stacks[0].close)
            stacks[1].close()
        closing.result()

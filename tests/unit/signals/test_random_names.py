"""Names that chance drew twice, and names that only differ."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.signals.random_names import is_random_variant


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tree:build.PZIfdX", "tree:build.FDcWvw"),
        ("tree:sed9hHqWO", "tree:sednOXEUV"),
        ("tree:part-9yl3e0uv.json", "tree:part-vjxs5eal.json"),
        ("tree:a", "tree:a"),
        ("tree:part-xl*j2.json", "tree:part-kdmhrn3_.json"),
        ("tree:part-_x37bidd.json", "tree:part-ab_defg1.json"),
        ("tree:build.Wivgcr", "tree:build.KBxqwz"),
        ("tree:.git/info/refs_KtHmxq", "tree:.git/info/refs_VXbqfU"),
    ],
)
def test_drawn_anew(one: str, other: str) -> None:
    assert is_random_variant(one, other)
    assert is_random_variant(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("tree:config", "tree:secret"),
        ("tree:config.py", "tree:config"),
        ("tree:my_config", "tree:my_secret"),
        ("tree:Config", "tree:secret"),
        ("tree:*", "tree:secret"),
        ("curl http://a.example/x", "curl http://b.example/x"),
        ("tree:build.PZIfdX", "tree:build.PZIfdY"),
        ("tree:build.PZIfdX", "tree:build.PZIfdXa"),
        ("sh -c true", "sh -c 'rm x'"),
        ("tree:a1", "tree:b2"),
        ("", "x"),
    ],
)
def test_another_name(one: str, other: str) -> None:
    assert not is_random_variant(one, other)
    assert not is_random_variant(other, one)


@given(st.text(), st.text())
def test_any_text(one: str, other: str) -> None:
    assert is_random_variant(one, one)
    assert is_random_variant(one, other) == is_random_variant(other, one)


def test_most_names_of_mkstemp() -> None:
    """What is told nevertheless is told: a medium finding now and then, not with every run."""
    draw = random.Random(7)

    def name(letters: str, length: int) -> str:
        return "tree:x." + "".join(draw.choice(letters) for _ in range(length))

    for letters, length in (
        (string.ascii_letters + string.digits, 6),
        (string.ascii_lowercase + string.digits, 8),
    ):
        missed = sum(
            not is_random_variant(name(letters, length), name(letters, length)) for _ in range(5_000)
        )
        assert missed < 60

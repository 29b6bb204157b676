"""What is read out of one file: uses of secrets, names of secrets that it defines; and never a crash."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.secret_uses.facts import FileUses, Use
from gate.secret_uses.reader import read

_PIECES = st.sampled_from(
    ["settings", ".", "SECRET_KEY", "os.environ", "(", ")", "[", "]", "{", "}", "^", "=", " ", "\n", ",",
     "lambda ", "def f(a):", "return ", "for x in ", "...", ":", "process.env", "=>", "const ", "func ", ":=",
     "`${", "}`", "headers", '"ETag"', "print", "'", "\\", "\0", "é", "class A:", "await ", "yield "]
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def deep() -> Iterator[None]:
    """As the reader sets it, so that Hypothesis finds it unchanged."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def uses(text: str, path: str = "a.py") -> tuple[Use, ...]:
    return read(path, text.encode(), {"python": [path] if path.endswith(".py") else []}).uses


@settings(max_examples=150, deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join), st.sampled_from(["a.py", "a.js", "a.tsx", "a.go"]))
def test_it_never_crashes(text: str, path: str) -> None:
    with contextlib.suppress(SyntaxError, ValueError):  # what the parser raises
        assert isinstance(read(path, text.encode(), {"python": [path]} if path == "a.py" else {}), FileUses)


def test_it_ends_on_what_calls_itself() -> None:
    text = "from app import settings\ndef f(a):\n    return a or f(a + settings.TOKEN)\nprint(f(f(1)))\n"
    assert {(u.secret, u.way) for u in uses(text)} == {("TOKEN", "log")}


def test_deep_nesting_is_read_as_far_as_it_goes() -> None:
    assert uses("let a = " + "(" * 3000 + "1" + ")" * 3000, "a.js") == ()


def test_a_generated_file_is_not_read() -> None:
    assert uses("console.log(process.env.TOKEN);" + "x" * 30_000, "a.js") == ()


@pytest.mark.parametrize(
    ("text", "path", "held"),
    [
        ('import os\nTOKEN = os.environ["T"]\nPAGE = 1\nTOKEN_TTL = 5\n', "a.py", ("TOKEN",)),
        ("class Settings:\n    secret_key: str = ''\n    max_tokens: int = 1\n", "a.py", ("secret_key",)),
        ("export const config = { apiKey: process.env.K, apiKeyId: 1 };", "a.js", ("apiKey",)),
    ],
)
def test_secrets_that_a_module_of_settings_defines(text: str, path: str, held: tuple[str, ...]) -> None:
    assert read(path, text.encode(), {"python": ["a.py"]}).held == held


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import os\nx = os.getenv('API_TOKEN')\nprint(x)\n", ("API_TOKEN", "log")),
        ("from flask import current_app\nprint(current_app.config['SECRET_KEY'])\n", ("SECRET_KEY", "log")),
        ("print(getattr(settings, 'SECRET_KEY'))\n", ("SECRET_KEY", "log")),
        ("class A:\n def f(self):\n  self.k = self.config.api_key\n def g(self):\n  print(self.k)\n",
         ("api_key", "log")),
        ("def app(e, start):\n    start('200 OK', [('ETag', settings.TOKEN)])\n", ("TOKEN", "header")),
        ("span.set_attribute('a', settings.TOKEN)\n", ("TOKEN", "label")),
    ],
)  # fmt: skip
def test_where_a_secret_is_taken_and_where_it_goes(text: str, wanted: tuple[str, str]) -> None:
    assert wanted in {(use.secret, use.way) for use in uses(text)}

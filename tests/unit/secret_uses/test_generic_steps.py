"""The readers of Java, Kotlin, C#, PHP, Ruby, Rust, shells and templates."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.secret_uses.facts import FileUses
from gate.secret_uses.reader import packed, read
from gate.secret_uses.templates import is_template

_PIECES = st.sampled_from(
    ["settings", ".", "secretKey", "getenv", "(", ")", "[", "]", "{", "}", "^", "=", " ", "\n",
     ",", ";", "class A ",
     "fun f(a: Config)", "function f($a)", "def f(a)", "fn f(a: &str)", "return ", "for x in ", "...",
     ":", "->", "=>",
     "$this->", "@a", "&self", "\"${", "}\"", "#{", "|", "if ", "new ", "<?php ", "end", "do ", "<<",
     "?.", "::", "!",
     "{{", "}}", "$(", "`", "od", "'", "\\", "\0", "é", "xor", "println!", "impl A ", "record R(int a)"]
)  # fmt: skip
_ENDINGS = st.sampled_from([".java", ".kt", ".cs", ".php", ".rb", ".rs", ".sh", ".tmpl", ".erb"])


@pytest.fixture(autouse=True, scope="module")
def deep() -> Iterator[None]:
    """As the reader sets it, so that Hypothesis finds it unchanged."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join), _ENDINGS)
def test_it_never_crashes(text: str, ending: str) -> None:
    with contextlib.suppress(SyntaxError, ValueError):  # what the parser raises
        assert isinstance(read("src/a" + ending, text.encode("utf-8", "replace"), {}), FileUses)


def test_a_function_that_takes_its_parameter_to_pieces_has_an_outline() -> None:
    text = b"class A { long f(byte[] ring, int n) { return (ring[n] & 255) * 31L; } }"
    facts = read("src/A.java", text, {})
    assert [(one.name, one.parameters, {h.parameter for h in one.hits}) for one in facts.outlines] == [
        ("f", ("ring", "n"), {"ring"})
    ]
    caller = b"class B { B(Settings settings) { x = f(settings.ring().getBytes(), 3); } }"
    assert not read("src/B.java", caller, {}).uses
    told = read("src/B.java", caller, {"elsewhere": packed(facts.outlines)}).uses
    assert {(use.secret, use.way, use.faint) for use in told} == {("ring", "mixed", "setting")}


def test_what_the_project_signs_with_is_a_key() -> None:
    text = b"class A\n  def sign(page)\n    OpenSSL::HMAC.hexdigest('sha256', @ring, page)\n  end\nend\n"
    assert "this.ring" in read("lib/a.rb", text, {}).keys


@pytest.mark.parametrize(
    "path",
    ["charts/app/templates/secret.tpl", "roles/db/templates/app.conf.j2", "deploy/a.txt", "app.env.tmpl"],
)
def test_templates_of_settings_are_none_of_texts(path: str) -> None:
    assert not is_template(path)
    assert is_template("mails/weekly.txt")

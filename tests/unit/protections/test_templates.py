"""Values that templates write as they are."""

from __future__ import annotations

import pytest

from gate.protections.templates.reader import read


def raw(text: str, path: str = "page.html") -> list[str]:
    (unit,) = read(path, text.encode(), {}).units
    return [w.key.removesuffix(" as it is") for w in unit.weaknesses]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.html", "{{ a }} {{ b|safe }} {{ c | default('x') | raw }}", ["b", "c"]),
        ("a.j2", "{% autoescape false %}{{ a }}{% endautoescape %}{{ b }}", ["a"]),
        ("a.j2", "{% autoescape true %}{{ a }}{% endautoescape %}{{ b }}", []),
        ("a.hbs", "{{{ a }}} {{b}} {{& c}}", ["a", "c"]),
        ("a.ejs", "<%- a %> <%= b %>", ["a"]),
        ("a.erb", "<%- if a %> <%= raw(b) %> <%= c.html_safe %> <%== d %>", ["b", "c", "d"]),
        ("a.blade.php", "{!! $a !!} {{ $b }}", ["$a"]),
        ("a.vue", '<p v-html="a"></p><p v-text="b"></p>', ["a"]),
        ("a.html", '<p th:utext="${a}"></p><p th:text="${b}"></p>', ["a"]),
        ("a.html", "{{ a|e|safe }} {{ 'x'|safe }} {# {{ #}", []),
        ("a.html", "{{ unfinished", []),
        ("a.html", "{" * 5_000 + "<%" * 5_000, []),
    ],
)
def test_raw_values(path: str, text: str, names: list[str]) -> None:
    assert raw(text, path) == names


def test_escaped_names_are_what_a_raw_one_needs() -> None:
    (unit,) = read("a.html", b"<b>{{ a.b }}</b>\n{{ c|safe }}", {}).units
    assert unit.mentions == ("a.b",)
    assert [(w.needs, w.line, w.modest) for w in unit.weaknesses] == [(("c",), 2, True)]


def test_templates_of_tests_are_not_read() -> None:
    assert read("a.html", b"{{ a|safe }}", {"tests": ["a.html"]}).units == ()

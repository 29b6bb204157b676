"""Every entry of rules/sensitive-calls finds what its fixtures say; harmless neighbours are silent."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.languages.sensitive_calls.parse import read_one
from gate.languages.sensitive_calls.table import Language, languages
from gate.model.sensitive import SourceReading

FIXTURES = Path(__file__).with_name("sensitive-calls")
WITHOUT_ENTRIES = {"other"}
DATA = {"names"}
"""What is no code has no lines that run."""


def fixtures(name: str) -> dict[str, Any]:
    return tomllib.loads((FIXTURES / f"{name}.toml").read_text("utf-8"))


def read(fixture: dict[str, Any], text: str, path: str = "") -> SourceReading:
    framed = fixture.get("before", "") + text + fixture.get("after", "")
    return read_one(path or fixture["path"], framed.encode(), {})


def with_entries() -> list[Language]:
    return [language for language in languages().values() if language.id not in WITHOUT_ENTRIES]


def own_entries() -> Iterator[tuple[str, str]]:
    """Every entry once, under the language that writes it."""
    from gate.resources import rules_dir

    for path in sorted((rules_dir() / "sensitive-calls").glob("*.toml")):
        for entry in tomllib.loads(path.read_text("utf-8")).get("sensitive", ()):
            yield path.stem, entry["id"]


def twins() -> Iterator[tuple[str, str]]:
    for language in with_entries():
        for twin in fixtures(language.id).get("twin", ()):
            yield language.id, twin["name"]


def families(which: str) -> Iterator[tuple[str, str]]:
    """Texts of the languages' ``[[family]]`` tables: path and text."""
    for language in with_entries():
        fixture = fixtures(language.id)
        for family in fixture.get("family", ()):
            for text in family[which]:
                yield family.get("path", fixture["path"]), text


@pytest.mark.parametrize(("path", "text"), list(families("hostile")))
def test_a_hostile_text_of_a_family_is_never_plain(path: str, text: str) -> None:
    reading = read_one(path, text.encode(), {})
    assert reading.calls or not reading.readable


@pytest.mark.parametrize(("path", "text"), list(families("harmless")))
def test_a_harmless_text_of_a_family_has_nothing(path: str, text: str) -> None:
    reading = read_one(path, text.encode(), {})
    assert reading.readable, reading.reason
    assert reading.calls == ()


@pytest.mark.parametrize(("name", "entry"), list(own_entries()))
def test_an_entry_has_a_hit_and_a_clean_neighbour(name: str, entry: str) -> None:
    fixture = fixtures(name)
    assert entry in fixture, f"tests/rules/sensitive-calls/{name}.toml has nothing for {entry}"
    kind = next(each.kind for each in languages()[name].entries if each.id == entry)
    assert fixture[entry]["hit"], "no hit"
    assert fixture[entry]["clean"], "no clean neighbour"
    for text in fixture[entry]["hit"]:
        reading = read(fixture, text)
        assert reading.readable, (text, reading.reason)
        assert kind in {call.kind for call in reading.calls}, text
    for text in fixture[entry]["clean"]:
        reading = read(fixture, text)
        assert reading.readable, (text, reading.reason)
        assert reading.calls == (), text


@pytest.mark.parametrize(("name", "twin"), list(twins()))
def test_a_hostile_file_is_sensitive_and_its_harmless_twin_is_not(name: str, twin: str) -> None:
    fixture = next(each for each in fixtures(name)["twin"] if each["name"] == twin)
    path = fixture.get("path", fixtures(name)["path"])
    hostile = read_one(path, fixture["hostile"].encode(), {})
    assert hostile.readable, hostile.reason
    assert {call.kind.value for call in hostile.calls} >= set(fixture["kinds"])
    harmless = read_one(path, fixture["harmless"].encode(), {})
    assert harmless.readable, harmless.reason
    assert harmless.calls == ()
    assert harmless.executable or name in DATA


def test_every_language_has_twins() -> None:
    assert {name for name, _ in twins()} == {language.id for language in with_entries()}


def test_no_fixture_is_for_nothing() -> None:
    known = set(own_entries())
    for path in FIXTURES.glob("*.toml"):
        for key in tomllib.loads(path.read_text("utf-8")):
            ours = key in {"path", "before", "after", "twin", "family", "file"}
            assert ours or (path.stem, key) in known, (path.stem, key)

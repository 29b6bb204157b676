"""Owners who are easily taken for others, in files of formats that no reader knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.model.finding import Finding
from gate.prescreen.scanners.dependencies import Dependencies
from gate.supply.inputs.any_format import impostors, references
from tests.prescreen_support import make_request

RULE = "supply.source-changed"
EARTH = "VERSION 0.8\nIMPORT git.example/acme/build-lib:3.0.1 AS lib\n"
GENERATED = "version: v2\nplugins:\n  - remote: plugins.example/protowork/go:v1.4\n    out: gen\n"
MODELS = 'models:\n  small: {base_model: "acme-research/small-7b"}\n'


def findings(path: str, base: str, head: str) -> tuple[Finding, ...]:
    return Dependencies().scan(make_request({path: head}, {path: base})).findings


def told(path: str, base: str, head: str) -> set[str]:
    return {found.rule_id for found in findings(path, base, head)}


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("Earthfile", EARTH, "acme/", "acme-ci/"),
        ("Earthfile", EARTH, "acme/", "acmeci/"),
        ("gen.yaml", GENERATED, "protowork", "protoworks"),
        ("gen.yaml", GENERATED, "protowork/go:v1.4", "protowerk/ts:v1.4"),
        ("gen.yaml", GENERATED, "plugins.example", "plugin.example"),
        ("models.yaml", MODELS, "research", "reserch"),
        ("tools.json", '{"tap": "northwind/tools"}', "northwind", "northwlnd"),
        ("garden.conf", "source = https://git.example/northwind/mods.git@v2\n", "northwind", "north-wind"),
    ],
)
def test_an_owner_who_is_taken_for_another(path: str, base: str, old: str, new: str) -> None:
    assert old in base
    assert told(path, base, base.replace(old, new)) == {RULE}
    assert told(path, base, base + "# more\n") == set()


@pytest.mark.parametrize(
    ("path", "base", "old", "new"),
    [
        ("Earthfile", EARTH, "3.0.1", "3.1.0"),
        ("Earthfile", EARTH, "acme/build-lib", "zebra/build-lib"),  # a move that everybody sees
        ("Earthfile", EARTH, "build-lib", "build-libs"),
        ("gen.yaml", GENERATED, "out: gen", "out: src/gen"),
        ("paths.yaml", "pages: [user/profile, user/list]\n", "user/", "users/"),
        ("paths.yaml", "template: layout/page.html\n", "layout/", "layouts/"),
        ("src/routes.py", 'USE = "git.example/acme/lib:1.2"\n', "acme/", "acme-ci/"),
        ("docs/links.md", "https://git.example/acme/lib\n", "acme/", "acme-ci/"),
    ],
)
def test_what_is_no_owner_or_nobody_takes_for_another(path: str, base: str, old: str, new: str) -> None:
    assert old in base
    assert RULE not in told(path, base, base.replace(old, new))


@pytest.mark.parametrize(
    ("path", "base", "old", "new", "severity"),
    [
        ("Earthfile", EARTH, "acme/", "acme-ci/", "medium"),  # projects do move so
        ("gen.yaml", GENERATED, "protowork/go:v1.4", "protowerk/ts:v1.4", "medium"),
        ("gen.yaml", GENERATED, "protowork", "protoworks", "high"),
        ("gen.yaml", GENERATED, "plugins.example", "plugin.example", "high"),
    ],
)
def test_only_the_same_name_from_one_letter_apart_is_high(
    path: str, base: str, old: str, new: str, severity: str
) -> None:
    (found,) = findings(path, base, base.replace(old, new))
    assert found.severity.value == severity


def test_an_owner_that_base_names_already() -> None:
    base = EARTH + "FROM git.example/acme-ci/python:3.12\n"
    assert told("Earthfile", base, base.replace("acme/build-lib", "acme-ci/build-lib")) == set()


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read(base: str, head: str) -> None:
    assert not [*impostors(base, base)]
    assert all(one.now in references(head) for one in impostors(base, head))

"""The documents say what the program does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from gate import process
from gate.cli import main
from gate.settings import Config
from gate.verbs import VERBS
from tests.paths import REPOSITORY

SOURCES = sorted(
    [REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    + [*(REPOSITORY / "docs").glob("*.md")]
)
LONGEST = 100
EXAMPLE_FILES = ("tests/rules/samples/py.hard-sleep/",)
"""Of the rule that CONTRIBUTING adds as an example."""


def links(text: str) -> list[tuple[str, str]]:
    """Target and anchor of each link and picture that stays in the repository; either may be empty."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)", text)
    return [(target, anchor) for target, anchor in found if "://" not in target]


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def test_configuration_lists_every_key_with_its_default() -> None:
    text = (REPOSITORY / "docs" / "configuration.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \| `?([^`|]+?)`? \|", text, re.MULTILINE))
    config = Config()
    expected = {}
    tables = [t for t in Config.__struct_fields__ if t != "deploy"]  # named by their users: test_deploy_docs
    for table in tables:
        for key in getattr(config, table).__struct_fields__:
            value = getattr(getattr(config, table), key)
            if isinstance(value, bool):
                shown = str(value).lower()
            elif isinstance(value, str):
                shown = f'"{value}"'
            else:
                shown = {None: "none", (): "[]"}.get(value, str(value))
            expected[f"{table}.{key}"] = shown
    assert rows == expected


def test_every_local_link_leads_somewhere() -> None:
    for page in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]:
        for link, anchor in links(page.read_text()):
            target = page.parent / link if link else page
            assert target.exists(), f"{page.name} links to {link}"
            if anchor:
                assert anchor in anchors(target.read_text()), f"{page.name} links to {link}#{anchor}"


def test_the_table_of_attacks_names_tests_that_are_there() -> None:
    text = (REPOSITORY / "docs/trust.md").read_text()
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)
    assert len(named) > 15
    for file, test in named:
        assert f"def {test}(" in (REPOSITORY / "tests/forge" / file).read_text(), (file, test)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_exists(page: str) -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    code = " ".join(re.findall(r"```.*?```|`[^`\n]+`", (REPOSITORY / page).read_text(), re.DOTALL))
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)", code))
    assert named, f"{page} names no target"
    assert named <= targets, f"{page}: {sorted(named - targets)}"


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: page.name)
def test_lines_of_sources_are_short(page: Path) -> None:
    """Tables are free: a row cannot be broken."""
    lines = enumerate(page.read_text().splitlines(), 1)
    long = [n for n, line in lines if len(line) > LONGEST and not line.startswith("|")]
    assert not long, f"{page.name}: lines {long} have more than {LONGEST} characters"


def test_files_that_are_named_by_their_path_exist() -> None:
    for page in SOURCES:
        for path in re.findall(
            r"`((?:gate|rules|scripts|bench|tests|examples|docs)/[\w./*-]+)", page.read_text()
        ):
            assert [*REPOSITORY.glob(path)] or path in EXAMPLE_FILES, f"{page.name} names {path}"


def test_readme_names_only_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    text = (REPOSITORY / "README.md").read_text()
    verbs = "|".join(verb.name for verb in VERBS)
    for verb, rest in re.findall(rf"gate ({verbs})\b([^`\n]*)", text):
        assert main([verb, "--help"]) == 0
        known = capsys.readouterr().out
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in known, f"README: gate {verb} {option}"


def test_rule_pages_are_current() -> None:
    done = process.run([sys.executable, REPOSITORY / "scripts" / "rule_pages.py", "--check"], deadline=60)
    assert done.code == 0, f"run `make rule-pages`: {done.stdout.decode()}"


@pytest.mark.parametrize("page", SOURCES, ids=lambda page: page.name)
def test_every_setting_that_a_page_names_is_one(page: Path) -> None:
    config = Config()
    for table, key in re.findall(r"`([a-z_]+)\.([a-z_]+)(?: = [^`]*)?`", page.read_text()):
        if table in Config.__struct_fields__ and table not in (
            "deploy",
            "policy",
        ):  # also a package of gate's
            assert key in getattr(config, table).__struct_fields__, f"{table}.{key}"

"""The documents say what the program does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from gate import proc
from gate.cli import main
from gate.cli_verbs import VERBS
from gate.settings import Config

ROOT = Path(__file__).resolve().parents[2]


def test_configuration_lists_every_key_with_its_default() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
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
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_readme_names_only_options_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text()
    verbs = "|".join(verb.name for verb in VERBS)
    for verb, rest in re.findall(rf"gate ({verbs})\b([^`\n]*)", text):
        assert main([verb, "--help"]) == 0
        known = capsys.readouterr().out
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in known, f"README: gate {verb} {option}"


def test_rule_pages_are_current() -> None:
    done = proc.run([sys.executable, ROOT / "scripts" / "rule_pages.py", "--check"], deadline=60)
    assert done.code == 0, f"run `make rule-pages`: {done.stdout.decode()}"

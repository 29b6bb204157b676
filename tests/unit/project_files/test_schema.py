"""The JSON Schema of gate.toml: in step with the settings, and as strict as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from typing import Any

import jsonschema
import pytest

from gate.cli import main
from gate.project_files.schema import descriptions, schema, schema_text
from gate.project_files.settings_text import settings_text
from gate.settings import Config
from tests.paths import REPOSITORY


def test_the_schema_in_docs_is_current() -> None:
    path = REPOSITORY / "docs" / "gate.schema.json"
    assert path.read_text() == schema_text(), "run `python -m gate.project_files.schema`"


def test_every_setting_is_in_it_with_its_default() -> None:
    parts = json.loads(schema_text())["definitions"]
    tables = parts["Config"]["properties"]
    assert set(tables) == set(Config.__struct_fields__)
    sandbox = parts["SandboxSettings"]["properties"]
    assert set(sandbox) == set(Config().sandbox.__struct_fields__)
    assert sandbox["deadline"]["default"] == 20.0
    assert "Seconds of wall time for one probe." in sandbox["deadline"]["description"]
    assert ("SandboxSettings", "fast") in descriptions()


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("", True),
        ("[policy]\nwarn = 20\n", True),
        ('[deploy.production]\nverdicts = ["pass"]\n', True),
        ("[policy]\nwarn = 0\n", False),
        ("[policy]\nwarm = 20\n", False),
        ('[sandbox]\nbackend = "castle"\n', False),
        ("[sandboxes]\n", False),
    ],
)
def test_it_accepts_what_gate_accepts(text: str, valid: bool) -> None:
    made: dict[str, Any] = schema()
    jsonschema.Draft7Validator.check_schema(made)
    assert jsonschema.Draft7Validator(made).is_valid(tomllib.loads(text)) is valid


def test_the_file_that_init_writes_is_valid() -> None:
    jsonschema.Draft7Validator(schema()).validate(tomllib.loads(settings_text()))


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh", "fish"])
def test_completion_knows_the_verbs(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "init" in script
    assert "worktree" in script
    program = shutil.which(shell)
    if program and shell != "tcsh":
        done = subprocess.run([program, "-n"], input=script, text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr

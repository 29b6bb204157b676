"""Values of variables that the code asks for, by their names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate.inside.driver import environment_files


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "sqlite://"),
        ("SHOP_DATABASE_URI", "sqlite://"),
        ("DATABASE_CREDENTIALS", "gate:gate"),
        ("DATABASE_HOSTNAME", "example.invalid"),
        ("REDIS_PORT", "9"),
        ("SECRET_KEY", "gate"),
    ],
)
def test_an_empty_example_gets_a_value_by_its_name(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "")
    monkeypatch.delenv(name)
    example = tmp_path / ".env.example"
    example.write_text(f'# about it\n{name}=""\n')
    assert environment_files.variables_for({"env": str(example)}, f"{name} is not set")
    assert os.environ[name] == value

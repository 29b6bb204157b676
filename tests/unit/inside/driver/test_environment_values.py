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


def test_what_the_tests_set_serves_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHOP_PAIR", "SHOP_MODE", "SHOP_DB", "SHOP_LATE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    conftest = tmp_path / "conftest.py"
    conftest.write_text(
        "import os\nos.environ['SHOP_PAIR'] = 'a:b'\nos.environ.setdefault('SHOP_MODE', 'test')\n"
        "os.environ['SHOP_DB'] = 'postgres://db.invalid/x'\n"
        "def later():\n    os.environ['SHOP_LATE'] = 'x'\n"
    )
    assert environment_files.variables_for({"env": str(conftest)}, "SHOP_PAIR is not set")
    assert (os.environ["SHOP_PAIR"], os.environ["SHOP_MODE"]) == ("a:b", "test")
    assert {"SHOP_DB", "SHOP_LATE"}.isdisjoint(os.environ)

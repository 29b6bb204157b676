"""docs/configuration.md and gate.toml agree about deployments."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.settings import Config, DeploySettings, load
from tests.paths import REPOSITORY


def test_configuration_lists_every_key_with_its_default() -> None:
    text = (
        (REPOSITORY / "docs" / "configuration.md").read_text().partition("key of `[deploy.<environment>]`")[2]
    )
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| `([^`]+)` \|", text, re.MULTILINE))
    fields = DeploySettings.__struct_fields__
    assert {name: json.loads(shown) for name, shown in rows.items()} == {
        name: list(value) if isinstance(value := getattr(DeploySettings(), name), tuple) else value
        for name in fields
    }


def test_environments_ignore_case_and_fall_back(tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text('[deploy.Production]\napp = "gate"\n[deploy.default]\nmax_age_hours = 1.0\n')
    config = load(file=file, environ={"GATE_DEPLOY_APP": "evil", "GATE_DEPLOY_PRODUCTION": "x"}).config
    production, other = config.deploy_to("PRODUCTION"), config.deploy_to("staging")
    assert production is not None
    assert other is not None
    assert (production.app, other.max_age_hours, other.app) == ("gate", 1.0, "")
    assert Config().deploy_to("production") is None


@pytest.mark.parametrize(
    "line", ["verdicts = ['fail']", "policies = ['any']", "max_age_hours = 0", "apps = 1"]
)
def test_wrong_terms_are_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "gate.toml"
    file.write_text(f"[deploy.production]\n{line}\n")
    with pytest.raises(UsageError, match="deploy"):
        load(file=file, environ={})

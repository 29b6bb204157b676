"""Settings: where values come from, and how wrong ones are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.settings import load


class FakeTree:
    """Only what settings read."""

    def __init__(self, **files: bytes) -> None:
        self._files = {name.replace("_", "."): text for name, text in files.items()}

    def read(self, path: str) -> bytes:
        return self._files[path]


def settings(raw: bytes, **more: object) -> object:
    return load(base=FakeTree(gate_toml=raw), environ={}, **more)  # type: ignore[arg-type]


def test_defaults_have_no_origin() -> None:
    got = load(environ={})
    assert got.config.policy.warn == 30
    assert got.config.policy.fail == 70
    assert got.origin == {}


def test_flags_beat_environment_beats_base() -> None:
    base = FakeTree(gate_toml=b'[sandbox]\nbackend = "docker"\ndeadline = 5.0\npids = 99\n')
    got = load(
        base=base,  # type: ignore[arg-type]
        environ={"GATE_SANDBOX_BACKEND": "gvisor", "GATE_SANDBOX_DEADLINE": "7.5", "GATE_OTHER": "x"},
        flags={"sandbox.backend": ("bubblewrap", "--backend"), "sandbox.deep": (None, "--deep")},
    )
    assert (got.config.sandbox.backend, got.config.sandbox.deadline, got.config.sandbox.pids) == (
        "bubblewrap",
        7.5,
        99,
    )
    assert got.origin == {
        "sandbox.backend": "--backend",
        "sandbox.deadline": "GATE_SANDBOX_DEADLINE",
        "sandbox.pids": "gate.toml at base",
    }


def test_pyproject_is_read_when_there_is_no_gate_toml() -> None:
    got = load(base=FakeTree(pyproject_toml=b"[tool.gate.policy]\nwarn = 10\n"), environ={})  # type: ignore[arg-type]
    assert got.config.policy.warn == 10


def test_config_file_replaces_the_one_at_base(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[policy]\nfail = 50\n")
    got = load(base=FakeTree(gate_toml=b"[policy]\nfail = 99\n"), file=file, environ={})  # type: ignore[arg-type]
    assert got.config.policy.fail == 50
    with pytest.raises(UsageError, match="cannot read"):
        load(file=tmp_path / "absent.toml", environ={})


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"[policy]\nwarm = 3", "gate.toml at base: unknown key `warm` (at `policy`)"),
        (b'[policy]\nwarn = "x"', "gate.toml at base: Expected `int`, got `str` (at `policy.warn`)"),
        (b"[sandbox]\nmemory_mb = 1", "at `sandbox.memory_mb`"),
        (b"x = 1", "unknown key `x`"),
        (b"policy = 3", "Expected `object`, got `int`"),
        (b"\xff", "is not valid TOML"),
        (b"[policy]\nwarn = 90", "policy.warn (90) is above policy.fail (70)"),
        (b"#" * 300_000, "larger than"),
    ],
)
def test_wrong_configuration_names_file_key_and_expectation(raw: bytes, said: str) -> None:
    with pytest.raises(UsageError) as error:
        settings(raw)
    assert said in error.value.message
    assert error.value.advice


@pytest.mark.parametrize("name", ["EGRESS_ALLOW", "SETUP_FILES"])
def test_a_list_that_is_none_is_shown_how_to_be_one(name: str) -> None:
    variable = f"GATE_SANDBOX_{name}"
    with pytest.raises(UsageError) as error:
        load(environ={variable: "pypi.org:443,index.example:443"})
    _, _, form = error.value.advice.partition(f"{variable}='")
    assert load(environ={variable: form.rstrip("'.")}).origin == {f"sandbox.{name.lower()}": variable}


def test_attribution_can_only_lower_the_warn_threshold() -> None:
    got = load(environ={}, base=FakeTree(gate_toml=b"[policy]\nwarn_ai = 20\n"))  # type: ignore[arg-type]
    assert got.thresholds_for(is_ai=True).warn == 20
    assert got.thresholds_for(is_ai=False).warn == 30
    higher = load(environ={}, base=FakeTree(gate_toml=b"[policy]\nwarn_ai = 60\n"))  # type: ignore[arg-type]
    assert higher.thresholds_for(is_ai=True).warn == 30

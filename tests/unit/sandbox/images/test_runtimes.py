"""Which JavaScript runtime is shown to sandboxes, and which one the driver takes."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from gate.errors import InconclusiveError
from gate.sandbox.images import runtime_layer, runtimes
from tests.unit.inside.driver.harness import DRIVER


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The driver's own choice, on a machine without any runtime."""
    monkeypatch.syspath_prepend(str(DRIVER))
    monkeypatch.setenv("PATH", "/nowhere")
    module = importlib.import_module("gate.inside.driver.javascript.runner")
    monkeypatch.setattr(importlib.import_module("gate.inside.driver.runtimes"), "DENO", "/nowhere/deno")
    return module


def program(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("")
    path.chmod(0o755)
    return str(path)


def test_nothing_is_shown_to_a_check_of_python_alone() -> None:
    assert runtimes.mounts_for(()) == ()


def test_a_host_without_deno_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise InconclusiveError("deno is not installed")

    monkeypatch.setattr(runtimes, "program", none)
    monkeypatch.setattr(runtimes, "find_node", lambda: None)
    assert runtimes.mounts_for(("javascript",)) == ()


def test_deno_answers_to_the_name_of_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deno = tmp_path / "2.9.8"
    monkeypatch.setattr(runtimes, "program", lambda: deno)
    monkeypatch.setattr(runtimes, "find_node", lambda: None)
    assert runtimes.mounts_for(("javascript",)) == (
        (str(deno), "/opt/runtime/deno"),
        (str(deno), "/opt/runtime/bin/node"),
    )


def test_a_node_of_a_wheel_is_shown_under_its_own_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deno = tmp_path / "2.9.8"
    node = tmp_path / "24.1.0"
    monkeypatch.setattr(runtimes, "program", lambda: deno)
    monkeypatch.setattr(runtimes, "node_program", lambda: node)
    assert runtimes.mounts_for(("javascript",)) == (
        (str(deno), "/opt/runtime/deno"),
        (str(node), "/opt/runtime/node"),
        (str(node), "/opt/runtime/bin/node"),
    )


def test_our_node_takes_typescript_where_a_compiler_is_installed(
    driver: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = importlib.import_module("gate.inside.driver.runtimes")
    monkeypatch.setattr(inside, "NODE", program(tmp_path, "ours"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("DENO_NO_UPDATE_CHECK", "NO_COLOR", "DENO_DIR"):
        monkeypatch.setenv(name, "")
    assert driver.command("a.ts", typed=True)[0] == str(tmp_path / "ours")
    deno = program(tmp_path, "deno")
    assert driver.command("a.js", typed=False)[0] == str(tmp_path / "ours")
    assert driver.command("a.ts", typed=True)[0] == deno
    (tmp_path / "node_modules" / "typescript").mkdir(parents=True)
    assert driver.command("lib/a.ts", typed=True)[0] == str(tmp_path / "ours")


def test_the_sandbox_image_itself_is_used_where_nothing_is_wanted() -> None:
    client: object = object()  # asked nothing
    assert runtime_layer.ensure(client, "sha256:abc", ()) == "sha256:abc"  # type: ignore[arg-type]


def test_no_runtime_is_said(driver: ModuleType) -> None:
    with pytest.raises(Exception, match="node or deno") as raised:
        driver.command("web/a.js", typed=False)
    assert raised.value.name == "node or deno"  # type: ignore[attr-defined]


def test_node_runs_javascript_and_deno_typescript(
    driver: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, deno = program(tmp_path, "node"), program(tmp_path, "deno")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("DENO_NO_UPDATE_CHECK", "NO_COLOR", "DENO_DIR"):
        monkeypatch.setenv(name, "")
    assert driver.command("web/a.mjs", typed=False)[0] == node
    assert driver.command("web/a.ts", typed=False)[0] == deno
    assert driver.command("bin/tool", typed=True)[0] == deno
    Path(node).unlink()
    assert driver.command("web/a.js", typed=False)[0] == deno


def test_node_alone_is_better_than_nothing_for_typescript(
    driver: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = program(tmp_path, "node")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert driver.command("web/a.ts", typed=True)[0] == node

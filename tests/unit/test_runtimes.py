"""Which JavaScript runtime is shown to sandboxes, and which one the driver takes."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from gate.errors import CouldNotLook
from gate.sandbox import runtime_image, runtimes
from tests.unit.driver_harness import LAUNCHER


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The driver's own choice, on a machine without any runtime."""
    monkeypatch.syspath_prepend(str(LAUNCHER))
    monkeypatch.setenv("PATH", "/nowhere")
    module = importlib.import_module("driver_javascript")
    monkeypatch.setattr(importlib.import_module("driver_runtime"), "DENO", "/nowhere/deno")
    return module


def program(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("")
    path.chmod(0o755)
    return str(path)


def test_nothing_is_shown_to_a_check_of_python_alone() -> None:
    assert runtimes.shown(()) == ()


def test_a_host_without_deno_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise CouldNotLook("deno is not installed")

    monkeypatch.setattr(runtimes, "program", none)
    assert runtimes.shown(("javascript",)) == ()


def test_deno_answers_to_the_name_of_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    deno = tmp_path / "2.9.8"
    monkeypatch.setattr(runtimes, "program", lambda: deno)
    assert runtimes.shown(("javascript",)) == (
        (str(deno), "/opt/runtime/deno"),
        (str(deno), "/opt/runtime/bin/node"),
    )


def test_the_sandbox_image_itself_is_used_where_nothing_is_wanted() -> None:
    client: object = object()  # asked nothing
    assert runtime_image.ensure(client, "sha256:abc", ()) == "sha256:abc"  # type: ignore[arg-type]


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

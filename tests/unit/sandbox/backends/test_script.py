"""Which commands the runtimes of the scripted backends take, and that ``auto`` takes none of them."""

from __future__ import annotations

import pytest

from gate.errors import UsageError
from gate.sandbox.backends.registry import BACKENDS, SCRIPTED, choose
from gate.sandbox.backends.script.backend import python_words
from gate.sandbox.backends.script.deno import CLOSED, DENO, DenoBackend
from gate.sandbox.backends.script.restricted import RestrictedBackend
from gate.sandbox.backends.script.wasm import WasmBackend


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("python3", "main.py", "x"), ("main.py", "x")),
        (("/usr/bin/python3", "-I", "-B", "main.py"), ("main.py",)),
        (("python3", "-c", "pass"), ("-c", "pass")),
        (("python3", "-c"), None),
        (("python3", "-m", "pytest"), None),
        (("python3",), None),
        (("sh", "-c", "id"), None),
        ((), None),
    ],
)
def test_python_commands_are_taken_apart(argv: tuple[str, ...], words: tuple[str, ...] | None) -> None:
    assert python_words(argv) == words


def test_deno_runs_files_without_any_permission() -> None:
    backend = DenoBackend()
    assert backend.translate(("deno", "run", "-A", "--allow-net", "x.ts", "y")) == (
        DENO,
        "run",
        *CLOSED,
        "x.ts",
        "y",
    )
    assert backend.translate(("node", "x.js")) == (DENO, "run", *CLOSED, "x.js")
    for refused in (("node", "-e", "1"), ("npm", "test"), ("deno", "install", "x"), ("node",), ()):
        assert backend.translate(refused) is None
    evaluated = backend.translate(("deno", "eval", "1"))
    assert evaluated is not None
    assert evaluated[1] == "run"  # eval would give every permission
    assert not [word for word in CLOSED if word.startswith("--allow")]
    assert "--deny-import" in CLOSED


def test_wasm_may_read_its_runtime_and_the_tree_and_nothing_else() -> None:
    words = WasmBackend().translate(("python3", "main.py"))
    assert words is not None
    assert [word for word in words if word.startswith("--allow")] == ["--allow-read=/opt/wasm,/work/tree"]
    assert RestrictedBackend().translate(("python3", "-m", "x")) is None


def test_auto_never_takes_a_scripted_backend() -> None:
    assert not set(BACKENDS) & set(SCRIPTED)
    with pytest.raises(UsageError, match="no-such-backend") as caught:
        choose("no-such-backend", "process")
    assert all(name in caught.value.advice for name in SCRIPTED)

"""Bytecode of installed packages: made once, used whatever times the sources get."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from gate.sandbox.dependencies import bytecode


def pyc_of(source: Path) -> Path:
    return source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"


def made(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_module_is_not_compiled_again_when_its_time_changes(tmp_path: Path) -> None:
    made(tmp_path, {"shop/__init__.py": "", "shop/cart.py": "TOTAL = 7\n"})
    bytecode.compile_below(str(tmp_path), 30)
    os.utime(tmp_path / "shop/cart.py", (10**9, 10**9))
    words = [sys.executable, "-B", "-v", "-c", "import shop.cart; print(shop.cart.TOTAL)"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
    assert "matches" in done.stderr
    assert "# wrote" not in done.stderr
    assert f"code object from '{tmp_path}/shop/cart.py'" not in done.stderr  # that would be a compilation


def test_what_does_not_compile_costs_no_other_module(tmp_path: Path) -> None:
    made(tmp_path, {"a.py": "1 +\n", "b.py": "x" * 10 + " = " + "(" * 5000, "c.py": "C = 1\n"})
    bytecode.compile_below(str(tmp_path), 30)
    assert not pyc_of(tmp_path / "a.py").exists()
    assert not pyc_of(tmp_path / "b.py").exists()
    assert pyc_of(tmp_path / "c.py").exists()


def test_bytecode_that_came_along_is_made_anew(tmp_path: Path) -> None:
    made(tmp_path, {"a.py": "A = 1\n"})
    brought = pyc_of(tmp_path / "a.py")
    brought.parent.mkdir()
    brought.write_bytes(b"something else")
    bytecode.compile_below(str(tmp_path), 30)
    assert brought.read_bytes()[:4] != b"some"
    assert brought.read_bytes()[4:8] == b"\1\0\0\0"  # by hash, unchecked (PEP 552)


def test_packages_own_tests_are_left_out(tmp_path: Path) -> None:
    made(tmp_path, {"pkg/tests/test_a.py": "", "pkg/a.py": ""})
    bytecode.compile_below(str(tmp_path), 30)
    assert pyc_of(tmp_path / "pkg/a.py").exists()
    assert not (tmp_path / "pkg/tests/__pycache__").exists()


def test_no_time_is_no_error(tmp_path: Path) -> None:
    made(tmp_path, {f"m{n}.py": "A = 1\n" for n in range(50)})
    start = time.monotonic()
    bytecode.compile_below(str(tmp_path), 0)
    assert time.monotonic() - start < 10
    bytecode.compile_below(str(tmp_path / "nowhere"), 5)

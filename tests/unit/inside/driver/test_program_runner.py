"""Makefile targets, console commands and pickles through the real driver, on harmless trees."""

from __future__ import annotations

import gzip
import io
import pickle
import shutil
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.unit.inside.driver.harness import Driven, drive, lay_tree

MARK = 'open("ran", "w").close()'


def one(tree: Path, **item: Any) -> Driven:
    return drive(tree, {"items": [item], "nap": 0.05})


class Mark:
    """Unpickled, it makes the file ``ran``."""

    def __reduce__(self) -> tuple[object, ...]:
        return (exec, (MARK,))


def packed(kind: str) -> bytes:
    raw = pickle.dumps({"weights": [1, 2], "mark": Mark()}, protocol=2)
    if kind == "gzip":
        return gzip.compress(raw)
    if kind == "zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("model/data.pkl", raw)
            archive.writestr("model/readme", "x")
        return out.getvalue()
    if kind == "numpy":
        header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + raw
    if kind == "second":
        return pickle.dumps({"a": 1}) + raw
    return raw


@pytest.mark.parametrize("kind", ["plain", "gzip", "zip", "numpy", "second"])
def test_a_pickle_is_loaded(tmp_path: Path, kind: str) -> None:
    tree = lay_tree(tmp_path / "t", {})
    tree.mkdir(exist_ok=True)
    (tree / "model.pkl").write_bytes(packed(kind))
    seen = one(tree, do="pickle", path="model.pkl")
    assert (tree / "ran").exists(), (seen.item, seen.stderr)
    assert seen.done
    assert set(seen.calls.values()) == {"returned"}


def test_a_pickle_of_missing_classes_is_loaded_all_the_same(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"shop.py": "class Cart: pass\n"})
    raw = b"(lp0\ncnumpy.nowhere\narray\n(S'x'\ntRacshop\nCart\n)Racbuiltins\nexec\n(S'" + (
        MARK.encode() + b"'\ntRa."
    )
    (tree / "model.pkl").write_bytes(raw)
    seen = one(tree, do="pickle", path="model.pkl")
    assert (tree / "ran").exists(), (seen.item, seen.stderr)
    assert (seen.item["outcome"], seen.item["missing"], seen.item["stand_in"]) == ("missing", "numpy", True)


def test_what_is_no_pickle_is_no_error_of_ours(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"model.pkl": "x = 1 and no pickle at all\n"})
    seen = one(tree, do="pickle", path="model.pkl")
    assert seen.done
    assert seen.item["outcome"] == "completed"


MAKEFILE = """
OUT = ran
SAY := $(shell echo made)
.PHONY: all
all: first
\t@touch $(OUT)-$@
\t-false
\techo $(SAY) $${HOME:+x} > $(OUT)-said
first:
\ttouch $(OUT)-first
broken:
\tfalse
\ttouch ran-after
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_target_by_make(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {})
    tree.mkdir(exist_ok=True)
    (tree / "Makefile").write_text(MAKEFILE)
    seen = one(tree, do="make", path="Makefile", target="all")
    assert seen.done
    assert sorted(p.name for p in tree.glob("ran*")) == ["ran-all", "ran-first", "ran-said"]
    assert "by" not in seen.item


def test_a_target_by_sh_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from gate.inside.driver import make_runner

    script = make_runner.recipe(MAKEFILE, "all")
    assert script == (
        "( touch ran-first\n) || exit $?\n( touch ran-all\n) || exit $?\n( false\n) || true\n"
        "( echo $(echo made) ${HOME:+x} > ran-said\n) || exit $?"
    )
    assert make_runner.recipe(MAKEFILE, "nowhere") == ""
    endless = "a: b\n\techo $(A)\nb: a\n\techo b\nA = $(B)\nB = $(A)\n"
    assert make_runner.recipe(endless, "a").count("echo") == 2


CLI = """
import argparse, sys

def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    push = commands.add_parser("push")
    push.add_argument("target")
    words = parser.parse_args()
    if words.command == "push":
        open("ran", "w").close()
    return 0
"""


def test_a_console_command_gets_arguments(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", {"src/shop/__init__.py": "", "src/shop/cli.py": CLI})
    item = {"do": "entry", "name": "shop", "module": "shop.cli", "attr": "main", "argv": [[], ["--help"]]}
    seen = one(tree, path="src/shop/cli.py", roots=["src", "."], **item)
    assert (tree / "ran").exists(), (seen.item, seen.stderr)
    assert seen.done
    assert list(seen.calls)[:2] == ["shop", "shop --help"]
    assert any(name.startswith("shop push") for name in seen.calls)
    gone = one(tree, path="src/shop/gone.py", roots=["src"], **{**item, "module": "shop.gone"})
    assert gone.item["outcome"] == "absent"

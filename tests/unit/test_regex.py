"""Patterns that are compiled when they are first used."""

import ast
import copy
import gc
import importlib
import pickle
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import gate
from gate.regex import regex
from tests.paths import REPOSITORY as ROOT

PROGRAMS = ("gate.inside.", "gate.isolation.inside.")
"""Run alone, with nothing else of gate beside them."""
SENT = {"gate/sandbox/dependencies/installer.py", "gate/sandbox/dependencies/installer_text.py"}
"""Sent into a sandbox, as those."""


def test_does_what_the_compiled_pattern_does() -> None:
    late, now = (
        regex(r"(?P<word>[a-z]+)(\d)?", re.IGNORECASE),
        re.compile(r"(?P<word>[a-z]+)(\d)?", re.IGNORECASE),
    )
    assert late.pattern == now.pattern
    assert late.flags == now.flags
    assert late.groupindex == now.groupindex
    assert late.sub("-", "Ab1 c") == now.sub("-", "Ab1 c") == "- -"
    assert late.findall("Ab1 c") == now.findall("Ab1 c")
    found = late.search("..Ab")
    assert found is not None
    assert found["word"] == "Ab"


def test_bytes() -> None:
    assert regex(rb"\d+").findall(b"1 22") == [b"1", b"22"]
    assert regex(b"a") != regex("a")


def test_a_mistake_is_told_at_first_use() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("x")


def test_equal_and_copied() -> None:
    one = regex("a", re.DOTALL)
    assert one == regex("a", re.DOTALL)
    assert one != regex("a")
    assert len({one, regex("a", re.DOTALL)}) == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one).fullmatch("a")
    assert repr(one) == "regex('a', 16)"


def _compiled_at_import(tree: ast.Module) -> Iterator[int]:
    """Lines of `re.compile` that run when the module is imported."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [*node.decorator_list, node.args]
        elif not isinstance(node, ast.Lambda):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
                yield node.lineno
            waiting += ast.iter_child_nodes(node)


def test_no_module_compiles_at_import() -> None:
    texts = {f.relative_to(ROOT).as_posix(): f.read_bytes() for f in (ROOT / "gate").rglob("*.py")}
    assert [
        f"{name}:{line}"
        for name, text in texts.items()
        if "/inside/" not in name and name not in SENT
        for line in _compiled_at_import(ast.parse(text))
    ] == []
    alone = [name for name, text in texts.items() if "/inside/" in name or name in SENT]
    assert not [name for name in alone if b"gate.regex" in texts[name]]


def test_imports_of_a_check_compile_nearly_nothing() -> None:
    """Libraries compile theirs; some two thousand of gate's wait."""
    program = (
        "import re._compiler as c; real = c.compile; n = []\n"
        "c.compile = lambda *a, **k: (n.append(1), real(*a, **k))[1]\n"
        "import gate.check, gate.sandbox.session; print(len(n))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT)
    assert int(run.stdout) < 200


def test_every_pattern_compiles() -> None:
    """What `re.compile` would have told at import."""
    late = type(regex(""))
    for module in pkgutil.walk_packages(gate.__path__, "gate."):
        if not module.name.startswith(PROGRAMS) and ".verbs" not in module.name:
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as missing:  # an extra that is not installed here
                if (missing.name or "").startswith("gate"):
                    raise
    patterns = {one for one in gc.get_objects() if isinstance(one, late)}
    assert len(patterns) > 1000
    for one in patterns:
        _ = one.flags

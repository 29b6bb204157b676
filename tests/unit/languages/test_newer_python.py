"""Python newer than the one that reads it: the tree that the newest Python makes, each node in its place."""

from __future__ import annotations

import ast
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.languages.python_syntax.newer_python import _Rewritten, parse, parse_bytes
from gate.languages.python_syntax.scan import UnreadableError

# Each with calls, whose places are checked: (line, column) of every call.
NEWER = [
    ('x = f"{a["b"]} {run("c")}"\n', [(1, 16)]),
    ("x = f\"{'\\n'.join(names)}\"\n", [(1, 7)]),
    ('x = f"{f"{f"{run(1)}"}"}"\n', [(1, 13)]),
    ('x = f"{  # why\n  run(1)  # that\n}" + go(2)\n', [(2, 2), (3, 5)]),
    ('x = "a" f"{b["c"]}" \'d\', go()\n', [(1, 25)]),
    ('x = (f"{b["c"]}"\n     f"{run("x")}")\n', [(2, 8)]),
    ('x = f"{run("a")!r:>{go("b")}}"\n', [(1, 7), (1, 20)]),
    ('x = f"{run("a")=}"\n', [(1, 7)]),
    ('x = rf"\\d{run("a")}"\n', [(1, 10)]),
    ('é = f"ü{run("ö")}" + go()\n', [(1, 10), (1, 24)]),
    ('def f(): return f"""{\n  run("""x""")\n}"""\n', [(2, 2)]),
    ("type Names[T: (run(1), str)] = list[go(2)]\n", [(1, 15), (1, 36)]),
    ("type = 1; type(type); type[0]; go(f'{a['b']}')\n", [(1, 10), (1, 31)]),
    ("def f[T: int = run(1), *Ts, **P](x: T) -> T:\n    return go(x)\n", [(1, 15), (2, 11)]),
    ("class A[\n    T,\n    S,\n](run(1)):\n    pass\n", [(4, 2)]),
    ("try:\n    go(1)\nexcept OSError, ValueError:\n    go(2)\n", [(2, 4), (4, 4)]),
    ("try:\n    go(1)\nexcept* OSError, ValueError:\n    go(2)\n", [(2, 4), (4, 4)]),
    ('x = t"{run("a")}"\n', [(1, 7)]),
]


def calls(tree: ast.AST) -> list[tuple[int, int]]:
    return sorted((n.lineno, n.col_offset) for n in ast.walk(tree) if isinstance(n, ast.Call))


@pytest.mark.parametrize(("source", "places"), NEWER)
def test_newer_syntax_is_read_with_every_node_in_its_place(
    source: str, places: list[tuple[int, int]]
) -> None:
    assert calls(_Rewritten(source).tree()) == places
    assert calls(parse(source)) == places or sys.version_info >= (3, 12)
    assert parse_bytes(b"# coding: utf-8\r\n" + source.encode()) is not None
    compile(parse(source), "x", "exec")  # a tree that this interpreter would take; nothing is executed


@pytest.mark.parametrize(
    "source",
    [
        "f(",
        'f"{"\n',
        'f"{}"\n',
        'f"{a b["c"]}"\n',
        'f"}"\n',
        'f"{a!x}"\n',
        "type X[ = 3\n",
        '"a\n',
        "except A, B\n",
    ],
)
def test_what_no_python_takes_is_a_syntax_error(source: str) -> None:
    with pytest.raises(SyntaxError):
        parse(source)


def test_a_bomb_of_fields_ends() -> None:
    with pytest.raises((SyntaxError, UnreadableError, RecursionError, MemoryError)):
        parse('f"{' * 5000)
    with pytest.raises(SyntaxError):
        parse("x = " + 'f"{' * 90 + "1" + '}"' * 90 + " $")


PIECES = st.lists(
    st.sampled_from(
        [
            "{a}",
            "{b!r}",
            "{c:>3}",
            "{d:{e}}",
            "{{",
            "}}",
            "text",
            "\\n",
            "'",
            "\\\\",
            "\\x41",
            "{f=}",
            "é",
            "{g(1)}",
        ]
    ),
    max_size=8,
)


def plain(node: Any) -> Any:
    if isinstance(node, ast.AST):
        fields = [(k, plain(v)) for k, v in ast.iter_fields(node) if k != "kind" and v not in (None, [])]
        return type(node).__name__, fields
    return [plain(each) for each in node] if isinstance(node, list) else repr(node)


@given(PIECES, st.sampled_from(["f", "F", "rf", "fR"]), st.sampled_from(['"', '"""', "'''"]))
def test_what_this_python_reads_is_rewritten_to_the_same_tree(
    pieces: list[str], prefix: str, quote: str
) -> None:
    source = f"x = {prefix}{quote}{''.join(pieces)} {quote}\n"
    try:
        mine = ast.parse(source)
    except SyntaxError:
        return
    assert plain(_Rewritten(source).tree()) == plain(mine)


@given(st.text(alphabet="f\"'{}\\ \n#:!=ab()[],", max_size=40))
def test_any_text_is_a_tree_or_a_syntax_error(text: str) -> None:
    try:
        mine = parse(text)
    except (SyntaxError, ValueError):
        mine = None
    try:
        theirs = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    assert plain(mine) == plain(theirs)

"""Whatever stands around a line, it runs when it is forced, and forcing comes to an end."""

from __future__ import annotations

import ast
import types
from textwrap import indent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.inside.driver.forced.marks import PORTS, Mark, is_marked
from gate.inside.driver.forced.places import functions_around, stored_names
from gate.inside.driver.forced.runner import Target
from gate.inside.driver.forced.runtime import Runtime, plain
from gate.inside.driver.forced.soften import private
from gate.model.forced import FORCED_PORTS

_BEFORE = (
    "if x: return 1",
    "if not x: raise ValueError(x)",
    "if x != 'k': return",
    "y = x['k'].z + 1",
    "assert x > 3, y",
    "for j in range(3): return j",
    "while x: break",
    "while True: y = 1",
    "try:\n    y = int(x)\nexcept ValueError:\n    return",
    "with open('/nonexistent/a') as y: return y.read()",
    "raise SystemExit(3)",
    "del y",
    "import a_package_that_nobody_has as y",
    "def helper(): return 1",
    "y = [j for j in x if j]",
    "if (y := x) == 3: pass\nelse: return y",
    "pass",
)
_AROUND = (
    ("if x == 3:", ""),
    ("if x is None:\n    return 2\nelse:", ""),
    ("if a_name_that_nobody_has:", ""),
    ("for i in x:", ""),
    ("for i in ():", ""),
    ("for i, (j, k) in x.items():", ""),
    ("for i, j in {}.items():", ""),
    ("while x > 10 ** 9:", ""),
    ("with x.y as z, open('/nonexistent/b'):", ""),
    ("try:", "except KeyError:\n    pass"),
    ("try:\n    pass\nexcept (KeyError, OSError) as error:", ""),
    ("try:\n    pass\nexcept Exception:\n    pass\nelse:", ""),
    ("try:\n    pass\nfinally:", ""),
    (
        (
            "match x:\n    case 1:\n        return\n    case {'a': b}:\n        pass\n"
            "    case _:\n        pass\nif x:"
        ),
        "",
    ),
    ("def inner(a, *, b=None):", ""),
    ("async def inner(a):", ""),
    ("class Inner:\n  def method(self, a):", ""),
    ("class Inner:\n  @staticmethod\n  def method(a):", ""),
    ("class Inner:", ""),
)
_TARGETS = (
    "hit()",
    "return hit()",
    "z = x and hit()",
    "z = x.y or (x == 3 and hit())",
    "z = hit() if x == 3 else 1",
    "z = 1 if x else [hit()]",
    "z = [hit() for q in x if q == 9]",
    "z = any(hit() for q in () for r in q)",
    "z = {i: hit() for i, j in {}.items() if j}",
    "z = lambda q: hit()",
    "assert hit() == 1, hit()",
    "raise ValueError(hit())",
    "z = {'a': x.b['c'], 'd': hit()}",
    "z = x.y(hit(), *x.z, **x)",
    "z = f'{hit()}' + x",
    "if hit() > 1: return",
    "for q in hit(): pass",
    "with hit() as q: pass",
    "del x[hit()]",
)


@st.composite
def functions(draw: st.DrawFn) -> str:
    """A module with one function in which a line ends in ``# HERE``."""
    body = draw(st.sampled_from(_TARGETS)) + "  # HERE"
    for _ in range(draw(st.integers(0, 4))):
        head, tail = draw(st.sampled_from(_AROUND))
        if "method(" in head:
            body = f"{head}\n{indent(body, '      ')}"
        elif head.startswith("class Inner:") and "return " in body:
            continue
        else:
            body = f"{head}\n{indent(body, '    ')}" + (f"\n{tail}" if tail else "")
        before = draw(st.lists(st.sampled_from(_BEFORE), max_size=3))
        if "class Inner:" not in head or "method(" in head:
            body = "\n".join([*before, body])
    kind = draw(st.sampled_from(("def", "async def")))
    return f"{kind} pay(x, y=None, *rest, z: 'str' = 'a', **named):\n{indent(body, '    ')}\n"


def force(source: str, *, both: bool = False) -> tuple[Runtime, list[int]]:
    """Force the marked line. Returns the runtime, and an entry for each time that ``hit`` was called."""
    hits: list[int] = []

    def hit() -> int:
        hits.append(1)
        return 1

    line = next(n for n, text in enumerate(source.split("\n"), 1) if "# HERE" in text)
    tree = ast.parse(source)
    module = types.ModuleType("shop")
    vars(module)["hit"] = hit
    exec(compile(source, "shop.py", "exec"), vars(module))
    target = Target(tree, line, None, {"path": "shop.py", "module": "shop"}, module)
    runtime = Runtime((), {})
    runtime.most = 5  # nothing but this bounds loops in loops here; in the driver a clock does
    target._once(runtime, both)
    return runtime, hits


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(functions(), st.booleans())
def test_the_line_runs_whatever_stands_around_it(source: str, both: bool) -> None:
    try:
        compile(source, "shop.py", "exec")
    except SyntaxError:
        return  # two returns in a class body, say: nobody's program
    runtime, hits = force(source, both=both)
    assert hits, source
    assert runtime.reached


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_that_parses_has_places(text: str) -> None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    stored_names(tree.body)
    for line in range(1, text.count("\n") + 2):
        functions_around(tree, line)


@given(st.recursive(st.just("M") | st.integers() | st.text(max_size=4), lambda c: st.lists(c, max_size=3)))
@settings(max_examples=100, deadline=None)
def test_plain_values_hold_no_mark_objects(value: object) -> None:
    def marked(one: object) -> object:
        return [marked(v) for v in one] if isinstance(one, list) else Mark() if one == "M" else one

    def free(one: object) -> bool:
        return all(free(v) for v in one) if isinstance(one, list) else not isinstance(one, Mark)

    made = plain(marked(value))
    assert free(made)
    assert is_marked(made, depth=9) == is_marked(marked(value), depth=9)


def test_a_name_inside_a_class_is_private() -> None:
    assert private("__key", "Cart") == "_Cart__key"
    assert private("__key", "_Cart") == "_Cart__key"
    assert private("__key__", "Cart") == "__key__"
    assert private("key", "Cart") == "key"


@pytest.mark.parametrize("wanted", ["mode == 'k'", "mode in ('k', 'j')", "'k' == mode", "not mode != 'k'"])
def test_what_a_condition_says_of_a_name_holds_behind_it(wanted: str) -> None:
    source = f"seen = []\ndef pay(mode):\n    if {wanted}:\n        seen.append((hit(), mode)[1])  # HERE\n"
    tree = ast.parse(source)
    module = types.ModuleType("shop")
    vars(module)["hit"] = lambda: True
    exec(compile(source, "shop.py", "exec"), vars(module))
    Target(tree, 4, None, {"path": "shop.py"}, module)._once(Runtime((), {}), False)
    assert vars(module)["seen"] == ["k"]


def test_the_clock_s_exception_is_never_swallowed() -> None:
    class TimeUpError(BaseException):
        pass

    def late() -> None:
        raise TimeUpError

    source = "def pay(x):\n    late()\n    try:\n        late()\n    except BaseException: pass\n    hit()\n"
    module = types.ModuleType("shop")
    vars(module).update(late=late, hit=lambda: None)
    exec(compile(source, "shop.py", "exec"), vars(module))
    with pytest.raises(TimeUpError):
        Target(ast.parse(source), 6, None, {"path": "shop.py"}, module)._once(
            Runtime((TimeUpError,), {}), False
        )


def test_both_sides_name_the_same_ports() -> None:
    assert PORTS == FORCED_PORTS

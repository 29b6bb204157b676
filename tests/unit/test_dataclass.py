"""Dataclasses whose methods are compiled late, beside those of the standard library."""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, field, replace
from typing import Any, ClassVar

import msgspec
import pytest

from gate.dataclass import _late_dataclass as late
from gate.dataclass import dataclass
from tests.paths import REPOSITORY as ROOT

KINDS: list[dict[str, bool]] = [
    {},
    {"frozen": True},
    {"kw_only": True},
    {"slots": True},
    {"frozen": True, "kw_only": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "kw_only": True, "slots": True, "order": True},
    {"slots": True, "eq": False},
]
STANDARD_LIBRARY_ONLY = ("gate/inside/", "gate/isolation/inside/", "gate/regex.py", "gate/dataclass.py")
"""Programs that run alone; and what stands below."""


def both(kind: dict[str, bool], make: Any) -> tuple[Any, Any]:
    """One class, declared by the standard library and by us."""
    return dataclasses.dataclass(**kind)(make()), late(**kind)(make())


def shop() -> type:
    class Item:
        """A thing with a price."""

        TAX: ClassVar[int] = 19
        name: str
        price: float = field(compare=False)
        tags: tuple[str, ...] = ()
        notes: dict[str, int] = field(default_factory=dict, repr=False, hash=False)
        count: int = field(default=1, init=False)
        seen: list[int] = field(default_factory=list, init=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "price", float(self.price))

    return Item


def outcome(work: Any) -> object:
    """What it gives, or the kind and the words of what it raises."""
    try:
        return work()
    except Exception as error:
        return type(error), str(error).replace("Item.", "").replace("__init__() ", "").replace(
            "_self", "self"
        )


WORK: list[Any] = [
    lambda c: repr(c(name="a", price=1)),
    lambda c: repr(c("a", 1, ("t",))),
    lambda c: repr(c()),
    lambda c: repr(c(name="a", price=1, count=2)),
    lambda c: c(name="a", price=1) == c(name="a", price=2),
    lambda c: c(name="a", price=1) == c(name="b", price=1),
    lambda c: c(name="a", price=1) != c(name="b", price=1),
    lambda c: c(name="a", price=1).__eq__(1),
    lambda c: len({c(name="a", price=1), c(name="a", price=2, notes={"x": 1}), c(name="b", price=1)}),
    lambda c: c.__hash__ is None,
    lambda c: c(name="a", price=1) < c(name="b", price=1),
    lambda c: c(name="a", price=1) >= c(name="a", price=2),
    lambda c: (c(name="a", price=1).notes is c(name="a", price=1).notes, c.TAX, c(name="a", price=1).seen),
    lambda c: setattr(c(name="a", price=1), "name", "b"),
    lambda c: delattr(c(name="a", price=1), "name"),
    lambda c: repr(replace(c(name="a", price=1), name="b")),
    lambda c: repr(replace(c(name="a", price=1), count=3)),
    lambda c: dataclasses.asdict(c(name="a", price=1, notes={"k": 2})),
    lambda c: repr(copy.deepcopy(c(name="a", price=1, tags=("x",)))),
    lambda c: msgspec.json.encode(c(name="a", price=1)),
    lambda c: str(inspect.signature(c)).replace("_self", "self"),
    lambda c: inspect.get_annotations(c.__init__),
    lambda c: c.__match_args__,
    lambda c: [(f.name, f.type, f.init, f.kw_only, f.repr, f.hash, f.compare) for f in dataclasses.fields(c)],
    lambda c: getattr(c, "__slots__", None),
    lambda c: (c.__init__.__name__, c.__init__.__qualname__, c.__init__.__module__),
    lambda c: c.__doc__,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind) or "plain")
@pytest.mark.parametrize("work", WORK, ids=map(str, range(len(WORK))))
def test_does_what_the_standard_librarys_does(kind: dict[str, bool], work: Any) -> None:
    theirs, ours = both(kind, shop)
    expected = outcome(lambda: work(theirs))
    if "signature" in inspect.getsource(work) or not isinstance(expected, str):
        expected = str(expected).replace("<factory>", "ABSENT")
        seen = str(outcome(lambda: work(ours)))
        assert _without_absent(seen) == expected
    else:
        assert outcome(lambda: work(ours)) == expected


def _without_absent(text: str) -> str:
    return re.sub(r"<object object at 0x[0-9a-f]+>", "ABSENT", text)


def test_what_a_class_defines_stays() -> None:
    class Own:
        x: int = 0

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

    theirs, ours = both({"frozen": True}, lambda: type("Own", (), dict(vars(Own))))
    for cls in (theirs, ours):
        assert repr(cls(1)) == "own"
        assert cls(1) == 5
        assert hash(cls(1)) == hash((1,))

    class Hashed(Own):
        x: int = 0

        def __hash__(self) -> int:
            return 7

    assert hash(late(frozen=True)(Hashed)(1)) == 7


def test_a_class_that_extends_another_one() -> None:
    @dataclass(frozen=True, kw_only=True, slots=True)
    class Base:
        a: int
        b: int = 2

    @dataclass(frozen=True, kw_only=True, slots=True)
    class More(Base):
        c: int = 3

    assert repr(More(a=1)).endswith("More(a=1, b=2, c=3)")
    assert Base(a=1) != More(a=1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'b'"):
        More(a=1).b = 4  # type: ignore[misc]

    class Plain(Base):
        """Declares nothing, and takes what it is given."""

    assert Plain(a=1) == Plain(a=1)
    thing = Plain(a=1)
    thing.other = 1  # type: ignore[attr-defined]
    del thing.other  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        thing.a = 2  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """Stands in a module, so that it can be pickled."""

    one: int
    two: tuple[str, ...] = ()


def test_pickled_and_read_by_msgspec() -> None:
    value = Kept(one=1, two=("x",))
    assert pickle.loads(pickle.dumps(value)) == value
    assert msgspec.json.decode(msgspec.json.encode(value), type=Kept) == value
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"one":"x"}', type=Kept)


def test_compiled_once_and_at_first_use() -> None:
    @dataclass(frozen=True)
    class Unused:
        x: int

    kept = vars(Unused)
    assert {type(kept[name]).__name__ for name in ("__init__", "__eq__", "__hash__")} == {"_Late"}
    Unused(1)
    assert inspect.isfunction(kept["__init__"])
    assert type(kept["__hash__"]).__name__ == "_Late"


def test_a_value_that_holds_itself_can_be_shown() -> None:
    @dataclass
    class Knot:
        own: object = None

    knot = Knot()
    knot.own = knot
    assert repr(knot).endswith("Knot(own=...)")


def test_every_class_of_gate_is_declared_so() -> None:
    wrong = []
    for path in sorted((ROOT / "gate").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(STANDARD_LIBRARY_ONLY):
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses":
                wrong += [name for alias in node.names if alias.name == "dataclass"]
    assert wrong == [], "`dataclass` comes from gate/dataclass.py"


def test_importing_a_check_compiles_no_method() -> None:
    program = """
import dataclasses
made, real = [], dataclasses._create_fn
def noted(name, *args, **known):
    made.append(known["globals"]["__name__"])
    return real(name, *args, **known)
dataclasses._create_fn = noted
import gate.check
print(sorted({n for n in made if n.startswith("gate.") and not n.startswith("gate.inside")}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "[]", done.stderr

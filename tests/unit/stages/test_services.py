"""Which servers a check's sandboxes get: by the settings, else by base's files; never by head's."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

import pytest

from gate.errors import InconclusiveError
from gate.model.change import Tree
from gate.model.run import Capability, ExecutionPlan, Probe, SandboxSpec
from gate.sandbox.contract import Backend, Session
from gate.settings import SandboxSettings
from gate.stages.services import take_services
from tests.contract.trees import DictTree

CAN = Capability(backend="docker", available=True, isolation="container", tracer="unotify", layers=True)
COMPOSE = "services: {db: {image: 'postgres:16', environment: {POSTGRES_DB: shop}}}"
DJANGO = "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')"
TEST = Probe(id="test", phase="test", target="t", path="a.py", argv=("x",))


class Sandboxes(Backend):
    """Starts nothing. ``why``: why it can have no servers."""

    name = "docker"

    def __init__(self, why: str = "") -> None:
        self.why = why

    def install_cache_key(self) -> str:
        if self.options.services and self.why:
            raise InconclusiveError(self.why)
        return ""

    def probe(self) -> Capability:
        return CAN

    def open(self, spec: SandboxSpec, base: Tree, head: Tree) -> AbstractContextManager[Session]:
        raise AssertionError("nothing is started")


def _look(
    base: dict[str, str | bytes],
    head: dict[str, str | bytes] | None = None,
    why: str = "",
    probe: Probe = TEST,
    **settings: Any,
) -> tuple[Backend, tuple[str, str, Any]]:
    changed = SimpleNamespace(path="a.py", old_path=None, language="python")
    opened: Any = SimpleNamespace(
        change=SimpleNamespace(files=(changed,)),
        base=DictTree(files=base),
        head=DictTree(files=head or base),
    )
    backend = Sandboxes(why)
    plan = ExecutionPlan(probes=(probe,))
    return backend, take_services(opened, SandboxSettings(**settings), backend, CAN, plan)


def test_what_base_asks_for() -> None:
    backend, (text, words, left) = _look({"compose.yaml": COMPOSE})
    assert backend.options.services
    assert json.loads(text)["services"][0]["database"] == "shop"
    assert words == "PostgreSQL for the tests, as compose.yaml asks"
    assert not left


def test_a_manage_py_that_is_not_djangos() -> None:
    _, (text, *_) = _look({"compose.yaml": COMPOSE, "src/database/manage.py": "def init_database(): ..."})
    assert json.loads(text)["services"][0]["database"] == "shop"


@pytest.mark.parametrize(
    ("base", "more"),
    [
        ({"a.py": ""}, {"head": {"compose.yaml": COMPOSE}}),  # a change asks for nothing
        ({"compose.yaml": COMPOSE, "manage.py": DJANGO}, {}),  # Django has SQLite
        ({"compose.yaml": COMPOSE}, {"services": ()}),
        ({"compose.yaml": COMPOSE}, {"fast": True}),
        ({"compose.yaml": COMPOSE}, {"probe": Probe(id="i", phase="import", target="", path=None, argv=())}),
    ],
)
def test_none_where_none_is_wanted(base: dict[str, str | bytes], more: dict[str, Any]) -> None:
    backend, found = _look(base, **more)
    assert found == ("", "", ())
    assert not backend.options.services


def test_the_settings_name_them_as_base_describes_them() -> None:
    files: dict[str, str | bytes] = {"compose.yaml": COMPOSE, "manage.py": DJANGO}
    _, (text, words, _) = _look(files, services=("redis", "postgresql"))
    assert [(s["kind"], s["database"]) for s in json.loads(text)["services"]] == [
        ("redis", "postgres"),
        ("postgresql", "shop"),
    ]
    assert words == "Redis and PostgreSQL for the tests, as sandbox.services asks"


def test_what_cannot_be_had_is_told_or_makes_the_check_inconclusive() -> None:
    backend, (text, _, (left,)) = _look({"compose.yaml": COMPOSE}, why="mmdebstrap ended with 25")
    assert not text
    assert not backend.options.services
    assert "ask for PostgreSQL (compose.yaml), which cannot be had here: mmdebstrap" in left.reason
    with pytest.raises(InconclusiveError, match="mmdebstrap"):
        _look({"compose.yaml": COMPOSE}, why="mmdebstrap ended with 25", services=("redis",))

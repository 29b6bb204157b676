"""New routers and routes that ask nobody beside others that all ask."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gate.protections.matching import make_side
from gate.protections.routes.compare import route_losses
from tests.unit.protections.test_routes import _facts

_MAIN = """
app = FastAPI()
app.include_router(tasks.router, dependencies=[Depends(get_current_user)])
app.include_router(hooks.router, dependencies=[Depends(get_current_user)])
"""
_ROUTER = """
router = APIRouter(prefix="/{name}")
@router.get("/")
def list_{name}(session=Depends(get_session)): return session.all({name}.owner_id)
@router.post("/")
def add_{name}(session=Depends(get_session)): session.add(1)
"""
_ADMIN = """
bp = Blueprint("admin", __name__, url_prefix="/admin")
bp.before_request(require_admin)
@bp.get("/users")
def users(): return rows()
@bp.post("/products")
def products(): return rows()
"""
_EXPORT = """
bp = Blueprint("exports", __name__, url_prefix="{prefix}")
@bp.get("/customers.csv")
def customers(): return rows()
"""


@pytest.mark.parametrize(
    ("base", "head", "told"),
    [
        ({}, {"main.py": _MAIN + "app.include_router(audit.router)\n"}, True),
        (
            {},
            {"main.py": _MAIN + "app.include_router(audit.router, dependencies=[Depends(require_admin)])\n"},
            False,
        ),
        ({"open.py": "app.include_router(news.router)\n"}, {}, False),
    ],
    ids=["beside routers that ask", "asks as they do", "one of the others is open"],
)
def test_a_new_router_beside_others_of_which_all_ask(
    base: Mapping[str, str], head: Mapping[str, str], told: bool
) -> None:
    routers = {f"{name}.py": _ROUTER.format(name=name) for name in ("tasks", "hooks")}
    opened = {"news.py": _ROUTER.format(name="news")} if base else {}
    main = _MAIN + base.get("open.py", "")
    before = {"main.py": main, **routers, **opened}
    after = {"main.py": main + "app.include_router(audit.router)\n", "audit.py": _ROUTER.format(name="audit")}
    found = [*route_losses(make_side(_facts(before)), make_side(_facts({**before, **after, **head})))]
    assert {loss.path for loss in found} == ({"audit.py"} if told else set())


@pytest.mark.parametrize(
    ("prefix", "told"), [("/admin/exports", True), ("/shop", False), ("/admin/login", False)]
)
def test_a_new_route_below_an_address_where_all_others_ask(prefix: str, told: bool) -> None:
    before = {"admin.py": _ADMIN}
    after = {**before, "exports.py": _EXPORT.format(prefix=prefix)}
    assert bool([*route_losses(make_side(_facts(before)), make_side(_facts(after)))]) is told

"""More frameworks: what is registered without its guard, and what is guarded elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gate.protections.matching import make_side
from gate.protections.routes.compare import route_losses
from tests.unit.protections.test_routes import _facts, _told

CASES = [
    pytest.param(
        {
            "a/admin.py": """
bp = Blueprint("admin", __name__, url_prefix="/admin")
@bp.before_request
def ensure_admin():
    if not session.get("admin"): abort(403)
@bp.route("/export")
def export(): return rows()
"""
        },
        {
            "a/admin.py": """
bp = Blueprint("admin", __name__, url_prefix="/admin")
@bp.before_request
def ensure_admin():
    if not session.get("admin"): abort(403)
""",
            "a/reports.py": """
reports = Blueprint("reports", __name__, url_prefix="/admin")
@reports.route("/export")
def export(): return rows()
""",
        },
        True,
        id="flask blueprint",
    ),
    pytest.param(
        {
            "a.py": """
@app.route("/export")
@login_required
def export(): return rows()
"""
        },
        {
            "a.py": """
class Export(MethodView):
    def get(self): return rows()
app.add_url_rule("/export", view_func=Export.as_view("export"))
"""
        },
        True,
        id="flask methodview",
    ),
    pytest.param(
        {
            "a.py": """
@app.route("/export")
@login_required
def export(): return rows()
"""
        },
        {
            "a.py": """
class Export(MethodView):
    decorators = [login_required]
    def get(self): return rows()
app.add_url_rule("/export", view_func=Export.as_view("export"))
"""
        },
        False,
        id="flask methodview decorators ok",
    ),
    pytest.param(
        {
            "a/views.py": """
@api_view(["GET"])
@permission_classes([IsAdminUser])
def export(request): return Response(rows())
""",
            "a/urls.py": 'urlpatterns=[path("export/", views.export)]',
        },
        {
            "a/views.py": """
class Export(APIView):
    permission_classes = [AllowAny]
    def get(self, request): return Response(rows())
""",
            "a/urls.py": 'urlpatterns=[path("export/", views.Export.as_view())]',
        },
        True,
        id="drf func->viewset",
    ),
    pytest.param(
        {
            "a.py": """
@router.get("/export")
def export(user: User = Depends(current_user)): return rows()
"""
        },
        {
            "a.py": """
class Exports:
    def export(self): return rows()
router.add_api_route("/export", Exports().export)
"""
        },
        True,
        id="fastapi func dep",
    ),
    pytest.param(
        {
            "a.py": """
@login_required
async def export(request): return rows()
app.router.add_get("/export", export)
"""
        },
        {
            "a.py": """
class Export(web.View):
    async def get(self): return rows()
app.router.add_view("/export", Export)
"""
        },
        True,
        id="aiohttp",
    ),
    pytest.param(
        {
            "a.py": """
@requires("authenticated")
async def export(request): return rows()
routes=[Route("/export", export)]
"""
        },
        {
            "a.py": """
class Export(HTTPEndpoint):
    async def get(self, request): return rows()
routes=[Route("/export", Export)]
"""
        },
        True,
        id="starlette",
    ),
    pytest.param(
        {
            "a.go": """
package a
func r(r *gin.Engine){ a := r.Group("/api"); a.Use(AuthRequired()); a.GET("/x", X) }
func X(c *gin.Context){ c.JSON(200, rows()) }
"""
        },
        {
            "a.go": """
package a
func r(r *gin.Engine){ a := r.Group("/api"); a.Use(AuthRequired()); r.GET("/api/x", X) }
func X(c *gin.Context){ c.JSON(200, rows()) }
"""
        },
        True,
        id="gin",
    ),
    pytest.param(
        {
            "a.go": """
package a
func r(e *echo.Echo){ e.GET("/x", X, middleware.JWT(key)) }
func X(c echo.Context) error { return c.JSON(200, rows()) }
"""
        },
        {
            "a.go": """
package a
func r(e *echo.Echo){ e.GET("/x", X) }
func X(c echo.Context) error { return c.JSON(200, rows()) }
"""
        },
        True,
        id="echo",
    ),
    pytest.param(
        {
            "a.js": """
router.get("/x", requireLogin, ctx => {
ctx.body = rows();
});
"""
        },
        {
            "b.js": """
const r = new Router();
router.get("/x", ctx => {
ctx.body = rows();
});
""",
            "a.js": "",
        },
        True,
        id="koa",
    ),
    pytest.param(
        {
            "a.js": """
fastify.get("/x", {
preHandler: [fastify.authenticate] }, async (req) => rows());
"""
        },
        {"a.js": 'fastify.get("/x", async (req) => rows());'},
        True,
        id="fastify",
    ),
    pytest.param(
        {
            "a.js": """
fastify.get("/x", {
preHandler: [fastify.authenticate] }, async (req) => rows());
"""
        },
        {"b.js": 'fastify.route({method:"GET", url:"/x", handler: async (req) => rows()});', "a.js": ""},
        True,
        id="fastify route obj",
    ),
    pytest.param(
        {
            "A.java": """
@Path("/x")
@RolesAllowed("admin") class A {
@GET
@Path("all") public List<Row> all() {
return store.rows();
} }
"""
        },
        {
            "B.java": """
@Path("/x") class B {
@GET
@Path("all") public List<Row> all() {
return store.rows();
} }
"""
        },
        True,
        id="jaxrs",
    ),
    pytest.param(
        {
            "A.cs": """
[Route("docs")][Authorize]
public class A : ControllerBase {
[HttpGet("all")]
public IActionResult All() {
return Ok(rows);
} }
"""
        },
        {"B.cs": 'app.MapGet("/docs/all", (Db db) => db.Rows());', "A.cs": ""},
        True,
        id="aspnet ctrl",
    ),
    pytest.param(
        {
            "routes/web.php": "<?php Route::get('/x', [AController::class,'x'])->middleware('can:export');",
            "AController.php": """<?php class AController extends Controller {
function x() {
return rows();
} }
""",
        },
        {
            "routes/web.php": "<?php Route::get('/x', [BController::class,'x']);",
            "BController.php": """<?php class BController extends Controller {
function x() {
return rows();
} }
""",
        },
        True,
        id="laravel ctrl middleware",
    ),
    pytest.param(
        {
            "config/routes.rb": """
Rails.application.routes.draw do
 authenticate :user do
 get "x", to: "a#x"
 end
end
"""
        },
        {
            "config/routes.rb": """
Rails.application.routes.draw do
 authenticate :user do
 get "x", to: "b#x"
 end
end
""",
            "b.rb": """
class BController < ApplicationController
 def x
 render json: rows
 end
end
""",
        },
        False,
        id="rails new ctrl same group ok",
    ),
    pytest.param(
        {"a.js": 'app.get("/x", requireAuth, (req,res)=>res.json(rows()));'},
        {
            "a.js": """
class X { get(req,res){ res.json(rows()); } }
const x = new X(); app.get("/x", x.get);
"""
        },
        True,
        id="express inline class",
    ),
    pytest.param(
        {
            "a.js": """
const list = (req,res)=>res.json(rows());
app.get("/x", requireAuth, list);
"""
        },
        {
            "a.js": """
const list = (req,res)=>res.json(rows());
app.get("/x", requireAuth, list);
app.get("/x.csv", list);
"""
        },
        True,
        id="express second url",
    ),
    pytest.param(
        {
            "a.ts": """
@Controller("m")
export class M {
@UseGuards(JwtAuthGuard)
@Get("x") all(){
return this.rows();
} }
"""
        },
        {
            "a.ts": """
@Controller("m") export class M { }
@Controller("m") export class N { @Get("x") all(){ return this.rows(); } }
"""
        },
        True,
        id="nest app guard moved",
    ),
    pytest.param(
        {
            "a.go": """
package a
func m() { mux.Handle("/docs", auth.Require(http.HandlerFunc(Docs))) }
func Docs(w http.ResponseWriter, r *http.Request) { list(w) }
"""
        },
        {
            "a.go": """
package a
func m() { mux.HandleFunc("/docs", Docs)
 http.ListenAndServe(addr, auth.Require(mux)) }
func Docs(w http.ResponseWriter, r *http.Request) { list(w) }
"""
        },
        False,
        id="go net/http mux wrap whole ok",
    ),
    pytest.param(
        {"a.js": 'app.get("/x", requireAuth, (req,res)=>res.json(rows()));'},
        {
            "a.js": """
const api = express.Router();
api.get("/x", (req,res)=>res.json(rows()));
app.use("/", requireAuth, api);
"""
        },
        False,
        id="express app.use later ok",
    ),
    pytest.param(
        {"a.js": 'app.get("/admin/x", requireAuth, (req,res)=>res.json(rows()));'},
        {
            "admin.js": """
router.get("/x", (req,res)=>res.json(rows()));
module.exports = router;
""",
            "a.js": """
const admin = require("./admin");
app.use("/admin", requireAuth, admin);
""",
        },
        False,
        id="sub router prefix moved ok",
    ),
    pytest.param(
        {"a.js": 'app.get("/admin/x", requireAuth, (req,res)=>res.json(rows()));'},
        {
            "admin.js": """
router.get("/x", (req,res)=>res.json(rows()));
module.exports = router;
""",
            "a.js": """
const admin = require("./admin");
app.use("/admin", admin);
""",
        },
        True,
        id="sub router prefix moved bad",
    ),
    pytest.param(
        {
            "a.py": """
pages = Blueprint("tools", __name__, url_prefix="/tools")
@pages.get("/")
@login_required
def listed(): return rows()
"""
        },
        {
            "a.py": """
pages = Blueprint("tools", __name__, url_prefix="/tools")
pages.before_request(require_login)
@pages.get("/")
def listed(): return rows()
"""
        },
        False,
        id="flask: before every request of the blueprint",
    ),
    pytest.param(
        {
            "a.py": '@app.get("/x")\n@login_required\ndef listed(): return rows()\n',
            "main.py": "app = Flask()\n",
        },
        {
            "a.py": '@app.get("/x")\ndef listed(): return rows()\n',
            "main.py": "app = Flask()\napp.before_request(require_login)\n",
        },
        False,
        id="flask: before every request of the application",
    ),
]


@pytest.mark.parametrize(("base", "head", "told"), CASES)
def test_routes_of_more_frameworks(base: Mapping[str, str], head: Mapping[str, str], told: bool) -> None:
    assert bool(_told(base, head)) is told


def test_a_configuration_that_guards_all() -> None:
    base = _facts(
        {"A.java": '@RestController class A { @RolesAllowed("a") @GetMapping("/x") Row x() { return r; } }'}
    )
    head = {"B.java": '@RestController class B { @GetMapping("/x") Row x() { return r; } }'}
    asked = "class C { void c(Http h) { h.authorizeHttpRequests(a -> a.anyRequest().authenticated()); } }"
    assert [*route_losses(make_side(base), make_side(_facts(head)))]
    assert not [*route_losses(make_side(base), make_side(_facts({**head, "C.java": asked})))]

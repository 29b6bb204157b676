"""Routes that lost their guard on the way: other files, other routers, other kinds of handler."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gate.protections.compare import losses
from gate.protections.facts import FileFacts
from gate.protections.generic import reader as generic
from gate.protections.javascript import reader as javascript
from gate.protections.python import reader as python

DJANGO_VIEW = """
from django.contrib.auth.decorators import login_required

@login_required
def export(request):
    return HttpResponse(Member.objects.all())
"""
DJANGO_CLASS = """
from django.views import View

class Export({}View):
    def get(self, request):
        return HttpResponse(Member.objects.all())
"""
DJANGO_URLS = 'from a import views\nurlpatterns = [path("x/", {}, name="x")]\n'
FASTAPI = """
router = APIRouter(prefix="/admin"{})
@router.get("/users")
def users(db):
    return db.all()
"""
CHI = """package main
func routes(r chi.Router) {{
  r.Group(func(r chi.Router) {{
    r.Use(auth.RequireUser)
    r.Get("/a", h.A)
    {}
  }})
  {}
}}
func (h H) Docs(w http.ResponseWriter, r *http.Request) {{ h.list(w) }}
"""
EXPRESS = """
const {{ list }} = require("./orders");
{}
router.get("/orders", {}list);
"""
ORDERS = "exports.list = function list(req, res) { res.json(rows()); };"
LARAVEL = """<?php
Route::middleware(['auth'])->group(function () {{
    Route::get('/a', [DocsController::class, 'index']);
    {}
}});
{}
"""
LARAVEL_HANDLER = """<?php
class DocsController extends Controller { public function show($id) { return Doc::find($id); } }
"""
SPRING = """
@RestController @RequestMapping("/docs") {}
class {} {{ {} @GetMapping("/{{id}}") String show(long id) {{ return store.find(id); }} }}
"""
ASPNET = """
app.MapGet("/docs", (Db db) => db.All()){};
"""
RAILS = """
Rails.application.routes.draw do
  {}
end
"""
RAILS_HANDLER = """
class {} < ApplicationController
  {}
  def export
    render csv: rows
  end
end
"""
NEST = """
@Controller("docs")
{}
export class {} {{
  @Get("all") {}
  list() {{ return this.store.rows(); }}
}}
"""
KTOR = """
fun Route.docs() {{
  {} {{ get("/docs") {{ call.respond(rows()) }} }}
}}
"""


def _facts(files: Mapping[str, str]) -> dict[str, FileFacts]:
    readers = {"py": python, "js": javascript, "ts": javascript}
    return {
        path: readers.get(path.rpartition(".")[2], generic).read(path, text.encode(), {})
        for path, text in files.items()
    }


def _told(base: Mapping[str, str], head: Mapping[str, str]) -> list[str]:
    return [loss.how for loss in losses(_facts(base), _facts(head), {}) if loss.family.startswith("auth")]


HOSTILE = [
    pytest.param(
        {
            "a/views.py": DJANGO_CLASS.format("LoginRequiredMixin, "),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        {
            "a/views.py": DJANGO_CLASS.format("CsvMixin, ").replace("View)", "View, LoginRequiredMixin)"),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        id="django: a mixin behind the view",
    ),
    pytest.param(
        {"a/views.py": DJANGO_VIEW, "a/urls.py": DJANGO_URLS.format("views.export")},
        {"a/views.py": DJANGO_CLASS.format(""), "a/urls.py": DJANGO_URLS.format("views.Export.as_view()")},
        id="django: a function becomes a class",
    ),
    pytest.param(
        {
            "a/views.py": DJANGO_CLASS.format("LoginRequiredMixin, "),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        {
            "a/views.py": DJANGO_VIEW.replace("@login_required\n", ""),
            "a/urls.py": DJANGO_URLS.format("views.export"),
        },
        id="django: a class becomes a function",
    ),
    pytest.param(
        {
            "a/views.py": DJANGO_CLASS.format(""),
            "a/urls.py": DJANGO_URLS.format("login_required(views.Export.as_view())"),
        },
        {
            "a/views.py": DJANGO_CLASS.format(""),
            "a/urls.py": DJANGO_URLS.format("cache_page(60)(views.Export.as_view())"),
        },
        id="django: the wrapper is gone",
    ),
    pytest.param(
        {
            "a/views.py": DJANGO_CLASS.format(""),
            "a/urls.py": DJANGO_URLS.format("login_required(views.Export.as_view())"),
        },
        {
            "a/views.py": DJANGO_CLASS.format(""),
            "a/urls.py": DJANGO_URLS.format("login_required(views.Export.as_view())").replace(
                "]", ', path("feed/", views.Export.as_view())]'
            ),
        },
        id="django: registered once more",
    ),
    pytest.param(
        {"a/admin.py": FASTAPI.format(", dependencies=[Depends(require_admin)]")},
        {"a/admin.py": "x = 1\n", "a/people.py": FASTAPI.format("")},
        id="fastapi: another router",
    ),
    pytest.param(
        {
            "a/admin.py": FASTAPI.format(""),
            "main.py": "from a import admin\n"
            "app.include_router(admin.router, dependencies=[Depends(current_user)])",
        },
        {
            "a/admin.py": FASTAPI.format(""),
            "main.py": "from a import admin\napp.include_router(admin.router)",
        },
        id="fastapi: included without",
    ),
    pytest.param(
        {"r.go": CHI.format('r.Get("/docs", h.Docs)', "")},
        {"r.go": CHI.format("", 'r.Get("/docs", h.Docs)')},
        id="chi: out of the group",
    ),
    pytest.param(
        {
            "r.go": 'package a\nfunc m() { mux.Handle("/docs", auth.Require(http.HandlerFunc(Docs))) }\n'
            "func Docs(w http.ResponseWriter, r *http.Request) { list(w) }"
        },
        {
            "r.go": 'package a\nfunc m() { mux.HandleFunc("/docs", Docs) }\n'
            "func Docs(w http.ResponseWriter, r *http.Request) { list(w) }"
        },
        id="net/http: unwrapped",
    ),
    pytest.param(
        {"app.js": EXPRESS.format("", "requireUser, "), "orders.js": ORDERS},
        {"app.js": EXPRESS.format("", ""), "orders.js": ORDERS},
        id="express: the middleware of a route",
    ),
    pytest.param(
        {"a.js": EXPRESS.format("router.use(requireUser);", ""), "orders.js": ORDERS},
        {"a.js": "", "b.js": EXPRESS.format("", ""), "orders.js": ORDERS},
        id="express: another router",
    ),
    pytest.param(
        {
            "routes/web.php": LARAVEL.format(
                "Route::get('/docs/{id}', [DocsController::class, 'show']);", ""
            ),
            "DocsController.php": LARAVEL_HANDLER,
        },
        {
            "routes/web.php": LARAVEL.format(
                "", "Route::get('/docs/{id}', [DocsController::class, 'show']);"
            ),
            "DocsController.php": LARAVEL_HANDLER,
        },
        id="laravel: out of the group",
    ),
    pytest.param(
        {"A.java": SPRING.format("@PreAuthorize(\"hasRole('A')\")", "A", "")},
        {"A.java": "class A {}", "B.java": SPRING.format("", "B", "")},
        id="spring: another controller",
    ),
    pytest.param(
        {"P.cs": ASPNET.format(".RequireAuthorization()")},
        {"Q.cs": ASPNET.format(""), "P.cs": ""},
        id="asp.net: minimal",
    ),
    pytest.param(
        {
            "config/routes.rb": RAILS.format('get "m.csv", to: "members#export"'),
            "m.rb": RAILS_HANDLER.format("MembersController", "before_action :authenticate_user!"),
        },
        {
            "config/routes.rb": RAILS.format('get "m.csv", to: "exports#export"'),
            "m.rb": "",
            "e.rb": RAILS_HANDLER.format("ExportsController", ""),
        },
        id="rails: another controller",
    ),
    pytest.param(
        {"a.ts": NEST.format("@UseGuards(AuthGuard)", "A", "")},
        {"b.ts": NEST.format("", "B", ""), "a.ts": ""},
        id="nest: another controller",
    ),
    pytest.param(
        {"a.kt": KTOR.format('authenticate("jwt")')},
        {"b.kt": KTOR.format('route("/")'), "a.kt": ""},
        id="ktor: without its block",
    ),
]


@pytest.mark.parametrize(("base", "head"), HOSTILE)
def test_a_guard_that_is_lost_on_the_way(base: Mapping[str, str], head: Mapping[str, str]) -> None:
    assert _told(base, head)


ORDINARY = [
    pytest.param(
        {
            "a/views.py": DJANGO_CLASS.format("LoginRequiredMixin, "),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        {
            "a/views.py": DJANGO_CLASS.format("CsvMixin, LoginRequiredMixin, "),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        id="django: another mixin in front",
    ),
    pytest.param(
        {"a/views.py": DJANGO_VIEW, "a/urls.py": DJANGO_URLS.format("views.export")},
        {
            "a/views.py": DJANGO_CLASS.format("LoginRequiredMixin, "),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        id="django: a class that asks",
    ),
    pytest.param(
        {"a/views.py": DJANGO_VIEW, "a/urls.py": DJANGO_URLS.format("views.export")},
        {
            "a/views.py": DJANGO_CLASS.format(""),
            "a/urls.py": DJANGO_URLS.format("login_required(views.Export.as_view())"),
        },
        id="django: a wrapper that asks",
    ),
    pytest.param(
        {"a/views.py": DJANGO_VIEW, "a/urls.py": DJANGO_URLS.format("views.export")},
        {
            "a/views.py": DJANGO_CLASS.format("Members, "),
            "a/urls.py": DJANGO_URLS.format("views.Export.as_view()"),
        },
        id="django: a class of a class that nobody sees",
    ),
    pytest.param(
        {"a/admin.py": FASTAPI.format(", dependencies=[Depends(require_admin)]")},
        {
            "a/admin.py": "x = 1\n",
            "a/people.py": FASTAPI.format(""),
            "main.py": "from a import people\n"
            "app.include_router(people.router, dependencies=[Depends(require_admin)])",
        },
        id="fastapi: included with it",
    ),
    pytest.param(
        {"r.go": CHI.format('r.Get("/docs", h.Docs)', "")},
        {"r.go": CHI.format('r.Get("/docs", h.Docs)\nr.Get("/b", h.B)', "")},
        id="chi: one more in the group",
    ),
    pytest.param(
        {"app.js": EXPRESS.format("", "requireUser, "), "orders.js": ORDERS},
        {"app.js": EXPRESS.format("router.use(requireUser);", ""), "orders.js": ORDERS},
        id="express: on the router now",
    ),
    pytest.param(
        {"A.java": SPRING.format("@PreAuthorize(\"hasRole('A')\")", "A", "")},
        {"A.java": "class A {}", "B.java": SPRING.format("", "B", "@PreAuthorize(\"hasRole('A')\")")},
        id="spring: on the method now",
    ),
    pytest.param(
        {"P.cs": ASPNET.format(".RequireAuthorization()")},
        {"P.cs": 'var app = root.MapGroup("/").RequireAuthorization();' + ASPNET.format("")},
        id="asp.net: on the group now",
    ),
    pytest.param({"a.kt": KTOR.format('route("/")')}, {"b.kt": KTOR.format('route("/")')}, id="open before"),
    pytest.param({"P.cs": ASPNET.format("")}, {"P.cs": ASPNET.format(".WithName()")}, id="open before, too"),
]


@pytest.mark.parametrize(("base", "head"), ORDINARY)
def test_a_guard_that_stands_elsewhere(base: Mapping[str, str], head: Mapping[str, str]) -> None:
    assert not _told(base, head)


def test_a_new_route_beside_guarded_ones() -> None:
    base = CHI.format('r.Get("/files", h.Files)\nr.Get("/b", h.B)', "")
    head = CHI.format('r.Get("/files", h.Files)\nr.Get("/b", h.B)', 'r.Get("/export", h.Export)')
    head += "\nfunc (h H) Export(w http.ResponseWriter, r *http.Request) { h.all(w) }"
    assert _told({"r.go": base}, {"r.go": head}) == ["missing"]
    assert not _told({"r.go": base}, {"r.go": head.replace("export", "healthz").replace("Export", "Healthz")})

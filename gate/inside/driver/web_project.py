"""Reaches handlers of web applications by the framework's own test client, and gives them a real request.

Flask, Django and Starlette (FastAPI) are the project's, from its installed dependencies. Routes are found in
the application that the code itself makes; a request is made for each that leads to a function which changed,
with values that its converters take. What needs a login ends at the login: the function behind its decorators
is called as well, with a request at hand.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import json
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from . import argument_values, openapi_requests, sample_rows
from .asgi_routes import each_route
from .django_project import is_there

Act = Callable[[], Any]

_APPLICATIONS = ("main", "app", "application", "api", "asgi", "wsgi", "server")
"""Modules that usually hold a project's application."""
_FACTORIES = ("create_app", "make_app", "get_app", "get_application", "create_application")
_MOST = 6
"""Requests for one function."""
_DEEP = 4
_HOLE = re.compile(r"{(\w+)(?::(\w+))?}")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class FlaskProject:
    """A Flask application, with its contexts pushed for as long as the process lives."""

    def __init__(self, app: Any) -> None:
        self._app = app
        app.config.update(TESTING=True, WTF_CSRF_ENABLED=False, LOGIN_DISABLED=True)
        app.test_request_context("/").push()  # pushes the application's, too
        for extension in list(getattr(app, "extensions", {}).values()):
            database = getattr(extension, "db", extension)  # as Flask-SQLAlchemy 2 kept it
            create = getattr(database, "create_all", None)
            if callable(create):
                _quietly(create)
                _quietly(functools.partial(_fill, database))
        _log_in(getattr(app, "login_manager", None))

    def requests(self, code: types.CodeType) -> Iterator[Act]:
        """A request for each route that leads to that code."""
        for rule in list(self._app.url_map.iter_rules()):
            if code not in codes_of(self._app.view_functions.get(rule.endpoint)):
                continue
            values = {
                name: 1 if "int" in type(converter).__name__.lower() else argument_values.WORD
                for name, converter in getattr(rule, "_converters", {}).items()
            }
            built = rule.build(values, append_unknown=False)
            for method in [m for m in _METHODS if m in (rule.methods or ())] if built else ():
                yield functools.partial(self._ask, built[1], method)

    def _ask(self, path: str, method: str) -> Any:
        body = {"json": {"name": argument_values.WORD}} if method not in ("GET", "DELETE") else {}
        return self._app.test_client().open(path, method=method, **body)


def _fill(database: Any) -> None:
    sample_rows.fill_sqlalchemy(database.metadata, database.engine)


def _log_in(manager: Any) -> None:
    """Let Flask-Login take a request without a session for one of the first user's."""
    load = getattr(manager, "_user_callback", None)
    if callable(load) and _quietly(lambda: load("1")) is not None:
        manager._request_callback = lambda request: _quietly(lambda: load("1"))


class DjangoProject:
    """A Django project that is set up (django_project.py), with a user who may do everything."""

    def __init__(self) -> None:
        self._user: Any = None

    def fill(self) -> None:
        """Give each model a row, the user's own where one refers to users."""
        _quietly(lambda: sample_rows.fill_django(self._someone()))

    def request(self, method: str = "GET") -> Any:
        """A request as a view gets it."""
        client: Any = importlib.import_module("django.test")
        made = client.RequestFactory().generic(method, "/")
        made.user = self._someone()
        sessions = _quietly(
            lambda: importlib.import_module("django.contrib.sessions.backends.signed_cookies")
        )
        made.session = sessions.SessionStore() if sessions else {}
        messages = _quietly(lambda: importlib.import_module("django.contrib.messages.storage.cookie"))
        if messages:
            made._messages = messages.CookieStorage(made)
        return made

    def requests(self, code: types.CodeType) -> Iterator[Act]:
        """Requests for the routes that lead to that code, by somebody who is logged in."""
        urls: Any = importlib.import_module("django.urls")
        for path, view in _patterns(urls.get_resolver(), ""):
            if code in codes_of(view):
                for method in ("GET", "POST"):
                    yield functools.partial(self._ask, path, method)

    def _ask(self, path: str, method: str) -> Any:
        client: Any = importlib.import_module("django.test").Client(raise_request_exception=False)
        user = self._someone()
        if getattr(user, "pk", None):
            _quietly(lambda: client.force_login(user))  # a project may have no sessions
        return client.generic(method, path)

    def _someone(self) -> Any:
        if self._user is None:

            def create() -> Any:
                auth: Any = importlib.import_module("django.contrib.auth")
                model = auth.get_user_model()
                named = {model.USERNAME_FIELD: f"{argument_values.WORD}@{argument_values.HOST}"}
                return model.objects.create(is_superuser=True, is_staff=True, **named)

            self._user = _quietly(create) or _quietly(_nobody)
        return self._user


def _nobody() -> Any:
    """Nobody who is logged in. Raises in a project without users."""
    return importlib.import_module("django.contrib.auth.models").AnonymousUser()


class AsgiProject:
    """A Starlette application, FastAPI's among them."""

    def __init__(self, app: Any) -> None:
        self._app = app

    def requests(self, code: types.CodeType) -> Iterator[Act]:
        """A request for each route that leads to that code."""
        document: dict[str, Any] | None = None
        for template, path, methods, endpoint in _asgi_routes(self._app.routes, "", "", 0):
            if code not in codes_of(endpoint):
                continue
            document = openapi_requests.document_of(self._app) if document is None else document
            for method in [m for m in _METHODS if m in methods]:
                yield from self._as_described(document, template, method)
                body = {"json": {"name": argument_values.WORD}} if method not in ("GET", "DELETE") else {}
                yield functools.partial(self._ask, path, method, body)

    def _as_described(self, document: dict[str, Any], template: str, method: str) -> Iterator[Act]:
        """Requests by the application's own document: with all fields, and with those that it must have."""
        for full in (True, False):
            make = functools.partial(openapi_requests.arguments_for, document, template, method, full=full)
            found = _quietly(make)
            if found is not None:
                yield functools.partial(self._ask, found[0], method, found[1])

    def _ask(self, path: str, method: str, sent: dict[str, Any]) -> Any:
        kind = test_client()
        if kind is not None:
            return kind(self._app, raise_server_exceptions=False).request(method, path, **sent)
        from . import asgi_application  # brings asyncio, which takes longer than most runs

        called = asgi_application.Application(self._app)
        answer = _quietly(lambda: called.request(method, *_encoded(path, sent)))
        called.stop()
        return answer


def test_client() -> Any:
    """Starlette's own client, None where what it needs is not installed: a stand-in for it asks nothing."""
    if not is_there("httpx"):
        return None
    return _quietly(lambda: importlib.import_module("starlette.testclient").TestClient)


def _encoded(path: str, sent: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes]:
    """What a test client makes of its arguments; files are left out."""
    query = urlencode(sent.get("params") or {}, doseq=True)
    headers = [(name, str(value)) for name, value in (sent.get("headers") or {}).items()]
    body = b""
    if "json" in sent:
        headers.append(("content-type", "application/json"))
        body = json.dumps(sent["json"], default=str).encode()
    elif sent.get("data"):
        headers.append(("content-type", "application/x-www-form-urlencoded"))
        body = urlencode(sent["data"]).encode()
    return f"{path}?{query}" if query else path, headers, body


def flask_project(name: str) -> FlaskProject | None:
    """The Flask application that a module (dotted name) belongs to, as Flask's own command finds it."""
    cli: Any = _quietly(lambda: importlib.import_module("flask.cli"))
    if cli is None:
        return None
    app = _quietly(lambda: cli.ScriptInfo().load_app())
    top = name.partition(".")[0]
    for candidate in (name, top, f"{top}.app", f"{top}.main", *_APPLICATIONS):
        if app is not None:
            break
        app = _quietly(functools.partial(_best_app, cli, candidate))
    return _quietly(lambda: FlaskProject(app)) if app is not None else None


def _best_app(cli: Any, name: str) -> Any:
    return cli.find_best_app(importlib.import_module(name))


def asgi_project(name: str) -> AsgiProject | None:
    """The Starlette application that a module belongs to."""
    applications: Any = _quietly(lambda: importlib.import_module("starlette.applications"))
    if applications is None:
        return None
    parts = name.split(".")
    places = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    below = [f"{place}.{word}" for place in places[1:] for word in _APPLICATIONS]
    for candidate in (*places, *below, *_APPLICATIONS):
        module = sys.modules.get(candidate) or _quietly(functools.partial(importlib.import_module, candidate))
        held = list(vars(module).values()) if module is not None else []
        made = next((v for v in held if isinstance(v, applications.Starlette)), None)
        for factory in _FACTORIES if made is None and module is not None else ():
            if callable(getattr(module, factory, None)):
                made = _quietly(getattr(module, factory))
        if isinstance(made, applications.Starlette):
            return AsgiProject(made)
    return None


def prepare_migrations() -> None:
    """Give Alembic's ``op`` a context that writes statements instead of asking a database."""

    def prepare() -> None:
        migration: Any = importlib.import_module("alembic.runtime.migration").MigrationContext
        operations: Any = importlib.import_module("alembic.operations").Operations
        said = {"as_sql": True, "output_buffer": io.StringIO()}
        operations.context(migration.configure(dialect_name="postgresql", opts=said)).__enter__()

    _quietly(prepare)


def codes_of(view: Any, depth: int = 0) -> set[types.CodeType]:
    """The code of a handler: of the function behind its decorators, or of the methods of its class."""
    found: set[types.CodeType] = set()
    if view is None or depth > _DEEP:
        return found
    code = getattr(view, "__code__", None)
    if isinstance(code, types.CodeType):
        found.add(code)
    owner = getattr(view, "view_class", None) or getattr(view, "cls", None)
    if isinstance(view, type) or isinstance(owner, type):
        for one in vars(owner if isinstance(owner, type) else view).values():
            if isinstance(one, types.FunctionType):
                found |= codes_of(one, depth + 1)
    inner = [getattr(view, "__wrapped__", None), getattr(view, "func", None)]
    cells = getattr(view, "__closure__", None) or ()
    inner += [_quietly(functools.partial(getattr, cell, "cell_contents")) for cell in cells]
    for one in inner:
        if isinstance(one, (types.FunctionType, types.MethodType, functools.partial)):
            found |= codes_of(one, depth + 1)
    return found


def requests_for(project: Any, target: Any) -> list[Act]:
    """Requests that lead to a function or method. Empty where no route does."""
    code = getattr(inspect.unwrap(target), "__code__", None) if callable(target) else None
    if project is None or code is None:
        return []
    found: list[Act] = []
    try:
        for act in project.requests(code):
            found.append(act)
            if len(found) >= _MOST:
                break
    except Exception:
        return found
    return found


def _patterns(resolver: Any, before: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Paths with sample values, and the views behind them."""
    for one in resolver.url_patterns if depth <= _DEEP else ():
        path = before + _sample(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from _patterns(one, path, depth + 1)
        else:
            yield "/" + path.lstrip("/"), one.callback


_SAMPLES = {"int": "1", "uuid": "00000000-0000-4000-8000-000000000000", "slug": "gate", "str": "gate"}


def _sample(pattern: object) -> str:
    """A path that the pattern matches, where it is written with converters."""
    route = getattr(pattern, "_route", None)
    if route is None:  # a regular expression: only its plain beginning is known
        return re.sub(r"[\^$]|\(.*?\)", "", str(pattern))
    return re.sub(r"<(?:(\w+):)?\w+>", lambda m: _SAMPLES.get(m[1] or "str", "gate"), str(route))


def _asgi_routes(routes: Any, template: str, before: str, depth: int) -> Iterator[tuple[str, str, Any, Any]]:
    """Of each route: its path as written, the same with samples, its methods, what is behind it."""
    for route in each_route(routes) if depth <= _DEEP else ():
        written = getattr(route, "path", "")
        path = before + _HOLE.sub(lambda m: "1" if m[2] in (None, "int") else "gate", written)
        if getattr(route, "routes", None):
            yield from _asgi_routes(route.routes, template + written, path, depth + 1)
        elif getattr(route, "endpoint", None) is not None:
            yield template + written, path, getattr(route, "methods", None) or ("GET",), route.endpoint


def _quietly(work: Callable[[], Any]) -> Any:
    """What it gives, None where it raises: the code under test is called, and anything may come of that."""
    try:
        return work()
    except Exception:
        return None
    except SystemExit:
        return None

"""A handler takes an object by the number in its address, and does not ask whose it is.

Its neighbours do: they look the object up together with the user who asks, or compare its owner. Whoever
changes the number in the address gets somebody else's object.

Look it up as the neighbours do (`self.get_object()`, `find(number, user)`), or compare the owner.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.routes import is_route
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

Handler = ast.FunctionDef | ast.AsyncFunctionDef

_KEY = regex(r"^(?:pk|id|uuid|number|slug)$|_(?:pk|id|uuid|number)$")
_USER = regex(
    r"^(?:user|me|owner|account|member|customer|tenant|principal|identity|viewer|actor)(?:_id)?$"
    r"|^current_(?:user|account|member|tenant)|^owner|^author|_owner(?:_id)?$|^user_?id$|^created_by"
)
_STAFF = regex(r"admin|staff|superuser|moderator|internal|public", re.IGNORECASE)
_OWN = ("get_object", "get_queryset")
_VIEW = regex(r"(?:ViewSet|APIView|View)$")
_FEWEST = 2


@rule(
    "py.object-of-another",
    "Object taken by its number alone",
    severity="medium",
    confidence="medium",
    topic="auth",
    cwe=(639, 862),
    why="Whoever changes the number in the address gets an object of somebody else.",
    fix="Look the object up together with the user who asks, as the neighbouring handlers do.",
)
def check(module: Module) -> Iterator[Hit]:
    """Handlers with a key among neighbours that all ask for the user as well."""
    if not module.is_web and not module.imports_any("rest_framework", "django"):
        return
    groups: dict[ast.AST | None, list[Handler]] = {}
    for function in module.all(ast.FunctionDef, ast.AsyncFunctionDef):
        if _keys(module, function):
            groups.setdefault(module.class_of(function), []).append(function)
    for owner, handlers in groups.items():
        asks = {handler: _asks_whose(module, handler) for handler in handlers}
        own = isinstance(owner, ast.ClassDef) and _limits_its_objects(module, owner)
        guarded = sum(asks.values())
        for handler in handlers:
            if asks[handler] or _is_for_staff(handler, owner):
                continue
            call = _looked_up(module, handler)
            if call is None:
                continue
            others = len(handlers) - 1
            if (
                own
                or _others_of_model(module, handler, handlers, asks, call)
                or (guarded >= _FEWEST and guarded == others)
            ):
                yield Hit(
                    node=call,
                    message="The neighbours of this handler ask whose object it is; this one does not.",
                    severity=Severity.HIGH,
                )


def _others_of_model(
    module: Module, handler: Handler, handlers: list[Handler], asks: dict[Handler, bool], call: ast.Call
) -> bool:
    """True where another handler looks up the same model by its key and compares its owner, none looks it up
    without, and this one knows who asks.
    """
    model = _model(call)
    if not model or not _knows_user(handler):
        return False
    same = [o for o in handlers if o is not handler and _model(_looked_up(module, o)) == model]
    return bool(same) and all(asks[other] for other in same)


def _model(call: ast.Call | None) -> str:
    """``Task`` of ``session.get(Task, key)``, ``Task.query.get(key)``, ``get_object_or_404(Task)``."""
    if call is None:
        return ""
    parts = [*call.args[:1], *(n for n in ast.walk(call.func) if isinstance(n, ast.Name | ast.Attribute))]
    names = (n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in parts)
    return next((name for name in names if name[:1].isupper() and not name.isupper()), "")


def _knows_user(handler: Handler) -> bool:
    args = (*handler.args.posonlyargs, *handler.args.args, *handler.args.kwonlyargs)
    return any(_USER.search(a.arg) for a in args) or any(
        isinstance(n, ast.Attribute) and n.attr in ("user", "current_user") for n in ast.walk(handler)
    )


def _keys(module: Module, function: Handler) -> list[str]:
    """The parameters by which the address names an object, of a function that answers requests."""
    args = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    owner = module.class_of(function)
    in_view = isinstance(owner, ast.ClassDef) and any(
        _VIEW.search(getattr(base, "id", getattr(base, "attr", ""))) for base in owner.bases
    )
    answers = is_route(module, function) or (in_view and args[:2] == ["self", "request"])
    answers = answers or (owner is None and args[:1] == ["request"] and module.imports_any("django"))
    keys = [name for name in args if _KEY.search(name)] if answers else []
    return keys if len(keys) == 1 and "slug" not in set(args) - {*keys} else []  # the others may name whose


def _looked_up(module: Module, function: Handler) -> ast.Call | None:
    """The first call that takes the key, and whose result the handler keeps."""
    keys = _keys(module, function)
    for node in module.within(function):
        value = node.value if isinstance(node, ast.Assign) else None
        value = value.value if isinstance(value, ast.Await) else value
        if isinstance(value, ast.Call) and any(
            isinstance(given, ast.Name) and given.id in keys
            for given in (*value.args, *(keyword.value for keyword in value.keywords))
        ):
            return value
    return None


def _asks_whose(module: Module, function: Handler) -> bool:
    """True where the user is compared with something, or given to a call together with the key; where a
    method of the class looks it up, or the function behind a name that says so checks.
    """
    keys = _keys(module, function)
    for node in module.within(function):
        if isinstance(node, ast.Compare) and _names_user(module, node):
            return True
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called in _OWN or re.search(
            r"owned|own_|_own$|mine|authori[sz]e|permission|ensure|require|check", called
        ):
            return True
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        has_key = any(isinstance(n, ast.Name) and n.id in keys for part in parts for n in module.within(part))
        if has_key and any(_names_user(module, part) for part in (*parts, node.func)):
            return True
        if has_key and any(
            keyword.arg and _USER.search(keyword.arg.split("__")[0]) for keyword in node.keywords
        ):
            return True
    return False


def _names_user(module: Module, expr: ast.AST) -> bool:
    for node in module.within(expr):
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        if name and _USER.search(name):
            return True
    return False


def _limits_its_objects(module: Module, owner: ast.ClassDef) -> bool:
    """True for a class whose ``get_queryset`` leaves only what the user may see."""
    for item in owner.body:
        if isinstance(item, ast.FunctionDef) and item.name == "get_queryset":
            asked = [node for node in module.within(item) if isinstance(node, ast.Attribute)]
            return any(a.attr == "user" and getattr(a.value, "attr", "") == "request" for a in asked)
    return False


def _is_for_staff(function: Handler, owner: ast.AST | None) -> bool:
    """True where decorators, the class or the function's name say that it is for staff, or for everybody."""
    decorators = [*function.decorator_list, *getattr(owner, "decorator_list", [])]
    said = [function.name, getattr(owner, "name", ""), *(ast.unparse(one) for one in decorators)]
    return any(_STAFF.search(text) for text in said)

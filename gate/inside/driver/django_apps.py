"""A Django project without the applications whose packages cannot be had.

One package that comes from git, or from an index that nobody may ask, keeps a whole project from starting,
though most of its code has nothing to do with it. So what the package brings is left out of the settings, and
then each application of the project whose models need it. Nothing takes its place: what runs, runs as it is,
and what needs the package goes on saying so.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from . import put_off_imports

_LISTS = ("MIDDLEWARE", "AUTHENTICATION_BACKENDS")
MISSING: set[str] = set()
"""Packages that are not there, of which something was left out."""


def leave_out(settings: Any, error: BaseException, folders: list[str], *, begun: bool = True) -> bool:
    """Leave out of the settings what an import failed for that ended Django's start. False where that is
    something else than a package that is nowhere in ``folders``, or nothing can be left out for it.
    ``begun``: also an application whose models need the package.
    """
    top = str(error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if not top or top == "django" or _is_in(top, folders):
        return False
    apps = list(settings.INSTALLED_APPS)
    gone = {app for app in apps if _top(app) == top}
    if not gone and begun:
        name = _begun(error)
        gone = {app for app in apps if name and (app == name or app.startswith(f"{name}.apps."))}
    if not gone:
        return False
    settings.INSTALLED_APPS = [app for app in apps if app not in gone]
    for name in _LISTS:
        asked = getattr(settings, name, None)
        if isinstance(asked, (list, tuple)):
            setattr(settings, name, [one for one in asked if _top(one) != top])
    if not MISSING:
        _let_routes_go()
    MISSING.add(top)
    return True


def _top(name: object) -> str:
    return str(name).partition(".")[0]


def _is_in(top: str, folders: list[str]) -> bool:
    """A module of the tree that is missing is the change's doing, and stays an error."""
    return any(os.path.exists(os.path.join(folder, top + end)) for folder in folders for end in ("", ".py"))


def _begun(error: BaseException) -> str:
    """The application whose models Django was loading; empty elsewhere (its module, its ``ready``)."""
    apps: Any = getattr(sys.modules.get("django.apps"), "apps", None)
    if apps is None or not apps.apps_ready or apps.models_ready:
        return ""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_name == "populate" and code.co_filename.endswith(os.path.join("apps", "registry.py")):
            return str(getattr(step.tb_frame.f_locals.get("app_config"), "name", ""))
        step = step.tb_next
    return ""


def _let_routes_go() -> None:
    """Routes that are included from a missing package are none."""
    urls: Any = importlib.import_module("django.urls")
    conf: Any = importlib.import_module("django.urls.conf")
    include = conf.include

    def including(arg: Any, namespace: Any = None) -> Any:
        try:
            if isinstance(arg, str) and _top(arg) in put_off_imports.PUT_OFF:
                return [], None, None
            return include(arg, namespace=namespace)
        except ModuleNotFoundError as error:
            if _top(error.name) in MISSING:
                return [], None, None
            raise

    urls.include = conf.include = including

"""Makes a Django project usable as its own ``manage.py`` does (tests: django_tests.py).

Django is the project's, from the installed dependencies; nothing of it is needed for the rest of the driver.
Services that no sandbox has are replaced by what Django itself brings: databases by SQLite in memory, caches
and channels by the process's own memory, mail by a list. Whatever fails here is left to the code that is run
next: it says better what is missing.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import re
import sys
from typing import Any

from . import django_apps, django_tables, environment_files, put_off_imports, stand_in

_VARIABLE = "DJANGO_SETTINGS_MODULE"
_MEMORY = "django.core.cache.backends.locmem.LocMemCache"
_OWN_CACHES = ("locmem", "dummy", "filebased", "db.DatabaseCache")
_INI = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_NAMED = re.compile(rb"^\s*(?:DJANGO_SETTINGS_MODULE\s*=\s*[\"']?|addopts\b.*--ds[= ])([\w.]+)", re.MULTILINE)
_MOST = 256 << 10
_TRIES = 6
_MOST_LEFT_OUT = 12
"""Applications that a project may have to do without."""
_DEEPEST = 3
"""Folders below manage.py's in which settings are looked for."""
_SETTINGS = re.compile(rb"^(?:INSTALLED_APPS\s*\+?=|from\s+\.[\w.]*\s+import\s+\*)", re.MULTILINE)
_PREFERRED = ("test", "testing", "tests", "ci", "settings", "dev", "development", "local", "__init__", "base")
"""Names of settings, those first that are made for where no server is."""


def is_there(name: str) -> bool:
    """True for a package that is really installed, not stood in for."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and not isinstance(spec.loader, stand_in.Finder)


def set_up(item: dict[str, Any], failed: list[Exception]) -> bool:
    """Load the settings that the item's ``manage.py`` names and set Django up. True when it is; else what it
    failed with is added to ``failed``, where it was begun.
    """
    manage = item.get("django")
    if not manage or not is_there("django"):
        return False
    folder = os.path.dirname(os.path.abspath(manage))
    name = os.environ.get(_VARIABLE) or settings_for_tests(folder) or settings_named_in(manage)
    if os.path.basename(manage) == "manage.py":  # another script may well be no project's of Django
        name = name or settings_by_place(folder)
    if not name:
        return False
    os.environ[_VARIABLE] = name
    if folder not in sys.path:
        sys.path.insert(0, folder)
    first: list[Exception] = []
    for _ in range(_TRIES + _MOST_LEFT_OUT):
        try:
            settings: Any = importlib.import_module("django.conf").settings
            _without_services(settings)
            importlib.import_module("django").setup()
            return True
        except BaseException as error:
            if not isinstance(error, Exception):
                _forget_half_a_start()
                return False
            left_out = _left_out(error, folder)
            _forget_half_a_start()
            first += [error] if left_out else []
            if not left_out and not environment_files.complete(item, error):
                failed.append(first[0] if first else error)
                return False
    return False


def _left_out(error: Exception, folder: str) -> bool:
    """Does the project start without what was missing? Only settings that were loaded can do without."""
    settings: Any = getattr(sys.modules.get("django.conf"), "settings", None)
    if settings is None or not settings.configured:
        return False
    # An application whose models need it stays where the import can be put off.
    return django_apps.leave_out(
        settings, error, [folder, os.getcwd()], begun=not put_off_imports.ALLOWED
    ) or put_off_imports.put_off(error)


def _forget_half_a_start() -> None:
    """Let Django begin anew: a start that failed leaves it saying only that it was begun before."""
    apps: Any = getattr(sys.modules.get("django.apps"), "apps", None)
    if apps is not None and not apps.ready:
        apps.loading = apps.apps_ready = apps.models_ready = False
        apps.app_configs.clear()
        apps.clear_cache()


def settings_for_tests(folder: str) -> str:
    """The settings module that the configuration of pytest names there, or in the tree's root."""
    for place in (folder, os.getcwd()):
        for name in _INI:
            try:
                with open(os.path.join(place, name), "rb") as file:
                    found = _NAMED.search(file.read(_MOST))
            except OSError:
                continue
            if found:
                return found[1].decode()
    return ""


def settings_named_in(manage: str) -> str:
    """The settings module that a ``manage.py``, or a script that runs the tests, names: the text after the
    variable. Empty for others.
    """
    try:
        with open(manage, "rb") as file:
            tree = ast.parse(file.read(_MOST))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    texts = [(n.lineno, n.col_offset, n.value) for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    words = [value for _, _, value in sorted(texts, key=lambda t: t[:2]) if isinstance(value, str)]
    return next((after for word, after in zip(words, words[1:]) if word == _VARIABLE), "")  # noqa: B905, RUF007  (3.9)


def settings_by_place(folder: str) -> str:
    """The settings module that lies where projects have it, for those that name it in a variable alone: one
    for tests before others. Empty where there is none.
    """
    found: list[tuple[int, str]] = []
    for place, names, files in os.walk(folder):
        deep = 0 if place == folder else os.path.relpath(place, folder).count(os.sep) + 1
        names[:] = (
            sorted(n for n in names if n.isidentifier() and n != "node_modules") if deep < _DEEPEST else []
        )
        in_settings = os.path.basename(place) == "settings"
        for name in files:
            stem, end = os.path.splitext(name)
            if end != ".py" or not (in_settings or stem in ("settings", "settings_test", "test_settings")):
                continue
            path = os.path.join(place, name)
            parts = os.path.relpath(path, folder)[:-3].split(os.sep)
            if _is_settings(path) and all(part.isidentifier() for part in parts):
                kind = stem if in_settings else "test" if "test" in stem else "settings"
                rank = _PREFERRED.index(kind) if kind in _PREFERRED else len(_PREFERRED)
                found.append((rank, ".".join(parts).removesuffix(".__init__")))
    return min(found, key=lambda one: (one[0], one[1].count("."), one[1]))[1] if found else ""


def _is_settings(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return bool(_SETTINGS.search(file.read(_MOST)))
    except OSError:
        return False


def _without_services(settings: Any) -> None:
    """Settings that need no server: in memory what a database, a cache or a broker would hold."""
    databases = settings.DATABASES
    for alias, one in list(databases.items()):
        engine = str(one.get("ENGINE", ""))
        if engine and not engine.endswith(("sqlite3", "spatialite", "dummy")):
            kept = {key: one[key] for key in ("ATOMIC_REQUESTS", "AUTOCOMMIT") if key in one}
            databases[alias] = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:", **kept}
            django_tables.leave_out_what_is_refused()
            mirror = (one.get("TEST") or {}).get("MIRROR")
            if mirror:
                databases[alias]["TEST"] = {"MIRROR": mirror}
    for alias, one in list(settings.CACHES.items()):
        if not any(own in str(one.get("BACKEND", "")) for own in _OWN_CACHES):
            settings.CACHES[alias] = {"BACKEND": _MEMORY, "LOCATION": str(alias)}
    for alias in list(getattr(settings, "CHANNEL_LAYERS", None) or {}):
        settings.CHANNEL_LAYERS[alias] = {"BACKEND": "channels.layers.InMemoryChannelLayer"}


def skip_migrations() -> None:
    """Make test databases from the models: a hundred migrations take longer than the tests."""
    for one in importlib.import_module("django.conf").settings.DATABASES.values():
        one.setdefault("TEST", {})["MIGRATE"] = False


def make_tables() -> None:
    """A database in memory with a table for every model, and mail that goes nowhere, for calls by us."""
    try:
        utils: Any = importlib.import_module("django.test.utils")
        skip_migrations()
        utils.setup_test_environment(debug=False)
        utils.setup_databases(verbosity=0, interactive=False)
    except BaseException:
        return


def labels(paths: list[str], manage: str) -> list[str]:
    """Dotted names of test files as the runner takes them: from the folder of ``manage.py``."""
    folder = os.path.dirname(os.path.abspath(manage))
    names = (os.path.relpath(os.path.abspath(path), folder)[:-3].replace(os.sep, ".") for path in paths)
    return [name for name in names if all(part.isidentifier() for part in name.split("."))]

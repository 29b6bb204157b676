"""What the driver can do with code, one verb for each kind of item.

Items by ``do``:
  idle                                          nothing but what every item does
  import    module, path, calls                 import by name, then call what ``calls`` names
  file      path, calls                         the same for a file that has no module name
  script    path or module, argv [[...], ...]   run as ``__main__`` once per argument list
  doctest   path, module                        the examples in docstrings, or in a text
  test      paths                               pytest where it is there, else unittest and plain functions
  setup     path, commands [[...], ...]         run setup.py once per command
  backend   path                                in-tree PEP 517 backend named by pyproject.toml
  pth       path                                what ``site`` would execute of a .pth file
  shell     path, argv                          sh, bash or what its first line asks for
  program   argv                                a program, with a file of the tree
  javascript       path, call, typed, force     import by node or deno; with ``call`` call what it exports;
                                                with ``force`` an instrumented copy of it
  javascript_main  path, argv                   run by node or deno as the main program
  javascript_test  paths, else                  test files by the project's runner; ``else`` where none is
  there lifecycle path, hooks                         scripts of a package.json, by sh
  make      path, target                        one target of a Makefile, by make, else its recipe by sh
  entry     name, module, attr, argv [[...]]    a console entry point, as its installed command runs it
  force     path, module, targets, seed         lines that nothing reached: forced/runner.py
  pickle    path                                a data file, as the code that loads it unpickles it
  exploit   module, path, seed, targets         attacks on entry points: exploit/runner.py; with ``access``
                                                on who may do what: exploit/access
  guards    module, path, targets               guards with values that they compare: guards/runner.py
  exploit_javascript  path, seed, targets       attacks on routes: javascript/attacks.mjs
``django`` names the ``manage.py`` of a Django project that is set up first, ``folder`` where tests are run,
``names`` what changed: tests that say it come first, ``env`` an example of the variables that are expected.
``calls`` are names as in the module (``total``, ``Cart.total``). ``was`` holds the path (and module, roots)
that an item had before a rename, used where the new path does not exist.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import types
from typing import Any

from . import (
    argument_values,
    call_runner,
    django_project,
    doctest_runner,
    entry_point,
    environment_files,
    make_runner,
    own_modules,
    program_runner,
    put_off_imports,
    setup_runner,
    web_project,
)
from .item_outcome import describe
from .javascript import runner as javascript_runner
from .javascript import tests as javascript_tests

Context = Any
"""driver_child.Context: what the verbs share."""
Item = dict[str, Any]
Report = dict[str, Any]

REPLACED = frozenset({"shell", "program", "javascript_main", "make"})
"""Verbs whose child becomes another program: its exit code is all there is to know."""


CAN_STAND_IN = frozenset({"import", "file", "script", "test", "doctest", "entry", "force", "guards"})
"""Verbs that are tried again with stand-ins for missing packages."""
_SET_UP_SHARE = 0.4
"""The part of the time for calls within which a web application has to be made."""
_FRAMEWORKS = ("django", "flask", "starlette", "alembic")
_TRIES = 6
"""After which an import is tried for the last time."""
_NO_DJANGO = ("AppRegistryNotReady", "ImproperlyConfigured")
"""What code says that was imported although its project could not be set up: not why it could not."""
READERS = frozenset({"script", "shell", "javascript_main"})
"""Verbs that get a line of text as standard input, for code that asks before it acts."""


def _import(item: Item, context: Context) -> Report:
    name = item["module"]
    if not _exists(item):
        if item.get("calls"):
            _as_beside(name, item, context)
        return {"outcome": "absent"}
    if _is_taken(name, item.get("path")):
        return _file(item, context)
    try:
        module = _imported(name, item, context)
    except SystemExit:
        # An import that ends the program hides all that follows: not a look to the end.
        return {"outcome": "ended", "exception": "SystemExit"}
    return _call(item, context, module)


def _imported(name: str, item: Item, context: Context) -> types.ModuleType:
    """The module; where it asks for a Django project that is set up, for Flask's current application
    or for variables that are not set, after that.
    """
    tries = 0
    while tries < _TRIES:
        try:
            return importlib.import_module(name)
        except Exception as error:
            # A project is set up first: of its settings a missing package is left out, not put off.
            if put_off_imports.ALLOWED and (context.set_up(item) or put_off_imports.put_off(error)):
                continue
            tries += 1
            if isinstance(error, ModuleNotFoundError) or not (
                context.set_up(item)
                or context.set_up_flask(name, error)
                or environment_files.complete(item, error)
            ):
                if context.django_failed and type(error).__name__ in _NO_DJANGO:
                    raise context.django_failed[0] from None
                raise
    return importlib.import_module(name)


def _is_taken(name: str, path: str | None) -> bool:
    """True where importing by name would give another module than the tree's file: one that every
    interpreter loads at its start (``sitecustomize``, ``os``) or holds in itself (``time``).
    """
    if path is None or "." in name:
        return False
    if name in sys.builtin_module_names:
        return True
    known = sys.modules.get(name)
    if known is None:
        return False
    file = getattr(known, "__file__", None)
    return not isinstance(file, str) or not os.path.exists(file) or not os.path.samefile(file, path)


def _file(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    try:
        module = put_off_imports.retried(lambda: _loaded(item))
    except SystemExit:
        return {"outcome": "ended", "exception": "SystemExit"}
    return _call(item, context, module)


def _loaded(item: Item) -> types.ModuleType:
    """The module of a file that has no name as one."""
    path = os.path.abspath(item["path"])
    from importlib.machinery import SourceFileLoader

    name = "gate_file_" + "".join(c if c.isalnum() else "_" for c in os.path.basename(path))
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceFileLoader(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _call(item: Item, context: Context, module: types.ModuleType) -> Report:
    """Call what the plan named. A child that the code forked during import does not take part."""
    if os.getpid() != context.channel.pid:
        os._exit(0)
    names = item.get("calls") or []
    if not names:
        return {"outcome": "completed"}
    project = None
    if any(framework in sys.modules for framework in _FRAMEWORKS):
        project = call_runner.bounded(
            lambda: _web_project(module.__name__, item, context), _SET_UP_SHARE * context.total
        )
    caller = call_runner.Caller(
        module,
        channel=context.channel,
        seen=context.seen,
        each=float(context.job.get("each", 1.0)),
        total=context.total,
        describe=lambda error: describe(error, context.roots),
        project=project,
    )
    try:
        caller.run(names, context.start)
    except BaseException as error:  # from beside the calls (another thread, a signal): some were not made
        return {**describe(error, context.roots), "outcome": "ended"}
    return {"outcome": "completed"}


def _web_project(name: str, item: Item, context: Context) -> Any:
    """The web application that the module is a part of, made ready for calls. None where it is in none."""
    if "django" in sys.modules and item.get("django"):
        context.set_up(item)
        if context.django:
            django_project.make_tables()
            project = web_project.DjangoProject()
            project.fill()
            argument_values.SPECIAL["request"] = project.request
            return project
    if "alembic" in sys.modules:
        web_project.prepare_migrations()
    if "flask" in sys.modules:
        return context.flask or web_project.flask_project(name)
    return web_project.asgi_project(name) if "starlette" in sys.modules else None


def _as_beside(name: str, item: Item, context: Context) -> None:
    """What the calls of a new module need is made on the side that lacks the module, too: an application that
    only one side made would be told as new.
    """

    def make() -> None:
        with contextlib.suppress(Exception, SystemExit):
            importlib.import_module(name.rpartition(".")[0] or name.partition(".")[0])
        if any(framework in sys.modules for framework in _FRAMEWORKS):
            _web_project(name, item, context)

    call_runner.bounded(make, _SET_UP_SHARE * context.total)


def _exists(item: Item) -> bool:
    path = item.get("path")
    return path is None or os.path.lexists(path)


def _idle(item: Item, context: Context) -> Report:
    # The material for arguments is laid out here too, so that it is part of every baseline.
    call_runner.lay_out()
    return {"outcome": "completed"}


def _script(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    report: Report = program_runner.script(item, context, describe)
    return report


def _setup(item: Item, context: Context) -> Report:
    return setup_runner.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _backend(item: Item, context: Context) -> Report:
    return program_runner.backend(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _pth(item: Item, context: Context) -> Report:
    return program_runner.pth(item) if _exists(item) else {"outcome": "absent"}


def _shell(item: Item, context: Context) -> Report:
    return program_runner.shell(item) if _exists(item) else {"outcome": "absent"}


def _program(item: Item, context: Context) -> Report:
    return program_runner.program(item) if _exists(item) else {"outcome": "absent"}


def _javascript(item: Item, context: Context) -> Report:
    javascript_runner.become(item, context)
    raise AssertionError("exec came back")


def _exploit_javascript(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    if context.start:
        return {"outcome": "completed"}  # it ended its process: what was told until then counts
    call_runner.lay_out()
    return _javascript(item, context)


def _javascript_main(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    javascript_runner.become_main(item)
    raise AssertionError("exec came back")


def _javascript_test(item: Item, context: Context) -> Report:
    return javascript_tests.run(item, context)


def _make(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    make_runner.become(item, context)
    raise AssertionError("exec came back")


def _entry(item: Item, context: Context) -> Report:
    return entry_point.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def preload(items: list[Item]) -> None:
    """Import what only some verbs need, while our folder is still on sys.path: most jobs start without."""
    if any(item["do"] == "test" for item in items):
        importlib.import_module(__package__ + ".test_runner")
    if any(item["do"] == "pickle" for item in items):
        importlib.import_module(__package__ + ".unpickle")
    if any(item["do"] == "force" for item in items):
        importlib.import_module(__package__ + ".forced.runner")
    if any(item["do"] == "guards" for item in items):
        importlib.import_module(__package__ + ".guards.runner")
        importlib.import_module(__package__ + ".guards.javascript")
    if any(item["do"] == "exploit" for item in items):
        importlib.import_module(__package__ + ".exploit.runner")
        importlib.import_module(__package__ + ".exploit.access.runner")


def _pickle(item: Item, context: Context) -> Report:
    with own_modules.shown():
        from . import unpickle

    return unpickle.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _force(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    with own_modules.shown():
        from .forced import runner

    def load() -> types.ModuleType | None:
        try:
            if not item.get("module") or _is_taken(item["module"], item.get("path")):
                return None
            return _imported(item["module"], item, context)
        except ModuleNotFoundError as error:
            if "missing" in describe(error, context.roots) and not item.get("stand_in"):
                raise
            return None
        except (Exception, SystemExit):
            return None  # the file is forced from its top

    report: Report = runner.run(item, load)
    return report


def _exploit(item: Item, context: Context) -> Report:
    with own_modules.shown():
        from .exploit import asgi_client, bare_django
        from .exploit.access import runner as access
        from .exploit.runner import Attacker

    if not _exists(item):
        return {"outcome": "absent"}
    call_runner.lay_out()
    attacker = Attacker(item, context)
    if bare_django.is_wanted(item):
        with contextlib.suppress(Exception):
            bare_django.set_up()
    if item.get("module") and not _is_taken(item["module"], item.get("path")):
        module = _imported(item["module"], item, context)
    else:
        module = _loaded(item)
    project = None
    if any(framework in sys.modules for framework in _FRAMEWORKS):
        project = call_runner.bounded(
            lambda: _web_project(module.__name__, item, context), _SET_UP_SHARE * context.total
        )
    try:
        if item.get("access"):
            access.attack(item, context, module, project, attacker.asked)
        else:
            attacker.run(module, project)
    finally:
        asgi_client.close()
    return {"outcome": "completed"}


def _guards(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    report: Report
    with own_modules.shown():
        from .guards import javascript, runner

    if item.get("script"):
        report = javascript.run(item, context)
        return report
    runner.listen_to_clocks()
    if item.get("module") and not _is_taken(item["module"], item.get("path")):
        module = _imported(item["module"], item, context)
    else:
        module = _loaded(item)
    report = runner.run(item, context.channel, module)
    return report


def _lifecycle(item: Item, context: Context) -> Report:
    return program_runner.lifecycle(item) if _exists(item) else {"outcome": "absent"}


def _test(item: Item, context: Context) -> Report:
    paths = [path for path in item.get("paths") or [] if os.path.lexists(path)]
    if not paths:
        return {"outcome": "absent"}
    with own_modules.shown():
        from . import test_runner

    report: Report = test_runner.run(paths, context, describe, item)
    return report


def _doctest(item: Item, context: Context) -> Report:
    return doctest_runner.run(item) if _exists(item) else {"outcome": "absent"}


VERBS = {
    "idle": _idle,
    "import": _import,
    "file": _file,
    "script": _script,
    "test": _test,
    "doctest": _doctest,
    "setup": _setup,
    "backend": _backend,
    "pth": _pth,
    "shell": _shell,
    "program": _program,
    "javascript": _javascript,
    "javascript_main": _javascript_main,
    "javascript_test": _javascript_test,
    "lifecycle": _lifecycle,
    "make": _make,
    "entry": _entry,
    "pickle": _pickle,
    "force": _force,
    "exploit": _exploit,
    "exploit_javascript": _exploit_javascript,
    "guards": _guards,
}

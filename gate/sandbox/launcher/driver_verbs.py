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
  javascript       path, call, typed            import by node or deno; with ``call`` call what it exports
  javascript_main  path, argv                   run by node or deno as the main program
  lifecycle path, hooks                         scripts of a package.json, by sh
  make      path, target                        one target of a Makefile, by make, else its recipe by sh
  entry     name, module, attr, argv [[...]]    a console entry point, as its installed command runs it
  pickle    path                                a data file, as the code that loads it unpickles it
``calls`` are names as in the module (``total``, ``Cart.total``). ``was`` holds the path (and module, roots)
that an item had before a rename, used where the new path does not exist.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types
from typing import Any

import driver_calls
import driver_entry
import driver_examples
import driver_javascript
import driver_make
import driver_programs
import driver_setup
import driver_tests
from driver_outcome import describe

Context = Any
"""driver_child.Context: what the verbs share."""
Item = dict[str, Any]
Report = dict[str, Any]

REPLACED = frozenset({"shell", "program", "javascript_main", "make"})
"""Verbs whose child becomes another program: its exit code is all there is to know."""


CAN_STAND_IN = frozenset({"import", "file", "script", "test", "doctest", "entry"})
"""Verbs that are tried again with stand-ins for missing packages."""
READERS = frozenset({"script", "shell", "javascript_main"})
"""Verbs that get a line of text as standard input, for code that asks before it acts."""


def _import(item: Item, context: Context) -> Report:
    name = item["module"]
    if not _exists(item):
        return {"outcome": "absent"}
    if _is_taken(name, item.get("path")):
        return _file(item, context)
    try:
        module = importlib.import_module(name)
    except SystemExit:
        # An import that ends the program hides all that follows: not a look to the end.
        return {"outcome": "ended", "exception": "SystemExit"}
    return _call(item, context, module)


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
    path = os.path.abspath(item["path"])
    from importlib.machinery import SourceFileLoader

    name = "gate_file_" + "".join(c if c.isalnum() else "_" for c in os.path.basename(path))
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path, loader=SourceFileLoader(name, path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SystemExit:
        return {"outcome": "ended", "exception": "SystemExit"}
    return _call(item, context, module)


def _call(item: Item, context: Context, module: types.ModuleType) -> Report:
    """Call what the plan named. A child that the code forked during import does not take part."""
    if os.getpid() != context.channel.pid:
        os._exit(0)
    names = item.get("calls") or []
    if not names:
        return {"outcome": "completed"}
    caller = driver_calls.Caller(
        module,
        channel=context.channel,
        seen=context.seen,
        each=float(context.job.get("each", 1.0)),
        total=context.total,
        describe=lambda error: describe(error, context.roots),
    )
    try:
        caller.run(names, context.start)
    except BaseException as error:  # from beside the calls (another thread, a signal): some were not made
        return {**describe(error, context.roots), "outcome": "ended"}
    return {"outcome": "completed"}


def _exists(item: Item) -> bool:
    path = item.get("path")
    return path is None or os.path.lexists(path)


def _idle(item: Item, context: Context) -> Report:
    # The material for arguments is laid out here too, so that it is part of every baseline.
    driver_calls.lay_out()
    return {"outcome": "completed"}


def _script(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    report: Report = driver_programs.script(item, context, describe)
    return report


def _setup(item: Item, context: Context) -> Report:
    return driver_setup.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _backend(item: Item, context: Context) -> Report:
    return driver_programs.backend(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _pth(item: Item, context: Context) -> Report:
    return driver_programs.pth(item) if _exists(item) else {"outcome": "absent"}


def _shell(item: Item, context: Context) -> Report:
    return driver_programs.shell(item) if _exists(item) else {"outcome": "absent"}


def _program(item: Item, context: Context) -> Report:
    return driver_programs.program(item) if _exists(item) else {"outcome": "absent"}


def _javascript(item: Item, context: Context) -> Report:
    driver_javascript.become(item, context)
    raise AssertionError("exec came back")


def _javascript_main(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    driver_javascript.become_main(item)
    raise AssertionError("exec came back")


def _make(item: Item, context: Context) -> Report:
    if not _exists(item):
        return {"outcome": "absent"}
    driver_make.become(item, context)
    raise AssertionError("exec came back")


def _entry(item: Item, context: Context) -> Report:
    return driver_entry.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def preload(items: list[Item]) -> None:
    """Import what only some verbs need, while our folder is still on sys.path: most jobs start without."""
    if any(item["do"] == "pickle" for item in items):
        importlib.import_module("driver_pickle")


def _pickle(item: Item, context: Context) -> Report:
    import driver_pickle

    return driver_pickle.run(item, context, describe) if _exists(item) else {"outcome": "absent"}


def _lifecycle(item: Item, context: Context) -> Report:
    return driver_programs.lifecycle(item) if _exists(item) else {"outcome": "absent"}


def _test(item: Item, context: Context) -> Report:
    paths = [path for path in item.get("paths") or [] if os.path.lexists(path)]
    if not paths:
        return {"outcome": "absent"}
    report: Report = driver_tests.run(paths, context, describe)
    return report


def _doctest(item: Item, context: Context) -> Report:
    return driver_examples.run(item) if _exists(item) else {"outcome": "absent"}


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
    "lifecycle": _lifecycle,
    "make": _make,
    "entry": _entry,
    "pickle": _pickle,
}

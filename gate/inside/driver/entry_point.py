"""Runs a console entry point as its installed command would: import the module, call the function.

Without arguments, with ``--help``, then with arguments made from the argparse parser it built or from the
click command it is.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from . import argument_values, program_runner


def run(item: dict[str, Any], context: Any, describe: Any) -> Any:
    """One step for each argument list, further ones once the arguments are known."""
    program_runner.watch_parsers()
    argument_values.lay_out()
    steps = [(_name(item, argv), _once(item, argv)) for argv in item.get("argv") or [[]]]

    def more() -> None:
        found = program_runner.click_argv(_target(item)) or program_runner.variants()
        steps.extend((_name(item, argv), _once(item, argv)) for argv in found if argv)

    steps.append((f"{item['name']} variants", more))
    return program_runner.turns(context, describe, steps)


def _name(item: dict[str, Any], argv: list[str]) -> str:
    return f"{item['name']} {' '.join(argv)}".strip()[:200]


def _target(item: dict[str, Any]) -> Any:
    target: Any = importlib.import_module(item["module"])
    for part in filter(None, str(item.get("attr") or "").split(".")):
        target = getattr(target, part)
    return target


def _once(item: dict[str, Any], argv: list[str]) -> Callable[[], Any]:
    def step() -> None:
        sys.argv = [item["name"], *argv]
        target = _target(item)
        if item.get("attr"):
            sys.exit(target())

    return step

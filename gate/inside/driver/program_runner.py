"""Runs what is a program and not a module: scripts, commands, shell scripts, lifecycle scripts, .pth."""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

from . import argument_values, clock_preload, runtimes, serving
from .forced import marks

HOOKS = ("preinstall", "install", "postinstall", "prepare", "prepack", "postpack", "prepublish")
BACKEND_HOOKS = (
    "get_requires_for_build_wheel",
    "get_requires_for_build_sdist",
    "get_requires_for_build_editable",
    "prepare_metadata_for_build_wheel",
    "build_sdist",
    "build_wheel",
    "build_editable",
)
_MOST = 8
_WORKING_SHARE = 0.5
_WORKS = 0.1
"""Processor seconds a second: more is work, however busy the machine is."""
_LOOK = 0.9
"""Seconds between two looks at whether a step works."""
_clock, _processor_time = time.monotonic, time.process_time

Describe = Callable[[BaseException, "list[str]"], "dict[str, Any]"]
_parsers: list[argparse.ArgumentParser] = []


class MissingProgramError(Exception):
    """A program that the sandbox does not have. ``name`` is the program's."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Overtime(BaseException):
    """Raised by the alarm when a script ran longer than its share."""


def turns(context: Any, describe: Describe, steps: list[tuple[str, Callable[[], object]]]) -> dict[str, Any]:
    """Do steps one by one, each announced first, so that a step that ends the process is known and the
    driver goes on behind it in a new child. Each is bounded by ``each_script`` seconds.
    """
    try:
        return _turns(context, describe, steps)
    except BaseException as error:  # from beside the steps (another thread, a signal): some were not done
        return {**describe(error, context.roots), "outcome": "ended"}


def _turns(context: Any, describe: Describe, steps: list[tuple[str, Callable[[], Any]]]) -> dict[str, Any]:
    outcome: dict[str, Any] = {"outcome": "completed"}
    each = serving.patience(context.job)
    index = 0
    while index < len(steps):
        name, step = steps[index]
        if index >= context.start:
            context.channel.say("seen", **context.seen.news())
            context.channel.say("call", name=name, index=index, of=len(steps))
            told = _bounded(step, each, lambda error: describe(error, context.roots), context.until)
            context.channel.say("called", name=name, outcome=told.get("exception", told["outcome"]))
            if told["outcome"] == "timed-out" and context.seen.bound:
                told["outcome"] = "stopped"  # a server waits for ever, and that is all right
            if told["outcome"] in ("timed-out", "stopped", "missing"):
                outcome = told
            if told["outcome"] == "missing":
                break
        index += 1
    return outcome


def _bounded(
    step: Callable[[], Any], seconds: float, describe: Callable[[BaseException], Any], until: float
) -> Any:
    """Do a step. It gets ``seconds``, and more while it works: up to half of what is left ``until`` then
    (time.monotonic()). Importing a large package takes long on a busy machine; waiting is no work.
    """
    armed = [True]
    late: list[bool] = []
    begun = _clock()
    most = begun + max(seconds, _WORKING_SHARE * (until - begun))
    last = [begun, _processor_time()]

    def goes_on() -> bool:
        now, used = _clock(), _processor_time()
        passed = now - last[0]
        if passed < _LOOK:
            return True
        works = used - last[1] >= _WORKS * passed
        last[:] = [now, used]
        return works and now < most

    def over(number: int, frame: Any) -> None:
        if not late and goes_on():
            return
        late.append(True)
        # As in driver_calls: an alarm that comes late ends nothing of ours.
        if armed and (frame is None or frame.f_code is not _bounded.__code__):
            raise _Overtime

    signal.signal(signal.SIGALRM, over)
    told: dict[str, Any] = {"outcome": "timed-out"}
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.25)
        told = _done(step, describe)
    except _Overtime:
        pass
    finally:
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0)
    return told


def _done(step: Callable[[], Any], describe: Callable[[BaseException], Any]) -> Any:
    try:
        step()
    except (_Overtime, SystemExit) as error:
        if isinstance(error, _Overtime):
            raise
    except BaseException as error:
        return describe(error)
    return {"outcome": "completed"}


def script(item: dict[str, Any], context: object, describe: Describe) -> dict[str, Any]:
    """A Python script (``path``) or ``python -m module``, once per argument list, and once more with
    arguments made from the argparse parser it built.
    """
    steps: list[tuple[str, Callable[[], object]]] = []

    def once(argv: list[str]) -> Callable[[], object]:
        return lambda: _as_main(item, argv)

    def more() -> None:
        # Only now is the parser known; its variants are further steps.
        steps.extend((f"script {' '.join(argv)}"[:200], once(argv)) for argv in variants())

    watch_parsers()
    argument_values.lay_out()
    steps.extend((f"script {' '.join(argv)}".strip(), once(argv)) for argv in item.get("argv") or [[]])
    steps.append(("script variants", more))
    return turns(context, describe, steps)


def _as_main(item: dict[str, Any], argv: list[str]) -> None:
    path = os.path.abspath(item["path"])
    sys.argv = [path, *argv]
    if item.get("module"):
        runpy.run_module(item["module"], run_name="__main__", alter_sys=True)
        return
    folder = os.path.dirname(path)
    if sys.path[0] != folder:
        sys.path.insert(0, folder)
    runpy.run_path(path, run_name="__main__")


def watch_parsers() -> None:
    """Remember the parser that the code asks to read its arguments."""
    original = argparse.ArgumentParser.parse_known_args

    def parse(self: argparse.ArgumentParser, *args: object, **kwargs: object) -> Any:
        if not any(
            p is self or (getattr(p, "prog", "") and self.prog.startswith(p.prog + " ")) for p in _parsers
        ):
            _parsers.append(self)
        return original(self, *args, **kwargs)

    argparse.ArgumentParser.parse_known_args = parse  # type: ignore[method-assign]


def variants() -> list[list[str]]:
    """Argument lists that satisfy the parsers seen: what is required, then all switches, for each
    subcommand.
    """
    out: list[list[str]] = []
    for parser in _parsers[:2]:
        out += _for_parser(parser, 0)
    return [argv for n, argv in enumerate(out) if argv and argv not in out[:n]][:_MOST]


def _for_parser(parser: argparse.ArgumentParser, depth: int) -> list[list[str]]:
    required: list[str] = []
    extra: list[str] = []
    commands: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands = list(action.choices.items())
        elif not isinstance(action, (argparse._HelpAction, argparse._VersionAction)):
            words = _words_for(action)
            needed = action.required or (not action.option_strings and action.nargs not in ("?", "*"))
            (required if needed else extra).extend(words)
    if commands and depth < 2:
        return [
            [*required, name, *rest]
            for name, sub in commands[:_MOST]
            for rest in _for_parser(sub, depth + 1) or [[]]
        ]
    return [required, required + extra] if extra else [required]


def _words_for(action: argparse.Action) -> list[str]:
    """Command-line words for one action."""
    flag = list(action.option_strings[-1:])
    if action.nargs == 0:
        return flag
    if action.choices:
        value = str(next(iter(action.choices)))
    elif action.type in (int, float):
        value = "3"
    else:
        guess = argument_values.by_name(action.dest)
        value = str(guess) if isinstance(guess, (str, int, float)) else argument_values.WORD
    count = action.nargs if isinstance(action.nargs, int) else 1
    return flag + [value] * count


def main_acts(function: Callable[..., Any]) -> list[Callable[[], object]]:
    """Calls of a command-line entry point: help, and arguments from its own parser."""
    watch_parsers()

    def with_argv(argv: list[str]) -> object:
        sys.argv = ["gate", *argv]
        try:
            return function()
        except SystemExit:
            return None

    def with_each() -> None:
        for argv in variants():
            with_argv(argv)

    return [lambda: with_argv(["--help"]), with_each]


def click_acts(command: Any) -> list[Callable[[], object]]:
    """Calls of a click command or group: each subcommand with values for what it requires."""

    def run(argv: list[str]) -> Callable[[], Any]:
        return lambda: command.main(args=argv, prog_name="gate", standalone_mode=False)

    return [run(argv) for argv in click_argv(command)]


def click_argv(command: object) -> list[list[str]]:
    """Argument lists for a click command or group; empty for anything else."""
    if not hasattr(command, "params") or not callable(getattr(command, "main", None)):
        return []
    return _click_argv(command, 0)[:_MOST]


def _click_argv(command: object, depth: int) -> list[list[str]]:
    words: list[str] = []
    for parameter in getattr(command, "params", []):
        if not getattr(parameter, "required", False):
            continue
        guess = argument_values.by_name(str(parameter.name))
        choices = getattr(parameter.type, "choices", None)
        kind = getattr(parameter.type, "name", "")
        value = str(choices[0]) if choices else "3" if kind in ("integer", "float") else str(guess)
        options = [o for o in getattr(parameter, "opts", []) if o.startswith("-")]
        words += [*options[:1], value]
    below = getattr(command, "commands", None)
    if isinstance(below, dict) and depth < 2:
        return [[*words, name, *rest] for name, sub in below.items() for rest in _click_argv(sub, depth + 1)]
    return [words]


def backend(item: dict[str, Any], context: object, describe: Describe) -> dict[str, Any]:
    """The hooks of a build backend that lives in the tree (PEP 517, ``backend-path``)."""
    import tomllib

    with open(item["path"], "rb") as file:
        build = tomllib.load(file).get("build-system") or {}
    folder = os.path.dirname(os.path.abspath(item["path"]))
    os.chdir(folder)
    sys.path[:0] = [os.path.join(folder, p) for p in build.get("backend-path") or []]
    name, _, rest = str(build.get("build-backend", "")).partition(":")
    out = argument_values.SCRATCH + "/wheel"
    os.makedirs(out, exist_ok=True)

    def hook(hook_name: str) -> Callable[[], object]:
        def call() -> Any:
            target: Any = importlib.import_module(name)
            for part in rest.split(".") if rest else ():
                target = getattr(target, part)
            function = getattr(target, hook_name, None)
            if function is None:
                return None
            return function(out) if not hook_name.startswith("get_") else function()

        return call

    return turns(context, describe, [(h, hook(h)) for h in BACKEND_HOOKS])


def pth(item: dict[str, Any]) -> dict[str, Any]:
    """Execute the lines that ``site`` executes: those that start with ``import``."""
    folder = os.path.dirname(os.path.abspath(item["path"]))
    with open(item["path"], encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(("import ", "import\t")):
                exec(line)
            elif line.strip() and not line.startswith("#"):
                sys.path.append(os.path.join(folder, line.strip()))
    return {"outcome": "completed"}


def shell(item: dict[str, Any]) -> dict[str, Any]:
    """Become the interpreter that the script's first line asks for. Without such a line it is bash, as it
    would be for somebody who types its name there, or sh where there is no bash. With ``force`` an
    instrumented copy is run, by bash.
    """
    path = os.path.abspath(item["path"])
    if item.get("force"):
        _become_copy(path, item["force"])
    with open(path, "rb") as file:
        first = file.readline(200)
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [w for w in words[1:] if not w.startswith("-")]
    wanted = os.path.basename(words[0]) if words else "bash" if shutil.which("bash") else "sh"
    found = shutil.which(wanted)
    if found is None:
        raise MissingProgramError(wanted)
    os.chdir(os.getcwd())
    os.environ.update(runtimes.NPM)
    clock_preload.report_clock_source(found)
    os.execv(found, [wanted, path, *item.get("argv", [])])


def _become_copy(path: str, force: dict[str, Any]) -> None:
    """Run a script's copy (gate/languages/forcing/shell_copy.py) as a text: there is no file of it."""
    bash = shutil.which("bash")
    if bash is None:
        raise MissingProgramError("bash")
    marks.choose(int(force["seed"]), str(force["mark"]))
    argument_values.lay_out()
    word = str.__str__(marks.Mark())
    with open(path, "rb") as file:
        text = file.read()
    parts = []
    at = 0
    for start, end, made in json.loads(zlib.decompress(base64.b64decode(force["edits"]))):
        parts += [text[at:start], made.replace("@GATE@", word).encode()]
        at = max(at, end)
    copy = b"".join([*parts, text[at:]])
    os.environ.update(runtimes.NPM)
    clock_preload.report_clock_source(bash)
    os.execv(bash, [b"bash", b"-c", copy, os.fsencode(path), *[word.encode()] * 3])


def program(item: dict[str, Any]) -> dict[str, Any]:
    """Become a program such as node, which then gets a file of the tree."""
    argv = [str(word) for word in item["argv"]]
    found = shutil.which(argv[0])
    if found is None:
        raise MissingProgramError(argv[0])
    clock_preload.report_clock_source(found)
    os.execv(found, argv)


def lifecycle(item: dict[str, Any]) -> dict[str, Any]:
    """The package.json scripts that an installation runs, each by sh as npm does."""
    with open(item["path"], "rb") as file:
        scripts = json.load(file).get("scripts") or {}
    folder = os.path.dirname(os.path.abspath(item["path"]))
    missing = ""
    calls = []
    runtimes.offer_node()
    os.environ.update(runtimes.NPM)
    for hook in item.get("hooks") or HOOKS:
        command = scripts.get(hook)
        if not isinstance(command, str) or not command.strip():
            continue
        first = command.split()[0]
        shell = shutil.which("sh")
        if shell is None:
            raise MissingProgramError("sh")
        clock_preload.report_clock_source(shell)
        environment = {**os.environ, "npm_lifecycle_event": hook, "npm_lifecycle_script": command}
        code = subprocess.call(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL)
        calls.append([hook, f"exit {code}"])
        if code == 127:
            missing = next((w for w in ("node", "npm", "npx") if w in command.split()), first)
    if missing:
        return {"outcome": "missing", "missing": missing[:100], "calls": calls}
    return {"outcome": "completed", "calls": calls}

"""A request's text is given to a program where options are read.

`--upload-pack=...`, `--checkpoint-action=...`, `-oProxyCommand=...`: many programs run what an option says.

Put `--` (or `--end-of-options`) before it, or refuse what begins with `-`.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gate.model.rule import Severity
from gate.prescreen.python_ast.containers import added
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.held_checks import about, verdicts
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import PROCESS_CALLS
from gate.prescreen.python_ast.sources import OUTSIDERS
from gate.regex import regex

_RUNNING: Final = frozenset({
    "git", "tar", "find", "rsync", "ssh", "scp", "sftp", "curl", "wget", "zip", "unzip", "sed", "awk", "gawk",
    "less", "man", "psql", "mysql", "mysqldump", "sqlite3", "hg", "svn", "vim", "nmap", "tcpdump", "rg",
    "ffmpeg", "convert", "magick", "node", "python", "python3", "perl", "ruby", "php", "docker", "env",
    "xargs", "make", "gcc", "pip", "npm", "sort", "7z", "gpg", "sendmail", "exiftool", "pandoc", "gs",
})  # fmt: skip
"""Programs that run, load, read or write what an option says."""
_ENDS: Final = frozenset({"--", "--end-of-options"})


@rule(
    "py.option-injection",
    "Option of a program from a request",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(88,),
    why="A value that begins with a dash is an option, and many programs run what one says.",
    fix="Put '--' before the value, or refuse what begins with '-'.",
)
def check(module: Module) -> Iterator[Hit]:
    """Lists of arguments in which a whole argument is what an outsider says, with no ``--`` before it."""
    flow = Flow(module)
    for call, name in module.calls(*PROCESS_CALLS):
        if name.startswith(("os.exec", "os.spawn", "os.startfile", "sh.")):
            continue
        items = _items(module, call, name)
        if len(items) < 2:
            continue
        program = posixpath.basename(flow.text_of(items[0]) or "")
        for before, item in pairwise(items):
            value = item.value if isinstance(item, ast.Starred) else item
            if (flow.text_of(value) or "") in _ENDS:
                break
            if not _takes_value(flow.text_of(before) or "") and _is_option(module, flow, call, value):
                level = Severity.HIGH if program in _RUNNING else None
                message = f"What is sent may be an option of {program or 'the program'}."
                yield Hit(node=call, message=message, severity=level)
                break


_FLAGS: Final = regex(
    r"--(?:no-.*|only-.*|.*-only|oneline|quiet|verbose|all|recursive|stat|colou?r|json|cached|porcelain|raw|bare|force"
    r"|hard|soft|silent|fail|location|compressed|gzip|help|version|archive|delete|dry-run|decorate|graph|patch)$"
)


def _takes_value(option: str) -> bool:
    """``-e``, ``--author``: what follows is its value, whatever it begins with."""
    if option.startswith("--"):
        return len(option) > len("--") and "=" not in option and not _FLAGS.match(option)
    return len(option) == len("-e") and option[0] == "-" and option[1] in "befmoptuC"


def _items(module: Module, call: ast.Call, name: str) -> list[ast.expr]:
    """The arguments in their order, with those that are added to the list afterwards."""
    if name == "asyncio.create_subprocess_exec":
        return [*call.args]
    first = module.arg(call, 0, "args")
    found: list[ast.expr] = []
    todo: list[ast.expr] = [first] if first is not None else []
    for _ in range(12):
        if not todo:
            break
        one = todo.pop(0)
        if isinstance(one, ast.List | ast.Tuple):
            found += one.elts
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add):
            todo[:0] = [one.left, one.right]
        elif isinstance(one, ast.Name):
            bindings = [b for b in module.bindings_of(one) if b.value is not None]
            todo[:0] = [b.value for b in bindings if b.value is not None and b.kind in ("assign", "augment")]
            todo += [node for node in added(module, one) if isinstance(node, ast.expr)]
        elif found:
            found.append(one)
    return found


def _is_option(module: Module, flow: Flow, call: ast.Call, value: ast.expr) -> bool:
    """The text of an outsider from its first letter on, that nothing looked at."""
    if flow.kinds(value).isdisjoint(OUTSIDERS) or flow.tested(call, value):
        return False
    trace = flow.trace(value)
    if not trace.calls.isdisjoint(_PLACED) or any(v != "deny" for v in verdicts(module, call, trace.names)):
        return False
    return not _looks_at_dash(module, call, trace.names) and _begins(module, value)


_PLACED: Final = frozenset(
    {"pathlib.Path", "os.path.join", ".resolve", "os.path.abspath", "os.path.realpath"}
)


def _looks_at_dash(module: Module, call: ast.Call, names: frozenset[str]) -> bool:
    """``branch.startswith("-")`` somewhere in the function."""
    return any(
        isinstance(test.func, ast.Attribute)
        and about(module, test.func.value, names)
        and any((module.text_of(given) or "").startswith("-") for given in test.args)
        for test in module.methods("startswith")
        if module.function_of(test) is module.function_of(call)
    )


def _begins(module: Module, value: ast.expr, depth: int = 0) -> bool:
    """Nothing of the program's own stands before the text: ``f"refs/{branch}"`` is no option."""
    if isinstance(value, ast.JoinedStr) and value.values:
        return not module.text_of(value.values[0])
    if isinstance(value, ast.BinOp):
        first = (module.text_of(value.left) or "").partition("%")[0]
        return isinstance(value.op, ast.Add | ast.Mod) and not first
    if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "format":
        text = module.text_of(value.func.value) if isinstance(value.func, ast.Attribute) else None
        return (text or "{").startswith("{")
    if isinstance(value, ast.Name) and depth < 4:
        made = [b.value for b in module.bindings_of(value) if b.kind == "assign" and b.value is not None]
        return all(_begins(module, one, depth + 1) for one in made)
    return not isinstance(value, ast.Compare | ast.Constant)

"""The code asks several facts that serve only to recognise the machine of an analyst or a sandbox.

One fact has many honest uses: how many processors there are, what the machine is called, whether a
debugger is attached. A tracer and limits and the network card's number together, or the processors, the
memory and the machine's name each held against a written value, tell one machine from all others.

`py.sandbox-probe` tells where a single mark decides what the program does. What is collected and only
reported is told here where it is more than any report needs. Remove the questions, or say what each is for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import match_path

_TELLING: Final = {
    "sys.gettrace": "a tracer", "threading.gettrace": "a tracer", "sys.getprofile": "a tracer",
    "sys.monitoring.get_tool": "a tracer", "resource.getrlimit": "limits", "resource.prlimit": "limits",
    "uuid.getnode": "the network card", "os.getloadavg": "the load", "time.get_clock_info": "the clock",
}  # fmt: skip
"""What few programs ask."""
_EVERYDAY: Final = {
    "os.cpu_count": "processors", "multiprocessing.cpu_count": "processors", "psutil.cpu_count": "processors",
    "os.process_cpu_count": "processors", "os.sched_getaffinity": "processors",
    "psutil.virtual_memory": "memory", "os.sysconf": "memory",
    "shutil.disk_usage": "the disk", "psutil.disk_usage": "the disk",
    "socket.gethostname": "the host name", "socket.getfqdn": "the host name",
    "platform.node": "the host name", "os.uname": "the host name",
    "getpass.getuser": "the user", "os.getlogin": "the user", "pwd.getpwuid": "the user",
    "psutil.boot_time": "the uptime", "importlib.metadata.distributions": "packages",
}  # fmt: skip
"""What many programs ask: counts where it is held against a written value."""
_FILES: Final = {"/proc/uptime": "the uptime", "/proc/meminfo": "memory", "/proc/cpuinfo": "processors"}
_TELLING_FILES: Final = ("/etc/machine-id", "/var/lib/dbus/machine-id", "/sys/class/net")
_WHO: Final = frozenset(("the host name", "the user"))
_ENOUGH: Final = 3


@rule(
    "py.environment-fingerprint",
    "Asks several facts that tell a sandbox",
    severity="medium",
    confidence="medium",
    topic="evasion",
    cwe=(506,),
    attack=("T1497.001", "T1082"),
    why="Malicious code adds up such facts, and acts only where the sum says that nobody watches.",
    fix="Remove the questions, or say in the code what each answer is for.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """One hit a file: at the question that makes them too many."""
    telling = _telling(module)
    asked = [name for name in _EVERYDAY if name in module.call_index]
    files = [(node, text) for node, text in module.texts if text in _FILES]
    facts = {fact for _, fact in telling}
    possible = {_EVERYDAY[name] for name in asked} | {_FILES[text] for _, text in files}
    if len(facts | possible) < _ENOUGH:
        return
    compared = _compared(module, files) if possible else []
    everyday = {fact for _, fact in compared} - facts
    if not (len(facts) >= _ENOUGH or (facts and len(facts | everyday) >= _ENOUGH)) and not (
        len(everyday) >= _ENOUGH and everyday & _WHO
    ):
        return
    seen: set[str] = set()
    for node, fact in sorted((*telling, *compared), key=lambda one: _place(one[0])):
        seen.add(fact)
        if len(seen) == _ENOUGH:
            names = ", ".join(sorted(facts | everyday))
            yield Hit(node=node, message=f"Asks what together tells one machine from all others: {names}.")
            return


def _telling(module: Module) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = [
        (call, fact) for name, fact in _TELLING.items() for call in module.call_index.get(name, ())
    ]
    for node, text in module.texts:
        if what := match_path("probe", text):
            found.append((node, f"a {what}"))
        elif text.startswith(_TELLING_FILES):
            found.append((node, "the machine's number"))
        elif text.startswith("TracerPid"):
            found.append((node, "a tracer"))
    return found


def _compared(module: Module, files: list[tuple[ast.expr, str]]) -> list[tuple[ast.AST, str]]:
    """Everyday facts that are held against a written value, and files that tell one."""
    flow = Flow(module)
    found: list[tuple[ast.AST, str]] = [(node, _FILES[text]) for node, text in files]
    for test in module.all(ast.Compare):
        sides = (test.left, *test.comparators)
        if not any(_is_written(module, side) for side in sides):
            continue
        calls: set[str] = set()
        for node in module.within(test):
            if isinstance(node, ast.Call):
                calls |= set(module.names_of(node.func))
        for side in sides:
            calls |= set(flow.trace(side).calls)
        found += [(test, fact) for name, fact in _EVERYDAY.items() if name in calls]
    return found


def _is_written(module: Module, side: ast.expr) -> bool:
    value = module.const(side)
    values = value if isinstance(value, list) else [value]
    return any(isinstance(one, str | bytes | int | float) and not isinstance(one, bool) for one in values)


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

"""The code finds out whether it is being watched: container markers, hypervisors, debuggers, tiny
machines.

A program that behaves differently under analysis hides something. Asking what machine it is for a log
line is harmless; deciding on it whether to go on is not.

Remove the check.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import dangerous_calls, match_path
from gate.regex import regex

_STRONG = frozenset({"ctypes.windll.kernel32.IsDebuggerPresent", "sys.gettrace", "threading.gettrace"})
_WORDS = regex(
    r"(?i)^(vmware|virtualbox|vbox|qemu|xen|hyper-?v|sandbox|cuckoo|malware|analysis|virus|wireshark|procmon|"
    r"ollydbg|x64dbg|ida|honeypot|tracerpid:?|hypervisor|innotek.*|bochs|parallels|kvm"
    # what a look around in gate's own sandbox finds
    r"|gate_driver_fd|gate_probe|/opt/gate(?:/.*)?|/run/gate(?:/.*)?|/tmp/gate-args(?:/.*)?|/work(?:/(?:tree|home).*|/)?)$"
)
_ENDS = ("sys.exit", "os._exit", "exit", "quit", "os.abort", "os.kill")


@rule(
    "py.sandbox-probe",
    "Looks for a sandbox or debugger",
    severity="low",
    confidence="medium",
    topic="evasion",
    cwe=(506,),
    attack=("T1497", "T1622"),
    why="Code that is quiet while it is watched passes every test and attacks in production.",
    fix="Remove the check, or say why the program must know.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Probe paths, and tests of probes that end the program or guard dangerous calls."""
    words = False
    for node, text in module.texts:
        what = match_path("probe", text)
        if what:
            yield Hit(node=node, message=f"Looks at a {what}.")
        words = words or what is not None or bool(_WORDS.match(text))
    if not words and module.call_index.keys().isdisjoint(_STRONG):
        return
    flow = Flow(module)
    for test in module.all(ast.If, ast.While):
        why = _probe(module, flow, test.test)
        if why and _decides(module, test):
            yield Hit(node=test, message=f"{why} decides what the program does.", severity=Severity.HIGH)


def _probe(module: Module, flow: Flow, test: ast.AST) -> str:
    calls = flow.trace(test).calls
    texts: list[str] = []
    for node in module.within(test):
        if isinstance(node, ast.Call):
            calls = calls | set(module.names_of(node.func))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value)
        if isinstance(node, ast.Name | ast.Attribute | ast.Compare):
            for child in ast.iter_child_nodes(node):
                calls = calls | flow.trace(child).calls
            value = module.const(node)
            texts.extend(
                item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str)
            )
            if isinstance(node, ast.Name):
                bound = [b.value for b in flow.trace(node).nodes if isinstance(b, ast.Constant)]
                texts.extend(text for text in bound if isinstance(text, str))
    if any(match_path("probe", text) for text in texts):
        return "A sandbox marker"
    strong = calls & _STRONG
    if strong:
        return f"{min(strong)}"
    if any(_WORDS.match(text) for text in texts):
        return "The name of an analysis tool or virtual machine"
    return ""


def _decides(module: Module, test: ast.If | ast.While) -> bool:
    nodes: list[ast.AST] = [*test.body, *test.orelse]
    if next(dangerous_calls(module, nodes), None):
        return True
    for top in test.body:
        for node in module.within(top):
            if isinstance(node, ast.Call) and any(name in _ENDS for name in module.names_of(node.func)):
                return True
    return False

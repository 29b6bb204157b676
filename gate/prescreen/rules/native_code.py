"""Machine code is loaded or made executable from Python.

`ctypes.CDLL` of a file that the change brings along, memory made executable, an extension loaded from a
temporary place: none of it can be read or checked by the interpreter's rules.

Use a published extension module; never make memory executable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import NETWORK, REQUEST

_TEMPORARY = ("/tmp/", "/dev/shm/", "/var/tmp/")  # noqa: S108 - looked for, not used
_LOADERS = (
    "ctypes.CDLL", "ctypes.cdll.LoadLibrary", "ctypes.WinDLL", "ctypes.windll.LoadLibrary",
    "ctypes.PyDLL", "cffi.FFI().dlopen", "imp.load_dynamic", "importlib.machinery.ExtensionFileLoader",
    "ctypes.oledll.LoadLibrary",
)  # fmt: skip
_MEMORY = frozenset(
    {
        "VirtualAlloc",
        "VirtualProtect",
        "CreateRemoteThread",
        "WriteProcessMemory",
        "mprotect",
        "RtlMoveMemory",
    }
)
_SYSTEM = (
    "libc.so",
    "libc.dylib",
    "msvcrt",
    "kernel32",
    "user32",
    "libm.so",
    "libpthread",
    "ntdll",
    "advapi32",
    "libdl",
    "shell32",
)


@rule(
    "py.native-code",
    "Native code is loaded",
    severity="medium",
    confidence="medium",
    topic="native",
    cwe=(114, 829),
    attack=("T1106", "T1055"),
    why="Machine code does whatever it likes, past every check Python could make.",
    fix="Depend on a published extension module; name system libraries by ctypes.util.find_library.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Libraries loaded by path or by a computed name; memory made executable."""
    flow = Flow(module)
    for call, name in module.calls(*_LOADERS):
        source = module.arg(call, 1 if name.endswith(("load_dynamic", "FileLoader")) else 0, "name", "path")
        text = module.text_of(source)
        trace = flow.trace(source)
        if trace.kinds & {REQUEST, NETWORK} or any(c.startswith("tempfile.") for c in trace.calls):
            yield Hit(
                node=call, message="A downloaded or temporary library is loaded.", severity=Severity.CRITICAL
            )
        elif text is not None and text.startswith(_TEMPORARY):
            yield Hit(node=call, message="A library in a temporary folder is loaded.", severity=Severity.HIGH)
        elif source is None or module.const(source) is None or "ctypes.util.find_library" in trace.calls:
            continue
        elif text is not None and (text.lower().startswith(_SYSTEM) or "/" not in text):
            yield Hit(node=call, message="A system library is loaded.", severity=Severity.LOW)
        else:
            yield Hit(node=call, message="A library file is loaded.")
    for node in module.all(ast.Attribute):
        if node.attr in _MEMORY and module.imports_any("ctypes", "cffi"):
            yield Hit(node=node, message=f"{node.attr} writes to or protects memory.", severity=Severity.HIGH)
    for call, _ in module.calls("mmap.mmap"):
        for given in [*call.args, *(k.value for k in call.keywords)]:
            if any("mmap.PROT_EXEC" in module.names_of(node) for node in module.within(given)):
                yield Hit(node=call, message="Executable memory is made.", severity=Severity.HIGH)
                break

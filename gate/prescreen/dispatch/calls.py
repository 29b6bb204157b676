"""Which calls look up what they call by a name, and where in them that name stands.

``CALLS``: by the family of a language, the last name of what is called, with the place of the name among the
arguments. Values alone.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final, Literal

Kind = Literal["function", "class", "module"]
Calls = dict[str, tuple[Kind, int]]

RECEIVER: Final = -1
"""The name is what the method is called on."""
_JVM: Final[Calls] = {
    "Class.forName": ("class", 0), "loadClass": ("class", 0), "getMethod": ("function", 0),
    "getDeclaredMethod": ("function", 0), "findVirtual": ("function", 1), "findStatic": ("function", 1),
    "System.load": ("module", 0), "MethodUtils.invokeMethod": ("function", 1),
    "ReflectionUtils.findMethod": ("function", 1),
}  # fmt: skip
_SCRIPT: Final[Calls] = {
    "import": ("module", 0), "require": ("module", 0), "Worker": ("module", 0), "fork": ("module", 0),
    "child_process.fork": ("module", 0), "importScripts": ("module", 0), "Reflect.get": ("function", 1),
    "process.dlopen": ("module", 1), "vm.runInThisContext": ("module", 0),
    "vm.runInNewContext": ("module", 0),
    "vm.runInContext": ("module", 0),
}  # fmt: skip
CALLS: Final[dict[str, Calls]] = {
    "go": {"MethodByName": ("function", 0), "plugin.Open": ("module", 0)},
    "java": _JVM,
    "kotlin": _JVM,
    "csharp": {
        "Type.GetType": ("class", 0), "GetMethod": ("function", 0), "InvokeMember": ("function", 0),
        "Assembly.LoadFrom": ("module", 0), "Assembly.LoadFile": ("module", 0),
        "Assembly.Load": ("module", 0),
        "LoadFromAssemblyPath": ("module", 0), "NativeLibrary.Load": ("module", 0),
    },
    "ruby": {
        "send": ("function", 0), "public_send": ("function", 0), "__send__": ("function", 0),
        "const_get": ("class", 0), "constantize": ("class", RECEIVER),
        "safe_constantize": ("class", RECEIVER),
        "method": ("function", 0), "public_method": ("function", 0), "instance_method": ("function", 0),
        "load": ("module", 0), "require": ("module", 0),
    },
    "php": {
        "call_user_func": ("function", 0), "call_user_func_array": ("function", 0),
        "ReflectionMethod": ("function", 1), "ReflectionFunction": ("function", 0),
        "ReflectionClass": ("class", 0),
    },
    "script": _SCRIPT,
    "python": {
        "getattr": ("function", 1), "importlib.import_module": ("module", 0),
        "import_module": ("module", 0),
        "__import__": ("module", 0), "methodcaller": ("function", 0),
        "operator.methodcaller": ("function", 0),
        "pydoc.locate": ("class", 0), "import_string": ("class", 0), "resolve_name": ("class", 0),
        "attrgetter": ("function", 0), "operator.attrgetter": ("function", 0),
        "__getattribute__": ("function", 0),
        "runpy.run_path": ("module", 0), "runpy.run_module": ("module", 0),
        "spec_from_file_location": ("module", 1), "SourceFileLoader": ("module", 1),
    },
    "rust": {"Library::new": ("module", 0), "libloading::Library::new": ("module", 0)},
}  # fmt: skip
_FAMILIES: Final = {
    ".go": "go", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".cs": "csharp", ".rb": "ruby",
    ".php": "php", ".py": "python", ".rs": "rust",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), "script"),
}  # fmt: skip
SUFFIXES: Final = tuple(_FAMILIES)


ENUMERATES: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "go": (frozenset({"NumMethod"}), frozenset({"Call", "CallSlice"})),
    "java": (frozenset({"getMethods", "getDeclaredMethods"}), frozenset({"invoke"})),
    "kotlin": (
        frozenset({"getMethods", "getDeclaredMethods", "declaredMemberFunctions", "memberFunctions"}),
        frozenset({"invoke", "call"}),
    ),
    "csharp": (frozenset({"GetMethods", "GetRuntimeMethods"}), frozenset({"Invoke"})),
    "python": (frozenset({"getmembers"}), frozenset({"method", "func", "function", "fn", "member",
    "handler"})),
    "script": (frozenset({"getOwnPropertyNames"}), frozenset({"apply", "call"})),
    "php": (frozenset({"get_class_methods", "getMethods"}), frozenset({"invoke", "invokeArgs"})),
}  # fmt: skip
"""What lists the members of an object, and what calls one: together, in one function, a look-up by hand."""


def family_of(path: str) -> str:
    """The family of languages that a file's ending says; empty for none."""
    return _FAMILIES.get(PurePosixPath(path).suffix.lower(), "")


def looked_up(family: str, called: str) -> tuple[Kind, int] | None:
    """What a call of this name looks up, and the place of the name; None for any other call."""
    table = CALLS[family]
    plain = called.replace("?.", ".").replace("->", ".")
    found = table.get(plain)
    if found is None and ("." in plain or "::" in plain):
        last = plain.replace("::", ".").rpartition(".")[2]
        two = ".".join(plain.split(".")[-2:])
        of_any = (
            last if family in ("go", "java", "kotlin", "csharp", "ruby") or last.startswith("spec_") else ""
        )
        found = table.get(two) or table.get(of_any)
        if family == "ruby" and last in ("load", "require"):
            return None  # of an object of one's own, like YAML.load
    return found

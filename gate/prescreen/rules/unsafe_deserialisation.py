"""Data is turned into objects by a format that can run code: pickle, marshal, dill, shelve, joblib,
torch …

Loading such data runs what its author put into it. From a file or a request that somebody else can
write, it is remote code execution.

Use JSON, MessagePack, safetensors, or sign the data and check the signature first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.class_bases import bases_of
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REMOTE

_LOADS = (
    "pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads", "dill.load",
    "dill.loads", "cloudpickle.load", "cloudpickle.loads", "jsonpickle.decode", "jsonpickle.loads",
    "shelve.open", "joblib.load", "pandas.read_pickle", "sklearn.externals.joblib.load", "torch.load",
    "numpy.load", "klepto.archives.file_archive", "yaml.unsafe_load", "yaml.full_load",
    "yaml.unsafe_load_all", "ruamel.yaml.YAML().load", "rpyc.utils.classic.connect",
    "keras.models.load_model", "multiprocessing.connection.Client().recv",
)  # fmt: skip


@rule(
    "py.unsafe-deserialisation",
    "Unsafe deserialisation",
    severity="medium",
    confidence="high",
    topic="exec",
    cwe=(502,),
    attack=("T1059.006",),
    why="Loading the data runs whatever its author put into it.",
    fix="Use json or another data-only format, or verify a signature before loading.",
)
def check(module: Module) -> Iterator[Hit]:
    """Calls of the loaders, but for data the same file just dumped."""
    flow = Flow(module)
    for call, name in module.calls(*_LOADS):
        if name == "torch.load" and (module.is_true(module.arg(call, None, "weights_only"))):
            continue
        if name == "numpy.load" and not module.is_true(module.arg(call, None, "allow_pickle")):
            continue
        if name.startswith(("ruamel.", "keras.")) and not _unsafe(module, call, name):
            continue
        trace = flow.trace(module.arg(call, 0, "file", "data", "f", "filename", "buf", "stream"))
        if any(c.endswith((".dumps", ".dump")) for c in trace.calls):
            continue
        if trace.kinds & REMOTE:
            yield Hit(
                node=call, message=f"{name} loads data that an outsider decides.", severity=Severity.HIGH
            )
        else:
            yield Hit(node=call, message=f"{name} runs code that the data brings along.")
    yield from _yaml(module, flow)


_UNSAFE_LOADERS = frozenset(
    {"Loader", "UnsafeLoader", "FullLoader", "CLoader", "CUnsafeLoader", "CFullLoader"}
)


def _yaml(module: Module, flow: Flow) -> Iterator[Hit]:
    """``yaml.load`` without a loader or with one that makes any object; one that the project made of such a
    loader does the same, and nobody sees it where it is used.
    """
    for call, _ in module.calls("yaml.load", "yaml.load_all"):
        loader = module.arg(call, 1, "Loader")
        own = _own_loader(module, loader)
        names = module.names_of(loader) or _settings_named(module, loader)
        if own or loader is None or any(_makes_anything(name) for name in names):
            network = flow.kinds(module.arg(call, 0, "stream")) & REMOTE
            message = "yaml.load makes any object the text asks for."
            message = f"{message} Its loader is made of {own}." if own else message
            fixed = flow.text_of(module.arg(call, 0, "stream")) is not None
            yield Hit(
                node=call, message=message, severity=Severity.HIGH if network or (own and not fixed) else None
            )
    for call in module.methods("get_single_data", "get_data"):
        made = call.func.value if isinstance(call.func, ast.Attribute) else None
        values = [made] if isinstance(made, ast.Call) else []
        if isinstance(made, ast.Name):
            values = [b.value for b in module.bindings_of(made) if isinstance(b.value, ast.Call)]
        for value in values:
            own = _own_loader(module, value.func)
            if own:
                message = f"This loader makes any object the text asks for: it is made of {own}."
                yield Hit(node=call, message=message, severity=Severity.HIGH)
                break


def _own_loader(module: Module, loader: ast.expr | None) -> str:
    """The unsafe loader of the library that a class of the tree is made from; empty where there is none."""
    found = bases_of(module, loader)
    return next((name for name, own in found if own and _makes_anything(name)), "")


def _makes_anything(name: str) -> bool:
    stem, _, last = name.rpartition(".")
    return last in _UNSAFE_LOADERS and (
        stem in ("yaml", "yaml.loader", "yaml.cyaml", "ruamel.yaml") or not stem
    )


def _unsafe(module: Module, call: ast.Call, name: str) -> bool:
    if name.startswith("keras."):
        return module.is_false(module.arg(call, None, "safe_mode"))
    trace = Flow(module).trace(call.func)
    return any(
        module.text_of(module.arg(node, None, "typ")) == "unsafe"
        for node in trace.nodes
        if isinstance(node, ast.Call)
    )


def _settings_named(module: Module, expr: ast.expr | None) -> tuple[str, ...]:
    """What classes of this file hold under an attribute's name: ``self.config.loader``."""
    if not isinstance(expr, ast.Attribute):
        return ()
    found: list[str] = []
    for node in module.all(ast.Assign, ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
            if name == expr.attr and isinstance(module.parents.get(node), ast.ClassDef):
                found += module.names_of(node.value)
    return tuple(found)

"""An archive is unpacked without a look at the names in it.

A member called `../../.bashrc`, or a link, is written outside of the folder.

Pass `filter="data"` (PEP 706), or check every member's path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import INPUT, NETWORK, REQUEST

_LISTS = frozenset({"namelist", "infolist", "getmembers", "getnames"})
_OPENERS = ("tarfile.open().", "tarfile.TarFile().", "tarfile.TarFile.open().")


@rule(
    "py.archive-extraction",
    "Archive unpacked unchecked",
    severity="medium",
    confidence="medium",
    topic="file",
    cwe=(22,),
    why="Names with ../ in the archive are written outside of the folder.",
    fix="Pass filter='data' to extractall, or check each member's path first.",
)
def check(module: Module) -> Iterator[Hit]:
    """Extractall and extract of tar files without a filter or a test of the names."""
    flow = Flow(module)
    for call in module.methods("extractall", "extract"):
        names = module.names_of(call.func)
        if not any(name.startswith(_OPENERS) for name in names):
            continue
        if module.arg(call, None, "filter") is not None or (
            module.arg(call, 1, "members") is not None and getattr(call.func, "attr", "") == "extractall"
        ):
            continue
        if _filter_set(module) or _names_tested(module, call):
            continue
        trace = flow.trace(call.func)
        opened = next((n.args[0] for n in trace.nodes if isinstance(n, ast.Call) and n.args), None)
        known = module.text_of(opened)
        level = Severity.HIGH if REQUEST in trace.kinds else Severity.LOW if known else None
        yield Hit(node=call, message="A tar file is unpacked without a filter.", severity=level)
    yield from _by_hand(module)
    for call, _ in module.calls("shutil.unpack_archive"):
        if module.arg(call, 3, "filter") is None:
            yield Hit(node=call, message="An archive is unpacked without a filter.", severity=Severity.LOW)


def _by_hand(module: Module) -> Iterator[Hit]:
    """Members that are written one by one, under the names that the archive gives them."""
    if not module.imports_any("zipfile", "tarfile"):
        return
    places = [
        (call, call.args[0])
        for call, _ in module.calls("open", "io.open", "shutil.copyfileobj")
        if call.args and "w" in (module.text_of(module.arg(call, 1, "mode")) or "")
    ]
    places += [
        (call, call.func.value)
        for call in module.methods("write_bytes", "write_text")
        if isinstance(call.func, ast.Attribute)
    ]
    for call, path in places:
        archive = _member_of(module, path)
        if archive is not None and not _names_tested(module, call, _NAME_TESTS):
            kinds = Flow(module).kinds(archive)
            level = Severity.HIGH if kinds & _GIVEN else None
            yield Hit(
                node=call, message="A file is written under a name that an archive gives.", severity=level
            )


def _member_of(module: Module, path: ast.expr, depth: int = 4) -> ast.expr | None:
    """The archive, for ``join(folder, name)`` with ``name`` from its ``namelist()``, ``infolist()`` or
    ``getmembers()``; None for others.
    """
    if depth == 0 or "os.path.basename" in Flow(module).trace(path).calls:
        return None
    for name in module.within(path):
        if not isinstance(name, ast.Name):
            continue
        for binding in module.bindings_of(name):
            above = (up for up in module.above(binding.node) if isinstance(up, ast.For))
            loop = next(above, binding.node)
            archive = _listed(module, loop.iter) if isinstance(loop, ast.For) else None
            if archive is not None and name.id in _targets(loop):
                return archive
            made = binding.value if binding.kind == "assign" and binding.value is not path else None
            if isinstance(made, ast.Call | ast.BinOp):
                archive = _member_of(module, made, depth - 1)
                if archive is not None:
                    return archive
    return None


def _listed(module: Module, source: ast.expr | None, depth: int = 4) -> ast.expr | None:
    """The archive whose members an expression lists, also chosen or sorted among them."""
    if depth == 0 or source is None:
        return None
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr in _LISTS:
        return source.func.value
    if isinstance(source, ast.ListComp | ast.GeneratorExp):
        return _listed(module, source.generators[0].iter, depth - 1)
    if isinstance(source, ast.Call) and module.names_of(source.func)[:1] in (
        ("sorted",),
        ("list",),
        ("tuple",),
    ):
        return _listed(module, source.args[0] if source.args else None, depth - 1)
    if isinstance(source, ast.Name):
        values = [binding.value for binding in module.bindings_of(source) if binding.kind == "assign"]
        return next((a for v in values if (a := _listed(module, v, depth - 1)) is not None), None)
    return None


def _targets(loop: ast.AST) -> set[str]:
    target = getattr(loop, "target", None)
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)} if target is not None else set()


def _filter_set(module: Module) -> bool:
    return any(
        isinstance(t, ast.Attribute) and t.attr == "extraction_filter"
        for n in module.all(ast.Assign)
        for t in n.targets
    )


_GIVEN = frozenset({REQUEST, NETWORK, INPUT})
"""Who hands over an archive that others have packed."""
_NAME_TESTS = frozenset({"name", "filename", "startswith", "is_relative_to", "commonpath", "parts"})
_TESTS = _NAME_TESTS | {"isfile", "islnk", "issym"}


def _names_tested(module: Module, call: ast.Call, tests: frozenset[str] = _TESTS) -> bool:
    """A test in the same function looks at a member's ``name``, ``islnk`` or path."""
    function = module.function_of(call)
    for test in module.all(ast.If, ast.IfExp, ast.Assert):
        if module.function_of(test) is function:
            for node in module.within(test.test):
                if isinstance(node, ast.Attribute) and node.attr in tests:
                    return True
    return False

"""An upload is written under the name the client gave.

The client chooses folder and extension: a script in a served folder, or a file over one of yours.

Make the name yourself, check the type by content, keep uploads out of served folders.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST

_CLEAN = frozenset(
    {
        "werkzeug.utils.secure_filename",
        "werkzeug.secure_filename",
        ".secure_filename",
        "uuid.uuid4",
        "os.path.basename",
        "secure_filename",
    }
)


@rule(
    "py.upload-name",
    "Upload is stored under the client's name",
    severity="high",
    confidence="high",
    topic="injection",
    cwe=(434, 22),
    why="The client chooses where the file goes and what kind it is.",
    fix="Make the file's name yourself, check the type, and keep uploads outside of served folders.",
)
def check(module: Module) -> Iterator[Hit]:
    """open(..., "w") and save() with a name from the request."""
    flow = Flow(module, _CLEAN)
    for call, name in module.calls(
        "open", "io.open", "aiofiles.open", "pathlib.Path().write_bytes", "os.open"
    ):
        path = (
            call.func.value if name.startswith("pathlib.") and isinstance(call.func, ast.Attribute) else None
        )
        path = path or (call.args[0] if call.args else None)
        mode = module.text_of(module.arg(call, 1, "mode")) or ""
        writes = name.startswith("pathlib.") or any(c in mode for c in "wxa")
        if path is not None and writes and REQUEST in flow.kinds(path) and not flow.tested(call, path):
            yield Hit(node=call, message="The client names the file that is written.")
    for call in module.methods("save"):
        path = module.arg(call, 0, "dst")
        if path is None or _is_upload(module, path):
            continue  # ``storage.save(request.files["a"])``: what is saved, not where
        if REQUEST in flow.kinds(path) and not flow.tested(call, path):
            yield Hit(node=call, message="The client names the file that is written.")


def _is_upload(module: Module, expr: ast.expr, depth: int = 3) -> bool:
    """``request.files["photo"]``, ``request.FILES.get("photo")``, a name of one: an upload, and no text."""
    match expr:
        case ast.Name() if depth:
            values = [binding.value for binding in module.bindings_of(expr)]
            return bool(values) and all(v is not None and _is_upload(module, v, depth - 1) for v in values)
        case ast.Subscript(value=ast.Attribute(attr="files" | "FILES")):
            return True
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Attribute(attr="files" | "FILES"))):
            return True
    return False

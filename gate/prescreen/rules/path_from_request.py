"""A path is made from a request and used on the file system.

`../../etc/passwd` leaves the folder it was meant for; an absolute path does so at once.

Resolve the path and check that it is inside the folder, or use `secure_filename` /
`send_from_directory`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Confidence, Severity
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import OUTSIDERS, PARAMETER, REQUEST

_SINKS = (
    "open", "io.open", "os.open", "os.remove", "os.unlink", "os.rmdir", "os.mkdir", "os.makedirs",
    "os.listdir", "os.rename", "os.scandir", "shutil.rmtree", "shutil.copy", "shutil.copyfile",
    "shutil.move", "flask.send_file", "pathlib.Path().read_text", "pathlib.Path().read_bytes",
    "pathlib.Path().write_text", "pathlib.Path().open", "pathlib.Path().write_bytes",
    "pathlib.Path().unlink", "django.http.FileResponse", "codecs.open",
    "fastapi.responses.FileResponse", "starlette.responses.FileResponse", "aiofiles.open",
    "zipfile.ZipFile", "linecache.getlines", "bottle.static_file", "os.chmod",
    "aiohttp.web.FileResponse", "tarfile.open",
)  # fmt: skip
CLEAN: Final = frozenset({
    "werkzeug.utils.secure_filename", "werkzeug.secure_filename", "os.path.basename",
    "werkzeug.utils.safe_join", "werkzeug.security.safe_join", "flask.safe_join", ".secure_filename",
    "secure_filename", "hashlib.sha256", "django.utils._os.safe_join", "uuid.uuid4", "hashlib.md5",
    "hashlib.sha1", "io.BytesIO", "io.StringIO",
})  # fmt: skip


@rule(
    "py.path-from-request",
    "Path from a request",
    severity="medium",
    confidence="high",
    topic="injection",
    cwe=(22, 73, 99),
    why="../ in the value reaches any file the process can read or write.",
    fix="Resolve the path and check is_relative_to(folder), or use werkzeug's safe_join.",
)
def check(module: Module) -> Iterator[Hit]:
    """File functions whose path carries text of a request that no test looked at."""
    flow = Flow(module, CLEAN)
    for call, name in (*module.calls(*_SINKS), *_of_unknown_paths(module)):
        paths: list[ast.expr] = [path for path in call.args[:1] if not _is_open_file(module, path)]
        if name.startswith("pathlib.") and isinstance(call.func, ast.Attribute):
            paths = [call.func.value]
        elif name.endswith(("copy", "copyfile", "move", "rename")):
            paths = [*call.args[:2]]
        elif not paths:
            given = module.arg(call, None, "path", "file", "filename", "path_or_file", "name")
            paths = [given] if given is not None else []
        if name.endswith("Path().open") or not paths:
            pass
        for path in paths:
            kinds = flow.kinds(path)
            if kinds.isdisjoint(OUTSIDERS) or flow.tested(call, path):
                continue
            if REQUEST in kinds:
                yield Hit(node=call, message="A request decides which file is used.", severity=Severity.HIGH)
            else:
                level = Severity.HIGH if _is_below(module, flow, path) else None
                yield Hit(node=call, message="A language model decides which file is used.", severity=level)
            break
    yield from _joined(module)


def _of_unknown_paths(module: Module) -> Iterator[tuple[ast.Call, str]]:
    """Methods that only paths have, of what a function of the file gives back."""
    for call in module.methods("read_text", "read_bytes", "write_text", "write_bytes", "unlink"):
        names = module.names_of(call.func)
        if isinstance(call.func, ast.Attribute) and not any(name.startswith("pathlib.") for name in names):
            yield call, f"pathlib.Path().{call.func.attr}"


def _is_below(module: Module, flow: Flow, path: ast.expr) -> bool:
    """The path is put below a folder of the program's own: what it chooses is meant to stay there."""
    return any(
        isinstance(node, ast.BinOp | ast.JoinedStr)
        or (
            isinstance(node, ast.Call)
            and {"os.path.join", "pathlib.Path().joinpath"} & {*module.names_of(node.func)}
        )
        for node in flow.trace(path).nodes
    )


def _joined(module: Module) -> Iterator[Hit]:
    """A folder and a name, both from the caller, joined and opened without a look at the result."""
    flow = Flow(module, CLEAN)
    for call, _ in module.calls("open", "io.open"):
        path = call.args[0] if call.args else None
        if any(c in (module.text_of(module.arg(call, 1, "mode")) or "") for c in "wxa"):
            continue
        if path is None or flow.kinds(path) != {PARAMETER}:
            continue
        for node in flow.trace(path).nodes:
            if (
                isinstance(node, ast.Call)
                and "os.path.join" in module.names_of(node.func)
                and len(node.args) > 1
            ):
                last = node.args[-1]
                named = isinstance(last, ast.Name) and last.id in _FROM_OUTSIDE
                if named and flow.kinds(last) == {PARAMETER} and not flow.tested(call, last):
                    message = "A file name from the caller is joined to a folder and opened unchecked."
                    yield Hit(node=call, message=message, confidence=Confidence.LOW)
                    break


_FROM_OUTSIDE = frozenset({
    "filename", "file_name", "user_path", "user_file", "requested", "requested_path", "upload_name",
    "user_filename", "requested_file", "user_input",
})  # fmt: skip


def _is_open_file(module: Module, expr: ast.expr) -> bool:
    """A file that is open already: an upload's ``.file``, a parameter that is said to be one."""
    if isinstance(expr, ast.Attribute):
        return expr.attr in ("file", "stream")
    bindings = module.bindings_of(expr) if isinstance(expr, ast.Name) else []
    annotations = [getattr(b.node, "annotation", None) for b in bindings if b.kind == "param"]
    names = [name.rpartition(".")[2] for one in annotations for name in module.names_of(one)]
    return any(name in ("BinaryIO", "TextIO", "IO", "BytesIO", "UploadFile") for name in names)

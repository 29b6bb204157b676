"""Files at a fixed place outside of the project are deleted, moved, replaced or written.

`/etc`, `/usr/bin`, `/var/log`, somebody's home: a program that changes files there by a name in its own
text damages the machine it runs on, or prepares it for something. Whether the file exists where the gate
runs the code does not matter here: the text says what would be done to it.

Work below the project, a temporary folder, or a place that the caller names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.file_places import fixed_places
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import opens_for_writing
from gate.regex import regex

_DELETE = (
    "os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.rmtree", "os.truncate",
    "send2trash.send2trash", "pathlib.Path().unlink", "pathlib.Path().rmdir",
)  # fmt: skip
_MOVE = (
    "os.rename", "os.renames", "os.replace", "shutil.move", "pathlib.Path().rename", "pathlib.Path().replace",
)  # fmt: skip
_COPY = ("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "os.symlink", "os.link")
_WRITE = (
    "open", "io.open", "codecs.open", "pathlib.Path().open", "pathlib.Path().write_text",
    "pathlib.Path().write_bytes", "pathlib.Path().touch", "os.mkdir", "os.makedirs", "os.mknod",
)  # fmt: skip
_OWN = regex(
    r"/(tmp|var/tmp|dev|proc/self|run/user|workspace|github|app|data|work|build|src|mnt|output)(/|$)"
)
_SYSTEM = regex(r"/(etc|s?bin|lib\w*|usr|boot|root|sys|proc|var|home|opt|srv|Library|System)(/|$)")


@rule(
    "py.foreign-files",
    "Changes files at a fixed place outside of the project",
    severity="medium",
    confidence="medium",
    topic="delete",
    cwe=(73, 506),
    attack=("T1485", "T1565.001"),
    why="The machine it runs on loses or gets files that belong to somebody else.",
    fix="Work below the project or a temporary folder, or let the caller name the place.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Deletions and moves away (high in the system's folders); copies and writes into them."""
    for call, name in module.calls(*_DELETE, *_MOVE, *_COPY, *_WRITE):
        place = next((p for p in _places(module, call, name) if _foreign(p)), None)
        if place is None:
            continue
        system = bool(_SYSTEM.match(place)) or place.startswith("~")
        gone = name in _DELETE or name in _MOVE
        if not (gone or system):
            continue
        verb = "Deletes" if name in _DELETE else "Moves" if name in _MOVE else "Writes"
        level = Severity.HIGH if gone and system else Severity.MEDIUM
        yield Hit(node=call, message=f"{verb} files at {place}.", evidence={"path": place}, severity=level)


def _places(module: Module, call: ast.Call, name: str) -> Iterator[str]:
    targets: list[ast.expr] = call.args[:1]
    if name in _COPY:
        targets = call.args[1:2]
    elif name in _MOVE:
        targets = call.args[:2]
    elif name in _WRITE and name.endswith("open") and not opens_for_writing(module, call, name):
        targets = []
    if name.startswith("pathlib.") and isinstance(call.func, ast.Attribute):
        more = call.args[:1] if name in _MOVE else []
        targets = [call.func.value, *more] if targets or not name.endswith("open") else []
        if name.endswith("open") and opens_for_writing(module, call, name):
            targets = [call.func.value]
    for target in targets:
        yield from fixed_places(module, target)


def _foreign(place: str) -> bool:
    return not _OWN.match(place)

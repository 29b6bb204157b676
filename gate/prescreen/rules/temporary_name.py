"""A temporary file is made under a name that others know or can guess.

Between asking for the name and opening it somebody else can put a link there.

Use `tempfile.NamedTemporaryFile`, `mkstemp` or `TemporaryDirectory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.prescreen.ast_module import Module
from gate.prescreen.ast_rule import AstRule, Hit, about

META: Final = about(
    "py.temporary-name",
    "Guessable temporary file",
    "medium",
    "high",
    topic="files",
    cwe=(377, 379),
    why="Somebody else can put a link under that name first.",
    fix="Use tempfile.NamedTemporaryFile, mkstemp or TemporaryDirectory.",
)
_FOLDERS = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - looked for, not used


def check(module: Module) -> Iterator[Hit]:
    """mktemp, and fixed names in shared folders opened for writing."""
    for call, _ in module.calls("tempfile.mktemp", "os.tempnam", "os.tmpnam"):
        yield Hit(node=call, message="The name can be taken by somebody else before it is used.")
    for call, _ in module.calls("open", "io.open"):
        path = module.text_of(call.args[0]) if call.args else None
        mode = module.text_of(module.arg(call, 1, "mode")) or ""
        if path and path.startswith(_FOLDERS) and any(c in mode for c in "wax+"):
            yield Hit(node=call, message="A fixed name in a shared folder is written.")


RULE: Final = AstRule(META, check, __doc__ or "")

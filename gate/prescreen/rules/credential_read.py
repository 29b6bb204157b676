"""The path of a credential file: SSH and cloud keys, package index tokens, browser passwords,
`/etc/shadow`.

A change that opens such a file can send its content away. Few projects have a reason to, and those say
so.

Take the credential from the caller or from the tool that owns it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Severity
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import (
    all_commands,
    joined_path,
    match_path,
    path_texts,
)

_READERS = (
    "open", "io.open", "codecs.open", "os.open", "shutil.copy", "shutil.copyfile", "shutil.copy2",
    "shutil.copytree", "pathlib.Path().read_text", "pathlib.Path().read_bytes", "pathlib.Path().open",
    "sqlite3.connect", "glob.glob", "os.listdir", "os.walk", "zipfile.ZipFile().write",
    "tarfile.open().add", "linecache.getlines",
)  # fmt: skip


@rule(
    "py.credential-read",
    "Credential file is read",
    severity="medium",
    confidence="medium",
    topic="credential",
    cwe=(522, 200),
    attack=("T1552.001",),
    why="What is in these files opens other systems; stolen keys are the usual aim of a malicious package.",
    fix="Let the caller pass the credential, or use the owning tool's own interface.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Reads of credential paths (high), and any other text that is one as a whole."""
    read: set[str] = set()
    for call, name in module.calls(*_READERS):
        sources = [*call.args[:1]]
        if name.startswith("pathlib.") and isinstance(call.func, ast.Attribute):
            sources = [call.func.value]
        if name == "open" and any(c in (module.text_of(module.arg(call, 1, "mode")) or "") for c in "wax"):
            continue
        found = _credential(module, sources)
        if found:
            what, path = found
            read.add(path)
            level = Severity.MEDIUM if match_path("account", path) else Severity.HIGH
            yield Hit(node=call, message=f"Reads {what}.", evidence={"path": path}, severity=level)
    for node, path in _literals(module):
        kind = match_path("credential", path)
        if kind and path not in read:
            yield Hit(node=node, message=f"Names the place of {kind}.", evidence={"path": path})
    for call, command in all_commands(module):
        for word in command.replace("=", " ").split():
            kind = match_path("credential", word.strip("'\"@"))
            if kind:
                message = f"A command takes {kind}."
                yield Hit(node=call, message=message, evidence={"path": word}, severity=Severity.HIGH)


def _credential(module: Module, sources: list[ast.expr]) -> tuple[str, str] | None:
    for source in sources:
        for path in path_texts(module, source):
            what = match_path("credential", path) or match_path("account", path)
            if what:
                return what, path
    return None


def _literals(module: Module) -> Iterator[tuple[ast.AST, str]]:
    for node, text in module.texts:
        if not isinstance(module.parents.get(node), ast.Compare):
            yield node, text
    for call in module.all(ast.Call):
        path = joined_path(module, call)
        if path:
            yield call, path

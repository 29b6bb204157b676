"""Something is written where the system or the next Python starts code from.

Shell start-up files, cron, systemd units, launch agents, authorized keys, `sitecustomize`, git hooks:
what is put there runs again after the change is gone.

Write into the project's own folders; let an installer the user starts do the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import (
    all_commands,
    match_path,
    opens_for_writing,
    path_texts,
)
from gate.regex import regex

_WRITERS = (
    "open", "io.open", "codecs.open", "pathlib.Path().write_text", "pathlib.Path().write_bytes",
    "pathlib.Path().open", "shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.move", "os.rename",
    "os.replace", "os.symlink", "os.link", "winreg.OpenKey", "winreg.CreateKey", "winreg.CreateKeyEx",
    "winreg.SetValueEx", "os.open",
)  # fmt: skip
_COMMAND = regex(
    r"(>>?|\btee\b(\s+-a)?)\s*['\"]?(\S+)|\bcrontab\s+(-(?!l\b)|\S+/)|\bsystemctl\s+(--user\s+)?enable\b"
    r"|\b(schtasks|launchctl\s+load|update-rc\.d)\b|\breg(\.exe)?\s+add\b.*\\Run\b"
)


@rule(
    "py.persistence",
    "Writes to a place that runs code later",
    severity="high",
    confidence="medium",
    topic="persistence",
    cwe=(506, 912),
    attack=("T1546", "T1053", "T1547"),
    why="What is written there runs again at every login, boot or interpreter start.",
    fix="Write into the project's own folders; leave installation to an installer that the user starts.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """Files opened for writing, copied or linked there; shell commands that do it."""
    for call, name in module.calls(*_WRITERS):
        last = name.rpartition(".")[2]
        targets = (
            [*call.args[1:2]]
            if last in ("copy", "copyfile", "copy2", "move", "rename", "replace", "symlink", "link")
            else [*call.args[:2]]
        )
        if name.startswith("pathlib.") and isinstance(call.func, ast.Attribute):
            targets = [call.func.value]
        if last == "open" and not name.startswith("os.") and not opens_for_writing(module, call, name):
            continue
        for target in targets:
            what = next((w for p in path_texts(module, target) if (w := match_path("persistence", p))), None)
            if what:
                yield Hit(node=call, message=f"Writes to a {what}.")
                break
    for call, command in all_commands(module):
        for match in _COMMAND.finditer(command):
            target_text = match.group(3)
            if target_text is None or match_path("persistence", target_text.strip("'\"")):
                yield Hit(node=call, message="A command makes something run later.")
                break

"""Commands of scripts, build files and pipelines whose output is secret by nature, and traces of commands."""

from __future__ import annotations

from collections.abc import Iterator

from gate.languages.commands.command_traces import traced
from gate.languages.commands.reading import statements
from gate.languages.commands.secret_printers import is_shown, printed
from gate.languages.path_roles import is_example, is_test_code
from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.scanners.command_lines import command_lines, holds_commands
from gate.prescreen.text_rule import TextHit, rule


@rule(
    "command.prints-secrets",
    "A command prints secrets into a log or an artefact",
    severity="medium",
    confidence="medium",
    topic="credential",
    cwe=(532, 200, 214),
    attack=("T1552", "T1528"),
    why="Logs and artefacts of a run are read by many more people than its secrets. The command is an "
    "everyday one and looks like a diagnosis; what it answers is the secret itself.",
    fix="Ask for what is needed by name (`docker compose config --quiet`, `kubectl get secret NAME`), give "
    "the answer to the program that wants it, and switch `set -x` off around secrets.",
)
def prints_secrets(view: View) -> Iterator[TextHit]:
    """A new command that answers with secrets and whose answer nobody takes: `docker compose config`,
    `printenv`, `kubectl get secret -o yaml`, `terraform output -json`, `helm get values`, `gh auth token`,
    `git credential fill`, `npm config ls -l`, `pip config debug`, `aws configure export-credentials`, `vault
    read`, `sops -d`, `cat ~/.netrc`, and the like of other tools (the table is
    `gate/languages/commands/secret_printers.py`). Also `set -x`, `bash -x`, `CI_DEBUG_TRACE` and `curl -v`
    where a secret is among what is written down.

    An answer that goes into a variable, to another program (`docker login --password-stdin`) or to a file
    that the text does not name again is nothing.
    """
    if not holds_commands(view) or is_example(view.path):
        return
    level = Severity.LOW if is_test_code(view.path) else None
    for first, last, command in command_lines(view):
        for statement, _ in statements(command):
            told = printed(statement)
            if told is not None and (not told.file or is_shown(told.file, view.text)):
                yield TextHit(
                    message="The output of this command holds secrets, and nothing takes it.",
                    first=first,
                    last=last,
                    evidence={"command": told.command, **({"shown by": told.file} if told.file else {})},
                    shape=f"prints {told.command}",
                    severity=level,
                )
    for number, what in traced(view.text_lines):
        yield TextHit(
            message="Commands are written down with the secrets that they are given.",
            first=number,
            evidence={"by": what},
            shape=f"traces {what}",
            severity=level,
        )

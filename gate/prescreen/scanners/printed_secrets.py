"""Commands of scripts, build files and pipelines whose output is secret by nature, and traces of commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.commands.command_traces import traced
from gate.languages.commands.reading import comment_marks, lines_of, statements
from gate.languages.commands.secret_printers import is_shown, printed
from gate.languages.embedded_commands import may_hold_commands
from gate.languages.path_roles import is_example, is_test_code
from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.text_rule import TextHit, rule
from gate.regex import regex

_AUTOMATED: Final = regex(
    r"(?i)(?:^|/)\.(?:github|gitlab|circleci|buildkite|woodpecker|forgejo|gitea|azure-pipelines|ci|tekton)/"
    r"|(?:^|/)(?:ci|pipelines?|playbooks?|ansible|roles|deploy\w*|scripts)/"
    r"|(?:^|/)(?:action|\.gitlab-ci[^/]*|azure-pipelines[^/]*|\.travis|\.drone|bitbucket-pipelines|appveyor|\.cirrus|cloudbuild"
    r"|buildspec[^/]*|taskfile[^/]*|\.woodpecker[^/]*|[^/]*compose[^/]*)\.ya?ml$"
)
_SCRIPTS: Final = (".sh", ".bash", ".zsh", ".bat", ".cmd", ".ps1", ".psm1", ".fish", "justfile", ".just")
_KEY: Final = regex(r"^(\s*)(?:-\s+)*[\"']?([\w-]+)[\"']?\s*:(?:\s|$)")
_RUN: Final = frozenset(
    {
        "run", "script", "scripts", "before_script", "after_script", "command", "commands", "cmd", "cmds",
        "args", "shell", "bash", "pwsh", "powershell", "inline", "inlineScript", "entrypoint",
        "install", "before_install",
        "build", "deploy", "test", "test_script", "deploy_script", "test_command",
        "pre_build", "post_build", "sh", "raw",
    }
)  # fmt: skip
_MEMBER: Final = regex(r"^\s*\"[^\"]+\"\s*:\s*\"(.*)\",?\s*$")


def _is_read(view: View) -> bool:
    """Of a file that holds commands among other things, the view of these is read."""
    if view.part or view.language in ("shell", "makefile", "dockerfile"):
        return True
    path = view.path.lower()
    named = path.endswith(_SCRIPTS) or path.rpartition("/")[2].startswith("jenkinsfile")
    if may_hold_commands(path):
        return False
    return (
        named or path.endswith("package.json") or (view.language == "yaml" and bool(_AUTOMATED.search(path)))
    )


def _commands(view: View) -> Iterator[tuple[int, int, str]]:
    """Lines of commands, with their first and last number: of YAML those below a key that runs something, of
    make the recipes, of JSON its members.
    """
    lines = view.text_lines
    for line in lines_of(view.text, comment_marks(view.path), folding=view.language == "yaml"):
        text = line.text
        if view.language == "yaml" and not _runs(lines, line.first):
            continue
        if view.language == "makefile" and not lines[line.first - 1].startswith("\t"):
            text = text.partition(";")[2]
        if view.path.endswith(".json"):
            member = _MEMBER.match(text)
            text = member[1] if member else ""
        yield line.first, line.last, text


def _runs(lines: list[str], number: int) -> bool:
    own = _KEY.match(lines[number - 1])
    if own is not None and lines[number - 1].rstrip()[-1:] not in (":", "|", ">"):
        return own[2] in _RUN
    depth = len(lines[number - 1]) - len(lines[number - 1].lstrip())
    for line in reversed(lines[max(0, number - 400) : number - 1]):
        key = _KEY.match(line)
        if key is not None and len(key[1]) < depth + line.lstrip().startswith("-"):
            return key[2] in _RUN
    return False


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
    if not _is_read(view) or is_example(view.path):
        return
    level = Severity.LOW if is_test_code(view.path) else None
    for first, last, command in _commands(view):
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

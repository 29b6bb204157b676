"""Which lines of a file are commands: all of a script, and of pipelines and build files what is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.commands.reading import comment_marks, lines_of
from gate.languages.embedded_commands import may_hold_commands
from gate.prescreen.interface import View
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


def holds_commands(view: View) -> bool:
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


def command_lines(view: View) -> Iterator[tuple[int, int, str]]:
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

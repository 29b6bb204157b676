"""Recipes of make, just and Task that verify something, and whether these go on when they fail.

A check in front of a pipe answers with the last command's status, unless the shell that the file chooses has
``pipefail``. That is one word of a line that no recipe shows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gate.regex import regex

_MAKEFILE: Final = regex(
    r"(?i)(?:^|/)(?:[^/]*makefile[^/]*|[^/]+\.mk|\.?justfile|[^/]+\.just|taskfile[^/]*\.ya?ml)$"
)
_VERIFIES: Final = regex(
    r"\b(?:md5|sha\d{1,3}|b2)sum\b[^|;&]*\s(?:-c|--check)\b|\bshasum\b[^|;&]*\s-[a-z]*c\b|\bgpgv?2?\b.*--verify\b"
    r"|\bcosign\s+verify|\bminisign\s+-V"
    r"|\bopenssl\b.*\s-verify\b|\bslsa-verifier\b|\bcmp\s|\bdiff\s+-q\b"
    r"|\bgh\s+attestation\b|\bgrype\b.*--fail-on\b|\btrivy\b.*--exit-code\b|\bsnyk\s+test\b|\bgovulncheck\b"
    r"|\bpip-audit\b|\b(?:npm|pnpm|yarn|cargo)\s+(?:npm\s+)?audit\b|\bcargo\s+(?:vet|deny)\b|\bgitleaks\b|\bconftest\s"
)
_IGNORES: Final = regex(r"^(?:\.IGNORE\s*:|MAKEFLAGS\s*[+:]?=.*(?:\s-?[a-z]*i|--ignore-errors))")


_ONE_SHELL: Final = regex(r"^\.ONESHELL\s*:")
_PIPEFAIL: Final = regex(
    r"^(?:export\s+)?(?:\.SHELLFLAGS|SHELL)\s*[:+?]*=.*pipefail|^set\s+(?:shell|script-interpreter)\s*:=.*pipefail"
    r"|^\s*set\s*:.*pipefail|^\s*-\s*[\"']?pipefail\b"
)
_PIPE: Final = regex(r"(?<!\|)\|(?!\|)&?")
_ENDS: Final = regex(r"^\.SHELLFLAGS\s*[:+?]*=.*(?:^|\s)-[a-z]*e|^SHELL\s*[:?]*=.*\s-[a-z]*e")


class Recipe(NamedTuple):
    """One line of a recipe that verifies. ``goes_on``: why make goes on when it fails; empty: it stops."""

    command: str
    line: int
    goes_on: str


def is_makefile(path: str) -> bool:
    """Is this a file of make, just or Task?"""
    return bool(_MAKEFILE.search(path))


def goes_on(text: str, path: str = "Makefile") -> list[Recipe]:
    """The recipes that verify."""
    lines = text.split("\n")
    whole = next((line.split("#")[0].strip() for line in lines if _IGNORES.match(line)), "")
    one_shell = any(map(_ONE_SHELL.match, lines)) and not any(map(_ENDS.search, lines))
    piped_status = any(_PIPEFAIL.search(line.partition("#")[0]) for line in lines)
    of_make = path.lower().endswith(("makefile", ".mk")) or "makefile" in path.lower()
    found: list[Recipe] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("\t" if of_make else ("\t", " ")) or len(line) > 500:
            continue
        bare = line.strip() if of_make else line.strip().removeprefix("- ").removeprefix("cmd: ")
        command = bare.lstrip("@+- ")
        check, pipe, _ = _split(command)
        if _VERIFIES.search(check):
            by = "-" if "-" in bare[: len(bare) - len(command)] else whole
            if not by and one_shell and lines[number : number + 1] and lines[number].startswith("\t"):
                by = ".ONESHELL"  # one script without -e: only what its last line says counts
            if not by and pipe and not piped_status and "pipefail" not in command:
                by = "a pipe, and the shell has no pipefail"
            found.append(Recipe(check.strip(), number, by))
    return found


def _split(command: str) -> tuple[str, str, str]:
    """What stands before the first pipe, the pipe, and the rest. A pipe in quotes is none."""
    for match in _PIPE.finditer(command):
        before = command[: match.start()]
        if before.count('"') % 2 == 0 and before.count("'") % 2 == 0 and _VERIFIES.search(before):
            return before, match[0], command[match.end() :]
    return command, "", ""

"""What a shell line starts or destroys other than by a command's own name: commands that start commands,
names made of variables, input that is run, files that a redirection empties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tree_sitter import Node

from gate.languages.commands.interpreters import runs_its_input
from gate.model.sensitive import SensitiveKind
from gate.regex import regex

SHELLS: Final = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish"))
_INTERPRETERS: Final = SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "lua", "deno", "bun"}
WRAPPERS: Final = frozenset(
    (
        *("sudo", "doas", "env", "nohup", "time", "timeout", "xargs", "command", "builtin", "exec", "nice"),
        *("ionice", "stdbuf", "setsid", "coproc", "watch", "chroot", "unshare", "strace", "ltrace", "flock"),
        *("parallel", "busybox", "toybox", "fakeroot", "taskset", "chrt", "unbuffer", "runuser", "nsenter"),
        *("xvfb-run", "pkexec", "catchsegv", "setarch", "proot", "dbus-run-session", "gosu"),
    )
)
"""Commands that start the command which follows."""
_VALUED: Final = frozenset({"-u", "-g", "-n", "-I", "-P", "-L", "-s", "-k", "-C", "-d", "-w", "--user"})
_ONE_FIRST: Final = frozenset({"chroot", "flock", "taskset", "chrt", "gosu"})
_LOOKS: Final = regex(r"-[pvV]+")
_NUMBER: Final = regex(r"[\d.]+[smhd]?")
_FOUND: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_EMPTY: Final = frozenset({":", "true", "cat /dev/null", "echo -n", "printf", "printf %s"})
_HARMLESS_TARGET: Final = regex(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)|&?\d+|-")
_VARIABLE: Final = regex(
    r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::?[-=](?P<default>[\w./-]+))?\}|(?P<plain>[A-Za-z_]\w*))"
)
_POSITIONAL: Final = regex(r"\$(?:\{?[@*]\}?|\{[@*]:[^}]*\})|\$\{?\w+\[[@*]\]\}?")
_MADE: Final = regex(r"[*?\[]|\A[^$]*,")
_NAMED_TOOL: Final = regex(r"[A-Z][A-Z0-9_]*")
_SCRIPT: Final = regex(
    r"(?:.*/)?(?:[\w.$\"{}@*-]*\.(?:sh|bash|zsh|ksh|bats|fish|env)|activate|os-release|lsb-release|\.?bash_completion|env|environment"
    r"|functions|\.?(?:bash|zsh)rc|\.?profile|\.env(?:\.\w+)?|\.envrc)"
)
_ANYBODYS: Final = regex(r"/(?:tmp|var/tmp|dev/shm)/|\$\{?TMPDIR|~|https?:")
_WIDE: Final = regex(r"\*|\A(?:~|\$\{?HOME|\.\.)|\A/(?!tmp/|var/tmp/)")

Values = Mapping[str, frozenset[str]]
"""What variables of the text are set to; ``?`` is what is not known."""
UNKNOWN: Final = "?"


def unwrapped(words: Sequence[str]) -> list[str]:
    """Without what only starts the command that follows, its options and values."""
    words = list(words)
    for _ in range(8):
        name = words[0].rsplit("/", 1)[-1] if words else ""
        if len(words) < 2 or name not in WRAPPERS:
            return words
        if name == "command" and _LOOKS.fullmatch(words[1]) and words[1] != "-p":
            return [name]
        rest = words[1:]
        while rest and (rest[0].startswith("-") or "=" in rest[0] or _NUMBER.fullmatch(rest[0])):
            rest = rest[2:] if rest[0] in _VALUED and len(rest) > 1 else rest[1:]
        if name in _ONE_FIRST and len(rest) > 1:
            rest = rest[1:]
        if not rest:
            return words
        words = rest
    return words


def started(words: Sequence[str]) -> Iterator[list[str]]:
    """The commands that ``find`` starts for what it finds."""
    if not words or words[0].rsplit("/", 1)[-1] not in ("find", "fd", "gfind"):
        return
    for at, word in enumerate(words):
        if word in _FOUND:
            command = []
            for one in words[at + 1 :]:
                if one in (";", "+", "\\;"):
                    break
                command.append(one)
            if command:
                yield unwrapped(command)


def meanings(name: str, values: Values) -> tuple[frozenset[str], bool]:
    """What the name of a command may be once its variables are filled in, and whether it can be more that
    nobody can say.
    """
    found = {""}
    unsure = False
    at = 0
    for match in _VARIABLE.finditer(name):
        between = name[at : match.start()]
        variable = match["braced"] or match["plain"]
        known = values.get(variable, frozenset({match["default"]} if match["default"] else {UNKNOWN}))
        unsure = unsure or UNKNOWN in known
        found = {
            one + between + value
            for one in list(found)[:8]
            for value in sorted(known)[:8]
            if value != UNKNOWN
        }
        at = match.end()
    return frozenset(one + name[at:] for one in found), unsure


def made_name(name: str, values: Values) -> bool:
    """True where nobody can say which program a command starts: its name is put together while running.

    One variable in capitals that the text does not set is a tool that its caller chooses (``$CC``), what ends
    in a plain path is a program of that name.
    """
    if _MADE.search(name) and not name.startswith("["):
        return not name.startswith("$")
    variables = list(_VARIABLE.finditer(name))
    if not variables or _POSITIONAL.fullmatch(name):
        return bool(re.fullmatch(r"\$\{?\d+\}?", name))
    rest = name[variables[-1].end() :]
    if "/" in rest and "$" not in rest:
        return False
    _, unsure = meanings(name, values)
    if not unsure:
        return False
    whole = len(variables) == 1 and not rest and variables[0].start() == 0
    variable = variables[0]["braced"] or variables[0]["plain"]
    if whole and variable not in values:
        return not _NAMED_TOOL.fullmatch(variable)
    return True


def runs_input(words: Sequence[str], node: Node, text: bytes) -> bool:
    """True where the command runs what it is given: by a pipe, a file, a here-document, ``xargs``."""
    if not words:
        return False
    name = words[0].rsplit("/", 1)[-1]
    if name not in _INTERPRETERS or not runs_its_input(" ".join((name, *words[1:]))):
        return False
    if any(child.type == "herestring_redirect" for child in node.named_children):
        return True
    outer = node
    while outer.parent is not None and outer.parent.type in ("redirected_statement", "negated_command"):
        outer = outer.parent
        for child in outer.named_children:
            if child.type in ("heredoc_redirect", "herestring_redirect"):
                return True
            if child.type == "file_redirect" and text[child.start_byte : child.end_byte].lstrip(
                b"0"
            ).startswith(b"<"):
                return True
    piped = outer.parent
    if piped is None or piped.type != "pipeline":
        return piped is not None and piped.type == "heredoc_redirect"
    into = piped.parent is not None and piped.parent.type == "heredoc_redirect"
    return into or piped.named_children[0] != outer


def destroys(words: Sequence[str], first: str) -> SensitiveKind | None:
    """Deletion by what the arguments say. ``first`` is the command before its wrappers were taken off."""
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name in ("rm", "unlink", "srm") and (
        first in ("xargs", "find", "parallel") or any(_WIDE.search(word) for word in words[1:])
    ):
        return SensitiveKind.DELETION
    if name in _INTERPRETERS and first in ("xargs", "parallel", "find") and not _has_script(words):
        return SensitiveKind.DYNAMIC_CODE
    return None


def _has_script(words: Sequence[str]) -> bool:
    """``python tool.py {}``: the program is named, what is found is its argument."""
    return any(word[:1] not in "-{$" and ("/" in word or "." in word[1:]) for word in words[1:])


def sourced(words: Sequence[str]) -> bool:
    """True where a shell is to read commands from a file that is no script by its name, or that anybody can
    have written.
    """
    if len(words) < 2 or words[0] not in (".", "source"):
        return False
    return bool(_ANYBODYS.search(words[1])) or not _SCRIPT.fullmatch(words[1])


def emptied(node: Node, text: bytes) -> bool:
    """True for a redirection whose only work is to empty a file: ``: > x``, ``> x``, ``echo -n > x``."""
    body = node.child_by_field_name("body")
    said = " ".join(text[body.start_byte : body.end_byte].decode("utf-8", "replace").split()) if body else ""
    if re.sub(r"\s*(?:\"\"|'')\Z", "", said) not in _EMPTY and body is not None:
        return False
    for child in node.named_children:
        written = text[child.start_byte : child.end_byte].decode("utf-8", "replace")
        match = re.fullmatch(r"[12&]?>\|?\s*[\"']?([^>\"'].*?)[\"']?", written, re.DOTALL)
        if child.type == "file_redirect" and match and not _HARMLESS_TARGET.fullmatch(match[1].strip()):
            return True
    return False

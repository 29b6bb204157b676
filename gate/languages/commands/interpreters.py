"""Does a command run what it is given on its standard input?"""

from __future__ import annotations

import re
from typing import Final

from gate.regex import regex

SHELL: Final = r"(?:ba|z|da|k|a|c|tc|fi)?sh"
INTERPRETER: Final = (
    rf"(?:{SHELL}|pwsh|powershell|python[\d.]*|pypy[\d.]*|node|nodejs|perl|ruby|php|bun|deno|lua)(?:\.exe)?"
)
_SHELL: Final = regex(rf"(?:{SHELL}|pwsh|powershell)(?:\.exe)?", re.IGNORECASE)
_OTHER: Final = regex(rf"{INTERPRETER}", re.IGNORECASE)
_THE_SHELL: Final = regex(r"\$\{?(?:SHELL|BASH|0)\b")
_BEFORE: Final = frozenset((
    "sudo", "env", "exec", "nohup", "time", "command", "doas", "nice", "busybox", "timeout",
    "stdbuf", "setsid", "chroot", "ionice", "unbuffer", "then", "do",
))  # fmt: skip
_WITH_WORD: Final = frozenset(("-u", "-g", "-n", "-k", "-s", "-I", "-i", "-d", "-L", "-P", "--user"))
_GIVEN: Final = regex(r"\w+=(?:\"[^\"]{0,500}\"|'[^']{0,500}')")
_REDIRECTION: Final = regex(r"\d?>{1,2}\s*&?\s*[^\s;|&\"')]+|\d?<&?\s*(?!\()[^\s;|&\"')]+")
_ENDS: Final = regex(r"[\"'`\])}]|\\n")
_STDIN: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_EVALUATES: Final = regex(
    r"\b(?:exec|eval|system|compile)\b.{0,200}\bstdin\b|<STDIN>.{0,200}\beval\b", re.IGNORECASE
)
_XARGS: Final = regex(
    rf"\s(?:\S{{0,80}}/)?{SHELL}(?:\.exe)?[\"']?,?\s+[\"']?(?:-[a-z]+\s+){{0,3}}-[a-z]*c\b[\"']?,?\s*(.*)",
    re.DOTALL,
)
_REPLACED: Final = regex(r"\s-I[\s\"',]*([^\s\"',]{1,20})")
_ITS_ARGUMENT: Final = regex(r"[\s\"'\\`(]*(?:(?:eval|exec|sudo)[\s\"'\\]+)*(?:$|\$\{?[0-9@*]|[<>|])")
_HEREDOC: Final = regex(r"[^#\n'\"\\]*(?<![<\d])<<-?\s*\w")
_IN_QUOTES: Final = regex(r"'[^'\n]*'|\"[^\"\n]*\"")
_TO_SHELL: Final = regex(rf">\(\s*(?:\w+\s+)?{SHELL}\b")
_LONGEST: Final = 2000


def runs_its_input(command: str) -> bool:
    """``sh``, ``sudo -E bash -s -- -y``, ``python3 -``, ``iex``; not ``python -m json.tool``, ``sh x.sh``.

    Nor ``bash -n`` (it runs nothing), ``python3 - <<E`` (that is its input), ``xargs -n1 bash x.sh``.
    """
    text = command[:_LONGEST]
    if _TO_SHELL.search(text):
        return True
    if "<<" in text and _HEREDOC.match(_IN_QUOTES.sub("_", text)):
        return False
    opened = _GIVEN.sub("X=_", _REDIRECTION.sub(" ", text)).lstrip(" \t\"'({[&")
    end = _ENDS.search(opened)
    words = (opened[: end.start()] if end and not _THE_SHELL.match(opened) else opened).split()
    words = _without_prefix(words)
    if not words:
        return False
    if words[0] == "xargs":
        return _takes_commands(text[text.index("xargs") :])
    name = words[0].rstrip(";").rsplit("/", 1)[-1].lower()
    if _THE_SHELL.match(words[0]) or _SHELL.fullmatch(name):
        return _shell_reads(words[1:], power="p" in name)
    if name == "parallel":
        return all(word.startswith("-") or word.isdigit() for word in words[1:])
    if name in ("source", "."):
        return any(word in _STDIN for word in words[1:])
    if name in ("iex", "invoke-expression", "eval"):
        return True
    return bool(_OTHER.fullmatch(name)) and _other_reads(words[1:], text)


def _without_prefix(words: list[str]) -> list[str]:
    """After ``sudo -u root env A=1`` and the like."""
    at = 0
    while at < len(words):
        word = words[at]
        if word.rsplit("/", 1)[-1].lower() in _BEFORE:
            at += 1
            while at < len(words) and (words[at].startswith("-") or words[at][0].isdigit()):
                at += 2 if words[at] in _WITH_WORD else 1
        elif re.match(r"[A-Za-z_]\w*=", word):
            at += 1
        else:
            break
    return words[at:]


def _takes_commands(command: str) -> bool:
    """``xargs sh -c``, ``xargs -I{} sh -c {}``: what was read is the command, and no argument of one."""
    match = _XARGS.search(command)
    if match is None:
        return False
    text = match[1]
    for name in _REPLACED.findall(command[: match.start()]) or ("{}",):
        text = text.replace(name, "$0")
    return bool(_ITS_ARGUMENT.match(text))


def _shell_reads(rest: list[str], *, power: bool) -> bool:
    skip = False
    if not power and "+n" not in rest:
        at = next((n for n, word in enumerate(rest) if not word.startswith("-") or "s" in word), len(rest))
        if any(re.fullmatch(r"-[a-z]*n[a-z]*", word) for word in rest[:at]):
            return False
    for word in rest:
        if skip:
            skip = False
        elif word in _STDIN:
            return True
        elif word.startswith(("-", "+")) and not word.startswith("--"):
            if "s" in word or "c" in word.lower():
                return "s" in word and "c" not in word
            skip = word.endswith(("o", "O"))
        elif not word.startswith("--"):
            return False
    return True


def _other_reads(rest: list[str], text: str) -> bool:
    for word in rest:
        if word in _STDIN:
            return True
        if re.match(r"-[a-zA-Z]*[mcepnr]|--(?:eval|print)", word):
            return bool(_EVALUATES.search(text))
        if word == "run" or word.startswith("-") or re.match(r"\w+=", word):
            continue
        return False
    return True

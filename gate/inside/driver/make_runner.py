"""Runs one target of a Makefile: by make where the sandbox has it, else its recipe by sh.

Without make the file is read in a simple way: plain rules, plain variables, prerequisites that are targets.
Pattern rules, includes and make's own functions (but ``shell``) are left out then, and the report says so.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import Any

from . import clock_preload, program_runner, runtimes

_ASSIGN = re.compile(r"^\s*(?:export\s+|override\s+)?([\w.-]+)\s*(\?|\+|:{0,3}|!)=\s*(.*)$")
_RULE = re.compile(r"^([^\t#=:][^=:]*?)\s*::?(?!=)\s*([^=]*?)(?:;(.*))?$")
_REFERENCE = re.compile(r"\$(?:\$|[@<^?*%+]|\(([^()$]*)\)|\{([^{}$]*)\})")
_DEEP = 4
_LONG = 20_000


def become(item: dict[str, Any], context: Any) -> None:
    """Execute make, or sh with the recipe; comes back only by MissingProgramError."""
    folder, name = os.path.split(os.path.abspath(item["path"]))
    os.chdir(folder)
    os.environ.update(runtimes.NPM)
    make = shutil.which("make")
    if make is not None:
        clock_preload.report_clock_source(make)
        os.execv(make, ["make", "-f", name, "--", item["target"]])
    shell = shutil.which("sh")
    if shell is None:
        raise program_runner.MissingProgramError("make")
    with open(name, encoding="utf-8", errors="replace") as file:
        script = recipe(file.read(), item["target"])
    context.channel.say("report", by="sh")
    clock_preload.report_clock_source(shell)
    os.execv(shell, ["sh", "-c", script])


def recipe(text: str, target: str) -> str:
    """The target's commands as a shell script, those of its prerequisites first. Empty when it has none."""
    variables, rules = _read(text)
    variables.setdefault("MAKE", "make")
    variables.setdefault("SHELL", "/bin/sh")
    lines: list[str] = []
    _collect(target, variables, rules, lines, set())
    return "\n".join(lines)[:_LONG]


def _read(text: str) -> tuple[dict[str, str], dict[str, tuple[list[str], list[str]]]]:
    """Variables, and for each target its prerequisites and its recipe lines."""
    variables: dict[str, str] = {}
    rules: dict[str, tuple[list[str], list[str]]] = {}
    current: list[str] = []
    for line in text.replace("\\\n\t", " ").replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            for name in current:
                rules[name][1].append(line[1:])
            continue
        if line.lstrip().startswith("#"):
            continue
        assign, rule = _ASSIGN.match(line), _RULE.match(line)
        if assign:
            name, how, value = assign.groups()
            if how == "!":
                value = f"$(shell {value})"
            if how == "+":
                variables[name] = f"{variables.get(name, '')} {value}".strip()
            elif how != "?" or name not in variables:
                variables[name] = value
        elif rule:
            current = rule[1].split()
            for name in current:
                needs, commands = rules.setdefault(name, ([], []))
                needs += _expand(rule[2], variables, name, []).split()
                commands += [rule[3]] if rule[3] else []
        elif line.strip():
            current = []
    return variables, rules


def _collect(
    target: str,
    variables: dict[str, str],
    rules: dict[str, tuple[list[str], list[str]]],
    lines: list[str],
    done: set[str],
) -> None:
    if target in done or target not in rules or len(done) > 50:
        return
    done.add(target)
    needs, commands = rules[target]
    for need in needs:
        _collect(need, variables, rules, lines, done)
    for command in commands:
        words = _expand(command, variables, target, needs).strip()
        plain = words.lstrip("@-+ ")
        if plain:
            # One shell for each line, as make has it; the first that fails ends the target.
            calm = "-" in words[: len(words) - len(plain)]
            lines.append(f"( {plain}\n) || {'true' if calm else 'exit $?'}")


def _expand(text: str, variables: dict[str, str], target: str, needs: list[str], depth: int = 0) -> str:
    """Make's variables replaced, as deep as they are nested within reason."""

    def one(match: re.Match[str]) -> str:
        whole, name = match[0], match[1] if match[1] is not None else match[2]
        if whole == "$$":
            return "\0"
        if name is None:
            return {"@": target, "<": needs[0] if needs else ""}.get(whole[1], " ".join(needs))
        if name.startswith("shell "):
            return f"\0({name[6:]})"
        return variables.get(name.strip(), os.environ.get(name.strip(), ""))

    out = _REFERENCE.sub(one, text)
    if depth < _DEEP and out != text and "$" in out:
        return _expand(out, variables, target, needs, depth + 1)
    return out.replace("\0", "$")

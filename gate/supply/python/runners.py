"""What tools are told to install: tox.ini, noxfile.py, environment.yml. Data, never run."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from gate.late import late_module
from gate.regex import regex
from gate.supply.python import setup_script
from gate.supply.python.declared import MOST
from gate.supply.python.requirements import Lines, Requirements, is_for_tests, list_of, table_of

if TYPE_CHECKING:
    import yaml
else:
    yaml = late_module("yaml")

_FACTOR: Final = regex(r"[\w.,!{}-]+:\s+")
_REFERENCE: Final = regex(r"\{\[([^\]\n]{1,100})\]([\w.-]{1,100})\}")
_CONDA: Final = regex(r"(?:[\w-]+::)?([A-Za-z0-9][\w.-]*)\s*(.*)\Z")
_NO_PACKAGES: Final = frozenset(("python", "pip", "setuptools", "wheel", "conda", "mamba", "git", "make"))


def read(name: str, path: str, raw: bytes) -> tuple[Requirements, tuple[str, ...]]:
    """What that file names, and requirements files that it refers to. Raises ValueError."""
    if len(raw) > MOST:
        raise ValueError("too large")
    out = Lines(path)
    try:
        files = READERS[name](raw.decode("utf-8"), out)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if name.startswith("environment"):
        return Requirements(extras=tuple(out.kept), left=tuple(out.left), paths=(path,)), tuple(files)
    return Requirements(tests=tuple(out.kept), left=tuple(out.left), paths=(path,)), tuple(files)


def _tox(text: str, out: Lines) -> list[str]:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)[:200]) from error
    files: list[str] = []
    for section in parser.sections():
        name = section.removeprefix("testenv").strip(":")
        if section.startswith("testenv") and (not name or is_for_tests(name)):
            for line in _tox_lines(parser, (section, "deps"), set()):
                _dependency(line, out, files)
    return files


def _tox_lines(
    parser: configparser.RawConfigParser, setting: tuple[str, str], seen: set[tuple[str, str]]
) -> Iterator[str]:
    """Lines of a setting (section, key), with those that it refers to (``{[base]deps}``) in their place, each
    once.
    """
    seen.add(setting)
    for written in (parser.get(*setting, fallback="") or "").splitlines():
        line = _FACTOR.sub("", written.partition(" #")[0].strip(), count=1)
        reference = _REFERENCE.fullmatch(line)
        if reference is None:
            yield line
        elif (further := (reference[1], reference[2])) not in seen:
            yield from _tox_lines(parser, further, seen)


def _dependency(line: str, out: Lines, files: list[str]) -> None:
    include = re.match(r"-[rc]\s*(?:\{toxinidir\}/)?([^\s{}]+)\Z", line)
    if include:
        files.append(include[1].removeprefix("./"))
    elif not line.startswith(("-", ".", "{")):
        out.add(line)


def _nox(text: str, out: Lines) -> list[str]:
    files: list[str] = []
    for function in ast.walk(setup_script.parse(text)):
        if isinstance(function, ast.FunctionDef) and is_for_tests(function.name):
            for call in setup_script.calls(function, ("install",)):
                words = [
                    a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
                ]
                for before, word in zip(["", *words], words, strict=False):
                    if before in ("-r", "--requirement"):
                        files.append(word.removeprefix("./"))
                    elif not word.startswith(("-", ".", "/")) and before not in ("-c", "-e", "--group"):
                        out.add(word)
    return files


def _conda(text: str, out: Lines) -> list[str]:
    try:
        table = table_of(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise ValueError(f"no YAML: {type(error).__name__}") from error
    for item in list_of(table.get("dependencies")):
        out.add_all([p for p in list_of(table_of(item).get("pip")) if not str(p).startswith(("-", "."))])
        found = _CONDA.match(item) if isinstance(item, str) else None
        if found and found[1].lower() not in _NO_PACKAGES:
            exact = re.fullmatch(r"==?\s*([\d.]+)(?:\.\*|=.*)?", found[2])
            version = f"=={exact[1].rstrip('.')}.*" if exact else found[2] if found[2][:1] in "<>!" else ""
            out.add(f"{found[1]}{version}")
    return []


READERS: Final[dict[str, Callable[[str, Lines], list[str]]]] = {
    "tox.ini": _tox,
    "noxfile.py": _nox,
    "environment.yml": _conda,
    "environment.yaml": _conda,
}

"""What makes a shell, a pipeline or a client write down commands with the secrets in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.languages.commands.secret_printers import SECRET_NAME
from gate.regex import regex

_TRACE: Final = regex(
    r"(?:^|[\s;&|(])set\s+(?:-[a-zA-Z]*x[a-zA-Z]*\b|(?:-\S+\s+)*-o\s+xtrace\b|-[a-zA-Z]*o\s+xtrace\b)"
    r"|^#!\S*(?:ba|z|k|da)?sh\s+-[a-zA-Z]*x|\b(?:ba|z|da)?sh\s+-[a-wyzA-Z]*x[a-z]*\s+\S"
    r"|\bSet-PSDebug\s+-Trace\s+[12]|\bSHELLOPTS\b.*xtrace"
)
_ENDS: Final = regex(r"(?:^|[\s;&|({])set\s+\+[a-zA-Z]*x")
_USES: Final = regex(r"\$\{?([A-Za-z_]\w*)|\$\{\{\s*secrets\.(\w+)|\$env:([A-Za-z_]\w*)")
_TALKS: Final = regex(
    r"\bcurl\b(?=[^\n]*\s(?:-[a-zA-Z]*v[a-zA-Z]*\b|--verbose|--trace(?:-ascii)?)\b)"
    r"(?=[^\n]*(?:[Aa]uthorization:|[Tt]oken:|[Kk]ey:|\s-u\s|--user\b|--oauth2-bearer))"
)
_SWITCHES: Final = regex(
    r"\bCI_DEBUG_TRACE[\"']?\s*[:=]\s*[\"']?(?:true|1)|\bGIT_TRACE_REDACT[\"']?\s*[:=]\s*[\"']?0|\bSYSTEM_DEBUG_SECRETS\b"
)


def traced(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines (from 1) that write down each command from there on, where one of them is given a secret."""
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#") and not line.startswith("#!"):
            continue
        if _SWITCHES.search(line):
            yield number, "the pipeline's trace of all variables"
        elif _TALKS.search(line):
            yield number, "curl with its headers shown"
        elif _TRACE.search(line) and (name := _secret_after(lines[number:])):
            yield number, f"commands written down as they run, with {name}"


def _secret_after(lines: list[str]) -> str:
    for line in lines[:400]:
        if _ENDS.search(line):
            return ""
        if line.lstrip().startswith("#"):
            continue
        for match in _USES.finditer(line):
            name = next(one for one in match.groups() if one)
            if match[2] or SECRET_NAME.search(name):
                return name
    return ""

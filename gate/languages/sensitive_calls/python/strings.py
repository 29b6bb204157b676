"""Texts that are an address or a command: what a constant of a module can hand to a call in another file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.python.evaluate import Evaluator
from gate.languages.sensitive_calls.python.scopes import Scopes
from gate.regex import regex

_ADDRESS: Final = regex(
    r"(?:(?:https?|wss?|ftps?|tcp|ssh|git\+\w+)://[^\s{}]+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\S*)?"
    r"|(?:[a-z0-9-]+\.)+[a-z]{2,}:\d{2,5})",
    re.IGNORECASE,
)
_COMMAND: Final = regex(
    r"\b(?:curl|wget|nc|ncat|bash|sh|zsh|powershell|python3?|perl|ruby|node|chmod|base64|eval)\b[^\n]*(?:[|;&`<>]|\s-|\$\(|://)"
    r"|\brm\s+-\w*[rf]|/dev/tcp/"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Striking:
    """A name at the top of a module, the expression it is bound to and the text in that."""

    name: str
    node: ast.expr
    text: str


def striking_strings(scopes: Scopes, evaluator: Evaluator) -> Iterator[Striking]:
    """Names of the module for an address or a command."""
    for name, bindings in scopes.top.names.items():
        for binding in bindings:
            if binding.how != "value" or not isinstance(binding.node, ast.expr):
                continue
            text = _text(binding.node, evaluator)
            if text:
                yield Striking(name=name, node=binding.node, text=text)


def _text(node: ast.expr, evaluator: Evaluator) -> str:
    words = list(evaluator.texts(node))
    words += [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    joined = " ".join(words)
    if any(_ADDRESS.fullmatch(word) or _COMMAND.search(word) for word in words) or _COMMAND.search(joined):
        return joined[:80]
    return ""

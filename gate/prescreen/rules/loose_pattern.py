r"""A validating pattern has a bare `.` where a real dot is meant.

`example.com` as a pattern also accepts `exampleXcom`, which anybody can register; `\d+.\d+` accepts
`1x2`.

Write `\.`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.patterns import patterns
from gate.prescreen.python_ast.rule import Hit, rule
from gate.regex import regex

_ENDINGS = "com|org|net|io|edu|gov|dev|info|app|cloud"
_HOST = regex(rf"(?<!\\)(?<!\.)(?<![\])+*])\.(?:{_ENDINGS})(?![\w*+?.])")
_CLASS = r"(?:\\d|\[[\w-]+\])"
_CLASSES = regex(rf"{_CLASS}[+*]?\.{_CLASS}[+*]?\.{_CLASS}")


@rule(
    "py.loose-pattern",
    "Unescaped dot in a pattern",
    severity="medium",
    confidence="medium",
    topic="validation",
    cwe=(20, 185, 625),
    why="The pattern accepts names and values that only look like the ones meant.",
    fix="Escape the dot: example\\.com.",
)
def check(module: Module) -> Iterator[Hit]:
    """Constant patterns with a host name, or a row of classes, joined by bare dots."""
    for call, pattern in patterns(module):
        text = module.text_of(pattern)
        name = next(iter(module.names_of(call.func)), "")
        if text is None or name.endswith((".sub", ".subn", ".split", ".findall", ".finditer")):
            continue
        if _HOST.search(text):
            yield Hit(node=call, message="The dot in this host name stands for any character.")
        elif _CLASSES.search(text):
            yield Hit(node=call, message="The dots in this pattern stand for any character.")

"""A regular expression comes from a request or a caller and is used as it is.

Whoever writes the pattern chooses how long it runs.

Escape it with `re.escape` when a plain text is searched, or use an engine without backtracking (re2).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.model.rule import Confidence
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.patterns import FUNCTIONS
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import PARAMETER, REQUEST


@rule(
    "py.regex-from-outside",
    "Regular expression from outside",
    severity="medium",
    confidence="medium",
    topic="resource",
    cwe=(400, 1333, 625),
    why="Whoever writes the pattern chooses how long matching takes.",
    fix="Use re.escape for plain texts, or google-re2 for patterns of others.",
)
def check(module: Module) -> Iterator[Hit]:
    """Patterns from requests; a small public function that searches its own parameter for its other one."""
    flow = Flow(module, frozenset({"re.escape", "regex.escape", "fnmatch.translate"}))
    for call, name in module.calls(*FUNCTIONS):
        pattern = module.arg(call, 0, "pattern")
        if pattern is None:
            continue
        kinds = flow.kinds(pattern)
        if kinds & {REQUEST}:
            yield Hit(node=call, message="A request brings the regular expression.")
        elif isinstance(pattern, ast.Name) and kinds == {PARAMETER} and name.endswith(("match", "search")):
            text = module.arg(call, 1, "string")
            function = module.function_of(call)
            both = isinstance(text, ast.Name) and flow.kinds(text) == {PARAMETER} and pattern.id != text.id
            if not both or not isinstance(function, ast.FunctionDef) or module.class_of(call) is not None:
                continue
            if not flow.tested(call, pattern) and len(function.args.args) == 2:
                message = "A caller brings the regular expression and the text."
                yield Hit(node=call, message=message, confidence=Confidence.LOW)

"""Text of a request is written into a CSV file.

A cell that starts with `=`, `+`, `-` or `@` is a formula for the program that opens the file.

Put a `'` in front of such cells.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sources import REQUEST


@rule(
    "py.csv-injection",
    "Request text in a CSV file",
    severity="medium",
    confidence="medium",
    topic="injection",
    cwe=(1236,),
    why="Spreadsheet programs run cells that start with = + - or @ as formulas.",
    fix="Prefix such cells with a quote before writing them.",
)
def check(module: Module) -> Iterator[Hit]:
    """Writerow and writerows of csv writers with text of a request."""
    if not module.imports_any("csv", "unicodecsv"):
        return
    flow = Flow(module, frozenset({".lstrip", "re.sub"}))
    for call in module.methods("writerow", "writerows"):
        if call.args and REQUEST in flow.kinds(call.args[0]) and not flow.tested(call, call.args[0]):
            yield Hit(node=call, message="Text of a request becomes cells of a CSV file.")

"""Something unreadable is decoded and then run.

base64, hex, compression, rot13 or marshal in front of `exec` is the classic wrapping of malware: the
code that runs is not the code that was reviewed.

Commit the source itself and import it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module
from gate.prescreen.python_ast.rule import Hit, rule
from gate.prescreen.python_ast.sinks import DECODERS, shell_commands

_SINKS = (
    "eval",
    "exec",
    "execfile",
    "types.FunctionType",
    "types.CodeType",
    "importlib._bootstrap._call_with_frames_removed",
)


@rule(
    "py.decoded-code",
    "Decoded data is run as code",
    severity="critical",
    confidence="high",
    topic="exec",
    cwe=(506, 95),
    attack=("T1027", "T1140"),
    why="What runs cannot be read in the change; this is how malicious packages carry their payload.",
    fix="Commit the code itself and import it.",
    weakness=False,
)
def check(module: Module) -> Iterator[Hit]:
    """exec/eval/FunctionType whose argument went through a decoder; shell commands that did."""
    flow = Flow(module)
    for call, name in module.calls(*_SINKS):
        for argument in call.args[:1]:
            found = sorted((flow.trace(argument).calls & DECODERS) - {"chr"})
            codec = _codec(module, flow.trace(argument).nodes)
            if found or codec:
                yield Hit(node=call, message=f"{name} runs what {(found or [codec])[0]} decoded.")
            elif _joined_characters(module, argument):
                yield Hit(node=call, message=f"{name} runs text put together from character numbers.")
    for call, command in shell_commands(module):
        if flow.trace(command).calls & (DECODERS - {"chr"}) and module.text_of(command) is not None:
            yield Hit(node=call, message="A decoded text is run by a shell.")


def _codec(module: Module, nodes: tuple[ast.AST, ...]) -> str:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "decode":
            codec = module.text_of(node.args[0]) if node.args else None
            if codec in (
                "rot13",
                "rot_13",
                "hex",
                "base64",
                "zlib",
                "unicode_escape",
                "hex_codec",
                "base64_codec",
            ):
                return codec
    return ""


def _joined_characters(module: Module, expr: ast.AST) -> bool:
    trace = Flow(module).trace(expr)
    return "chr" in trace.calls and ".join" in trace.calls

"""Constant folding: the value of an expression built from literals only, without running anything of it.

Meets the ways a hidden word is usually put together: ``'o' + 's'``, ``''.join(map(chr, [...]))``,
``chr(c ^ 7) for c in ...``, ``bytes.fromhex``, base64, rot13, reversed slices, ``%`` and ``format``.
Values are capped; a chain of any length is folded with a stack of its own.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import operator
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from gate.prescreen.python_ast.scope import Binding
from gate.regex import regex


class _NotConst:
    def __repr__(self) -> str:
        return "NOT_CONST"

    def __bool__(self) -> bool:
        return False


NOT_CONST: Final = _NotConst()
CAP = 1 << 16
"""Longest text, bytes or list that is kept; more counts as unknown."""
_DEPTH = 40
_STEPS = 4096
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.BitXor: operator.xor,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_METHODS = {
    "decode", "encode", "replace", "lower", "upper", "strip", "lstrip", "rstrip", "swapcase", "title",
    "capitalize", "split", "join", "format", "hex", "removeprefix", "removesuffix", "translate",
}  # fmt: skip
_CODECS = {"utf-8", "utf8", "ascii", "latin-1", "latin1", "rot13", "rot_13", "hex", "base64", "utf_8"}
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64.b64decode": base64.b64decode,
    "base64.standard_b64decode": base64.b64decode,
    "base64.decodebytes": base64.decodebytes,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "bytes.fromhex": lambda data: bytes.fromhex(data.decode()),
    "bytearray.fromhex": lambda data: bytes.fromhex(data.decode()),
    "zlib.decompress": lambda data: zlib.decompressobj().decompress(data, CAP),
}
_ERRORS = (
    ValueError, TypeError, ArithmeticError, LookupError, AttributeError, binascii.Error, zlib.error,
    MemoryError,
)  # fmt: skip


_WIDE_PERCENT = regex(r"%(?![sdcrxX%])")
_WIDE_FORMAT = regex(r"\{[^{}]*[:!][^{}]*\}")


class Folder:
    """Folds expressions of one module. ``bindings`` and ``names`` are the module's look-ups."""

    def __init__(
        self,
        bindings: Callable[[ast.Name], list[Binding]],
        names: Callable[[ast.AST | None], tuple[str, ...]],
    ) -> None:
        self._bindings = bindings
        self._names = names
        self._known: dict[ast.AST, object] = {}
        self._busy: set[ast.AST] = set()
        self._depth = 0

    def value(self, expr: ast.AST, env: dict[str, object] | None = None) -> object:
        """The constant, or NOT_CONST. ``env`` gives names fixed values (a comprehension's loop)."""
        if isinstance(expr, ast.Constant):
            return expr.value
        if env is None and expr in self._known:
            return self._known[expr]
        if self._depth > _DEPTH or expr in self._busy:
            return NOT_CONST
        self._depth += 1
        self._busy.add(expr)
        try:
            result = self._value(expr, env)
            if isinstance(result, str | bytes | bytearray | list | tuple) and len(result) > CAP:
                result = NOT_CONST
        except _ERRORS:
            result = NOT_CONST
        finally:
            self._busy.discard(expr)
            self._depth -= 1
        if env is None:
            self._known[expr] = result
        return result

    def _value(self, expr: ast.AST, env: dict[str, object] | None) -> object:
        match expr:
            case ast.Name():
                return self._name(expr, env)
            case ast.BinOp():
                return self._binary(expr, env)
            case ast.JoinedStr():
                return self._joined(expr, env)
            case ast.Tuple() | ast.List():
                items = self._all(expr.elts, env)
                return NOT_CONST if items is None else items
            case ast.UnaryOp(op=ast.USub()):
                return -self.value(expr.operand, env)  # type: ignore[operator]
            case ast.UnaryOp(op=ast.Not()):
                inner = self.value(expr.operand, env)
                return NOT_CONST if inner is NOT_CONST else not inner
            case ast.Subscript():
                return self._item(expr, env)
            case ast.Call():
                return self._call(expr, env)
            case ast.GeneratorExp() | ast.ListComp():
                return self._comprehension(expr, env)
            case ast.NamedExpr():
                return self.value(expr.value, env)
        return NOT_CONST

    def _all(self, items: Sequence[ast.expr], env: dict[str, object] | None) -> list[object] | None:
        if len(items) > _STEPS:
            return None
        out = []
        for item in items:
            value = self.value(item, env)
            if value is NOT_CONST:
                return None
            out.append(value)
        return out

    def _name(self, name: ast.Name, env: dict[str, object] | None) -> object:
        if env is not None and name.id in env:
            return env[name.id]
        bindings = self._bindings(name)
        if not bindings or len(bindings) > 64:
            return NOT_CONST
        first, *rest = bindings
        if first.kind != "assign" or first.value is None:
            return NOT_CONST
        total = self.value(first.value)
        for binding in rest:
            more = NOT_CONST if binding.value is None else self.value(binding.value)
            if binding.kind != "augment" or more is NOT_CONST or total is NOT_CONST:
                return NOT_CONST
            if not isinstance(getattr(binding.node, "op", None), ast.Add):
                return NOT_CONST
            total = total + more  # type: ignore[operator]
        return total

    def _binary(self, expr: ast.BinOp, env: dict[str, object] | None) -> object:
        if isinstance(expr.op, ast.Add):
            parts: list[ast.expr] = []
            left: ast.expr = expr
            while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
                parts.append(left.right)
                left = left.left
            total: Any = self.value(left, env)
            pieces = [total]
            for part in reversed(parts):
                value: Any = self.value(part, env)
                if value is NOT_CONST or total is NOT_CONST:
                    return NOT_CONST
                pieces.append(value)
            if all(isinstance(piece, str) for piece in pieces):
                return "".join(pieces)
            for piece in pieces[1:]:
                total = total + piece
                if isinstance(total, str | bytes | list) and len(total) > CAP:
                    return NOT_CONST
            return total
        a: Any = self.value(expr.left, env)
        b: Any = self.value(expr.right, env)
        if a is NOT_CONST or b is NOT_CONST:
            return NOT_CONST
        if isinstance(expr.op, ast.Mult):
            size = max((len(x) for x in (a, b) if isinstance(x, str | bytes | list)), default=1)
            times = next((x for x in (a, b) if isinstance(x, int)), 0)
            return a * b if abs(times) * size <= CAP else NOT_CONST
        if isinstance(expr.op, ast.Mod) and isinstance(a, str):
            if _WIDE_PERCENT.search(a):
                return NOT_CONST
            return a % (tuple(b) if isinstance(b, list) else b)
        action = _BINARY.get(type(expr.op))
        return action(a, b) if action else NOT_CONST

    def _joined(self, expr: ast.JoinedStr, env: dict[str, object] | None) -> object:
        out = []
        for part in expr.values:
            inner = part.value if isinstance(part, ast.FormattedValue) else part
            value = self.value(inner, env)
            if value is NOT_CONST or getattr(part, "format_spec", None) is not None:
                return NOT_CONST
            out.append(str(value))
        return "".join(out)

    def _item(self, expr: ast.Subscript, env: dict[str, object] | None) -> object:
        base: object = self.value(expr.value, env)
        if not isinstance(base, str | bytes | list | tuple):
            return NOT_CONST
        if isinstance(expr.slice, ast.Slice):
            ends: list[Any] = []
            for part in (expr.slice.lower, expr.slice.upper, expr.slice.step):
                end = None if part is None else self.value(part, env)
                if end is NOT_CONST:
                    return NOT_CONST
                ends.append(end)
            return base[slice(*ends)]
        index: object = self.value(expr.slice, env)
        return base[index] if isinstance(index, int) else NOT_CONST

    def _comprehension(self, expr: ast.GeneratorExp | ast.ListComp, env: dict[str, object] | None) -> object:
        if len(expr.generators) != 1:
            return NOT_CONST
        loop = expr.generators[0]
        source: object = self.value(loop.iter, env)
        if not isinstance(loop.target, ast.Name) or loop.ifs:
            return NOT_CONST
        if not isinstance(source, str | bytes | list | tuple) or len(source) > _STEPS:
            return NOT_CONST
        out = []
        for item in source:
            value = self.value(expr.elt, {**(env or {}), loop.target.id: item})
            if value is NOT_CONST:
                return NOT_CONST
            out.append(value)
        return out

    def _call(self, call: ast.Call, env: dict[str, object] | None) -> object:
        if len(call.args) > 4:
            return NOT_CONST
        if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            receiver: object = self.value(call.func.value, env)
            if receiver is not NOT_CONST:
                return self._method(receiver, call, env)
        names = self._names(call.func)
        if len(names) != 1:
            return NOT_CONST
        if names[0] == "map" and len(call.args) == 2:
            return self._map(call, env)
        args = self._all(call.args, env)
        return NOT_CONST if args is None else self._function(names[0], args)

    def _map(self, call: ast.Call, env: dict[str, object] | None) -> object:
        source: object = self.value(call.args[1], env)
        if not isinstance(source, str | bytes | list | tuple) or len(source) > _STEPS:
            return NOT_CONST
        function = call.args[0]
        if isinstance(function, ast.Lambda) and len(function.args.args) == 1:
            key = function.args.args[0].arg
            out = [self.value(function.body, {**(env or {}), key: item}) for item in source]
        else:
            names = self._names(function)
            if len(names) != 1:
                return NOT_CONST
            out = [self._function(names[0], [item]) for item in source]
        return NOT_CONST if any(item is NOT_CONST for item in out) else out

    def _method(self, receiver: Any, call: ast.Call, env: dict[str, object] | None) -> object:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        args: Any = self._all(call.args, env)
        if args is None or call.keywords or not isinstance(receiver, str | bytes | bytearray):
            return NOT_CONST
        if method in ("decode", "encode"):
            codec = str(args[0]) if args else "utf-8"
            if codec.lower() not in _CODECS:
                return NOT_CONST
            if isinstance(receiver, str) and method == "encode":
                return receiver.encode(codec)
            return codecs.decode(receiver, codec) if not isinstance(receiver, str) else NOT_CONST
        if method == "join":
            size = len(args[0]) * (len(receiver) + 1) + sum(len(item) for item in args[0])
            return receiver.join(args[0]) if size <= CAP else NOT_CONST
        if method == "format" and _WIDE_FORMAT.search(str(receiver)):
            return NOT_CONST
        if method == "replace" and len(receiver) * max((len(a) for a in args[:2]), default=1) > CAP * 4:
            return NOT_CONST
        action = getattr(receiver, method, None)
        return action(*args) if action is not None else NOT_CONST

    def _function(self, name: str, args: list[Any]) -> object:
        if name in ("chr", "ord", "str", "int", "len", "hex") and len(args) == 1:
            plain: dict[str, Any] = {"chr": chr, "ord": ord, "str": str, "int": int, "len": len, "hex": hex}
            return plain[name](args[0])
        if name == "int" and len(args) == 2:
            return int(args[0], args[1])
        if name == "str" and len(args) == 2 and isinstance(args[0], bytes):
            return args[0].decode("utf-8", "replace")
        if name in ("bytes", "bytearray") and len(args) >= 1 and isinstance(args[0], list | bytes | str):
            return bytes(args[0], "utf-8") if isinstance(args[0], str) else bytes(args[0])
        if name in ("reversed", "list", "tuple") and len(args) == 1:
            return list(args[0])[::-1] if name == "reversed" else list(args[0])
        if name == "codecs.decode" and len(args) == 2 and str(args[1]).lower() in _CODECS:
            return codecs.decode(args[0], args[1])
        if name in ("os.path.join", "pathlib.Path", "pathlib.PurePath") and args:
            return "/".join(
                str(part).rstrip("/") if i < len(args) - 1 else str(part) for i, part in enumerate(args)
            )
        if name == "os.path.expanduser" and len(args) == 1:
            return args[0]
        if name in _DECODERS and args:
            data = args[0].encode() if isinstance(args[0], str) else bytes(args[0])
            return _DECODERS[name](data)
        return NOT_CONST

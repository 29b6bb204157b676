"""Every place of a Python text that can do more than compute, with what it can do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gate.dataclass import dataclass
from gate.languages.sensitive_calls.python.evaluate import (
    ANY_MODULE,
    GATHERED,
    SAME,
    Evaluator,
    Meaning,
    Meanings,
)
from gate.languages.sensitive_calls.python.loopback import stays_here
from gate.languages.sensitive_calls.python.patterns import MODULES, matches
from gate.languages.sensitive_calls.python.scopes import Scopes
from gate.languages.sensitive_calls.steering import steered
from gate.languages.sensitive_calls.table import CallEntry, Language, shared
from gate.model.sensitive import SensitiveKind, Way
from gate.regex import regex

_REVEALING: Final = frozenset({"__subclasses__", "__globals__", "__code__", "__builtins__"})
_HARMLESS_TAKERS: Final = frozenset(
    {
        "isinstance",
        "issubclass",
        "hasattr",
        "type",
        "id",
        "repr",
        "str",
        "print",
        "dir",
        "help",
        "callable",
        "vars",
        "getattr",
        "setattr",
        "delattr",
        "reload",
        "getsource",
        "signature",
        "getmodule",
        "getfile",
        "spec",
        "autospec",
        "create_autospec",
        "is_",
        "is_not",
        "cast",
        "len",
        "bool",
        "globals",
        "wraps",
        "update_wrapper",
        "stub",
    }
)
"""Functions that look at what they are given, or put something else in its place."""
_REPLACERS: Final = regex(r"(?:\A|\.)(?:monkeypatch|patch|mocker|mock|monkey|mp)(?:\.|\Z)")
_ENVIRONMENTS: Final = (("os", "environ"), ("os", "environb"), ("environ",))
_ASKS: Final = regex(r"(?:\A|[._])(?:env|environ|getenv|config|secret|secrets)(?:[._]|\Z)", re.IGNORECASE)
_SETS_VARIABLES: Final = frozenset(
    {
        ("os", "putenv"),
        *((*where, word) for where in _ENVIRONMENTS for word in ("setdefault", "update", "__setitem__")),
    }
)
_MOVES: Final = frozenset({("os", "replace"), ("os", "rename"), ("shutil", "move"), ("os", "renames")})
_COPIES: Final = frozenset(
    {
        *(("shutil", word) for word in ("copy", "copy2", "copyfile", "copytree")),
        *(("os", word) for word in ("symlink", "link")),
    }
)
"""What they make stands where their second argument says."""
_ABROAD: Final = regex(r"(?:~|/(?!tmp/|dev/(?:null|std|shm|tty)|work/tree|proc/self/|var/tmp/)[a-z])")
"""A path of the user or the system: writing there destroys or plants what is not the program's own."""
_TEXT_CODE: Final = frozenset(
    {
        ("timeit", "timeit"),
        ("timeit", "repeat"),
        ("timeit", "Timer"),
        ("cProfile", "run"),
        ("cProfile", "runctx"),
        ("profile", "run"),
        ("profile", "runctx"),
        ("trace", "Trace()", "run"),
        ("bdb", "Bdb()", "run"),
        ("pdb", "run"),
        ("pdb", "runeval"),
        ("doctest", "debug_src"),
        ("cProfile", "Profile()", "run"),
        ("cProfile", "Profile()", "runctx"),
        ("trace", "Trace()", "runctx"),
    }
)
"""They run a text that they are given; a function they only call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One sensitive place: ``node`` is the call, or what is handed on or read. ``way``: SensitiveCall.way."""

    node: ast.expr
    kind: SensitiveKind
    call: str
    way: Way


_AT_ONCE: Final = frozenset(
    {
        "smtplib",
        "ftplib",
        "poplib",
        "imaplib",
        "telnetlib",
        "nntplib",
        "multiprocessing",
        "socketserver",
        "http.server",
    }
)
"""Modules whose objects reach out when they are made."""


def _makes(meaning: Meaning) -> bool:
    """True for what only makes an object: what reaches out is called on that."""
    word = meaning[-1]
    return meaning[0] not in _AT_ONCE and (word[:1].isupper() or word in ("socket", "session"))


class Finder:
    """Walks one tree. ``segment`` gives the text of a node, ``told`` what a whole text is the path of."""

    def __init__(
        self,
        language: Language,
        tree: ast.Module,
        scopes: Scopes,
        evaluator: Evaluator,
        segment: Callable[[ast.AST], str],
        told: Callable[[str], SensitiveKind | None],
        *,
        shipped: bool = True,
    ) -> None:
        self._shipped = shipped
        self._language = language
        self._scopes = scopes
        self._evaluator = evaluator
        self._segment = segment
        self._told = told
        self._methods = {name.rpartition(".")[2] for name in evaluator.functions}
        self._plugins = False
        self._parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(tree):
            if "entry_points" in (getattr(node, "attr", ""), getattr(node, "name", "")):
                self._plugins = True
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that another stands in."""
        return self._parents.get(node)

    def places(self) -> Iterator[Place]:
        """Every sensitive place, in no order; a place can have several kinds."""
        for node in tuple(self._scopes.inside):
            if isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                yield from self._load(node)
            elif isinstance(node, ast.Subscript):
                yield from self._subscript(node) if isinstance(node.ctx, ast.Load) else self._set(node)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                yield from self._joined(node)
            for decorator in getattr(node, "decorator_list", ()):
                if not isinstance(decorator, ast.Call):
                    yield from self._kinds(decorator, self._evaluator.of(decorator), way="call")

    def _kinds(self, node: ast.expr, meanings: Meanings, *, way: Way) -> Iterator[Place]:
        kinds: dict[SensitiveKind, Way] = {}
        for meaning in sorted(meanings):
            if self._own_method(meaning) or (way == "hand" and meaning[-1].isupper()):
                continue  # a constant: nothing that could be called
            if way == "hand" and meaning[-2:] == GATHERED:
                continue  # all fields of what was given: data, until somebody calls one
            for match in matches(self._language, meaning, "calls"):
                if match.entry is None or self._counts(match.entry, node):
                    lazy = match.entry is not None and match.entry.lazy
                    makes = way == "call" and (lazy or _makes(meaning))
                    kinds[match.kind] = "make" if makes and kinds.get(match.kind) != "call" else way
        name = node.func if isinstance(node, ast.Call) else node
        if not self._shipped and isinstance(node, ast.Call) and stays_here(node, self._scopes):
            kinds.pop(SensitiveKind.NETWORK, None)  # a test of a client asks its own server
        for kind, how in kinds.items():
            yield Place(node=node, kind=kind, call=self._name(name), way=how)

    def _counts(self, entry: CallEntry, node: ast.expr) -> bool:
        """False where the arguments make it harmless, or lack what makes it one; handed on, it has none."""
        if not isinstance(node, ast.Call):
            return not entry.given
        given = self._arguments(node)
        if entry.unless and re.search(entry.unless, given):
            return False
        return not entry.given or bool(re.search(entry.given, given))

    def _own_method(self, meaning: Meaning) -> bool:
        """``node.unlink()`` where this file defines ``unlink``: what nobody knows is then taken for its
        own.
        """
        return meaning[0] in ("?", "class", "object") and meaning[-1] in self._methods

    def _name(self, node: ast.expr) -> str:
        return " ".join(self._segment(node).split())[:80]

    def _arguments(self, node: ast.Call) -> str:
        return self._segment(node)[len(self._segment(node.func)) :]

    def _call(self, node: ast.Call) -> Iterator[Place]:
        meanings = self._evaluator.of(node.func)
        made = set()
        for meaning in meanings:
            if meaning[0] == "class" and len(meaning) == 2:
                made |= {
                    (*m[:-1], m[-1].removesuffix("()")) for m in self._evaluator.of(node) if m != meaning
                }
        yield from self._kinds(node, meanings | made, way="call")
        for kind in self._special(node, meanings):
            yield Place(node=node, kind=kind, call=self._name(node.func), way="call")

    def _special(self, node: ast.Call, meanings: Meanings) -> Iterator[SensitiveKind]:
        first = node.args[0] if node.args else None
        names = {m[1:] if m[0] == "builtins" else m for m in meanings}
        if names & _TEXT_CODE and any(
            self._evaluator.texts(a) or isinstance(a, (ast.JoinedStr, ast.Name))
            for a in (*node.args, *(k.value for k in node.keywords if k.arg in ("stmt", "setup")))
        ):
            yield SensitiveKind.DYNAMIC_CODE
        if ANY_MODULE in self._evaluator.of(node) and any(
            m[-1] in ("import_module", "resolve_name", "__import__", "import_string") for m in names
        ):
            yield SensitiveKind.DYNAMIC_CODE
        if ("getattr",) in names and any(
            m[:-1] in MODULES and m[-1] == "*" for m in self._evaluator.of(node)
        ):
            yield SensitiveKind.DYNAMIC_CODE
        if self._asks_environment(node, names) and first is not None and self._is_secret(first):
            yield SensitiveKind.CREDENTIALS
        if self._plugins and self._is_plain_load(node):
            yield SensitiveKind.DYNAMIC_CODE
        if any(name in _SETS_VARIABLES for name in names):
            yield from self._steering(first, node.keywords)
        if self._is_joined(names):
            kind = self._told("/".join(t for a in node.args for t in self._evaluator.texts(a)[:1]))
            if kind is not None:
                yield kind
        if self._destroys(node, names):
            yield SensitiveKind.DELETION

    def _is_plain_load(self, node: ast.Call) -> bool:
        """``entry.load()`` in a text that asks for the entry points of what is installed."""
        bare = isinstance(node.func, ast.Attribute) and node.func.attr == "load"
        return bare and self._shipped and not node.args and not node.keywords

    def _asks_environment(self, node: ast.Call, names: set[Meaning]) -> bool:
        written = self._name(node.func)
        return any(
            name in (("os", "getenv"), ("os", "getenvb"))
            or (name[:-1] in _ENVIRONMENTS and name[-1] in ("get", "pop", "setdefault", "__getitem__"))
            for name in names
        ) or bool(_ASKS.search(written.removesuffix(".get")) and not written.endswith(("setenv", "delenv")))

    def _is_secret(self, node: ast.AST) -> bool:
        return any(text in shared()[0] for text in self._evaluator.texts(node))

    @staticmethod
    def _is_joined(names: set[Meaning]) -> bool:
        return any(name[:2] == ("os", "path") and name[-1] == "join" for name in names) or any(
            name[-1] in ("joinpath", "Path", "PurePath") for name in names
        )

    def _destroys(self, node: ast.Call, names: set[Meaning]) -> bool:
        """Empties a file, or writes over or moves one that is not the program's own."""
        last = {name[-1] for name in names if name}
        texts = [text for a in node.args[:1] for text in self._evaluator.texts(a)]
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if last & {"write_text", "write_bytes"} and "" in texts and receiver is not None:
            # An object whose class is known, and is no path, writes something else.
            made = [name[-2] for name in names if len(name) > 1 and name[-2].endswith("()")]
            return not made or any("Path" in word for word in made)
        if names & {("open",), ("io", "open"), ("codecs", "open")}:
            mode = next((k.value for k in node.keywords if k.arg == "mode"), None)
            mode = node.args[1] if len(node.args) > 1 else mode
            writes = any(set("wax+") & set(text) for text in self._evaluator.texts(mode))
            return writes and bool(node.args) and self._is_abroad(node.args[0])
        if last & {"write_text", "write_bytes"} and receiver is not None:
            return self._is_abroad(receiver)
        if "open" in last and receiver is not None:
            return any(set("wa") & set(text) for text in texts) and self._is_abroad(receiver)
        if names & _MOVES and any(self._is_abroad(argument) for argument in node.args[:2]):
            return True
        if names & {("shutil", "make_archive")}:
            return any(self._is_abroad(argument) for argument in node.args[:1])
        return bool(names & _COPIES) and any(self._is_abroad(argument) for argument in node.args[1:2])

    def _is_abroad(self, node: ast.expr) -> bool:
        if any(_ABROAD.match(text) for text in self._evaluator.texts(node)):
            return True
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and any(
                m[-1] == "expanduser" or m[-2:] == ("Path", "home") for m in self._evaluator.of(inner.func)
            ):
                return True
            if (
                isinstance(inner, ast.Constant)
                and isinstance(inner.value, str)
                and _ABROAD.match(inner.value)
            ):
                return True
        return False

    def _load(self, node: ast.Name | ast.Attribute) -> Iterator[Place]:
        if isinstance(node, ast.Attribute):
            if node.attr in _REVEALING:
                yield Place(node=node, kind=SensitiveKind.DYNAMIC_CODE, call=self._name(node), way="read")
            if node.attr in shared()[0]:
                yield Place(node=node, kind=SensitiveKind.CREDENTIALS, call=self._name(node), way="read")
        meanings = self._evaluator.of(node)
        parent = self._parents.get(node)
        wholes = (True for m in meanings for _ in matches(self._language, m, "whole"))
        if not self._is_borrowed(node, parent) and any(wholes):
            yield Place(node=node, kind=SensitiveKind.ENVIRONMENT, call=self._name(node), way="read")
        if self._is_handed_on(node, parent):
            yield from self._kinds(node, meanings, way="hand")
            kinds = {m.kind for each in meanings for m in matches(self._language, each, "modules")}
            for kind in sorted(kinds, key=lambda kind: kind.value):
                yield Place(node=node, kind=kind, call=self._name(node), way="hand")

    def _is_borrowed(self, node: ast.expr, parent: ast.AST | None) -> bool:
        """True where only a named part of a whole is taken, or it gets a name that is followed."""
        if isinstance(parent, ast.Attribute):
            return True
        if isinstance(parent, ast.Subscript):
            return parent.value is node
        if isinstance(parent, (ast.AugAssign, ast.Delete)):
            return True
        if isinstance(parent, ast.Compare):
            return node is not parent.left
        if isinstance(parent, (ast.Assign, ast.NamedExpr, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            return all(isinstance(target, ast.Name) for target in targets)
        return isinstance(parent, ast.Call) and node in parent.args and self._is_replacer(parent)

    def _is_replacer(self, call: ast.Call) -> bool:
        name = self._name(call.func)
        return name.rpartition(".")[2] in _HARMLESS_TAKERS or bool(_REPLACERS.search(name))

    def _is_handed_on(self, node: ast.expr, parent: ast.AST | None) -> bool:
        """True where a value goes where it is not followed: an argument, an attribute, a container ..."""
        if isinstance(parent, ast.keyword):
            parent = self._parents.get(parent)
            return isinstance(parent, ast.Call) and not self._is_replacer(parent)
        if isinstance(parent, ast.Call):
            if node is parent.func:
                return False
            if self._evaluator.of(parent.func) & SAME:
                return self._is_handed_on(parent, self._parents.get(parent))
            return not (self._is_replacer(parent) and not self._gives_new(node, parent))
        if isinstance(parent, ast.Assign):
            return node is parent.value and not all(self._is_followed(t, parent) for t in parent.targets)
        if isinstance(parent, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred)):
            return self._container_is_handed_on(parent)
        return isinstance(parent, (ast.Yield, ast.FormattedValue))

    def _container_is_handed_on(self, node: ast.AST) -> bool:
        """A container that gets a name or is used on the spot is followed; an argument is not."""
        for _ in range(8):
            parent = self._parents.get(node)
            if isinstance(
                parent, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.IfExp, ast.BoolOp)
            ):
                node = parent
                continue
            if isinstance(parent, (ast.Assign, ast.NamedExpr, ast.AnnAssign, ast.For, ast.comprehension)):
                return False
            return isinstance(parent, (ast.Call, ast.keyword, ast.Yield)) and not (
                isinstance(parent, ast.Call) and self._is_replacer(parent)
            )
        return True

    @staticmethod
    def _gives_new(node: ast.expr, call: ast.Call) -> bool:
        """``setattr(x, "name", os.system)``: the value that is put somewhere is handed on."""
        return len(call.args) >= 2 and node is call.args[-1] and node is not call.args[0]

    def _is_followed(self, target: ast.expr, statement: ast.Assign) -> bool:
        scope = self._scopes.inside.get(statement, self._scopes.top)
        if isinstance(target, ast.Name):
            return not (target.id.startswith("__") and target.id.endswith("__")) and not scope.is_class
        return isinstance(target, (ast.Tuple, ast.List))

    def _set(self, node: ast.Subscript) -> Iterator[Place]:
        """``os.environ["HTTPS_PROXY"] = ...``: what this process and its children do, goes another way."""
        if isinstance(node.ctx, ast.Store) and self._evaluator.of(node.value) & set(_ENVIRONMENTS):
            for kind in self._steering(node.slice):
                yield Place(node=node, kind=kind, call=self._name(node), way="read")

    def _steering(self, name: ast.expr | None, words: Sequence[ast.keyword] = ()) -> Iterator[SensitiveKind]:
        """What a variable steers that is set: its name, a table of several, or keywords."""
        if not self._shipped:
            return  # tests set variables all the time, for themselves
        names = [word.arg or "" for word in words]
        if isinstance(name, ast.Dict):
            names += [text for key in name.keys if key is not None for text in self._evaluator.texts(key)]
        elif name is not None:
            names += self._evaluator.texts(name)
        yield from dict.fromkeys(kind for each in names if (kind := steered(each)) is not None)

    def _subscript(self, node: ast.Subscript) -> Iterator[Place]:
        base = self._evaluator.of(node.value)
        if base & set(_ENVIRONMENTS) and self._is_secret(node.slice):
            yield Place(node=node, kind=SensitiveKind.CREDENTIALS, call=self._name(node.value), way="read")
        made = self._evaluator.of(node)
        if any(m[0] == "__builtins__" or m[:1] == ("builtins",) for m in base) or (
            ANY_MODULE in made and ("sys", "modules") in base
        ):
            yield Place(node=node, kind=SensitiveKind.DYNAMIC_CODE, call=self._name(node), way="read")

    def _joined(self, node: ast.BinOp) -> Iterator[Place]:
        """``Path.home() / ".ssh" / "id_rsa"``: the whole of it, once."""
        if isinstance(self._parents.get(node), ast.BinOp):
            return
        words: list[str] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
            words += self._evaluator.texts(left.right)[:1]
            left = left.left
        kind = self._told("/" + "/".join(reversed(words))) if words else None
        if kind is not None:
            yield Place(node=node, kind=kind, call=self._name(node), way="read")

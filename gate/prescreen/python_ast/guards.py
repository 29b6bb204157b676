"""Conditions, the lines that each of them decides about, and what the unusual ones ask for.

A digest of an argument, the name of a machine or a user, a variable of CI, a trait of a sandbox: a condition
on these is one that ordinary use and tests do not meet. Which platform or version it is, is an ordinary one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.unparse import unparsed
from gate.model.forced import GuardKind
from gate.prescreen.python_ast.flow import Flow
from gate.prescreen.python_ast.module import Module

_ENDS: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_TEXT: Final = 240
_HOST: Final = ("socket.gethostname", "socket.getfqdn", "platform.node", "os.uname", "uuid.getnode")
_USER: Final = ("getpass.getuser", "os.getlogin", "pwd.getpwuid")
_USER_VARIABLES: Final = frozenset({"USER", "USERNAME", "LOGNAME"})
_HOST_VARIABLES: Final = frozenset({"HOSTNAME", "COMPUTERNAME"})
_CI_VARIABLES: Final = frozenset({
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "TRAVIS", "JENKINS_URL", "BUILDKITE", "TF_BUILD",
    "TEAMCITY_VERSION", "DRONE", "APPVEYOR", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID",
})  # fmt: skip
_CI_PREFIXES: Final = ("GITHUB_", "GITLAB_", "RUNNER_", "CI_", "BUILDKITE_", "CIRCLE_", "TRAVIS_")
"""Whose values tell one repository, branch or runner from others."""
_SANDBOX: Final = (
    "resource.getrlimit", "sys.monitoring.get_tool", "sys.getprofile", "sys.gettrace", "threading.gettrace",
    "importlib.metadata.distributions", "time.get_clock_info", "os.getloadavg",
)  # fmt: skip
_CLOCKS: Final = (
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
    "time.time", "time.localtime", "time.gmtime", "time.strftime", "time.time_ns",
)  # fmt: skip
_COMPARING: Final = ("startswith", "endswith", "match", "search", "fullmatch", "compare_digest")
_DIGESTS: Final = (".hexdigest", ".digest")
_READERS: Final = ("os.environ.get", "os.getenv")


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition. ``guarded`` runs only where it is ``value``; ``refuses``: it guards by raising."""

    test: ast.expr
    value: bool
    guarded: tuple[ast.AST, ...]
    refuses: bool = False


def guards(module: Module) -> Iterator[Guard]:
    """Every condition of the file with what it guards: a branch, or what follows an early end."""
    for node in (*module.all(ast.If, ast.While, ast.IfExp), *module.all(ast.BoolOp, ast.Assert)):
        if isinstance(node, ast.If | ast.While):
            yield Guard(node.test, True, tuple(node.body))
            if isinstance(node, ast.If) and node.orelse:
                yield Guard(node.test, False, tuple(node.orelse))
            if isinstance(node, ast.If) and node.body and isinstance(node.body[-1], _ENDS):
                rest = _rest(module, node)
                if rest:
                    yield Guard(node.test, False, rest, isinstance(node.body[-1], ast.Raise))
        elif isinstance(node, ast.IfExp):
            yield Guard(node.test, True, (node.body,))
            yield Guard(node.test, False, (node.orelse,))
        elif isinstance(node, ast.BoolOp):
            for at, value in enumerate(node.values[1:], 1):
                yield Guard(node.values[at - 1], isinstance(node.op, ast.And), (value,))
        elif isinstance(node, ast.Assert) and (rest := _rest(module, node)):
            yield Guard(node.test, True, rest, True)


def _rest(module: Module, node: ast.stmt) -> tuple[ast.AST, ...]:
    """The statements behind one in its block."""
    parent = module.parents.get(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and node in block:
            return tuple(block[block.index(node) + 1 :])
    return ()


class Classifier:
    """Says what a condition asks for; follows values back to their calls, so one for a file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._flow = Flow(module)

    def kind(self, test: ast.expr) -> GuardKind:
        """What the condition asks for; empty for an ordinary one."""
        compared = self._compared(test)
        calls = self._calls(test)
        variables = self._variables(test)
        if variables & _CI_VARIABLES:
            return "ci"
        if any(_is(call, _SANDBOX) for call in calls):
            return "sandbox"
        if not compared:
            return ""
        if any(name.startswith(_CI_PREFIXES) for name in variables):
            return "ci"
        if any(call.endswith(_DIGESTS) or call == "hmac.compare_digest" for call in calls):
            return "digest"
        if any(_is(call, _HOST) for call in calls) or variables & _HOST_VARIABLES:
            return "host"
        if any(_is(call, _USER) for call in calls) or variables & _USER_VARIABLES:
            return "user"
        return "date" if any(_is(call, _CLOCKS) for call in calls) else ""

    def _compared(self, test: ast.expr) -> bool:
        """True where a written-down value takes part: a comparison, or a method such as ``startswith``."""
        for node in self._module.within(test):
            if isinstance(node, ast.Compare):
                if any(self._is_written(side) for side in (node.left, *node.comparators)):
                    return True
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _COMPARING
            ) and any(self._is_written(value) for value in node.args):
                return True
        return False

    def _is_written(self, side: ast.expr) -> bool:
        value = self._module.const(side)
        if isinstance(value, str | bytes):
            return bool(value)
        if isinstance(value, list):
            return any(isinstance(item, str | bytes) for item in value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return True
        return any(name in ("datetime.datetime()", "datetime.date()") for name in self._module.names_of(side))

    def _calls(self, test: ast.expr) -> set[str]:
        found: set[str] = set()
        for node in self._module.within(test):
            if isinstance(node, ast.Call):
                found |= set(self._module.names_of(node.func))
                if isinstance(node.func, ast.Attribute):
                    found.add(f".{node.func.attr}")
            if isinstance(node, ast.Compare):
                for side in (node.left, *node.comparators):
                    found |= set(self._flow.trace(side).calls)
            elif isinstance(node, ast.Name):
                found |= set(self._flow.trace(node).calls)
        return found

    def _variables(self, test: ast.expr) -> set[str]:
        """Names of environment variables that the condition reads itself."""
        found: set[str] = set()
        for node in self._module.within(test):
            key: ast.expr | None = None
            if isinstance(node, ast.Call) and any(n in _READERS for n in self._module.names_of(node.func)):
                key = node.args[0] if node.args else None
            elif isinstance(node, ast.Subscript) and "os.environ" in self._module.names_of(node.value):
                key = node.slice
            elif isinstance(node, ast.Compare) and any(
                "os.environ" in self._module.names_of(side) for side in node.comparators
            ):
                key = node.left
            value = self._module.const(key) if key is not None else None
            if isinstance(value, str):
                found.add(value)
        return found


def _is(call: str, names: tuple[str, ...]) -> bool:
    return any(call == name or call.startswith(f"{name}(") for name in names)


_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_NAMED: Final = 100


def told(module: Module, guard: Guard) -> str:
    """The condition as a text, turned round where it must not hold, with what its names were made from."""
    test, value = guard.test, guard.value
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, value = test.operand, not value
    if not value and isinstance(test, ast.Compare) and len(test.ops) == 1:
        turned = _OPPOSITE[type(test.ops[0])]()
        test, value = ast.Compare(left=test.left, ops=[turned], comparators=test.comparators), True
    text = " ".join(unparsed(test).split())
    text = text if value else f"not ({text})"
    for node in module.within(guard.test):
        if isinstance(node, ast.Name) and (made := _made_from(module, node)):
            text += f", {node.id} = {made}"
    return text if len(text) <= _TEXT else text[:_TEXT] + " ..."


def _made_from(module: Module, name: ast.Name) -> str:
    """The one expression that a name stands for; empty where it is not one, or too long."""
    bindings = module.bindings_of(name)
    if len(bindings) != 1 or bindings[0].kind != "assign" or bindings[0].value is None:
        return ""
    text = " ".join(unparsed(bindings[0].value).split())
    return text if len(text) <= _NAMED else ""

"""What protects in Python beside guards and conditions, by the function it stands in. Runs in the child."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from gate.protections.makers import LONGEST, maker_facts
from gate.protections.python.answers import cache_facts
from gate.protections.python.entries import constant_facts, object_facts
from gate.protections.python.identity import identity_facts, remote_facts
from gate.protections.python.isolation import isolation_facts, own_value_facts
from gate.protections.python.keyrings import empty_key_facts, keyring_facts
from gate.protections.python.keys import key_facts
from gate.protections.python.lapses import lapse_facts
from gate.protections.python.proofs import proof_facts, signed_facts, table_facts
from gate.protections.python.queries import query_facts
from gate.protections.python.tokens import digests_in, token_facts
from gate.protections.python.written import written_facts
from gate.protections.traits import Fact

_SIGNING = frozenset(
    {
        "import hmac",
        "compare_digest",
        "import jwt",
        "TimestampSigner",
        "import jose",
        "URLSafeTimedSerializer",
    }
)
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def python_traits(tree: ast.Module, path: str) -> dict[int, list[Fact]]:
    """By the line of the function; 0 for the module and the bodies of its classes."""
    found: dict[int, list[Fact]] = {}
    about = f"{PurePosixPath(path).parent.name} {PurePosixPath(path).stem}"
    digests = digests_in(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTION):
            found.setdefault(node.lineno, []).extend(_of_function(node, about, digests))
    words = python_words(tree)
    if not _SIGNING.isdisjoint(words):
        for node in ast.walk(tree):
            if isinstance(node, _FUNCTION) and (empty := [*empty_key_facts(node)]):
                found[node.lineno] += empty
    outside = [*_outside(tree.body)]
    readers = (constant_facts, table_facts, remote_facts, own_value_facts, keyring_facts)
    made = [fact for one in outside for reader in readers for fact in reader(one)]
    made += maker_facts(words)
    if made:
        found[0] = made
    return found


def _of_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, about: str, digests: frozenset[str]
) -> Iterator[Fact]:
    yield from query_facts(node)
    yield from key_facts(node)
    yield from object_facts(node)
    yield from identity_facts(node)
    yield from proof_facts(node)
    yield from signed_facts(node)
    yield from cache_facts(node)
    yield from token_facts(node, digests)
    yield from isolation_facts(node, about)
    yield from lapse_facts(node, about)
    yield from written_facts(node)


def python_words(tree: ast.Module) -> dict[str, int]:
    """Names, short texts and imports, each where it stands first."""
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        words: list[str] = []
        match node:
            case ast.Import():
                words = [f"import {alias.name}" for alias in node.names]
            case ast.ImportFrom(module=str() as module):
                words = [f"import {module}", *(alias.name for alias in node.names)]
            case ast.Attribute(value=ast.Name(id=of), attr=attr):
                words = [attr, f"{of}.{attr}"]
            case ast.Name(id=name):
                words = [name]
            case ast.Constant(value=str() as text) if len(text) <= LONGEST:
                words = [text]
        for word in words:
            found.setdefault(word, getattr(node, "lineno", 1))
    return found


def _outside(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of the module and of its classes that stand in no function."""
    for one in body:
        if isinstance(one, ast.ClassDef | ast.If | ast.Try | ast.With):
            yield from _outside(one.body)
        elif not isinstance(one, _FUNCTION):
            yield one

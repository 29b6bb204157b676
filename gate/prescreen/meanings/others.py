"""Names that a file of PHP, Go or Ruby takes from the language: what unchanged calls mean then.

Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gate.languages.tree_sitter_parse import walk
from gate.prescreen.meanings.facts import Meaning
from gate.protections.tree_sitter.shapes import line_of, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_PHP: Final = frozenset({
    "time", "microtime", "hrtime", "date", "mktime", "strtotime", "hash", "hash_equals", "hash_hmac", "md5",
    "sha1", "crc32", "random_int", "random_bytes", "mt_rand", "rand", "uniqid", "password_verify",
    "password_hash", "password_needs_rehash", "openssl_verify", "openssl_decrypt", "openssl_encrypt",
    "openssl_sign", "sodium_crypto_sign_verify_detached", "in_array", "is_array", "is_string", "is_int",
    "is_numeric", "is_file", "is_dir", "is_uploaded_file", "move_uploaded_file", "is_null", "is_bool",
    "is_a", "is_subclass_of", "array_key_exists", "array_search", "count", "strcmp", "strlen", "strpos",
    "str_contains", "str_starts_with", "str_ends_with", "substr", "preg_match", "preg_replace",
    "filter_var", "htmlspecialchars", "htmlentities", "strip_tags", "addslashes", "intval", "trim",
    "basename", "realpath", "file_exists", "ctype_digit", "ctype_alnum", "ctype_alpha", "header",
    "setcookie", "session_id", "session_regenerate_id", "file_get_contents", "unserialize", "json_decode",
    "base64_decode", "escapeshellarg", "escapeshellcmd", "ip2long", "inet_pton", "parse_url", "explode",
    "max", "min", "function_exists", "method_exists",
})  # fmt: skip
_PHP_WHOLE: Final = frozenset({
    "class_declaration", "trait_declaration", "interface_declaration", "function_definition",
    "enum_declaration",
})  # fmt: skip
_KOTLIN: Final = frozenset({
    "require", "requireNotNull", "check", "checkNotNull", "error", "maxOf", "minOf", "listOf", "setOf",
    "mapOf", "emptyList", "emptySet", "assert",
})  # fmt: skip
_JAVA: Final = frozenset({
    "Math", "String", "Integer", "Long", "Boolean", "Character", "System", "Object", "Number", "Double",
    "Enum", "StringBuilder", "Thread", "Runtime", "Class", "Short", "Byte", "StrictMath",
    "SecurityManager",
})  # fmt: skip
"""Of ``java.lang``: a class of the package stands before it."""
_GO: Final = frozenset({
    "len", "cap", "copy", "append", "min", "max", "delete", "clear", "close", "panic", "recover", "string",
    "bool", "byte", "int", "int64", "uint64", "error", "true", "false", "nil", "iota", "any", "comparable",
})  # fmt: skip
_BETTER: Final = {
    "rand": ("crypto/rand", r"math/rand(?:/v2)?"), "template": ("html/template", r"text/template"),
    "subtle": ("crypto/subtle", r".+"), "hmac": ("crypto/hmac", r".+"), "sha256": ("crypto/sha256", r".+"),
    "ed25519": ("crypto/ed25519", r".+"), "bcrypt": ("golang.org/x/crypto/bcrypt", r".+"),
}  # fmt: skip
"""Packages of Go that protect, by their last name, and which others take their place for the worse."""
_RUBY: Final = frozenset({
    "String", "Integer", "Float", "Numeric", "Array", "Hash", "Symbol", "Object", "BasicObject", "Kernel",
    "NilClass", "TrueClass", "FalseClass", "Regexp", "Time", "Date", "DateTime", "Set", "Range",
    "Comparable", "Enumerable", "SecureRandom", "OpenSSL", "Digest", "URI", "File", "IPAddr", "Proc",
    "Module", "Class",
})  # fmt: skip
_ASKS: Final = frozenset({
    "==", "!=", "===", "=~", "!~", "<=>", "<", ">", "<=", ">=", "!", "eql?", "equal?", "hash", "include?",
    "member?", "match?", "match", "start_with?", "end_with?", "empty?", "nil?", "blank?", "present?",
    "any?", "all?", "none?", "key?", "has_key?", "is_a?", "kind_of?", "instance_of?", "between?", "[]",
    "fetch", "dig", "cover?", "zero?", "hex", "random_bytes", "random_number", "alphanumeric", "uuid",
    "raise", "now", "frozen?", "size", "length",
})  # fmt: skip


def php(root: Node) -> Iterator[Meaning]:
    """Functions of a name space with a built-in's name, and others' that ``use function`` puts there."""
    space = ""
    for node in walk(root, _PHP_WHOLE):
        if node.type == "namespace_definition":
            space = text_of(node.child_by_field_name("name"))
        elif node.type == "function_definition" and space:
            yield from _php_function(node, space)
        elif node.type == "namespace_use_clause" and "use function" in text_of(_statement(node)):
            yield from _php_used(node)


def _statement(node: Node) -> Node:
    at = node
    while at.parent is not None and at.type != "namespace_use_declaration":
        at = at.parent
    return at


def _php_used(clause: Node) -> Iterator[Meaning]:
    """``use function`` of another name space: calls of the file mean that. The package `Safe` only throws."""
    whole = text_of(_statement(clause)).removeprefix("use function ")
    said = text_of(clause).removeprefix("function ")
    name = (said.partition(" as ")[2] or said.rpartition("\\")[2]).strip().lower()
    if name in _PHP and not whole.startswith("Safe\\") and ("\\" in whole):
        yield Meaning("name", name, line_of(clause), f"use function {whole[:80]}", asks="", uses=1)


def _php_function(node: Node, space: str) -> Iterator[Meaning]:
    name = text_of(node.child_by_field_name("name"))
    if name.lower() in _PHP:
        yield Meaning("name", name.lower(), line_of(node), f"function {name} of {space}", asks=space)


def go(root: Node) -> Iterator[Meaning]:
    """Names of the language at a package's top, and imports under another package's name."""
    for node in root.named_children:
        if node.type == "function_declaration":
            name = text_of(node.child_by_field_name("name"))
            if name in _GO:
                yield Meaning("name", name, line_of(node), f"func {name}", asks=_package(root))
        elif node.type in ("var_declaration", "const_declaration", "type_declaration"):
            for one in walk(node, frozenset({"block"})):
                name = text_of(one.child_by_field_name("name")) if one.type.endswith("_spec") else ""
                if name in _GO:
                    yield Meaning(
                        "name", name, line_of(one), f"{node.type[:-12]} {name}", asks=_package(root)
                    )
    for node in walk(root, frozenset({"function_declaration", "method_declaration"})):
        if node.type != "import_spec":
            continue
        path = text_of(node.child_by_field_name("path")).strip('"`')
        called = text_of(node.child_by_field_name("name")) or path.rpartition("/")[2]
        better, worse = _BETTER.get(called, ("", ""))
        if better and path != better and re.fullmatch(worse, path):
            yield Meaning("name", called, line_of(node), f"import {called} {path}", asks="import")


def _package(root: Node) -> str:
    clause = next((node for node in root.named_children if node.type == "package_clause"), None)
    return f"package {text_of(clause.named_children[0])}" if clause is not None else "package"


def better_import(called: str) -> str:
    """The package of Go under this name that protects."""
    return _BETTER.get(called, ("", ""))[0]


def ruby(root: Node) -> Iterator[Meaning]:
    """Questions that core classes answer, defined anew: reopened, or in a refinement."""
    for node in walk(root, frozenset()):
        if node.type in ("class", "module"):
            owner = text_of(node.child_by_field_name("name")).removeprefix("::")
            body = node.child_by_field_name("body")
        elif node.type == "call" and text_of(node.child_by_field_name("method")) == "refine":
            given = node.child_by_field_name("arguments")
            owner = (
                text_of(given.named_children[0]).removeprefix("::") if given and given.named_children else ""
            )
            block = node.child_by_field_name("block")
            body = block.child_by_field_name("body") if block is not None else None
        else:
            continue
        if owner not in _RUBY or body is None or (node.type in ("class", "module") and _is_inside(node)):
            continue
        for one in body.named_children:
            name = text_of(one.child_by_field_name("name"))
            if one.type in ("method", "singleton_method") and name in _ASKS:
                yield Meaning(
                    "name", f"{owner}#{name}", line_of(one), f"{owner}#{name} is defined anew", uses=1
                )


def _is_inside(node: Node) -> bool:
    """A class of a module of the project is another one than the language's."""
    return node.parent is not None and node.parent.type == "body_statement"


def kotlin(root: Node) -> Iterator[Meaning]:
    """Functions at the top of a package with the name of one of Kotlin's: those of the package come first."""
    for node in root.named_children:
        names = [
            one for one in node.named_children if one.type in ("identifier", "user_type", "simple_identifier")
        ]
        if node.type == "function_declaration" and names and names[0].type != "user_type":
            name = text_of(names[0])
            if name in _KOTLIN:
                yield Meaning("name", name, line_of(node), f"fun {name}", asks="package")


def java(root: Node) -> Iterator[Meaning]:
    """Classes at the top of a package with the name of one of ``java.lang``."""
    for node in root.named_children:
        name = text_of(node.child_by_field_name("name"))
        if node.type.endswith("_declaration") and name in _JAVA:
            yield Meaning("name", name, line_of(node), f"class {name}", asks="package")

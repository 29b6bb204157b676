"""The conditions of a JavaScript, TypeScript or shell file, the lines that each decides about, and what the
unusual ones ask for: for the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from gate.languages.forcing import shell_copy
from gate.languages.forcing.javascript import nodes as javascript_nodes
from gate.languages.forcing.places import text_of
from gate.languages.tree_sitter_parse import walk
from gate.model.forced import Condition, GuardKind
from gate.regex import regex

_MOST: Final = 1_000
_TEXT: Final = 240
_NAMED: Final = 100
_CI: Final = (
    r"\b(?:CI|GITHUB_ACTIONS|GITLAB_CI|CIRCLECI|TRAVIS|JENKINS_URL|BUILDKITE|TF_BUILD|TEAMCITY_VERSION|DRONE"
    r"|APPVEYOR|BITBUCKET_BUILD_NUMBER|CODEBUILD_BUILD_ID)\b"
)
_CI_PREFIX: Final = r"(?:GITHUB|GITLAB|RUNNER|CI|BUILDKITE|CIRCLE|TRAVIS)_\w+"
_SANDBOX: Final = r"/\.dockerenv|/proc/(?:1|self)/(?:cgroup|status)|/proc/(?:cpuinfo|uptime)|TracerPid"
_JAVASCRIPT: Final[tuple[tuple[GuardKind, bool, re.Pattern[str]], ...]] = (
    ("ci", False, regex(r"\benv(?:\.|\[\s*[\"'`])" + _CI)),
    ("ci", True, regex(r"\benv(?:\.|\[\s*[\"'`])" + _CI_PREFIX)),
    ("sandbox", False, regex(
        _SANDBOX + r"|\.(?:cpus|totalmem|freemem|uptime|loadavg)\s*\(|inspector\s*\.\s*url|execArgv"
        r"|navigator\.webdriver"
    )),
    ("digest", True, regex(
        r"createHash|createHmac|\.digest\b|timingSafeEqual|\b(?:md5|sha1|sha256|sha512)\s*\("
    )),
    ("host", True, regex(
        r"\bhostname\s*\(|networkInterfaces\s*\(|\benv\W{1,3}(?:HOSTNAME|COMPUTERNAME)\b|location\.host"
    )),
    ("user", True, regex(r"userInfo\s*\(|\benv\W{1,3}(?:USER|USERNAME|LOGNAME)\b")),
    ("date", True, regex(
        r"Date\.now|new Date\b|\.get(?:Full)?(?:UTC)?(?:Year|FullYear|Month|Date|Day|Hours|Time)\s*\("
    )),
)  # fmt: skip
_SHELL: Final[tuple[tuple[GuardKind, bool, re.Pattern[str]], ...]] = (
    ("ci", False, regex(r"\$\{?!?" + _CI)),
    ("ci", True, regex(r"\$\{?!?" + _CI_PREFIX)),
    ("sandbox", False, regex(_SANDBOX + r"|systemd-detect-virt|\bnproc\b|dmidecode")),
    (
        "digest",
        True,
        regex(r"\b(?:sha\d+sum|md5sum|cksum|b2sum|shasum|openssl\s+(?:dgst|sha\d*|md5))\b"),
    ),
    ("host", True, regex(r"\bhostname\b|\buname\s+-n|\$\{?HOSTNAME\b")),
    ("user", True, regex(r"\bwhoami\b|\bid\s+-un?\b|\$\{?(?:USER|LOGNAME)\b")),
    ("date", True, regex(r"\bdate\b\s*[\"']?(?:\+|-[a-z]|\))|\$\{?EPOCHSECONDS\b")),
)
_WRITTEN: Final = regex(r"""["'`][^"'`]+["'`]|\b\d+\b|==?\s*[\w.-]+""")
"""A constant takes part: what is only asked for its presence is an ordinary condition."""
_Found = tuple[Node, Node, Node, bool]
"""The condition, the first and the last node that it decides about, and whether it has to hold."""


def conditions(root: Node, *, shell: bool) -> Iterator[Condition]:
    """In the order of the text, at most a thousand."""
    known = dict(_named(root, shell=shell))
    name_of = r"[A-Za-z_]\w*" if shell else r"[A-Za-z_$][\w$]*"
    count = 0
    for node in walk(root, frozenset()):
        for test, first, last, holds in decided(node, shell=shell):
            text = " ".join(text_of(test).split()).strip("; ")
            made = [
                f"{name} = {known[name]}"
                for name in dict.fromkeys(re.findall(name_of, text))
                if known.get(name) and not known[name].startswith("require(")
            ]
            said = ", ".join([_signed(text, holds=holds, shell=shell), *made])
            yield Condition(
                first=first.start_point[0] + 1,
                last=last.end_point[0] + 1,
                text=said if len(said) <= _TEXT else said[:_TEXT] + " ...",
                kind=_kind(text, " ; ".join([text, *made]), shell=shell),
            )
            count += 1
            if count >= _MOST:
                return


def decided(node: Node, *, shell: bool) -> Iterator[_Found]:
    """The conditions of one node: the test, the first and the last node that it decides about, its sign."""
    yield from _shell(node) if shell else _javascript(node)


def _kind(text: str, whole: str, *, shell: bool) -> GuardKind:
    for kind, compared, pattern in _SHELL if shell else _JAVASCRIPT:
        if pattern.search(whole) and (not compared or _WRITTEN.search(text)):
            return kind
    return ""


def _signed(text: str, *, holds: bool, shell: bool) -> str:
    bare = text[1:-1].strip() if not shell and text.startswith("(") and text.endswith(")") else text
    if holds:
        return bare
    if shell and bare.count(" != ") == 1 and "&&" not in bare and "||" not in bare:
        return bare.replace(" != ", " = ")
    turned = re.fullmatch(r"([^=!<>&|]+?)\s*([!=]==?)\s*([^=!<>&|]+)", bare)
    if turned and not shell:
        sign = turned[2].replace("!", "=", 1) if turned[2][0] == "!" else "!" + turned[2][1:]
        return f"{turned[1]} {sign} {turned[3]}"
    return f"not ({bare})"


def _named(root: Node, *, shell: bool) -> Iterator[tuple[str, str]]:
    """The one short text that each name is given; empty where there are several."""
    seen: set[str] = set()
    kind = "variable_assignment" if shell else "variable_declarator"
    for node in walk(root, frozenset()):
        if node.type != kind:
            continue
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            continue
        said, text = text_of(name), " ".join(text_of(value).split())
        yield said, "" if said in seen or len(text) > _NAMED else text
        seen.add(said)


def _behind(node: Node) -> tuple[Node, Node] | None:
    """The first and the last of what follows a statement in its block."""
    rest = node.next_named_sibling
    if rest is None or node.parent is None:
        return None
    last = node.parent.named_children[-1]
    return rest, last


def _javascript(node: Node) -> Iterator[_Found]:
    test = node.child_by_field_name("condition")
    if node.type in ("if_statement", "ternary_expression") and test is not None:
        then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        if then is not None:
            yield test, then, then, True
        if other is not None:
            yield test, other, other, False
        rest = _behind(node)
        if node.type == "if_statement" and then is not None and javascript_nodes.is_end(then) and rest:
            yield test, *rest, False
    elif node.type in ("while_statement", "for_statement") and test is not None:
        body = node.child_by_field_name("body")
        if body is not None:
            yield test, body, body, True
    elif node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is not None and right is not None and sign is not None and text_of(sign) in ("&&", "||"):
            yield left, right, right, text_of(sign) == "&&"
    elif node.type == "switch_case":
        value = node.child_by_field_name("value")
        if value is not None:
            yield value, node, node, True


def _shell(node: Node) -> Iterator[_Found]:
    if node.type in ("if_statement", "elif_clause"):
        yield from _shell_branches(node)
    elif node.type == "list" and len(node.named_children) == 2:
        left, right = node.named_children
        holds = any(c.type == "&&" for c in node.children)
        yield left, right, right, holds
        rest = _behind(node)
        if rest and shell_copy.is_end(right):
            yield left, *rest, not holds
    elif node.type == "while_statement":
        body = node.child_by_field_name("body")
        if body is not None and node.named_children:
            yield node.named_children[0], body, body, text_of(node.children[0]) == "while"
    elif node.type == "case_item":
        value = node.child_by_field_name("value")
        if value is not None:
            yield value, node, node, True


def _shell_branches(node: Node) -> Iterator[_Found]:
    then = next((c for c in node.children if c.type == "then"), None)
    if then is None or not node.named_children or node.named_children[0].start_byte > then.start_byte:
        return
    test = node.named_children[0]
    below = [c for c in node.named_children if c.start_byte > then.start_byte]
    plain = [c for c in below if c.type not in ("elif_clause", "else_clause")]
    if plain:
        yield test, plain[0], plain[-1], True
    for clause in below:
        if clause.type == "else_clause":
            yield test, clause, clause, False
    rest = _behind(node)
    if plain and rest and node.type == "if_statement" and shell_copy.is_end(plain[-1]):
        yield test, *rest, False

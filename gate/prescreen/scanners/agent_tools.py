"""What settings of coding agents newly run or allow by themselves: hooks, tool servers, permissions.

Read as data from both sides: a hook that base has, or one that only moved within the file, is not new.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import Source
from gate.prescreen.text_rule import finding, policy_rule
from gate.regex import regex
from gate.supply.inputs.text import plain_json
from gate.supply.lookalike import is_nearly

META: Final = policy_rule.meta(
    "governance.agent-tools",
    "Coding agents get a program, a server or a right that base does not give them",
    severity="high",
    confidence="high",
    topic="governance",
    cwe=(1427, 829, 250),
    attack=("T1546", "T1059", "T1195.002"),
    why="A hook runs at each session or edit, a tool server sees what the agent sees and answers what it "
    "likes, and an allowed command asks nobody: on the machine of everybody who opens the project.",
    fix="Let each person add servers and rights on their own machine; keep hooks to reviewed scripts.",
)
_FILES: Final = regex(
    r"(?:^|/)(?:\.claude/settings[^/]*\.json|\.claude-plugin/[^/]+\.json|hooks/hooks\.json|\.?mcp(?:_config|_settings)?\.json"
    r"|\.(?:cursor|gemini|vscode|roo|windsurf|kiro|amazonq|continue|junie)/(?:[^/]+/){0,2}(?:hooks|mcp|settings|default|config)\.json"
    r"|\.codex/config\.toml|opencode\.jsonc?|\.zed/settings\.json)$",
    re.IGNORECASE,
)
_SERVERS: Final = frozenset(("mcpservers", "mcp_servers", "servers", "context_servers", "mcp"))
_ALLOWS_ALL: Final = regex(
    r"^(?:\*|(?:Bash|Shell|run_shell_command|WebFetch|mcp__.{0,80})(?:\((?:\*|:\*)?\))?"
    r"|Bash\((?:curl|wget|sudo|sh|bash|python3?|node|npx|ssh|nc|env|eval|git push)\b.{0,40}\))$"
)
_SWITCHES: Final = frozenset(
    (
        "enableallprojectmcpservers",
        "autoapprove",
        "auto_approve",
        "alwaysallow",
        "autorun",
        "trust",
        "yolo",
        "dangerouslyskippermissions",
    )
)
_FULL_ACCESS: Final = frozenset(("bypasspermissions", "danger-full-access", "never", "yolo"))
_MODES: Final = frozenset(("defaultmode", "approval_policy", "sandbox_mode", "approvalmode"))
_LONGEST: Final = 1 << 18
_DEEPEST: Final = 20
_MOST: Final = 5


class Given(NamedTuple):
    """One thing that an agent is given: what is told of it, what it is, and how grave it is."""

    message: str
    what: str
    severity: Severity


_UNREADABLE: Final = Given(
    "What this file gives to agents cannot be read as data.", "too long, or no plain data", Severity.HIGH
)
"""Agents may read it all the same: their parsers are milder."""


def gives_tools(path: str) -> bool:
    """Is this a file in which agents are given hooks, servers or rights?"""
    return bool(_FILES.search(path))


def tool_findings(source: Source) -> Iterator[Finding]:
    """What head gives and base does not, at most a few; a file that is no plain data is told as such."""
    if not gives_tools(source.path):
        return
    old = {given.what for given in _given(source.path, source.base or b"")}
    lines = source.head.decode("utf-8", "replace").split("\n")
    fresh = [given for given in _given(source.path, source.head) if given.what not in old]
    fresh = [_posing(given, old) for given in fresh]
    for given in list(dict.fromkeys(fresh))[:_MOST]:
        last = given.what.split(" ")[-1].split("/")[-1]
        line = next((number for number, text in enumerate(lines, 1) if last and last in text), 1)
        yield finding(
            META,
            given.message,
            Location(path=source.path, line=line, end_line=line),
            shape=given.what,
            evidence={"what": given.what},
            severity=given.severity,
            confidence=Confidence.HIGH,
        )


def _posing(given: Given, old: AbstractSet[str]) -> Given:
    """A server under nearly the name of one that base starts is another one's."""
    known = {word for what in old if what.startswith("server ") for word in _names(what)}
    near = next(
        (k for word in _names(given.what) for k in known if word not in known and is_nearly(word, k)), ""
    )
    if not near or not given.what.startswith("server "):
        return given
    message = f"This tool server is nearly named like {near} of base, and is another one."
    return Given(message, given.what, Severity.CRITICAL)


def _names(what: str) -> Iterator[str]:
    """Packages, scopes and hosts that a server's command or address names."""
    for word in re.split(r"[\s/]+", what):
        name = word[:1] + word[1:].partition("@")[0]
        if len(name) >= 5 and not name.startswith("-"):
            yield name


def _given(path: str, data: bytes) -> tuple[Given, ...]:
    if not data.strip():
        return ()
    if len(data) > _LONGEST:
        return (_UNREADABLE,)
    text = data.decode("utf-8-sig", "replace")
    try:
        found: object = tomllib.loads(text) if path.endswith(".toml") else json.loads(plain_json(text))
    except (ValueError, RecursionError):
        return (_UNREADABLE,)
    return tuple(_walk(found, (), 0))


def _walk(data: object, keys: tuple[str, ...], depth: int) -> Iterator[Given]:
    if depth > _DEEPEST:
        return
    if isinstance(data, list):
        for item in data:
            yield from _walk(item, keys, depth + 1)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _entry(key, value, keys)
            yield from _walk(value, (*keys, key.lower()), depth + 1)


def _entry(key: str, value: object, keys: tuple[str, ...]) -> Iterator[Given]:
    low = key.lower()
    if low in _SERVERS and isinstance(value, dict):
        yield from _servers(value)
    elif low == "command" and "hooks" in keys and isinstance(value, str):
        yield Given("A hook runs a program when the agent works.", f"hook {value[:200]}", Severity.HIGH)
    elif low in ("allow", "allowedtools", "coretools") and isinstance(value, list):
        rights = [right for right in value if isinstance(right, str) and _ALLOWS_ALL.match(right)]
        for right in rights:
            yield Given("Agents may do this without asking.", f"allow {right[:200]}", Severity.HIGH)
    elif (low in _MODES and str(value).lower() in _FULL_ACCESS) or (
        low in _SWITCHES and value not in (False, [], None, "false")
    ):
        yield Given("Agents no longer ask before they act.", f"{key} {str(value)[:80]}", Severity.HIGH)


def _servers(servers: Mapping[str, object]) -> Iterator[Given]:
    for value in servers.values():
        if not isinstance(value, dict):
            continue
        url = value.get("url") or value.get("serverUrl") or value.get("httpUrl")
        if isinstance(url, str) and url:
            words = f"server {url[:200]}"
            near = re.match(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$)", url)
            severity = Severity.MEDIUM if near else Severity.HIGH
            yield Given("Agents get a tool server at this address.", words, severity)
        command = value.get("command")
        parts = command if isinstance(command, list) else [command, *(value.get("args") or [])]
        if command and isinstance(parts, list):
            words = " ".join(str(part) for part in parts if part is not None)
            yield Given("Agents start this program as a tool server.", f"server {words[:200]}", Severity.HIGH)

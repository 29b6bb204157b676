"""Hooks, tool servers and rights of coding agents: what head gives and base does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.prescreen.scanners.agent_tools import gives_tools
from gate.prescreen.scanners.governance import Governance
from gate.supply.inputs.text import plain_json
from tests.prescreen_support import make_request

HOOKS = {
    "hooks": {"PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "./tools/fmt.sh"}]}]}
}
SERVER = {"mcpServers": {"docs": {"command": "npx", "args": ["-y", "@docs/mcp"]}}}


def found(path: str, base: str | None, head: str) -> list[tuple[str, str]]:
    request = make_request({path: head}, {} if base is None else {path: base})
    findings = Governance().scan(request).findings
    return [(f.evidence["what"], f.severity.value) for f in findings if f.rule_id == "governance.agent-tools"]


@pytest.mark.parametrize(
    ("path", "data", "what"),
    [
        (".claude/settings.json", HOOKS, "hook ./tools/fmt.sh"),
        (".claude/settings.json", {"permissions": {"allow": ["Bash(curl:*)"]}}, "allow Bash(curl:*)"),
        (".claude/settings.json", {"permissions": {"allow": ["Bash"]}}, "allow Bash"),
        (
            ".claude/settings.json",
            {"permissions": {"defaultMode": "bypassPermissions"}},
            "defaultMode bypassPermissions",
        ),
        (".claude/settings.json", {"enableAllProjectMcpServers": True}, "enableAllProjectMcpServers True"),
        (".mcp.json", SERVER, "server npx -y @docs/mcp"),
        (
            ".cursor/mcp.json",
            {"mcpServers": {"d": {"url": "https://d.invalid/sse"}}},
            "server https://d.invalid/sse",
        ),
        (
            ".vscode/mcp.json",
            {"servers": {"d": {"url": "https://d.invalid/sse"}}},
            "server https://d.invalid/sse",
        ),
        (
            ".gemini/settings.json",
            {"mcpServers": {"d": {"httpUrl": "https://d.invalid"}}},
            "server https://d.invalid",
        ),
    ],
)
def test_what_is_newly_given_is_told(path: str, data: object, what: str) -> None:
    assert found(path, None, json.dumps(data)) == [(what, "high")]


def test_toml_of_agents_is_read_too() -> None:
    text = 'approval_policy = "never"\n[mcp_servers.docs]\ncommand = "uvx"\nargs = ["docs-mcp"]\n'
    assert found(".codex/config.toml", None, text) == [
        ("approval_policy never", "high"),
        ("server uvx docs-mcp", "high"),
    ]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (
            ".claude/settings.json",
            {"permissions": {"allow": ["Bash(npm test:*)", "Read(**)"], "deny": ["Bash"]}},
        ),
        (".claude/settings.json", {"model": "large", "env": {"CI": "1"}}),
        (".vscode/settings.json", {"editor.formatOnSave": True}),
        (".mcp.json", {"mcpServers": {}}),
        ("src/settings.json", SERVER),
    ],
)
def test_ordinary_settings_are_not_told(path: str, data: object) -> None:
    assert found(path, None, json.dumps(data)) == []


def test_what_base_has_is_not_new() -> None:
    moved = "// tools\n" + json.dumps(SERVER | {"other": 1}, indent=4)
    assert found(".mcp.json", json.dumps(SERVER), moved) == []


def test_comments_and_last_commas_are_no_hiding_place() -> None:
    text = '{ // ours\n "mcpServers": {"d": {"url": "https://d.invalid/a,]b//c",},},\n}'
    assert found(".mcp.json", None, text) == [("server https://d.invalid/a,]b//c", "high")]


@given(st.text(alphabet='{}[]",:/*\\ \nab1', max_size=80))
def test_text_without_comments_is_what_a_parser_reads(text: str) -> None:
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        plain_json(text)
        return
    assert json.loads(plain_json(text)) == expected


def test_which_files_give_tools() -> None:
    assert gives_tools(".claude/settings.local.json")
    assert not gives_tools("docs/mcp.md")


@pytest.mark.parametrize("head", ["{mcpServers: {}}", '{"a": 1' + " " * (1 << 18) + "}", "[" * 100_000])
def test_what_cannot_be_read_is_told(head: str) -> None:
    assert found(".mcp.json", "{}", head) == [("too long, or no plain data", "high")]
    assert found(".mcp.json", head, head + " ") == []

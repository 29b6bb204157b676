"""Line-level evidence: git-ai notes, Agent Trace, markers, branches, pull requests, findings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gate.attribution.agenttrace import TRACE_PATH, parse_traces
from gate.attribution.attribute import attribute, attribution_findings
from gate.attribution.branches import branch_evidence
from gate.attribution.gitai import parse_note
from gate.attribution.spans import merged, overlap
from gate.errors import InconclusiveError
from gate.model.change import LineOrigin
from tests.unit.attribution.support import FakeTree, change, changed, commit, request

ONE, TWO, ROOT = "1" * 40, "2" * 40, "0" * 40
SESSION = {"agent_id": {"tool": "claude", "id": "x", "model": "claude-sonnet-4-6"}}


def _note(attestation: str, **metadata: Any) -> bytes:
    whole = {"schema_version": "authorship/3.0.0", "base_commit_sha": ONE, "prompts": {}, **metadata}
    return (attestation + "---\n" + json.dumps(whole)).encode()


def test_note_of_every_key_kind() -> None:
    note = parse_note(
        _note(
            "src/a.py\n"
            "  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-10,15\n"
            "  h_31dce776f88375 25-30\n"
            "  d9978a8723e02b52 42\n"
            '"with space.py"\n'
            "  ai_agent 3\n"
            "  human 4\n"
            "  9a3f3f4e-0000-4000-8000-000000000000 5-6\n"
            "  s_unresolved::t_1 7\n",
            sessions={"s_c9883b05a2487d": SESSION},
            prompts={
                "d9978a8723e02b52": {
                    "agent_id": {"tool": "cursor", "model": "unknown"},
                    "messages": ["secret"],
                }
            },
            humans={"h_31dce776f88375": {"author": "A"}},
        )
    )
    assert note is not None
    assert note.lines == {
        ("src/a.py", "claude-code"): ((1, 10), (15, 15)),
        ("src/a.py", "cursor"): ((42, 42),),
        ("with space.py", "git-ai"): ((3, 3), (5, 7)),
    }
    assert note.models == ("claude-sonnet-4-6",)


@pytest.mark.parametrize(
    "body",
    [
        _note("", sessions={"s_1": SESSION}),  # metadata alone: no AI line survived
        _note("a.py\n  h_31dce776f88375 1-9\n"),
        _note("a.py\n  s_1::t_1 9-1\n  s_1::t_1 0\n", sessions={"s_1": SESSION}),
        _note("a.py\n  s_1::t_1 1-5\n", sessions={"s_1": {"agent_id": {"tool": "mock_ai"}}}),
        b"a.py\n  not an entry\n---\n{",
        b"---\n",
    ],
)
def test_notes_without_ai_lines(body: bytes) -> None:
    note = parse_note(body)
    assert note is not None
    assert note.lines == {}


@pytest.mark.parametrize("body", [b"", b"a remark by a person", b"\xff\xfe", b"--- a/x\n+++ b/x\n"])
def test_what_is_not_a_note(body: bytes) -> None:
    assert parse_note(body) is None


def test_note_with_broken_metadata_still_attests() -> None:
    note = parse_note(b"a.py\n  s_1::t_1 1-3\n---\n" + b"[" * 100_000)
    assert note is not None
    assert note.lines == {("a.py", "git-ai"): ((1, 3),)}


def test_lines_by_tool_reach_the_finding_and_no_transcript_does() -> None:
    body = _note(
        "a.py\n  s_1::t_1 1-3\n",
        sessions={"s_1": SESSION},
        prompts={"d9978a8723e02b52": {"agent_id": {"tool": "x"}, "messages": ["SECRET TRANSCRIPT"]}},
    )
    whole = change(
        (commit(sha=ONE), commit(sha=TWO, parents=(ONE,))), (changed("b.py", (2, 6)), changed("c.py", (1, 5)))
    )

    def origins(path: str) -> tuple[LineOrigin, ...]:
        if path != "b.py":
            return ()
        return (
            LineOrigin(line=1, count=4, commit=ONE, path="a.py", original_line=1),
            LineOrigin(line=5, count=2, commit=TWO, path="b.py", original_line=5),
        )

    commits = attribute(whole, FakeTree({}), {ONE: (body,)}, origins=origins)
    assert [c.is_ai for c in commits] == [True, False]
    assert [(item.path, item.lines, item.tool) for item in commits[0].lines] == [
        ("b.py", ((2, 3),), "claude-code")
    ]
    (finding,) = attribution_findings(whole, commits)
    assert finding.evidence["lines"] == "2 of 10 changed lines"
    assert finding.evidence["commits"] == "1 of 2"
    assert "SECRET" not in repr((commits, finding))
    assert commits[0].evidence[0].matched == "claude-code (claude-sonnet-4-6): 3 lines"


def test_without_history_only_the_last_commit_is_placed() -> None:
    body = _note("a.py\n  s_1::t_1 1-3,9\n", sessions={"s_1": SESSION})
    whole = change((commit(sha=ONE), commit(sha=TWO, parents=(ONE,))), (changed("a.py", (2, 6)),))
    commits = attribute(whole, FakeTree({}), {ONE: (body,), TWO: (body,)})
    assert [c.is_ai for c in commits] == [True, True]
    assert commits[0].lines == ()
    assert commits[1].lines[0].lines == ((2, 3),)


def _trace(path: str, revision: str, kind: str = "ai", version: str = "1.0", **more: Any) -> bytes:
    talk = {
        "url": "file:///home/me/secret",
        "contributor": {"type": kind},
        "ranges": [{"start_line": 1, "end_line": 3}],
    }
    record = {
        "version": version,
        "id": "x",
        "timestamp": "t",
        "files": [{"path": path, "conversations": [talk]}],
    }
    return json.dumps(
        record | {"vcs": {"type": "git", "revision": revision}, "tool": {"name": "cursor"}} | more
    ).encode()


def test_agent_trace_in_the_tree_belongs_to_the_child_of_its_revision() -> None:
    rows = [
        _trace("a.py", ROOT),
        _trace("a.py", ROOT, kind="human"),
        _trace(".shell-history", ROOT),
        b"not json",
        _trace("a.py", "f" * 40),
    ]
    whole = change(
        (commit(sha=ONE, parents=(ROOT,)),), (changed("a.py", (1, 9)), changed(TRACE_PATH, (1, 5)))
    )
    (told,) = attribute(whole, FakeTree({TRACE_PATH: b"\n".join(rows)}), {})
    assert (told.tool, told.confidence) == ("cursor", "strong")
    assert told.lines[0].lines == ((1, 3),)
    assert "secret" not in repr(told)


def test_agent_trace_as_a_note_and_both_versions() -> None:
    whole = change((commit(sha=ONE, parents=(ROOT,)),), (changed("a.py", (1, 9)),))
    for version in ("0.1.0", "1.0"):
        (told,) = attribute(whole, FakeTree({}), {ONE: (_trace("a.py", ROOT, version=version),)})
        assert told.tool == "cursor"
    pretty = json.dumps(json.loads(_trace("a.py", ROOT)), indent=2).encode()
    assert [record.revision for record in parse_traces(pretty)] == [ROOT]


def test_a_range_contributor_overrides_the_conversation() -> None:
    talk = {
        "contributor": {"type": "human"},
        "ranges": [
            {"start_line": 1, "end_line": 2},
            {"start_line": 5, "end_line": 6, "contributor": {"type": "ai"}},
        ],
    }
    raw = json.dumps({"version": "1.0", "files": [{"path": "a", "conversations": [talk]}]}).encode()
    (record,) = parse_traces(raw)
    assert record.lines == {("a", "agent-trace"): ((5, 6),)}


def test_markers_count_only_in_changed_comments_and_are_weak() -> None:
    text = b"# generated by ChatGPT\nx = 'generated by ChatGPT'\ny = 1  # code generated by Claude Code\n"
    whole = change((commit(sha=ONE),), (changed("a.py", (2, 3)), changed("big.py", (1, 1), size=2 << 20)))
    (told,) = attribute(whole, FakeTree({"a.py": text, "big.py": text}), {})
    assert [(e.kind, e.where) for e in told.evidence] == [("marker", "a.py:3")]
    assert not told.is_ai


BRANCHES = [
    ("copilot/fix-1f2e", "github-copilot", "strong"),
    ("codex/add-tests", "codex", "strong"),
    ("claude/issue-1469-20250813-0025", "claude-code", "strong"),
    ("claude/fix-docs-links-G4VyZ", "claude-code", "strong"),
    ("claude/x", "ai", "weak"),
    ("cursor/thing-1929", "cursor", "strong"),
    ("cursor/blink", "ai", "weak"),
    ("devin/1734193391-improve", "devin", "definite"),
    ("openhands-fix-issue-12", "openhands", "definite"),
    ("slug-of-task-10568282859807385424", "jules", "strong"),
    ("feature/cursor", None, None),
    ("docs/no-claude-coauthor", None, None),
    ("release-20250813", None, None),
]


@pytest.mark.parametrize(("branch", "tool", "confidence"), BRANCHES)
def test_branches(branch: str, tool: str | None, confidence: str | None) -> None:
    found = next(branch_evidence(branch), None)
    assert ((found.tool, found.confidence) if found else (None, None)) == (tool, confidence)


def test_the_request_speaks_for_the_last_commit() -> None:
    whole = change((commit(sha=ONE), commit(sha=TWO, parents=(ONE,))), (), branch="codex/x")
    assert [c.is_ai for c in attribute(whole, FakeTree({}), {})] == [False, True]
    plain = change(whole.commits, ())
    asked = request(
        body="words\n\nPR created automatically by Jules for task [1](https://jules.google.com/task/1)"
    )
    last = attribute(plain, FakeTree({}), {}, request=asked)[-1]
    assert (last.tool, last.evidence[0].where) == ("jules", "pull-request body")
    labelled = attribute(plain, FakeTree({}), {}, request=request(labels=("codex",)))[-1]
    assert (labelled.is_ai, labelled.evidence[0].kind) == (False, "label")
    agent = attribute(plain, FakeTree({}), {}, request=request(author="devin-ai-integration[bot]"))[-1]
    assert agent.tool == "devin"
    person = attribute(plain, FakeTree({}), {}, request=request(author="claude-dupont", body="no AI here"))[
        -1
    ]
    assert not person.is_ai
    notes = "\U0001f916 Generated with [Claude Code](https://claude.com)"
    bumped = attribute(plain, FakeTree({}), {}, request=request(author="dependabot[bot]", body=notes))[-1]
    assert not bumped.is_ai


def test_no_commits_no_files_no_trouble() -> None:
    assert attribute(change((), ()), FakeTree({}), {}) == ()
    ai = attribute(change((commit("x\n\nMade-with: Cursor\n"),), ()), FakeTree({}), {})
    assert attribution_findings(change((commit(),), ()), ai) == ()


def test_a_range_made_to_be_slow_ends_as_could_not_look() -> None:
    whole = change((commit(),), (changed("a.py", (1, 1)),))
    with pytest.raises(InconclusiveError, match="attribution took more than"):
        attribute(whole, FakeTree({"a.py": b""}), {}, deadline=-1.0)


def test_one_finding_per_tool() -> None:
    commits = tuple(commit("x\n\nMade-with: Cursor\n", sha=str(i) * 40) for i in range(3))
    commits += (commit("x\n\nCo-authored-by: Codex <codex@openai.com>\n", sha="9" * 40),)
    whole = change(commits, (changed("a.py", (1, 1)),))
    found = attribution_findings(whole, attribute(whole, FakeTree({"a.py": b"x\n"}), {}))
    assert [(f.shape, f.evidence["commits"]) for f in found] == [("codex", "1 of 4"), ("cursor", "3 of 4")]


def test_span_arithmetic() -> None:
    assert merged([(5, 6), (1, 2), (3, 3), (6, 9)]) == ((1, 3), (5, 9))
    assert overlap(((1, 3), (5, 9)), ((2, 5), (9, 20))) == ((2, 3), (5, 5), (9, 9))
    assert overlap((), ((1, 2),)) == ()

"""The forge's event is data: strict, bounded, and never more than names of commits and the author's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.change.event import EVENT_BYTES, parse_event, read_event
from gate.errors import UsageError

A, B = "a" * 40, "b" * 40


def _pull(**more: Any) -> dict[str, Any]:
    head = {"sha": B, "ref": "codex/x", "repo": {"id": 2}}
    base = {"sha": A, "ref": "main", "repo": {"id": 1}}
    return {
        "action": "opened",
        "pull_request": {"number": 7, "base": base, "head": head, "unknown": [1], **more},
    }


def _parse(payload: Any) -> Any:
    return parse_event(json.dumps(payload).encode())


def test_pull_request() -> None:
    event = _parse(
        _pull(title="t", body="b\u202e", labels=[{"name": "ai"}], user={"login": "Copilot"}, draft=True)
    )
    assert (event.base, event.head, event.branch) == (A, B, "codex/x")
    pull = event.pull_request
    assert (pull.number, pull.title, pull.body, pull.labels, pull.author) == (
        7,
        "t",
        "b\u202e",
        ("ai",),
        "Copilot",
    )
    assert pull.from_fork
    assert pull.draft


def test_same_repository_is_no_fork_and_a_deleted_fork_is_one() -> None:
    payload = _pull()
    payload["pull_request"]["head"]["repo"]["id"] = 1
    assert not _parse(payload).pull_request.from_fork
    payload["pull_request"]["head"]["repo"] = None
    assert _parse(payload).pull_request.from_fork


def test_push_merge_group_and_new_branch() -> None:
    push = _parse({"before": A, "after": B, "ref": "refs/heads/topic"})
    assert (push.base, push.head, push.branch) == (A, B, "topic")
    assert _parse({"before": "0" * 40, "after": B, "ref": "refs/heads/new"}).base is None
    group = _parse(
        {"merge_group": {"base_sha": A, "head_sha": B, "head_ref": "refs/heads/gh-readonly-queue/x"}}
    )
    assert (group.base, group.head) == (A, B)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        [],
        {"after": "0" * 40},
        {"after": "main"},
        {"after": "--upload-pack=x"},
        {"pull_request": {"number": 1}},
        {"pull_request": {"number": "1", "base": {"sha": A}, "head": {"sha": B}}},
        {"pull_request": {"number": 1, "base": {"sha": "$(id)"}, "head": {"sha": B}}},
        {"pull_request": {"number": 1, "base": {"sha": A}, "head": {"sha": B + "\n"}}},
        {"workflow_run": {"pull_requests": []}},
    ],
)
def test_anything_else_is_refused(payload: Any) -> None:
    with pytest.raises(UsageError) as error:
        _parse(payload)
    assert error.value.advice


@pytest.mark.parametrize("raw", [b"", b"\xff", b"{", b"[" * 100_000, b'{"after": "' + b"a" * 40])
def test_broken_json_is_refused(raw: bytes) -> None:
    with pytest.raises(UsageError):
        parse_event(raw)


def test_files_are_bounded_and_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(_pull(body="x" * 400_000)))
    request = read_event(file).pull_request
    assert request is not None
    assert len(request.body) == 262_144
    with file.open("wb") as stream:
        stream.truncate(EVENT_BYTES + 1)
    with pytest.raises(UsageError, match="larger"):
        read_event(file)
    with pytest.raises(UsageError, match="cannot read"):
        read_event(tmp_path / "none")

"""Files, commits, workflow runs and artifacts of the stand-in."""

from __future__ import annotations

import base64
from typing import Any

from tests.forge.standin.routes import Call, Listed, R, Refusal, route, user_of
from tests.forge.standin.world import OWNER, REPO, Actor, Pull


@route("GET", f"{R}/contents/{{path}}", "contents")
def _contents(call: Call) -> tuple[int, Any]:
    raw = call.world.files.get((call.query["ref"], call.params["path"]))
    if raw is None:
        raise Refusal(404, "Not Found")
    made = call.told.example("GET", f"{R}/contents/{{path}}", 200)
    name = call.params["path"]
    told = {"content": base64.encodebytes(raw).decode(), "encoding": "base64", "size": len(raw)}
    return 200, made | told | {"type": "file", "name": name, "path": name}


@route("GET", f"{R}/pulls/{{pull_number}}/files", "pull_requests")
def _files(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/pulls/{{pull_number}}/files", 200)[0]
    pull = call.pull(call.params["pull_number"])
    names = dict.fromkeys([*pull.files, *pull.patches])
    return 200, Listed([example | {"filename": n, "patch": pull.patches.get(n, "")} for n in names])


@route("GET", f"{R}/pulls/{{pull_number}}/comments", "pull_requests")
def _review_comments(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/pulls/{{pull_number}}/comments", 200)[0]
    pull = call.pull(call.params["pull_number"])
    return 200, Listed(
        [
            example | {"body": r["body"], "path": r["path"], "user": user_of(call, Actor(login=r["login"]))}
            for r in pull.reviews
        ]
    )


@route("POST", f"{R}/pulls/{{pull_number}}/reviews", "pull_requests", "write")
def _review(call: Call) -> tuple[int, Any]:
    """GitHub takes comments only on lines that the difference shows."""
    pull = call.pull(call.params["pull_number"])
    said = call.body.get("comments", [])
    if call.body.get("commit_id", pull.head_sha) != pull.head_sha or any(
        c["line"] not in _shown(pull.patches.get(c["path"], "")) for c in said
    ):
        raise Refusal(422, "Unprocessable Entity: line must be part of the diff")
    pull.reviews += [{**c, "login": call.actor.login, "commit": call.body.get("commit_id")} for c in said]
    made = call.told.example("POST", f"{R}/pulls/{{pull_number}}/reviews", 200)
    return 200, made | {"id": call.world.ids(), "user": user_of(call, call.actor)}


def _shown(patch: str) -> set[int]:
    number, out = 0, set()
    for line in patch.split("\n"):
        if line.startswith("@@"):
            number = int(line.split("+")[1].split(",")[0].split(" ")[0])
        elif line[:1] in ("+", " "):
            out.add(number)
            number += 1
    return out


@route("GET", f"{R}/compare/{{basehead}}", "contents")
def _compare(call: Call) -> tuple[int, Any]:
    """Commits page by page, as many as there are; files are left out."""
    base, _, head = call.params["basehead"].partition("...")
    world = call.world
    pull = next((p for p in world.pulls.values() if p.head_sha == head), None)
    made = call.told.example("GET", f"{R}/compare/{{basehead}}", 200)
    example = made["commits"][0]
    commits = _commits_of(call, example, pull) if pull is not None and base != head else []
    merge_base = world.merge_bases.get((base, head), base)
    ahead = pull is not None or (base, head) in world.older
    made |= {
        "status": "identical" if base == head else "ahead" if ahead and merge_base == base else "diverged",
        "total_commits": len(commits),
        "ahead_by": len(commits),
        "merge_base_commit": example | {"sha": merge_base},
        "files": [],
    }
    return 200, Listed(commits, key="commits", rest=made)


def _commits_of(call: Call, example: dict[str, Any], pull: Pull) -> list[dict[str, Any]]:
    out = []
    for number, login in enumerate(pull.commit_authors or [pull.author]):
        told = pull.messages[number] if number < len(pull.messages) else "Change prices"
        unknown = "<" in login  # name and address that belong to no account
        name, _, rest = login.partition(" <")
        signature = {"name": name, "email": rest.rstrip(">") or f"{name}@example.invalid"}
        inner = example["commit"] | {"message": told}
        inner |= {k: example["commit"][k] | signature for k in ("author", "committer")}
        user: dict[str, Any] = {} if unknown else user_of(call, Actor(login=login))
        out.append(example | {"commit": inner, "author": user, "committer": user})
    return out


@route("GET", f"{R}/actions/workflows/{{workflow_id}}/runs", "actions")
def _runs(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/actions/runs/{{run_id}}", 200)
    found = [
        example
        | {k: v for k, v in run.items() if k != "head_owner"}
        | {"head_repository": example["head_repository"] | {"owner": _owner(example, run)}}
        for run in call.world.runs.values()
        if run["path"].endswith("/" + call.params["workflow_id"])
        and run["head_sha"] == call.query.get("head_sha", run["head_sha"])
        and run["event"] == call.query.get("event", run["event"])
        and run["status"] == call.query.get("status", run["status"])
    ]
    return 200, Listed(found, key="workflow_runs")


def _owner(example: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    owner: dict[str, Any] = example["head_repository"]["owner"] | {"login": run["head_owner"]}
    return owner


@route("GET", f"{R}/actions/runs/{{run_id}}/artifacts", "actions")
def _artifacts(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/actions/runs/{{run_id}}/artifacts", 200)["artifacts"][0]
    found = []
    for number, (run, name, raw) in call.world.artifacts.items():
        if run == int(call.params["run_id"]) and name == call.query.get("name", name):
            url = f"{call.url}/repos/{OWNER}/{REPO}/actions/artifacts/{number}/zip"
            told = {"id": number, "name": name, "size_in_bytes": len(raw), "expired": False}
            found.append(example | told | {"archive_download_url": url})
    return 200, Listed(found, key="artifacts")


@route("GET", f"{R}/actions/artifacts/{{artifact_id}}/{{archive_format}}", "actions")
def _archive(call: Call) -> tuple[int, Any]:
    if int(call.params["artifact_id"]) not in call.world.artifacts:
        raise Refusal(404, "Not Found")
    return 302, f"{call.url}/blobs/{call.params['artifact_id']}?sig=secret"

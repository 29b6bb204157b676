"""Files, commits, workflow runs and artifacts of the stand-in."""

from __future__ import annotations

import base64
from typing import Any

from tests.forge.standin.routes import Call, Listed, R, Refusal, route, user_of
from tests.forge.standin.world import OWNER, REPO, Actor


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


@route("GET", f"{R}/pulls/{{pull_number}}/commits", "pull_requests")
def _pull_commits(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/pulls/{{pull_number}}/commits", 200)[0]
    pull = call.pull(call.params["pull_number"])
    who = [user_of(call, Actor(login=login)) for login in (pull.commit_authors or [pull.author])]
    return 200, Listed([example | {"author": user, "committer": user} for user in who])


@route("GET", f"{R}/actions/workflows/{{workflow_id}}/runs", "actions")
def _runs(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/actions/runs/{{run_id}}", 200)
    found = [
        example | {k: v for k, v in run.items() if k != "head_owner"}
        for run in call.world.runs.values()
        if run["path"].endswith("/" + call.params["workflow_id"])
        and run["head_sha"] == call.query.get("head_sha", run["head_sha"])
        and run["event"] == call.query.get("event", run["event"])
    ]
    return 200, Listed(found, key="workflow_runs")


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

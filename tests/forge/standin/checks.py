"""Check runs, commit statuses, code scanning, workflow runs and commits of the stand-in."""

from __future__ import annotations

from typing import Any

from tests.forge.standin.routes import Call, Listed, R, Refusal, route
from tests.forge.standin.world import OWNER, REPO, TREE, Actor, stamp


def check_of(call: Call, check: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = call.told.example("POST", f"{R}/check-runs", 201)
    output = check.get("output") or {}
    kept = ("name", "head_sha", "status", "conclusion", "external_id", "details_url")
    told: dict[str, Any] = {str(k): check[k] for k in kept if k in check}
    told["output"] = {
        "title": output.get("title"),
        "summary": output.get("summary"),
        "text": output.get("text"),
        "annotations_count": len(check.get("annotations", [])),
        "annotations_url": f"{call.url}/repos/{OWNER}/{REPO}/check-runs/{check['id']}/annotations",
    }
    made["app"] = made["app"] | {"slug": check["app"], "id": check["app_id"]}
    made |= {"id": check["id"], "html_url": f"https://github.com/{OWNER}/{REPO}/runs/{check['id']}"}
    made |= {"started_at": check["at"], "completed_at": check["at"], "pull_requests": []}
    return made | told


def _put_check(call: Call, check: dict[str, Any]) -> None:
    annotations = (call.body.get("output") or {}).get("annotations", [])
    if len(annotations) > 50:
        raise Refusal(422, "No more than 50 annotations")
    if len((call.body.get("output") or {}).get("summary", "")) > 65_535:
        raise Refusal(422, "summary is too long")
    check["annotations"] = [*check.get("annotations", []), *annotations]
    check.update({k: v for k, v in call.body.items() if k != "output"})
    if "conclusion" in call.body:
        check["status"] = "completed"
        check["at"] = stamp()
    elif check["status"] != "completed":
        check["conclusion"] = None
    if call.body.get("output"):
        check["output"] = {k: v for k, v in call.body["output"].items() if k != "annotations"}


@route("POST", f"{R}/check-runs", "checks", "write")
def _add_check(call: Call) -> tuple[int, Any]:
    if call.actor.type != "Bot":
        raise Refusal(403, "You must authenticate via a GitHub App.")
    slug = call.actor.login.removesuffix("[bot]")
    check: dict[str, Any] = {
        "id": call.world.ids(),
        "app": slug,
        "app_id": call.actor.id,
        "at": stamp(),
        "status": "queued",
        "conclusion": None,
    }
    _put_check(call, check)
    call.world.checks[check["id"]] = check
    return 201, check_of(call, check)


@route("PATCH", f"{R}/check-runs/{{check_run_id}}", "checks", "write")
def _edit_check(call: Call) -> tuple[int, Any]:
    check = call.world.checks.get(int(call.params["check_run_id"]))
    if check is None:
        raise Refusal(404, "Not Found")
    _put_check(call, check)
    return 200, check_of(call, check)


@route("GET", f"{R}/commits/{{ref}}/check-runs", "checks")
def _checks(call: Call) -> tuple[int, Any]:
    name = call.query.get("check_name")
    found = [
        check_of(call, c)
        for c in reversed(call.world.checks.values())
        if c["head_sha"] == call.params["ref"]
        and name in (None, c["name"])
        and call.query.get("app_id", str(c["app_id"])) == str(c["app_id"])
    ]
    return 200, Listed(found, key="check_runs")


@route("GET", f"{R}/check-runs/{{check_run_id}}/annotations", "checks")
def _annotations(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/check-runs/{{check_run_id}}/annotations", 200)[0]
    check = call.world.checks[int(call.params["check_run_id"])]
    return 200, Listed([example | a for a in check.get("annotations", [])])


@route("POST", f"{R}/statuses/{{sha}}", "statuses", "write")
def _add_status(call: Call) -> tuple[int, Any]:
    if len(call.body.get("description") or "") > 140:
        raise Refusal(422, "description is too long (maximum is 140 characters)")
    told = {"target_url": None, "description": None, "context": "default", **call.body}
    status = told | {"sha": call.params["sha"], "creator": call.actor, "at": stamp()}
    call.world.statuses.append(status)
    return 201, _status(call, status)


def _status(call: Call, status: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = call.told.example("POST", f"{R}/statuses/{{sha}}", 201)
    made |= {k: status[k] for k in ("state", "target_url", "description", "context")}
    creator: Actor = status["creator"]
    made["creator"] |= {"login": creator.login, "id": creator.id, "type": creator.type}
    return made | {"created_at": status["at"], "updated_at": status["at"]}


@route("GET", f"{R}/commits/{{ref}}/statuses", "statuses")
def _statuses(call: Call) -> tuple[int, Any]:
    found = [s for s in reversed(call.world.statuses) if s["sha"] == call.params["ref"]]
    return 200, Listed([_status(call, s) for s in found])


@route("POST", f"{R}/code-scanning/sarifs", "security_events", "write")
def _add_sarif(call: Call) -> tuple[int, Any]:
    name = f"{call.world.ids():08d}-0000-4000-8000-000000000000"
    call.world.sarifs[name] = call.body
    return 202, {"id": name, "url": f"{call.url}/repos/{OWNER}/{REPO}/code-scanning/sarifs/{name}"}


@route("GET", f"{R}/actions/runs/{{run_id}}", "actions")
def _run(call: Call) -> tuple[int, Any]:
    run = call.world.runs.get(int(call.params["run_id"]))
    if run is None:
        raise Refusal(404, "Not Found")
    made = call.told.example("GET", f"{R}/actions/runs/{{run_id}}", 200)
    made |= {k: v for k, v in run.items() if k != "head_owner"}
    made["head_repository"]["owner"] |= {"login": run["head_owner"]}
    return 200, made


@route("GET", f"{R}/git/commits/{{commit_sha}}", "contents")
def _commit(call: Call) -> tuple[int, Any]:
    found = call.world.trees.get(call.params["commit_sha"], (TREE, ()))
    made = call.told.example("GET", f"{R}/git/commits/{{commit_sha}}", 200)
    made["tree"] |= {"sha": found[0]}
    link = made["parents"][0]
    return 200, made | {"sha": call.params["commit_sha"], "parents": [link | {"sha": p} for p in found[1]]}

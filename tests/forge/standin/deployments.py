"""Deployments, apps and history of the stand-in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import jwt

from tests.forge.standin.routes import Call, Listed, R, Refusal, pull_of, route
from tests.forge.standin.world import OWNER, REPO, REPO_ID, Actor, World


def app_of(world: World, token: str) -> Actor | None:
    """The app whose key signed this JWT, as GitHub checks it: RS256, ten minutes at most."""
    for number, public in world.apps.items():
        try:
            told = jwt.decode(token, public, algorithms=["RS256"], options={"require": ["iat", "exp", "iss"]})
        except jwt.InvalidTokenError:
            continue
        if str(told["iss"]) == str(number) and told["exp"] - told["iat"] <= 660:
            return Actor(login="gate-app", id=number, type="Bot", permissions={"app": "write"})
    return None


@route("GET", "/app", "app")
def _app(call: Call) -> tuple[int, Any]:
    made = call.told.example("GET", "/app", 200)
    return 200, made | {"id": call.actor.id, "slug": call.actor.login}


@route("POST", "/app/installations/{installation_id}/access_tokens", "app", "write")
def _token(call: Call) -> tuple[int, Any]:
    token = f"ghs_{call.world.ids()}"
    asked = (call.body or {}).get("permissions", {})
    login = f"{call.actor.login}[bot]"
    call.world.actors[token] = Actor(login=login, id=call.actor.id, type="Bot", permissions=asked)
    until = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return 201, {"token": token, "expires_at": until, "permissions": asked}


@route("GET", R)
def _repository(call: Call) -> tuple[int, Any]:
    made = call.told.example("GET", R, 200)
    for part in (made, made.get("source", {}), made.get("parent", {})):
        part.setdefault("language", None)
    told = {"id": REPO_ID, "name": REPO, "full_name": f"{OWNER}/{REPO}", "default_branch": "main"}
    return 200, made | told


@route("GET", f"{R}/commits", "contents")
def _commits(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/commits", 200)[0]
    start = call.world.branches.get(call.query["sha"], call.query["sha"])
    if start not in call.world.trees:
        raise Refusal(404, "Not Found")
    seen, todo = [], [start]
    while todo:
        sha = todo.pop(0)
        if sha in seen or sha not in call.world.trees:
            continue
        seen.append(sha)
        todo += call.world.trees[sha][1]
    link = example["parents"][0]
    return 200, Listed(
        [
            example | {"sha": sha, "parents": [link | {"sha": p} for p in call.world.trees[sha][1]]}
            for sha in seen
        ]
    )


@route("GET", f"{R}/commits/{{commit_sha}}/pulls", "pull_requests")
def _pulls_of(call: Call) -> tuple[int, Any]:
    found = [p for p in call.world.pulls.values() if p.merged_as == call.params["commit_sha"]]
    when = "2026-01-01T00:00:00Z"
    return 200, Listed(
        [pull_of(call, p, short=True) | {"merge_commit_sha": p.merged_as, "merged_at": when} for p in found]
    )


@route("POST", f"{R}/actions/runs/{{run_id}}/deployment_protection_rule", "deployments", "write")
def _review(call: Call) -> tuple[int, Any]:
    review = {"run": int(call.params["run_id"]), **call.body}
    one = {"run", "environment_name"}
    if any(all(old[key] == review[key] for key in one) for old in call.world.reviews):
        raise Refusal(422, "No pending deployment")
    call.world.reviews.append(review)
    return 204, None

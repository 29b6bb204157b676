"""What the stand-in answers: GitHub's published example of each answer, overlaid with the world's state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tests.forge.standin.description import Description
from tests.forge.standin.world import OWNER, REPO, REPO_ID, Actor, Comment, Pull, World, stamp

R: Final = "/repos/{owner}/{repo}"
_LEVELS: Final = ("none", "read", "write")
_RANKS: Final = {"read": 1, "triage": 2, "write": 3, "maintain": 4, "admin": 5}


class Refusal(Exception):  # noqa: N818
    """An error answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


@dataclass(frozen=True)
class Call:
    """One request on its way to a route."""

    world: World
    told: Description
    url: str
    actor: Actor
    params: dict[str, str]
    query: dict[str, str]
    body: Any

    def pull(self, number: str) -> Pull:
        found = self.world.pulls.get(int(number))
        if found is None:
            raise Refusal(404, "Not Found")
        return found


@dataclass(frozen=True)
class Listed:
    """A list to be paged; ``key`` where it sits in an object with a count."""

    items: list[Any]
    key: str | None = None
    rest: dict[str, Any] | None = None
    """What else the object holds, instead of a count."""


Route = Callable[[Call], tuple[int, Any]]
ROUTES: Final[dict[tuple[str, str], tuple[Route, str, str]]] = {}
"""(method, template) -> (function, permission, level)."""


def route(
    method: str, template: str, permission: str = "metadata", level: str = "read"
) -> Callable[[Route], Route]:
    """Register one."""

    def add(function: Route) -> Route:
        ROUTES[method, template] = (function, permission, level)
        return function

    return add


def allowed(actor: Actor, permission: str, level: str, world: World) -> bool:
    """A job's token has its permissions; a person has the role's."""
    if permission == "metadata":
        return True
    if actor.permissions is not None:
        also = "pull_requests" if permission == "issues" else permission  # of pull requests, either will do
        have = max((actor.permissions.get(p, "none") for p in (permission, also)), key=_LEVELS.index)
        return have == "write" or (have == "read" and level == "read")
    return _RANKS.get(world.roles.get(actor.login, ""), 0) >= (3 if level == "write" else 1)


def user_of(call: Call, actor: Actor) -> dict[str, Any]:
    made: dict[str, Any] = call.told.example("GET", f"{R}/issues/comments/{{comment_id}}", 200)["user"]
    return made | {"login": actor.login, "id": actor.id, "type": actor.type, "site_admin": False}


@route("GET", "/user")
def _user(call: Call) -> tuple[int, Any]:
    if call.actor.permissions is not None:
        raise Refusal(403, "Resource not accessible by integration")
    made = call.told.example("GET", "/user", 200)
    made.pop("business_plus", None), made.pop("ldap_dn", None)
    return 200, made | {"login": call.actor.login, "id": call.actor.id}


def comment_of(call: Call, comment: Comment) -> dict[str, Any]:
    made: dict[str, Any] = call.told.example("GET", f"{R}/issues/comments/{{comment_id}}", 200)
    return made | {
        "id": comment.id,
        "body": comment.body,
        "user": user_of(call, comment.author),
        "created_at": comment.created,
        "updated_at": comment.updated,
        "html_url": f"https://github.com/{OWNER}/{REPO}/pull/{comment.number}#issuecomment-{comment.id}",
        "issue_url": f"{call.url}/repos/{OWNER}/{REPO}/issues/{comment.number}",
        "author_association": comment.association,
        "performed_via_github_app": app_example(call) if comment.app else None,
    }


def app_example(call: Call) -> dict[str, Any]:
    """An app, as the description shows one."""
    made: dict[str, Any] = call.told.example("POST", f"{R}/check-runs", 201)["app"]
    return made


@route("GET", f"{R}/issues/{{issue_number}}/comments", "issues")
def _comments(call: Call) -> tuple[int, Any]:
    call.pull(call.params["issue_number"])
    return 200, Listed([comment_of(call, c) for c in call.world.on(int(call.params["issue_number"]))])


@route("POST", f"{R}/issues/{{issue_number}}/comments", "issues", "write")
def _add_comment(call: Call) -> tuple[int, Any]:
    number = call.pull(call.params["issue_number"]).number
    if len(call.body["body"]) > 65_536:
        raise Refusal(422, "Validation Failed")
    return 201, comment_of(call, call.world.comment(number, call.actor, call.body["body"]))


@route("GET", f"{R}/issues/comments/{{comment_id}}", "issues")
def _comment(call: Call) -> tuple[int, Any]:
    found = call.world.comments.get(int(call.params["comment_id"]))
    if found is None:
        raise Refusal(404, "Not Found")
    return 200, comment_of(call, found)


@route("PATCH", f"{R}/issues/comments/{{comment_id}}", "issues", "write")
def _edit_comment(call: Call) -> tuple[int, Any]:
    found = call.world.comments.get(int(call.params["comment_id"]))
    if found is None:
        raise Refusal(404, "Not Found")
    if found.author.login != call.actor.login:
        raise Refusal(403, "Must have admin rights to Repository.")
    found.body, found.updated = call.body["body"], stamp()
    return 200, comment_of(call, found)


def pull_of(call: Call, pull: Pull, method: str = "GET", short: bool = False) -> dict[str, Any]:
    template = f"{R}/pulls" if short else f"{R}/pulls/{{pull_number}}"
    made: Any = call.told.example(method, template, 200)
    made = made[0] if short else made
    made["requested_teams"] = []
    made |= {"number": pull.number, "state": pull.state, "title": pull.title, "body": pull.body}
    made["created_at"] = pull.created
    made["user"] = user_of(call, Actor(login=pull.author, id=77, type=pull.author_type))
    made["assignees"] = [user_of(call, Actor(login=login)) for login in pull.assignees]
    made["requested_reviewers"] = [user_of(call, Actor(login=login)) for login in pull.reviewers]
    for side, sha, ref, owner, repo in (
        ("head", pull.head_sha, pull.head_ref, pull.head_owner, pull.head_repo_id),
        ("base", pull.base_sha, pull.base_ref, OWNER, REPO_ID),
    ):
        made[side] |= {"sha": sha, "ref": ref, "label": f"{owner}:{ref}"}
        if repo is None:
            made[side]["repo"] = None
        else:
            made[side]["repo"] |= {"id": repo, "name": REPO, "full_name": f"{owner}/{REPO}"}
            made[side]["repo"].setdefault("language", None)
    return made  # type: ignore[no-any-return]


@route("GET", f"{R}/pulls/{{pull_number}}", "pull_requests")
def _pull(call: Call) -> tuple[int, Any]:
    return 200, pull_of(call, call.pull(call.params["pull_number"]))


@route("GET", f"{R}/pulls", "pull_requests")
def _pulls(call: Call) -> tuple[int, Any]:
    state, head = call.query.get("state", "open"), call.query.get("head")
    found = [
        p
        for p in call.world.pulls.values()
        if state in (p.state, "all") and head in (None, f"{p.head_owner}:{p.head_ref}")
    ]
    return 200, Listed([pull_of(call, p, short=True) for p in found])


@route("POST", f"{R}/pulls/{{pull_number}}/requested_reviewers", "pull_requests", "write")
def _reviewers(call: Call) -> tuple[int, Any]:
    pull = call.pull(call.params["pull_number"])
    if pull.author in call.body.get("reviewers", []):
        raise Refusal(422, "Review cannot be requested from pull request author.")
    pull.reviewers += [*call.body.get("reviewers", []), *call.body.get("team_reviewers", [])]
    made = call.told.example("POST", f"{R}/pulls/{{pull_number}}/requested_reviewers", 201)
    return 201, made | {"number": pull.number, "requested_teams": []}


def _label(call: Call, name: str) -> dict[str, Any]:
    made: dict[str, Any] = call.told.example("GET", f"{R}/issues/{{issue_number}}/labels", 200)[0]
    return made | {"name": name}


@route("GET", f"{R}/issues/{{issue_number}}/labels", "issues")
def _labels(call: Call) -> tuple[int, Any]:
    return 200, Listed([_label(call, n) for n in call.pull(call.params["issue_number"]).labels])


@route("POST", f"{R}/issues/{{issue_number}}/labels", "issues", "write")
def _add_labels(call: Call) -> tuple[int, Any]:
    pull = call.pull(call.params["issue_number"])
    pull.labels += [n for n in call.body["labels"] if n not in pull.labels]
    return 200, [_label(call, n) for n in pull.labels]


@route("DELETE", f"{R}/issues/{{issue_number}}/labels/{{name}}", "issues", "write")
def _drop_label(call: Call) -> tuple[int, Any]:
    pull = call.pull(call.params["issue_number"])
    if call.params["name"] not in pull.labels:
        raise Refusal(404, "Label does not exist")
    pull.labels.remove(call.params["name"])
    return 200, [_label(call, n) for n in pull.labels]


@route("GET", f"{R}/issues/{{issue_number}}/events", "issues")
def _events(call: Call) -> tuple[int, Any]:
    example = call.told.example("GET", f"{R}/issues/{{issue_number}}/events", 200)[0]
    found = []
    for number, event in enumerate(call.pull(call.params["issue_number"]).events):
        who = {k: user_of(call, Actor(login=v)) for k, v in event.items() if k not in ("event", "created_at")}
        told = {"id": number, "event": event["event"], "created_at": event["created_at"]}
        found.append(example | told | who)
    return 200, Listed(found)


@route("GET", "/users/{username}")
def _person(call: Call) -> tuple[int, Any]:
    made = call.told.example("GET", "/users/{username}", 200)
    shown = call.world.people.get(call.params["username"], {"name": None, "email": None})
    made["user_view_type"] = "public"  # which of two schemas it is
    return 200, made | {"login": call.params["username"]} | shown


@route("GET", f"{R}/collaborators/{{username}}/permission")
def _permission(call: Call) -> tuple[int, Any]:
    role = call.world.roles.get(call.params["username"])
    made = call.told.example("GET", f"{R}/collaborators/{{username}}/permission", 200)
    classic = {"maintain": "write", "triage": "read", None: "none"}.get(role, role)
    made["user"] |= {"login": call.params["username"], "role_name": role or "none"}
    return 200, made | {"permission": classic, "role_name": role or "none"}

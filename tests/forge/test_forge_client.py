"""The real client against the stand-in: every way GitHub can fail, and nothing done twice."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest

from gate.errors import UsageError
from gate.github.client import GitHubApi, checked_url, connect
from gate.github.interface import (
    MissingError,
    NotAllowedError,
    RateLimitedError,
    RefusedError,
    UnreachableError,
    path,
    repository,
)
from tests.forge.clock import Clock
from tests.forge.standin.server import StandIn, running
from tests.forge.standin.world import Actor, Fault, World

COMMENTS = path("repos", "octo", "shop", "issues", 7, "comments")
HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"


class Note(msgspec.Struct):
    id: int
    body: str


def _post(api: GitHubApi, **more: Any) -> Note:
    return api.send("POST", COMMENTS, {"body": "x"}, Note, **more)


def _left(api: GitHubApi, world: World) -> Note | None:
    return next((n for n in api.pages(COMMENTS, Note) if n.body == "x"), None)


def test_three_hundred_comments_come_in_three_pages(api: GitHubApi, world: World) -> None:
    author = Actor(login="wren")
    for number in range(300):
        world.comment(7, author, f"c{number}")
    got = [note.body for note in api.pages(COMMENTS, Note)]
    assert got == [f"c{number}" for number in range(300)]
    assert [a.query["page"] for a in world.asked] == ["1", "2", "3"]


def test_a_list_is_bounded(api: GitHubApi, world: World) -> None:
    for number in range(120):
        world.comment(7, Actor(login="wren"), f"c{number}")
    assert len(list(api.pages(COMMENTS, Note, most=110))) == 110


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(status=401, body='{"message": "Bad credentials"}'), NotAllowedError),
        (Fault(status=403, body='{"message": "Resource not accessible by integration"}'), NotAllowedError),
        (Fault(status=404, body='{"message": "Not Found"}'), MissingError),
        (Fault(status=410, body='{"message": "Gone"}'), MissingError),
        (Fault(status=409, body='{"message": "Conflict"}'), RefusedError),
        (Fault(status=422, body='{"message": "Validation Failed", "errors": [1]}'), RefusedError),
        (Fault(status=418, body="[1]"), UnreachableError),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
def test_refusals_are_final_and_told_apart(
    api: GitHubApi, world: World, fault: Fault, error: type[Exception]
) -> None:
    world.faults.append(fault)
    with pytest.raises(error):
        _post(api)
    assert len(world.asked) == 1
    assert not world.comments


@pytest.mark.parametrize(
    ("fault", "waits"),
    [
        (
            Fault(
                status=403, headers={"Retry-After": "7"}, body='{"message": "You have exceeded a secondary"}'
            ),
            8,
        ),
        (Fault(status=429, headers={"Retry-After": "3"}, body="{}"), 4),
        (Fault(status=429, body=HTML), 61),
        (Fault(status=403, body='{"message": "You have exceeded a secondary rate limit. Wait"}'), 61),
        (Fault(status=429, headers={"Retry-After": "soon"}, body="{}"), 60),
        (Fault(status=429, headers={"Retry-After": "nan"}, body="{}"), 60),
        (Fault(status=429, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000020"}), 21),
    ],
)
def test_rate_limits_are_waited_for_even_by_posts(
    api: GitHubApi, world: World, clock: Clock, fault: Fault, waits: float
) -> None:
    world.faults.append(fault)
    _post(api)
    assert clock.slept == [waits]
    assert len(world.comments) == 1


def test_a_rate_limit_longer_than_our_patience_is_an_error(
    api: GitHubApi, world: World, clock: Clock
) -> None:
    world.faults.append(Fault(status=429, headers={"Retry-After": "3600"}, body="{}"))
    with pytest.raises(RateLimitedError, match="429"):
        _post(api)
    assert clock.slept == []


def test_patience_ends(api: GitHubApi, world: World, clock: Clock) -> None:
    world.faults.append(Fault(status=429, headers={"Retry-After": "50"}, body="{}", times=99))
    with pytest.raises(RateLimitedError):
        _post(api)
    assert sum(clock.slept) <= 180


BREAKS = [
    Fault(status=500),
    Fault(status=502, body=HTML, headers={"Content-Type": "text/html"}),
    Fault(status=200, body=HTML, headers={"Content-Type": "text/html"}),
    Fault(status=200, body="{"),
    Fault(how="cut"),
    Fault(how="close"),
    Fault(how="hang"),
    Fault(how="drip", seconds=10),
]


def _name(fault: Fault) -> str:
    return f"{fault.how}-{fault.status}"


@pytest.mark.parametrize("fault", BREAKS, ids=_name)
def test_reading_is_repeated(github: StandIn, world: World, clock: Clock, fault: Fault) -> None:
    api = connect("job-token", github.url, deadline=0.4, pause=0, sleep=clock.sleep, now=clock.now)
    world.comment(7, Actor(login="wren"), "hello")
    world.faults.append(_again(fault))
    start = time.monotonic()
    if fault.status == 200 and fault.how == "status" and fault.body == HTML:
        with pytest.raises(UnreachableError, match="not what its API promises"):
            list(api.pages(COMMENTS, Note))
    else:
        assert [note.body for note in api.pages(COMMENTS, Note)] == ["hello"]
        assert len(clock.slept) == 1
    assert time.monotonic() - start < 30


def _again(fault: Fault) -> Fault:
    """The parameters are shared by tests; each uses its own."""
    return Fault(**{name: getattr(fault, name) for name in Fault.__dataclass_fields__})


@pytest.mark.parametrize("fault", BREAKS, ids=_name)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_post_without_an_answer_is_never_doubled(
    github: StandIn, world: World, clock: Clock, fault: Fault, after: bool
) -> None:
    api = connect("job-token", github.url, deadline=0.4, pause=0, sleep=clock.sleep, now=clock.now)
    broken = _again(fault)
    broken.after, broken.method = after, "POST"
    world.faults.append(broken)
    made = _post(api, settled=lambda: _left(api, world))
    assert [c.id for c in world.comments.values()] == [made.id]


def test_a_post_that_nobody_can_check_is_sent_once(api: GitHubApi, world: World) -> None:
    world.faults.append(Fault(status=500, times=9))
    with pytest.raises(UnreachableError) as error:
        _post(api)
    assert error.value.maybe_done
    assert len(world.sent("POST", ".*")) == 1


def test_failures_in_a_row_end(api: GitHubApi, world: World, clock: Clock) -> None:
    world.faults.append(Fault(status=503, times=99))
    with pytest.raises(UnreachableError, match="503"):
        list(api.pages(COMMENTS, Note))
    assert len(world.asked) == 4
    assert clock.slept == sorted(clock.slept)


def test_nobody_there(github: StandIn) -> None:
    slept: list[float] = []
    lost = connect("job-token", "http://127.0.0.1:9", pause=0, sleep=slept.append)
    with pytest.raises(UnreachableError, match="did not answer"):
        lost.get("/user", Note)
    assert len(slept) == 3


def test_writes_keep_a_distance(github: StandIn, world: World, clock: Clock) -> None:
    api = connect("job-token", github.url, sleep=clock.sleep, now=clock.now)
    _post(api)
    _post(api)
    list(api.pages(COMMENTS, Note))
    assert clock.slept == [1.0]


def test_enterprise_server(world: World, clock: Clock) -> None:
    with running(world, kind="ghes-3.19", prefix="/api/v3") as server:
        api = connect("job-token", server.url + "/", pause=0, sleep=clock.sleep, now=clock.now)
        made = _post(api)
        assert [note.id for note in api.pages(COMMENTS, Note)] == [made.id]


def test_the_token_is_in_no_error(github: StandIn, world: World) -> None:
    secret = "ghs_" + "s" * 36
    api = connect(secret, github.url, pause=0)
    with pytest.raises(NotAllowedError) as error:
        api.get("/user", Note)
    assert secret not in repr(error.value) + error.value.advice


@pytest.mark.parametrize(
    "url",
    [
        "http://api.github.com",
        "ftp://x",
        "api.github.com",
        "https://me:pw@x",
        "https://",
        "https://h?x=1",
        "",
    ],
)
def test_a_token_goes_to_no_odd_place(url: str) -> None:
    with pytest.raises(UsageError):
        connect("t", url)


def test_urls_and_paths() -> None:
    assert checked_url("https://ghe.example/api/v3/") == "https://ghe.example/api/v3"
    assert checked_url("http://localhost:80") == "http://localhost:80"
    assert path("repos", "o", "r", "issues", 1) == "/repos/o/r/issues/1"
    assert path("a/../b", "?x=#é") == "/a%2F..%2Fb/%3Fx%3D%23%C3%A9"
    for bad in ("", ".", ".."):
        with pytest.raises(ValueError, match="segment"):
            path("repos", bad)
    assert repository("o/r") == ("o", "r")
    for bad in ("o", "o/", "/r", "o/r/x", "../r", "o/.."):
        with pytest.raises(ValueError, match="owner/name"):
            repository(bad)

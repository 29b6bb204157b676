"""Our caller of ASGI applications, with applications that need no framework."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from gate.inside.driver import asgi_application, web_project
from gate.inside.driver.asgi_application import Application
from gate.inside.driver.exploit import asgi_client
from gate.inside.driver.exploit.asgi_client import AsgiClient
from gate.inside.driver.exploit.asked import Asked
from gate.inside.driver.exploit.requests import Request


async def told(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers with what it was asked; its start leaves a note for its requests."""
    if scope["type"] == "lifespan":
        assert (await receive())["type"] == "lifespan.startup"
        scope["state"]["born"] = [1]
        await send({"type": "lifespan.startup.complete"})
        assert (await receive())["type"] == "lifespan.shutdown"
        scope["state"]["born"].append("ended")
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = (await receive())["body"]
    names = {k.decode(): v.decode() for k, v in scope["headers"]}
    if scope["path"] == "/breaks":
        raise KeyError("breaks")
    said = {"path": scope["path"], "query": scope["query_string"].decode(), "headers": names}
    said |= {"method": scope["method"], "body": body.decode(), "born": scope["state"].get("born")}
    await send({"type": "http.response.start", "status": 201, "headers": [(b"X-A", b"1"), (b"x-a", b"2")]})
    text = json.dumps(said).encode()
    await send({"type": "http.response.body", "body": text[:5], "more_body": True})
    await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": text[5:]})
    assert (await receive())["type"] == "http.disconnect"


def test_a_request_and_its_answer() -> None:
    app = Application(told)
    assert app.start()
    answer = app.request("POST", "/a%20b?x=1&y=%2F", [("X-Key", "k"), ("Host", "shop.example")], b"body")
    assert (answer.status, answer.headers) == (201, [("X-A", "1"), ("x-a", "2")])
    said = json.loads(answer.body)
    assert (said["path"], said["query"], said["method"]) == ("/a b", "x=1&y=%2F", "POST")
    assert (said["body"], said["born"]) == ("body", [1])
    assert said["headers"]["x-key"] == "k"
    assert (said["headers"]["host"], said["headers"]["content-length"]) == ("shop.example", "4")
    app.stop()


def test_what_it_raises_is_raised_and_the_next_request_is_answered() -> None:
    app = Application(told)
    with pytest.raises(KeyError, match="breaks"):
        app.request("GET", "/breaks")
    assert app.request("HEAD", "/").body == b""
    assert json.loads(app.request("GET", "/").body)["born"] is None  # it was not started
    app.stop()


async def starts_not(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        raise OSError("no database")
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


def test_one_that_cannot_start_is_asked_all_the_same() -> None:
    app = Application(starts_not)
    assert not app.start()
    assert app.request("GET", "/") == asgi_application.Answer(204, [], b"")
    app.stop()


async def hangs(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await asyncio.Event().wait()
    await starts_not(scope, receive, send)


def test_a_start_that_hangs_is_left_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end would hang as well: nobody waits for that."""
    monkeypatch.setattr(web_project, "is_there", lambda name: False)
    monkeypatch.setattr(asgi_client, "_SECONDS", 0.3)
    began = time.monotonic()
    client = AsgiClient(hangs, Asked())
    client.start()
    assert time.monotonic() - began < 3
    assert client.answer(Request("GET", "/", [], b"")).status == 204
    client._client.stop()


def test_it_takes_the_place_of_the_client_whose_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_project, "is_there", lambda name: False)
    asked = Asked()
    client = AsgiClient(told, asked)
    client.start()
    reply = client.answer(Request("PUT", "/x?q=1", [("Content-Type", "text/plain")], b"b"))
    assert (reply.status, json.loads(reply.body)["born"]) == (201, [1])
    client.stop()
    answer = web_project.AsgiProject(told)._ask("/y", "POST", {"params": {"a": [1, 2]}, "json": {"b": 1}})
    said = json.loads(answer.body)
    assert (said["query"], said["body"]) == ("a=1&a=2", '{"b": 1}')
    assert web_project.AsgiProject(told)._ask("/breaks", "GET", {}) is None

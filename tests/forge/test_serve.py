"""`gate serve` as a process, over HTTP, against the stand-in."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.forge.serving import APP, SECRET, Served, asked, keys, payload, served
from tests.forge.standin.server import StandIn
from tests.forge.standin.world import Fault
from tests.forge.test_deploy import HEAD, SQUASH, TOML, Shop, shop

__all__ = ["shop"]  # a fixture
GUID = "72d3162e-cc78-11e3-81ab-4c9367dc0958"


def until(met: Callable[[], object], seconds: float = 15.0) -> None:
    """Poll; an assertion when it never comes."""
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


@pytest.fixture
def server(shop: Shop, github: StandIn, tmp_path: Path) -> Iterator[Served]:
    key, public = keys(tmp_path)
    shop.world.apps[APP] = public
    with served(tmp_path, key, github.url) as running:
        yield running


def notes(folder: Path) -> dict[str, tuple[str, str]]:
    with sqlite3.connect(folder / "gate.db") as db:
        found = {r[0]: (r[1], r[2]) for r in db.execute("SELECT id, state, note FROM delivery")}
    db.close()
    return found


@pytest.mark.slow
def test_approves_rejects_and_waits_until_woken(shop: Shop, github: StandIn, server: Served) -> None:
    shop.judge(HEAD)
    assert server.send("deployment_protection_rule", asked(HEAD, github.url), GUID) == (202, "new")
    until(lambda: shop.world.reviews)
    assert shop.world.reviews[0]["state"] == "approved"
    assert shop.world.reviews[0]["environment_name"] == "production"
    assert shop.world.reviews[0]["run"] == 31
    # the same delivery, and its bytes under another id, do nothing more
    assert server.send("deployment_protection_rule", asked(HEAD, github.url), GUID) == (202, "again")
    assert server.send("deployment_protection_rule", asked(HEAD, github.url), GUID[::-1]) == (202, "again")

    assert (
        server.send("deployment_protection_rule", asked(HEAD, github.url, 32, "other"), "other-id")[0] == 202
    )
    until(lambda: len(shop.world.reviews) == 2)
    assert shop.world.reviews[1]["state"] == "rejected"
    assert "no table" in shop.world.reviews[1]["comment"]

    # no verdict yet: nothing is said, until the check's suite is complete
    assert server.send("deployment_protection_rule", asked(SQUASH, github.url, 33), "waits-for-it")[0] == 202
    until(lambda: 'outcome="waiting"' in server.ask("GET", "/metrics")[1])
    assert len(shop.world.reviews) == 2
    shop.judge(SQUASH, base="2" * 40, verdict="fail", score=88)
    suite = payload(action="completed", check_suite={"head_sha": SQUASH})
    assert server.send("check_suite", suite, "suite-done")[0] == 202
    until(lambda: len(shop.world.reviews) == 3)
    assert (shop.world.reviews[2]["run"], shop.world.reviews[2]["state"]) == (33, "rejected")
    assert "88" in shop.world.reviews[2]["comment"]


@pytest.mark.slow
def test_faults_of_github_are_outlived(shop: Shop, github: StandIn, server: Served, tmp_path: Path) -> None:
    shop.judge(HEAD)
    shop.world.faults.append(Fault(status=422, path=".*check-runs", times=1))
    shop.world.faults.append(Fault(status=422, path=".*deployment_protection_rule", times=1))
    assert server.send("deployment_protection_rule", asked(HEAD, github.url), GUID)[0] == 202
    until(lambda: notes(tmp_path).get(GUID, ("", ""))[0] == "done")
    assert "nobody waits" in notes(tmp_path)[GUID][1]
    assert server.send("deployment_protection_rule", asked(HEAD, github.url, 34), "second-one")[0] == 202
    until(lambda: shop.world.reviews)
    # tokens are asked for once, for one repository, and for no more than is needed
    tokens = shop.world.sent("POST", "/app/installations/5/access_tokens")
    assert len(tokens) == 1
    assert tokens[0].body["repositories"] == ["shop"]
    assert [k for k, v in tokens[0].body["permissions"].items() if v == "write"] == ["deployments"]


@pytest.mark.slow
def test_killed_between_what_it_said_and_its_note_it_is_said_once(
    shop: Shop, github: StandIn, tmp_path: Path
) -> None:
    shop.judge(HEAD)
    key, public = keys(tmp_path)
    shop.world.apps[APP] = public
    hang = Fault(how="hang", after=True, seconds=60.0, path=".*deployment_protection_rule")
    shop.world.faults.append(hang)
    with served(tmp_path, key, github.url) as server:
        assert server.send("deployment_protection_rule", asked(HEAD, github.url), GUID)[0] == 202
        until(lambda: shop.world.reviews)
        server.child.kill()
        server.child.wait()
    assert notes(tmp_path)[GUID][0] == "working"
    with served(tmp_path, key, github.url) as server:
        until(lambda: notes(tmp_path)[GUID][0] == "done")
        assert server.send("deployment_protection_rule", asked(HEAD, github.url), GUID) == (202, "again")
    assert "nobody waits" in notes(tmp_path)[GUID][1]
    assert [review["state"] for review in shop.world.reviews] == ["approved"]


@pytest.mark.slow
def test_what_is_not_github_is_turned_away(server: Served, github: StandIn, tmp_path: Path) -> None:
    body = payload(action="completed", check_suite={"head_sha": HEAD})
    assert server.send("check_suite", body, GUID, secret="x" * 20)[0] == 401
    for wrong in ("", "sha256=", "sha1=" + "0" * 40, "sha256=" + "0" * 64, "sha256=" + "é" * 64):
        told = {"X-GitHub-Event": "check_suite", "X-GitHub-Delivery": GUID}
        signed = {"X-Hub-Signature-256": wrong.encode("utf-8").decode("latin-1")}
        assert server.ask("POST", "/webhook", body, told | signed)[0] == 401
    assert server.send("check_suite", body, "short")[0] == 400
    assert server.send("push", body, GUID) == (202, "not for us")
    assert server.send("check_suite", body, GUID, Content_Length=str(26 << 20))[0] == 413
    assert server.ask("GET", "/webhook")[0] == 405
    assert server.ask("POST", "/other")[0] == 404
    assert notes(tmp_path) == {}
    assert SECRET not in server.ask("GET", "/metrics")[1]

    for number, bad in enumerate([b"", b"[]", b"{", b"\xff", payload(repository={"full_name": "../.."})]):
        assert server.send("deployment_protection_rule", bad, f"malformed-{number}")[0] == 202
    stray = asked(HEAD, github.url).replace(b"octo/shop/actions", b"evil/shop/actions")
    assert server.send("deployment_protection_rule", stray, "malformed-stray")[0] == 202
    until(lambda: [s for s, _ in notes(tmp_path).values()] == ["failed"] * 6)
    # a redelivery of what failed is tried again
    assert server.send("deployment_protection_rule", stray, "malformed-stray") == (202, "again")


def test_health_readiness_and_metrics(server: Served) -> None:
    assert server.ask("GET", "/healthz") == (200, "ok")
    assert server.ask("GET", "/readyz") == (200, "ready")
    server.send("pull_request", payload(pull_request={"head": {"sha": HEAD}}), GUID)
    until(lambda: 'gate_stored{state="done"} 1' in server.ask("GET", "/metrics")[1])
    text = server.ask("GET", "/metrics")[1]
    assert 'gate_deliveries_total{outcome="new"} 1' in text
    assert 'gate_acknowledge_seconds_bucket{le="+Inf"} 1' in text


def test_settings_nobody_can_read_allow_nothing(shop: Shop, github: StandIn, server: Served) -> None:
    shop.judge(HEAD)
    shop.world.files[SQUASH, "gate.toml"] = TOML + b"nonsense = 1\n"
    server.send("deployment_protection_rule", asked(HEAD, github.url), GUID)
    until(lambda: shop.world.reviews)
    assert shop.world.reviews[0]["state"] == "rejected"


@pytest.mark.slow
def test_many_at_once_right_after_the_start_crash_nothing(tmp_path: Path) -> None:
    """Worker threads that met a type at the same moment once killed the process (one start in five)."""
    key, _ = keys(tmp_path)
    for turn in range(4):
        folder = tmp_path / str(turn)
        folder.mkdir()
        with served(folder, key, "http://127.0.0.1:9") as server, ThreadPoolExecutor(16) as pool:
            sent = [
                pool.submit(
                    server.send, "check_suite", payload(check_suite={"head_sha": f"{n:040x}"}), f"many-{n:08}"
                )
                for n in range(32)
            ]
            assert {future.result()[0] for future in sent} == {202}
            until(lambda: 'gate_stored{state="waiting"}' not in server.ask("GET", "/metrics")[1])
            assert server.child.poll() is None

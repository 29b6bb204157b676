"""Where an open led that went through a link: from the calls that made the link, by time, never guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.tracing.readers.gvisor.links import Links, Standing, own

SECOND = 10**9


def led(links: Links, path: str, at: int) -> list[str]:
    links.opened(0, at, {}, {"path": path})
    return [fields["path"] for _, _, fields in links.due(1)]


@pytest.mark.parametrize(
    ("links", "path", "real"),
    [
        ({"/tmp/n": "/work/home/.npmrc"}, "/tmp/n", "/work/home/.npmrc"),
        ({"/tmp/n": "../work/home/.npmrc"}, "/tmp/n", "/work/home/.npmrc"),
        ({"/tmp/d": "/work/home"}, "/tmp/d/.ssh/id_rsa", "/work/home/.ssh/id_rsa"),
        ({"/tmp/a": "/tmp/b", "/tmp/b": "/etc/shadow"}, "/tmp/x/../a", "/etc/shadow"),
        ({"/work/tree/way": "/work/home", "/work/home/n": ".npmrc"}, "/work/tree/way/n", "/work/home/.npmrc"),
    ],
)
def test_links_are_followed(links: dict[str, str], path: str, real: str) -> None:
    it = Links()
    for where, target in links.items():
        it.add(where, target, SECOND)
    assert led(it, path, 2 * SECOND) == [real]


def test_what_is_no_link_is_not_told_twice() -> None:
    it = Links()
    assert led(it, "/tmp/n", SECOND) == []
    it.add("/tmp/n", "/etc/shadow", SECOND)
    assert led(it, "/tmp/nn", 2 * SECOND) == []
    assert led(it, "/tmp", 2 * SECOND) == []


def test_a_link_counts_from_its_making_to_its_end() -> None:
    it = Links()
    it.add("/tmp/n", "/etc/shadow", 10 * SECOND)
    it.gone("/tmp/n", 20 * SECOND)
    assert led(it, "/tmp/n", 9 * SECOND) == []
    assert led(it, "/tmp/n", 15 * SECOND) == ["/etc/shadow"]
    assert led(it, "/tmp/n", 21 * SECOND) == []


def test_an_open_that_was_told_before_its_link_is_looked_at_again() -> None:
    it = Links()
    it.opened(3, 11 * SECOND, {"call": "openat"}, {"path": "/tmp/n", "access": "r"})
    assert list(it.due(3)) == []
    it.add("/tmp/n", "/etc/shadow", 10 * SECOND)
    wanted = ("open", {"call": "openat"}, {"path": "/etc/shadow", "access": "r", "asked": "/tmp/n"})
    assert list(it.due(4)) == [wanted]
    assert list(it.due(9)) == []


def test_a_link_that_moves_keeps_its_target() -> None:
    it = Links()
    it.add("/tmp/n", "/etc/shadow", SECOND)
    it.moved("/tmp/n", "/work/tree/m", 2 * SECOND)
    assert led(it, "/work/tree/m", 3 * SECOND) == ["/etc/shadow"]
    it.add("/work/tree/n", "home/key", 4 * SECOND)
    it.moved("/work/tree/n", "/work/n", 5 * SECOND)
    assert led(it, "/work/n", 6 * SECOND) == ["/work/home/key"], "seen from where the link is now"
    assert led(it, "/tmp/n", 3 * SECOND) == []
    it.moved("/tmp/file", "/work/tree/m", 4 * SECOND)
    assert led(it, "/work/tree/m", 5 * SECOND) == []


def test_dots_behind_a_link_lead_out_of_where_it_leads() -> None:
    it = Links()
    it.add("/tmp/sub", "/work/tree", SECOND)
    assert led(it, "/tmp/sub/../home/key", 2 * SECOND) == ["/work/home/key"]


def test_a_link_made_through_another_is_found_under_its_own_place() -> None:
    it = Links()
    it.add("/tmp/other", "/tmp/folder", SECOND)
    where = it.entry("/tmp/other/./n", 2 * SECOND, str)
    it.add(where, "/work", 2 * SECOND)
    assert where == "/tmp/folder/n"
    assert led(it, "/tmp/folder/n/home/key", 3 * SECOND) == ["/work/home/key"]


def test_links_move_with_the_folder_they_lie_in() -> None:
    it = Links()
    it.add("/tmp/a/n", "/work", SECOND)
    it.add("/tmp/b/m", "/etc", SECOND)
    it.moved("/tmp/a", "/tmp/b", 2 * SECOND, swapped=True)
    assert led(it, "/tmp/b/n/home", 3 * SECOND) == ["/work/home"]
    assert led(it, "/tmp/a/m/shadow", 3 * SECOND) == ["/etc/shadow"]
    assert led(it, "/tmp/a/n/home", 3 * SECOND) == led(it, "/tmp/b/m/shadow", 3 * SECOND) == []
    it.moved("/tmp/a", "/tmp/c", 4 * SECOND)
    assert led(it, "/tmp/c/m/shadow", 5 * SECOND) == ["/etc/shadow"]


def test_a_second_name_of_a_link_outlives_the_first() -> None:
    it = Links()
    it.add("/tmp/n", "/work", SECOND)
    it.shared("/tmp/m", "/tmp/n", 2 * SECOND)
    it.add("/tmp/n", "/tmp/else", 3 * SECOND)
    assert led(it, "/tmp/m/home", 4 * SECOND) == ["/work/home"]


def test_a_link_to_one_of_the_kernels_is_followed_for_who_asks() -> None:
    it = Links()
    it.add("/tmp/n", "/proc/self/fd/5", SECOND)
    it.opened(0, 2 * SECOND, {"pid": 7}, {"path": "/tmp/n/key"})
    where = {"/proc/self/fd/5": "/work/home"}
    found = list(it.due(1, lambda pid, _at, path: where.get(path, path) if pid == 7 else path))
    assert [fields["path"] for _, _, fields in found] == ["/work/home/key"]


def test_very_many_links_of_one_name_take_no_time() -> None:
    it = Links()
    for turn in range(20_000):
        it.add("/tmp/n", "/work", turn * SECOND)
        it.gone("/tmp/n", turn * SECOND + 1)
    assert all(led(it, "/tmp/n/home", 40_000 * SECOND) == [] for _ in range(20_000))


def test_links_in_a_circle_end() -> None:
    it = Links()
    it.add("/a", "/b", SECOND)
    it.add("/b", "/a", SECOND)
    assert len(led(it, "/a/x", 2 * SECOND)) <= 1


def test_too_many_links_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.tracing.readers.gvisor.links._MOST", 3)
    it = Links()
    for number in range(5):
        it.add(f"/tmp/{number}", "/etc", SECOND)
    assert it.missed == 2


@pytest.mark.parametrize(
    ("call", "fields", "led"),
    [
        ("chmod", {"path": "/tmp/d/x"}, {"path": "/work/home/x"}),
        ("chmod", {"path": "/tmp/d"}, {"path": "/work/home"}),
        ("unlink", {"path": "/tmp/d"}, None),
        ("unlinkat", {"path": "/tmp/d/x"}, {"path": "/work/home/x"}),
        ("fchownat", {"path": "/tmp/d", "flags": "AT_SYMLINK_NOFOLLOW"}, None),
        ("rename", {"path": "/tmp/d/x", "other": "/tmp/d"}, {"path": "/work/home/x", "other": "/tmp/d"}),
        ("link", {"path": "/tmp/y", "other": "/tmp/d/x"}, {"path": "/tmp/y", "other": "/work/home/x"}),
        ("symlink", {"path": "/tmp/d/x", "other": "/tmp/d"}, {"path": "/work/home/x", "other": "/tmp/d"}),
        ("chmod", {"path": "/tmp/./y"}, None),
    ],
)  # fmt: skip
def test_changes_are_followed_as_far_as_the_call_follows(
    call: str, fields: dict[str, str], led: dict[str, str] | None
) -> None:
    it = Links()
    it.add("/tmp/d", "/work/home", SECOND)
    it.changed(0, 2 * SECOND, {"call": call}, fields)
    assert list(it.due(1)) == ([] if led is None else [("file", {"call": call}, led)])


texts = st.text("/.ab\0é", max_size=8)


@given(steps=st.lists(st.tuples(st.sampled_from("mgvo"), texts, texts, st.integers(0, 9)), max_size=20))
def test_no_order_of_calls_makes_it_fail(steps: list[Any]) -> None:
    it = Links()
    for what, one, other, at in steps:
        if what == "m":
            it.add(one, other, at)
        elif what == "g":
            it.gone(one, at)
        elif what == "v":
            it.moved(one, other, at)
        else:
            it.opened(0, at, {}, {"path": one})
    for _, _, fields in it.due(1):
        assert fields["path"]


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("/proc/self/root/work/home/.pypirc", "/work/home/.pypirc"),
        ("/proc/7/root/proc/self/root/etc/shadow", "/etc/shadow"),
        ("/proc/self/cwd/x", "/work/tree/x"),
        ("/proc/self/exe", "/usr/bin/python3.11"),
        ("/proc/thread-self/root", "/"),
        ("/proc/8/root/x", "/proc/8/root/x"),
        ("/proc/self/rooted", "/proc/self/rooted"),
        ("/proc/self/maps", "/proc/self/maps"),
        ("/proc/self/fd/5/.npmrc", "/work/home/.npmrc"),
        ("/proc/7/task/7/fd/5", "/work/home"),
        ("/dev/fd/5/../.npmrc", "/work/home/../.npmrc"),
        ("/dev/fd/6", "/proc/self/fd/6"),
        ("/proc/self/fd/50", "/proc/self/fd/50"),
        ("/proc/self/fd", "/proc/self/fd"),
        ("/proc/self/fd/99999999999999999999/x", "/proc/self/fd/99999999999999999999/x"),
    ],
)
def test_the_kernels_own_links(path: str, real: str) -> None:
    files = {5: "/work/home/"}
    known = Standing("/work/tree", "/usr/bin/python3.11", lambda fd: files.get(fd, ""))
    assert own(path, lambda which: known if which in ("7", "self", "thread-self") else None) == real

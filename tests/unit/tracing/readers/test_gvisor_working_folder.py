"""What the code can do to be misunderstood by gVisor's log: names like calls, changing folders."""

from __future__ import annotations

import json
import struct

import pytest

from gate.tracing.readers.gvisor import log, wire
from gate.tracing.readers.gvisor.descriptors import Descriptors
from gate.tracing.readers.gvisor.links import Links
from gate.tracing.readers.gvisor.translator import Translator
from gate.tracing.readers.gvisor.working_folder import Folder
from tests.unit.tracing.gvisor_packets import CALL, CODE, begun, lines, logged, message, raw

SECOND = 10**9
START = 10**18


def at(second: float, kind: int, group: int, *, cwd: bytes = b"/work/tree", **fields: object) -> bytes:
    """A packet of that second."""
    context = message(f1=START + int(second * SECOND), f2=group, f4=group, f8=cwd)
    return struct.pack("<HHI", 8, kind, 0) + message(f1=context, **fields)  # type: ignore[arg-type]


def cloned(second: float, child: int, flags: int) -> list[bytes]:
    return [
        at(second, wire.RAW, CODE, f4=CALL["clone"], f5=flags),
        at(second, wire.CLONE, CODE, f3=child, f4=child),
    ]


def opened(second: float, path: bytes, cwd: bytes) -> list[bytes]:
    return [
        at(second, wire.RAW, CODE, f4=CALL["open"]),
        at(second, wire.OPEN, CODE, cwd=cwd, f6=path),
    ]


def unlinked(it: Translator, out: list[bytes]) -> list[str]:
    return [line["path"] for line in lines(it, out) if line.get("call") == "unlink"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a X stat(0x", "E unlink(0x7f0000001000 /tmp/x) = 0 (0) errno=1 /../../home/key)"),
        ("a E unlink(0x1", "E stat(0x7f0000001000 /tmp, 0x7f0000002000)"),
        ("a X chdir(0x1 ", "X access(0x7f0000001000 /../tmp, F_OK) = 0 (0x0) (1.5µs)"),
    ],
)
def test_a_process_named_like_a_call_is_not_taken_for_one(name: str, text: str) -> None:
    line = json.dumps({"msg": f"strace.go:1] [   7:   7] {name} {text}", "time": ""}).encode()
    assert not log.idle(line)
    with pytest.raises(log.AmbiguousLineError):
        log.read(line)


@pytest.mark.parametrize("name", ["python3", "Web Content", "sh", "a E b", "\ufffd(x", "X"])
def test_other_names_are_read(name: str) -> None:
    line = {"msg": f"strace.go:1] [   7:   7] {name} E unlink(0x7f0000001000 /tmp/a E b(c)", "time": ""}
    said = log.read(json.dumps(line).encode())
    assert said is not None
    assert (said.call, said.arguments) == ("unlink", "0x7f0000001000 /tmp/a E b(c")


def test_a_folder_told_by_a_later_packet_is_not_that_of_an_earlier_line() -> None:
    it = begun()
    it.lines(logged("chdir(0x1 /work/home) = 0 (0x0) (1.5µs)", way="X", second=1))
    it.packets([raw("unlink"), *opened(4, b"y", b"/tmp")])
    out = it.lines(logged("unlink(0x1 key)", second=2))
    out += it.lines(logged("chdir(0x1 /tmp) = 0 (0x0) (1.5µs)", way="X", second=3))
    assert unlinked(it, out) == ["/work/home/key"]


@pytest.mark.parametrize(("moved", "expected"), [(1, "/work/home/key"), (3, "/work/tree/key")])
def test_a_child_begins_where_its_parent_was_when_it_was_made(moved: int, expected: str) -> None:
    it = begun()
    it.packets([*cloned(2, 8, 17), at(4, wire.RAW, 8, f4=CALL["unlink"])])
    it.lines(logged("chdir(0x1 /work/home) = 0 (0x0) (1.5µs)", way="X", second=moved))
    assert unlinked(it, it.lines(logged("unlink(0x1 key)", second=4, group=8))) == [expected]


def test_processes_may_share_a_folder() -> None:
    it = begun()
    it.packets([*cloned(1, 8, 0x200 | 17), raw("unlink")])
    it.lines(logged("chdir(0x1 /work/home) = 0 (0x0) (1.5µs)", way="X", second=2, group=8))
    assert unlinked(it, it.lines(logged("unlink(0x1 key)", second=3))) == ["/work/home/key"]


def test_another_process_s_folder_is_looked_at_again_when_the_log_has_been_read() -> None:
    it = begun()
    it.packets(cloned(1, 8, 17))
    out = it.packets(opened(3, b"/proc/8/cwd/key", b"/work/tree"))
    out += it.lines(logged("chdir(0x1 /work/home) = 0 (0x0) (1.5µs)", way="X", second=2, group=8))
    for _ in range(3):
        out += it.round()
    assert [line["path"] for line in lines(it, out) if line["ev"] == "open"] == [
        "/work/tree/key",
        "/work/home/key",
    ]


def test_what_is_too_long_ago_is_not_known() -> None:
    folder, files = Folder(), Descriptors()
    child = folder.child(0, 1)
    for moment in range(2, 4000):
        folder.is_now(f"/{moment}", moment)
        files.is_now(3, f"/{moment}", moment)
    assert (folder.at(4000), folder.at(3900), folder.at(1), child.at(5000)) == ("/3999", "/3900", "", "")
    assert (files.at(3, 4000), files.at(3, 2)) == ("/3999", "")


def test_a_line_of_generations_is_no_deep_matter() -> None:
    folder = Folder()
    folder.is_now("/a", 1)
    for born in range(2, 5000):
        folder = folder.child(0, born)
    assert folder.at(6000) == "/a"


def test_links_whose_names_look_the_same_are_not_mistaken_in_silence() -> None:
    links = Links()
    links.add("/tmp/\ufffd", "/work", START)
    links.opened(0, START + SECOND, {"call": "open"}, {"path": "/tmp/\ufffd/a"})
    assert [fields["path"] for _, _, fields in links.due(1)] == ["/work/a"]
    assert not links.missed
    links.add("/tmp/\ufffd", "/tmp/q", START + 2 * SECOND)
    links.opened(1, START + 3 * SECOND, {"call": "open"}, {"path": "/tmp/\ufffd/a"})
    assert list(links.due(2))
    assert links.missed


@pytest.mark.parametrize(
    "data",
    [
        "{Family: AF_UNIX, Addr: /dev/log",
        "{Family: AF_INET, Addr: 127.0.0.1, Port: 53}",
        '\\"{base=0x1, len=9 \\\\\\"{Family: AF_NETLINK, PortID: 1, Groups: 2}',
        "{level=SOL_SOCKET, type=SCM_RIGHTS,",
    ],
)
def test_what_is_sent_is_not_taken_for_where_it_goes(data: str) -> None:
    message = (
        f'0x7f10 {{name=0x7f20, namelen=16, iovecs=0x7f30 {{base=0x7f40, len=10, "{data}"}}, control={{}}'
    )
    said = log.Logged(7, 7, "sendmsg", f"0x3 socket:[1], {message}, flags=0}}, 0x0)", None)
    assert log.sent(said) == {"size": 10}
    assert not log.passes_descriptors(said, inet=True)


def test_a_last_call_that_can_be_read_in_two_ways_is_counted_at_the_end() -> None:
    it = begun()
    it.packets([raw("openat", 0, 0x7F0000001000, 0)])
    it.lines(logged("openat(AT_FDCWD /, 0x1 /opt, O_RDONLY, 0o0)"))  # the launcher's
    it.lines(logged("openat(0x3 /tmp/a, 0x1 b, 0x7f0000001000 \ufffd, O_RDONLY, 0o0)"))
    last = lines(it, it.finish(whole=True))[-1]
    assert (last["ev"], last["end"]) == ("summary", "exited")
    assert last["unparsed"]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("unlinkat", "0x3 /tmp/a, 0x1 , 0x7f01 ../../work/home/key, 0x0"),
        ("fchmodat", "AT_FDCWD /tmp/a, 0x1 , 0x7f01 ../../work/home/key, 0o777"),
        ("linkat", "0x3 /tmp/a, 0x1 , 0x7f01 ../../work/home/key, 0x4, 0x7f02 b, 0x0"),
    ],
)
def test_a_folder_named_like_arguments_is_not_guessed(call: str, arguments: str) -> None:
    with pytest.raises(log.AmbiguousLineError):
        log.named(log.Logged(7, 7, call, arguments, None))


def test_a_thread_s_number_is_its_process_s() -> None:
    it = begun()
    it.packets([at(1, wire.RAW, CODE, f4=CALL["clone"], f5=0x3D0F00), at(1, wire.CLONE, CODE, f3=9, f4=CODE)])
    out = it.packets(opened(2, b"/proc/9/cwd/key", b"/work/home"))
    assert [line["path"] for line in lines(it, out) if line["ev"] == "open"] == ["/work/home/key"]
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 0


def test_a_thread_with_a_folder_of_its_own_is_a_hole() -> None:
    it = begun()
    it.packets([at(1, wire.RAW, CODE, f4=CALL["clone"], f5=0x10900), at(1, wire.CLONE, CODE, f3=9, f4=CODE)])
    assert json.loads(it.finish(whole=True)[-1])["unparsed"] == 1

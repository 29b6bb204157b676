"""The host's end of the launcher protocol: only what the launcher said, in order, whole."""

from __future__ import annotations

import hashlib
import hmac
import importlib
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import InconclusiveError
from gate.sandbox.protocol import MAX_FRAME, Job, Receiver, Tracing

launch: Any = importlib.import_module("gate.inside.launcher.main")

KEY = bytes(range(32))
END = {
    "status": 0,
    "completed": True,
    "seconds": 0.5,
    "peak_memory": 1,
    "stdout_total": 3,
    "stderr_total": 0,
    "limits_hit": [],
    "leftover_killed": 0,
    "tracer_ok": True,
    "clock": "real",
}


def frame(seq: int, body: bytes, key: bytes = KEY) -> bytes:
    mac = hmac.new(key, struct.pack(">Q", seq) + body, hashlib.sha256).digest()
    return struct.pack(">I", 32 + len(body)) + mac + body


def stream(*bodies: bytes) -> bytes:
    return b"".join(frame(i, body) for i, body in enumerate(bodies))


def as_x(**changed: object) -> bytes:
    return b"X" + json.dumps(END | changed).encode()


WHOLE = stream(b'S{"pid":2,"t":0.1}', b"Oabc", b"Eerr", b'D{"items":[]}', as_x())


@given(st.lists(st.integers(1, 40)))
def test_cut_anywhere_it_is_the_same(cuts: list[int]) -> None:
    heard = Receiver(KEY)
    at = 0
    for cut in cuts:
        heard.feed(WHOLE[at : at + cut])
        at += cut
    heard.feed(WHOLE[at:])
    heard.close()
    assert heard.fault is None
    assert (bytes(heard.stdout), bytes(heard.stderr)) == (b"abc", b"err")
    assert heard.started is not None
    assert heard.end is not None
    assert heard.end.completed
    assert heard.finished


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_any_changed_byte_is_a_fault(at: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[at] ^= change
    heard = Receiver(KEY)
    heard.feed(bytes(damaged))
    heard.close()
    assert heard.fault is not None
    assert heard.end is None


@given(st.integers(0, len(WHOLE) - 1))
def test_any_cut_end_is_a_fault(at: int) -> None:
    heard = Receiver(KEY)
    heard.feed(WHOLE[:at])
    heard.close()
    assert heard.fault is not None
    assert heard.end is None


@pytest.mark.parametrize(
    "data",
    [
        frame(1, as_x()),
        frame(0, b"Oa") + frame(0, as_x()),
        frame(0, b"Oa") + frame(2, as_x()),
        frame(0, as_x(), key=bytes(32)),
        stream(as_x(), b"Oafter"),
        stream(as_x(), as_x()),
        stream(b"S{}", as_x()),
        stream(b'S{"pid":2,"t":0.1}', b'S{"pid":2,"t":0.1}', as_x()),
        stream(b"Z{}", as_x()),
        stream(b"", as_x()),
        stream(as_x(status=300)),
        stream(as_x(extra=1)),
        stream(as_x(completed="yes")),
        stream(as_x(limits_hit=["made up"])),
        stream(b"X" + b"[" * 5000),
        stream(b'F{"what":"no observer"}'),
        struct.pack(">I", MAX_FRAME + 1) + bytes(40),
        struct.pack(">I", 3) + b"abc",
        b"Traceback (most recent call last):\n" * 10,
        WHOLE + b"x",
    ],
)
def test_what_the_launcher_did_not_say_so_is_a_fault(data: bytes) -> None:
    heard = Receiver(KEY)
    heard.feed(data)
    heard.close()
    assert heard.fault is not None
    assert heard.end is None
    heard.feed(WHOLE)
    assert heard.end is None


def test_fault_of_the_launcher_is_told_in_its_words() -> None:
    heard = Receiver(KEY)
    heard.feed(stream(b'F{"what":"no observer"}'))
    assert heard.fault == "no observer"


@pytest.mark.parametrize(
    "text",
    [
        rb'{"items":[{"message":"\ud800"}]}',
        rb'{"items":[{"message":"\udc80 and \ud83d\ude00"}]}',
        rb'{"\udcff":[1]}',
        b'{"items":[NaN,Infinity,1e999]}',
        b'{"items":["\xff\xfe"]}',
        rb'{"items":["\u0000"]}',
        b'{"items":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"items":' + b"9" * 5000 + b"}",
        b"[]",
        b"nonsense",
    ],
)
def test_no_text_of_the_code_in_a_report_ends_the_look(text: bytes) -> None:
    heard = Receiver(KEY)
    heard.feed(stream(b'S{"pid":2,"t":0.1}', b"D" + text, as_x()))
    assert heard.fault is None
    assert heard.end is not None
    json.dumps(heard.report, allow_nan=False).encode("ascii")
    str(heard.report).encode("utf-8")


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=20))
def test_text_without_surrogates_comes_through_a_report_as_it_is(text: str) -> None:
    heard = Receiver(KEY)
    heard.feed(stream(b'S{"pid":2,"t":0.1}', b"D" + json.dumps({"a": [text, chr(0xD800)]}).encode()))
    assert heard.report == {"a": [text, "\\ud800"]}


def test_a_forged_report_is_no_deeper_than_its_readers_can_walk() -> None:
    heard = Receiver(KEY)
    own = b'{"items":[{"calls":[["f","exit 0"]],"lines":{"a.py":[1]}}],"x":'
    heard.feed(stream(b'S{"pid":2,"t":0.1}', b"D" + own + b"[" * 600 + b"]" * 600 + b"}", as_x()))
    heard.close()
    assert heard.fault is None
    assert heard.report["items"] == [{"calls": [["f", "exit 0"]], "lines": {"a.py": [1]}}]
    assert repr(heard.report["x"]).count("[") < 30


@given(st.binary(max_size=400))
def test_noise_never_raises(data: bytes) -> None:
    heard = Receiver(KEY)
    heard.feed(data)
    heard.close()
    assert heard.fault is not None


def test_output_is_capped_here_too() -> None:
    heard = Receiver(KEY, output=5)
    heard.feed(stream(b"O" + b"x" * 4, b"O" + b"y" * 4, b"O" + b"z" * 4))
    assert bytes(heard.stdout) == b"xxxxy"


def test_both_ends_speak_the_same_frames(tmp_path: Path) -> None:
    """The launcher's writer against our reader."""
    out = tmp_path / "frames"
    with out.open("wb") as file:
        frames = launch.Frames(file.fileno(), KEY)
        frames.say(b"S", {"pid": 1, "t": 0.0})
        frames.send(b"O", b"\0\xff")
        frames.say(b"X", END)
    heard = Receiver(KEY)
    heard.feed(out.read_bytes())
    heard.close()
    assert heard.fault is None
    assert bytes(heard.stdout) == b"\0\xff"


def test_job_is_read_by_the_launcher_as_it_was_meant(tmp_path: Path) -> None:
    job = Job(
        argv=("python3", "-c", "pass"),
        env={"A": "\udcff b"},
        cwd="/work/tree",
        files={"/work/home/x": b"\0\1"},
        tracer=Tracing(socket="/run/o.sock", arch="x86_64"),
        driver=True,
    )
    path = tmp_path / "job"
    path.write_bytes(job.head(77))
    with path.open("rb") as file:
        read = launch.read_job(file)
        assert struct.unpack(">Q", file.read()) == (77,)
    assert read["argv"] == ["python3", "-c", "pass"]
    assert read["env"] == {"A": "\udcff b"}
    assert read["key"] == job.key.hex()
    assert read["tracer"]["socket"] == "/run/o.sock"
    assert len(bytes.fromhex(read["tracer"]["filter"])) % 8 == 0
    assert read["limits"]["output"] == 1 << 20


def test_keys_and_tokens_are_new_every_time() -> None:
    jobs = [Job(argv=("x",), env={}, cwd="/") for _ in range(3)]
    assert len({job.key for job in jobs}) == 3
    assert len({Tracing(fd=1).token for _ in range(3)}) == 3


def test_architecture_without_a_table_is_said() -> None:
    with pytest.raises(InconclusiveError, match="riscv64"):
        Tracing(fd=3, arch="riscv64").as_json()

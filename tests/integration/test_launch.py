"""The launcher, run for real: the tree, output, limits, completion, leftovers."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from tests.integration.launching import PYTHON, ROOM, launch, python, tar_of

pytestmark = pytest.mark.skipif(not Path(PYTHON).exists(), reason=f"no {PYTHON}")


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", data: bytes = b"", mode: int = 0o644
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size, info.mode = kind, link, len(data), mode
    return info, data


def test_tree_arrives_whole(tmp_path: Path) -> None:
    long = "d/" * 60 + "deep.py"
    odd = os.fsdecode(b'n\xff"\n name')
    tar = tar_of(
        [
            member("pkg", tarfile.DIRTYPE),
            member("pkg/a.py", data=b"A = 1\n"),
            member("run.sh", data=b"#!/bin/sh\n", mode=0o755),
            member(long, data=b"deep"),
            member(odd, data=b"odd"),
            member("empty"),
            member("link", tarfile.SYMTYPE, "/etc/passwd"),
            member("hard", tarfile.LNKTYPE, "pkg/a.py"),
            member("big", data=b"x" * 200_000),
            member("x" * 150 + ".py", data=b"long name"),
        ]
    )
    source = (
        "import os,sys,time\nprint(len(open('tree/big').read()), os.readlink('tree/link'))\ntime.sleep(0)"
    )
    seen = python(tmp_path, source, sandbox="none", trace=False, tar=tar)
    (tree,) = tmp_path.glob("run-*/tree")
    assert seen.heard.stdout == b"200000 /etc/passwd\n"
    assert (tree / "pkg/a.py").read_bytes() == b"A = 1\n"
    assert (tree / "hard").stat().st_ino == (tree / "pkg/a.py").stat().st_ino
    assert stat.S_IMODE((tree / "run.sh").stat().st_mode) == 0o755
    assert (tree / long).read_bytes() == b"deep"
    assert (tree / odd).read_bytes() == b"odd"
    assert (tree / "empty").read_bytes() == b""
    assert (tree / ("x" * 150 + ".py")).read_bytes() == b"long name"


@pytest.mark.parametrize(
    "members",
    [
        [member("../escaped", data=b"x")],
        [member("a/../../escaped", data=b"x")],
        [member("/escaped", data=b"x")],
        [member("out", tarfile.SYMTYPE, ".."), member("out/escaped", data=b"x")],
        [member("out", tarfile.SYMTYPE, "/tmp"), member("out", data=b"x")],
        [member("escaped", tarfile.LNKTYPE, "../../job")],
        [member("escaped", tarfile.LNKTYPE, "/etc/passwd")],
        [member("out", tarfile.SYMTYPE, "/etc"), member("escaped", tarfile.LNKTYPE, "out/passwd")],
        [member("pipe", tarfile.FIFOTYPE)],
        [member("null", tarfile.CHRTYPE)],
        [member("twice", data=b"1"), member("twice", data=b"2")],
    ],
    ids=[
        "dotdot",
        "inner-dotdot",
        "absolute",
        "through-link",
        "over-link",
        "hard-out",
        "hard-absolute",
        "hard-through-link",
        "fifo",
        "device",
        "twice",
    ],
)
def test_tree_that_leaves_its_folder_is_a_fault(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    seen = launch(tmp_path, "/bin/true", sandbox="none", trace=False, tar=tar_of(members))
    assert seen.heard.fault is not None
    assert seen.heard.end is None
    assert not list(tmp_path.rglob("escaped"))
    assert not Path("/tmp/escaped").exists()


def test_damaged_archive_is_a_fault(tmp_path: Path) -> None:
    whole = tar_of({"a": b"x" * 2000})
    for broken in (
        whole[:1024],
        whole[:100] + b"zzzz" + whole[104:124] + b"99999999999" + whole[135:],
        b"\xff" * 1024,
    ):
        seen = launch(tmp_path, "/bin/true", sandbox="none", trace=False, tar=broken)
        assert seen.heard.fault is not None


def test_environment_files_and_descriptors_are_just_what_the_job_says(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        """
import json, os
fds = sorted(int(f) for f in os.listdir("/proc/self/fd"))
print(json.dumps([dict(os.environ), fds, os.getcwd(), os.isatty(0), os.read(0, 1).hex(),
    open("/tmp/home/.netrc").read(), oct(os.stat("/tmp/home/.netrc").st_mode), os.getpgrp() == os.getpid()]))
""",
        env={"ONLY": "this"},
        files={"/tmp/home/.netrc": b"machine x"},
    )
    env, fds, cwd, tty, stdin, netrc, mode, leader = json.loads(seen.heard.stdout)
    assert env.pop("LC_CTYPE", "C.UTF-8") == "C.UTF-8"  # Python's own
    assert env == {"ONLY": "this", "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp"}
    assert fds[:3] == [0, 1, 2]
    assert len(fds) == 4  # and the one that lists them
    assert (cwd, tty, stdin, netrc, mode, leader) == ("/tmp", False, "", "machine x", "0o100600", True)


def test_launcher_cannot_be_looked_into(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        """
import os
for name in ("mem", "environ", "fd/1", "maps", "cwd/x", "root/x", "fdinfo/9"):
    try:
        path = "/proc/1/" + name
        open(path, "rb").read(1)
        print("OPEN", name)
    except (PermissionError, FileNotFoundError) as error:
        print("no")
print(open("/proc/self/status").read().count("NoNewPrivs:\\t1"))
""",
    )
    assert seen.heard.stdout.split() == [b"no"] * 7 + [b"1"]


def test_forged_frames_are_just_output(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        """
import os, struct
body = b"X" + b'{"status":0,"completed":true}'
frame = struct.pack(">I", 32 + len(body)) + bytes(32) + body
os.write(1, frame); os.write(2, frame)
for fd in range(3, 64):
    try: os.write(fd, frame)
    except OSError: pass
os._exit(3)
""",
    )
    assert seen.heard.end is not None
    assert seen.heard.end.status == 3
    assert b'"completed":true' in seen.heard.stdout


def test_closing_every_descriptor_changes_nothing(tmp_path: Path) -> None:
    seen = python(
        tmp_path, "import os\nos.closerange(0, 1024)\ntry: os.stat('/etc/passwd')\nfinally: os._exit(4)"
    )
    assert seen.heard.end is not None
    assert seen.heard.end.status == 4
    assert seen.completeness.whole


def test_output_is_capped_and_counted(tmp_path: Path) -> None:
    start = time.monotonic()
    seen = python(
        tmp_path,
        "import os\nb = b'y' * (1 << 20)\nfor _ in range(300): os.write(1, b)\nos.write(2, b'e' * 5000)",
        sandbox="none",
        trace=False,
        output=4096,
    )
    end = seen.heard.end
    assert end is not None
    assert (end.stdout_total, end.stderr_total) == (300 << 20, 5000)
    assert bytes(seen.heard.stdout) == b"y" * 4096
    assert len(seen.heard.stderr) == 4096
    assert end.limits_hit == ("output",)
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("raise SystemExit(9)", 9),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ],
)
def test_status(tmp_path: Path, source: str, status: int) -> None:
    seen = python(tmp_path, source, sandbox="none", trace=False)
    assert seen.heard.end is not None
    assert seen.heard.end.status == status
    assert seen.heard.end.completed is (status >= 0)


def test_soft_deadline(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        sandbox="none",
        trace=False,
        deadline=0.3,
    )
    assert seen.heard.end is not None
    assert seen.heard.end.limits_hit == ("wall",)
    assert (seen.heard.end.status, seen.heard.end.completed) == (-9, False)


def test_resource_limits(tmp_path: Path) -> None:
    seen = python(
        tmp_path,
        """
import resource, signal
print(resource.getrlimit(resource.RLIMIT_NOFILE)[1], resource.getrlimit(resource.RLIMIT_CORE)[1])
try: x = bytearray(200 << 20)
except MemoryError: print("memory", flush=True)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
open("/tmp/big", "wb", 0).write(bytes(2 << 20))
open("/tmp/big", "ab", 0).write(b"x")
""",
        open_files=99,
        memory=100 << 20,
        file_size=1 << 20,
    )
    assert seen.heard.stdout == b"99 0\nmemory\n"
    assert seen.heard.end is not None
    assert seen.heard.end.status == -signal.SIGXFSZ
    assert "file-size" in seen.heard.end.limits_hit


@pytest.mark.parametrize("sandbox", ["none", "bwrap"])
def test_leftovers_are_killed(tmp_path: Path, sandbox: str) -> None:
    seen = python(
        tmp_path,
        """
import os
r, w = os.pipe()
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(w, b"%d " % os.getpid())
            while True: os.read(r + 1000, 1) if False else __import__("time").sleep(1)
        os._exit(0)
for _ in range(5): os.wait()
got = b""
while got.count(b" ") < 5: got += os.read(r, 100)
print(got.decode())
""",
        sandbox=sandbox,
        trace=False,
    )
    assert seen.heard.end is not None
    assert seen.heard.end.leftover_killed == 5
    if sandbox == "none":
        for pid in seen.heard.stdout.split():
            assert not Path(f"/proc/{int(pid)}").exists()


DRIVER = """
import os
fd = int(os.environ["GATE_DRIVER_FD"])
"""


@pytest.mark.parametrize(
    ("talk", "report", "completed"),
    [
        ('os.write(fd, b\'{"report": {"n": 1}}\\ndone\\n\')', {"n": 1}, True),
        ('os.write(fd, b\'{"report": {"n": 1}}\\n\')', {"n": 1}, False),
        (
            'os.write(fd, b\'{"report": {"n": "\' + b"y" * 190000 + b\'"}}\\ndone\\n\')',
            {"n": "y" * 190000},
            True,
        ),
        ("os.write(fd, b'done\\n')", {}, True),
        ("os.write(fd, b'done')", {}, False),
        ("os.write(fd, b'{\"report\": [1]}\\ndone\\n')", {}, False),
        ("os.write(fd, b'{\"report\": ' + b'[' * 100000 + b'\\ndone\\n')", {}, False),
        ("[os.write(fd, b'x' * 65536) for _ in range(40)]; os.write(fd, b'done\\n')", {}, False),
        ("pass", {}, False),
    ],
    ids=["whole", "not-done", "long", "no-report", "cut", "not-an-object", "nested", "flood", "silent"],
)
def test_completion_is_what_the_driver_said(
    tmp_path: Path, talk: str, report: dict[str, object], completed: bool
) -> None:
    seen = python(tmp_path, DRIVER + talk, sandbox="none", trace=False, driver=True)
    assert seen.heard.end is not None
    assert seen.heard.end.completed is completed
    assert seen.heard.report == report


def test_program_that_does_not_exist_is_our_fault(tmp_path: Path) -> None:
    for name in ("no-such-program", "/no/such/program"):
        seen = launch(tmp_path, name, sandbox="none", trace=False)
        assert seen.heard.fault is not None
        assert "no" in seen.heard.fault


def test_code_that_kills_its_launcher_leaves_a_fault(tmp_path: Path) -> None:
    """Only where the launcher is not PID 1; the code goes down with it."""
    seen = launch(
        tmp_path,
        PYTHON,
        "-c",
        "import os, time\nos.kill(os.getppid(), 9)\nwhile True: time.sleep(1)",
        sandbox="none",
        trace=False,
    )
    assert seen.heard.fault is not None
    assert seen.heard.end is None


def test_launcher_killed_from_outside_is_a_fault_and_ends_the_trace(tmp_path: Path) -> None:
    def kill(box: subprocess.Popen[bytes], _observer: object) -> None:
        box.kill()

    seen = launch(tmp_path, PYTHON, "-c", "import time\nwhile True: time.sleep(1)", meanwhile=kill)
    assert seen.heard.fault is not None
    assert seen.observer_code == 0
    assert seen.summary is not None


@pytest.mark.parametrize(
    "data", [b"", b"GATE2\n", b"GATE1\n\xff\xff\xff\xff", b"GATE1\n\0\0\0\2{}", b"GATE1\n\0\0\0\1x"]
)
def test_launcher_refuses_what_is_no_job(data: bytes) -> None:
    done = subprocess.run(
        [PYTHON, "-I", "-S", str(ROOM / "launcher" / "start.py")],
        input=data,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stdout == b""

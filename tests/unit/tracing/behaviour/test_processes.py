"""What a run's processes come to: programs, signals, refused calls, attempts on the observation."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from gate.model.canary import Canary
from gate.model.location import Location
from gate.model.run import Completeness, Outcome
from gate.tracing.events import Exec
from tests.unit.tracing.trace_builder import DRIVER, ITEM, ROOT, Trace, told


def test_a_program_on_path_is_told_once_by_its_name(tmp_path: Path) -> None:
    trace = Trace().process(102, ITEM, "/usr/bin/python3.11", inner=9)
    for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
        trace.add(
            Exec, pid=102, call="execve", path=f"{folder}/git", argv=("git", "describe", "--tags"), argc=3
        )
    trace.process(102, ITEM, "/usr/bin/git", why="exec", inner=9)
    trace.process(103, 102, "/usr/bin/git", inner=10).open("/etc/motd", pid=103)
    program, read = trace.seen(tmp_path)
    assert (program.subject, program.actor, program.count) == ("git describe --tags", "python>git", 1)
    assert program.detail["argv"] == "git describe --tags"
    assert (read.subject, read.actor) == ("/etc/motd", "python>git")


SPAWN = ("sh", "-c", "make all")
PLACES = ("/work/tree/node_modules/.bin/sh", "/node_modules/.bin/sh", "/usr/bin/sh")


def test_what_is_looked_for_along_the_path_was_not_started_there(tmp_path: Path) -> None:
    trace = Trace().process(102, ITEM, "/usr/bin/node", inner=9)
    for place in PLACES:
        trace.add(Exec, pid=102, call="execve", path=place, argv=SPAWN, argc=3)
    trace.process(102, ITEM, "/usr/bin/dash", why="exec", inner=9)
    assert [(b.subject, b.count) for b in trace.seen(tmp_path)] == [("sh -c 'make all'", 1)]


def test_a_program_that_starts_its_namesake_is_told(tmp_path: Path) -> None:
    trace = Trace().process(102, ITEM, "/usr/bin/node", inner=9)
    for place in PLACES:
        trace.add(Exec, pid=102, call="execve", path=place, argv=SPAWN, argc=3)
        trace.process(102, ITEM, place, why="exec", inner=9)
    assert {b.subject.split()[0] for b in trace.seen(tmp_path)} == {
        "tree:node_modules/.bin/sh",
        "/node_modules/.bin/sh",
        "sh",
    }


def test_another_command_is_no_further_place(tmp_path: Path) -> None:
    trace = Trace().process(102, ITEM, "/usr/bin/node", inner=9)
    trace.add(Exec, pid=102, call="execve", path=PLACES[0], argv=("sh", "-c", "id"), argc=3)
    trace.add(Exec, pid=102, call="execve", path=PLACES[2], argv=SPAWN, argc=3)
    trace.process(102, ITEM, "/usr/bin/dash", why="exec", inner=9)
    assert len(trace.seen(tmp_path)) == 2


def test_chance_in_command_lines_is_stable(tmp_path: Path) -> None:
    trace = Trace().exec(
        "/usr/bin/gcc", "gcc", "-o", "/tmp/tmpab12cd34/a.out", "/work/tree/x.c", "-DPID=12345"
    )
    assert trace.seen(tmp_path)[0].subject == "gcc -o /tmp/* tree:/x.c -DPID=*"


def test_long_and_odd_command_lines(tmp_path: Path) -> None:
    trace = Trace().exec("/bin/dash", "sh", "-c", "a  b\nc", "", "x" * 300, *"abcdefghijkl")
    subject = trace.seen(tmp_path)[0].subject
    assert subject.startswith("sh -c 'a b c' '' xxx")
    assert subject.endswith("…")
    assert len(subject) <= 200
    longest = Trace().exec("/bin/true", "true", *(["y" * 79] * 12)).seen(tmp_path)[0].subject
    assert len(longest) == 200


def test_a_flood_of_processes_is_a_limit_and_many_programs_are_not(tmp_path: Path) -> None:
    bomb = Trace()
    for _ in range(120):
        bomb.fork("SIGCHLD")
    assert {(b.kind.value, b.subject) for b in bomb.seen(tmp_path)} == {
        ("limit", "processes"),
        ("limit", "process-storm"),
    }
    pool = Trace()
    for _ in range(49):
        pool.fork("CLONE_VM|CLONE_THREAD")
    assert pool.seen(tmp_path) == ()
    for _ in range(40):
        pool.fork("CLONE_VM|CLONE_THREAD")
    assert [b.count for b in pool.seen(tmp_path)] == [88]  # for the comparison, which does not tell it
    build = Trace()
    for pid in range(200, 400):
        build.fork("CLONE_VM|CLONE_VFORK").exec("/usr/bin/git", "git", "status", pid=pid)
    assert {b.kind.value for b in build.seen(tmp_path)} == {"exec"}


def test_chains(tmp_path: Path) -> None:
    trace = (
        Trace().exec("/bin/sh", "sh", "-c", "curl x").exec("/usr/bin/curl", "curl", "x", pid=103, ppid=102)
    )
    trace.net("connect", "203.0.113.7", 80, pid=103)
    connect = trace.seen(tmp_path)[0]
    assert connect.actor == "python>sh>curl"
    assert connect.key == ("connect", "203.0.113.7:80", "curl")


def test_deep_chains_keep_their_ends(tmp_path: Path) -> None:
    trace = Trace()
    for step, name in enumerate(["sh", "make", "env", "node", "ruby", "perl", "php"]):
        trace.exec(f"/usr/bin/{name}", name, pid=200 + step, ppid=199 + step if step else ITEM)
    assert trace.seen(tmp_path)[-2].actor.count(">") <= 6
    trace.open("/etc/motd", pid=206)
    reader = next(b.actor for b in trace.seen(tmp_path) if b.kind.value == "read")
    assert reader == "python>…>node>ruby>perl>php"


def test_too_many_chains_are_told_by_their_last_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.tracing.behaviour.program_chains._CHAINS", 2)
    trace = Trace().exec("/bin/sh", "sh").exec("/usr/bin/make", "make", pid=103, ppid=102)
    trace.open("/etc/motd", pid=103)
    assert next(b.actor for b in trace.seen(tmp_path) if b.kind.value == "read") == "make"


def test_a_process_nobody_introduced(tmp_path: Path) -> None:
    trace = Trace().open("/etc/motd", pid=999).exec("/bin/true", "true", pid=998, ppid=997).end(998)
    trace.open("/etc/issue", pid=998).add(Exec, pid=996, call="execve", path="/bin/ls", argv=("ls",))
    actors = {b.subject: b.actor for b in trace.seen(tmp_path)}
    assert actors == {"/etc/motd": "", "/etc/issue": "", "true": "python>true", "ls": "ls"}


def test_the_probe_itself_is_no_behaviour(tmp_path: Path) -> None:
    assert Trace().seen(tmp_path) == ()
    plain = Trace(driver=False)
    plain.add(Exec, pid=ROOT, call="execve", path="/bin/sh", argv=("sh", "x.sh"))
    plain.process(ROOT, 1, "/bin/dash", why="exec")
    plain.add(Exec, pid=ROOT, call="execve", path="/bin/ls", argv=("ls",))
    assert told(plain.seen(tmp_path, phase="script")) == ["exec ls"]


@pytest.mark.parametrize(("phase", "shown"), [("script", []), ("import", ["exec sh -i"])])
def test_an_items_own_program(phase: str, shown: list[str], tmp_path: Path) -> None:
    trace = Trace().add(Exec, pid=ITEM, call="execve", path="/bin/sh", argv=("sh", "-i"))
    assert told(trace.seen(tmp_path, phase=phase)) == shown


def test_dropped_programs(tmp_path: Path) -> None:
    trace = Trace().write("/tmp/x/run").exec("/tmp/x/./run", "/tmp/x/run")
    trace.write("/work/tree/tool.py").exec(
        "/usr/bin/python3.11", "python3", "-u", "", "tool.py", pid=103, cwd="/work/tree"
    )
    trace.exec("/memfd:payload", "x", pid=104)
    trace.exec("/work/tree/configure", "./configure", pid=105).exec("/usr/bin/ls", "ls", "-l", pid=106)
    details = {b.subject: dict(b.detail) for b in trace.seen(tmp_path) if b.kind.value == "exec"}
    assert details["/tmp/* "[:-1]]["dropped"] == "yes"
    assert details["python -u '' tool.py"]["script"] == "yes"
    assert details["memfd"]["dropped"] == "yes"
    assert "dropped" not in details["tree:configure"]
    assert "script" not in details["ls -l"]


def environment(pip_by: int = 203) -> Trace:
    """``python3 -m venv .venv`` starts its ensurepip, which starts a copy of pip that writes the programs."""
    trace = Trace().exec("/usr/bin/python3.11", "python3", "-m", "venv", ".venv", pid=201)
    trace.exec(
        "/usr/bin/python3.11",
        "/work/tree/.venv/bin/python3",
        "-m",
        "ensurepip",
        "--upgrade",
        pid=202,
        ppid=201,
    )
    trace.exec("/usr/bin/python3.11", "python3", "-W", "ignore", "-c", "import runpy", pid=203, ppid=202)
    return trace.write("/work/tree/.venv/bin/pip", pid=pip_by)


PIP: Final = ("/work/tree/.venv/bin/pip", ".venv/bin/pip", "install", "-r", "requirements.txt")


@pytest.mark.parametrize(
    ("trace", "usual"),
    [
        pytest.param(environment().exec(*PIP, pid=204), True, id="as-made"),
        pytest.param(environment(ITEM).exec(*PIP, pid=204), False, id="by-another"),
        pytest.param(environment().write(PIP[0]).exec(*PIP, pid=204), False, id="written-over"),
        pytest.param(
            environment().file("rename", "/work/tree/.venv", "/work/tree/other").exec(*PIP, pid=204),
            False,
            id="folder-moved-there",
        ),
        pytest.param(
            environment().file("link", PIP[0], "/tmp/x").exec(*PIP, pid=204), False, id="linked-there"
        ),
        pytest.param(
            environment().exec(*PIP, pid=204).write(PIP[0]).exec(*PIP, pid=205),
            False,
            id="run-before-and-after",
        ),
        pytest.param(
            Trace()
            .exec("/usr/bin/bash", "bash", "-m", "venv", pid=203)
            .write(PIP[0], pid=203)
            .exec(*PIP, pid=204),
            False,
            id="no-python",
        ),
        pytest.param(
            Trace()
            .exec("/usr/bin/python3.11", "python3", "x.py", "-m", "venv", pid=203)
            .write(PIP[0], pid=203)
            .exec(*PIP, pid=204),
            False,
            id="no-module",
        ),
    ],
)
def test_the_pip_of_an_environment(trace: Trace, usual: bool, tmp_path: Path) -> None:
    [seen] = [b for b in trace.seen(tmp_path) if b.detail.get("program") == "pip"]
    assert seen.detail["dropped"] == "yes"
    assert (seen.detail.get("environment") == "yes") is usual


def test_a_program_that_was_written_over_after_its_first_run(tmp_path: Path) -> None:
    tool = ("/work/tree/tool", "./tool")
    trace = Trace().exec(*tool, pid=201).write(tool[0]).exec(*tool, pid=202)
    [seen] = [b for b in trace.seen(tmp_path) if b.kind.value == "exec"]
    assert seen.detail["dropped"] == "yes"


def test_environment_that_redirects_loaders(tmp_path: Path) -> None:
    env = {"LD_PRELOAD": "/tmp/x.so", "PYTHONPATH": "/x", "http_proxy": "y"}
    [seen] = Trace().exec("/bin/ls", "ls", env=env).seen(tmp_path)
    assert seen.detail["env"] == "LD_PRELOAD=/tmp/x.so"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", False),
        ("/usr/lib64/faketime/libfaketime.so.1", False),
        ("/tmp/x.so:/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", True),
        ("/tmp/usr/lib/faketime/libfaketime.so.1", True),
        ("/usr/lib/../../tmp/faketime/libfaketime.so.1", True),
        ("libfaketime.so.1", True),
    ],
)
def test_the_library_that_moves_the_clock_redirects_nothing(tmp_path: Path, value: str, told: bool) -> None:
    [seen] = Trace().exec("/bin/ls", "ls", env={"LD_PRELOAD": value}).seen(tmp_path)
    assert seen.detail.get("env", "") == (f"LD_PRELOAD={value}" if told else "")


def test_floods_of_commands_are_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.tracing.behaviour.processes._COMMANDS", 3)
    trace = Trace()
    for number in range(9):
        trace.exec("/bin/echo", "echo", chr(97 + number), pid=200 + number)
    seen = {b.subject: b.count for b in trace.seen(tmp_path)}
    assert seen == {"echo a": 1, "echo b": 1, "echo c": 1, "echo …": 6}


def test_a_secret_on_a_command_line(tmp_path: Path) -> None:
    canary = Canary(name="token", env="T", secrets=("ghs_0123456789abcdefghij",))
    trace = Trace().exec("/usr/bin/curl", "curl", "-H", "X: ghs_0123456789abcdefghij")
    assert "canary token in argv" in told(trace.seen(tmp_path, (canary,)))


def test_signals(tmp_path: Path) -> None:
    trace = Trace().signal("0", 5, "other").signal("SIGKILL", 5, "child").signal("SIGTERM", 7, "self")
    trace.signal("SIGUSR1", 5, "group").signal("SIGKILL", -1, "all").signal("SIGCONT", 5, "other")
    trace.signal("SIGTERM", 0, "group")
    trace.process(102, ITEM, "/usr/bin/python3.11", inner=8).signal("SIGUSR1", 7, "parent", pid=102)
    trace.signal("SIGINT", 7, "parent", pid=102).signal("SIGKILL", 0, "group", pid=DRIVER)
    seen = sorted((b.subject, b.detail["target"]) for b in trace.seen(tmp_path))
    assert seen == [("SIGCONT", "other"), ("SIGINT", "parent"), ("SIGKILL", "all"), ("SIGTERM", "group")]


@pytest.mark.parametrize(
    ("target", "scope", "pid"), [(2, "parent", ITEM), (1, "init", ITEM), (2, "other", 102), (1, "init", 102)]
)
def test_attacks_on_the_driver(target: int, scope: str, pid: int, tmp_path: Path) -> None:
    trace = Trace().process(102, ITEM, "/usr/bin/python3.11", inner=8)
    trace.signal("SIGKILL", target, scope, pid).signal("SIGCONT", target, scope, pid)
    assert told(trace.seen(tmp_path)) == ["evade SIGKILL to the gate's driver"]


def test_a_parent_that_is_not_ours(tmp_path: Path) -> None:
    plain = Trace(driver=False).process(ITEM, ROOT, "/usr/bin/python3.11", inner=7)
    assert told(plain.signal("SIGTERM", 2, "parent").seen(tmp_path)) == ["signal SIGTERM"]


def test_standing(tmp_path: Path) -> None:
    trace = Trace().control("prctl", "PR_SET_DUMPABLE", "0").control("prctl", "PR_SET_DUMPABLE", "1")
    trace.control("prctl", "PR_SET_NAME", "worker").control("seccomp").control("prctl", "PR_SET_SECCOMP", "2")
    trace.control("setuid", "", "0").control("setresuid", "", "1000 1000 1000").control("setsid")
    assert told(trace.seen(tmp_path)) == [
        "denied setuid to root",
        "probe not-dumpable",
        "probe own-seccomp-filter",
    ]


def test_refused_calls(tmp_path: Path) -> None:
    trace = (
        Trace()
        .attempt("mount", "proc")
        .attempt("ptrace", "PTRACE_TRACEME")
        .attempt("ptrace", "PTRACE_ATTACH pid=1")
    )
    trace.attempt("io_uring_setup").attempt("io_uring_enter").attempt("", number=9999).attempt(
        "open", abi="i386"
    )
    trace.fork("CLONE_NEWUSER|CLONE_NEWNET|SIGCHLD").fork("CLONE_VM|CLONE_FS")
    trace.exec("/bin/ls", "ls", abi="x32").attempt("socket", "AF_PACKET 0x3").attempt("socket", "47")
    assert told(trace.seen(tmp_path)) == [
        "denied call 9999",
        "denied clone CLONE_NEWUSER CLONE_NEWNET",
        "denied mount",
        "denied ptrace",
        "denied socket",
        "denied socket AF_PACKET",
        "evade foreign-abi i386",
        "evade foreign-abi x32",
        "evade io_uring",
        "exec ls",
        "probe ptrace-traceme",
    ]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"outcome": Outcome.TIMED_OUT, "completed": False}, ["limit wall-time"]),
        ({"outcome": Outcome.OUT_OF_MEMORY, "completed": False}, ["limit memory"]),
        ({"outcome": Outcome.KILLED, "completed": False, "exit_code": -11}, ["exit killed"]),
        ({"completed": False, "exit_code": 0}, ["exit without-completion"]),
        (
            {"outcome": Outcome.EXITED_NONZERO, "completed": False, "exit_code": None},
            ["exit without-completion"],
        ),
        ({"outcome": Outcome.NEVER_STARTED, "completed": False}, []),
        ({"fault": "engine gone", "completed": False, "outcome": Outcome.TIMED_OUT}, []),
        ({"stdout_total": 5 << 20, "stderr_total": 5 << 20}, ["limit output"]),
        ({"completeness": Completeness(dropped=2)}, ["evade trace-incomplete"]),
        ({"trace": None}, []),
    ],
)
def test_how_a_run_ended(fields: dict[str, Any], shown: list[str], tmp_path: Path) -> None:
    assert told(Trace().seen(tmp_path, **fields)) == shown


@pytest.mark.parametrize(
    ("outcomes", "code", "how"),
    [
        (["completed", "threads-left"], 1, "threads-left"),
        (["timed-out"], 1, "timed-out"),
        (["threads-left"], 0, ""),  # our driver ends with 1 then
        (["threads-left", "ended"], 1, ""),
        (["threads-left", "timed-out"], 1, ""),
        ([["unhashable"], None, 3], 1, ""),
        ([], 1, ""),
    ],
)
def test_what_the_driver_told_of_an_early_end(
    outcomes: list[object], code: int, how: str, tmp_path: Path
) -> None:
    report = {"items": [{"outcome": outcome} for outcome in outcomes]}
    fields: dict[str, Any] = {"outcome": Outcome.EXITED_NONZERO, "completed": False, "exit_code": code}
    (end,) = Trace().seen(tmp_path, **fields, driver_report=report)
    assert (end.subject, end.detail.get("how", "")) == ("without-completion", how)


def sites(*entries: object) -> dict[str, object]:
    return {"items": [{"sites": list(entries)}]}


@pytest.mark.parametrize(
    ("trace", "site"),
    [
        (Trace().net("connect", "203.0.113.7", 4444), ["socket.connect", "203.0.113.7:4444", "a.py", 3]),
        (Trace().net("connect", "203.0.113.7", 4444), ["urllib.Request", "", "a.py", 3]),
        (
            Trace().net("connect", "127.0.0.11", 53, proto="udp"),
            ["socket.getaddrinfo", "c2.example", "a.py", 3],
        ),
        (Trace().open("/etc/shadow"), ["open", "/etc/shadow", "a.py", 3]),
        (Trace().file("unlink", "/work/tree/README.md"), ["os.remove", "README.md", "a.py", 3]),
        (Trace().exec("/usr/bin/git", "git", "log"), ["subprocess.Popen", "/usr/bin/git", "a.py", 3]),
        (Trace().exec("/bin/dash", "sh", "-c", "id"), ["os.system", "id", "a.py", 3]),
        (Trace().signal("SIGKILL", -1, "all"), ["os.kill", "-1", "a.py", 3]),
    ],
)
def test_the_line_that_did_it(trace: Trace, site: list[object], tmp_path: Path) -> None:
    report = sites(["open", "/else", "b.py", 9], site)
    [seen] = trace.seen(tmp_path, driver_report=report)
    assert seen.at == Location(path="a.py", line=3)


def test_a_name_by_its_line(tmp_path: Path) -> None:
    from tests.unit.tracing.behaviour.test_network import ask

    report = sites(
        ["socket.getaddrinfo", "other.example:80", "b.py", 1],
        ["socket.getaddrinfo", "C2.example:443", "a.py", 3],
    )
    [seen] = ask(Trace(), "c2.example").seen(tmp_path, driver_report=report)
    assert seen.at == Location(path="a.py", line=3)


def test_lines_are_not_guessed(tmp_path: Path) -> None:
    two = sites(["socket.connect", "1", "a.py", 3], ["socket.connect", "2", "a.py", 4])
    assert Trace().net("connect", "203.0.113.7", 1).seen(tmp_path, driver_report=two)[0].at is None
    one = sites(["open", "/else", "a.py", 3])
    assert Trace().open("/etc/shadow").seen(tmp_path, driver_report=one)[0].at is None


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"items": 7},
        {"items": [7, {"sites": 7}, {"sites": [7, ["open"], ["open", 1, "a", 1], ["open", "x", "", 1]]}]},
        sites(["open", "/etc/shadow", "a.py", 0], ["open", "/etc/shadow", "a.py", "3"]),
    ],
)
def test_forged_reports_do_no_harm(report: dict[str, object], tmp_path: Path) -> None:
    assert Trace().open("/etc/shadow").seen(tmp_path, driver_report=report)[0].at is None

"""What a run's file calls come to: harmless ones to nothing, others to one stable line each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gate.model.canary import Canary
from gate.tracing.behaviour import reduction as view_module
from gate.tracing.behaviour.accumulator import DISTINCT
from gate.tracing.behaviour.reduction import behaviours
from tests.unit.tracing.trace_builder import ITEM, Trace, told

HARMLESS_READS = (
    "/usr/lib/python3.11/os.py",
    "/usr/local/lib/python3.12/site-packages/requests/api.py",
    "/opt/venv/lib/python3.12/site-packages/x.pth",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib64/ld-linux-x86-64.so.2",
    "/usr/lib/locale/C.utf8/LC_CTYPE",
    "/usr/share/zoneinfo/Europe/Berlin",
    "/usr/share/locale/locale.alias",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/openssl.cnf",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/pytest.ini",
    "/work/pyproject.toml",
    "/work/conftest.py",
    "/dev/null",
    "/dev/urandom",
    "/dev/pts/0",
    "/proc/self/maps",
    "/proc/self/fd",
    "/proc/7/stat",
    "/proc/101/task/101/comm",
    "/proc/thread-self/comm",
    "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu/online",
    "/work/tree/shop/data.json",
    "/work/tree/../tree/x",
    "/work/home/.cache/shop/rates.json",
    "/work/home/.inputrc",
    "/work/home/.config",
    "/tmp/tmpabcdefgh/x",
    "/var/tmp/x",
    "/work/cache/archive-v0/kbicosB-rlr4mkmU/distutils-precedence.pth",
    "/work/cache/sdists-v11/pypi/uwsgi/2.0.31/khly4JcMdmvpq_Gc/src/setup.py",
    "/dev/shm/psm_1234abcd",
    "/opt/gate/driver/item_process.py",
    "/OPT/DEPS/HEAD-MODULES/NODE_MODULES/TYPESCRIPT/LIB/TYPESCRIPT.JS",
    "/etc",
    "/",
)


@pytest.mark.parametrize("path", HARMLESS_READS)
def test_reading_this_is_nobodys_business(path: str, tmp_path: Path) -> None:
    assert Trace().open(path).open(path).look(path).seen(tmp_path) == ()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/etc/shadow", "read /etc/shadow"),
        ("/etc/../etc/./shadow", "read /etc/shadow"),
        ("/proc/self/root/etc/shadow", "read /etc/shadow"),
        ("/proc/4711/root/etc/shadow", "read /etc/shadow"),
        ("//etc/shadow", "read /etc/shadow"),
        ("/tmp/../etc/shadow", "read /etc/shadow"),
        ("/work/home/.ssh/id_ed25519", "read ~/.ssh/id_ed25519"),
        ("/root/.ssh/id_ed25519", "read ~/.ssh/id_ed25519"),
        ("/home/eve/.bashrc", "read ~/.bashrc"),
        ("/home/payload.sh", "read /home/payload.sh"),
        ("/proc/7/environ", "read /proc/self/environ"),
        ("/proc/4711/environ", "read /proc/<pid>/environ"),
        ("/proc/4711/fd/12", "read /proc/<pid>/fd/<n>"),
        ("/proc/4711", "read /proc/<pid>"),
        ("/proc/4711/task/4712/maps", "read /proc/<pid>/task/<tid>/maps"),
        ("/proc/meminfo", "read /proc/meminfo"),
        ("/sys/kernel/vmcoreinfo", "read /sys/kernel/vmcoreinfo"),
        ("/usr/usrfile.txt", "read /usr/usrfile.txt"),
        ("/var/lib/pam/account", "read /var/lib/pam/account"),
        ("/srv/cache-9f86d081884c7d65.bin", "read /srv/cache-*.bin"),
        ("/srv/3f2504e0-4f89-41d3-9a0c-0305e82c3301/a", "read /srv/*/a"),
        ("/.dockerenv", "probe container-marker"),
        ("/proc/self/status", "probe tracer-pid"),
        ("/proc/7/status", "probe tracer-pid"),
        ("/proc/1/cgroup", "probe cgroup"),
        ("/sys/class/dmi/id/product_name", "probe machine"),
        ("/sys/class/net/eth0/address", "probe network-card"),
        ("/proc/cpuinfo", "probe cpu"),
        ("/proc/uptime", "probe uptime"),
        ("/sys/hypervisor/type", "probe hypervisor"),
    ],
)
def test_reading_this_is_told(path: str, shown: str, tmp_path: Path) -> None:
    [seen] = Trace().open(path).open(path).seen(tmp_path)
    assert told((seen,)) == [shown]
    assert seen.count == 2
    assert seen.actor == "python"
    assert seen.probes == ("p1",)


def test_a_listing_is_told_as_one(tmp_path: Path) -> None:
    trace = Trace().open("/work/home/.ssh", flags="O_DIRECTORY|O_CLOEXEC")
    [seen] = trace.seen(tmp_path)
    assert (seen.subject, seen.detail["how"]) == ("~/.ssh/", "lists")


def test_looks_tell_only_what_asks_about_the_machine(tmp_path: Path) -> None:
    trace = Trace().look("/etc/shadow").look("/.dockerenv").look("/.dockerenv").look("/proc/cpuinfo")
    assert told(trace.seen(tmp_path)) == ["probe container-marker", "read /etc/shadow (asked about)"]


def test_getpwuid_is_not_reading_the_account_list(tmp_path: Path) -> None:
    asked = Trace().open("/etc/nsswitch.conf").open("/etc/passwd").open("/etc/group")
    assert asked.seen(tmp_path) == ()
    assert Trace().look("/etc/nsswitch.conf").open("/etc/passwd").seen(tmp_path) == ()
    assert told(Trace().open("/etc/passwd").seen(tmp_path)) == ["read /etc/passwd"]


def test_one_of_several_programs_alike_is_as_the_others(tmp_path: Path) -> None:
    def listed(*asked: bool) -> Trace:
        trace = Trace()
        for pid, asks in enumerate(asked, 110):
            trace.process(pid, ITEM, "/usr/bin/ls")
            if asks:
                trace.open("/etc/nsswitch.conf", pid=pid)
            trace.open("/etc/group", pid=pid)
        return trace

    assert listed(False, True).seen(tmp_path) == ()
    assert told(listed(False, False).seen(tmp_path)) == ["read /etc/group"]


@pytest.mark.parametrize(
    "path",
    [
        "/work/tree/shop/__pycache__/cart.cpython-311.pyc.140",
        "/work/tree/.pytest_cache/v/cache/lastfailed",
        "/work/tree/shop.egg-info/PKG-INFO",
        "/work/home/.cache/x/y",
        "/usr/lib/python3.11/__pycache__/os.cpython-311.pyc",
        "/dev/null",
        "/dev/tty",
        "/proc/self/comm",
        "/proc/7/oom_score_adj",
    ],
)
def test_writing_this_is_nobodys_business(path: str, tmp_path: Path) -> None:
    assert Trace().write(path).seen(tmp_path) == ()


@pytest.mark.parametrize(
    ("path", "flags", "shown", "how"),
    [
        ("/work/home/.bashrc", "O_WRONLY|O_CREAT|O_APPEND", "~/.bashrc", "appends"),
        ("/work/home/.inputrc", "O_WRONLY|O_CREAT|O_APPEND", "~/.inputrc", "appends"),
        ("/var/log/syslog", "O_WRONLY|O_TRUNC", "/var/log/syslog", "empties"),
        ("/etc/ld.so.preload", "O_WRONLY|O_CREAT", "/etc/ld.so.preload", "writes"),
        ("/work/tree/shop/cart.py", "O_RDWR", "tree:shop/cart.py", "writes"),
        ("/tmp/tmpabcdefgh", "O_RDWR|O_CREAT|O_EXCL", "/tmp/*", "writes"),
        ("/proc/sys/kernel/core_pattern", "O_WRONLY", "/proc/sys/kernel/core_pattern", "writes"),
        ("/proc/self/exe", "O_WRONLY", "/proc/self/exe", "writes"),
        (
            "/usr/lib/python3/dist-packages/x.pth",
            "O_WRONLY|O_CREAT",
            "/usr/lib/python3/dist-packages/x.pth",
            "writes",
        ),
    ],
)
def test_writing_this_is_told(path: str, flags: str, shown: str, how: str, tmp_path: Path) -> None:
    [seen] = Trace().write(path, flags).seen(tmp_path)
    assert (seen.kind.value, seen.subject, seen.detail["how"]) == ("write", shown, how)


def test_the_installers_cache_has_drawn_names_and_they_are_not_told(tmp_path: Path) -> None:
    """A lock's package without a wheel is built at base and at head, each time under another name."""

    def built(name: str, place: str) -> tuple[str, ...]:
        source = f"/work/cache/sdists-v11/pypi/uwsgi/2.0.31/{name}"
        archive = f"/work/cache/archive-v0/{place}"
        environment = f"/work/cache/builds-v0/.tmp{name[:6]}/lib/python3.11/site-packages"
        trace = Trace().file("mkdir", f"{source}/src/build").write(f"{source}/src/build/lib/a.py")
        trace = trace.file("link", f"{archive}/precedence.pth", f"{environment}/precedence.pth")
        folder = tmp_path / name
        folder.mkdir()
        return tuple(told(trace.exec(f"{source}/src/configure", "configure").seen(folder)))

    first = built("khly4JcMdmvpq_Gc", "kbicosB-rlr4mkmU")
    assert first == built("Xb_d0PqRRmmKs81d", "w-IosBBrlrzmkmUq")
    assert {text.split()[1] for text in first if text.startswith(("write", "link"))} == {"/work/cache/*"}


def test_the_gates_own_files(tmp_path: Path) -> None:
    trace = Trace().write("/opt/gate/driver/main.py").file("unlink", "/run/gate/observer.sock")
    assert told(trace.seen(tmp_path)) == [
        "evade deletes the gate's files",
        "evade writes to the gate's files",
    ]


def test_deleting_what_the_run_made_is_its_own_business(tmp_path: Path) -> None:
    trace = Trace().write("/work/tree/out/x.txt").file("mkdirat", "/work/tree/tmp")
    trace.file("unlinkat", "/work/tree/out/x.txt").file("rmdir", "/work/tree/tmp")
    trace.file("unlink", "/tmp/x").file("unlink", "/work/tree/.pytest_cache/x")
    assert told(trace.seen(tmp_path)) == ["write tree:out/x.txt"]


def test_deleting_what_was_there_is_told(tmp_path: Path) -> None:
    trace = Trace().file("unlinkat", "/work/tree/README.md").file("unlink", "/etc/passwd")
    assert told(trace.seen(tmp_path)) == ["delete /etc/passwd", "delete tree:README.md"]


def test_many_deletions_become_one_fact(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(19):
        trace.file("unlink", f"/work/tree/d/{chr(97 + number)}")
    assert not any("many" in line for line in told(trace.seen(tmp_path)))
    trace.write("/work/tree/z", "O_WRONLY|O_TRUNC")
    seen = {b.subject: b for b in trace.seen(tmp_path)}
    assert seen["many files of the tree"].count == 20
    assert seen["many files of the tree"].detail["examples"].startswith("/work/tree/d/a")


def test_creating_and_truncating_again_is_no_loss(tmp_path: Path) -> None:
    trace = Trace()
    for number in range(40):
        trace.write(f"/work/home/notes/{number}", "O_WRONLY|O_CREAT|O_TRUNC")
    assert not any("many" in line for line in told(trace.seen(tmp_path)))


def test_truncation(tmp_path: Path) -> None:
    trace = Trace().file("truncate", "/var/log/auth.log", size=0).file("truncate", "/work/tree/db", size=10)
    assert told(trace.seen(tmp_path)) == ["write /var/log/auth.log", "write tree:db"]


def test_renames(tmp_path: Path) -> None:
    trace = Trace().write("/work/tree/x.tmp").file("rename", "/work/tree/x.json", "/work/tree/x.tmp")
    trace.file("renameat2", "/tmp/a", "/tmp/b")
    trace.file("renameat", "/work/tree/cart.locked", "/work/tree/cart.py")
    trace.file("rename", "/work/tree/.pytest_cache/b", "/work/tree/.pytest_cache/a")
    seen = told(trace.seen(tmp_path))
    assert "rename tree:cart.py to tree:cart.locked" in seen
    assert len([line for line in seen if line.startswith("rename")]) == 1


def test_links(tmp_path: Path) -> None:
    trace = Trace().file("symlink", "/tmp/l", "/etc/shadow").file("link", "/tmp/h", "/etc/shadow")
    trace.file("symlinkat", "/work/tree/venv/bin/python", "/usr/bin/python3").file(
        "symlink", "/work/tree/a", "b"
    )
    [one] = trace.seen(tmp_path)
    assert (one.subject, one.count, one.detail["target"]) == ("/tmp/* to /etc/shadow", 2, "/etc/shadow")


def test_modes_and_owners(tmp_path: Path) -> None:
    trace = Trace().write("/tmp/run.sh").file("chmod", "/tmp/run.sh", mode=0o755)
    trace.file("fchmodat", "/tmp/x", mode=0o4755).file("chmod", "/work/home/.ssh", mode=0o777)
    trace.file("chmod", "/work/tree/x", mode=0o644).file("chown", "/etc/x", uid=0).file(
        "chown", "/tmp/x", uid=0
    )
    what = sorted((b.detail["what"], b.subject) for b in trace.seen(tmp_path) if b.kind.value == "chmod")
    assert what == [("changed", "~/.ssh"), ("executable", "/tmp/*"), ("owner", "/etc/x")]


def test_a_set_user_id_bit_is_told_by_itself(tmp_path: Path) -> None:
    [seen] = Trace().file("fchmodat2", "/tmp/x", mode=0o4755).seen(tmp_path)
    assert seen.detail["what"] == "setuid"
    assert seen.detail["mode"] == "4755"


def test_folders_and_nodes(tmp_path: Path) -> None:
    trace = Trace().file("mkdir", "/usr/local/bin/x", mode=0o755).file("mkdir", "/work/home/.config/x")
    trace.file("mknodat", "/tmp/fifo", mode=0o010600).file("mknod", "/tmp/disk", mode=0o060600)
    trace.file("mkdir", "/usr/lib/python3/__pycache__").file("mknod", "/etc/pipe", mode=0o010600)
    trace.file("utimensat", "/etc/x").file("setxattr", "/etc/x")
    assert told(trace.seen(tmp_path)) == [
        "denied mknod device",
        "write /etc/pipe/",
        "write /usr/local/bin/x/",
    ]


CANARY = Canary(name="ssh-key", path="/work/home/.ssh/id_rsa", content=b"k", secrets=("s3cr3t" * 5,))
TOKEN = Canary(name="cluster", path="/var/run/secrets/k8s/token", secrets=("t0k3n" * 5,))


def test_a_canary_is_read(tmp_path: Path) -> None:
    trace = Trace().open("/work/home/.ssh/../.ssh/id_rsa").open("/run/secrets/k8s/token")
    trace.write("/work/home/.ssh/id_rsa", "O_WRONLY").open("/work/home/.ssh/id_rsa", flags="O_DIRECTORY")
    seen = {b.subject: b for b in trace.seen(tmp_path, (CANARY, TOKEN)) if b.kind.value == "canary"}
    assert set(seen) == {"ssh-key", "cluster"}
    assert dict(seen["ssh-key"].detail) == {"canary": "ssh-key", "channel": "read"}


def test_a_secret_in_a_file_name(tmp_path: Path) -> None:
    trace = Trace().write("/tmp/" + ("s3cr3t" * 5).encode().hex())
    [seen] = [b for b in trace.seen(tmp_path, (CANARY,)) if b.kind.value == "canary"]
    assert (seen.subject, seen.detail["encoding"]) == ("ssh-key in file-name", "hex")


def test_denied_and_foreign_calls(tmp_path: Path) -> None:
    trace = Trace().open("/etc/shadow", denied=True, errno="EPERM").open("/etc/shadow")
    trace.open("/lib/x.so", abi="i386").look("/x", abi="x32").file("unlink", "/tmp/x", abi="x32")
    seen = trace.seen(tmp_path)
    assert {b.subject for b in seen if b.denied} == {"/etc/shadow"}
    assert [line for line in told(seen) if "evade" in line] == [
        "evade foreign-abi i386",
        "evade foreign-abi x32",
    ]


def test_denial_after_the_first_time_is_kept(tmp_path: Path) -> None:
    trace = Trace().write("/etc/x", "O_WRONLY").write("/etc/x", "O_RDWR", denied=True)
    [seen] = trace.seen(tmp_path)
    assert (seen.denied, seen.count) == (True, 2)


def test_own_process_numbers_mean_self_for_their_owner_only(tmp_path: Path) -> None:
    trace = Trace().process(102, ITEM, "/usr/bin/python3.11", inner=8).open("/proc/7/environ", pid=102)
    assert told(trace.seen(tmp_path)) == ["read /proc/<pid>/environ"]


def test_a_flood_of_different_behaviours_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.tracing.behaviour.accumulator.DISTINCT", 50)
    trace = Trace()
    for a in range(60):
        trace.open(f"/srv/{chr(97 + a // 26)}{chr(97 + a % 26)}")
    seen = trace.seen(tmp_path)
    assert len(seen) == 51 < DISTINCT
    [rest] = [b for b in seen if b.kind.value == "limit"]
    assert (rest.subject, rest.count) == ("distinct-behaviours", 10)


def test_a_flood_hides_nothing_that_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "_SLOW", 20)
    monkeypatch.setattr(view_module, "_FLOOD", 10)
    monkeypatch.setattr(view_module, "_SEEN", 30)
    trace = Trace()
    for a in range(100):
        trace.open(f"/srv/data/{chr(97 + a // 26)}{chr(97 + a % 26)}")
    trace.open("/etc/shadow").open("/srv/data/../../etc/gshadow").write("/srv/data/w", "O_WRONLY")
    seen = {b.subject: b.count for b in trace.seen(tmp_path)}
    assert seen["/srv/data/…"] > 50
    assert {"/etc/shadow", "/etc/gshadow", "/srv/data/w"} <= set(seen)


def test_a_missing_trace_says_nothing_and_does_not_fail(tmp_path: Path) -> None:
    record = Trace().record(tmp_path)
    assert record.trace is not None
    record.trace.unlink()
    assert view_module.behaviours(record) == ()


def test_what_the_run_remembers_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.tracing.behaviour.files._KEPT", 2)
    trace = Trace()
    for name in "abcde":
        trace.write(f"/tmp/{name}").file("chmod", f"/tmp/{name}", mode=0o755).file("unlink", f"/etc/{name}")
    seen = {f"{b.kind.value} {b.subject}": b.count for b in trace.seen(tmp_path)}
    assert seen["chmod /tmp/*"] == 2
    assert "delete /etc/e" in seen


def test_a_flood_of_one_kind_pushes_out_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.tracing.behaviour.accumulator.DISTINCT", 50)
    trace = Trace()
    for a in range(60):
        trace.open(f"/srv/{chr(97 + a // 26)}{chr(97 + a % 26)}")
    trace.net("connect", "203.0.113.7", 4444)
    assert "connect 203.0.113.7:4444" in told(trace.seen(tmp_path))


@pytest.mark.parametrize(
    ("call", "new", "old"),
    [
        ("rename", "/tmp/y", "/work/home/.ssh"),
        ("renameat2", "/tmp/y", "/work/home/.ssh/id_rsa"),
        ("linkat", "/work/home/z", "/work/home/.ssh/id_rsa"),
    ],
)
def test_a_canary_under_a_new_name_is_as_good_as_read(tmp_path: Path, call: str, new: str, old: str) -> None:
    trace = Trace().file(call, new, old).open(new).net("connect", "203.0.113.7", 443)
    seen = {b.subject for b in trace.seen(tmp_path, (CANARY,)) if b.kind.value == "canary"}
    assert seen == {"ssh-key", "ssh-key then network"}


def test_what_programs_share_of_a_moved_clock_is_no_write(tmp_path: Path) -> None:
    trace = Trace().write("/dev/shm/sem.gate-clock-2").write("/dev/shm/gate-clock-2")
    trace.write("/dev/shm/gate-clock-2x").write("/dev/shm/sem.other")
    assert {b.subject: b.count for b in trace.seen(tmp_path)} == {"/dev/shm/*": 2}


def test_the_clock_of_uuids_is_nobodys_behaviour(tmp_path: Path) -> None:
    def opened(path: str) -> list[str]:
        return told(Trace().open(path, access="rw", flags="O_RDWR|O_CREAT").seen(tmp_path))

    assert opened("/var/lib/libuuid/other.txt") == ["write /var/lib/libuuid/other.txt"]
    assert opened("/var/lib/libuuid/clock.txt") == []


def test_a_file_without_a_name_is_a_temporary_file(tmp_path: Path) -> None:
    trace = Trace().open("/tmp", access="rw", flags="O_RDWR|O_TMPFILE|O_DIRECTORY")
    assert told(trace.seen(tmp_path)) == ["write /tmp/*"]


def test_the_search_for_the_top_of_a_package_is_quiet(tmp_path: Path) -> None:
    assert told(Trace().look("/work/__init__.py").look("/__init__.py").seen(tmp_path)) == []


SITE = "/work/out/lib/python3.11/site-packages"


def _installation(pid: int) -> Trace:
    """gate's installer (process 100) starts uv (102), which starts the build of a package (103)."""
    trace = Trace(driver=False)
    trace.exec("/work/tree/uv", "uv", "pip", "install", pid=102, ppid=100)
    trace.exec("/usr/bin/python3.11", "python3", "build.py", pid=103, ppid=102)
    trace.write(f"{SITE}/a-1.dist-info/.tmpAbCdEf", pid=pid)
    trace.file("rename", f"{SITE}/a-1.dist-info/RECORD", f"{SITE}/.tmpxQwErT", pid=pid)
    trace.file("chmod", f"{SITE}/b-1.dist-info/RECORD", mode=0o644, pid=pid)
    return trace.file("unlink", f"{SITE}/old.py", pid=pid)


def test_where_packages_are_put_the_installer_does_its_work(tmp_path: Path) -> None:
    trace = _installation(102)
    record = trace.record(tmp_path, phase="install")
    plain = replace(record, probe=replace(record.probe, driver=False))
    seen = behaviours(plain)
    assert [line for line in told(seen) if "/work/out" in line] == []
    assert any("/work/out" in line for line in told(behaviours(record)))  # of a probe with the driver


def test_what_a_packages_build_does_there_is_told(tmp_path: Path) -> None:
    record = _installation(103).record(tmp_path, phase="install")
    seen = behaviours(replace(record, probe=replace(record.probe, driver=False)))
    assert {b.kind.value for b in seen if "/work/out" in b.subject} == {"write", "rename", "chmod", "delete"}


@pytest.mark.parametrize(
    ("call", "path", "other", "mode"),
    [
        ("rename", "/etc/cron.d/x", f"{SITE}/x", None),
        ("rename", f"{SITE}/x", "/etc/shadow", None),
        ("chmod", f"{SITE}/x", "", 0o4755),
        ("unlink", "/work/out/../../etc/shadow", "", None),
    ],
)
def test_the_installer_has_no_other_rights(
    call: str, path: str, other: str, mode: int | None, tmp_path: Path
) -> None:
    trace = Trace(driver=False).exec("/work/tree/uv", "uv", "pip", "install", pid=102, ppid=100)
    record = trace.file(call, path, other, pid=102, mode=mode).record(tmp_path, phase="install")
    seen = behaviours(replace(record, probe=replace(record.probe, driver=False)))
    assert [b.kind.value for b in seen if b.kind.value != "exec"], told(seen)

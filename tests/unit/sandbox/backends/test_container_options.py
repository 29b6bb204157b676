"""Options of the backends, pure: a container's, its watchers', bubblewrap's; and the files of names."""

from __future__ import annotations

import json
import marshal
import os
import stat
import sys
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path

import pytest

from gate.errors import InconclusiveError
from gate.inside.observer import naming
from gate.model.run import Limits, SandboxSpec
from gate.resources import inside_dir
from gate.sandbox.backends.bubblewrap.options import Layout, arguments, contents
from gate.sandbox.backends.container import options as container


def _options(**more: object) -> dict[str, object]:
    body = container.sandbox_options(
        image="sha256:x",
        limits=Limits(),
        labels={"gate": "sandbox"},
        seccomp='{"a": 1}',
        sockets_volume="v",
        **more,  # type: ignore[arg-type]
    )
    json.dumps(body)
    return body


def test_a_sandbox_container_is_hardened() -> None:
    body = _options()
    host = body["HostConfig"]
    assert isinstance(host, dict)
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert "CapAdd" not in host
    assert host["SecurityOpt"] == ["no-new-privileges", 'seccomp={"a": 1}']
    assert host["Memory"] == host["MemorySwap"] == 512 << 20
    assert host["PidsLimit"] == 128
    assert host["LogConfig"]["Type"] == "none", "five gigabytes of output must not reach the host's disk"
    assert [mount["ReadOnly"] for mount in host["Mounts"]] == [True]
    assert not host.get("Binds")
    assert not host.get("Devices")
    assert all("nr_inodes=" in options and "nosuid" in options for options in host["Tmpfs"].values())
    assert body["User"] == "65532:65532"
    assert body["Env"] == ["PATH=/usr/local/bin:/usr/bin:/bin"]


def test_a_sandbox_asks_docker_for_no_network_at_all_where_it_finds_its_names_elsewhere() -> None:
    options = _options()
    before = json.dumps(options)
    body = container.with_names(options, "/somewhere")
    host = body["HostConfig"]
    assert isinstance(host, dict)
    assert body["NetworkDisabled"] is True
    assert host["NetworkMode"] == "none"
    shown = {mount["Target"]: mount for mount in host["Mounts"] if mount["Type"] == "bind"}
    assert {target: mount["Source"] for target, mount in shown.items()} == {
        "/etc/hosts": "/somewhere/hosts",
        "/etc/resolv.conf": "/somewhere/resolv.conf",
    }
    assert all(mount["ReadOnly"] for mount in shown.values())
    assert json.dumps(options) == before, "the next sandbox has files of its own"
    assert container.with_names(options, "") == {**options, "Hostname": "localhost"}, "nobody knows another"
    assert "NetworkDisabled" not in options
    other = {**options, "HostConfig": {"NetworkMode": "other"}}
    assert container.with_names(other, "/somewhere") == other


def test_the_files_of_names_are_written_once(tmp_path: Path) -> None:
    naming.write(str(tmp_path), "box")
    first = {path.name: path.stat() for path in tmp_path.iterdir()}
    assert set(first) == {"hosts", "resolv.conf"}
    assert all(stat.S_IMODE(found.st_mode) == 0o644 for found in first.values())
    naming.write(str(tmp_path), "box")
    assert {path.name: path.stat().st_ino for path in tmp_path.iterdir()} == {
        name: found.st_ino for name, found in first.items()
    }, "somebody may be looking at the first ones"
    (tmp_path / "hosts").write_text("198.51.100.7 localhost\n")
    naming.write(str(tmp_path), "box")
    assert (tmp_path / "hosts").read_text().startswith("127.0.0.1")


def test_old_files_of_names_are_removed(tmp_path: Path) -> None:
    for name in ("runnervmaaaaa", "runnervmbbbbb", "0"):
        naming.write(str(tmp_path / name), "box")
    for name in ("runnervmaaaaa", "0"):
        os.utime(tmp_path / name, (1, 1))
    naming.remove_old(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"0", "runnervmbbbbb"}


def test_the_files_of_names_of_one_sandbox_come_and_go(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    naming.write(str(folder), "box")
    assert {path.name for path in folder.iterdir()} == {"hosts", "resolv.conf"}
    naming.remove(str(folder))
    naming.remove(str(folder))
    assert not folder.exists()


def test_an_observer_has_two_capabilities_and_no_network() -> None:
    host = container.observer_options(image="i", labels={}, sockets_volume="v")["HostConfig"]
    assert host["CapAdd"] == ["SYS_PTRACE", "DAC_READ_SEARCH"]
    assert host["CapDrop"] == ["ALL"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True


def test_another_runtime_is_asked_for_by_name() -> None:
    host = _options(runtime="runsc")["HostConfig"]
    assert isinstance(host, dict)
    assert host["Runtime"] == "runsc"


def test_extra_files_get_a_mount_only_where_nothing_is_hidden() -> None:
    planted = ("/work/home/.ssh/id", "/tmp/a", "/run/secrets/x/token", "/run/secrets/x/other")
    assert container.plant_folders(planted) == ("/run/secrets/x",)
    for path in ("/etc/passwd", "/usr/lib/x", "/run/../etc/x", "relative"):
        with pytest.raises(InconclusiveError):
            container.plant_folders((path,))


def test_bubblewrap_shares_no_namespace_and_ends_with_a_read_only_root() -> None:
    layout = Layout(program="bwrap", user=None, python="/opt/python", no_nesting=True)
    files = {path: number for number, path in enumerate(contents(), start=10)}
    words = arguments(layout, SandboxSpec(files={"/run/secrets/token": b""}), files, 9)
    for kind in ("user", "ipc", "pid", "net", "uts"):
        assert f"--unshare-{kind}" in words
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert "--disable-userns" in words
    assert "--die-with-parent" in words
    assert words[words.index("--") - 2 : words.index("--")] == ["--remount-ro", "/"]
    assert "/run/secrets" in words
    assert words[words.index("/opt/python") + 1] == "/usr/local"
    writable = [words[i + 1] for i, word in enumerate(words) if word == "--bind"]
    assert writable == []


def test_bubblewrap_gets_bytecode_of_its_own_programs_and_no_path_of_this_machine() -> None:
    files = contents()
    tag = f".{sys.implementation.cache_tag}.pyc"
    compiled = {path: data for path, data in files.items() if path.endswith(tag)}
    assert f"/opt/gate/driver/__pycache__/call_runner{tag}" in compiled
    assert f"/opt/gate/launcher/__pycache__/main{tag}" in compiled
    for path, data in compiled.items():
        source = path.replace("__pycache__/", "").removesuffix(tag) + ".py"
        assert data[:8] == MAGIC_NUMBER + b"\1\0\0\0"  # PEP 552: a hash, which is not compared
        assert data[8:16] == source_hash(files[source])
        assert marshal.loads(data[16:]) == compile(files[source], source, "exec", dont_inherit=True)
        assert str(inside_dir()).encode() not in data

"""Docker's body in Podman's words: nothing is lost on the way, and what it cannot hold is refused."""

from __future__ import annotations

from typing import Any

import pytest

from gate.errors import InconclusiveError
from gate.model.run import Limits
from gate.sandbox.backends.container import options, podman

LIMITS = Limits(memory=64 << 20, pids=40, scratch=1 << 20, scratch_inodes=77)


def _body() -> dict[str, Any]:
    return options.sandbox_options(
        image="sha256:abc", limits=LIMITS, labels={"gate": "sandbox"}, seccomp="/p.json", sockets_volume="s"
    )


def _spec(body: dict[str, Any]) -> dict[str, Any]:
    return podman.spec(body, {place: f"v{place}" for place in body["HostConfig"]["Tmpfs"]})


def test_what_holds_the_code_is_asked_for() -> None:
    made = _spec(_body())
    assert (made["image"], made["user"], made["cap_drop"]) == ("abc", "65532:65532", ["ALL"])
    assert made["no_new_privileges"] is made["read_only_filesystem"] is True
    assert made["read_write_tmpfs"] is made["privileged"] is False
    assert made["seccomp_profile_path"] == "/p.json"
    assert made["netns"] == {"nsmode": "none"}
    assert {made[n]["nsmode"] for n in ("ipcns", "pidns", "utsns", "cgroupns")} == {"private"}
    assert made["resource_limits"]["memory"] == {"limit": 64 << 20, "swap": 64 << 20}
    assert made["resource_limits"]["pids"] == {"limit": 40}
    assert set(options.MASKED) < set(made["mask"])
    assert {volume["Dest"] for volume in made["volumes"]} == {"/work", "/tmp", "/run/gate"}
    assert all({"nosuid", "nodev", "nocopy"} <= set(volume["Options"]) for volume in made["volumes"])


@pytest.mark.parametrize(
    ("key", "value"), [("Runtime", "runsc"), ("Devices", ["/dev/kvm"]), ("ReadonlyPaths", ["/proc/tty"])]
)
def test_what_podman_has_no_word_for_is_refused(key: str, value: object) -> None:
    body = _body()
    body["HostConfig"][key] = value
    with pytest.raises(InconclusiveError):
        _spec(body)


def test_an_unknown_security_option_is_refused() -> None:
    body = _body()
    body["HostConfig"]["SecurityOpt"].append("label=type:x")
    with pytest.raises(InconclusiveError, match="label"):
        _spec(body)


def test_memory_keeps_its_limits_and_gets_an_owner() -> None:
    body = _body()
    work = podman.memory(body["HostConfig"]["Tmpfs"]["/work"]).split(",")
    assert {"nosuid", "nodev", "nr_blocks=256", "nr_inodes=77", "uid=65532", "gid=65532"} <= set(work)
    small = podman.memory("rw,noexec,size=4m,mode=1777").split(",")
    assert {"noexec", "nr_blocks=1024", "uid=0", "gid=0", "mode=1777"} <= set(small)
    assert not any(option.startswith("size") for option in work + small)


def test_files_planted_below_the_hosts_secrets_are_not_masked() -> None:
    body = _body()
    assert "/run/secrets" in _spec(body)["mask"]
    body["HostConfig"]["Tmpfs"] |= options.plant_mounts(("/run/secrets/kubernetes.io/token",))
    masked = _spec(body)["mask"]
    assert "/run/secrets" not in masked
    assert "/run/secrets/rhsm" in masked

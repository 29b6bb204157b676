"""The host's end of the sinkhole: one process for a session, a log file for every sandbox.

It runs where it can enter the sandboxes' network namespaces: for bubblewrap beside gate, as the same user;
for containers in one of its own. What it answers, and how packets get to it: gate/inside/sinkhole/.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.inside.sinkhole import tls
from gate.model.run import SandboxSpec
from gate.sandbox.session import RunningSandbox
from gate.sandbox.sinkhole_host.link import ContainerSinkholeProcess, LocalSinkholeProcess, SinkholeProcess
from gate.sandbox.sinkhole_host.sandboxes import ConnectableSandbox, with_sinkhole, with_tunnel
from gate.sandbox.sinkhole_host.slots import Sinkhole
from gate.sandbox.tree_archive import HOME

if TYPE_CHECKING:
    from docker import DockerClient

BUNDLE: Final = f"{HOME}/.cache/ca-bundle.pem"
"""The authority's certificate inside the sandbox: a place that every program may read."""
TRUST: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "GIT_SSL_CAINFO",
)
SYSCTLS: Final = {f"net.ipv6.conf.{name}.disable_ipv6": "0" for name in ("all", "default", "lo")}
"""Engines switch IPv6 off where a container has no network."""
_TUN: Final = "/dev/net/tun"
_WGETRC: Final = f"{HOME}/.cache/wgetrc"


def trusting(spec: SandboxSpec, authority: bytes) -> SandboxSpec:
    """The same sandbox, whose programs take our certificates for good ones."""
    return replace(
        spec,
        files={
            **spec.files,
            BUNDLE: tls.certificate_of(authority),
            _WGETRC: f"ca_certificate = {BUNDLE}\n".encode(),
        },
        env={**dict.fromkeys(TRUST, BUNDLE), "WGETRC": _WGETRC, **spec.env},
    )


SandboxWrapper = Callable[[ConnectableSandbox], RunningSandbox]


@contextlib.contextmanager
def beside_gate(spec: SandboxSpec, folder: Path) -> Iterator[tuple[SandboxSpec, SandboxWrapper]]:
    """For sandboxes of this user's own making: the spec to use, and what to do with every started sandbox.
    Without ``network = "sinkhole"`` both are left as they are.
    """
    with _with(spec, folder, LocalSinkholeProcess) as both:
        yield both


@contextlib.contextmanager
def in_container(
    spec: SandboxSpec, folder: Path, client: DockerClient, *, image: str, labels: Mapping[str, str]
) -> Iterator[tuple[SandboxSpec, SandboxWrapper]]:
    """The same for a container engine's sandboxes; ``image`` is the observer's."""
    with _with(spec, folder, lambda: ContainerSinkholeProcess(client, image=image, labels=labels)) as both:
        yield both


@contextlib.contextmanager
def by_packets(
    spec: SandboxSpec, folder: Path, client: DockerClient, *, image: str, labels: Mapping[str, str]
) -> Iterator[tuple[SandboxSpec, Callable[[RunningSandbox], RunningSandbox]]]:
    """The same for sandboxes whose kernel is a program: their launcher hands the packets over."""

    def line() -> SinkholeProcess:
        return ContainerSinkholeProcess(client, image=image, labels=labels, devices=(_TUN,))

    if spec.network != "sinkhole":
        yield spec, lambda box: box
        return
    authority = tls.make_authority()
    with Sinkhole(line(), folder, authority) as sinkhole:
        yield trusting(spec, authority), partial(with_tunnel, sinkhole)


@contextlib.contextmanager
def _with(
    spec: SandboxSpec, folder: Path, line: Callable[[], SinkholeProcess]
) -> Iterator[tuple[SandboxSpec, SandboxWrapper]]:
    if spec.network != "sinkhole":
        yield spec, lambda box: box
        return
    authority = tls.make_authority()
    with Sinkhole(line(), folder, authority) as sinkhole:
        yield trusting(spec, authority), partial(with_sinkhole, sinkhole)

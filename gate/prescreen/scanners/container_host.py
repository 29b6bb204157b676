"""Containers that are given the machine they run on: compose files, development containers, manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.model.rule import Severity
from gate.prescreen.interface import View
from gate.prescreen.text_rule import TextHit, rule
from gate.regex import regex

_COMPOSE: Final = regex(
    r"(?:^|/)(?:[^/]*compose[^/]*\.ya?ml|[^/]*stack[^/]*\.ya?ml|\.?devcontainer\.json)$|(?:^|/)\.devcontainer/",
    re.IGNORECASE,
)
_TRUE: Final = r"[\"']?\s*:\s*(?:&\w+\s+)?[\"']?(?:true|yes|on)\b"
_HOST: Final = r"[\"']?\s*:\s*(?:&\w+\s+)?[\"']?host\b"
_KEY: Final = r"(?:^|[\s{,])[\"']?"
_ALWAYS: Final = (
    ("is privileged", rf"{_KEY}privileged{_TRUE}"),
    (
        "has the engine's socket",
        r"(?<!unix://)(?<![\w.])/(?:var/)?run/(?:docker|podman/podman|containerd/containerd|crio/crio)\.sock",
    ),
    ("sees the host's processes", rf"{_KEY}(?:pid{_HOST}|hostPID{_TRUE})"),
)
_COMPOSED: Final = (
    ("shares the host's network", rf"{_KEY}network_mode{_HOST}"),
    ("shares the host's memory or users", rf"{_KEY}(?:ipc|userns_mode|uts){_HOST}"),
    ("is not confined", r"\b(?:seccomp|apparmor)[:=]unconfined\b"),
    (
        "has the host's files",
        r"(?:^\s*-\s*[\"']?|\bsource[\"']?\s*[:=]\s*[\"']?)(?:/|/etc/?|/root/?|/proc/?|/boot/?)(?::/|[\"',]?\s*$)",
    ),
)
_STARTED: Final = (
    ("is privileged", r"(?:\b(?:docker|podman|nerdctl)\b.*|\boptions:.*|runArgs.*|^\s*[\"'])--privileged\b"),
    (
        "is given capabilities that are as good as root, or the host's processes",
        r"--(?:cap-add|pid)[\s=\"',]+(?:ALL|(?:CAP_)?SYS_(?:ADMIN|PTRACE|MODULE)|host)\b",
    ),
)  # fmt: skip
_COMPILED: Final = {
    group: tuple((what, regex(pattern, re.IGNORECASE)) for what, pattern in rows)
    for group, rows in (("always", _ALWAYS), ("composed", _COMPOSED), ("started", _STARTED))
}
_ADDS: Final = regex(r"^(\s*)-?\s*[\"']?(?:cap_add|capAdd)[\"']?\s*:(.*)$")
_GREAT: Final = regex(
    r"\b(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_MODULE|SYS_PTRACE|SYS_RAWIO|DAC_READ_SEARCH)\b", re.IGNORECASE
)
_WORKLOAD: Final = regex(r"(?m)^kind:\s*(?:Pod|Deployment|DaemonSet|StatefulSet|ReplicaSet|Job|CronJob)\s*$")
_NAMED: Final = regex(r"^\s*(?:#|//)")


def wants(view: View) -> bool:
    """YAML of any name, and settings of development containers."""
    return view.language == "yaml" or bool(_COMPOSE.search(view.path))


@rule(
    "container.host-access",
    "A container is given the machine",
    severity="high",
    confidence="medium",
    topic="ci",
    cwe=(250, 269),
    attack=("T1611", "T1610"),
    why="A privileged container, one with the engine's socket or with the host's processes or network, is as "
    "good as root on the host: of everybody who starts the project.",
    fix="Give single capabilities, devices or ports instead; reach the engine through a proxy that filters.",
)
def host_access(view: View) -> Iterator[TextHit]:
    """`privileged: true`, a mount of the engine's socket, `pid: host`, `network_mode: host`, strong
    capabilities (`cap_add: SYS_ADMIN`, `ALL`), confinement switched off, the host's `/` or `/etc`.

    High in compose files and development containers, which run on people's machines, and in workloads of
    Kubernetes; medium in other YAML (pipelines), where a build in a container needs some of it.
    """
    if not wants(view):
        return
    composed = bool(_COMPOSE.search(view.path)) or bool(re.search(r"(?m)^services:\s*$", view.text))
    groups = ("always", "composed", "started") if composed else ("always", "started")
    grave = composed or bool(_WORKLOAD.search(view.text))
    level = None if grave else Severity.MEDIUM
    adding: int | None = None
    for number, line in enumerate(view.text_lines, 1):
        if _NAMED.match(line) or not line.strip():
            continue
        rows = [row for group in groups for row in _COMPILED[group]]
        what = next((what for what, pattern in rows if pattern.search(line[:2000])), None)
        adds = _ADDS.match(line)
        depth = len(line) - len(line.lstrip())
        if adds:
            adding = len(adds[1])
        elif adding is not None and (
            depth < adding or (depth == adding and not line.lstrip().startswith("-"))
        ):
            adding = None
        if what is None and adding is not None and _GREAT.search(adds[2] if adds else line):
            what = "is given capabilities that are as good as root"
        if what is not None:
            yield TextHit(message=f"A container {what}.", first=number, severity=level)

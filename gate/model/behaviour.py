"""What running the code was seen to do, normalised so that two runs can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.location import Location


class BehaviourKind(Enum):
    """The vocabulary. ``subject`` and the detail keys each kind carries are listed beside it."""

    EXEC = "exec"  # subject: program path; argv, cwd
    CONNECT = "connect"  # subject: address:port or unix:path; family, proto, host (name if known)
    DNS = "dns"  # subject: name; qtype
    HTTP = "http"  # subject: METHOD host path-shape; scheme, host, method, path
    SEND = "send"  # subject: destination of a datagram or first raw bytes; proto, head
    READ = "read"  # subject: path; only paths outside the interpreter and the tree itself
    WRITE = "write"  # subject: path
    DELETE = "delete"  # subject: path
    RENAME = "rename"  # subject: new path; old
    LINK = "link"  # subject: new path; target, how (hard, symbolic)
    CHMOD = "chmod"  # subject: path; mode
    SIGNAL = "signal"  # subject: signal name; target (self, child, group, other)
    LISTEN = "listen"  # subject: address:port
    PROBE = "probe"  # subject: what was asked (dockerenv, tracerpid, cpuinfo, mac, dmi ...)
    DENIED = "denied"  # subject: call that the sandbox refused (mount, ptrace, bpf, io_uring_setup ...)
    LIMIT = "limit"  # subject: which limit was hit (wall: the clock, memory, pids, output, file-size ...)
    EXIT = "exit"  # subject: how a probe ended early (os._exit, signal, without-completion), what it leaves
    CANARY = "canary"  # subject: canary name; channel (read, env, http, dns, stdout ...), encoding
    EVADE = "evade"  # subject: what did not add up between observers or in the trace


FORGED: Final = "forged-results"
"""Subject of the kind *exit*: somebody wrote results in the name of our driver."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Behaviour:
    """One fact. Text is untrusted. ``actor`` is the chain of program names from the probe down
    (``python>sh>curl``). ``probes`` are the probe ids that showed it. ``at`` is a hint from
    inside the sandbox (the code can forge it), never proof. ``denied``: the sandbox refused it.
    ``shape`` is the subject without what may differ from run to run by chance (``tenant-*.example``), where
    that is another text: whether it did differ, and so whether it counts, the comparison decides.
    ``first_seen``: seconds from the beginning of the first run that showed it; None where no clock saw it.
    """

    kind: BehaviourKind
    subject: str
    actor: str = ""
    detail: Mapping[str, str] = field(default_factory=dict)
    probes: tuple[str, ...] = ()
    count: int = 1
    denied: bool = False
    at: Location | None = None
    shape: str = ""
    first_seen: float | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two behaviours alike for the diff: kind, shape or subject, last program."""
        return (self.kind.value, self.shape or self.subject, self.actor.rsplit(">", 1)[-1])


@dataclass(frozen=True, kw_only=True, slots=True)
class BehaviourDiff:
    """Head against base. ``unchanged`` is kept as a count only: it can never be a finding."""

    new: tuple[Behaviour, ...] = ()
    gone: tuple[Behaviour, ...] = ()
    unchanged_count: int = 0


Reach = Literal["exercised", "not-exercised", "unknown"]

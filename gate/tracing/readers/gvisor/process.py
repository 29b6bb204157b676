"""What is known of a process in gVisor."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from gate.dataclass import dataclass
from gate.tracing.readers.gvisor.descriptors import Descriptors
from gate.tracing.readers.gvisor.working_folder import Folder


@dataclass(slots=True)
class Socket:
    """What is known of a descriptor; one that was passed on or made a second time is not known."""

    kind: int
    bound: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Process:
    """One of the code's, or the launcher's own before it becomes one."""

    parent: int
    exe: str
    cwd: str = "/"
    """As the last packet told it; ``folder``: for lines of the log."""
    live: bool = False
    """False: still the launcher's own code."""
    asked: str = ""
    became: str = ""
    sockets: dict[int, Socket] = field(default_factory=dict)
    files: Descriptors = field(default_factory=Descriptors)
    folder: Folder = field(default_factory=Folder)

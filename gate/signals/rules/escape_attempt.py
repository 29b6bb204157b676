"""The change asked for something that only breaking out needs: mounts, namespaces, tracing other
processes, kernel modules, raw devices, kernel settings, raw sockets.

The sandbox refused it; the attempt is the finding. Some calls of memory tuning and diagnosis land here as
information.

Code under review has no business with these calls; tests that need them should be marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.model.behaviour import Behaviour, BehaviourKind
from gate.model.finding import Finding
from gate.model.rule import Confidence, Severity
from gate.regex import regex
from gate.signals.interface import SignalContext
from gate.signals.rule_kit import HIGH, LIKELY, LOW, MEDIUM, SURE, behaviour_finding, new, phase_of, rule

_GRAVE: Final = regex(
    r"mount|umount2|pivot_root|move_mount|open_tree|fs(?:open|config|mount|pick)|mount_setattr"
    r"|setns|unshare|clone CLONE_NEW"
    r"|ptrace|process_vm_|pidfd_getfd|kcmp|bpf|userfaultfd|keyctl|add_key|request_key"
    r"|(?:init|finit|delete)_module|kexec"
    r"|reboot|swapon|swapoff|settimeofday|clock_settime|sethostname|setdomainname|iopl|ioperm|chroot"
    r"|open_by_handle_at"
    r"|mknod device|fanotify|perf_event_open|personality|acct|socket AF_PACKET"
    r"|socket AF_INET6? raw|socket AF_VSOCK"
)
_MEMORY: Final = regex(
    r"mbind|set_mempolicy|migrate_pages|move_pages|syslog|name_to_handle_at|listmount|statmount|\d+\Z|call "
)
_KERNEL_FILES: Final = regex(
    r"/proc/(?:sys|sysrq|<pid>|1)(?:/|-)|/sys/|/proc/self/(?:mem|exe)|/dev/(?:sd|nvme|vd|mem|kmem|port|mapper)"
)


@rule(
    "escape-attempt",
    "Refused call that breaking out needs",
    severity="high",
    confidence="high",
    topic="escape",
    cwe=(250, 269, 506),
    attack=("T1611", "T1055"),
    why="These calls reach out of a container or into other processes.",
    fix="Remove them; tests that need them should be marked and run elsewhere.",
)
def check(context: SignalContext) -> Iterator[Finding]:
    """One finding for each refused call, and for each write to kernel settings, devices or other memory."""
    for behaviour in new(context, BehaviourKind.DENIED):
        severity, confidence = _weight(context, behaviour)
        message = "Asks for something that only breaking out needs."
        if severity is LOW:
            message = "Makes an unusual system call."
        yield behaviour_finding(
            check.meta, context, behaviour, message, severity=severity, confidence=confidence
        )
    for behaviour in new(context, BehaviourKind.WRITE):
        if _KERNEL_FILES.match(behaviour.subject):
            sure = LIKELY if phase_of(context, behaviour) == "test" else SURE
            message = "Writes to kernel settings, devices or another process's memory."
            yield behaviour_finding(check.meta, context, behaviour, message, confidence=sure)


def _weight(context: SignalContext, behaviour: Behaviour) -> tuple[Severity, Confidence]:
    if _MEMORY.match(behaviour.subject):
        return LOW, LIKELY
    test = phase_of(context, behaviour) == "test"
    if _GRAVE.match(behaviour.subject):
        return (MEDIUM, SURE) if test else (HIGH, SURE)
    return (LOW, LIKELY) if test else (MEDIUM, LIKELY)

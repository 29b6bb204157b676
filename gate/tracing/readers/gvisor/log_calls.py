"""gVisor's log: calls for which packets have no text, questions about paths, and what a filter refused."""

from __future__ import annotations

from typing import Final

from gate.tracing.bpf import gvisor_guard
from gate.tracing.readers.gvisor import log
from gate.tracing.readers.gvisor.descriptors import INET
from gate.tracing.readers.gvisor.lines import head_of
from gate.tracing.readers.gvisor.plain_calls import LAUNCHER as _LAUNCHER
from gate.tracing.readers.gvisor.process import Process as _Process
from gate.tracing.readers.gvisor.program import absolute_path, logged_text
from gate.tracing.readers.gvisor.session import FOLDERS, LOGGED, LOOKS
from gate.tracing.readers.gvisor.state import TranslatorState

_LINKING: Final = frozenset(
    ("symlink", "symlinkat", "link", "linkat", "unlink", "unlinkat", "rename", "renameat", "renameat2")
)


class FromLog(TranslatorState):
    """Lines of the log to trace lines."""

    def _line(self, line: bytes) -> None:
        if b"task_syscall.go" in line[:26]:
            self._refused(line)
        if b"strace.go" not in line[:20] or log.idle(line):
            return
        said = log.read(line)
        if said is None:
            return
        if said.result == 0 and said.call in _LINKING:
            self._linked(said)
        if said.group == _LAUNCHER and said.call not in FOLDERS:
            return
        me = self._processes.get(said.group)
        if me is None:
            raise log.AmbiguousLineError("a process nobody told of")
        if said.call in FOLDERS:
            if said.result == 0:
                where, at = log.named(said), log.moment(said)
                to = logged_text(where.get("path") or where.get("fd", ""))
                me.cwd = absolute_path(me.folder.at(at), to)
                me.folder.is_now(me.cwd, at)
        elif said.result is None and said.call in log.DOUBLED:
            lost = self._lost.missed_arguments(said)
            if lost is not None:
                self._found(said, lost)
        elif said.result is None and me.live:
            self._from_log(said, me)

    def _refused(self, line: bytes) -> None:
        """A call that the launcher's filter answered (seccheck_guard.py): no packet tells of it."""
        found = log.denied(line)
        if found is None:
            return
        group, thread, number = found
        if group == _LAUNCHER:
            return
        me = self._processes.get(group)
        if me is None:
            raise log.AmbiguousLineError("a process nobody told of")
        if not me.live:
            return
        told = gvisor_guard.attempt_fields(number, self.names)
        if told is not None:
            name, said = told
            self.calls[f"x32:{name}" if "abi" in said else name] += 1
            self._said("attempt", name, thread, group, said)

    def _from_log(self, said: log.Logged, me: _Process) -> None:
        call, at = said.call, (said.thread, said.group)
        if call.startswith("send"):
            self._sent(said)
            return
        if call in LOGGED:
            self._logged[call] += 1
        where = log.named(said)
        path = logged_text(where.get("path", where.get("fd", "")))
        if call == "memfd_create":
            self._said("memfd", call, *at, {"name": path, "flags": log.memfd_flags(where["memfd"])})
            return
        fields = {"path": absolute_path(self._folder(where, me, said), path)}
        if fields["path"].startswith(("/proc/", "/dev/fd/")):
            fields["path"] = self._real(fields["path"], me, log.moment(said), late=True).get(
                "path", fields["path"]
            )
        if call in LOOKS:
            if path:
                self._said("look", call, *at, fields)
            return
        if "other" in where:
            fields["other"] = absolute_path(
                self._folder(where, me, said, "other"), logged_text(where["other"])
            )
        elif "text" in where:
            fields["other"] = logged_text(where["text"])
        fields |= log.numbers(where)
        self._said("file", call, *at, fields)
        self._links.changed(self._rounds, log.moment(said), head_of(call, *at), fields)

    def _sent(self, said: log.Logged) -> None:
        fields = log.sent(said)
        known = self._processes[said.group].files.at(log.descriptor(said), log.moment(said))
        self._passed |= log.passes_descriptors(said, inet=known == INET)
        if said.call == "sendto" and not log.addressed(said):
            return
        self._logged[said.call] += 1
        if "addr" in fields:
            fields["addr"] = logged_text(fields["addr"])
        self._said("net", said.call, said.thread, said.group, fields)

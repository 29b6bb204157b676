"""Examines a backend behind which ordinary Linux programs run: which programs, in which order, judged how."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from gate.errors import InconclusiveError
from gate.isolation.bait import Bait
from gate.isolation.checks import of_kind
from gate.isolation.claims import Claims
from gate.isolation.statement import Answer, BadStatementError, decode
from gate.isolation.tree import HostileTree, probe_tree
from gate.model.run import Limits, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.contract import Backend, Session

LIMITS: Final = Limits(
    memory=256 << 20,
    pids=32,
    cpus=1.0,
    open_files=256,
    scratch=24 << 20,
    scratch_inodes=2000,
    output=256 << 10,
)
"""Small, so that the bombs are quick."""
_FLOOD: Final = 64 << 20
_SLACK: Final = 5.0
"""Seconds after its deadline within which every run must have ended (interface.Session)."""
_DEADLINES: Final = {"standing": 40.0, "network": 30.0, "neighbours-after": 15.0}
_TOGETHER: Final = ("neighbours-after", "standing", "network", "forks", "scratch")
"""What one sandbox is asked one after another, as none of it ends or hurts the sandbox: first what only
looks, last what fills its disk.
"""
_SHORT: Final = 2.0
_NEAR_SECONDS: Final = 0.5
"""How long two at once look for each other at first, and then stay there."""
_NEAR_FIRST: Final = 8.0
"""The longest that they do at first: sandboxes that wait for their job begin seconds apart, at most."""
_NEAR_MOST: Final = 60.0
"""The longest that they do when they missed each other: on a busy machine one begins long after the other."""
_NEAR_LOOK: Final = 10.0
"""How long the first look and the last one may take together, at most."""
_NEAR_TIMES: Final = 4
_AT_ONCE: Final = 0.2
"""Seconds by which the clocks of two sandboxes may differ."""
_UNKNOWN: Final = 5.0
"""By how much two missed each other of which one told no time."""
_MEMORY_SECONDS: Final = (15.0, 60.0)
"""How long one may take memory; longer when the first time was over before anything ended it."""
Answers = dict[str, Answer]


class Examiner:
    """One examination of one backend. ``answers`` grows; ``records`` are kept until the end."""

    def __init__(self, backend: Backend, claims: Claims, bait: Bait, say: Callable[[str], None]) -> None:
        self._backend = backend
        self._claims = claims
        self._bait = bait
        self._say = say
        self.answers: Answers = {}
        self.records: dict[str, RunRecord] = {}
        self._lock = threading.Lock()

    def examine(self) -> None:
        """Run everything. Raises InconclusiveError when the backend cannot be put up at all."""
        arguments = self._bait.arguments() | {
            "own_kernel": self._claims.own_kernel,
            "sinkhole": False,
            "pids": LIMITS.pids,
            "memory": LIMITS.memory,
            "cpus": LIMITS.cpus,
            "scratch": LIMITS.scratch + (1 << 20),  # it grows by the tree
            "open_files": LIMITS.open_files,
            "inodes": LIMITS.scratch_inodes,
            "flood": _FLOOD,
        }
        spec = SandboxSpec(limits=LIMITS)
        with self._backend.open(spec, HostileTree(), probe_tree(arguments)) as session:
            session.expect(12)
            with ThreadPoolExecutor(2) as pool:
                self._neighbours(session, pool)
                steps = (self._together, self._memory, self._flood, self._daemon, self._upload)
                for done in [pool.submit(step, session) for step in steps]:
                    done.result()
            self._ask(session, "processor")  # alone, so that it gets what there is to get
            self._fork_bomb(session)
            self._orphan(session)
            self._abort(session)  # nothing runs in this session any more
        self._from_outside()

    # ---- one program, one answer -------------------------------------------------------------

    def _run(
        self,
        session: Session,
        program: str,
        deadline: float,
        *,
        key: str = "",
        arguments: tuple[str, ...] = (),
    ) -> RunRecord:
        probe = Probe(
            id=program,
            phase="script",
            target=f"isolation probe {program}",
            path=None,
            argv=("python3", "main.py", program, *arguments),
            driver=False,
            deadline=deadline,
        )
        self._say(key or program)
        record = session.run(probe, "head")
        with self._lock:
            self.records[key or program] = record
        return record

    def _ask(self, session: Session, group: str) -> None:
        """A program that answers for itself."""
        deadline = _DEADLINES.get(group, 10.0) * self._claims.slow
        self._take(group, self._run(session, group, deadline))

    def _together(self, session: Session) -> None:
        """Many programs in one sandbox. One that gave no answer is asked again, in a sandbox of its own."""
        deadline = sum(_DEADLINES.get(group, 10.0) for group in _TOGETHER) * self._claims.slow
        record = self._run(session, _TOGETHER[0], deadline, key=" ".join(_TOGETHER), arguments=_TOGETHER[1:])
        with contextlib.suppress(BadStatementError):
            self._keep(decode(record.stdout, _checks_of(*_TOGETHER)))
        for group in _TOGETHER:
            if not self.answers.keys() >= set(_checks_of(group)):
                self._ask(session, group)

    def _take(self, group: str, record: RunRecord) -> None:
        known = [*_checks_of(group, "near", "host"), *(f"near.window-{side}" for side in "ab")]
        try:
            found = decode(record.stdout, known)
        except BadStatementError as error:
            tail = record.stderr.decode(errors="replace").strip().splitlines()[-1:]
            text = f"{error}; {record.outcome.value}, {record.fault or ''} {''.join(tail)}"
            found = {
                name: Answer(id=name, held=None, tried=group, happened=text[:300])
                for name in _checks_of(group)
            }
        self._keep(found)

    def _keep(self, found: Answers) -> None:
        """What was seen once stands, whatever a second look says."""
        with self._lock:
            for name, answer in found.items():
                if name not in self.answers or self.answers[name].held is not False:
                    self.answers[name] = answer

    def tell(self, name: str, held: bool | None, tried: str, happened: str) -> None:
        """An answer that the host gives."""
        with self._lock:
            self.answers[name] = Answer(id=name, held=held, tried=tried[:300], happened=happened[:300])

    # ---- what only the host can see ----------------------------------------------------------

    def _neighbours(self, session: Session, pool: ThreadPoolExecutor) -> None:
        """Two at once, each of which is to find the other there when it looks last."""
        look = min(_NEAR_FIRST, _NEAR_SECONDS * self._claims.slow)
        for _ in range(_NEAR_TIMES):
            deadline = 2 * look + _NEAR_LOOK * self._claims.slow
            pair = [
                pool.submit(self._run, session, f"neighbours-{side}", deadline, arguments=(f"{look}",))
                for side in "ab"
            ]
            for future in pair:
                self._take("near", future.result())
            missed = _missed_by([self.answers.pop(f"near.window-{side}", None) for side in "ab"])
            if missed <= 0:
                break
            look = min(_NEAR_MOST, 2 * look + missed)
        else:
            unseen = [n for n, a in self.answers.items() if n.startswith("near.") and a.held is not False]
            for name in unseen:
                self.tell(name, None, self.answers[name].tried, "the two did not run at the same time")

    def _memory(self, session: Session) -> None:
        for seconds in _MEMORY_SECONDS:
            record = self._run(session, "memory", seconds * self._claims.slow)
            if record.outcome is not Outcome.TIMED_OUT:
                break  # at its limit a sandbox goes on slowly until the kernel has looked everywhere
        limit = f"allocate four times {LIMITS.memory >> 20} MiB"
        peak = f", peak {record.peak_memory >> 20} MiB" if record.peak_memory else ""
        held = record.outcome is Outcome.OUT_OF_MEMORY
        refused = b"MemoryError" in record.stderr and record.outcome is Outcome.EXITED_NONZERO
        known = None if record.outcome is Outcome.TIMED_OUT else held or refused
        self.tell("command.memory", known, limit, f"{record.outcome.value}{peak}")

    def _flood(self, session: Session) -> None:
        record = self._run(session, "flood", 30.0 * self._claims.slow)
        held = len(record.stdout) <= LIMITS.output and record.stdout_total == _FLOOD and not record.fault
        self.tell(
            "command.output",
            held,
            f"write {_FLOOD >> 20} MiB to stdout",
            f"{record.stdout_total >> 20} MiB counted, {len(record.stdout) >> 10} KiB kept, "
            f"{record.outcome.value}",
        )

    def _fork_bomb(self, session: Session) -> None:
        record = self._run(session, "fork-bomb", _SHORT)
        after = self._run(session, "kill-launcher", 10.0 * self._claims.slow)
        self._take("kill-launcher", after)
        ended = record.seconds <= _SHORT + _SLACK and record.outcome is not Outcome.NEVER_STARTED
        held = ended and after.outcome is Outcome.COMPLETED and not after.fault
        self.tell(
            "command.fork-bomb",
            held,
            f"every process forks without end, deadline {_SHORT} s; then another sandbox",
            f"{record.outcome.value} after {record.seconds:.1f} s; the next one: {after.outcome.value}",
        )

    def _daemon(self, session: Session) -> None:
        record = self._run(session, "heartbeat", 10.0 * self._claims.slow)
        name = f"gate-daemon-{self._bait.mark}"
        left = processes(name)
        ran = record.outcome is Outcome.COMPLETED
        after = f"still there: {left}" if left else "gone"
        self.tell(
            "command.daemon",
            not left if ran else None,
            "detach a daemon, end well, look for it on the host",
            f"{record.outcome.value} after {record.seconds:.1f} s; {after}",
        )

    def _orphan(self, session: Session) -> None:
        """Deaf to signals, with an orphan; while it runs, the host looks at it from outside."""
        name = f"gate-orphan-{self._bait.mark}"
        seen: dict[int, str] = {}
        over = threading.Event()
        deadline = _SHORT * (2 if self._claims.slow > 1 else 1)

        def watch() -> None:
            while not over.wait(0.05) and not seen:
                for pid in processes(name):
                    with contextlib.suppress(OSError):
                        seen[pid] = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")

        watcher = threading.Thread(target=watch, name="watch", daemon=True)
        watcher.start()
        record = self._run(session, "deaf", deadline)
        over.set()
        watcher.join()
        left = processes(name)
        timely = record.outcome is Outcome.TIMED_OUT and record.seconds <= deadline + _SLACK
        self.tell(
            "command.sleep",
            timely,
            f"ignore every signal and sleep, deadline {deadline} s",
            f"{record.outcome.value} after {record.seconds:.1f} s",
        )
        self.tell(
            "command.orphan",
            not left and timely,
            "a detached process, deaf to signals; looked for on the host after the end",
            f"still there: {left}" if left else "gone",
        )
        self._seen_from_host(list(seen.values()))

    def _seen_from_host(self, statuses: list[str]) -> None:
        tried = "look at a process of the sandbox's from the host while it runs"
        if not statuses:
            own = self._claims.own_kernel
            text = "it is no process of the host's" if own else "it was not found among the host's processes"
            self.tell("privilege.seen-from-host", True if own else None, tried, text)
            return
        fields = dict(line.split(":\t", 1) for line in statuses[0].splitlines() if ":\t" in line)
        uids = fields.get("Uid", "0").split()
        bare = all(int(fields.get(name, "0"), 16) == 0 for name in ("CapPrm", "CapEff", "CapAmb", "CapInh"))
        self.tell(
            "privilege.seen-from-host",
            "0" not in uids and bare and fields.get("NoNewPrivs") == "1",
            tried,
            f"users {'/'.join(uids)}, CapEff {fields.get('CapEff')}, NoNewPrivs {fields.get('NoNewPrivs')}, "
            f"Seccomp {fields.get('Seccomp')}",
        )

    def _upload(self, session: Session) -> None:
        """The base side of this session is a tree that tries to leave its folder."""
        idle = Probe(
            id="upload",
            phase="idle",
            target="a hostile tree",
            path=None,
            argv=("python3", "main.py"),
            driver=False,
            deadline=10.0 * self._claims.slow,
        )
        record = session.run(idle, "base")
        held = record.outcome is Outcome.NEVER_STARTED and record.fault is not None
        self.tell(
            "write.upload",
            held,
            "send a tar with a link out of the tree, a file through it, ../ and an absolute name",
            f"{record.outcome.value}: {record.fault or record.stdout[:80]!r}",
        )

    def _abort(self, session: Session) -> None:
        begin = time.monotonic()
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(self._run, session, "deaf", 60.0, key="abort")
            with contextlib.suppress(TimeoutError):
                future.result(timeout=1.0 * self._claims.slow)
            asked = time.monotonic()
            session.abort()
            record = future.result()
        took = time.monotonic() - asked
        held = record.outcome is not Outcome.COMPLETED and took < _SLACK and asked - begin < 60
        self.tell("command.abort", held, "stop a running sandbox", f"{record.fault} after {took:.1f} s")

    def _from_outside(self) -> None:
        """After everything: who came, what changed, what came out."""
        calls = self._bait.calls
        self.tell(
            "network.seen-from-host",
            not calls,
            f"listen on 127.0.0.1, on {len(self._bait.addresses)} other addresses and on an abstract name",
            "; ".join(calls[:3]) if calls else "nobody came",
        )
        changes = self._bait.changes()
        self.tell(
            "write.host-unchanged",
            not changes,
            "compare settings of the kernel, modules, swap, /etc and the flag's folder, before and after",
            f"changed: {', '.join(changes[:4])}" if changes else "as before",
        )
        secrets = (self._bait.content.encode(), self._bait.secret.encode())
        leaked = [name for name, r in self.records.items() if any(s in r.stdout + r.stderr for s in secrets)]
        long = [name for name, r in self.records.items() if max(len(r.stdout), len(r.stderr)) > LIMITS.output]
        self.tell(
            "write.output-only",
            not leaked and not long,
            f"look through what {len(self.records)} runs gave back",
            f"the host's secrets in {leaked}, too long: {long}"
            if leaked or long
            else "no secret, none too long",
        )


def _missed_by(windows: list[Answer | None]) -> float:
    """Seconds, by their own clocks, for which one was not there while the other looked last; 0: both were.

    A window tells when it and its last look began (``tried``), when that look and it ended (``happened``).
    """
    try:
        times = [tuple(map(float, f"{w.tried} {w.happened}".split())) for w in windows if w]
    except ValueError:
        return _UNKNOWN
    if len(times) < 2 or any(len(one) != 4 for one in times):
        return _UNKNOWN
    late = max(other[0] - one[1] for one, other in (times, times[::-1]))
    early = max(one[2] - other[3] for one, other in (times, times[::-1]))
    return max(0.0, max(late, early) + _AT_ONCE)


def _checks_of(*groups: str) -> list[str]:
    return [name for name, check in of_kind("machine").items() if check.group in groups]


def processes(argument: str) -> list[int]:
    """Processes of this machine that have this among their arguments."""
    return [pid for pid, words in _commands() if argument.encode() in words]


def _commands() -> Iterator[tuple[int, bytes]]:
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(path.name), (path / "cmdline").read_bytes()


__all__ = ["LIMITS", "Examiner", "InconclusiveError", "processes"]

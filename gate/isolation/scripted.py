"""Examines a sandbox of a language runtime: one probe in its own language, then what only the host can see.

What bubblewrap around it holds is examined as ``bubblewrap``; here it is the inner sandbox that is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gate.isolation.attempts import ATTEMPTS
from gate.isolation.bait import Bait
from gate.isolation.checks import of_kind
from gate.isolation.claims import Claims
from gate.isolation.interface import Kind
from gate.isolation.statement import Answer, BadStatementError, decode
from gate.isolation.tree import probe_tree
from gate.model.run import Limits, Outcome, Probe, RunRecord, SandboxSpec
from gate.sandbox.contract import Backend, Session

_PROBE: Final[dict[Kind, tuple[str, ...]]] = {
    "wasm": ("python3", "wasm_probe.py"),
    "javascript": ("deno", "run", "probe.mjs"),
}
_ENDLESS: Final[dict[Kind, tuple[str, ...]]] = {
    "wasm": ("python3", "-c", "while True: pass"),
    "javascript": ("deno", "eval", "for (;;) {}"),
    "restricted": ("python3", "-c", "while True: pass"),
}
_GREEDY: Final[dict[Kind, tuple[str, ...]]] = {
    "wasm": ("python3", "-c", "held = []\nwhile True: held.append(bytes(1 << 24))"),
    "javascript": ("deno", "eval", "const held = []; for (;;) held.push(new Uint8Array(1 << 24).fill(1))"),
    "restricted": ("python3", "-c", "held = []\nwhile True: held.append('x' * 16777216)"),
}
_LOOP_SECONDS: Final = 4.0
_SLACK: Final = 5.0


class ScriptedExaminer:
    """One examination. ``answers`` grows; ``records`` are kept until the end."""

    def __init__(self, backend: Backend, claims: Claims, bait: Bait, say: Callable[[str], None]) -> None:
        self._backend = backend
        self._kind = claims.kind
        self._bait = bait
        self._say = say
        self.answers: dict[str, Answer] = {}
        self.records: dict[str, RunRecord] = {}

    def examine(self) -> None:
        """Run everything. Raises InconclusiveError when the sandbox cannot be put up at all."""
        tree = probe_tree(self._bait.arguments())
        with self._backend.open(SandboxSpec(limits=Limits(memory=640 << 20)), tree, tree) as session:
            if self._kind == "restricted":
                self._attempts(session)
            else:
                self._probe(session)
            if self._kind == "wasm":  # it ends the interpreter, so it gets one of its own
                record = self._run(session, "system", ("python3", "-c", "import os; os.system('id')"), 30.0)
                held = (
                    b"uid=" not in record.stdout + record.stderr and record.outcome is not Outcome.COMPLETED
                )
                self.tell("wasm.command.system", held, "os.system('id')", record.outcome.value)
            endless = self._run(session, "endless", _ENDLESS[self._kind], _LOOP_SECONDS)
            self.tell(
                f"{self._kind}.command.sleep",
                endless.outcome is Outcome.TIMED_OUT and endless.seconds < _LOOP_SECONDS + _SLACK,
                f"a loop without end, deadline {_LOOP_SECONDS} s",
                f"{endless.outcome.value} after {endless.seconds:.1f} s",
            )
            greedy = self._run(session, "greedy", _GREEDY[self._kind], 40.0)
            self.tell(
                f"{self._kind}.command.memory",
                greedy.outcome in (Outcome.OUT_OF_MEMORY, Outcome.EXITED_NONZERO, Outcome.KILLED),
                "take memory without end",
                greedy.outcome.value,
            )
        calls, changes = self._bait.calls, self._bait.changes()
        self.tell(
            f"{self._kind}.network.seen-from-host",
            not calls,
            "listen on the host",
            "; ".join(calls) or "nobody came",
        )
        self.tell(
            f"{self._kind}.write.host-unchanged",
            not changes,
            "compare the host's settings and the flag's folder",
            ", ".join(changes) or "as before",
        )

    def tell(self, name: str, held: bool | None, tried: str, happened: str) -> None:
        """An answer that the host gives; ids that every kind has may come without the kind."""
        if not name.startswith(self._kind):
            name = f"{self._kind}.{name}"
        self.answers[name] = Answer(id=name, held=held, tried=tried[:300], happened=happened[:300])

    def _run(self, session: Session, name: str, argv: tuple[str, ...], deadline: float) -> RunRecord:
        self._say(name)
        probe = Probe(
            id=name, phase="script", target=name, path=None, argv=argv, driver=False, deadline=deadline
        )
        record = self.records[name] = session.run(probe, "head")
        return record

    def _probe(self, session: Session) -> None:
        """Twice: the second time looks for what the first one left."""
        for number in (1, 2):
            record = self._run(session, f"probe {number}", _PROBE[self._kind], 90.0)
            try:
                known = [name for name, check in of_kind(self._kind).items() if check.group == "probe"]
                found = decode(record.stdout, known)
            except BadStatementError as error:
                said = record.stderr.decode(errors="replace").strip().splitlines()[-1:]
                for name in known:
                    text = f"{error}; {record.outcome.value} {record.fault or ''} {''.join(said)}"
                    self.tell(name, None, "the probe", text)
                return
            for name, answer in found.items():
                if name not in self.answers or self.answers[name].held is not False:
                    self.answers[name] = answer

    def _attempts(self, session: Session) -> None:
        """Each attempt is a script of its own: one refusal must not hide the next."""
        control = self._run(session, "control", ("python3", "-c", "print(1 + 2 + 3)"), 20.0)
        works = control.stdout.strip() == b"6"
        for name, text in ATTEMPTS.items():
            record = self._run(session, name, ("python3", "-c", text), 20.0)
            said = record.stderr.decode(errors="replace").strip().splitlines()[-1:]
            held = record.outcome is Outcome.EXITED_NONZERO if works and not record.fault else None
            happened = record.fault or "".join(said) or record.outcome.value
            self.tell(name, held, text.replace("\n", "; "), happened)

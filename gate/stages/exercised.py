"""Which changed lines of code ran at head, of all that hold code, and which of the others can do harm.

Joins what was read of both trees (gate/languages) with what ran (gate/plan/line_coverage.py). Decides
nothing: gate/policy/unrun.py makes the findings, rules/policy.toml the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.languages.path_roles import is_component, is_unshipped
from gate.model.change import ChangedFile
from gate.model.exercised import Exercised, FileExercised, UnrunCall, UnrunLines, UnrunReason
from gate.model.run import ExecutionPlan
from gate.model.sensitive import SensitiveCall, SensitiveKind, SourceReading
from gate.model.stage import SkipReason
from gate.plan.line_coverage import Coverage
from gate.plan.source_readings import Readings, changed_lines, new_calls, read_change
from gate.regex import regex
from gate.stages.context import CheckContext, Ending

_RUN: Final = frozenset({"python", "javascript", "typescript", "shell", "make", "makefile"})
"""Languages that a probe runs."""
_BY_TRACE: Final = frozenset({"shell", "make", "makefile"})
"""Those of which the trace alone shows what ran."""
_ACTS: Final = frozenset(SensitiveKind) - {
    SensitiveKind.CREDENTIALS,
    SensitiveKind.ENVIRONMENT,
    SensitiveKind.PERSISTENCE,
}
"""Kinds of which a script's call is a command, not a word or a file that it names."""
_BRACKETS: Final = regex(r"[\s{}()\[\];,]*(?:(?:else|try|finally|do)[\s{}()\[\];,]*)*(?://.*)?")
_MADE_ONLY: Final = regex(r"(?:\A|[.:])(?:[A-Z]\w*|socket|session)\Z")
"""Callees that make an object: a connection is made by what is called on it."""
_OVER_CONNECTION: Final = regex(
    r"\.(?:send|sendall|sendfile|recv|recv_into|makefile|shutdown|unwrap|do_handshake)\Z"
)
"""Methods of a connection that is there: what the trace of the same run has is the call that connected."""
_MOST_SPANS: Final = 1_000
_TEXT: Final = 200


def read(context: CheckContext, _: Ending) -> None:
    """Read both sides of the changed files. Needs no other stage. Raises InconclusiveError."""
    opened = context.opened
    context.results.readings = read_change(opened.change.files, opened.base, opened.head)


def run(context: CheckContext, ending: Ending) -> None:
    """Count which changed code ran. What cannot be read is told file by file."""
    files, ran = context.opened.change.files, context.results.sandbox
    if not files:
        ending.skipped(SkipReason.NO_CHANGED_FILES)
    context.wait("readings")
    fast = context.settings.config.sandbox.fast
    context.results.exercised = exercised(files, context.results.readings, ran.plan, ran.coverage, fast=fast)


def exercised(
    files: Sequence[ChangedFile],
    readings: Readings,
    plan: ExecutionPlan,
    seen: Coverage | None,
    *,
    fast: bool = False,
) -> Exercised:
    """The figure of a check. ``seen`` None: nothing was run at all, for want of a sandbox. ``fast``: what no
    probe reached may be reached by the full look.
    """
    new = new_calls(files, readings)
    by_path = {f.path: f for f in files}
    found = []
    for path, reading in sorted(readings.head.items()):
        if path in plan.same_code:
            continue
        one = _File(by_path[path], reading, readings.texts.get(path, b""), plan, seen, fast=fast)
        counted = one.counted(new.get(path, ()))
        if counted.executable or counted.calls or counted.unreadable:
            found.append(counted)
    return Exercised(files=tuple(found))


class _File:
    """One changed file of head."""

    def __init__(
        self,
        file: ChangedFile,
        reading: SourceReading,
        text: bytes,
        plan: ExecutionPlan,
        seen: Coverage | None,
        *,
        fast: bool,
    ) -> None:
        self._file = file
        self._reading = reading
        self._lines = text.decode("utf-8", "replace").split("\n")
        self._plan = plan
        self._seen = seen or Coverage()
        self._off = seen is None
        self._fast = fast
        self._ran = self._seen.ran.get(file.path, frozenset())

    def counted(self, new: Sequence[SensitiveCall]) -> FileExercised:
        """Its figures, what did not run, and which of that can do harm."""
        path = self._file.path
        units = self._units()
        dark = sorted(line for line, (first, last) in units.items() if not self._any(first, last))
        reason, detail = self._why()
        unreadable = ""
        if not self._reading.readable and not changed_lines(self._file) <= self._all_parts():
            unreadable = self._reading.reason or "no grammar fits it"
        return FileExercised(
            path=path,
            language=self._reading.language,
            executable=len(units),
            ran=len(units) - len(dark),
            unrun=(UnrunLines(spans=_spans(dark), reason=reason, detail=detail),) if dark else (),
            calls=tuple(
                self._unrun_call(call) for call in new if not self._made(call) and self._counts(call)
            ),
            unreadable=unreadable,
        )

    def _units(self) -> dict[int, tuple[int, int]]:
        """What is counted: the changed lines that hold code; of Python statements by their first line, of
        scripts the commands that a trace can show.
        """
        path = self._file.path
        if not self._reading.readable:
            return {}
        if path in self._plan.statements:  # none: only what runs nothing changed, such as a docstring
            return {first: (first, last) for first, last in self._plan.statements[path]}
        if self._reading.language in _BY_TRACE and path in self._plan.steps:
            return {step.first: (step.first, step.last) for step in self._plan.steps[path]}
        changed = changed_lines(self._file)
        lines = (n for n in self._reading.executable if n in changed and n <= len(self._lines))
        return {n: (n, n) for n in lines if not _BRACKETS.fullmatch(self._lines[n - 1].strip())}

    def _any(self, first: int, last: int) -> bool:
        return not self._ran.isdisjoint(range(first, last + 1))

    def _all_parts(self) -> frozenset[int]:
        """Lines of which nothing stayed dark, of languages where that is known."""
        return self._seen.acted.get(self._file.path, frozenset())

    def _counts(self, call: SensitiveCall) -> bool:
        """False for test code that only reads its environment, in a file without anything by which that could
        leave: tests set variables all the time (docs/scoring.md has the figures). False as well for a helper
        of tests that looks into objects, on lines that nobody touched.
        """
        if self._is_helper(call):
            return False
        if call.kind is not SensitiveKind.ENVIRONMENT or not is_unshipped(self._file.path):
            return True
        return any(other.kind is not SensitiveKind.ENVIRONMENT for other in self._reading.calls)

    def _is_helper(self, call: SensitiveCall) -> bool:
        """``assert_matches(result)`` in a test: behind it is a ``getattr`` and nothing that runs a text, and
        all that changed is what the result was made from.
        """
        looks = call.looks and call.kind is SensitiveKind.DYNAMIC_CODE
        return looks and changed_lines(self._file).isdisjoint(range(call.first, call.last + 1))

    def _made(self, call: SensitiveCall) -> bool:
        """True where the call is known to have been made, by every observer that can tell."""
        return self._is_made(call) and self._is_shown(call)

    def _is_made(self, call: SensitiveCall) -> bool:
        """True where the driver says so: of Python of the call itself, else of its line at least."""
        path = self._file.path
        if self._reading.language == "python":
            return any(call.place in told.get(path, ()) for told in (self._seen.made, self._seen.played))
        if path in self._seen.acted and call.first not in self._seen.acted[path]:
            return False
        return self._any(call.first, call.last)

    def _is_shown(self, call: SensitiveCall) -> bool:
        lines = self._seen.shown.get(call.kind)
        if lines is None or call.way in ("make", "read"):
            return True
        if call.way == "method" and call.place in self._seen.made.get(self._file.path, ()):
            return True  # of the object that its test or its program has, which may be their stand-in
        if call.kind in (SensitiveKind.DYNAMIC_CODE, SensitiveKind.NATIVE_CODE) and call.way != "hand":
            return True  # nothing outside the process shows it
        python = self._reading.language == "python"
        if call.kind is SensitiveKind.NETWORK and not python and _MADE_ONLY.search(call.call):
            return True
        if call.kind is SensitiveKind.NETWORK and python and _OVER_CONNECTION.search(call.call):
            return self._file.path in self._seen.beside.get(call.kind, ())
        there = lines.get(self._file.path, frozenset())
        return not there.isdisjoint(range(call.first, call.last + 1))

    def _unrun_call(self, call: SensitiveCall) -> UnrunCall:
        reason, detail = self._why()
        if self._is_made(call) and not self._is_shown(call):
            reason, detail = UnrunReason.NOT_CONFIRMED, ""
        elif self._any(call.first, call.last) and reason is not UnrunReason.DEPENDENCY_MISSING:
            reason, detail = UnrunReason.NOT_REACHED, "only another part of the line ran"
        text = self._lines[call.first - 1] if call.first <= len(self._lines) else ""
        return UnrunCall(
            first=call.first,
            last=call.last,
            kind=call.kind,
            call=call.call[:_TEXT],
            text=" ".join(text.split())[:_TEXT],
            reason=reason,
            detail=detail,
            in_tests=is_unshipped(self._file.path),
        )

    def _why(self) -> tuple[UnrunReason, str]:
        if self._off:
            return UnrunReason.SANDBOX_OFF, ""
        if self._reading.language not in _RUN and not is_component(self._file.path):
            return UnrunReason.LANGUAGE_NOT_RUN, ""
        reason, detail = self._seen.why.get(self._file.path, (UnrunReason.NOT_REACHED, ""))
        if self._fast and reason in (UnrunReason.NOT_REACHED, UnrunReason.LEFT_OUT):
            return UnrunReason.FAST_LOOK, ""
        return reason, detail


def _spans(lines: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """``((3, 5), (9, 9))`` for 3, 4, 5, 9."""
    spans: list[tuple[int, int]] = []
    for line in lines:
        if spans and line == spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], line)
        else:
            spans.append((line, line))
    return tuple(spans[:_MOST_SPANS])

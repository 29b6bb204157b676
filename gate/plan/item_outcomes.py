"""What the items of a run came to: which of them are no look at the code, although their process ended well.

A hint of the driver, as all that it says; it can only take away from what counts as run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gate.model.exercised import UnrunReason
from gate.model.run import Outcome, Probe, RunRecord
from gate.plan.probes import job_of

Item = Mapping[str, Any]
_TEXT: Final = 200
_STARTS_PROGRAM: Final = frozenset({
    "shell", "program", "javascript", "javascript_main", "javascript_test", "make", "lifecycle",
})  # fmt: skip
_INTERPRETERS: Final = frozenset({
    "node or deno", "node", "deno", "make", "sh", "bash", "dash", "zsh", "perl", "ruby", "php", "lua",
    "awk", "fish", "ksh",
})  # fmt: skip
_TESTS: Final = frozenset({"test", "javascript_test"})
_IMPORTS: Final = frozenset({"import", "file", "javascript"})
_ENDED: Final = {
    "timed-out": UnrunReason.OUT_OF_TIME,
    "ended": UnrunReason.ENDED_EARLY,
    "threads-left": UnrunReason.ENDED_EARLY,
    "out of memory": UnrunReason.ENDED_EARLY,
}
_CUT_SHORT: Final = {
    Outcome.NEVER_STARTED: UnrunReason.OUT_OF_TIME,
    Outcome.TIMED_OUT: UnrunReason.OUT_OF_TIME,
    Outcome.OUT_OF_MEMORY: UnrunReason.ENDED_EARLY,
    Outcome.KILLED: UnrunReason.ENDED_EARLY,
}


def items_of(record: RunRecord) -> Iterator[tuple[Item, Item | None]]:
    """Each item of the probe's job with what the driver says of it; None where it says nothing."""
    said = record.driver_report.get("items")
    told = said if isinstance(said, list) else []
    for number, item in enumerate(_asked(record.probe)):
        answer = told[number] if number < len(told) else None
        yield item, answer if isinstance(answer, Mapping) else None


def _asked(probe: Probe) -> list[Item]:
    if not probe.driver or not probe.argv:
        return []
    try:
        items = job_of(probe).get("items")
    except ValueError:
        return []
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def paths_of(item: Item) -> tuple[str, ...]:
    """The files of the tree that an item is about."""
    paths = item.get("paths")
    named = [item.get("path"), *(paths if isinstance(paths, list) else ())]
    return tuple(path for path in named if isinstance(path, str))


def unrun_reason(item: Item, answer: Item | None, record: RunRecord) -> tuple[UnrunReason, str] | None:
    """Why what an item was to run did not run, with the detail (untrusted); None where it ran."""
    if answer is None:
        return _CUT_SHORT.get(record.outcome, UnrunReason.ENDED_EARLY), ""
    outcome, verb = answer.get("outcome"), item.get("do")
    if outcome == "missing" or isinstance(answer.get("missing"), str):
        name = str(answer.get("missing") or "")[:_TEXT]
        if verb in _STARTS_PROGRAM and name in _INTERPRETERS:
            return UnrunReason.NO_INTERPRETER, name
        return UnrunReason.DEPENDENCY_MISSING, name
    if outcome == "uncollected":
        return UnrunReason.COLLECTION_FAILED, exception_of(answer)
    if outcome == "exception" and verb in _TESTS:  # the runner's own, before any test
        return UnrunReason.COLLECTION_FAILED, exception_of(answer)
    if outcome == "exception" and verb in _IMPORTS:
        return UnrunReason.IMPORT_FAILED, exception_of(answer)
    if outcome == "absent":
        return UnrunReason.NOT_REACHED, ""
    reason = _ENDED.get(str(outcome))
    return None if reason is None else (reason, exception_of(answer))


def exception_of(answer: Item) -> str:
    """``ImportError: no such name``, as far as it is known."""
    kind, message = answer.get("exception"), answer.get("message")
    parts = [part for part in (kind, message) if isinstance(part, str) and part]
    return ": ".join(parts)[:_TEXT]


def tests_left(answer: Item) -> int:
    """How many of an item's tests there was no time for, or, where nobody knows, one."""
    tests = answer.get("tests")
    left = tests.get("not_run") if isinstance(tests, Mapping) else None
    return min(left, 1_000_000) if type(left) is int and left > 0 else 0


def names_put_off(answer: Item) -> str:
    """The packages that could not be loaded, without which an item was run besides; empty: none."""
    part = answer.get("put_off")
    names = part.get("names") if isinstance(part, Mapping) else None
    return ", ".join(str(name) for name in names[:20])[:_TEXT] if isinstance(names, list) else ""


def uncollected_files(answer: Item) -> dict[str, str]:
    """Test files that pytest could not collect, each with its exception."""
    told = answer.get("uncollected")
    pairs = told.items() if isinstance(told, Mapping) else ()
    return {str(name).partition("::")[0]: str(why)[:_TEXT] for name, why in list(pairs)[:100]}


def not_run(record: RunRecord) -> str:
    """In a few words, what of a run was no look at the code; empty where all its items ran. Untrusted."""
    if record.probe.phase == "idle" or record.fault is not None:
        return ""
    reasons = [unrun_reason(item, answer, record) for item, answer in items_of(record) if answer is not None]
    missed = [reason for reason in reasons if reason is not None]
    if not missed:
        return ""
    why, detail = missed[0]
    some = f"{len(missed)} of {len(reasons)}: " if len(reasons) > 1 else ""
    return f"not run: {some}{why.text}{f' ({detail})' if detail else ''}"

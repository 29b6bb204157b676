"""Which sensitive calls of the head are new: moved, renamed and reformatted code is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from gate.languages.sensitive_calls.moved import stays_in_place
from gate.model.sensitive import SensitiveCall, SensitiveKind, SourceReading


def new_sensitive_calls(
    base: SourceReading | None, head: SourceReading, changed_lines: Collection[int]
) -> tuple[SensitiveCall, ...]:
    """The head's calls that base does not have, in the head's order.

    ``changed_lines`` count from 1. A call is not new when base has one of the same kind in the same
    statement, white space and quote style apart, and in the same place (moved.py); each at base stands for
    one at head. A call on an
    unchanged line is new only where base has fewer calls of that kind by that name: the line means
    something else now (a changed import, for one). Nor is it the same when its arguments are made from
    texts or names that none of its twins had: a changed constant is a changed call. Without a base that
    could be read, the calls on changed lines are new.
    """
    changed = frozenset(changed_lines)
    if base is None or not base.readable:
        return tuple(call for call in head.calls if _touched(call, changed))
    statements = Counter(_statement(call) for call in base.calls)
    names = Counter(_name(call) for call in base.calls)
    fed = fed_before(base.calls)
    new: set[int] = {n for n, call in enumerate(head.calls) if not is_fed_as_before(call, fed)}
    # First those that nobody touched: their twins at base are theirs.
    for index, call in enumerate(head.calls):
        if _touched(call, changed):
            continue
        if statements[_statement(call)] > 0:
            statements[_statement(call)] -= 1  # of one that is fed anew, too: its twin is nobody else's
            names[_name(call)] -= 1
        elif names[_name(call)] > 0:
            names[_name(call)] -= 1
        else:
            new.add(index)
    for index, call in enumerate(head.calls):
        if not _touched(call, changed):
            continue
        if statements[_statement(call)] > 0 and stays_in_place(call, base.calls):
            statements[_statement(call)] -= 1
        else:
            new.add(index)
    return tuple(call for index, call in enumerate(head.calls) if index in new)


def fed_before(calls: Iterable[SensitiveCall]) -> dict[tuple[SensitiveKind, str], set[str]]:
    """What the arguments of the same statements were made from."""
    fed: dict[tuple[SensitiveKind, str], set[str]] = {}
    for call in calls:
        fed.setdefault(_statement(call), set()).update(call.fed)
    return fed


def is_fed_as_before(call: SensitiveCall, fed: Mapping[tuple[SensitiveKind, str], Collection[str]]) -> bool:
    """True where base has the statement, and nothing goes into it that did not before; true as well where
    base has it not: that is another question.
    """
    before = fed.get(_statement(call))
    return before is None or set(call.fed) <= set(before)


def _touched(call: SensitiveCall, changed: frozenset[int]) -> bool:
    return any(line in changed for line in range(call.first, call.last + 1))


def _statement(call: SensitiveCall) -> tuple[SensitiveKind, str]:
    return call.kind, call.statement or call.call


def _name(call: SensitiveCall) -> tuple[SensitiveKind, str]:
    return call.kind, call.call

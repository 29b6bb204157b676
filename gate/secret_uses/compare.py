"""Which uses of secrets head has that base had not, and how much each of them says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gate.dataclass import dataclass
from gate.model.rule import Confidence, Severity
from gate.secret_uses.facts import FileUses, Use, Way
from gate.secret_uses.names import snake
from gate.secret_uses.user_secrets import form_of, user_grade

_RANK: Final[tuple[Way, ...]] = (
    "header", "answer", "bundle", "sent", "file", "log", "label", "key", "error", "delay", "returned",
    "mixed",
)  # fmt: skip
"""What tells most comes first."""
_LEAVING: Final = frozenset({"header", "answer", "bundle", "sent", "file", "log", "label"})
_AUTHENTICATED: Final = frozenset({"header", "sent", "file"})
"""Ways on which a secret is at home where its key or the text around it says that it authenticates."""
_TOLD: Final[dict[Way, str]] = {
    "mixed": "It is computed with, character by character",
    "header": "It goes into a header",
    "answer": "It goes into an answer",
    "error": "It goes into the text of an error",
    "log": "It goes into a log",
    "file": "It is written to a file",
    "sent": "It is sent along with data",
    "delay": "It decides how long something takes",
    "label": "It goes into a label of metrics or traces",
    "returned": "It is handed on within another object",
    "bundle": "It goes into what is sent to browsers",
    "key": "It becomes a key of a cache",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class NewUse:
    """One secret of one file, with the use that tells most. ``others``: where else it goes there.
    ``at``: the changed file that does it, where another gives the value.
    """

    path: str
    use: Use
    severity: Severity
    confidence: Confidence
    others: tuple[Way, ...] = ()
    at: str = ""

    @property
    def told(self) -> str:
        """What happens to it, as a sentence without its end."""
        form = form_of(self.use.marks) if self.use.faint == "user" else ""
        coded = "mixed" in self.use.marks or form == "coded"
        return _TOLD[self.use.way] + (" in another form" if coded else "")


def new_uses(
    base: Mapping[str, FileUses], head: Mapping[str, FileUses], was_at: Mapping[str, str]
) -> Iterator[NewUse]:
    """What head has besides: a use that some file of base had, of the same secret, was only moved.

    ``was_at``: paths of base by those of head. Where a file used another secret in the same way, which it no
    longer does, the secret has another name.
    """
    moved = {_key(use) for facts in base.values() for use in facts.uses}
    for path, facts in head.items():
        before = base.get(was_at.get(path, path), FileUses())
        left = {_key(use) for use in facts.uses}
        renamed = {(use.way, use.sink) for use in before.uses if _key(use) not in left}
        gone = {(use.way, use.function) for use in before.uses if _key(use) not in left}
        found: dict[str, list[tuple[Use, Severity, Confidence]]] = {}
        for use in facts.uses:
            if _key(use) in moved or (use.way, use.sink) in renamed or (use.way, use.function) in gone:
                continue
            if judged := _judged(use):
                found.setdefault(snake(use.secret), []).append((use, *judged))
        for told in found.values():
            told.sort(key=lambda one: (-one[1].rank, _RANK.index(one[0].way), one[0].line))
            use, severity, sure = told[0]
            others = sorted({one.way for one, _, _ in told} - {use.way, "mixed"})
            yield NewUse(path=path, use=use, severity=severity, confidence=sure, others=tuple(others))


def _key(use: Use) -> tuple[str, Way, str]:
    return snake(use.secret), use.way, form_of(use.marks) if use.faint == "user" else ""


def _judged(use: Use) -> tuple[Severity, Confidence] | None:
    """How grave it is; None for what is ordinary."""
    marks = set(use.marks)
    if use.faint == "user":
        grade = user_grade(use.secret, use.way, use.sink, use.marks)
        return (Severity.HIGH if grade == "high" else Severity.MEDIUM, Confidence.MEDIUM) if grade else None
    if use.faint:
        return Severity.MEDIUM, Confidence.MEDIUM
    if use.whole:
        return _judged_whole(use, marks)
    if "mixed" in marks and use.way in _LEAVING:
        return Severity.HIGH, Confidence.MEDIUM
    if use.way == "mixed":
        return Severity.MEDIUM, Confidence.MEDIUM
    if "auth" in marks and use.way in _AUTHENTICATED:
        return None
    if use.way == "sent" and not marks & {"named", "coded", "sealed"}:
        return None
    if use.way == "file" and not marks & {"coded", "sealed"}:
        return Severity.LOW, Confidence.LOW
    if marks & {"part", "hashed"} and not marks & {"sealed"}:
        return Severity.LOW, Confidence.LOW
    if use.way in ("answer", "bundle") and "api_key" in snake(
        use.secret
    ):  # of maps, of a search: for browsers
        return Severity.LOW, Confidence.LOW
    return Severity.MEDIUM, Confidence.MEDIUM if use.way in ("header", "bundle", "delay") else Confidence.LOW


def _judged_whole(use: Use, marks: set[str]) -> tuple[Severity, Confidence] | None:
    if use.origin == "error":
        told = use.way in ("answer", "returned", "sent", "header", "label")
        if use.way == "log":
            return Severity.LOW, Confidence.LOW
        return (Severity.MEDIUM, Confidence.MEDIUM) if told else None
    environment = use.origin == "environment"
    if use.way == "bundle":
        grave = Severity.LOW if "filtered" in marks else Severity.MEDIUM
        return (grave, Confidence.MEDIUM) if environment else None
    if use.way == "sent" and ("wholly" not in marks or ("auth" in marks and not environment)):
        return None
    if use.way in ("answer", "sent", "header", "label"):
        wholly = environment or "wholly" in marks
        return (Severity.MEDIUM, Confidence.MEDIUM if wholly else Confidence.LOW)
    if use.way in ("log", "file"):
        return Severity.LOW, Confidence.LOW
    return None

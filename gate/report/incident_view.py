"""Incidents and findings as a page's template needs them: texts, whole numbers, links of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from gate.dataclass import dataclass
from gate.escape import display_path
from gate.model.behaviour import Behaviour
from gate.model.excerpt import Excerpt
from gate.model.finding import Finding
from gate.model.report import Report
from gate.report import story, summary
from gate.report.forge_links import line_url
from gate.report.incidents import Incident, Sentence
from gate.report.published import rule_id
from gate.report.rule_pages import page_url

_OPEN: Final = 5
"""Findings that stand open at first; the others are one line each until somebody opens them."""
_DRAWN: Final = 10
"""Incidents with their pictures; of the others the sentence and the evidence are shown."""


_NAMED: Final = 8
"""Findings that an incident names; the others follow below it anyway."""


@dataclass(frozen=True, slots=True)
class Views:
    """Makes the rows of one report."""

    report: Report
    excerpts: Mapping[str, Sequence[Excerpt]]

    @classmethod
    def of(cls, report: Report) -> Views:
        """Those of a report, its excerpts by path."""
        by_path: dict[str, list[Excerpt]] = {}
        for one in report.excerpts:
            by_path.setdefault(one.path, []).append(one)
        return cls(report, by_path)

    def incident(self, number: int, one: Incident) -> dict[str, object]:
        """An incident; ``number`` counts from 1."""
        drawn = number <= _DRAWN
        gone = [b for b in self.report.behaviour.gone if drawn and _same_story(b, one)]
        tree = story.process_tree(one.behaviours) if drawn else None
        coded = next((f for f in one.findings if drawn and self._code(f)), one.findings[0])
        code = self._code(coded) if drawn else []
        shown = story.lanes(one.behaviours if drawn else (), gone)
        clock = story.clock(shown)
        return {
            "id": f"incident-{number}",
            "severity": one.severity.value,
            "phrases": phrases(one.sentence),
            "evidence": [
                {"anchor": anchor(f), "message": f.message, "place": _place_text(f)}
                for f in one.findings[:_NAMED]
            ],
            "count": summary.amount(len(one.findings), "finding"),
            "more": max(0, len(one.findings) - _NAMED),
            "code": code,
            "place": self._place(coded.primary.path, coded.primary.line),
            "lanes": [self._lane(lane, clock) for lane in shown],
            "clock": None if clock is None else (_seconds(clock.start), _seconds(clock.end)),
            "tree": [] if tree is None else list(_tree_rows(tree)),
            "map": story.network_map(one.behaviours) if drawn else None,
            "number": number,
        }

    def finding(self, number: int, finding: Finding) -> dict[str, object]:
        """A finding; ``number`` is its place in the list, from 0."""
        path, _ = summary.location_parts(finding)
        return {
            "id": anchor(finding),
            "open": number < _OPEN,
            "severity": finding.severity.value,
            "message": finding.message,
            "place": _place_text(finding),
            "url": line_url(self.report.blob_url, path, finding.primary.line),
            "evidence": list(finding.evidence.items())[:10],
            "code": self._code(finding),
            "rule": rule_id(finding.rule_id),
            "described": finding.rule_id in self.report.rules,
            "confidence": finding.confidence.value,
            "seen": finding.stage.value == "behaviour",
            "hard_block": finding.hard_block,
            "cwe": finding.cwe[:6],
            "suppressed_by": finding.suppressed_by,
            "fingerprint": finding.fingerprint,
        }

    def rules(self) -> list[dict[str, object]]:
        """What the rules that found something say of themselves, and where their pages are."""
        return [
            {
                "id": rule_id(name),
                "title": rule.title,
                "help": rule.help,
                "remediation": rule.remediation,
                "url": page_url(name, self.report.rules),
            }
            for name, rule in sorted(self.report.rules.items())[:300]
        ]

    def _lane(self, lane: story.Lane, clock: story.Clock | None) -> dict[str, object]:
        return {
            "name": lane.name,
            "base_marks": () if clock is None else clock.marks(lane.base),
            "head_marks": () if clock is None else clock.marks(lane.head),
            "base": [self._step(b) for b in lane.base[: story.MOST_STEPS]],
            "base_more": max(0, len(lane.base) - story.MOST_STEPS),
            "head": [self._step(b) for b in lane.head[: story.MOST_STEPS]],
            "head_more": max(0, len(lane.head) - story.MOST_STEPS),
        }

    def _step(self, item: Behaviour) -> dict[str, object]:
        extra = next((item.detail[k] for k in ("argv", "host") if item.detail.get(k)), "")
        at = item.at
        return {
            "verb": summary.verb(item),
            "subject": item.subject[:200],
            "extra": "" if extra in item.subject else extra[:200],
            "place": self._place(at.path, at.line) if at is not None else None,
            "count": item.count,
            "denied": item.denied,
            "at": "" if item.first_seen is None else _seconds(item.first_seen),
        }

    def _place(self, path: str, line: int | None) -> dict[str, object]:
        shown = Markup("{}{}").format(display_path(path, 80), f":{line}" if line else "")
        return {"text": shown, "url": line_url(self.report.blob_url, path, line)}

    def _code(self, finding: Finding) -> list[dict[str, object]]:
        place = finding.primary
        if place.line is None:
            return []
        for one in self.excerpts.get(place.path, ()):
            if one.first <= place.line < one.first + len(one.lines):
                last = place.end_line or place.line
                return [
                    {
                        "number": number,
                        "text": text.replace("\t", "    "),
                        "hit": place.line <= number <= last,
                        "url": line_url(self.report.blob_url, place.path, number),
                    }
                    for number, text in enumerate(one.lines, one.first)
                ]
        return []


def _place_text(finding: Finding) -> Markup:
    path, line = summary.location_parts(finding)
    return Markup("{}{}").format(display_path(path, 200), line)


def anchor(finding: Finding) -> str:
    """The finding's name within the page; the same as long as it is the same finding."""
    return f"finding-{finding.fingerprint[:16] or rule_id(finding.rule_id)}"


def phrases(sentence: Sentence) -> list[dict[str, object]]:
    """A sentence that begins with a capital, our words and the change's apart."""
    words = [{"text": phrase.text, "quoted": phrase.quoted} for phrase in sentence]
    if sentence and not sentence[0].quoted:
        words[0]["text"] = sentence[0].text[:1].upper() + sentence[0].text[1:]
    return list(words)


def _seconds(value: float) -> str:
    """``0.412 s``; the last digits only where they say something."""
    return f"{value:.3f} s" if value < 10 else f"{value:.1f} s"


def _same_story(item: Behaviour, one: Incident) -> bool:
    return one.probe is not None and one.probe.id in item.probes


def _tree_rows(at: story.Program, depth: int = 0) -> Iterator[dict[str, object]]:
    if at.name:
        yield {"depth": depth, "name": at.name[:120], "steps": at.steps}
    for program in at.started.values():
        yield from _tree_rows(program, depth + bool(at.name))

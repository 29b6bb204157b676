"""JUnit XML, which every other CI shows: Jenkins, Azure Pipelines, Bitbucket, Gitea, Buildkite.

One test case is the verdict, one a stage, one a finding. A stage that could not look is an error, not a pass.
"""

from __future__ import annotations

from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gate.escape import display_path, json_text, visible
from gate.model.finding import Finding, worst_first
from gate.model.report import Report
from gate.model.rule import Severity
from gate.model.score import Verdict
from gate.model.stage import Stage, StageOutcome, incomplete_stages
from gate.regex import regex
from gate.report.incidents import incidents, plain
from gate.report.published import rule_id

MOST: Final = 1_000
_STORIES: Final = 20
_FORBIDDEN: Final = regex("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


def _text(text: str, limit: int = 1_000) -> str:
    return _FORBIDDEN.sub("\ufffd", visible(json_text(text, limit)))


class JunitReporter:
    """Findings of *medium* and worse are failures where the verdict is *fail*; elsewhere, and below, they are
    passed cases with their text: a pipeline that counts failures stops what gate stops, nothing else.
    """

    name = "junit"

    def render(self, report: Report) -> str:
        """The document."""
        ranked, blocked = worst_first(report.findings), report.verdict is Verdict.FAIL
        cases = [
            _verdict(report),
            *map(_stage, report.stages),
            *(_finding(finding, blocked=blocked) for finding in ranked[:MOST]),
        ]
        if len(ranked) > MOST:
            case = Element("testcase", classname="gate.findings", name="more")
            SubElement(case, "system-out").text = f"{len(ranked) - MOST} more findings are in report.json"
            cases.append(case)
        counts = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "errors": sum(case.find("error") is not None for case in cases),
            "skipped": sum(case.find("skipped") is not None for case in cases),
        }
        whole = Element("testsuites", {key: str(value) for key, value in counts.items()})
        seconds = f"{sum(report.timings.values()):.3f}"
        told = {"name": "gate", "time": seconds, **{key: str(value) for key, value in counts.items()}}
        SubElement(whole, "testsuite", told).extend(cases)
        indent(whole)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(whole, encoding="unicode") + "\n"


def _verdict(report: Report) -> Element:
    case = Element("testcase", classname="gate", name="verdict")
    words = f"{report.verdict.value}, score {report.score.value} of 100"
    stories = [plain(one.sentence) for one in incidents(report)[:_STORIES]]
    why = "\n".join(_text(line) for line in (*stories, *report.reasons))
    if report.verdict is Verdict.FAIL:
        SubElement(case, "failure", message=words).text = why
    elif report.verdict is Verdict.INCONCLUSIVE:
        SubElement(case, "error", message=words).text = why
    else:
        SubElement(case, "system-out").text = f"{words}\n{why}"
    return case


def _stage(stage: Stage) -> Element:
    case = Element("testcase", classname="gate.stages", name=_text(stage.name), time=f"{stage.seconds:.3f}")
    if incomplete_stages([stage]):
        message = f"could not look ({stage.outcome.value}): {_text(stage.reason)}"
        SubElement(case, "error", message=message)
    elif stage.outcome is StageOutcome.SKIPPED:
        SubElement(case, "skipped", message=_text(stage.reason))
    return case


def _finding(finding: Finding, *, blocked: bool) -> Element:
    place = finding.primary
    where = _text(display_path(place.path)) + (f":{place.line}" if place.line is not None else "")
    name = f"{rule_id(finding.rule_id)} {where}"
    case = Element("testcase", classname=f"gate.findings.{finding.severity.value}", name=name)
    evidence = [f"{_text(key)}: {_text(value, 300)}" for key, value in list(finding.evidence.items())[:6]]
    words = [_text(finding.message), where, *evidence, f"fingerprint: {finding.fingerprint}"]
    if not blocked or (finding.severity is Severity.LOW and not finding.hard_block):
        SubElement(case, "system-out").text = "\n".join(words)
    else:
        SubElement(case, "failure", message=words[0], type=finding.severity.value).text = "\n".join(words[1:])
    return case


REPORTER: Final = JunitReporter()

"""From a report.json to what people see of it on a merge request: one note, edited in place, and a status."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from gate.errors import UsageError
from gate.github.publishing.trust import received, recomputed
from gate.gitlab.merge_request import MergeRequest
from gate.model.report import Report
from gate.model.score import Verdict
from gate.regex import regex
from gate.report.markdown import MarkdownReporter
from gate.settings import load

MARKER: Final = "<!-- gate:report:v1 -->"
_MOST: Final = 1_000_000
_ZWSP: Final = "\u200b"
_CODE_OR_REFERENCE: Final = regex(
    r"(?P<code>(?P<fence>`+)(?!`).*?(?<!`)(?P=fence)(?!`))|(?P<sign>[!~%$])(?=[\w\"])", re.DOTALL
)
_QUICK_ACTION: Final = regex(r"^(?=\s*/)", re.MULTILINE)


def gitlab_markdown(text: str) -> str:
    """Our Markdown, in which GitLab sees no reference to a merge request, label, milestone or snippet, and no
    quick action: a line that begins with ``/`` would be carried out in our name.
    """
    plain = _CODE_OR_REFERENCE.sub(lambda m: m["code"] or m["sign"] + _ZWSP, text)
    return _QUICK_ACTION.sub(_ZWSP, plain)


def judged(request: MergeRequest, raw: bytes) -> Report:
    """The report, if it is about this merge request as it is now, judged anew with the settings at base.

    Raises UsageError for any other.
    """
    report = received(raw, head=request.head)
    if report.change.merge_base != request.merge_base:
        raise UsageError(
            f"the report is about the merge base {(report.change.merge_base or '(none)')[:12]}, the merge "
            f"request's is {request.merge_base[:12]}",
            advice="Run the pipeline again.",
        )
    report = recomputed(report, load(base=request.base_tree(), environ={}))
    doubt = request.edits_pipeline()
    if doubt and report.verdict in (Verdict.PASS, Verdict.WARN):
        said = f"the report cannot be believed: {doubt}"
        report = replace(report, verdict=Verdict.INCONCLUSIVE, reasons=(said, *report.reasons))
    return report


def publish(request: MergeRequest, raw: bytes, *, always: bool = False) -> tuple[Report, str]:
    """Write note and status; the report as it was judged, and what was done. Raises UsageError, GitlabError.

    A first note only where the verdict is not *pass*, or ``always``; it is edited ever after.
    """
    if not request.open:
        raise UsageError("the merge request is not open: nothing is published")
    report = judged(request, raw)
    blob = f"{request.web_url}/-/blob/{request.head}"
    body = f"{MARKER}\n{gitlab_markdown(MarkdownReporter(blob_url=blob).render(report))}"[:_MOST]
    if not request.still():
        raise UsageError("a newer push came: its own pipeline tells it")
    ours = next(
        (n for n in request.notes() if n.author["id"] == request.me and str(n.body).startswith(MARKER)), None
    )
    if ours is not None and ours.body == body.strip():
        done = "the note says this already"
    elif ours is not None:
        ours.body = body
        ours.save()
        done = "note edited"
    elif always or report.verdict is not Verdict.PASS:
        request.write(body)
        done = "note written"
    else:
        done = "no note needed"
    good = report.verdict in (Verdict.PASS, Verdict.WARN)
    words = f"{report.verdict.value}, score {report.score.value} of 100"
    request.set_status("success" if good else "failed", words)
    return report, f"{done}; status: {words}"

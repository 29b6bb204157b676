"""Evidence in the pull request: body, labels, author, branch. It speaks for the request as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.attribution.branches import branch_evidence
from gate.attribution.footers import footer_evidence
from gate.attribution.message import read_message
from gate.attribution.people import identify
from gate.attribution.prose import prose_evidence
from gate.attribution.rule_file import attribution_rules
from gate.attribution.trailers import trailer_evidence
from gate.model.attribution import AttributionEvidence
from gate.model.change import PullRequest


def request_evidence(request: PullRequest) -> Iterator[AttributionEvidence]:
    """Everything the pull request's own text and metadata disclose."""
    author = identify(request.author, f"{request.author}@users.noreply.github.com")
    if author and author.kind in ("login", "address"):
        yield AttributionEvidence(
            kind="pull-request",
            where="author",
            matched=request.author[:200],
            tool=author.tool,
            confidence=author.confidence,
            role=author.role or "author",
        )
    yield from branch_evidence(request.branch)
    for label in request.labels:
        for rule in attribution_rules().label:
            if rule.regex.fullmatch(label):
                yield AttributionEvidence(
                    kind="label",
                    where="label",
                    matched=label[:200],
                    tool=rule.tool,
                    confidence=rule.confidence,
                )
    if author and author.kind == "bot":
        return  # dependency bots quote release notes
    body = read_message("\n\n" + request.body)
    for found in (*trailer_evidence(body), *footer_evidence(body.lines), *prose_evidence(body)):
        yield replace(found, where="pull-request body")

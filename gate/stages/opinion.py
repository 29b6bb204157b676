"""The stage that asks a language model for a second opinion, where that is wanted. It decides nothing."""

from __future__ import annotations

import os

from gate.errors import UsageError
from gate.model.stage import SkipReason
from gate.opinion.answer import opinion
from gate.opinion.endpoint import answered, checked
from gate.opinion.interface import KEY, STAGE, Endpoint, NoAnswerError
from gate.opinion.material import material
from gate.opinion.question import question
from gate.settings import OpinionSettings
from gate.stages.context import CheckContext, Ending


def run(context: CheckContext, _: Ending) -> None:
    """Ask, where ``opinion.enabled`` is set; otherwise the report does not speak of it."""
    wanted = context.settings.config.opinion
    if not wanted.enabled:
        return
    with context.stage(STAGE) as ending:
        _ask(context, wanted, ending)


def _ask(context: CheckContext, wanted: OpinionSettings, ending: Ending) -> None:
    opened, results = context.opened, context.results
    if not opened.change.files:
        ending.skipped(SkipReason.NO_CHANGED_FILES)
        return
    canaries = tuple(text for canary in results.sandbox.canaries for text in canary.secrets)
    secrets = results.prescreened.secrets + canaries
    try:
        endpoint = _endpoint(wanted)
        told = material(
            opened.change, opened.base, opened.head, results.sandbox.diff.new, secrets, most=wanted.characters
        )
        context.watch.note(STAGE, f"asking {endpoint.model}")
        text, tokens = answered(endpoint, question(endpoint, told))
        given = opinion(text, opened.change, secrets, tokens)
    except (NoAnswerError, UsageError) as error:
        ending.skipped(SkipReason.NO_OPINION, error.message)
        return
    results.opinion = given.findings
    parts = [f"{wanted.model}: {_amount(len(given.findings), 'hint')}"]
    parts += [f"{given.refused} refused (not about a changed line)"] if given.refused else []
    parts += [f"{_amount(told.left_out, 'line')} left out"] if told.left_out else []
    parts.append(f"{tokens.sent:,} tokens sent, {tokens.received:,} received")
    if wanted.price_in or wanted.price_out:
        parts.append(f"cost {tokens.cost(wanted.price_in, wanted.price_out):.4f}")
    ending.reason = ", ".join(parts)


def _amount(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _endpoint(wanted: OpinionSettings) -> Endpoint:
    if not wanted.url or not wanted.model:
        raise UsageError("opinion.url and opinion.model are not both set")
    return Endpoint(
        url=checked(wanted.url),
        model=wanted.model,
        key=os.environ.get(KEY, ""),
        seconds=wanted.seconds,
        most_tokens=wanted.tokens,
    )

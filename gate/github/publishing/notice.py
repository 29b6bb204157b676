"""What the check says when there is no verdict: one is being made, or none could be, why, and the way out."""

from __future__ import annotations

from typing import Final

from gate.errors import GateError
from gate.escape import markdown
from gate.github import checks
from gate.github.interface import Api
from gate.github.publishing.publication import Where, check_name
from gate.settings import GithubSettings

_AGAIN: Final = "Run the check again from its page; a comment with `/gate override` alone does not help here."


def begin(api: Api, where: Where, settings: GithubSettings, *, me: str) -> checks.PublishedVerdict | None:
    """The check is in progress from now on. None where the settings want no check.

    Raises the forge's errors: a token that may not say so makes nothing worse.
    """
    text = "What the change does is being looked at. The verdict comes here."
    hint = "No run? GitHub starts none for `[skip ci]` in the commit's message, or while there are conflicts."
    return _put(api, where, settings, me, "Looking", f"{text}\n\n{hint}", begins=True)


def refuse(
    api: Api, where: Where, settings: GithubSettings, error: GateError, *, me: str
) -> checks.PublishedVerdict | None:
    """The check is inconclusive: nothing of a report is told, only why. Raises the forge's errors."""
    text = refusal_text(error)
    return _put(api, where, settings, me, "Inconclusive: nothing could be judged", text, begins=False)


def refusal_text(error: GateError) -> str:
    """Why nothing is published and the way out, as Markdown."""
    return (
        f"### ❔ Inconclusive\n- Nothing is published: {markdown(error.message, 600)}\n"
        f"- **Next:** {markdown(error.advice, 600) if error.advice else _AGAIN}"
    )


def _put(
    api: Api, where: Where, settings: GithubSettings, me: str, title: str, text: str, *, begins: bool
) -> checks.PublishedVerdict | None:
    if settings.check == "never":
        return None
    verdict = checks.Verdict(
        sha=where.sha,
        conclusion="failure",
        title=title,
        summary=text,
        stamp=None,
        run=check_name(where),
        name=where.check,
        me=me,
        details_url=where.run_url or None,
    )
    act = checks.begin if begins else checks.publish_verdict
    return act(api, where.repo, verdict, want=settings.check)

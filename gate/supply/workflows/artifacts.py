"""Inputs of actions by which the token of a job, or files of less trusted ones, get to others.

``actions/checkout`` keeps the token of the job in ``.git/config``, a hidden file; whoever may read the
artifact of a run then may do what the job may (known as ArtiPACKED).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.regex import regex
from gate.supply.workflows.values import Level

_WHOLE: Final = regex(
    r"(?:\./?|\*{1,2}(?:/\*{1,2})?|\./\*{1,2}|/|\$\{\{\s*github\.workspace\s*\}\}/?(?:\*{0,2}))"
)
_GIT: Final = regex(r"(?:^|/)\.git(?:/|$)|(?:^|/)\.(?:netrc|npmrc|pypirc|docker|aws|ssh)(?:/|$)")


def difference(
    name: str, before: Mapping[str, object], after: Mapping[str, object], *, publishes: bool
) -> tuple[Level, str] | None:
    """What one changed input comes to; None where it is none of these."""
    if name in ("path", "include-hidden-files") and "key" not in after:
        if _holds_token(after) and not _holds_token(before):
            return (
                "high",
                "The whole checkout with its hidden files, the job's token among them, is handed out.",
            )
    elif name == "persist-credentials":
        if str(after[name]).lower() == "true" and str(before.get(name, "true")).lower() == "false":
            return "medium", "The job's token stays in the checkout."
    elif name == "restore-keys" and publishes:
        return "medium", "What other jobs kept under the beginning of a key gets into what is published."
    return None


def _holds_token(given: Mapping[str, object]) -> bool:
    lines = [line.strip() for line in str(given.get("path", "")).splitlines()]
    paths = [line for line in lines if line and not line.startswith("!")]
    if any(line.lstrip("!").rstrip("/*").endswith(".git") for line in lines if line.startswith("!")):
        return False
    hidden = str(given.get("include-hidden-files", "")).lower() == "true"
    return any(_GIT.search(path) for path in paths) or (hidden and any(map(_WHOLE.fullmatch, paths)))

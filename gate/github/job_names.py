"""Which check runs a workflow file could make, read from its text: each job reports a check of its own name.

GitHub Actions writes the check run of every job as the same app that ours is written as, so a job named like
our check would pass for it (docs/trust.md). Source: GitHub's "Workflow syntax", ``jobs.<job_id>.name``.
"""

from __future__ import annotations

from typing import Final

import yaml

MOST_BYTES: Final = 256 << 10
_OPEN, _CLOSE = "${{", "}}"


def may_report(raw: bytes, name: str) -> bool:
    """Could a job of this workflow file make a check called ``name``? True for text that cannot be read."""
    if len(raw) > MOST_BYTES:
        return True
    try:
        found = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except (yaml.YAMLError, RecursionError, ValueError, TypeError):
        return True
    jobs = found.get("jobs") if isinstance(found, dict) else None
    if not isinstance(jobs, dict):
        return False  # GitHub runs nothing of it
    return any(_can_be(_title(key, job), name.casefold()) for key, job in jobs.items())


def _title(key: object, job: object) -> str:
    given = job.get("name") if isinstance(job, dict) else None
    return str(key if given is None else given).casefold()


def _can_be(title: str, name: str) -> bool:
    """Do the literal parts of the title fit ``name``? What an expression stands for may be anything."""
    first, *rest = title.split(_OPEN)
    if not rest:
        return title.strip() == name
    literals = [part.partition(_CLOSE)[2] for part in rest]
    if not name.startswith(first.lstrip()) or not name.endswith(literals[-1].rstrip()):
        return False
    at = len(first.lstrip())
    for literal in literals:
        place = name.find(literal.rstrip(), at)
        if place < 0:
            return False
        at = place + len(literal.rstrip())
    return True

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
    tables = [v for k, v in found.items() if str(k).casefold() == "jobs"] if isinstance(found, dict) else []
    jobs = [item for table in tables if isinstance(table, dict) for item in table.items()]
    return any(_reports(key, job, name.casefold()) for key, job in jobs)


def _reports(key: object, job: object, name: str) -> bool:
    """A job is called by its name, else by its key; one of a matrix also ``name (value, value)``."""
    told = job if isinstance(job, dict) else {}
    given = told.get("name")
    if given is not None and not isinstance(given, str | int | float):
        return True  # GitHub may read it as something else than we do
    title = str(key if given is None else given).casefold()
    if "strategy" in told and name.startswith(f"{title.strip()} ("):
        return True
    return _can_be(title, name)


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

"""Where a line of head can be read on the forge, when whoever runs the check says which forge that is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from gate.regex import regex
from gate.report.summary import stays_inside

_SHA: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def blob_url(environ: Mapping[str, str], head: str | None) -> str | None:
    """The folder of head's files on GitHub or GitLab, of a runner's environment; None elsewhere.

    Nothing but a plain https address is taken.
    """
    if head is None or not _SHA.fullmatch(head):
        return None
    made = ""
    if environ.get("GITHUB_ACTIONS") == "true" and environ.get("GITHUB_REPOSITORY"):
        server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
        made = f"{server.rstrip('/')}/{environ['GITHUB_REPOSITORY']}/blob/{head}"
    elif environ.get("GITLAB_CI") == "true" and environ.get("CI_PROJECT_URL"):
        made = f"{environ['CI_PROJECT_URL'].rstrip('/')}/-/blob/{head}"
    return made if 0 < len(made) <= 500 and _is_plain(made) else None


def line_url(base: str | None, path: str, line: int | None) -> str:
    """The address of a line of a file; empty where nobody knows one. Every odd byte is percent-encoded."""
    if not base or not _is_plain(base) or not stays_inside(path):
        return ""
    where = quote(os.fsencode(path), safe="/") if _encodable(path) else ""
    return f"{base}/{where}{f'#L{line}' if line else ''}" if where else ""


def _is_plain(address: str) -> bool:
    from gate.report.v1 import BLOB_URL  # all structs of report.json stand behind it

    return re.match(BLOB_URL, address) is not None


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True

"""What GitHub's runner says in environment variables and in the event's payload; and its files."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from gate.change.event import EVENT_BYTES
from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.escape import output_entry
from gate.github.interface import repository
from gate.report.v1 import MAX_BYTES

if TYPE_CHECKING:
    from gate.github.client import GitHubApi

_MOST_SUMMARY: Final = 1 << 20
CONTAINED: Final = "GATE_CONTAINED"
"""Set by the container action's entry point."""


class _Number(msgspec.Struct):
    number: int


class _Issue(msgspec.Struct):
    number: int
    pull_request: dict[str, object] | None = None


class _Run(msgspec.Struct):
    id: int


class _Changes(msgspec.Struct):
    base: dict[str, object] | None = None


class _Payload(msgspec.Struct):
    pull_request: _Number | None = None
    issue: _Issue | None = None
    workflow_run: _Run | None = None
    action: str = ""
    changes: _Changes | None = None


@dataclass(frozen=True, kw_only=True)
class RunnerContext:
    """Where we run. ``pull`` or ``workflow_run`` as the event names them; None where it does not.
    ``contained``: the work space has another name for the steps after ours.
    """

    repo: str
    token: str | None
    api_url: str
    server: str
    run: str
    attempt: str
    pull: int | None
    workflow_run: int | None
    summary: Path | None
    output: Path | None
    contained: bool = False
    begins: bool = False
    """The event says that something is about to be looked at, not that it was."""
    idle: bool = False
    """The event changes nothing that a verdict rests on: a title or a text was edited."""
    name: str = ""
    """Which of several looks at one commit this is; empty: the only one."""
    me: str = ""
    """The login that an App of its own writes under; empty: the token is asked."""

    def api(self) -> GitHubApi:
        """A client with our token."""
        from gate.github.client import connect  # `gate note` is told nothing by GitHub, and needs no PyGithub

        return connect(self.token, self.api_url)

    def outside(self, path: Path) -> str:
        """``path`` (from the work space) as later steps find it: in full, or from the work space."""
        return str(path if self.contained else path.resolve())

    def summarise(self, text: str) -> None:
        """Add to the step summary, if there is one; whole lines, within GitHub's limit."""
        if self.summary is not None:
            raw = text.encode("utf-8", "replace")[: _MOST_SUMMARY - 1]
            _append(self.summary, raw.decode("utf-8", "ignore") + "\n")

    def put(self, **outputs: str) -> None:
        """Set the step's outputs (a ``_`` in a name becomes ``-``)."""
        if self.output is not None:
            entries = [output_entry(name.replace("_", "-"), value) for name, value in outputs.items()]
            _append(self.output, "".join(entries))


def surroundings(
    environ: Mapping[str, str], *, event: Path | None = None, repo: str = "", flag: str = "--repo"
) -> RunnerContext:
    """Read them. ``event`` and ``repo`` replace what the environment says; ``flag``: how ``repo`` is given.

    Raises UsageError.
    """
    repo = repo or environ.get("GITHUB_REPOSITORY", "")
    try:
        repository(repo)
    except ValueError as error:
        said = f"{error}" if repo else "no repository on GitHub was named"
        raise UsageError(
            said, advice=f"Give {flag} OWNER/NAME, or run in GitHub Actions (GITHUB_REPOSITORY)."
        ) from error
    named = event or (Path(environ["GITHUB_EVENT_PATH"]) if environ.get("GITHUB_EVENT_PATH") else None)
    payload = _payload(named) if named is not None else _Payload()
    pull = payload.pull_request.number if payload.pull_request else None
    if payload.issue and payload.issue.pull_request is not None:
        pull = payload.issue.number
    retargeted = payload.changes is not None and payload.changes.base is not None
    edits_text = payload.pull_request is not None and payload.action == "edited" and not retargeted
    return RunnerContext(
        repo=repo,
        token=environ.get("GATE_TOKEN") or environ.get("GITHUB_TOKEN") or None,
        api_url=environ.get("GITHUB_API_URL") or "https://api.github.com",
        server=(environ.get("GITHUB_SERVER_URL") or "https://github.com").rstrip("/"),
        run=environ.get("GITHUB_RUN_ID") or "local",
        attempt=environ.get("GITHUB_RUN_ATTEMPT") or "1",
        pull=pull,
        workflow_run=payload.workflow_run.id if payload.workflow_run else None,
        summary=_file(environ, "GITHUB_STEP_SUMMARY"),
        output=_file(environ, "GITHUB_OUTPUT"),
        contained=environ.get(CONTAINED) == "1",
        begins=environ.get("GITHUB_EVENT_NAME") == "pull_request_target"
        or (payload.workflow_run is not None and payload.action in ("requested", "in_progress")),
        idle=edits_text and environ.get("GITHUB_EVENT_NAME") == "pull_request_target",
    )


def read_report(path: Path) -> bytes:
    """A report.json's bytes: a regular file, no link, no larger than a report may be. Raises UsageError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise UsageError(f"{path} is no regular file")
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
    return raw


def _payload(path: Path) -> _Payload:
    try:
        with path.open("rb") as stream:
            raw = stream.read(EVENT_BYTES + 1)
        if len(raw) > EVENT_BYTES:
            raise UsageError(f"the event {path} is larger than {EVENT_BYTES} bytes")
        return msgspec.json.decode(raw, type=_Payload)
    except OSError as error:
        raise UsageError(f"cannot read the event {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the event {path} is not a GitHub payload: {ascii(str(error))[:200]}") from error


def _file(environ: Mapping[str, str], name: str) -> Path | None:
    return Path(environ[name]) if environ.get(name) else None


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(text)

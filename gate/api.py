"""The Python API (docs/api.md): a check, whatever names its change, as one call that gives a Report.

The verbs, the MCP server and the language server call these functions and no others, so that there is one way
to a verdict. Nothing here loosens a policy that the verbs do not: settings come from the base of the change.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from gate.dataclass import dataclass
from gate.errors import BackendFailedError, GateError, InconclusiveError, UsageError
from gate.settings import Settings, load

if TYPE_CHECKING:
    from gate.change.event import Event
    from gate.change.interface import OpenChange
    from gate.model.change import PullRequest, Tree
    from gate.model.report import Report
    from gate.model.rule import RuleMeta
    from gate.stages.context import EvidenceSink
    from gate.stages.progress import Watch

__all__ = [
    "BackendFailedError",
    "Chosen",
    "GateError",
    "InconclusiveError",
    "RulePage",
    "Settings",
    "UsageError",
    "check",
    "check_files",
    "check_opened",
    "check_uncommitted",
    "explain",
    "read_report",
    "render",
]

_CALLER: Final = "the caller"


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """What a caller chooses over the settings of the change's base.

    ``flags`` maps ``table.key`` to (value, who says so: a flag's name); None values are "not given". ``file``
    replaces the settings at base; it must not come from the change.
    """

    flags: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    file: Path | None = None


SettingsLike = Settings | Chosen | Mapping[str, object] | None
"""``None``: those at base. A mapping (``{"sandbox.backend": "bubblewrap"}``) or Chosen is laid over them.
Settings are taken as they are, whatever base says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RulePage:
    """A rule, and its page as Markdown; the page is empty where there is no more to say."""

    meta: RuleMeta
    page: str


def check(
    repo: str | Path,
    base: str | None = None,
    head: str | None = None,
    settings: SettingsLike = None,
    progress: Watch | None = None,
    *,
    event: Event | None = None,
    keep: EvidenceSink | None = None,
) -> Report:
    """Judge what the revision ``head`` (HEAD) has that ``base`` (the default branch) has not.

    Reads git objects only: nothing is checked out, and the change runs only inside a sandbox. ``progress`` is
    told about stages, from several threads. ``event`` is what a forge says of the branch and the pull
    request: evidence of who wrote it. ``keep`` is given the evidence.

    Raises UsageError (no repository, unknown revision, wrong setting) or InconclusiveError (git failed,
    history is missing). Never raises for what the change contains: that is in the report.
    """
    from gate.change.default_range import default_base
    from gate.change.git_range import open_range
    from gate.early_imports import early_imports

    where = Path(repo)
    with early_imports():
        against = base or default_base(where, head or "HEAD")
        opened = open_range(where, against, head or "HEAD", branch=event.branch if event else None)
    request = event.pull_request if event else None
    return check_opened(opened, settings, progress, request=request, keep=keep)


def check_uncommitted(
    repo: str | Path,
    part: Literal["staged", "worktree"] = "worktree",
    settings: SettingsLike = None,
    progress: Watch | None = None,
    *,
    keep: EvidenceSink | None = None,
) -> Report:
    """Judge what is not committed, against HEAD: what is staged, or the whole work tree with new files.

    Settings come from HEAD. Raises as ``check``; UsageError also where nothing differs.
    """
    from gate.change.uncommitted import open_uncommitted
    from gate.early_imports import early_imports

    with early_imports():
        opened = open_uncommitted(Path(repo), part)
    return check_opened(opened, settings, progress, keep=keep)


def check_files(
    paths: Sequence[str | Path],
    settings: SettingsLike = None,
    progress: Watch | None = None,
    *,
    keep: EvidenceSink | None = None,
) -> Report:
    """Judge files or folders outside git: everything in them counts as added, and there is no base.

    Raises UsageError (a path that is missing or a link), InconclusiveError (a file that cannot be read).
    """
    from gate.change.files import open_paths

    opened = open_paths([Path(path) for path in paths])
    return check_opened(opened, settings, progress, keep=keep, settled=True)


def check_opened(
    opened: OpenChange,
    settings: SettingsLike = None,
    progress: Watch | None = None,
    *,
    request: PullRequest | None = None,
    keep: EvidenceSink | None = None,
    settled: bool = False,
) -> Report:
    """Judge a change that was opened by other means, and close it. ``settled``: its trees hold no settings.

    The same change under the same circumstances gives the report of the first time (docs/cache.md; its
    ``made.at`` tells when that was), unless evidence is asked for or ``cache.enabled`` is false.

    Raises UsageError for settings that are wrong.
    """
    from gate.cache.active import in_use
    from gate.kept_check import kept_check
    from gate.prescreen.ahead import prepare

    with opened:
        in_force = _in_force(settings, None if settled else opened.config)
        kept, store = kept_check(opened, in_force, request)
        if kept is not None and keep is None and (known := kept.find()) is not None:
            return known
        prepare(opened.change.files)
        from gate.check import check as look

        with in_use(store):
            report = look(opened, in_force, progress, request=request, keep=keep)
        if kept is not None:
            kept.add(report)
        return report


def _in_force(given: SettingsLike, base: Tree | None) -> Settings:
    if isinstance(given, Settings):
        return given
    if given is None or isinstance(given, Chosen):
        chosen = given or Chosen()
    else:
        chosen = Chosen(flags={key: (value, _CALLER) for key, value in given.items()})
    return load(base=base, file=chosen.file, flags=chosen.flags)


def explain(rule: str) -> RulePage:
    """What a rule means, why it matters and what to do. Raises UsageError, with the nearest ids."""
    from gate.model.finding import FINGERPRINT
    from gate.stages.rule_index import rulebook

    book = rulebook()
    meta = book.get(rule)
    if meta is None:
        near = difflib.get_close_matches(rule, [known.id for known in book.all()], n=3)
        advice = f"Did you mean {', '.join(near)}?" if near else "`gate rules` lists them all."
        if FINGERPRINT.fullmatch(rule):
            advice = (
                "It is a finding's fingerprint, and belongs to a report: "
                "`gate report FILE --markdown -` lists the findings, each with its rule."
            )
        raise UsageError(f"no rule is called {rule}", advice=advice)
    return RulePage(meta=meta, page=book.page(meta.id))


def read_report(path: str | Path) -> Report:
    """A stored report.json (version 1) as a Report. What the file does not hold is empty.

    All texts are as untrusted as the change was. Raises UsageError (no such file, no report, too large).
    """
    from gate.report.from_json import as_report
    from gate.report.json_v1 import decode
    from gate.report.v1 import MAX_BYTES

    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", advice="Name a report.json that --json wrote."
        ) from error
    return as_report(decode(data))


def render(report: Report, style: str) -> str:
    """The report as one document: ``json``, ``markdown``, ``sarif``, ``html``, ``terminal``, ``junit`` ...

    Also ``distribution.name`` of a plugin. Texts of the change are escaped for it by ours. Raises UsageError
    for a format that there is none of.
    """
    from gate.report.registry import reporter

    return reporter(style).render(report)

"""What a change of a workflow or an action comes to: both versions read as data and compared by meaning.

A newer version of an action, a matrix entry, a timeout, a name, a comment: low. New rights, new triggers,
secrets newly handed out, commands that fetch, third parties that are not pinned, checks that are gone or
can no longer fail: high. A file that cannot be read, or that parsers read differently: high. Of the
pipelines of other systems, only versions are told apart. Runs in the limited child.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gate.dataclass import dataclass
from gate.regex import regex
from gate.supply.workflows import values
from gate.supply.workflows.jobs import (
    ACTION,
    WORKFLOW,
    compare_jobs,
    compare_keys,
    compare_text,
    differences,
    jobs_of_base,
)
from gate.supply.workflows.keys import Context, texts_of
from gate.supply.workflows.own_tasks import Tasks, read_tasks
from gate.supply.workflows.values import Level, action_of
from gate.supply.yaml_data import (
    Document,
    Path,
    UnreadableYamlError,
    items,
    leaves,
    mapping,
    read_yaml,
)

WORKFLOW_PATH: Final = regex(r"^\.github/workflows/[^/]+\.ya?ml$", re.IGNORECASE)
ACTION_PATH: Final = regex(r"(?:^|/)action\.ya?ml$", re.IGNORECASE)
PIPELINE_PATH: Final = regex(
    r"^(?:\.gitlab-ci|\.gitlab/.+|\.circleci/.+|azure-pipelines[^/]*|\.travis|\.drone|bitbucket-pipelines"
    r"|\.buildkite/.+|\.woodpecker[^/]*)\.ya?ml$",
    re.IGNORECASE,
)
_UNPRIVILEGED: Final = frozenset({
    "pull_request", "merge_group", "workflow_dispatch", "schedule", "push", "release",
    "branch_protection_rule",
})  # fmt: skip
"""Events that run nobody else's code with the repository's secrets."""
_GATES: Final = frozenset({"pull_request", "merge_group", "pull_request_target"})
"""Events by which a workflow judges changes before they are merged."""
_PUBLISH: Final = frozenset({"*", "contents", "packages", "id-token", "actions", "deployments"})
"""Rights with which a job can change what others run."""
_REPORTING: Final = frozenset({"security-events", "attestations", "discussions", "issues"})
"""Rights that a scanner or a build needs to hand in what it found or made, and to write what people read."""
_PROSE: Final = regex(
    r"(?:\*\*/)?docs?/\*\*?(?:/\*)?|(?:\*\*/?)?(?:[\w*-]+/)*[\w*-]*\.(?:md|rst|adoc)"
    r"|(?:LICEN[CS]E|README|CHANGE(?:S|LOG)|AUTHORS|CONTRIBUTING)(?:\*|\.\*|\.txt)?",
    re.IGNORECASE,
)
"""A pattern of paths that stands for documentation."""
_LEVELS: Final = ("none", "read", "write")
_MOST: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedPart:
    """One difference, for the host. ``what`` is ours; ``where`` and ``text`` are the change's words."""

    level: Level
    what: str
    where: str
    line: int | None
    text: str


def is_compared(path: str) -> bool:
    """True for a file whose two versions ``compare`` understands."""
    return any(kind.search(path) for kind in (WORKFLOW_PATH, ACTION_PATH, PIPELINE_PATH))


def pack(base: bytes | None, head: bytes | None, tasks: Sequence[Mapping[str, bytes]] = ({}, {})) -> bytes:
    """Both versions as one frame of the child's input; None is a version that is not there. ``tasks``: of
    base and head the files that give commands names (own_tasks.FILES), with their contents.
    """
    parts = [base, head, *(one for side in tasks for item in side.items() for one in _named(item))]
    sizes = (-1 if part is None else len(part) for part in parts)
    front = f"{len(tasks[0])} {' '.join(map(str, sizes))}\n".encode()
    return front + b"".join(part or b"" for part in parts)


def _named(item: tuple[str, bytes]) -> tuple[bytes, bytes]:
    return item[0].encode(), item[1]


def _unpack(data: bytes) -> tuple[bytes | None, bytes | None, list[dict[str, bytes]]]:
    front, _, body = data.partition(b"\n")
    count, *sizes = (int(word) for word in front.split())
    parts: list[bytes | None] = []
    at = 0
    for size in sizes:
        parts.append(None if size < 0 else body[at : at + size])
        at += max(0, size)
    named = [((parts[i] or b"").decode(), parts[i + 1] or b"") for i in range(2, len(parts), 2)]
    return parts[0], parts[1], [dict(named[:count]), dict(named[count:])]


def compare(path: str, data: bytes, options: Mapping[str, object]) -> list[ChangedPart]:
    """All differences, the worst first; never empty. ``data`` comes from ``pack``."""
    del options
    base, head, files = _unpack(data)
    tasks = (read_tasks(files[0]), read_tasks(files[1]))
    return list(_compared(path, base, head, tasks))[:_MOST] or [
        _part("low", "Only its comments or its layout change.")
    ]


def _part(level: Level, what: str, where: str = "", line: int | None = None, text: str = "") -> ChangedPart:
    return ChangedPart(level=level, what=what, where=where, line=line, text=text)


def _compared(
    path: str, base: bytes | None, head: bytes | None, tasks: tuple[Tasks, Tasks]
) -> Iterator[ChangedPart]:
    try:
        new = read_yaml(head) if head is not None else Document(data={})
    except UnreadableYamlError as error:
        yield _part("high", f"It cannot be read: {error}.")
        return
    try:
        old = read_yaml(base) if base is not None else Document(data={})
    except UnreadableYamlError:
        yield _part("medium", "What it said before cannot be read.")
        old = Document(data={})
    if not isinstance(new.data, dict) or not isinstance(old.data, dict):
        yield _part("high", "It is no workflow.")
        return
    if head is None:
        yield _gone(path, old.data)
        return
    if base is None:
        yield _part("medium", "A new file that CI acts upon.")
    context = replace(_context(old.data, new.data), tasks=tasks)
    _compare(path, old.data, new.data, context)
    for one in differences(context):
        yield _part(one.level, one.what, ".".join(map(str, one.path)), new.line(one.path), one.text)


def _compare(path: str, old: dict[str, Any], new: dict[str, Any], context: Context) -> None:
    if WORKFLOW_PATH.search(path):
        _triggers(_events(old), _events(new), context)
        _permissions(old, new, context)
        compare_keys(old, new, context, WORKFLOW)
        compare_jobs(mapping(old.get("jobs")), mapping(new.get("jobs")), context)
        _top_secrets(old, new, context)
    elif ACTION_PATH.search(path):
        compare_keys(old, new, context, ACTION)
    else:
        compare_text(old, new, context)


def _looks_at_code(old: Mapping[str, object]) -> bool:
    """Does a part of it fetch the code, or name a check? What greets, labels or marks does neither."""
    texts = texts_of(old)
    return any("checkout" in text or "clone" in text for text in texts) or bool(values.checks_in(texts))


def _gone(path: str, old: Mapping[str, object]) -> ChangedPart:
    gates: set[str] = set(_GATES & _events(old).keys())
    if gates == {"pull_request_target"} and not _looks_at_code(old):
        gates = set()
    checks = gates or PIPELINE_PATH.search(path)
    level: Level = "high" if checks else "medium"
    return _part(level, "A workflow is gone, and with it its checks." if level == "high" else "It is gone.")


def _context(old: Mapping[str, object], new: Mapping[str, object]) -> Context:
    before = leaves(old)
    events = _events(new).keys()
    uses = [action_of(text) for where, text in before if where[-1:] == ("uses",)]
    shared = [text for key, value in new.items() if key != "jobs" for _, text in leaves(value)]
    everywhere = bool(values.secrets_in(shared) - {values.TOKEN})
    jobs = mapping(new.get("jobs"))
    return Context(
        hosts=frozenset(values.hosts_in(text for _, text in before)),
        actions={action.name: action for action in sorted(uses, key=lambda a: not a.is_pinned, reverse=True)},
        privileged=bool(events - _UNPRIVILEGED - {"workflow_call"}),
        on_pulls=bool((events | _events(old).keys()) & _GATES),
        writers=frozenset(name for name, job in jobs.items() if everywhere or _publishes(_rights(job, new))),
        secret_variables=values.secret_variables(new.get("env")),
    )


def _publishes(rights: Mapping[str, str] | None) -> bool:
    return any(_rank(level) == 2 and scope in _PUBLISH for scope, level in (rights or {}).items())


def _events(data: Mapping[str, object]) -> dict[str, Any]:
    on = data.get("on")
    return dict(on) if isinstance(on, dict) else {str(event): {} for event in items(on)}


def _triggers(old: Mapping[str, object], new: Mapping[str, object], context: Context) -> None:
    for event in new.keys() - old.keys():
        level: Level = (
            "medium" if event in _UNPRIVILEGED or (event == "workflow_call" and not old) else "high"
        )
        context.add(level, "A new trigger.", ("on", event), event)
    for event in old.keys() - new.keys():
        level = "high" if event in _GATES else "low"
        context.add(
            level,
            "It is no longer started by changes." if level == "high" else "A trigger is gone.",
            ("on",),
            event,
        )
    for event in new.keys() & old.keys():
        if new[event] != old[event]:
            renamed = event != "push" and _same_branches(old, new, event)
            _filters(event, mapping(old[event]), mapping(new[event]), context, renamed=renamed)


def _same_branches(old: Mapping[str, object], new: Mapping[str, object], event: str) -> bool:
    """Do the branches of this event change just as those of ``push``? Then the main branch got a new name."""
    was, now = (
        [set(map(str, items(mapping(side.get(e)).get("branches")))) for e in ("push", event)]
        for side in (old, new)
    )
    return was[0] == was[1] and now[0] == now[1] and len(was[0]) == len(now[0]) == 1


def _filters(
    event: str, old: Mapping[str, object], new: Mapping[str, object], context: Context, *, renamed: bool
) -> None:
    """Branches, paths and kinds of an event: narrower is a check that starts less often."""
    path: Path = ("on", event)
    narrower = {key for key in {*old, *new} if _narrower(key, old.get(key), new.get(key))}
    if event in _GATES and narrower:
        mild = narrower <= ({"branches"} if renamed else set()) | _of_prose(old, new)
        level: Level = "medium" if mild else "high"
        return context.add(level, "Fewer changes start it.", path, ", ".join(map(str, new)))
    wider_danger = event not in _UNPRIVILEGED and event != "workflow_call"
    return context.add(
        "high" if wider_danger else "low", "When it starts changes.", path, ", ".join(map(str, new))
    )


def _of_prose(old: Mapping[str, object], new: Mapping[str, object]) -> set[str]:
    """``paths-ignore`` where what is newly left out is documentation alone."""
    had = set(map(str, items(old.get("paths-ignore"))))
    fresh = set(map(str, items(new.get("paths-ignore")))) - had
    return {"paths-ignore"} if fresh and all(map(_PROSE.fullmatch, fresh)) else set()


def _narrower(key: str, old: object, new: object) -> bool:
    if old == new:
        return False
    before, after = set(map(str, items(old))), set(map(str, items(new)))
    if key.endswith("-ignore"):
        return bool(after - before)
    if key in ("branches", "paths", "types", "tags"):
        return (
            (old is None and new is not None)
            or bool(before - after and new is not None)
            or _excludes(after - before)
        )
    return False


def _excludes(texts: set[str]) -> bool:
    return any(text.startswith("!") for text in texts)


def _permissions(old: Mapping[str, object], new: Mapping[str, object], context: Context) -> None:
    """The token's rights of every job, its own or the workflow's; a new job is held against all of base."""
    jobs, were = mapping(new.get("jobs")), mapping(old.get("jobs"))
    had = {name: _rights(job, old) for name, job in were.items()}
    twins = jobs_of_base(were, jobs)
    most = [rights for rights in had.values() if rights is not None]
    anybody = {scope: max(_rank(rights.get(scope)) for rights in most) for rights in most for scope in rights}
    for name, job in jobs.items():
        was = twins.get(name, name)
        path: Path = (
            ("jobs", name, "permissions") if mapping(job).get("permissions") is not None else ("permissions",)
        )
        now = _rights(job, new)
        if was in had and had[was] == now:
            continue
        before = had.get(was, None if len(most) < len(had) else {k: _LEVELS[v] for k, v in anybody.items()})
        if now is None:
            if before is not None and had:
                context.add("high", "The token's rights are no longer limited.", path)
            continue
        if more := _newly_writable(before or {}, now):
            # A token that nothing limited may have been read-only by the project's settings.
            unlimited = before is None and was in had and not _PUBLISH.intersection(more)
            told = _REPORTING | {"id-token"} if was not in had and _only_well_known(job) else _REPORTING
            mild = (unlimited or told.issuperset(more)) and not context.privileged
            level: Level = "medium" if mild else "high"
            context.add(level, "The token may write what it could not.", path, ", ".join(more))
        elif before != now:
            context.add("low", "The token's rights change.", path)


def _only_well_known(job: object) -> bool:
    """A job that runs nothing but actions of well-known makers (Scorecard's): they sign who ran them."""
    steps = items(mapping(job).get("steps"))
    return bool(steps) and all(
        "run" not in mapping(step) and action_of(str(mapping(step).get("uses", ""))).is_well_known
        for step in steps
    )


def _newly_writable(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    if before.get("*") == "write":
        return []
    return sorted(s for s, level in now.items() if _rank(level) == 2 and _rank(before.get(s)) < 2)


def _rights(job: object, workflow: Mapping[str, object]) -> dict[str, str] | None:
    """Scope to level; ``*`` for all of them; None where nothing limits the token."""
    told = mapping(job).get("permissions", workflow.get("permissions"))
    if told is None:
        return None
    if isinstance(told, dict):
        return {str(scope): str(level) for scope, level in told.items()}
    return {"*": "write" if told == "write-all" else "read" if told == "read-all" else "none"}


def _rank(level: str | None) -> int:
    return _LEVELS.index(level) if level in _LEVELS else 0 if level is None else 2


def _top_secrets(old: Mapping[str, object], new: Mapping[str, object], context: Context) -> None:
    """Secrets in what all jobs share."""
    one, two = (
        [text for key, value in data.items() if key != "jobs" for _, text in leaves(value)]
        for data in (old, new)
    )
    fresh = values.secrets_in(two) - values.secrets_in(one) - {values.TOKEN}
    if fresh:
        context.add("high", "A secret is handed to every job.", ("env",), ", ".join(sorted(fresh)))

"""Jobs and steps of two versions of a workflow, side by side: what head can do that base could not.

Runs in the limited child. Jobs are matched by name or by their steps, steps by what they are.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gate.languages.commands.versions import same_but_versions
from gate.regex import regex
from gate.supply.workflows import values
from gate.supply.workflows.keys import (
    JOB,
    SCRIPTS,
    STEP,
    Compare,
    Context,
    KeyDifference,
    compare_defaults,
    compare_each,
    compare_env,
    compare_secrets,
    compare_value,
    excerpt,
    lost_checks,
    nothing,
    texts_of,
)
from gate.supply.workflows.own_tasks import expanded
from gate.supply.workflows.values import Level, action_of
from gate.supply.yaml_data import Path, items, leaves, mapping

_SAME_STEP: Final = 0.6


def compare_jobs(old: Mapping[str, object], new: Mapping[str, object], context: Context) -> None:
    """All jobs; a renamed one is found by its steps."""
    twins = jobs_of_base(old, new)
    gone = {name: job for name, job in old.items() if name not in twins.values()}
    shown_as: dict[str, set[str]] = {}  # several jobs of base may share a name
    for name, job in old.items():
        shown_as.setdefault(_shown_as(name, job), set()).add(name)
    for name, job in new.items():
        was = twins.get(name, "")
        before = old.get(was)
        path: Path = ("jobs", name)
        if before is None:
            context.add("medium", "A new job.", path, name)
        if was not in shown_as.get(_shown_as(name, job), {was}):
            context.add("high", "A job takes the name of another, which may be a required check.", path, name)
        compare_job(before or {}, job, path, context)
    for name, job in gone.items():
        if _runs_elsewhere(job, new, context):
            context.add("low", "A job is gone; another one runs what it ran.", ("jobs",), name)
            continue
        level: Level = "high" if context.on_pulls and _checks(job) else "medium"
        context.add(level, "A job is gone that may be a required check.", ("jobs",), name)


def _runs_elsewhere(job: object, new: Mapping[str, object], context: Context) -> bool:
    """Do jobs of head that always run, and fail where a check fails, run all commands that a job ran?

    What the project's own names for commands stand for counts, line by line.
    """
    before = mapping(job)
    if "uses" in before or "strategy" in before or not _checks(job):
        return False
    steps = [
        step
        for one in new.values()
        if not {"if", "continue-on-error"} & mapping(one).keys()
        for step in items(mapping(one).get("steps"))
        if not {"if", "continue-on-error"} & mapping(step).keys()
    ]
    has = {line for text in expanded(_commands(steps), context.tasks[1]) for line in _lines(text)}
    had = {line for text in expanded(_commands(items(before.get("steps"))), context.tasks[0])
           for line in _lines(text)}  # fmt: skip
    return all(line in has or len(expanded([line], context.tasks[0])) > 1 for line in had)


def _lines(text: str) -> Iterator[str]:
    """The commands of a text that end it when they fail."""
    for line in text.splitlines():
        if (plain := " ".join(line.split())) and "|| " not in plain:
            yield action_of(plain).name if re.fullmatch(r"[\w.-]+/[\w./-]+@\S+", plain) else plain


def jobs_of_base(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, str]:
    """For each job of head the name that it had at base; new ones are left out."""
    same = {name: name for name in new if name in old}
    gone = [name for name in old if name not in new]
    for name, job in new.items():
        if name in same:
            continue
        twin = next((one for one in gone if _is_same_job(texts_of(old[one]), texts_of(job))), None)
        if twin is not None:
            gone.remove(twin)
            same[name] = twin
    return same


def _shown_as(name: str, job: object) -> str:
    """The name under which a job's check is shown, and required."""
    return str(mapping(job).get("name", name))


_VERSION: Final = regex(
    r"v?\d[\w.*+]{0,12}(?:-(?:dev|rc\d*|beta|alpha))?|pypy[\w.-]{0,12}|nightly|stable|node|latest|lts(?:/[\w*]{1,12})?"
)


def compare_job(old: object, new: object, path: Path, context: Context) -> None:
    """One job of both versions; ``old`` is empty for a new one."""
    if not isinstance(new, dict) or not isinstance(old, dict):
        return context.add("high", "A job that cannot be read.", path)
    compare_secrets(
        {k: v for k, v in old.items() if k != "steps"},
        {k: v for k, v in new.items() if k != "steps"},
        path,
        context,
    )
    rest = {key: value for key, value in new.items() if key != "steps"}
    holds = bool(values.secrets_in(texts_of(rest)) - {values.TOKEN}) or path[-1] in context.writers
    guarded = values.guards(_commands([*items(old.get("steps")), *items(new.get("steps")), new]))
    publishes = values.publishes(_commands(items(new.get("steps"))))
    # The same list of differences.
    job = replace(
        context,
        holds=holds,
        guards=guarded,
        publishes=publishes,
        fresh=not old,
        secret_variables=context.secret_variables | values.secret_variables(new.get("env")),
    )
    compare_each(old, new, path, job, JOB)
    compare_steps(items(old.get("steps")), items(new.get("steps")), (*path, "steps"), job)
    return None


def compare_steps(old: Sequence[object], new: Sequence[object], path: Path, context: Context) -> None:
    """Steps are matched by what they are, not by their place."""
    left = [step for step in old if step not in new]
    fresh = [(index, step) for index, step in enumerate(new) if step not in old]
    for index, step in fresh:
        before = _twin(step, left)
        if before is not None:
            left.remove(before)
        compare_step(before or {}, step, (*path, index), context)
    lost = lost_checks(_commands(old), _commands(new), context.tasks)
    if lost:
        context.add("high", "A step that checks something is gone.", path, lost)
    elif left:
        context.add("low", "A step is gone.", path)


def compare_step(old: object, new: object, path: Path, context: Context) -> None:
    """One step of both versions; ``old`` is empty for a new one."""
    if not isinstance(new, dict) or not isinstance(old, dict):
        return context.add("high", "A step that cannot be read.", path)
    if not old:
        context.add("low", "A new step.", path, new.get("name", ""))
    compare_secrets(old, new, path, context)
    if isinstance(new.get("run"), str) and new.get("run") != old.get("run"):
        sent = values.secret_sent(new["run"], values.secrets_in(texts_of(new)), context.hosts)
        if sent:
            context.add("critical", "Secrets are sent to a machine that base does not know.", path, sent)
    if values.secrets_in(texts_of(new)) - {values.TOKEN}:
        context = replace(context, holds=True)
    held = context.secret_variables | values.secret_variables(new.get("env"))
    context = replace(context, guards=values.guards(_commands([old, new])), secret_variables=held)
    compare_each(old, new, path, context, STEP)
    return None


def compare_text(old: object, new: object, context: Context) -> None:
    """A pipeline of another system: everything but versions is for a person to read."""
    before, after = (dict(leaves(value)) for value in (old, new))
    for path in dict.fromkeys((*before, *after)):
        if _of_versions(path, before) and _of_versions(path, after):
            if before.get(path) != after.get(path):
                context.add("low", "Another list of versions.", path, after.get(path) or "(gone)")
            continue
        one, two = before.get(path), after.get(path)
        if one != two:
            bumped = one is not None and two is not None and same_but_versions(one, two)
            what = "Another version." if bumped else "What the pipeline runs changes."
            context.add("low" if bumped else "high", what, path, two or "(gone)")


def _of_versions(path: Path, told: Mapping[Path, object]) -> bool:
    """Is it an item of a list of nothing but versions (a matrix), or was there no such list?"""
    if not path or not isinstance(path[-1], int):
        return False
    beside = [value for at, value in told.items() if at[:-1] == path[:-1] and len(at) == len(path)]
    return all(_VERSION.fullmatch(str(value)) for value in beside)


def compare_keys(
    old: Mapping[str, object], new: Mapping[str, object], context: Context, known: Mapping[str, Compare]
) -> None:
    """The keys of the file itself."""
    compare_each(old, new, (), context, known)


def _composite(old: object, new: object, path: Path, context: Context) -> None:
    """``runs`` of an action: a newer Node is a version, everything else is the program itself."""
    one, two = mapping(old), mapping(new)
    using = str(one.get("using", "")).rstrip("0123456789") == str(two.get("using", "")).rstrip("0123456789")
    compare_each(
        one,
        two,
        path,
        context,
        dict.fromkeys((*one, *two), _program) | {"steps": nothing, "using": nothing},
    )
    if not using:
        context.add("high", "What the action runs changes.", path, two.get("using"))
    elif one.get("using") != two.get("using"):
        context.add("low", "Another version of the action's runtime.", path, two.get("using"))
    compare_steps(items(one.get("steps")), items(two.get("steps")), (*path, "steps"), context)


def _program(_old: object, new: object, path: Path, context: Context) -> None:
    context.add("high", "What the action runs changes.", path, excerpt(new))


ACTION: Final[Mapping[str, Compare]] = {"runs": _composite, "inputs": compare_value, "outputs": compare_value}
"""Keys of an action's own file (action.yml)."""
WORKFLOW: Final[Mapping[str, Compare]] = {
    "env": compare_env,
    "defaults": compare_defaults,
    "on": nothing,
    "jobs": nothing,
    "permissions": nothing,
}
"""Keys of a workflow outside its jobs; what is compared elsewhere does nothing here."""


def _twin(step: object, among: Sequence[object]) -> object:
    """The step of base that this one was, None for a new one."""
    if not isinstance(step, dict):
        return None
    old = [one for one in among if isinstance(one, dict)]
    for key in ("id", "uses", "name"):
        mine = _identity(step, key)
        twin = next((one for one in old if mine and _identity(one, key) == mine), None)
        if twin is not None:
            return twin
    kind = "run" if "run" in step else "uses"
    near = [
        (_alike([str(one.get(kind))], [str(step.get(kind))]), i) for i, one in enumerate(old) if kind in one
    ]
    best, index = max(near, default=(0.0, 0))
    return old[index] if best > _SAME_STEP and kind == "run" else None


def _identity(step: Mapping[str, object], key: str) -> str:
    text = step.get(key)
    if not isinstance(text, str):
        return ""
    return action_of(text).name if key == "uses" else text


def _is_same_job(old: Sequence[str], new: Sequence[str]) -> bool:
    """Alike as a whole, or most of the old one's texts stand in the new one: it has grown."""
    kept = sum(text in new for text in old) / max(len(old), 1)
    return kept > _SAME_STEP or _alike(old, new) > _SAME_STEP


def _alike(one: Sequence[str], two: Sequence[str]) -> float:
    return difflib.SequenceMatcher(None, "\n".join(one)[:4000], "\n".join(two)[:4000], autojunk=False).ratio()


def _checks(job: object) -> bool:
    called = mapping(job).get("uses")
    return called is not None or bool(values.checks_in(_commands(items(mapping(job).get("steps")))))


def _commands(steps: Sequence[object]) -> list[str]:
    """What these steps run, without their names and comments."""
    dicts = [step for step in steps if isinstance(step, dict)]
    runs = [str(step[key]) for step in dicts for key in ("uses", "run") if key in step]
    return runs + [
        str(v) for step in dicts for k, v in mapping(step.get("with")).items() if k.lower() in SCRIPTS
    ]


def differences(context: Context) -> Iterator[KeyDifference]:
    """What was gathered, the worst first, each text once."""
    order: tuple[Level, ...] = ("critical", "high", "medium", "low")
    seen: set[tuple[str, Path]] = set()
    for one in sorted(context.out, key=lambda d: order.index(d.level)):
        if (one.what, one.path) not in seen:
            seen.add((one.what, one.path))
            yield one

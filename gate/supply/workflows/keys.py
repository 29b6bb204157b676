"""The keys of a job or a step in two versions of a workflow: for each, what a change of it comes to.

Runs in the limited child. Keys that are not named here are compared as text and never called harmless.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from gate.dataclass import dataclass
from gate.languages.commands.versions import added_lines
from gate.supply.workflows import artifacts, values
from gate.supply.workflows.ordinary_commands import are_ordinary
from gate.supply.workflows.own_tasks import Tasks, expanded
from gate.supply.workflows.values import Action, Level, action_of, image_of
from gate.supply.yaml_data import Path, items, leaves, mapping

_QUIET: Final = frozenset(
    {
        "name",
        "run-name",
        "id",
        "timeout-minutes",
        "concurrency",
        "description",
        "author",
        "branding",
        "working-directory",
    }
)
_SHELLS: Final = frozenset({"bash", "sh", "pwsh", "powershell", "cmd", "python"})
_OPTIONS: Final = frozenset(  # of a shell: how it fails, not what it runs
    {
        "{0}",
        "-e",
        "-l",
        "-el",
        "-le",
        "-eo",
        "-leo",
        "-euo",
        "-u",
        "-x",
        "-o",
        "pipefail",
        "--login",
        "--noprofile",
        "--norc",
    }
)
_PROSE: Final = frozenset({"body", "title", "labels", "message", "description", "tags", "name"})
"""Inputs that people read."""
SCRIPTS: Final = frozenset({"script", "run", "command", "commands", "cmd", "args", "entrypoint", "post-run"})


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyDifference:
    """One thing that head says and base does not. ``what`` is ours, the rest is the change's."""

    level: Level
    what: str
    path: Path
    text: str = ""


@dataclass(slots=True)
class Context:
    """What is known of the whole file: hosts and actions that base names, and how head is started."""

    hosts: frozenset[str] = frozenset()
    actions: Mapping[str, Action] = field(default_factory=dict)
    privileged: bool = False
    """Head is started by events that bring secrets to other people's changes."""
    on_pulls: bool = False
    writers: frozenset[str] = frozenset()
    """Jobs of head whose token may publish."""
    holds: bool = False
    """The step at hand can reach a secret, or a token that may publish."""
    fresh: bool = False
    """Base does not have the job at hand."""
    secret_variables: frozenset[str] = frozenset()
    """Environment variables of the step at hand that hold a secret or the job's token."""
    publishes: bool = False
    """The job at hand hands out what others install or run."""
    guards: bool = False
    """The job or step at hand runs a security scanner: left out, it counts as passed."""
    tasks: tuple[Tasks, Tasks] = ({}, {})
    """Commands that the project gives names to, of base and of head."""
    out: list[KeyDifference] = field(default_factory=list)

    def add(self, level: Level, what: str, path: Path, text: object = "") -> None:
        """One more difference."""
        self.out.append(KeyDifference(level=level, what=what, path=path, text=str(text)[:200]))


Compare = Callable[[Any, Any, Path, Context], None]


def compare_each(
    old: Mapping[str, object],
    new: Mapping[str, object],
    path: Path,
    context: Context,
    known: Mapping[str, Compare],
) -> None:
    """Every key that differs, by the comparison that knows it."""
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        where = (*path, key)
        if key in known:
            known[key](before, after, where, context)
        elif key in _QUIET:
            context.add("low", "A name or a limit changes.", where, excerpt(after))
        elif key not in ("steps", "permissions"):
            context.add("high", "A setting changes that is not known here.", where, excerpt(after))


def compare_secrets(old: object, new: object, path: Path, context: Context) -> None:
    """Secrets that head hands to this part and base does not."""
    fresh = values.secrets_in(texts_of(new)) - values.secrets_in(texts_of(old))
    if fresh - {values.TOKEN}:
        own = not context.privileged and values.are_its_own(new, fresh - {values.TOKEN})
        level: Level = "medium" if own else "high"
        context.add(level, "A secret is handed out that was not before.", path, ", ".join(sorted(fresh)))
    elif fresh:
        context.add("low", "The job's own token is used where it was not before.", path)


def _uses(old: object, new: object, path: Path, context: Context) -> None:
    if new is None:
        return None
    before, after = action_of(str(old or "")), action_of(str(new))
    if old is not None and before.name == after.name:
        level = values.repin(before, after)
        what = "Another version of the same action." if level == "low" else "An action is pinned less firmly."
        return context.add(level, what, path, new)
    if after.name in context.actions:
        level = values.repin(context.actions[after.name], after)
        return context.add(level, "An action that base uses, too.", path, new)
    level = values.newly_used(after)
    if level == "medium" and context.holds:
        return context.add("high", "A new action where secrets are in reach.", path, new)
    what = "A third party's action that is not pinned to a commit." if level == "high" else "A new action."
    return context.add(level, what, path, new)


def _run(old: object, new: object, path: Path, context: Context) -> None:
    before, after = str(old or ""), str(new or "")
    lines = added_lines(before, after)
    if risk := values.command_risk(lines):
        return context.add(_unless_known(lines, context), f"A new command {risk}.", path, "\n".join(lines))
    if values.cannot_fail(lines) and values.checks_in([before, after]):
        return context.add("high", "A check can no longer fail.", path, "\n".join(lines))
    lost = lost_checks([before], [after], context.tasks) if new is not None else ""
    if lost:
        return context.add("high", "A command that checks something is gone.", path, lost)
    if not lines:
        return context.add("low", "Commands change in versions or comments alone.", path)
    if not context.holds or (
        not context.privileged and are_ordinary(after, frozenset(lines), context.secret_variables)
    ):
        return context.add(
            "high" if context.privileged else "medium", "A command changes.", path, "\n".join(lines)
        )
    return context.add("high", "A command changes where secrets are in reach.", path, "\n".join(lines))


def lost_checks(old: Sequence[str], new: Sequence[str], tasks: tuple[Tasks, Tasks]) -> str:
    """Tests, linters and scanners that are named no more; one that another takes the place of is not lost.
    ``tasks``: the project's own names for commands, of both sides; what they run counts like what is named.
    """
    gone, fresh = ([c for c in one if c not in other] for one, other in ((old, new), (new, old)))
    lost = values.checks_in(gone) - values.checks_in(expanded(new, tasks[1]))
    another = values.checks_in(expanded(fresh, tasks[1])) - values.checks_in(expanded(gone, tasks[0]))
    replaced = bool(another) and values.guards(new) >= values.guards(old)
    return "" if replaced else ", ".join(sorted(lost))


def _unless_known(lines: list[str], context: Context) -> Level:
    """High, except where everything comes from places that base fetches from, or from a vendor's own."""
    hosts = values.hosts_in(lines)
    new = [address for host, address in hosts.items() if host not in context.hosts]
    known = bool(hosts) and all(values.is_known_place(address) for address in new)
    return "medium" if known and not context.privileged else "high"


def _if(old: object, new: object, path: Path, context: Context) -> None:
    if new is not None and values.is_never(str(new)):
        if context.fresh:  # a template that others are made from
            return context.add("low", "It never runs.", path, new)
        return context.add("high", "It is switched off.", path, new)
    before, after = values.condition(old), values.condition(new)
    if before == after:
        return context.add("low", "A condition is written otherwise and means the same.", path, excerpt(new))
    if not before and not context.guards and not values.asks_status(after):
        return context.add("low", "It runs less often than before.", path, excerpt(new))
    if context.privileged:
        return context.add(
            "high", "When it runs changes, and it runs for other people's changes.", path, excerpt(new)
        )
    if new is None:
        return context.add("high" if context.holds else "low", "It runs always.", path, old)
    if context.guards:
        return context.add(
            "high", "When a security check runs changes: skipped, it counts as passed.", path, new
        )
    return context.add("medium", "When it runs changes.", path, new)


def _continue(_old: object, new: object, path: Path, context: Context) -> None:
    if new is None or str(new).lower() == "false":
        return context.add("low", "A failure counts again.", path)
    some = "${{" in str(new) and ("matrix." in str(new) or "inputs." in str(new))
    level: Level = "medium" if some and not context.guards else "high"
    return context.add(level, "A failure no longer counts.", path, new)


def compare_env(old: object, new: object, path: Path, context: Context) -> None:
    """Environment variables: names that steer programs, and values."""
    if not isinstance(new, dict | None) or not isinstance(old, dict | None):
        return context.add("high", "Variables that cannot be read.", path, excerpt(new))
    before, after = mapping(old), mapping(new)
    for name, value in after.items():
        if before.get(name) == value:
            continue
        if values.steers(name):
            context.add("high", "A variable decides which programs run.", (*path, name), value)
        else:
            compare_value(before.get(name), value, (*path, name), context)
    if before.keys() - after.keys():
        context.add("low", "A variable is gone.", path)
    return None


def _with(old: object, new: object, path: Path, context: Context) -> None:
    if not isinstance(new, dict | None) or not isinstance(old, dict | None):
        return context.add("high", "Inputs that cannot be read.", path, excerpt(new))
    before, after = mapping(old), mapping(new)
    for name, value in after.items():
        if before.get(name) == value:
            continue
        if (kept := artifacts.difference(name, before, after, publishes=context.publishes)) is not None:
            context.add(*kept, (*path, name), excerpt(value))
        elif name == "path" and context.publishes and "key" in after:
            _cached(str(before.get(name, "")), str(value), (*path, name), context)
        elif name.lower() in SCRIPTS:
            _run(before.get(name), value, (*path, name), context)
        elif name.lower() in ("ref", "repository"):
            level: Level = "high" if context.privileged else "medium"
            context.add(level, "Another source is checked out.", (*path, name), excerpt(value))
        elif name.lower() in _PROSE:
            context.add("low", "A text changes.", (*path, name), excerpt(value))
        else:  # an action's own input is no command
            plain = replace(context, holds=False, privileged=False)
            compare_value(before.get(name), value, (*path, name), plain)
    if before.keys() - after.keys():
        left = str(before.get("persist-credentials", "")).lower() == "false"
        stays = left and "persist-credentials" not in after
        what = "The job's token stays in the checkout." if stays else "An input is gone."
        context.add("medium" if stays else "low", what, path)
    return None


def _cached(old: str, new: str, path: Path, context: Context) -> None:
    """A cache's paths in a job that publishes: any job of the branch may write them (cache poisoning)."""
    level: Level = "high" if values.keeps_build(new) and not values.keeps_build(old) else "low"
    context.add(level, "Files of a cache that other jobs write get into what is published.", path, new)


def compare_value(old: object, new: object, path: Path, context: Context) -> None:
    """A value without a meaning of its own: only what it names can make it more than low."""
    before = [text for _, text in leaves(old)] if old is not None else []
    after = [text for _, text in leaves(new)] if new is not None else []
    fresh = [text for text in after if text not in before]
    unknown = {
        h: a
        for h, a in values.hosts_in(fresh).items()
        if h not in context.hosts and not values.is_known_place(a)
    }
    if unknown:
        return context.add("high", "An address that base does not name.", path, ", ".join(unknown.values()))
    if risk := values.command_risk(fresh):
        return context.add("high", f"A value that {risk}.", path, "\n".join(fresh))
    if (context.holds or context.privileged) and any(map(values.may_be_command, fresh)):
        return context.add(
            "high", "A value that may be a command, where secrets are in reach.", path, excerpt(new)
        )
    return context.add("low", "A value changes.", path, excerpt(new))


def _runner(old: object, new: object, path: Path, context: Context) -> None:
    had = {text for _, text in leaves(old)} if old is not None else set()
    fresh = [text for _, text in leaves(new) if text not in had] if new is not None else []
    if any("self-hosted" in text.lower() for text in fresh):
        return context.add("high", "It runs on a machine of the project's own.", path, excerpt(new))
    hosted = all(values.is_hosted(text) for text in fresh)
    return context.add("low" if hosted else "medium", "It runs on another machine.", path, excerpt(new))


def _matrix(old: object, new: object, path: Path, context: Context) -> None:
    fresh = [text for _, text in leaves(new)] if new is not None else []
    if any("self-hosted" in text.lower() for text in fresh) and "self-hosted" not in str(old).lower():
        return context.add("high", "It runs on a machine of the project's own.", path, excerpt(new))
    return compare_value(old, new, path, context)


def _container(old: object, new: object, path: Path, context: Context) -> None:
    before, after = (value if isinstance(value, dict) else {"image": value} for value in (old, new))
    if new is None:
        return context.add("medium", "It no longer runs in a container.", path)
    had, rest = (
        {k: v for k, v in side.items() if k not in ("image", "env") and not _only_asks_health(k, v)}
        for side in (before, after)
    )
    if rest != had and rest.keys() - {"ports"}:
        context.add("high", "A container gets other rights, mounts or options.", path, excerpt(rest))
    one, two = image_of(str(before.get("image") or "")), image_of(str(after.get("image") or ""))
    if one.name == two.name or "${{" in two.name:
        return context.add("low", "Another version of the same image.", path, after.get("image"))
    return context.add("medium", "Another image.", path, after.get("image"))


def _only_asks_health(key: str, value: object) -> bool:
    """``options: --health-cmd pg_isready --health-interval 10s``: how it is known that the service is up."""
    if key != "options" or not isinstance(value, str) or values.command_risk([value]):
        return False
    try:
        words = shlex.split(value)
    except ValueError:
        return False
    flags = [word for word in words if word.startswith("-")]
    return bool(flags) and all(flag.startswith("--health-") for flag in flags)


def _services(old: object, new: object, path: Path, context: Context) -> None:
    before = mapping(old)
    for name, service in mapping(new).items():
        if before.get(name) != service:
            _container(before.get(name) or {}, service, (*path, name), context)
    if isinstance(new, str) or before.keys() - mapping(new).keys():
        context.add("medium", "Services change.", path)


def _shell(_old: object, new: object, path: Path, context: Context) -> None:
    ordinary = new is None or all(_is_shell(text) for _, text in leaves(new))
    context.add("low" if ordinary else "high", "Another shell.", path, excerpt(new))


def _is_shell(text: str) -> bool:
    """A shell that runs what the step says, with options that change no more than how it fails."""
    program, *options = text.split()[:8] or [""]
    return program in _SHELLS and _OPTIONS.issuperset(options)


def compare_defaults(old: object, new: object, path: Path, context: Context) -> None:
    """``defaults.run`` of a job or of the whole file."""
    one, two = mapping(mapping(old).get("run")), mapping(mapping(new).get("run"))
    _shell(one.get("shell"), two.get("shell"), path, context)


def _needs(old: object, new: object, path: Path, context: Context) -> None:
    lost = set(map(str, items(old))) - set(map(str, items(new)))
    level: Level = "medium" if lost else "low"
    context.add(
        level,
        "It no longer waits for another job." if lost else "It waits for another job.",
        path,
        excerpt(new),
    )


def _environment(old: object, new: object, path: Path, context: Context) -> None:
    one, two = (mapping(value).get("name", value) for value in (old, new))
    level: Level = "low" if one == two else "high"
    context.add(level, "Another deployment environment, with its secrets and approvals.", path, excerpt(new))


def _inherited(_old: object, new: object, path: Path, context: Context) -> None:
    if str(new).lower() == "inherit":
        context.add("high", "Every secret is handed to another workflow.", path, "inherit")
    else:  # the names are compared by compare_secrets
        context.add("low", "What is handed to another workflow changes.", path)


def nothing(_old: object, _new: object, _path: Path, _context: Context) -> None:
    """Compared elsewhere."""


JOB: Final[Mapping[str, Compare]] = {
    "uses": _uses,
    "if": _if,
    "continue-on-error": _continue,
    "env": compare_env,
    "with": _with,
    "runs-on": _runner,
    "strategy": _matrix,
    "container": _container,
    "services": _services,
    "defaults": compare_defaults,
    "needs": _needs,
    "environment": _environment,
    "secrets": _inherited,
    "outputs": compare_value,
}
STEP: Final[Mapping[str, Compare]] = {
    "uses": _uses,
    "run": _run,
    "if": _if,
    "continue-on-error": _continue,
    "env": compare_env,
    "with": _with,
    "shell": _shell,
}


def texts_of(data: object) -> list[str]:
    """Every text below a value."""
    return [text for _, text in leaves(data)]


def excerpt(value: object) -> str:
    """A value for people, in one line, cut."""
    return ", ".join(texts_of(value))[:200] if value is not None else "(gone)"

"""Which files `gate init` would write into a repository, by what it finds there."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final, Literal

import yaml

from gate.dataclass import dataclass
from gate.errors import UsageError
from gate.project_files.settings_text import settings_text
from gate.resources import examples_dir

Forge = Literal["auto", "github", "gitlab", "none"]
PRE_COMMIT: Final = ".pre-commit-config.yaml"
WORKFLOWS: Final = ".github/workflows"
_WHOLE: Final = "gate.yml"
_SPLIT: Final = ("gate-check.yml", "gate-publish.yml")
_LARGEST: Final = 1 << 20
_HOOK: Final = """\
  - repo: local
    hooks:
      - id: gate-fast
        name: gate, fast look
        entry: gate check --staged --fast --allow-empty
        language: system
        pass_filenames: false
        require_serial: true
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A file with its whole text. ``why``: what in the repository asks for it. ``adds``: the file is there,
    and its text stays as it is, with something behind it.
    """

    path: str
    text: str
    why: str
    adds: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What to write, and in one line each what was left alone and why. ``forge``: whose workflow it is."""

    files: tuple[Written, ...]
    left: tuple[str, ...]
    forge: Forge


def make_plan(root: Path, *, forge: Forge = "auto", forks: bool = False, hook: bool = False) -> Plan:
    """The files for the repository at ``root``. ``forks``: pull requests come from strangers, so the workflow
    is split in two. ``hook``: the pre-commit entry also where there is no configuration of it yet.

    Raises UsageError for a file that cannot be read.
    """
    files: list[Written] = []
    left: list[str] = []
    if _has_tool_table(root):
        left.append("gate.toml: pyproject.toml has [tool.gate] already")
    else:
        files.append(
            Written(path="gate.toml", text=settings_text(), why="the settings, all at their defaults")
        )
    kind, why = (forge, f"--forge {forge}") if forge != "auto" else _forge_of(root)
    files += _workflows(root, kind, why, forks=forks, left=left)
    files += _hook(root, wanted=hook, left=left)
    return Plan(files=tuple(files), left=tuple(left), forge=kind)


def _has_tool_table(root: Path) -> bool:
    text = _read(root / "pyproject.toml")
    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        return False
    return isinstance(tool, dict) and "gate" in tool


def _workflows(root: Path, kind: Forge, why: str, *, forks: bool, left: list[str]) -> list[Written]:
    examples = examples_dir()
    if kind == "github":
        there = [name for name in _SPLIT if (root / WORKFLOWS / name).is_file()]
        names = _SPLIT if forks or there else (_WHOLE,)
        if there and not forks:
            why = f"there is {there[0]}, half of the form in two"
        elif forks and (root / WORKFLOWS / _WHOLE).is_file():
            left.append(f"{WORKFLOWS}/{_WHOLE}: the two files replace it; remove it")
        return [
            Written(
                path=f"{WORKFLOWS}/{name}",
                text=(examples / "workflows" / name).read_text(encoding="utf-8"),
                why=why,
            )
            for name in names
        ]
    if kind == "gitlab":
        text = (examples / "gitlab" / "gate.gitlab-ci.yml").read_text(encoding="utf-8")
        return [Written(path="gate.gitlab-ci.yml", text=text, why=why)]
    left.append(f"the workflow: {why}")
    return []


def _forge_of(root: Path) -> tuple[Forge, str]:
    """Where the repository lives, and by what that was told."""
    if (root / ".github").is_dir():
        return "github", "there is .github"
    if (root / ".gitlab-ci.yml").is_file():
        return "gitlab", "there is .gitlab-ci.yml"
    config = _read(root / ".git" / "config")
    for host, kind in (("github.", "github"), ("gitlab.", "gitlab")):
        if any(host in line for line in config.splitlines() if line.strip().startswith("url")):
            return ("github" if kind == "github" else "gitlab"), f"a remote is on {kind}"
    return "none", "no forge was found; --forge github or --forge gitlab says which"


def _hook(root: Path, *, wanted: bool, left: list[str]) -> list[Written]:
    text = _read(root / PRE_COMMIT)
    if not text:
        if wanted:
            return [Written(path=PRE_COMMIT, text=f"repos:\n{_HOOK}", why="--pre-commit")]
        left.append(f"{PRE_COMMIT}: there is none; --pre-commit writes one")
        return []
    longer = text.rstrip("\n") + "\n" + _HOOK
    before, after = _hooks(text), _hooks(longer)
    if before is None or "gate" in before or "gate-fast" in before:
        why = "it has the hook already" if before is not None else "it cannot be read as its kind of YAML"
        left.append(f"{PRE_COMMIT}: {why}")
        return []
    if after != [*before, "gate-fast"]:  # its list does not stand at the end, or is laid out in another way
        left.append(f"{PRE_COMMIT}: add this to `repos` by hand:\n{_HOOK.rstrip()}")
        return []
    return [Written(path=PRE_COMMIT, text=longer, why="it is there: one hook behind the others", adds=True)]


def _hooks(text: str) -> list[str] | None:
    """The ids of all hooks of a pre-commit configuration; None for anything else."""
    try:
        found = yaml.safe_load(text)
        return [str(hook["id"]) for repo in found["repos"] for hook in repo["hooks"]]
    except (yaml.YAMLError, TypeError, KeyError, RecursionError):
        return None


def _read(path: Path) -> str:
    """A small text file; empty where there is none. Raises UsageError."""
    if not path.is_file():
        return ""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", advice="Make it readable.") from error
    return data.decode("utf-8", "replace") if len(data) <= _LARGEST else ""

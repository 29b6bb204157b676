"""Which paths give away secrets or run code later: rules/sensitive-paths.toml, and who owns them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from typing import Final

from gate.regex import regex
from gate.resources import rules_dir

_OWNERS: Final = (
    (
        regex(r"\.ssh(?:/|\Z)"),
        frozenset(("ssh", "git", "scp", "sftp", "ssh-add", "ssh-keygen", "rsync")),
    ),
    (
        regex(r"\.git-credentials\Z|\.config/git|\.gitconfig\Z|\.netrc\Z"),
        frozenset(
            (
                "git",
                "git-remote-http",
                "git-remote-https",
                "git-credential-store",
                "curl",
                "wget",
                "pip",
                "uv",
                "npm",
            )
        ),
    ),
    (regex(r"\.npmrc\Z|\.yarnrc"), frozenset(("npm", "node", "npx", "yarn", "pnpm"))),
    (regex(r"\.docker/"), frozenset(("docker", "podman", "buildah"))),
    (regex(r"\.kube/"), frozenset(("kubectl", "helm"))),
    (regex(r"\.aws/"), frozenset(("aws",))),
    (regex(r"\.pypirc\Z"), frozenset(("twine",))),
    (regex(r"\.gnupg(?:/|\Z)"), frozenset(("gpg", "gpg-agent", "git"))),
    (regex(r"\.(?:bash|zsh|python|node_repl)_history\Z"), frozenset(("bash", "zsh"))),
    (regex(r"\.(?:bashrc|profile|bash_profile|zshrc|zshenv)\Z"), frozenset(("sh", "bash", "zsh"))),
)

_LATER: Final = (
    ("settings of git", regex(r"~/\.gitconfig\Z|~/\.config/git/config\Z")),
    (
        "settings of a package installer",
        regex(r"~/\.(?:config/)?pip/pip\.conf\Z|~/\.(?:npmrc|pypirc|yarnrc)\Z"),
    ),
    (
        "settings of a coding assistant",
        regex(r"~/\.(?:claude|cursor|codex|gemini|copilot)/|~/\.claude\.json\Z"),
    ),
    ("job queue", regex(r"/var/spool/(?:at|cron)")),
    (
        "kernel or device set-up",
        regex(r"/etc/(?:udev|modules|modprobe\.d|sysctl)|/(?:usr/)?lib/(?:udev|modules)/"),
    ),
)


@cache
def _groups() -> dict[str, tuple[tuple[str, re.Pattern[str]], ...]]:
    with (rules_dir() / "sensitive-paths.toml").open("rb") as file:
        data = tomllib.load(file)
    return {
        group: tuple((entry["what"], re.compile(entry["pattern"])) for entry in entries)
        for group, entries in data.items()
    }


_PERSONAL: Final = regex(r"~/(Documents|Desktop|Downloads|Pictures|Music|Videos|Movies)(/|$)")


def credential(path: str) -> str | None:
    """What secret lies at a path (its stable name, ``~/.ssh/id_rsa``), or None."""
    return _match("credential", path.rstrip("/"))


def personal(path: str) -> bool:
    """True for what a person keeps in a home (``~/Documents/notes.txt``), where no program has business."""
    return _PERSONAL.match(path) is not None


def persistence(path: str) -> str | None:
    """What would run code later from this path, or None."""
    for what, pattern in _LATER:
        if pattern.search(path):
            return what
    return _match("persistence", path.removeprefix("tree:"))


def owned(path: str, program: str) -> bool:
    """True when this program reads that file as its ordinary business."""
    return any(pattern.search(path) and program in programs for pattern, programs in _OWNERS)


def _match(group: str, path: str) -> str | None:
    for what, pattern in _groups()[group]:
        if pattern.search(path):
            return what
    return None

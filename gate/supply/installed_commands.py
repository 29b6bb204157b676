"""The commands that a package puts on the user's path when it is installed, as its manifest names them."""

from __future__ import annotations

import configparser
from collections.abc import Iterator, Mapping
from typing import Any, Final

KNOWN: Final = frozenset({
    "apt", "apt-get", "awk", "aws", "az", "bash", "bun", "bundle", "bunx", "cargo", "cat", "chmod",
    "cmake", "composer", "conda", "corepack", "cp", "curl", "cut", "dash", "deno", "docker",
    "docker-compose", "dpkg", "env", "find", "gcc", "gcloud", "gem", "gh", "git", "go", "gpg", "grep",
    "gunzip", "gzip", "helm", "id", "java", "kubectl", "less", "ln", "login", "ls", "make", "man",
    "mkdir", "mv", "mvn", "mypy", "nc", "node", "npm", "npx", "nvm", "openssl", "passwd", "perl", "php",
    "pip", "pip3", "pipx", "pnpm", "pnpx", "podman", "poetry", "ps", "pwsh", "pytest", "python",
    "python3", "rm", "rsync", "ruby", "rustc", "scp", "sed", "sh", "ssh", "ssh-add", "ssh-agent",
    "ssh-keygen", "su", "sudo", "systemctl", "tar", "tee", "terraform", "top", "touch", "tox", "tsc",
    "twine", "unzip", "uv", "uvx", "vi", "vim", "virtualenv", "wget", "which", "whoami", "xargs", "yarn",
    "zip", "zsh",
})  # fmt: skip
"""Programs that people, build scripts and agents call by their bare name."""


def of_pyproject(data: Mapping[str, Any]) -> dict[str, str]:
    """``[project.scripts]``, ``[project.gui-scripts]`` and Poetry's: what each command calls."""
    project, poetry = data.get("project", {}), data.get("tool", {}).get("poetry", {})
    tables = (poetry.get("scripts", {}), project.get("gui-scripts", {}), project.get("scripts", {}))
    named = str(project.get("name") or poetry.get("name") or "")
    return _foreign(named, {str(k): str(v) for table in tables for k, v in table.items()})


def of_setup_cfg(parser: configparser.RawConfigParser) -> dict[str, str]:
    """``console_scripts`` and ``gui_scripts`` of ``setup.cfg``."""
    section = "options.entry_points"
    lines = [
        line
        for group in ("gui_scripts", "console_scripts")
        for line in parser.get(section, group, fallback="").splitlines()
    ]
    pairs = (line.partition("=") for line in lines if "=" in line)
    named = parser.get("metadata", "name", fallback="")
    return _foreign(named, {name.strip(): value.strip() for name, _, value in pairs})


def of_package_json(data: Mapping[str, Any]) -> dict[str, str]:
    """``bin`` of ``package.json``; a text alone is a command of the package's own name."""
    made = data.get("bin")
    if not isinstance(made, Mapping):
        return {}
    return _foreign(str(data.get("name") or ""), {str(k): str(v) for k, v in made.items()})


def shadowing(head: Mapping[str, str] | None, base: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    """New commands under the name of a known program, with what they call."""
    for name, called in (head or {}).items():
        if name.lower() in KNOWN and name not in (base or {}):
            yield name, called


def _foreign(named: str, commands: Mapping[str, str]) -> dict[str, str]:
    """Without the command that is the package's own name: ``pip`` of the project ``pip``."""
    own = named.rpartition("/")[2].lower()
    return {name: called for name, called in commands.items() if name.lower() != own}

"""Believable, unusable secrets, made fresh for every check: whoever touches one is looking for secrets."""

from __future__ import annotations

from typing import Final

from gate.dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """One planted secret. ``name`` is for people (``aws-credentials``). It is a file (``path``,
    absolute inside the sandbox, with ``content``) or an environment variable (``env``), and
    ``secrets`` are the unique strings to look for wherever data can leave. ``named``: a variable that
    is planted because the change names it.
    """

    name: str
    secrets: tuple[str, ...]
    path: str | None = None
    content: bytes = b""
    env: str | None = None
    named: bool = False


DATABASE_FILE: Final = "/tmp/app-{}.db"  # noqa: S108 - inside the sandbox
"""What the planted ``DATABASE_URL`` names, with its secret: applications open it."""
DATABASE_SCHEME: Final = "sqlite:///"
"""What stands before it in the variable."""
DECOY_FILES: Final = {
    "aws-credentials": ".aws/credentials",
    "ssh-key": ".ssh/id_rsa",
    "netrc": ".netrc",
    "npmrc": ".npmrc",
    "pypirc": ".pypirc",
    "git-credentials": ".git-credentials",
    "kubeconfig": ".kube/config",
    "docker-config": ".docker/config.json",
    "dotenv": ".env",
    "browser-cookies": ".config/chromium/Default/Cookies",
}
"""Planted files by the canary's name, as paths below the home folder of every sandbox."""

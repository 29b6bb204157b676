"""Believable, unusable secrets, made fresh for every check: whoever touches one is looking for secrets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """One planted secret. ``name`` is for people (``aws-credentials``). It is a file (``path``,
    absolute inside the sandbox, with ``content``) or an environment variable (``env``), and
    ``secrets`` are the unique strings to look for wherever data can leave.
    """

    name: str
    secrets: tuple[str, ...]
    path: str | None = None
    content: bytes = b""
    env: str | None = None

"""Which npm registry an installation asks: that of whoever runs gate, never the tree's.

``npm_config_registry``, else the line of the user's or the machine's .npmrc, else the public one. Only that
line is read: what else those files hold (tokens) is nobody's business here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gate.dataclass import dataclass
from gate.errors import InconclusiveError
from gate.sandbox.dependencies.index import configured_host
from gate.sandbox.egress.rules import ConfiguredHost

USUAL: Final = "https://registry.npmjs.org"
_SAME: Final = frozenset(("registry.npmjs.org", "registry.yarnpkg.com"))
"""Hosts in locks that mean: whatever registry is configured."""
_MOST_CERTIFICATES: Final = 4 << 20


@dataclass(frozen=True, kw_only=True)
class Registry:
    """``url`` without a slash at the end. ``certificates``: PEM that it may be checked with, too."""

    url: str = USUAL
    certificates: bytes = b""

    @property
    def host(self) -> ConfiguredHost:
        """Its place. Raises UsageError for one that cannot be used."""
        return configured_host(self.url, inside=False)

    def address(self, locked: str) -> str:
        """The address of an archive for which a lock names this one; empty for the usual one."""
        parts = urlsplit(locked)
        return "" if parts.hostname in _SAME else locked


def read(environ: Mapping[str, str] | None = None) -> Registry:
    """The registry of this machine. Raises InconclusiveError for one with a password in its address."""
    environ = os.environ if environ is None else environ
    named = next((environ[n] for n in environ if n.lower() == "npm_config_registry" and environ[n]), "")
    url = (named or _from_files(environ) or USUAL).rstrip("/")
    if not url.startswith(("https://", "http://")) or "@" in urlsplit(url).netloc:
        raise InconclusiveError(
            "the npm registry of this machine's configuration cannot be used",
            advice="Set npm_config_registry for gate to an http(s) address without a password.",
        )
    more = environ.get("NODE_EXTRA_CA_CERTS") or ""
    try:
        certificates = Path(more).read_bytes()[:_MOST_CERTIFICATES] if more else b""
    except OSError:
        certificates = b""
    return Registry(url=url, certificates=certificates)


def _from_files(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or str(Path.home())
    for path in (Path(home, ".npmrc"), Path("/etc/npmrc"), Path("/usr/etc/npmrc")):
        try:
            lines = path.read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        for line in lines:
            key, equals, value = line.partition("=")
            if equals and key.strip() == "registry":
                return value.strip().strip("\"'")
    return ""

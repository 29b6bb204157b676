"""Which package index an installation asks: the one of this machine's pip configuration, never the tree's.

Read by pip itself, isolated, in ``/``: its global, user and environment configuration, in its own order.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gate import process
from gate.dataclass import dataclass
from gate.errors import InconclusiveError, UsageError
from gate.regex import regex
from gate.sandbox.dependencies import layers
from gate.sandbox.dependencies.layer_store import LayerStore
from gate.sandbox.egress.rules import ConfiguredHost, RefusedError
from gate.sandbox.images.runtimes import cache as cache_folder

USUAL: Final = "https://pypi.org/simple"
_SECONDS: Final = 20.0
_LINE: Final = regex(r"^(?P<table>[\w:-]+)\.(?P<key>[\w-]+)=(?P<value>'.*'|\".*\")$")
_ORDER: Final = ("global", "install", ":env:")
"""What pip prefers comes later (pip's documentation, "Configuration")."""
_MOST_CERTIFICATES: Final = 4 << 20
_KEPT: Final = ("HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS")


@dataclass(frozen=True, kw_only=True)
class Index:
    """``url`` and ``more``: simple-repository addresses. ``certificates``: PEM that the index's certificate
    is checked with instead of pip's own, empty for those.
    """

    url: str = USUAL
    more: tuple[str, ...] = ()
    certificates: bytes = b""

    def hosts(self) -> tuple[ConfiguredHost, ...]:
        """Hosts and ports of all addresses. Raises UsageError for one that cannot be used."""
        return tuple(configured_host(address, inside=False) for address in (self.url, *self.more))

    @property
    def endpoints(self) -> str:
        """The addresses without what may be secret in them, for a digest and for people."""
        return " ".join(f"{p.host}:{p.port}" for p in self.hosts())

    @property
    def has_secret(self) -> bool:
        """True where an address holds a name and password."""
        return any("@" in urlsplit(address).netloc for address in (self.url, *self.more))


def configured_host(text: str, *, inside: bool) -> ConfiguredHost:
    """A place of this machine's configuration. Raises UsageError where that is none."""
    try:
        return ConfiguredHost.of(text, inside=inside)
    except RefusedError as error:
        raise UsageError(
            f"cannot install from {re.sub('//[^/@]*@', '//', text)}: {error}",
            advice="Give a host name or address, with a port where it is not 443.",
        ) from error


def read(environ: Mapping[str, str] | None = None) -> Index:
    """The index of this machine. ``environ``: whose variables count (the process's own).

    Addresses that no network leads to (``file:`` indexes, find-links) are left out. Raises InconclusiveError.
    """
    environ = os.environ if environ is None else environ
    kept = {name: value for name, value in environ.items() if name in _KEPT or name.startswith("PIP_")}
    return from_lines(_config(tuple(sorted(kept.items()))).splitlines(), environ)


@cache
def _config(environ: tuple[tuple[str, str], ...]) -> str:
    """What ``pip config list`` says. Asking pip takes most of a second, so its answer is kept while none of
    the files changes that it could come from; one with a password in it is not.
    """
    store = LayerStore(cache_folder("pip"))
    key = layers.name_of(f"pip 1\n{environ}\n{sys.executable}\n{_files(dict(environ))}")
    known = store.recall(key)
    if known is not None:
        return known.decode("utf-8", "replace")
    text = _ask_pip(environ)
    if "@" not in text:
        store.remember(key, text.encode("utf-8", "replace"))
    return text


def _files(environ: Mapping[str, str]) -> list[str]:
    """The files that pip's configuration can come from (pip's documentation, "Location"), as they are now."""
    home = environ.get("HOME") or str(Path.home())
    shared = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")
    own_folder = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    paths = [f"{folder}/pip/pip.conf" for folder in (*shared, own_folder)]
    paths += ["/etc/pip.conf", f"{home}/.pip/pip.conf", f"{sys.prefix}/pip.conf"]
    if environ.get("PIP_CONFIG_FILE"):
        paths.append(environ["PIP_CONFIG_FILE"])
    found = []
    for path in paths:
        try:
            told = Path(path).stat()
            found.append(f"{path} {told.st_ino} {told.st_size} {told.st_mtime_ns} {told.st_ctime_ns}")
        except OSError:
            found.append(f"{path} -")
    return found


def _ask_pip(environ: tuple[tuple[str, str], ...]) -> str:
    done = process.run(
        [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "config", "list"],
        deadline=_SECONDS,
        cwd=Path("/"),
        env=dict(environ),
    )
    if not done.ok:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise InconclusiveError(
            f"pip cannot tell its configuration: {said}",
            advice="sandbox.setup needs pip beside gate: python3 -m pip install pip",
        )
    return done.stdout.decode(errors="replace")


def from_lines(lines: Iterable[str], environ: Mapping[str, str]) -> Index:
    """From what ``pip config list`` says (``global.index-url='https://...'``)."""
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        match = _LINE.match(line.strip())
        if match is not None:
            found.setdefault(match["table"], {})[match["key"]] = str(ast.literal_eval(match["value"]))
    merged: dict[str, str] = {}
    for table in _ORDER:
        merged |= found.get(table, {})
    more = [address for address in merged.get("extra-index-url", "").split() if _reachable(address)]
    more += _uv_more(environ) if "index-url" not in merged and not more else []
    url = merged.get("index-url") or _uv_default(environ) or USUAL
    if not _reachable(url):
        raise InconclusiveError(
            "the package index of this machine's pip configuration is no http(s) one",
            advice="Set PIP_INDEX_URL for gate to one that is.",
        )
    certificates = merged.get("cert") or environ.get("PIP_CERT") or environ.get("REQUESTS_CA_BUNDLE") or ""
    certificates = certificates or environ.get("SSL_CERT_FILE") or ""
    return Index(url=url, more=tuple(more), certificates=_read(certificates) if certificates else b"")


def _uv_default(environ: Mapping[str, str]) -> str:
    """The index that uv's variables name, for machines where pip is not configured."""
    return _without_name(environ.get("UV_DEFAULT_INDEX", "")) or environ.get("UV_INDEX_URL", "")


def _uv_more(environ: Mapping[str, str]) -> list[str]:
    words = f"{environ.get('UV_INDEX', '')} {environ.get('UV_EXTRA_INDEX_URL', '')}".split()
    return [address for word in words if _reachable(address := _without_name(word))]


def _without_name(word: str) -> str:
    """In uv's notation an index may be named ``NAME=ADDRESS``."""
    name, equals, address = word.partition("=")
    return address if equals and "/" not in name else word


def _reachable(address: str) -> bool:
    return address.startswith(("https://", "http://"))


def _read(path: str) -> bytes:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InconclusiveError(
            f"cannot read the certificates that pip is configured with: {error.strerror}",
            advice="Correct `cert` in pip's configuration.",
        ) from error
    if len(data) > _MOST_CERTIFICATES:
        raise InconclusiveError(
            "the certificates that pip is configured with are too many", advice="Give a bundle of its own."
        )
    return data

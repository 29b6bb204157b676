"""Packages of a project that says nowhere what it needs: told from what its files import.

A name of a module is no name of a package: whoever imports ``request`` would get what a stranger published
under it. So only the most used packages are taken (rules/packages/pypi.txt); the rest stays missing, and is
told as missing.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Final

from packaging.utils import canonicalize_name

from gate.resources import rules_dir
from gate.supply.lookalike import is_known

_MOST: Final = 60
"""Packages of one project."""
_NAMESPACES: Final = frozenset(("google", "azure", "zope", "backports"))
"""Modules that many distributions share: which one is meant, the first part of the name does not say."""
_OLD: Final = frozenset(("distutils", "imp", "asyncore", "asynchat", "smtpd", "cgi", "telnetlib", "pipes"))
"""Modules that the standard library had, and no distribution should bring back."""
_OWN: Final = frozenset(("common", "config", "lib", "tools", "utils"))
"""What projects call modules of their own, which may be kept out of the repository."""


@cache
def distributions() -> dict[str, str]:
    """Modules whose distribution has another name."""
    text = (rules_dir() / "packages" / "python-modules.toml").read_text("utf-8")
    return {module: str(name) for module, name in tomllib.loads(text).items()}


def distribution_of(module: str) -> str:
    """The canonical name of the distribution that brings a top-level module, were it a usual one."""
    return canonicalize_name(distributions().get(module, module))


def packages_of(modules: Iterable[str]) -> tuple[str, ...]:
    """Names of the packages that top-level ``modules`` come from, sorted; of those that many use."""
    foreign = {m for m in modules if m not in sys.stdlib_module_names} - _NAMESPACES - _OLD - _OWN
    names = {distribution_of(module) for module in foreign}
    return tuple(sorted(name for name in names if is_known(name, "pypi"))[:_MOST])

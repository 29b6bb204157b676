"""Which settings file the input ``config`` means: one at base, or one of another repository's named commit.

Never a file of the checkout: that is the change's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gate.errors import UsageError
from gate.github.interface import Api, repository
from gate.github.publishing.base_files import ApiTree
from gate.model.change import Tree
from gate.regex import regex

_ELSEWHERE: Final = regex(r"([\w.-]+/[\w.-]+)@([0-9a-f]{40}(?:[0-9a-f]{24})?):(.+)", re.ASCII)


def chosen(config: str, base: Tree, api: Callable[[], Api]) -> tuple[Tree, tuple[str, ...], str]:
    """(tree, names to look for in it, words for where that is) for ``gate.settings.load``.

    ``config`` empty: the usual names at base. Raises UsageError when a file that is named is not there.
    """
    if not config:
        return base, (), "base"
    found = _ELSEWHERE.fullmatch(config)
    if found is None and "@" in config and ":" in config:
        raise UsageError(
            f"the input config is neither a path nor owner/repo@sha:path: {ascii(config)[:120]}",
            advice="Name the commit in full: a branch or tag could be moved.",
        )
    if found is None:
        tree, path, where = base, config.removeprefix("./"), "base"
    else:
        repo, commit, path = found.groups()
        repository(repo)
        tree, where = ApiTree(api(), repo, commit), f"{repo}@{commit[:12]}"
    try:
        tree.read(path)
    except KeyError as error:
        raise UsageError(
            f"there is no settings file {ascii(path)[:120]} at {where}",
            advice="The input config names a file of the base commit, or owner/repo@sha:path.",
        ) from error
    return tree, (path,), where

"""Losses that mean nothing in this tree: nobody listens, or every name is escaped. Texts are searched."""

from __future__ import annotations

from typing import Final

from gate.languages.path_roles import is_test_code
from gate.model.change import Tree
from gate.protections.bulk import ABOUT, LISTENERS
from gate.protections.traits import BY_ENDING, PAST
from gate.protections.unit_losses import Loss

_PROGRAMS: Final = (".py", ".rb", ".php", ".js", ".ts", ".mjs", ".java", ".kt", ".cs")
_MOST: Final = 2_000
_LONGEST: Final = 200_000


def is_moot(loss: Loss, tree: Tree) -> bool:
    """Do all templates of head have an ending for which there is escaping; does nobody hear of a save?"""
    if loss.key.startswith(PAST):
        return not _is_heard(tree)
    if not loss.key.startswith(BY_ENDING):
        return False
    endings = tuple(f".{one}" for one in loss.key.removeprefix(BY_ENDING).split())
    templates = [e.path for e in tree.entries() if _is_template(e.path)]
    return all(path.lower().endswith(endings) for path in templates)


def _is_heard(tree: Tree) -> bool:
    """Does something of the tree that keeps a record listen to each save?"""
    paths = [e.path for e in tree.entries() if e.path.endswith(_PROGRAMS) and e.size <= _LONGEST]
    paths = [path for path in paths if not is_test_code(path)][:_MOST]
    texts = ((path, data.decode("utf-8", "replace")) for path, data in tree.read_many(tuple(paths)))
    return any(LISTENERS.search(text) and ABOUT.search(f"{path} {text}") for path, text in texts)


def _is_template(path: str) -> bool:
    folders = path.lower().split("/")[:-1]
    return not is_test_code(path) and (
        path.endswith((".j2", ".jinja", ".jinja2", ".tmpl")) or bool({"templates", "views"} & {*folders})
    )

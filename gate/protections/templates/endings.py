"""Templates under another ending, for which the engine does not escape.

Jinja's ``select_autoescape``, Flask, Tera and Askama escape by the name of a template: ``index.html`` is
escaped, ``index.html.j2`` is not. No ``|safe`` comes, no setting goes, and every value is written as it is.
Pure but for what is read of the two trees; texts are searched, never run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.model.change import Change, ChangedFile, Tree
from gate.protections.unit_losses import Loss

_ESCAPED: Final = (".html", ".htm", ".xml", ".xhtml", ".svg")
_PROGRAMS: Final = (".py", ".rs")
_PAGES: Final = ("</", "<!doctype", "<br", "<p>", "<div", "<td")
_ALWAYS: Final = (
    "autoescape=True",
    "autoescape = True",
    "default=True",
    "autoescape=lambda",
    "autoescape_on(vec",
)
_MOST: Final = 600
_LONGEST: Final = 200_000


@dataclass(frozen=True, slots=True)
class _Engine:
    """What in a program says that an engine escapes by endings, and which it knows."""

    sign: str
    endings: tuple[str, ...]


_ENGINES: Final = (
    _Engine("select_autoescape(", (".html", ".htm", ".xml")),
    _Engine("from flask", (".html", ".htm", ".xml", ".xhtml", ".svg")),
    _Engine("import flask", (".html", ".htm", ".xml", ".xhtml", ".svg")),
    _Engine("Tera::new", (".html", ".htm", ".xml")),
    _Engine("Template)]", (".html", ".htm", ".svg", ".xml", ".j2", ".jinja", ".jinja2", ".rinja")),
)


def unescaped_templates(change: Change, base: Tree, head: Tree) -> Iterator[Loss]:
    """Pages that had an escaped ending at base and have another at head."""
    moved = [(file, old) for file in change.files if (old := _before(file, change))]
    if not moved:
        return
    engines = [*_engines(head)]
    if not engines or not [*_engines(base)]:
        return
    pages = dict(head.read_many(tuple(file.path for file, _ in moved)))
    for file, old in moved:
        text = pages.get(file.path, b"")[:_LONGEST].decode("utf-8", "replace")
        value = text.find("{{")
        known = any(file.path.lower().endswith(one.endings) for one in engines)
        if known or value < 0 or not any(one in text.lower() for one in _PAGES):
            continue
        yield Loss(
            how="weakened",
            family="values of a template that are escaped by its ending",
            path=file.path,
            line=text.count("\n", 0, value) + 1,
            unit="",
            before=(old,),
            before_at=old,
            after=f"{file.path}: not escaped",
        )


def _before(file: ChangedFile, change: Change) -> str:
    """The page of base that a template with another ending was; empty where it was none, or still is one."""
    if file.binary or file.status not in ("added", "renamed") or file.path.lower().endswith(_ESCAPED):
        return ""
    if file.old_path and file.old_path.lower().endswith(_ESCAPED):
        return file.old_path
    gone = {one.path for one in change.files if one.status == "deleted"}
    gone |= {one.old_path for one in change.files if one.status == "renamed" and one.old_path}
    name = PurePosixPath(file.path).name
    for path in sorted(gone):
        old = PurePosixPath(path)
        same = name.startswith((f"{old.name}.", f"{old.stem}.")) and old.suffix.lower() in _ESCAPED
        if same and ("templates" in PurePosixPath(file.path).parts or str(old.parent) in file.path):
            return path
    return ""


def _engines(tree: Tree) -> Iterator[_Engine]:
    """The engines of a tree that escape by endings, with those that a program names itself."""
    paths = [e.path for e in tree.entries() if e.path.endswith(_PROGRAMS) and e.size <= _LONGEST][:_MOST]
    found: list[_Engine] = []
    for _, data in tree.read_many(tuple(paths)):
        text = data.decode("utf-8", "replace")
        for engine in _ENGINES:
            at = text.find(engine.sign)
            if at < 0:
                continue
            if any(one in text for one in _ALWAYS):
                return  # somebody escapes whatever the name is
            if engine.sign.startswith("select_autoescape"):
                named = _named(text[at : at + 300].partition(")")[0])
                found.append(_Engine(engine.sign, named or engine.endings))
            else:
                found.append(engine)
    if any(one.sign.startswith("select_autoescape") for one in found):
        found = [one for one in found if one.sign.startswith("select_autoescape")]
    yield from found


def _named(call: str) -> tuple[str, ...]:
    """The endings that are written in a call."""
    quoted = call.replace("'", '"').split('"')[1::2]
    return tuple(f".{one.lstrip('.').lower()}" for one in quoted if 0 < len(one) < 20)

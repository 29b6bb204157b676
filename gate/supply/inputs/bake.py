"""Named build contexts as inputs: what stands in for the images that a Dockerfile names.

``docker-bake.hcl`` and ``.json``, ``additional_contexts`` of compose. A context called ``python:3.12`` takes
the place of ``FROM python:3.12``, and the Dockerfile stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from gate.languages import hcl
from gate.supply.inputs.images import SYNTAX_ARGUMENT, dockerfile, frontend, image
from gate.supply.inputs.images import compose as services_of
from gate.supply.inputs.model import Input, Inputs
from gate.supply.inputs.text import json_table, table_of, text_of, texts_of, yaml_table

if TYPE_CHECKING:
    from tree_sitter import Node

_IMAGE: Final = "docker-image://"
_OWN: Final = ("target:", "service:", "oci-layout:")


def stand_in(name: str, where: str) -> Input | None:
    """One context. Where its name is an image's, what stands behind it is another one (``actual``)."""
    if not where or where.startswith(_OWN) or "${" in where:
        return None
    named = image(name) if any(sign in name for sign in ":/.") else None
    if where.startswith(_IMAGE):
        got = image(where.removeprefix(_IMAGE), name)
        known = {got.where.rpartition("/")[2]: got} if named is None else {}
        other = named is not None and named.where != got.where
        other = other or (name.lower() in known and "/library/" not in got.where)
        return _other(got, got.where.removeprefix("oci://") if other else "")
    if "://" in where or where.startswith("git@"):
        kind = "vcs" if ".git" in where or where.startswith("git") else "url"
        return Input(name=name, kind=kind, where=where, actual=where if named else "")  # type: ignore[arg-type]
    # A folder is the project's own; it is told where it takes an image's place.
    return Input(name=name, kind="path", where=where, actual=where) if named else None


def _other(one: Input, actual: str) -> Input:
    return Input(
        name=one.name,
        kind=one.kind,
        where=one.where,
        version=one.version,
        archives=one.archives,
        actual=actual,
    )


def contexts(table: Mapping[str, object] | list[str]) -> Iterator[Input]:
    """A table of contexts, or a list of ``name=where``."""
    pairs = (one.partition("=")[::2] for one in table) if isinstance(table, list) else table.items()
    for name, where in pairs:
        if one := stand_in(name, text_of(where)):
            yield one


def build(table: Mapping[str, object]) -> Iterator[Input]:
    """What one build says beside its Dockerfile: contexts, a Dockerfile in line, images in arguments."""
    for key in ("contexts", "additional_contexts"):
        value = table.get(key)
        yield from contexts(texts_of(value) if isinstance(value, list) else table_of(value))
    for key in ("dockerfile-inline", "dockerfile_inline"):
        yield from dockerfile(text_of(table.get(key))).inputs
    where = text_of(table.get("context"))
    if "://" in where and "${" not in where:
        yield Input(name="context", kind="vcs", where=where)
    for name, value in table_of(table.get("args")).items():
        if (
            (name.lower().endswith("image") or name == SYNTAX_ARGUMENT)
            and (said := text_of(value))
            and "$" not in said
            and " " not in said
        ):
            is_frontend = name == SYNTAX_ARGUMENT
            yield frontend(said) if is_frontend else image(said, f"args.{name}")


def bake(text: str) -> Inputs:
    """docker-bake.hcl or docker-bake.json; targets that others inherit from count like every other."""
    stripped = text.lstrip()
    targets = _json(text) if stripped.startswith("{") else _hcl(text)
    found = [one for target in targets for one in build(target)]
    return Inputs(kind="images", inputs=tuple(dict.fromkeys(found)))


def _json(text: str) -> Iterator[Mapping[str, object]]:
    for target in table_of(json_table(text).get("target")).values():
        yield table_of(target)


def _hcl(text: str) -> Iterator[Mapping[str, object]]:
    for words, body in hcl.blocks(hcl.parse(text.encode("utf-8", "replace"))):
        if words[0] == "target":
            yield {name: _value(expression) for name, expression in hcl.attributes(body)}


def _value(node: Node) -> object:
    """A plain text, or a table of plain texts; everything else is nothing."""
    table: dict[str, str] = {}
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == "object_elem" and len(one.named_children) > 1:
            table[hcl.text_of(one.named_children[0])] = hcl.text_of(one.named_children[-1])
        elif one.type in ("string_lit", "heredoc_template") and not table:
            said = hcl.text_of(one)
            if one.type == "heredoc_template":
                said = "\n".join(said.splitlines()[1:-1])
            return said
        else:
            waiting.extend(reversed(one.named_children))
    return table


def compose(text: str) -> Inputs:
    """A compose file: the images of its services, and what stands in for images where they are built."""
    services = table_of(yaml_table(text).get("services")).values()
    said = [one for service in services for one in build(table_of(table_of(service).get("build")))]
    return Inputs(kind="images", inputs=tuple(dict.fromkeys((*services_of(text).inputs, *said))))

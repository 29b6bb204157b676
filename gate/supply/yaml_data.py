"""YAML as plain data with line numbers. Runs in the limited child only.

Every scalar is a string, as written: ``on`` stays ``on``, ``1.10`` stays ``1.10``. Nothing in the text can
build an object. Duplicate keys are refused: which of two counts differs from one parser to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from gate.dataclass import dataclass
from gate.late import late_module

if TYPE_CHECKING:
    import yaml
else:
    yaml = late_module("yaml")

MOST_NODES: Final = 60_000
"""Nodes of a document, an alias counted with everything below it."""
DEEPEST: Final = 60

Data = str | list[Any] | dict[str, Any]
Path = tuple[str | int, ...]


class UnreadableYamlError(ValueError):
    """The text is not YAML that every parser reads alike; the message is ours and quotes nothing."""


@dataclass(slots=True)
class Document:
    """One document. ``lines`` maps the path of every value to its line, 1-based."""

    data: Data = ""
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int | None:
        """The line of a value, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def _loader() -> Any:
    """Every scalar as the text that it is; the fast one where it was built."""
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_yaml(data: bytes, *, most: int = MOST_NODES) -> Document:
    """The one document of a text, of ``most`` nodes. Raises UnreadableYamlError for everything else."""
    text = _text(data)
    try:
        node = yaml.compose(text, Loader=_loader())
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableYamlError("it is not one YAML document") from error
    return _document(node, most) if node is not None else Document()


def read_yaml_documents(data: bytes) -> list[Document]:
    """All documents of a text. Raises UnreadableYamlError."""
    text = _text(data)
    try:
        nodes = list(yaml.compose_all(text, Loader=_loader()))
    except (yaml.YAMLError, RecursionError) as error:
        raise UnreadableYamlError("it is not YAML") from error
    return [_document(node, MOST_NODES) for node in nodes]


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableYamlError("it is not UTF-8") from error


def _document(node: yaml.Node, most: int) -> Document:
    document = Document()
    document.data = _Reader(document.lines, most).value(node, ())
    return document


class _Reader:
    def __init__(self, lines: dict[Path, int], most: int) -> None:
        self._lines, self._left = lines, most

    def value(self, node: yaml.Node, path: Path) -> Data:
        self._left -= 1
        if self._left < 0 or len(path) > DEEPEST:
            raise UnreadableYamlError("it is too large or nested too deeply")
        self._lines[path] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return str(node.value)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Data]:
        out: dict[str, Data] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise UnreadableYamlError("a key is no plain text")
            key = str(key_node.value)
            if key in out:
                raise UnreadableYamlError("a key occurs twice")
            out[key] = self.value(value_node, (*path, key))
            self._lines[(*path, key)] = key_node.start_mark.line + 1
        return out


def mapping(data: object) -> Mapping[str, object]:
    """The value where it is a mapping, else an empty one."""
    return data if isinstance(data, dict) else {}


def items(data: object) -> list[object]:
    """The value where it is a list; a single text as a list of one; else an empty one."""
    if isinstance(data, list):
        return data
    return [data] if isinstance(data, str) and data else []


def leaves(data: object, path: Path = ()) -> list[tuple[Path, str]]:
    """Every text below a value with its path."""
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in leaves(value, (*path, key))]
    if isinstance(data, list):
        return [leaf for index, value in enumerate(data) for leaf in leaves(value, (*path, index))]
    return [(path, str(data))]

"""XML as data, strictly: no document type, so no entity of the file's own and no second reading."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, XMLParser

from gate.supply.inputs.model import UnreadableInputError


def xml_root(text: str) -> Element:
    """The root of a document. Raises UnreadableInputError where it is none, or declares a document type."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise UnreadableInputError("it declares a document type of its own", ambiguous=True)
    parser = XMLParser()  # noqa: S314 - in the limited child, and no entity is left to expand
    try:
        parser.feed(text)
        return parser.close()
    except ParseError as error:
        raise UnreadableInputError("it is not XML") from error


def local(element: Element) -> str:
    """The element's name without its namespace, in lower case."""
    return str(element.tag).rpartition("}")[2].lower()


def below(element: Element, *path: str) -> Iterator[Element]:
    """Elements at this path of names (lower case), from anywhere below the element on."""
    for one in element.iter():
        if local(one) == path[0]:
            if len(path) == 1:
                yield one
            else:
                yield from (found for child in one for found in _at(child, path[1:]))


def _at(element: Element, path: tuple[str, ...]) -> Iterator[Element]:
    if local(element) != path[0]:
        return
    if len(path) == 1:
        yield element
    else:
        for child in element:
            yield from _at(child, path[1:])


def child_text(element: Element, name: str) -> str:
    """The text of the first child of this name (lower case), stripped; empty where there is none."""
    return next(((one.text or "").strip() for one in element if local(one) == name), "")

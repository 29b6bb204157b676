"""Requests as an application's own OpenAPI document describes them: what a handler's parameters ask for.

FastAPI makes the document from the types of its handlers, so a request made by it reaches them, where one
without the fields that they need ends in validation. The document is the code's: any part of it may be wrong.
"""

from __future__ import annotations

import base64
import math
import re
from typing import Any

WORD = "gate"
_FORMATS = {
    "date-time": "2024-01-02T03:04:05Z",
    "date": "2024-01-02",
    "time": "03:04:05",
    "duration": "P1D",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "gate@gate.example",
    "uri": "http://gate.example/",
    "hostname": "gate.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "byte": base64.b64encode(WORD.encode()).decode(),
    "json-string": "{}",
}
_DEEP = 12
_HOLE = re.compile(r"{(\w+)(?::\w+)?}")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def document_of(app: Any) -> dict[str, Any]:
    """The document of an application; empty where it has none."""
    make = getattr(app, "openapi", None)
    try:
        made = make() if callable(make) else {}
    except Exception:
        return {}
    return made if isinstance(made, dict) else {}


def arguments_for(
    document: dict[str, Any], template: str, method: str, *, full: bool
) -> tuple[str, dict[str, Any]] | None:
    """The path, and arguments of a test client's ``request``; None where the document says nothing of it.
    ``full``: with what may be left out, too.
    """
    shape = _Shape(document, full)
    paths = shape.table(document.get("paths"))
    entry = shape.table(paths.get(template) or paths.get(_HOLE.sub(r"{\1}", template)))
    operation = shape.table(entry.get(method.lower()))
    if not operation:
        return None
    sent: dict[str, Any] = {"params": {}, "headers": {}}
    holes: dict[str, str] = {}
    for raw in [*shape.items(entry.get("parameters")), *shape.items(operation.get("parameters"))]:
        parameter = shape.table(raw)
        name, place = str(parameter.get("name")), parameter.get("in")
        if not (parameter.get("required") or full):
            continue
        value = shape.value(parameter.get("schema"))
        if place == "path":
            holes[name] = _text(value)
        elif place == "query":
            sent["params"][name] = value if isinstance(value, list) else _text(value)
        elif place == "header":
            sent["headers"][name] = _text(value)
        elif place == "cookie":
            sent["headers"]["cookie"] = f"{name}={_text(value)}"
    sent.update(_body(shape, operation))
    return _HOLE.sub(lambda hole: holes.get(hole[1], WORD), template), sent


def _body(shape: _Shape, operation: dict[str, Any]) -> dict[str, Any]:
    content = shape.table(shape.table(operation.get("requestBody")).get("content"))
    for kind, described in content.items():
        schema = shape.table(described).get("schema")
        if "json" in kind:
            return {"json": shape.value(schema)}
        if kind in _FORMS:
            fields = shape.value(schema)
            fields = fields if isinstance(fields, dict) else {}
            files = {
                name: (f"{WORD}.txt", value) for name, value in fields.items() if isinstance(value, bytes)
            }
            data = {name: _text(value) for name, value in fields.items() if name not in files}
            return {"data": data, **({"files": files} if files else {})}
    return {}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Shape:
    """Values that meet a schema, as far as that is simple. ``full``: optional fields, too."""

    def __init__(self, document: dict[str, Any], full: bool) -> None:
        self._document, self._full = document, full

    def table(self, raw: Any) -> dict[str, Any]:
        """A table, behind references."""
        for _ in range(_DEEP):
            reference = raw.get("$ref") if isinstance(raw, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            raw = self._document
            for word in reference[2:].split("/"):
                raw = raw.get(word.replace("~1", "/").replace("~0", "~")) if isinstance(raw, dict) else None
        return raw if isinstance(raw, dict) else {}

    def items(self, raw: Any) -> list[Any]:
        """A list, or none."""
        return raw if isinstance(raw, list) else []

    def value(self, raw: Any, depth: int = 0) -> Any:
        """One value."""
        schema = self.table(raw)
        if depth > _DEEP:
            return None
        for key in ("const", "example", "default"):
            if schema.get(key) is not None:
                return schema[key]
        for key in ("examples", "enum"):
            if self.items(schema.get(key)):
                return schema[key][0]
        for key in ("anyOf", "oneOf"):
            ways = [self.table(way) for way in self.items(schema.get(key))]
            if ways:
                return self.value(
                    next((way for way in ways if way.get("type") != "null"), ways[0]), depth + 1
                )
        if self.items(schema.get("allOf")):
            merged: dict[str, Any] = {}
            for part in schema["allOf"]:
                made = self.value(part, depth + 1)
                merged.update(made if isinstance(made, dict) else {})
            return merged
        return self._plain(schema, depth)

    def _plain(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        kind = next((k for k in kind if k != "null"), None) if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema:
            needed = self.items(schema.get("required"))
            fields = self.table(schema.get("properties"))
            return {n: self.value(f, depth + 1) for n, f in fields.items() if n in needed or self._full}
        if kind == "array":
            count = max(1, _whole(schema.get("minItems"), 1))
            return [self.value(schema.get("items"), depth + 1) for _ in range(min(count, 20))]
        if kind in ("integer", "number"):
            return _number(schema, kind)
        if kind == "boolean":
            return True
        return _string(schema) if kind in ("string", None) else None


def _number(schema: dict[str, Any], kind: str) -> Any:
    least = schema.get("exclusiveMinimum", schema.get("minimum"))
    most = schema.get("exclusiveMaximum", schema.get("maximum"))
    step = schema.get("multipleOf")
    value: float = 1
    if isinstance(least, (int, float)) and value <= least:
        value = math.floor(least) + 1 if "exclusiveMinimum" in schema else least
    if isinstance(most, (int, float)) and value >= most:
        value = most - 1 if "exclusiveMaximum" in schema and kind == "integer" else most
        if "exclusiveMaximum" in schema and kind == "number":
            value = most - (most - least) / 2 if isinstance(least, (int, float)) else most - 0.5
    if isinstance(step, (int, float)) and step > 0:
        value = math.ceil(value / step) * step
    return int(value) if kind == "integer" else value


def _string(schema: dict[str, Any]) -> Any:
    if schema.get("format") == "binary" or "contentMediaType" in schema:
        return f"{WORD}\n".encode()
    text = _FORMATS.get(str(schema.get("format")), WORD)
    least, most = _whole(schema.get("minLength"), 0), _whole(schema.get("maxLength"), 10_000)
    if text is WORD:
        text = (text * (min(least, 10_000) // len(text) + 1))[: max(least, len(WORD))][: max(most, 0)]
    return text


def _whole(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default

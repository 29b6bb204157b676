"""Requests as an application's own OpenAPI document describes them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.inside.driver import openapi_requests
from tests.unit.inside.driver.harness import drive, lay_tree
from tests.unit.inside.driver.test_projects import line, lines_of, watched

DESCRIBED = {
    "shop/__init__.py": "",
    "shop/main.py": """
from starlette.applications import Starlette
from starlette.routing import Route

from shop import pages


class Described(Starlette):
    def openapi(self):
        order = {"type": "object", "required": ["sku", "count"], "properties": {
            "sku": {"type": "string", "minLength": 8},
            "count": {"type": "integer", "exclusiveMinimum": 10},
            "note": {"anyOf": [{"type": "null"}, {"type": "string", "format": "email"}]},
            "lines": {"type": "array", "items": {"$ref": "#/components/schemas/Line"}, "minItems": 2}}}
        number = {"type": "string", "format": "uuid"}
        line = {"type": "object", "required": ["id"], "properties": {"id": number}}
        hole = {"name": "shop", "in": "path", "required": True, "schema": {"enum": ["north", "south"]}}
        dry = {"name": "dry", "in": "query", "required": True, "schema": {"type": "boolean"}}
        key = {"name": "x-key", "in": "header", "required": False, "schema": {"type": "string"}}
        body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}
        return {
            "paths": {"/{shop}/orders": {"post": {"parameters": [hole, dry, key], "requestBody": body}}},
            "components": {"schemas": {"Order": order, "Line": line}},
        }


app = Described(routes=[Route("/{shop}/orders", pages.order, methods=["POST"])])
""",
    "shop/pages.py": """
from starlette.responses import PlainTextResponse


async def order(request):
    body = await request.json()
    if len(body.get("sku", "")) < 8 or not body.get("count", 0) > 10 or request.query_params["dry"] != "true":
        return PlainTextResponse("refused", 422)
    if request.path_params["shop"] != "north":
        return PlainTextResponse("not found", 404)
    if body.get("note") and "@" in body["note"] and request.headers.get("x-key"):
        return PlainTextResponse(f"with all: {[line['id'] for line in body['lines']]}")
    return PlainTextResponse("with what it must have")
""",
}


def test_an_endpoint_is_asked_as_its_document_describes_it(tmp_path: Path) -> None:
    tree = lay_tree(tmp_path / "t", DESCRIBED)
    path = "shop/pages.py"
    item = {"do": "import", "module": "shop.pages", "path": path, "calls": ["order"]}
    seen = drive(tree, {"items": [item], "seconds": 60, "each": 10.0, "lines": watched(DESCRIBED, path)})
    for text in ("with all", "with what it must have", "refused"):
        assert line(DESCRIBED, path, text) in lines_of(seen, path), text


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "exclusiveMaximum": 0}, -1),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "integer", "multipleOf": 7}, 7),
        ({"type": ["null", "string"], "maxLength": 2}, "ga"),
        ({"allOf": [{"type": "object", "properties": {"a": {"const": 3}}, "required": ["a"]}]}, {"a": 3}),
        ({"type": "string", "format": "date"}, "2024-01-02"),
        ({"$ref": "#/x/self"}, None),
        ({"$ref": "https://elsewhere.example/"}, "gate"),
        (["no schema"], "gate"),
    ],
)
def test_values_that_meet_a_schema(schema: object, value: object) -> None:
    document = {"x": {"self": {"type": "object", "properties": {"me": {"$ref": "#/x/self"}}}}}
    made = openapi_requests._Shape(document, False).value(schema)
    assert made == value or (value is None and made == {})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda below: (
            st.lists(below, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["paths", "/a", "get", "parameters", "schema", "type", "$ref", "minimum", "enum"]
                ),
                below,
            )
        ),
        max_leaves=15,
    )
)
def test_no_document_raises_past_what_is_caught(document: object) -> None:
    if isinstance(document, dict):
        with contextlib.suppress(TypeError, ValueError, OverflowError):  # its caller suppresses all
            openapi_requests.arguments_for(document, "/a", "GET", full=True)

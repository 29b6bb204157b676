"""GitHub's published description of its API: what requests must be, what answers are, with examples."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.forge.standin.fetch import OPENAPI, package


@dataclass(frozen=True)
class Operation:
    """One method on one path of the description."""

    method: str
    template: str
    params: Mapping[str, str]


class Description:
    """``kind``: ``api.github.com`` or ``ghes-3.19``."""

    def __init__(self, kind: str) -> None:
        self.document: Any = json.loads((package(OPENAPI) / f"generated/{kind}.json").read_bytes())
        resource = DRAFT4.create_resource(self.document)
        self._registry: Any = Registry().with_resource("urn:github", resource)
        self._paths = [
            (re.compile(re.sub(r"\\\{[^}]+\\\}", "([^/]+)", re.escape(template))), template)
            for template in sorted(self.document["paths"], key=lambda t: (t.count("{"), t))
        ]

    def find(self, method: str, path: str) -> Operation | None:
        """The operation that a request line means; the path without a prefix."""
        for pattern, template in self._paths:
            found = pattern.fullmatch(path)
            if found and method.lower() in self.document["paths"][template]:
                names = re.findall(r"\{([^}]+)\}", template)
                return Operation(
                    method, template, dict(zip(names, map(unquote, found.groups()), strict=True))
                )
        return None

    def _of(self, operation: Operation) -> Any:
        return self.document["paths"][operation.template][operation.method.lower()]

    def request_faults(self, operation: Operation, query: Mapping[str, str], body: object) -> list[str]:
        """Everything in a request that the description does not allow."""
        told = self._of(operation)
        known = {p["name"]: p for p in map(self._resolved, told.get("parameters", ())) if p["in"] == "query"}
        faults = [f"unknown query parameter {name}" for name in query if name not in known]
        pointer = ["paths", operation.template, operation.method.lower(), "requestBody"]
        schema = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            return faults + (["a body where none is described"] if body is not None else [])
        if body is None:
            return faults + (["no body"] if told["requestBody"].get("required") else [])
        faults += self._faults([*pointer, "content", "application/json", "schema"], body)
        if isinstance(body, dict) and schema.get("properties") and not schema.get("additionalProperties"):
            faults += [f"unknown field {name}" for name in body if name not in schema["properties"]]
        return faults

    def answer_faults(self, operation: Operation, status: int, body: object) -> list[str]:
        """Everything in our own answer that GitHub would not say."""
        responses = self._of(operation)["responses"]
        if str(status) not in responses:
            return [] if status >= 400 else [f"status {status} is not described"]
        if "$ref" in responses[str(status)] or status >= 400:
            return []
        if "application/json" not in responses[str(status)].get("content", {}):
            return [] if body is None else ["a body where none is described"]
        pointer = ["paths", operation.template, operation.method.lower(), "responses", str(status)]
        return self._faults([*pointer, "content", "application/json", "schema"], body)

    def example(self, method: str, template: str, status: int) -> Any:
        """The published example of an answer, to be overlaid with state."""
        told = self.document["paths"][template][method.lower()]["responses"][str(status)]
        first = next(iter(told["content"]["application/json"]["examples"].values()))
        return copy.deepcopy(self._resolved(first)["value"])

    def _resolved(self, item: Any) -> Any:
        while "$ref" in item:
            target = self.document
            for part in item["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            item = target
        return item

    def _faults(self, pointer: list[str], value: object) -> list[str]:
        where = "/".join(part.replace("~", "~0").replace("/", "~1") for part in pointer)
        validator = OAS30Validator({"$ref": f"urn:github#/{where}"}, registry=self._registry)
        # "nullable" beside an "enum" without null: GitHub answers null there, as its own examples do
        wrong = (
            e
            for e in validator.iter_errors(value)
            if not (e.validator == "enum" and e.instance is None and e.schema.get("nullable"))
        )
        return [f"{list(e.absolute_path)}: {e.message[:300]}" for e in wrong]


@functools.cache
def description(kind: str = "api.github.com") -> Description:
    """Read once in a test process."""
    return Description(kind)

"""Descriptions of interfaces that programs enforce: OpenAPI, GraphQL, JSON schemas, Hasura, webhooks."""

from __future__ import annotations

from typing import Final

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.interface_widths import bound_columns
from gate.infrastructure.reader import read

API: Final = (
    "openapi: 3.1.0\nsecurity: {}\npaths:\n  /a:\n    get:\n      operationId: x\n      {}\n".replace(
        "{}", "%s"
    )
)
BEARER: Final = "[{bearer: [admin]}]"
SHAPE: Final = '{"type": "object", %s "properties": {"a": {"type": "string"}}}'
CLOSED: Final = '"additionalProperties": false,'
ROWS: Final = (
    "table: {name: orders}\nselect_permissions:\n- role: user\n  permission: {columns: [a], filter: %s}\n"
)
OWN: Final = "{tenant_id: {_eq: X-Hasura-Tenant-Id}}"
HOOK: Final = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: images}
webhooks:
- name: a.example
  failurePolicy: %s
  namespaceSelector: %s
  rules: [{operations: %s, resources: [pods]}]
"""
SDL: Final = "type Query {\n  # all\n  list(first: Int = 20): [A!]! %s\n  mine: A @auth\n}\n"
LESS: Final = (
    ("o.yaml", "weaker", API % (BEARER, "tags: [a]"), API % (BEARER, "security: []")),
    ("o.yaml", "weaker", API % (BEARER, "tags: [a]"), API % (BEARER, "security: [{bearer: [admin]}, {}]")),
    ("o.yaml", "weaker", API % (BEARER, "tags: [a]"), API % ("[{bearer: []}]", "tags: [a]")),
    ("o.yaml", "weaker", API % (BEARER, "tags: [a]"), API % ("[]", "tags: [a]")),
    ("s.json", "weaker", SHAPE % CLOSED, SHAPE % CLOSED.replace("false", "true")),
    ("s.json", "weaker", SHAPE % CLOSED, SHAPE % ""),
    ("h.yaml", "covered", ROWS % OWN, ROWS % "{}"),
    ("h.yaml", "covered", ROWS % OWN, ROWS % f"{{_or: [{OWN}, {{a: {{_gt: 1}}}}]}}"),
    ("w.yaml", "weaker", HOOK % ("Fail", "{}", "[CREATE]"), HOOK % ("Ignore", "{}", "[CREATE]")),
    (
        "w.yaml",
        "weaker",
        HOOK % ("Fail", "{}", "[CREATE]"),
        HOOK % ("Fail", "{matchLabels: {a: b}}", "[CREATE]"),
    ),
    (
        "w.yaml",
        "covered",
        HOOK % ("Fail", "{}", "[CREATE, UPDATE]"),
        HOOK % ("Fail", "{}", "[CREATE]"),
    ),
    ("s.graphql", "weaker", SDL % "@auth(requires: ADMIN)", SDL % ""),
    ("s.graphql", "weaker", SDL % "@hasRole(role: ADMIN)", SDL % "@hasRole"),
    ("s.graphqls", "trusted", SDL % "@auth(requires: ADMIN)", SDL % "@auth(requires: USER)"),
)
AS_GOOD: Final = (
    ("o.yaml", API % (BEARER, "tags: [a]"), API % ("[]", f"security: {BEARER}")),
    ("o.yaml", API % (BEARER, "tags: [a]"), API % (BEARER, "tags: [b]")),
    ("o.yaml", API % ("[]", "tags: [a]"), API % ("[]", "security: []")),
    ("s.json", SHAPE % CLOSED, SHAPE % '"unevaluatedProperties": false,'),
    ("s.json", SHAPE % "", SHAPE % CLOSED),
    ("c.json", '{"properties": {"a": 1}}', '{"properties": {"a": 2}}'),
    ("h.yaml", ROWS % OWN, ROWS % f"{{_and: [{OWN}, {{a: {{_gt: 1}}}}]}}"),
    ("h.yaml", ROWS % "{}", ROWS % OWN),
    ("w.yaml", HOOK % ("Ignore", "{}", "[CREATE]"), HOOK % ("Fail", "{}", "[CREATE, UPDATE]")),
    ("s.graphql", SDL % "", SDL % "@auth"),
    ("s.graphql", SDL % '@deprecated(reason: "x")', SDL % ""),
    ("s.graphql", SDL % "@auth", '"""\ntype Query { mine: A }\n"""\n' + SDL % "@auth"),
)


def told(path: str, base: str, head: str) -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


@pytest.mark.parametrize(("path", "what", "base", "head"), LESS)
def test_what_asks_less_is_told(path: str, what: str, base: str, head: str) -> None:
    assert told(path, base, head) == {what}
    assert told(path, base, base) == told(path, head, head) == set()


@pytest.mark.parametrize(("path", "base", "head"), AS_GOOD)
def test_what_asks_as_much_is_not_told(path: str, base: str, head: str) -> None:
    assert told(path, base, head) == set()


def test_a_column_is_bound_where_each_alternative_binds_it() -> None:
    own = {"t": {"_eq": "X-Hasura-T"}}
    assert bound_columns({"_or": [own | {"a": {"_eq": 1}}, own]}) == {"t"}
    assert bound_columns({"_or": [own, {}]}) == set()
    assert bound_columns({"order": own}) == {"order.t"}

"""Conditions of a cloud's policy that hold of who lacks the key, and rights that name what they leave out."""

from __future__ import annotations

import json

import pytest

from gate.infrastructure.compare import differences
from gate.infrastructure.reader import read

DOCUMENT = """
data "aws_iam_policy_document" "readers" {{
  statement {{
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::maps/*"]
    {}
  }}
}}
"""
EVERYBODY = 'principals {\n type = "*"\n identifiers = ["*"]\n }\n'


def condition(test: str, variable: str = "aws:PrincipalOrgID", value: str = "o-1") -> str:
    return f'condition {{\n test = "{test}"\n variable = "{variable}"\n values = ["{value}"]\n }}\n'


def bucket(**more: object) -> dict[str, object]:
    return {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:maps/*", **more}


def told(path: str, base: str, head: str) -> set[str]:
    old, new = ({path: read(path, text.encode(), {})} for text in (base, head))
    return {one.fact.what for one in differences(old, new, {})}


def document(statement: dict[str, object]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def stack(statement: dict[str, object]) -> str:
    return json.dumps({"Resources": {"Maps": {"Properties": {"PolicyDocument": {"Statement": [statement]}}}}})


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (condition("StringEquals"), condition("ForAllValues:StringEquals")),
        (condition("StringEquals"), condition("StringEqualsIfExists")),
        (condition("ForAnyValue:StringLike"), condition("ForAllValues:StringLike")),
    ],
)
def test_an_operator_that_is_true_without_the_key(base: str, head: str) -> None:
    assert "weaker" in told("p.tf", DOCUMENT.format(base), DOCUMENT.format(head))
    assert "to-anybody" in told("p.tf", DOCUMENT.format(EVERYBODY + base), DOCUMENT.format(EVERYBODY + head))


def test_the_same_operator_where_the_key_has_to_be_there() -> None:
    there = condition("Null", value="false")
    base, head = condition("StringEquals"), condition("ForAllValues:StringEquals") + there
    assert told("p.tf", DOCUMENT.format(EVERYBODY + base), DOCUMENT.format(EVERYBODY + head)) == set()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (
            {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "a", "NotPrincipal": {"AWS": "1"}},
            "to-anybody",
        ),
        ({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, "all-but"),
        ({"Effect": "Allow", "Action": "s3:*", "NotResource": "arn:aws:s3:::secret/*"}, "all-but"),
        (
            bucket(Principal="*", Condition={"ForAllValues:StringEquals": {"aws:PrincipalOrgID": ["o-1"]}}),
            "to-anybody",
        ),
    ],
)
def test_what_a_statement_leaves_open(statement: dict[str, object], what: str) -> None:
    before = bucket(Principal={"AWS": "1"})
    assert what in told("p.json", document(before), document(statement))
    assert what in told("stack.json", stack(before), stack(statement))
    assert what in told("stack.yaml", stack(before), stack(statement))


@pytest.mark.parametrize(
    "statement",
    [
        {"Effect": "Deny", "NotAction": "iam:*", "Resource": "*"},
        {"Effect": "Deny", "Action": "s3:*", "Resource": "a", "NotPrincipal": {"AWS": "1"}},
        {"Effect": "Allow", "NotAction": "s3:PutObject", "Resource": "arn:maps/*"},
        bucket(
            Principal="*",
            Condition={
                "ForAllValues:StringEquals": {"aws:TagKeys": ["a"]},
                "StringEquals": {"aws:PrincipalOrgID": "o-1"},
            },
        ),
    ],
)
def test_what_is_in_order(statement: dict[str, object]) -> None:
    before = bucket(Principal={"AWS": "1"})
    grave = {"to-anybody", "all-but", "weaker"}
    assert not grave & told("p.json", document(before), document(statement))
    assert not grave & told("stack.json", stack(before), stack(statement))


AZURE = 'resource "azurerm_x" "a" {{\n name = "x"\n {}\n}}\n'
BINDING = '{{"policy": {{"bindings": [{{"role": "roles/viewer", "members": ["{}"]}}]}}}}'


@pytest.mark.parametrize(
    ("path", "base", "head", "what"),
    [
        ("a.tf", AZURE.format(""), AZURE.format("allow_nested_items_to_be_public = true"), "public-data"),
        ("a.tf", AZURE.format(""), AZURE.format('container_access_type = "blob"'), "public-data"),
        (
            "a.tf",
            AZURE.format("public_network_access_enabled = false"),
            AZURE.format("public_network_access_enabled = true"),
            "weaker",
        ),
        (
            "a.tf",
            AZURE.format('role_definition_name = "Reader"'),
            AZURE.format('role_definition_name = "Owner"'),
            "every-right",
        ),
        (
            "a.tf",
            AZURE.format('role = "roles/viewer"'),
            AZURE.format('role = "roles/iam.securityAdmin"'),
            "escalates",
        ),
        ("p.json", BINDING.format("user:a"), BINDING.format("allUsers"), "to-anybody"),
        ("p.yaml", BINDING.format("user:a"), BINDING.format("allAuthenticatedUsers"), "to-anybody"),
    ],
)
def test_other_clouds(path: str, base: str, head: str, what: str) -> None:
    assert told(path, base, head) == {what}
    assert told(path, head, base) == set()
    assert told(path, head, head) == set()


def test_policies_that_change_their_places() -> None:
    first = bucket(Principal={"AWS": "1"}, Action="iam:PassRole")
    second = bucket(Principal={"AWS": "2"}, Action="kms:Decrypt")
    both = [{"PolicyDocument": {"Statement": [one]}} for one in (first, second)]
    base, head = (json.dumps({"Role": {"Policies": many}}) for many in (both, both[::-1]))
    assert told("stack.json", base, head) == set()

"""Whose an address is: tenants of hosts that many share, accounts in paths, names of resources."""

from __future__ import annotations

import pytest

from gate.supply.owners import owner_of

OTHERS = [
    ("https://k@o482910.ingest.sentry.io/1", "https://k@o482916.ingest.sentry.io/1"),
    ("https://k@o482910.ingest.us.sentry.io/1", "https://k@o482916.ingest.us.sentry.io/1"),
    ("111122223333.dkr.ecr.eu-west-1.amazonaws.com/a", "111122233333.dkr.ecr.eu-west-1.amazonaws.com/a"),
    ("https://sqs.eu-north-1.amazonaws.com/111122223333/q", "https://sqs.eu-north-1.amazonaws.com/111122233333/q"),
    ("https://a1b2c3.execute-api.eu-west-1.amazonaws.com/p", "https://d4e5f6.execute-api.eu-west-1.amazonaws.com/p"),
    ("shop.azurecr.io/a", "spare.azurecr.io/a"),
    ("europe-west1-docker.pkg.dev/shop/a", "europe-west1-docker.pkg.dev/spare/a"),
    ("mongodb+srv://u:p@c0.ab1cd.mongodb.net/x", "mongodb+srv://u:p@c0.zz9yy.mongodb.net/x"),
    ("https://shop.queue.core.windows.net/a", "https://spare.queue.core.windows.net/a"),
    ("https://shop.openai.azure.com/", "https://spare.openai.azure.com/"),
    ("https://shop.s3.eu-north-1.amazonaws.com/a", "https://spare.s3.eu-north-1.amazonaws.com/a"),
    ("https://s3.eu-west-1.amazonaws.com/shop/a", "https://s3.eu-west-1.amazonaws.com/spare/a"),
    ("https://api.telegram.org/bot11:AA/sendMessage", "https://api.telegram.org/bot22:BB/sendMessage"),
    ("https://shop.webhook.office.com/x", "https://spare.webhook.office.com/x"),
    ("https://queue.eu.cloud.example/111122223333/a", "https://queue.eu.cloud.example/111122233333/a"),
    ("https://111122223333.registry.cloud.example/a", "https://111122233333.registry.cloud.example/a"),
    ("arn:aws:sns:eu-1:111122223333:a", "arn:aws:sns:eu-1:111122233333:a"),
    ("arn:aws:s3:::shop", "arn:aws:s3:::spare"),
    ("shop@gmail.com", "shop.orders@gmail.com"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_two_of_one_host_are_two_owners(one: str, other: str) -> None:
    assert not owner_of(one).same_as(owner_of(other))
    assert owner_of(one).same_as(owner_of(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://api.tool.com/v1/20250101/a", "https://api.tool.com/v1/20260101/a"),
        ("https://tool.com/get/1.20.3/a.zip", "https://tool.com/get/1.21.0/a.zip"),
        ("https://cdn.jsdelivr.net/npm/vue@3.4.1/dist/a.js", "https://cdn.jsdelivr.net/npm/vue@3.5.0/dist/a.js"),
        ("https://eu.api.tool.com/a", "https://us.api.tool.com/a"),
        ("arn:aws:iam::aws:policy/A", "arn:aws:iam::aws:policy/B"),
        ("https://a.s3.eu-west-1.amazonaws.com/x", "https://a.s3.eu-west-1.amazonaws.com/y"),
    ],
)  # fmt: skip
def test_another_version_or_region_is_the_same_owner(one: str, other: str) -> None:
    assert owner_of(one).same_as(owner_of(other))


def test_what_is_filled_in_is_no_part_of_the_name() -> None:
    assert owner_of("https://shadow.fleet.example$request_uri").name == "fleet.example"
    assert owner_of("https://fleet.example{path}").name == "fleet.example"
    assert owner_of("https://${region}.fleet.example/a").name == "fleet.example"
    assert owner_of("https://api-{region}.fleet.example/a").name == "fleet.example"


def test_vocabularies_placeholders_and_resolvers_are_nowhere() -> None:
    assert all(owner_of(one).is_nowhere for one in ("http://www.w3.org/a", "a@example.com", "8.8.8.8"))
    assert not owner_of("https://fleet.example/").is_nowhere
    assert owner_of("10.0.0.5").is_own
    assert owner_of("http://db:5432/").is_own
    assert not owner_of("203.0.113.9").is_own

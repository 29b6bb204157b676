"""What of an address may be an account's or a token's name, and what people named."""

from __future__ import annotations

import pytest

from gate.tracing.behaviour.normalise import address_shape


@pytest.mark.parametrize(
    "part",
    ["T024BE7LD", "B09XYZ123", "AbCdEfGhIjKlMnOpQrStUvWx", "bot73ka-99AQ", "9f86d081884c7d65", "48213"],
)
def test_an_account_or_a_token_is_folded(part: str) -> None:
    assert address_shape(part) == "*"


@pytest.mark.parametrize(
    "part",
    [
        "",
        "v1",
        "v2",
        "oauth2",
        "rates",
        "exchange-rates",
        "services",
        "getAllCustomers",
        "openapi.json",
    ],
)
def test_a_name_that_people_gave_stays(part: str) -> None:
    assert address_shape(part) == part

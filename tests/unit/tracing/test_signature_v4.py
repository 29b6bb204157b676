"""Requests signed for AWS: the published example, and what is none."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gate.tracing.readers.sinkhole import HttpRequest
from gate.tracing.signature_v4 import is_signed

KEY_ID, KEY = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
SIGNATURE = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
VALUE = (
    f"AWS4-HMAC-SHA256 Credential={KEY_ID}/20150830/us-east-1/iam/aws4_request, "
    f"SignedHeaders=content-type;host;x-amz-date, Signature={SIGNATURE}"
)


def request(target: bytes = b"/?Action=ListUsers&Version=2010-05-08", body: bytes = b"") -> HttpRequest:
    """The example of AWS's own documentation of Signature Version 4."""
    return HttpRequest(
        seq=1,
        id=1,
        scheme="https",
        method="GET",
        target=target,
        headers=(
            ("Content-Type", b"application/x-www-form-urlencoded; charset=utf-8"),
            ("Host", b"iam.amazonaws.com"),
            ("X-Amz-Date", b"20150830T123600Z"),
        ),
        body=body,
        size=len(body),
        status=200,
    )


def test_the_published_example() -> None:
    assert is_signed(request(), VALUE.encode(), KEY_ID, KEY)


@dataclass(frozen=True)
class Case:
    name: str
    value: str = VALUE
    target: bytes = b"/?Action=ListUsers&Version=2010-05-08"
    key: str = KEY
    body: bytes = b""


@pytest.mark.parametrize(
    "case",
    [
        Case("another signature", VALUE.replace("5d67", "5d68")),
        Case("a word more", VALUE + ", Note=1"),
        Case("another key id", VALUE.replace("AKID", "AKIE")),
        Case("another key", key="other"),
        Case("another query", target=b"/?Action=ListUsers&Version=2010-05-09"),
        Case("a body that is not signed", body=b"x"),
        Case("another form", "Bearer abc"),
        Case("nothing", ""),
        Case("cut", VALUE[:60]),
    ],
    ids=lambda case: case.name,
)
def test_nothing_else(case: Case) -> None:
    made = request(case.target, case.body)
    assert not is_signed(made, case.value.encode(), KEY_ID, case.key)

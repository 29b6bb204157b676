"""Signed verdicts: real keys, the published encodings, and everything that must be refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gate.deploy.signing import key_id, private_key, public_key, sign, verify
from gate.deploy.statement import (
    MAX_BYTES,
    BadStatementError,
    Bands,
    Digests,
    Predicate,
    Statement,
    decode_statement,
    encode_statement,
    pae,
    statement,
)
from gate.errors import UsageError

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key()
SHA, TREE, DIGEST = "a" * 40, "b" * 40, "c" * 64
PREDICATE = Predicate(
    verdict="warn",
    score=42,
    thresholds=Bands(warn=30, fail=70),
    base="d" * 40,
    at=1_800_000_000,
    gate_version="0.1",
    digests=Digests(policy=DIGEST, rules=DIGEST, gate=DIGEST, report=DIGEST),
)
MADE = statement(commit=SHA, tree=TREE, predicate=PREDICATE)
SIGNED = sign(MADE, KEY)


def pem(key: Any) -> bytes:
    made: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return made


def resigned(signed: bytes, kind: str = "application/vnd.in-toto+json", **more: object) -> bytes:
    sig = base64.b64encode(KEY.sign(pae(signed, kind))).decode()
    body = {
        "payloadType": kind,
        "payload": base64.b64encode(signed).decode(),
        "signatures": [{"keyid": "x", "sig": sig}],
    }
    return json.dumps(body | more).encode()


def test_pae_is_the_specifications_example() -> None:
    # secure-systems-lab/dsse, protocol.md: "hello world" of type http://example.com/HelloWorld
    assert pae(b"hello world", "http://example.com/HelloWorld") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_signed_statement_is_in_toto_v1_and_reads_back() -> None:
    envelope = json.loads(SIGNED)
    assert set(envelope) == {"payloadType", "payload", "signatures"}
    told = json.loads(base64.b64decode(envelope["payload"]))
    assert told["_type"] == "https://in-toto.io/Statement/v1"
    assert told["subject"] == [
        {"name": "commit", "digest": {"gitCommit": SHA}},
        {"name": "tree", "digest": {"gitTree": TREE}},
    ]
    assert told["predicateType"]
    assert told["predicate"]["digests"]["policy"] == DIGEST
    found = verify(SIGNED, [Ed25519PrivateKey.generate().public_key(), PUBLIC])
    assert (found.statement, found.key_id) == (MADE, key_id(PUBLIC))


def test_another_key_or_none_is_refused() -> None:
    for trusted in ([], [Ed25519PrivateKey.generate().public_key()]):
        with pytest.raises(BadStatementError, match="no trusted key"):
            verify(SIGNED, trusted)


@given(st.integers(0, len(SIGNED) - 2), st.integers(1, 255))
def test_no_changed_byte_is_accepted_as_something_else(at: int, flip: int) -> None:
    changed = SIGNED[:at] + bytes([SIGNED[at] ^ flip]) + SIGNED[at + 1 :]
    try:
        found = verify(changed, [PUBLIC])
    except BadStatementError:
        return
    assert found.statement == MADE  # only the key id hint and JSON's own freedom may differ


@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(data: bytes) -> None:
    with pytest.raises(BadStatementError):
        verify(data, [PUBLIC])


def altered(**change: object) -> bytes:
    return msgspec.json.encode(msgspec.json.decode(encode_statement(MADE)) | change)


PAYLOAD = encode_statement(MADE)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{}",
        b" " + PAYLOAD,
        PAYLOAD.replace(b'"score":42', b'"score":99,"score":42'),
        PAYLOAD.replace(b'"score":42', b'"score":101'),
        PAYLOAD.replace(b'"score":42', b'"score":42,"also":1'),
        PAYLOAD.replace(b'"score":42', b'"score":4.2e1'),
        PAYLOAD.replace(SHA.encode(), b"A" * 40),
        PAYLOAD.replace(SHA.encode(), b"a" * 39),
        PAYLOAD.replace(b"pass", b"fine") if b"pass" in PAYLOAD else PAYLOAD.replace(b"warn", b"fine", 1),
        altered(_type="https://in-toto.io/Statement/v0.1"),
        altered(subject=[]),
        altered(subject=msgspec.json.decode(PAYLOAD)["subject"] * 2),
        altered(predicateType="https://slsa.dev/provenance/v1"),
        PAYLOAD[:-1],
        b"[" * 100_000,
    ],
)
def test_even_signed_only_the_one_form_is_read(payload: bytes) -> None:
    with pytest.raises(BadStatementError):
        verify(resigned(payload), [PUBLIC])


@pytest.mark.parametrize(
    "data",
    [
        resigned(PAYLOAD, "text/plain"),
        resigned(PAYLOAD, extra=1),
        resigned(PAYLOAD, signatures=[]),
        resigned(PAYLOAD, signatures=[{"sig": "!!"}]),
        resigned(PAYLOAD, signatures=[{"sig": ""}] * 17),
        resigned(PAYLOAD, payload=base64.urlsafe_b64encode(PAYLOAD + b"\xff\xfe\xfb").decode()),
        b" " * (MAX_BYTES + 1),
    ],
    ids=("type", "more", "unsigned", "no-letters", "many", "other-letters", "long"),
)
def test_other_envelopes_are_refused(data: bytes) -> None:
    with pytest.raises(BadStatementError):
        verify(data, [PUBLIC])


def test_one_good_signature_among_others_is_enough() -> None:
    good = json.loads(SIGNED)["signatures"][0]
    bad = {"keyid": "", "sig": base64.b64encode(b"x" * 64).decode()}
    assert verify(resigned(PAYLOAD, signatures=[bad, good]), [PUBLIC]).statement == MADE


def test_statement_names_real_objects() -> None:
    with pytest.raises(BadStatementError):
        statement(commit="main", tree=TREE, predicate=PREDICATE)
    assert decode_statement(encode_statement(MADE)) == MADE
    assert isinstance(MADE, Statement)


def test_keys_are_ed25519_in_pem_and_nothing_else() -> None:
    assert private_key(pem(KEY)).public_key() == PUBLIC
    spki = PUBLIC.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    assert public_key(spki) == PUBLIC
    for raw in (b"", b"-----BEGIN PRIVATE KEY-----\n", pem(ec.generate_private_key(ec.SECP256R1())), spki):
        with pytest.raises(UsageError):
            private_key(raw)
    for raw in (b"", pem(KEY)):
        with pytest.raises(UsageError):
            public_key(raw)

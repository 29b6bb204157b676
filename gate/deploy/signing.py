"""Ed25519 signatures of statements (RFC 8032), keys as PEM (RFC 8410)."""

from __future__ import annotations

import base64
from collections.abc import Iterable

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gate.dataclass import dataclass
from gate.deploy.statement import (
    BadStatementError,
    Envelope,
    Signature,
    Statement,
    decode_envelope,
    decode_statement,
    encode_statement,
    pae,
    sha256,
    unbase64,
)
from gate.errors import UsageError

_ADVICE = (
    "Make one with: openssl genpkey -algorithm ed25519 -out key.pem; "
    "openssl pkey -in key.pem -pubout -out pub.pem"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """A statement that a trusted key signed. ``key_id``: sha256 (hex) of that key's SubjectPublicKeyInfo."""

    statement: Statement
    key_id: str


def private_key(pem: bytes) -> Ed25519PrivateKey:
    """An unencrypted Ed25519 key. Raises UsageError."""
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError("the signing key is not an unencrypted PEM private key", advice=_ADVICE) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("the signing key is not an Ed25519 key", advice=_ADVICE)
    return key


def public_key(pem: bytes) -> Ed25519PublicKey:
    """A PEM public key (of a private key's file it is not taken: that file has no business here)."""
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError("the trusted key is not a PEM public key", advice=_ADVICE) from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError("the trusted key is not an Ed25519 key", advice=_ADVICE)
    return key


def key_id(key: Ed25519PublicKey) -> str:
    """sha256 (hex) of the DER SubjectPublicKeyInfo."""
    return sha256(
        key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def sign(made: Statement, key: Ed25519PrivateKey) -> bytes:
    """The signed envelope as JSON, one line."""
    payload = encode_statement(made)
    envelope = Envelope(
        payload=base64.b64encode(payload).decode(),
        signatures=[
            Signature(keyid=key_id(key.public_key()), sig=base64.b64encode(key.sign(pae(payload))).decode())
        ],
    )
    return msgspec.json.encode(envelope) + b"\n"


def verify(data: bytes, trusted: Iterable[Ed25519PublicKey]) -> Verified:
    """The statement, if one of the trusted keys signed it. The payload is read only after that.

    Raises BadStatementError.
    """
    envelope, payload = decode_envelope(data)
    signed = pae(payload)
    for key in trusted:
        for signature in envelope.signatures:
            try:
                key.verify(unbase64(signature.sig), signed)
            except InvalidSignature:
                continue
            return Verified(statement=decode_statement(payload), key_id=key_id(key))
    raise BadStatementError(
        "no trusted key signed this statement",
        advice="Is it the public half of the key that signed? `gate verify` takes it with --key.",
    )

"""Statements signed without a key of one's own: sigstore's library, where an OIDC token is there.

The library's own statement type knows only SHA-2 and SHA-3 subjects, not git objects; so the DSSE
pre-authentication encoding is signed as an artifact, and statement and bundle travel in one file. Signing
needs a network (Fulcio, Rekor) and a token; verifying needs neither: the library carries its root of trust.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any, Final

import msgspec

from gate.deploy.statement import (
    MAX_BYTES,
    PAYLOAD_TYPE,
    BadStatementError,
    Statement,
    decode_statement,
    encode_statement,
    pae,
    unbase64,
)
from gate.errors import CouldNotLook, UsageError

_INSTALL: Final = "Install it with: pip install 'gate-ci[sigstore]'; or sign with an Ed25519 --key."


class _Bundled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Our payload, DSSE's way, beside the sigstore bundle that signs its pre-authentication encoding."""

    payloadType: str  # noqa: N815 - DSSE's name
    payload: Annotated[str, msgspec.Meta(max_length=MAX_BYTES)]
    bundle: msgspec.Raw


def sign_keyless(made: Statement) -> str:
    """One JSON line. Raises UsageError without library or token, CouldNotLook when sigstore fails."""
    try:
        from sigstore.models import ClientTrustConfig
        from sigstore.oidc import IdentityToken, detect_credential
        from sigstore.sign import SigningContext
    except ImportError as error:
        raise UsageError("sigstore's library is not installed", advice=_INSTALL) from error
    payload = encode_statement(made)
    try:
        token = detect_credential()
    except Exception as error:
        raise UsageError(f"no OIDC token to sign with ({type(error).__name__})", advice=_WHERE) from error
    if token is None:
        raise UsageError("there is no OIDC token here to sign with", advice=_WHERE)
    try:
        context = SigningContext.from_trust_config(ClientTrustConfig.production())
        with context.signer(IdentityToken(token)) as signer:
            bundle = signer.sign_artifact(pae(payload))
    except Exception as error:  # the library raises errors of every layer below it
        raise CouldNotLook(f"sigstore did not sign: {type(error).__name__}") from error
    body = _Bundled(
        payloadType=PAYLOAD_TYPE,
        payload=base64.b64encode(payload).decode(),
        bundle=msgspec.Raw(bundle.to_json().encode()),
    )
    return msgspec.json.encode(body).decode() + "\n"


_WHERE: Final = (
    "In GitHub Actions give the job `permissions: id-token: write`; elsewhere sign with an Ed25519 --key."
)


def verify_keyless(data: bytes, identity: str, issuer: str, *, verifier: Any = None) -> Statement:
    """The statement, if that identity signed it, certified by that issuer. Asks no network.

    ``verifier`` is a ``sigstore.verify.Verifier`` (default: the public instance with the library's own root).
    Raises BadStatementError, UsageError without the library.
    """
    try:
        from sigstore.errors import Error
        from sigstore.models import Bundle
        from sigstore.verify import Verifier
        from sigstore.verify.policy import Identity
    except ImportError as error:
        raise UsageError("sigstore's library is not installed", advice=_INSTALL) from error
    if len(data) > MAX_BYTES:
        raise BadStatementError(f"the statement is larger than {MAX_BYTES:,} bytes")
    try:
        found = msgspec.json.decode(data, type=_Bundled)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStatementError("not a statement signed through sigstore") from error
    if found.payloadType != PAYLOAD_TYPE:
        raise BadStatementError("not an in-toto payload")
    payload = unbase64(found.payload)
    try:
        judge = verifier if verifier is not None else Verifier.production(offline=True)
        judge.verify_artifact(
            pae(payload), Bundle.from_json(bytes(found.bundle)), Identity(identity=identity, issuer=issuer)
        )
    except (Error, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = ascii(str(error))[1:201]
        raise BadStatementError(f"sigstore does not vouch for this statement: {why}") from error
    return decode_statement(payload)


def is_keyless(data: bytes) -> bool:
    """Whether a file looks like one that :func:`sign_keyless` wrote. Proves nothing."""
    try:
        msgspec.json.decode(data, type=_Bundled)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True

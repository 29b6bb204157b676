"""Statements signed without a key of one's own: sigstore's library, where an OIDC token is there.

The library's own statement type knows only SHA-2 and SHA-3 subjects, not git objects; so the DSSE
pre-authentication encoding is signed as an artifact, and statement and bundle travel in one file. Signing
needs a network (Fulcio, Rekor) and a token; verifying needs neither: the library carries its root of trust.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

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
from gate.errors import InconclusiveError, UsageError

if TYPE_CHECKING:
    from sigstore.models import Bundle
    from sigstore.verify import Verifier
    from sigstore.verify.policy import Identity

_INSTALL: Final = "Install it with: pip install 'gate-ci[sigstore]'; or sign with an Ed25519 --key."


class _Bundled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Our payload, DSSE's way, beside the sigstore bundle that signs its pre-authentication encoding."""

    payloadType: str  # noqa: N815 - DSSE's name
    payload: Annotated[str, msgspec.Meta(max_length=MAX_BYTES)]
    bundle: msgspec.Raw


def sign_keyless(made: Statement) -> str:
    """One JSON line. Raises UsageError without library or token, InconclusiveError when sigstore fails."""
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
        raise InconclusiveError(f"sigstore did not sign: {type(error).__name__}") from error
    body = _Bundled(
        payloadType=PAYLOAD_TYPE,
        payload=base64.b64encode(payload).decode(),
        bundle=msgspec.Raw(bundle.to_json().encode()),
    )
    return msgspec.json.encode(body).decode() + "\n"


_WHERE: Final = (
    "In GitHub Actions give the job `permissions: id-token: write`; elsewhere sign with an Ed25519 --key."
)


def verify_keyless(data: bytes, identity: str, issuer: str, *, root: Path | None = None) -> Statement:
    """The statement, if that identity signed it, certified by that issuer. Asks no network.

    ``root``: a sigstore trusted root (JSON) instead of the public instance's, which the library carries.
    Raises BadStatementError, UsageError without the library or for a root that is none.
    """
    if len(data) > MAX_BYTES:
        raise BadStatementError(f"the statement is larger than {MAX_BYTES:,} bytes")
    try:
        found = msgspec.json.decode(data, type=_Bundled)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStatementError("not a statement signed through sigstore") from error
    if found.payloadType != PAYLOAD_TYPE:
        raise BadStatementError("not an in-toto payload")
    payload = unbase64(found.payload)
    vouched(pae(payload), bytes(found.bundle), identity, issuer, root=root)
    return decode_statement(payload)


def vouched(signed: bytes, bundle: bytes, identity: str, issuer: str, *, root: Path | None = None) -> None:
    """Return if the bundle is a signature over exactly those bytes by that identity; else raise.

    Bundles of both kinds are understood: over plain bytes (ours), or with a DSSE envelope (cosign,
    actions/attest). Raises BadStatementError, UsageError.
    """
    try:
        from sigstore.errors import Error
        from sigstore.models import Bundle, TrustedRoot
        from sigstore.verify import Verifier
        from sigstore.verify.policy import Identity
    except ImportError as error:
        raise UsageError("sigstore's library is not installed", advice=_INSTALL) from error
    if root is not None:
        try:
            judge = Verifier(trusted_root=TrustedRoot.from_file(str(root)))
        except (Error, OSError, ValueError, TypeError, KeyError) as error:
            raise UsageError(f"{root} is no sigstore trusted root: {ascii(str(error))[1:201]}") from error
    try:
        if root is None:
            judge = Verifier.production(offline=True)
        who = Identity(identity=identity, issuer=issuer)
        _over(judge, signed, Bundle.from_json(bundle), who, enveloped=b'"dsseEnvelope"' in bundle)
    except (Error, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = ascii(str(error))[1:201]
        raise BadStatementError(f"sigstore does not vouch for this statement: {why}") from error


def _over(judge: Verifier, signed: bytes, bundle: Bundle, who: Identity, *, enveloped: bool) -> None:
    """A bundle signs bytes, or a DSSE envelope in it, whose encoding must then be those very bytes.

    Either of the library's methods refuses a bundle of the other kind.
    """
    if not enveloped:
        judge.verify_artifact(signed, bundle, who)
        return
    kind, payload = judge.verify_dsse(bundle, who)
    if pae(payload, kind) != signed:
        raise ValueError("the bundle is over another statement")


def is_keyless(data: bytes) -> bool:
    """Whether a file looks like one that :func:`sign_keyless` wrote. Proves nothing."""
    try:
        msgspec.json.decode(data, type=_Bundled)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True

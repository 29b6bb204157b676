"""A verdict as an in-toto Statement v1, in a DSSE envelope (docs/deploy.md).

Sources: in-toto attestation framework, "Statement v1" (spec/v1/statement.md) and "DigestSet"
(``gitCommit``, ``gitTree``); DSSE protocol and envelope v1.0.0 (secure-systems-lab/dsse). There is one
byte form of a statement: what decodes but is not written that way is refused, so no two readers can
read two things in it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from gate.errors import Exit, GateError

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "urn:gate-ci:verdict:v1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
MAX_BYTES: Final = 1 << 20

Object = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$(?!\n)", max_length=64)]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)", max_length=64)]
Percent = Annotated[int, Meta(ge=0, le=100)]
When = Annotated[int, Meta(ge=0, le=1 << 40)]


class BadStatementError(GateError):
    """Not to be believed: malformed, not signed by a trusted key, or about something else."""

    exit = Exit.BLOCKED


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class CommitDigest(_Part, frozen=True, kw_only=True):
    """The judged commit's object name."""

    commit: Object = msgspec.field(name="gitCommit")


class TreeDigest(_Part, frozen=True, kw_only=True):
    """The judged commit's tree."""

    tree: Object = msgspec.field(name="gitTree")


class CommitSubject(_Part, frozen=True, kw_only=True):
    """First subject."""

    name: Literal["commit"] = "commit"
    digest: CommitDigest


class TreeSubject(_Part, frozen=True, kw_only=True):
    """Second subject."""

    name: Literal["tree"] = "tree"
    digest: TreeDigest


class Digests(_Part, frozen=True, kw_only=True):
    """sha256 of rules with settings, of the rules, of the program, and of report.json."""

    policy: Sha256
    rules: Sha256
    gate: Sha256
    report: Sha256


class Bands(_Part, frozen=True, kw_only=True):
    """Scores from which the verdict is warn, and fail."""

    warn: Percent
    fail: Percent


class Predicate(_Part, frozen=True, kw_only=True):
    """What was judged, against which base, when (seconds since 1970), and how it ended.

    ``overridden``: the verdict rests on overrides; the first of them runs out at ``overrides_until``
    (None: they last as long as the commit).
    """

    verdict: Literal["pass", "warn", "fail", "inconclusive"]
    score: Percent
    thresholds: Bands
    base: Object | None
    at: When
    gate_version: Annotated[str, Meta(max_length=300)]
    digests: Digests
    overridden: bool = False
    overrides_until: When | None = None


class Statement(_Part, frozen=True, kw_only=True):
    """An in-toto Statement of a verdict. Subjects are exactly the commit and its tree, in this order."""

    type: Literal["https://in-toto.io/Statement/v1"] = msgspec.field(name="_type", default=STATEMENT_TYPE)
    subject: tuple[CommitSubject, TreeSubject]
    predicate_type: Literal["urn:gate-ci:verdict:v1"] = msgspec.field(
        name="predicateType", default=PREDICATE_TYPE
    )
    predicate: Predicate

    @property
    def commit(self) -> str:
        """The judged commit."""
        return self.subject[0].digest.commit

    @property
    def tree(self) -> str:
        """Its tree."""
        return self.subject[1].digest.tree


class Signature(_Part, frozen=True, kw_only=True):
    """``keyid`` is a hint that nothing vouches for; ``sig`` is base64."""

    keyid: Annotated[str, Meta(max_length=200)] = ""
    sig: Annotated[str, Meta(max_length=2_000)]


class Envelope(_Part, frozen=True, kw_only=True):
    """DSSE, JSON form."""

    payload_type: Literal["application/vnd.in-toto+json"] = msgspec.field(
        name="payloadType", default=PAYLOAD_TYPE
    )
    payload: Annotated[str, Meta(max_length=MAX_BYTES)]
    signatures: Annotated[list[Signature], Meta(min_length=1, max_length=16)]


def statement(*, commit: str, tree: str, predicate: Predicate) -> Statement:
    """A statement about one commit. Raises BadStatementError for names that are none."""
    made = Statement(
        subject=(
            CommitSubject(digest=CommitDigest(commit=commit)),
            TreeSubject(digest=TreeDigest(tree=tree)),
        ),
        predicate=predicate,
    )
    return decode_statement(encode_statement(made))


def encode_statement(made: Statement) -> bytes:
    """The one byte form: members in the order of the types, no white space, defaults written."""
    return msgspec.json.encode(made)


def decode_statement(data: bytes) -> Statement:
    """Strict: unknown members, wrong types, other subjects, or another byte form are refused."""
    try:
        found = msgspec.json.decode(data, type=Statement)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStatementError(f"not a statement of gate: {ascii(str(error))[1:201]}") from error
    if encode_statement(found) != data:
        raise BadStatementError("not a statement of gate: not in its one byte form")
    return found


def decode_envelope(data: bytes) -> tuple[Envelope, bytes]:
    """The envelope and its payload's bytes. Raises BadStatementError."""
    if len(data) > MAX_BYTES:
        raise BadStatementError(f"the statement is larger than {MAX_BYTES:,} bytes")
    try:
        found = msgspec.json.decode(data, type=Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadStatementError(f"not a DSSE envelope: {ascii(str(error))[1:201]}") from error
    return found, unbase64(found.payload)


def unbase64(text: str) -> bytes:
    """Standard base64 with padding and nothing else. Raises BadStatementError."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadStatementError("not base64 where the envelope needs it") from error
    if base64.b64encode(data).decode() != text:
        raise BadStatementError("base64 with stray bits in the envelope")
    return data


def pae(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """DSSE's pre-authentication encoding: the bytes that are signed."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sha256(data: bytes) -> str:
    """In hex."""
    return hashlib.sha256(data).hexdigest()

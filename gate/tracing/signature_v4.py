"""Was a request signed with a planted key as AWS asks for it? Computed anew, so that nothing else fits.

AWS Signature Version 4: the key never leaves, and all of the signature follows from it and the request.
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from gate.tracing.readers.sinkhole import HttpRequest

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_FIELDS: Final = frozenset(("Credential", "SignedHeaders", "Signature"))
_UNSIGNED: Final = "UNSIGNED-PAYLOAD"


def is_signed(event: HttpRequest, value: bytes, key_id: str, key: str) -> bool:
    """True when ``value``, the header *authorization*, is exactly what this key makes of this request."""
    algorithm, _, rest = value.decode("latin-1").partition(" ")
    fields = dict(part.strip().partition("=")[::2] for part in rest.split(","))
    if algorithm != _ALGORITHM or fields.keys() != _FIELDS:
        return False
    given, _, scope = fields["Credential"].partition("/")
    parts = scope.split("/")
    if given != key_id or len(parts) != 4 or parts[3] != "aws4_request":
        return False
    names = fields["SignedHeaders"]
    date = event.header("x-amz-date")
    if not date.startswith(parts[0]) or "host" not in names.split(";"):
        return False
    digest = hashlib.sha256(event.body).hexdigest()
    body = event.header("x-amz-content-sha256") or digest
    if body not in (digest, _UNSIGNED) or len(event.body) != event.size:
        return False
    signing = f"AWS4{key}".encode()
    for part in parts:
        signing = hmac.new(signing, part.encode("latin-1"), "sha256").digest()
    headers = "".join(f"{name}:{' '.join(event.header(name).split())}\n" for name in names.split(";"))
    path, _, query = event.target.partition(b"?")
    for shown in (path.decode("latin-1"), quote(path.decode("latin-1"), safe="/-_.~")):  # S3 escapes once
        asked = "\n".join((event.method, shown or "/", _sorted(query), headers, names, body))
        text = "\n".join((algorithm, date, scope, hashlib.sha256(asked.encode("latin-1")).hexdigest()))
        if hmac.new(signing, text.encode("latin-1"), "sha256").hexdigest() == fields["Signature"]:
            return True
    return False


def _sorted(query: bytes) -> str:
    """The query in the canonical order and spelling."""
    pairs = [part.partition(b"=")[::2] for part in query.split(b"&") if part]
    spelt = sorted((_spelt(name), _spelt(value)) for name, value in pairs)
    return "&".join(f"{name}={value}" for name, value in spelt)


def _spelt(part: bytes) -> str:
    return quote(unquote_to_bytes(part), safe="-_.~")

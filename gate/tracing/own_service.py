"""A planted secret on its way to the service that it was issued for, in the form that this service takes.

Exactly that is no leak: the whole header is the form, and nothing else. The same bytes for another host, in
another header, with a word more, or in another encoding are not folded, and follow the secret.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from gate.model.canary import Canary
from gate.tracing.readers.sinkhole import HttpRequest
from gate.tracing.signature_v4 import is_signed

_GITHUB: Final = ("api.github.com", "uploads.github.com", "github.com", "ghcr.io", "models.github.ai")
_HOSTS: Final[dict[str, tuple[str, ...]]] = {
    "env:GITHUB_TOKEN": _GITHUB,
    "env:OPENAI_API_KEY": ("api.openai.com",),
    "npmrc": ("registry.npm.example",),
    "git-credentials": ("git.example",),
    "netrc": ("git.example",),
    "pypirc": ("upload.pypi.org", "test.pypi.org"),
    "docker-config": ("registry.example",),
    "cluster-token": ("kubernetes.default.svc", "kubernetes.default", "kubernetes"),
}
"""Who may be given which secret."""
_AWS: Final = (".amazonaws.com", ".amazonaws.com.cn")
_USERS: Final = ("ci", "x-access-token", "oauth2", "git", "__token__", "token", "")
_PREFIX: Final = {"pypirc": "pypi-"}
_HEADERS: Final = frozenset(("authorization", "private-token", "x-api-key", "api-key", "x-npm-token"))


class OwnServices:
    """The forms of one set of secrets, by host."""

    def __init__(self, planted: Sequence[Canary]) -> None:
        self._forms: dict[str, dict[bytes, bytes]] = {}
        self._aws = _aws_pairs(planted)
        for canary in planted:
            for host in _HOSTS.get(canary.name, ()):
                known = self._forms.setdefault(host, {})
                for secret in canary.secrets:
                    word = f"<{canary.name}>".encode()
                    known.update(dict.fromkeys(_forms(_PREFIX.get(canary.name, "") + secret), word))

    def folded(self, event: HttpRequest, host: str, header: str, value: bytes) -> bytes:
        """The header's value, or a word for the secret where it is one in its own form."""
        if header not in _HEADERS:
            return value
        if host.endswith(_AWS) and any(is_signed(event, value, *pair) for pair in self._aws):
            return b"<signed with the planted key>"
        return self._forms.get(host, {}).get(value, value)


def _aws_pairs(planted: Sequence[Canary]) -> list[tuple[str, str]]:
    """Key ids with their keys: of the file, and of the variables."""
    secrets = {canary.name: canary.secrets for canary in planted}
    of_file = secrets.get("aws-credentials", ())
    of_variables = secrets.get("env:AWS_ACCESS_KEY_ID", ()) + secrets.get("env:AWS_SECRET_ACCESS_KEY", ())
    return [(pair[0], pair[1]) for pair in (of_file, of_variables) if len(pair) == 2]


def _forms(secret: str) -> list[bytes]:
    """Header values by which a service takes a token (RFC 6750, RFC 7617, and GitHub's own)."""
    plain = [f"{scheme}{secret}" for scheme in ("Bearer ", "bearer ", "token ", "Token ", "")]
    pairs = [*(f"{user}:{secret}" for user in _USERS), f"{secret}:", f"{secret}:x-oauth-basic"]
    basic = ["Basic " + base64.b64encode(pair.encode()).decode() for pair in pairs]
    return [form.encode() for form in (*plain, *basic, "Basic " + secret)]

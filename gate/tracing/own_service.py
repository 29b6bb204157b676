"""A planted secret on its way to the service that it was issued for, in the form that this service takes.

Exactly that is no leak: the whole header is the form, and nothing else. The same bytes for another host, in
another header, with a word more, or in another encoding are not folded, and follow the secret.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Final

from gate.model.canary import Canary
from gate.tracing.readers.sinkhole import HttpRequest, TcpConnection
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
_VENDORS: Final = {
    "airtable": "airtable", "algolia": "algolia", "amplitude": "amplitude", "anthropic": "anthropic",
    "artifactory": "artifactory", "asana": "asana", "atlas": "atlas", "atlassian": "atlassian",
    "auth0": "auth0", "azure": "windows", "bitbucket": "bitbucket", "buildkite": "buildkite",
    "cargo": "crates", "cf": "cloudflare", "circleci": "circleci", "claude": "anthropic",
    "cloudflare": "cloudflare", "codecov": "codecov", "cohere": "cohere", "confluence": "confluence",
    "coveralls": "coveralls", "crates": "crates", "datadog": "datadog", "dd": "datadog", "deepl": "deepl",
    "digitalocean": "digitalocean", "discord": "discord", "docker": "docker", "dropbox": "dropbox",
    "facebook": "facebook", "figma": "figma", "firebase": "firebase", "gcp": "googleapis",
    "gem": "rubygems", "gemini": "googleapis", "gh": "github", "github": "github", "gitlab": "gitlab",
    "gl": "gitlab", "google": "googleapis", "grafana": "grafana", "groq": "groq", "heroku": "heroku",
    "hf": "huggingface", "hubspot": "hubspot", "huggingface": "huggingface", "jfrog": "jfrog",
    "jira": "jira", "linear": "linear", "linkedin": "linkedin", "mailchimp": "mailchimp",
    "mailgun": "mailgun", "mapbox": "mapbox", "maven": "maven", "mistral": "mistral",
    "mixpanel": "mixpanel", "mongodb": "mongodb", "netlify": "netlify", "newrelic": "newrelic",
    "node": "npm", "notion": "notion", "npm": "npm", "nuget": "nuget", "okta": "okta", "openai": "openai",
    "pagerduty": "pagerduty", "paypal": "paypal", "perplexity": "perplexity", "pinecone": "pinecone",
    "plaid": "plaid", "posthog": "posthog", "pulumi": "pulumi", "pypi": "pypi", "quay": "quay",
    "replicate": "replicate", "rubygems": "rubygems", "salesforce": "salesforce", "segment": "segment",
    "sendgrid": "sendgrid", "sentry": "sentry", "shopify": "shopify", "slack": "slack", "snyk": "snyk",
    "sonar": "sonar", "sonatype": "sonatype", "spotify": "spotify", "square": "square", "stripe": "stripe",
    "supabase": "supabase", "telegram": "telegram", "terraform": "terraform", "tf": "terraform",
    "travis": "travis", "twilio": "twilio", "twine": "pypi", "twitter": "twitter", "vault": "vault",
    "vercel": "vercel", "zendesk": "zendesk",
}  # fmt: skip
"""What a vendor's hosts are called, by the first word of its variables."""
_AWS: Final = (".amazonaws.com", ".amazonaws.com.cn")
_USERS: Final = ("ci", "x-access-token", "oauth2", "git", "__token__", "token", "")
_PREFIX: Final = {"pypirc": "pypi-"}
_HEADERS: Final = frozenset(("authorization", "private-token", "x-api-key", "api-key", "x-npm-token"))


class OwnServices:
    """The forms of one set of secrets, by host."""

    def __init__(self, planted: Sequence[Canary]) -> None:
        self._forms: dict[str, dict[bytes, bytes]] = {}
        self._named: dict[bytes, str] = {}
        self._aws = _aws_pairs(planted)
        for canary in planted:
            if canary.named:
                name = canary.env or ""
                self._named.update((form, name) for one in canary.secrets for form in _forms(one))
            for host in _HOSTS.get(canary.name, ()):
                known = self._forms.setdefault(host, {})
                for secret in canary.secrets:
                    word = f"<{canary.name}>".encode()
                    known.update(dict.fromkeys(_forms(_PREFIX.get(canary.name, "") + secret), word))

    def folded(self, event: HttpRequest, made: TcpConnection | None, header: str, value: bytes) -> bytes:
        """The header's value, or a word for the secret where it is one in its own form. ``made``: the
        connection, whose name counts: what the request says of its host is anybody's word.
        """
        host = (made.name or "").lower().rstrip(".") if made is not None else ""
        said = event.header("host").partition(":")[0].lower()
        if header not in _HEADERS or not host or said not in ("", host) or event.scheme != "https":
            return value
        if host.endswith(_AWS) and any(is_signed(event, value, *pair) for pair in self._aws):
            return b"<signed with the planted key>"
        known = self._forms.get(host, {}).get(value)
        if known is None and (name := self._named.get(value)) and may_be_given(name, host):
            known = f"<env:{name}>".encode()
        return known or value


def may_be_given(name: str, host: str) -> bool:
    """May a service under this name be given the variable? One that is named after a vendor, only that
    vendor's own; what no vendor is known of, any that has a name.
    """
    vendor = _VENDORS.get(name.lower().partition("_")[0])
    return vendor is None or any(vendor in label for label in host.split("."))


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

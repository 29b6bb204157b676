"""What a whole file says of a protection that has no call of its own to compare: defaults, reach. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.protections.facts import Strength
from gate.protections.overall.rules import ENCRYPTED
from gate.protections.overall.said import Script
from gate.protections.strengths import kept
from gate.regex import regex

FALLBACK: Final = "a log-in for entry points that say nothing themselves"
NESTED: Final = "nested objects that belong to the one around them"
REACH: Final = "entry points that a hook stands before"

_SCHEMES: Final = {
    "rediss": "redis", "amqps": "amqp", "mqtts": "mqtt", "ldaps": "ldap", "smtps": "smtp", "imaps": "imap",
    "pop3s": "pop3", "ftps": "ftp", "wss": "ws", "grpcs": "grpc", "kafka+ssl": "kafka", "valkeys": "valkey",
}  # fmt: skip
_POLICIES: Final = frozenset({"AddAuthorization", "AddAuthorizationBuilder", "AddAuthorizationCore"})
_FALLBACKS: Final = frozenset({"FallbackPolicy", "SetFallbackPolicy"})
_NESTED: Final = regex(r"\{\w+[^{}]*\}.*\{\w+[^{}]*\}")
_HOOKS: Final = frozenset({"onRequest", "preHandler", "preValidation", "preParsing"})
_REACHING: Final = frozenset({"fp", "fastifyPlugin", "skip-override"})
_REFUSING: Final = regex(r"\b40[13]\b|[Uu]nauthori|[Ff]orbidden|[Aa]uthenticat|jwtVerify")
_CLIENTS: Final[tuple[tuple[frozenset[str], frozenset[str]], ...]] = (
    (
        frozenset({"smtplib.SMTP", "SMTP", "SmtpClient", "PHPMailer"}),
        frozenset({"starttls", "SMTP_SSL", "EnableSsl", "SMTPSecure", "StartTls", "SslOnConnect",
                   "ENCRYPTION_STARTTLS", "ENCRYPTION_SMTPS", "use_tls", "start_tls"}),
    ),
    (
        frozenset({"ldap.initialize", "ldap3", "import ldap3", "LdapConnection"}),
        frozenset({"start_tls_s", "start_tls", "StartTLS", "use_ssl", "SecureSocketLayer",
                   "StartTransportLayerSecurity"}),
    ),
    (
        frozenset({"mqtt.Client", "import paho.mqtt.client", "NewClientOptions"}),
        frozenset({"tls_set", "tls_set_context", "SetTLSConfig"}),
    ),
)  # fmt: skip


def file_facts(script: Script) -> Iterator[Strength]:
    """What one file says as a whole, at most once of each kind."""
    words = script.words
    yield from _fallback(script)
    yield from _nested(script)
    yield from _reach(script)
    yield from _addresses(script)
    yield from _sockets(script)
    yield from _read(script)
    for clients, encrypted in _CLIENTS:
        used = next((word for word in words if word in clients), None)
        safe = next((word for word in words if word in encrypted), None)
        if used is not None:
            yield kept(ENCRYPTED, safe is not None, safe or f"{used} without TLS", words[safe or used])


def _addresses(script: Script) -> Iterator[Strength]:
    """``rediss://cache.shop`` and ``redis://cache.shop``: the same host, without encryption."""
    for word, line in script.words.items():
        scheme, mark, rest = word.partition("://")
        safe = scheme in _SCHEMES
        host = rest.rpartition("@")[2].partition("/")[0].partition(":")[0].lower()
        if mark and "." in host and (safe or scheme in _SCHEMES.values()):
            plain = _SCHEMES.get(scheme, scheme)
            yield kept(f"{ENCRYPTED}: {plain} of {host}", safe, f"{scheme}://{host}", line)


def _sockets(script: Script) -> Iterator[Strength]:
    """MailKit's SecureSocketOptions: ``StartTlsWhenAvailable`` is what anybody in between takes away."""
    for word, line in script.words.items():
        of, _, name = word.rpartition(".")
        if of.endswith("SecureSocketOptions"):
            yield kept(ENCRYPTED, name in ("StartTls", "SslOnConnect"), word, line)


def _read(script: Script) -> Iterator[Strength]:
    """Spring's ``@EnableGlobalMethodSecurity`` reads only what it is told to."""
    line = script.words.get("EnableGlobalMethodSecurity")
    if line is not None:
        holds = "prePostEnabled" in script.words
        yield kept("annotations of who may that are read", holds, "@EnableGlobalMethodSecurity", line)


def _fallback(script: Script) -> Iterator[Strength]:
    """ASP.NET's FallbackPolicy holds for whatever says nothing; the default policy only for [Authorize]."""
    made = next((word for word in script.words if word in _POLICIES), None)
    if made is not None:
        set_at = next((word for word in script.words if word in _FALLBACKS), None)
        holds = set_at is not None and not re.search(r"FallbackPolicy\s*=\s*null", script.text)
        yield kept(FALLBACK, holds, set_at or made, script.words[set_at or made])


def _nested(script: Script) -> Iterator[Strength]:
    """Laravel's scoped bindings: is ``{document}`` looked for among those of ``{project}``?"""
    if "Route" not in script.words:
        return
    nested = [w for w in script.words if _NESTED.search(w) or re.fullmatch(r"[\w-]+(?:\.[\w-]+)+", w)]
    used = {"get", "post", "put", "patch", "delete", "resource", "apiResource", "match", "any", "resources"}
    if nested and used & script.words.keys():
        scoped = next((w for w in script.words if w in ("scopeBindings", "scoped")), None)
        yield kept(NESTED, scoped is not None, scoped or nested[0], script.words[scoped or nested[0]])


def _reach(script: Script) -> Iterator[Strength]:
    """Hooks that refuse: of the whole application, or only of the plugin, module or blueprint they are in?"""
    words = script.words
    hook = next((w for w in words if w in _HOOKS), None)
    if "addHook" in words and hook is not None and _REFUSING.search(script.text):
        wide = next((w for w in words if w in _REACHING), None)
        yield kept(REACH, wide is not None, wide or f'addHook("{hook}")', words[wide or "addHook"])
    for safe, narrow in (("before_app_request", "before_request"), ("APP_GUARD", "UseGuards")):
        found = safe if safe in words else narrow if narrow in words else None
        if found is not None:
            yield kept(f"{REACH}: {safe}", found == safe, found, words[found])

"""Words: which names are of secrets and of settings, and which say that a value serves to authenticate."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final

from gate.languages import naming
from gate.regex import regex

_SECRET: Final = regex(
    r"(?:^|_)(?:secrets?|secret_?keys?(?:_base)?|tokens?|pass(?:word|wd|phrase)s?|api_?keys?|(?:private|access|signing|encryption"
    r"|master|auth|webhook|service_role|jwt|hmac|session|deploy|app)_?key|credentials?|dsn|connection_string|signing_salt"
    r"|(?:database|db|redis|broker|mongo(?:db)?|postgres(?:ql)?|mysql|amqp|sqlalchemy_database)_ur[il])(?:_\w{1,8})?$"
)
_NO_SECRET: Final = regex(
    r"public|publishable|(?:^|_)(?:max|min|num|vite|react_app|site|csrf|xsrf|eos|bos|pad|unk|sep|mask|stop|sentry|count"
    r"|input|output|total|completion|prompt|context|design|use|has|is|require|enable|allow|validate|show|no|hide)_"
    r"|(?:^|_)(?:ids?|name|names|file|path|dir|ttl|expir\w*|length|len|size|count|type|header|field|lifetime|timeout"
    r"|algorithm|enabled|prefix|suffix|env|arn|version|policy|url|uri|endpoint|age|limit|required|days|hours|minutes"
    r"|seconds|param|format|class|scope|scopes|provider|manager|store|backend|service|hash|index|ref|regex|pattern"
    r"|label|error|kind|role|min|max|rate|list|map|set|var)$"
)
_DATABASE: Final = regex(r"(?:database|db|redis|broker|mongo\w*|postgres\w*|mysql|amqp)_ur[il]$")
_WHOLE: Final = frozenset(
    {"settings", "config", "configuration", "conf", "cfg", "app_config", "app_settings"}
)
_HOLDERS: Final = _WHOLE | {"environ", "env", "secrets", "credentials"}
_AUTHENTICATES: Final = regex(
    r"auth|token|secret|passw|pwd|passphrase|(?:^|_)(?:pass|keys?|sig|urls?|uri|app_?id|user(?:name)?|k)$|api_?key"
    r"|credential|signature|bearer|cookie|jwt|session|csrf|(?:^|_)dsn|connection|private|access|licen[cs]e|cert"
    r"|_key_|database|webhook|client_id|login"
)
_LOGIN: Final = regex(
    r"auth|token|secret|passw|pwd|passphrase|(?:^|_)pass$|api_?key|credential|signature|bearer|cookie|jwt|session|csrf"
    r"|private_key|login|(?:^|_)(?:sid|otp|code|pin|card|cvc|cvv|iban|ssn)$"
)
_AUTHENTICATING_TEXT: Final = regex(
    r"bearer|basic |token|auth|passw|api_?-?key|secret|\bkey=|credential|://|--?p(?:ass)?\b|login",
    re.IGNORECASE,
)
_HEADER: Final = regex(
    r"(?:[A-Za-z][A-Za-z0-9]*-)+[A-Za-z0-9]+|[Ee][Tt]ag|[Ss]erver|[Vv]ia|[Vv]ary|[Ll]ink|[Ll]ocation|[Ww]arning"
)
_SETTINGS_TYPE: Final = regex(r"(?:Settings|Config|Configuration|Options|Properties|Environment)\b")
_KEY: Final = regex(
    r"^(?:\w+_)?(?:secret_?keys?(?:_base)?|password|passphrase|passwd|api_?key|private_key|signing_keys?|client_secret"
    r"|credentials?|auth_token|access_token|session_key|hmac_key|encryption_key)$"
)
_PROVES: Final = regex(
    r"hmac|secret_key_spec|basic_auth|(?:^|_)(?:ftp|sftp|smtp|imap|ldap|ssh|login|log_in|authenticate|connect|auth)(?:_|$)"
    r"|cipher|signer|serializer|(?:^|_)sign$|password_?auth"
    r"|constant_time|compare_digest|timing_safe|secure_compare|hash_equals|fixed_time|equals_constant|time_constant"
    r"|(?:^|_)ct_eq$|(?:^|_)message_digest_is_equal$"
)
_CREDENTIAL_ENTRIES: Final = frozenset({
    "authorization", "proxy_authorization", "x_api_key", "x_auth_token", "api_key", "apikey",
    "password", "passwd",
    "passphrase", "secret", "client_secret", "auth_token", "access_token", "secret_key", "signing_key",
    "auth",
    "bearer", "private_key",
})  # fmt: skip
_GENERAL: Final = frozenset({
    "key", "value", "data", "name", "id", "url", "host", "port", "user", "username", "body", "text",
    "message",
    "payload", "content", "path", "file", "state", "type", "code", "index", "address", "database",
    "timeout", "args",
    "kwargs", "params", "headers", "buffer", "bytes", "input", "output", "source", "target", "items",
    "hostname",
    "endpoint", "length", "size", "count", "email", "db", "server", "client", "options", "config",
    "settings",
})  # fmt: skip
_BUNDLER: Final = regex(
    r"(?:next|vite|webpack|rollup|nuxt|astro|esbuild|rspack|rsbuild|vue|svelte|craco|metro|expo|quasar|gatsby|electron"
    r"|app)[\w.-]*\.config[\w.-]*|webpack[\w.-]*|(?:config\.)?rollup[\w.-]*|esbuild[\w.-]*"
)


def snake(name: str) -> str:
    """``#sessionSecret`` and ``X-Session`` in snake case, marks around them aside."""
    return naming.snake(name.lstrip("#$")).strip("_")


@lru_cache(8192)
def is_secret(name: str) -> bool:
    """Does a setting of this name hold a secret?"""
    plain = snake(name)
    if _DATABASE.search(plain):
        return True
    return _SECRET.search(plain) is not None and _NO_SECRET.search(plain) is None


def is_settings(name: str) -> bool:
    """Is an object of this name all settings of a program?"""
    return snake(name) in _WHOLE


def is_error(name: str) -> bool:
    """Is an object of this name an error that was caught or handed on?"""
    return snake(name) in ("error", "err", "exc", "exception")


def holds_settings(name: str) -> bool:
    """Does an object of this name hold settings, among them secrets?"""
    plain = snake(name)
    return plain in _HOLDERS or plain.endswith(("_config", "_settings", "_cfg", "_conf", "_env"))


def is_settings_type(kind: str) -> bool:
    """Is a type of this name an object of settings: ``StoreOptions``, ``IOptions<AppSettings>``?"""
    return _SETTINGS_TYPE.search(kind) is not None


def tells_key(name: str) -> bool:
    """Does an attribute say by its own name that it is a key or a password, whatever it belongs to?"""
    return _KEY.search(snake(name)) is not None


def names_secret(name: str) -> bool:
    """Does an attribute say by its own name, of several words, that it is a secret: ``join_token``?"""
    return "_" in snake(name) and is_secret(name)


def proves_key(called: str) -> bool:
    """Is what a call of this name is given used to sign, to encrypt or to log in?"""
    return _PROVES.search(snake(called)) is not None


def is_credential_entry(key: str) -> bool:
    """Does what stands under this keyword or header authenticate, and nothing else?"""
    return snake(key) in _CREDENTIAL_ENTRIES


def is_general(name: str) -> bool:
    """Is the name of an attribute one that anything may have, so that it proves nothing in another file?"""
    return snake(name) in _GENERAL


def authenticates(key: str) -> bool:
    """Does a keyword, an entry or a header of this name serve to authenticate or to connect?"""
    return _AUTHENTICATES.search(snake(key)) is not None


def is_login(key: str) -> bool:
    """Does an entry of this name authenticate a user: ``password``, and not ``surrogate_key``?"""
    return _LOGIN.search(snake(key)) is not None


def is_authenticating_text(text: str) -> bool:
    """Does a text around a value say that it authenticates: ``Bearer {}``, ``https://{}@host``?"""
    return _AUTHENTICATING_TEXT.search(text) is not None


def is_header(text: str) -> bool:
    """Is it the name of a header?"""
    return len(text) < 60 and _HEADER.fullmatch(text) is not None


def is_bundler(path: str) -> bool:
    """Is the file what a bundler of web pages is configured by?"""
    at = PurePosixPath(path)
    stem = at.name.lower().removesuffix(at.suffix)
    return (
        at.suffix in (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts") and _BUNDLER.fullmatch(stem) is not None
    )

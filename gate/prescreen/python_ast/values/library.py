"""What calls of the standard library and of frameworks do to a value: which classes they make it safe for.

Data only. A class here is a weakness that a text can cause: ``html``, ``shell``, ``sql``, ``path`` ...
"""

from __future__ import annotations

import builtins
import sys
from typing import Final

EVERY: Final = frozenset({
    "html", "shell", "sql", "path", "code", "template", "ldap", "xpath", "redirect", "address", "xml",
    "object",
    "header", "log", "session", "pattern", "nosql",
})  # fmt: skip
_HTML: Final = frozenset({"html"})
SANITISERS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(
        (
            "html.escape", "markupsafe.escape", "flask.escape", "cgi.escape", "django.utils.html.escape",
            "django.utils.html.conditional_escape", "bleach.clean", "nh3.clean", "xml.sax.saxutils.escape",
            "xml.sax.saxutils.quoteattr", "tornado.escape.xhtml_escape", "werkzeug.utils.escape",
            "jinja2.escape", "django.utils.html.format_html", "django.utils.html.format_html_join",
            "markupsafe.Markup.escape",
            "django.utils.html.strip_tags",
        ),
        _HTML,
    ),
    **dict.fromkeys(("shlex.quote", "pipes.quote", "shlex.join"), frozenset({"shell"})),
    **dict.fromkeys(
        ("werkzeug.utils.secure_filename", "os.path.basename", "ntpath.basename"), frozenset({"path"})
    ),
    "django.utils.text.get_valid_filename": frozenset({"path", "html", "shell", "sql"}),
    "django.utils.text.slugify": EVERY,
    **dict.fromkeys(
        (
            "ldap3.utils.conv.escape_filter_chars", "ldap3.utils.conv.escape_bytes",
            "ldap.filter.filter_format",
            "ldap3.utils.dn.escape_rdn", "ldap.filter.escape_filter_chars", "ldap.dn.escape_dn_chars",
        ),
        frozenset({"ldap"}),
    ),
    **dict.fromkeys(
        ("urllib.parse.quote", "urllib.parse.quote_plus", "urllib.parse.urlencode"),
        frozenset({"html", "redirect", "address", "header", "log", "sql", "shell", "xpath"}),
    ),
    "re.escape": frozenset({"pattern"}),
    "ast.literal_eval": frozenset({"code"}),
    "binascii.hexlify": EVERY,
    **dict.fromkeys(("repr", "ascii"), frozenset({"header", "log"})),
}  # fmt: skip
"""The result still carries the text, but not what it needs to do harm."""
HARMLESS: Final = frozenset({
    "int", "float", "bool", "len", "hash", "id", "abs", "round", "ord", "any", "all", "sum", "isinstance",
    "hasattr",
    "issubclass", "callable", "type", "range", "complex", "divmod", "pow", "uuid.UUID", "uuid.uuid4",
    "uuid.uuid1",
    "ipaddress.ip_address", "ipaddress.ip_network", "ipaddress.IPv4Address", "ipaddress.IPv6Address",
    "decimal.Decimal", "datetime.datetime.now", "datetime.date.today", "time.time", "time.monotonic",
    "datetime.datetime.strptime", "datetime.date.fromisoformat", "datetime.datetime.fromisoformat",
    "os.path.exists", "os.path.isfile", "os.path.isdir", "os.path.getsize", "os.urandom", "os.getpid",
    "print",
    "random.random", "random.randint", "random.randrange", "random.uniform", "zlib.crc32", "binascii.crc32",
    "secrets.token_hex", "secrets.token_urlsafe", "secrets.token_bytes", "secrets.randbelow",
    "hmac.compare_digest", "django.utils.crypto.get_random_string",
    "django.utils.http.url_has_allowed_host_and_scheme", "werkzeug.security.check_password_hash",
    "werkzeug.security.generate_password_hash", "fnmatch.fnmatch", "re.compile",
})  # fmt: skip
"""Nothing of the text of the arguments is in the result."""
DIGESTS: Final = frozenset({"hexdigest", "digest"})
ENDS: Final = frozenset({
    "flask.abort", "werkzeug.exceptions.abort", "sys.exit", "exit", "quit", "os._exit", "os.abort",
    "bottle.abort",
    "pytest.fail", "quart.abort", "sanic.exceptions.abort", "flask_restful.abort",
})  # fmt: skip
"""Calls that do not come back."""
UNDOING: Final = frozenset({
    "urllib.parse.unquote", "urllib.parse.unquote_plus", "html.unescape", "base64.b64decode", "json.loads",
    "urllib.parse.parse_qs", "urllib.parse.parse_qsl", "base64.urlsafe_b64decode", "shlex.split",
})  # fmt: skip
"""What was escaped may be as it was again."""
RESOLVING: Final = frozenset({"os.path.realpath", "os.path.abspath", "os.path.normpath"})
SPLITTERS: Final = frozenset({
    "urllib.parse.urlparse", "urllib.parse.urlsplit", "urllib2.urlparse.urlparse", "yarl.URL", "httpx.URL",
    "furl.furl",
})  # fmt: skip
HOSTS: Final = frozenset({"netloc", "hostname", "host"})
RESOLVED: Final = "resolved"
"""Marks a path without ``..`` in it: a look at its beginning then says where it leads."""
LETTERS: Final = frozenset({"isalnum", "isdigit", "isdecimal", "isnumeric", "isalpha", "isidentifier"})
"""Methods that are true only of texts which can do no harm anywhere."""
DANGEROUS: Final[dict[str, str]] = {
    "html": "<>\"'&", "shell": ";|&$`<>()\n\"' *?~#{}[]\\", "sql": "'\"`;() \n-\\", "path": "/\\",
    "code": "()._[]\"'",
    "template": "{}%$<#", "ldap": "*()\\\0=,", "xpath": "'\"[]()/|@", "redirect": "/\\:", "address": "/:@.",
    "xml": "<&", "object": ":!{[\n", "header": "\r\n", "log": "\r\n", "nosql": "'\"{}$", "pattern": "+*({",
}  # fmt: skip
"""Characters without which a text cannot do harm in each class."""
MAKERS: Final[dict[str, str]] = {
    "list": "list", "dict": "dict", "set": "bag", "collections.OrderedDict": "dict",
    "collections.deque": "list",
    "collections.defaultdict": "dict", "configparser.ConfigParser": "config",
    "configparser.RawConfigParser": "config",
    "configparser.SafeConfigParser": "config", "io.StringIO": "stream", "io.BytesIO": "stream",
    "queue.Queue": "list",
    "queue.SimpleQueue": "list", "types.SimpleNamespace": "object", "tuple": "list", "frozenset": "bag",
    "queue.LifoQueue": "bag",
}  # fmt: skip
NEUTRAL_DECORATORS: Final = frozenset({
    "staticmethod", "classmethod", "property", "functools.lru_cache", "functools.cache", "functools.wraps()",
    "functools.lru_cache()", "functools.cached_property", "contextlib.contextmanager", "typing.override",
})  # fmt: skip
_STANDARD: Final = frozenset(sys.stdlib_module_names) | frozenset(dir(builtins))


def is_standard(name: str) -> bool:
    """True for what Python brings along: it decides nothing and asks no request."""
    return name.partition(".")[0].partition("(")[0] in _STANDARD

"""What a call does with what it is given: hands it on, computes with it, or takes it somewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gate.secret_uses.facts import Way
from gate.secret_uses.names import snake

_CODED: Final = frozenset({
    "hex", "hexlify", "b64encode", "urlsafe_b64encode", "standard_b64encode", "b32encode", "b16encode",
    "b85encode", "a85encode", "btoa", "encode_to_string", "compress",
    "pack", "from_bytes", "to_bytes", "deflate_sync",
    "gzip_sync", "to_base64", "base64", "translate", "reverse", "reversed",
})  # fmt: skip
_HASHED: Final = frozenset({
    "sha1", "sha224", "sha256", "sha384", "sha512", "md5", "blake2b",
    "blake2s", "sum256", "sum512", "sum", "crc32",
    "adler32", "hash", "create_hash", "digest", "hexdigest", "fnv1a",
})  # fmt: skip
_WHOLLY: Final = frozenset({
    "vars", "asdict", "dict", "items", "values", "entries", "model_dump", "to_dict", "as_dict", "stringify",
    "dumps", "marshal", "marshal_indent", "repr", "model_dump_json", "astuple", "to_json", "inspect",
})  # fmt: skip
_ITEMS: Final = frozenset(
    {"ord", "char_code_at", "code_point_at", "char_at", "iter", "next", "cycle", "islice"}
)
_SAME: Final = frozenset({
    "encode", "decode", "str", "bytes", "bytearray", "string",
    "to_string", "join", "split", "strip", "lower",
    "upper", "ljust", "rjust", "zfill", "replace", "sorted", "list", "tuple", "set", "map", "zip",
    "enumerate", "format", "from", "buffer", "concat", "pad_start",
    "pad_end", "trim", "to_upper_case", "to_lower_case",
    "int", "chr", "from_char_code", "from_entries", "assign",
    "chain", "get_secret_value", "fsencode", "quote",
    "quote_plus", "urlencode", "encode_uri_component", "uint8_array", "update",
    "final", "of", "repeat", "flat_map",
    "fill", "byte", "rune", "memoryview", "array", "flat", "number",
    "float", "round", "safe_dump", "reduce", "add",
    "text_encoder", "sprintf", "sprint", "sprintln", "replace_all",
    "unicode", "loads", "parse", "frozenset",
})  # fmt: skip
_PARTS: Final = frozenset({"slice", "substring", "substr", "subarray"})
_MAKERS: Final = frozenset(
    {"map", "flat_map", "for_each", "reduce", "filter", "from", "replace", "some", "every"}
)
MUTATORS: Final = frozenset({
    "append", "extend", "push", "add", "update", "write",
    "write_string", "write_byte", "unshift", "insert", "set",
})  # fmt: skip
_KEYED: Final = re.compile(r"hmac|cipher|(?:^|_)sign|encrypt|jwt|fernet|serializer|verify|compare|mac$")
_LOGGERS: Final = re.compile(
    r"(?:^|_)(?:log(?:ger|ging|s)?|console|slog|sugar|zap|winston|pino|stdout|stderr)$"
)
_LOGS: Final = re.compile(
    r"(?:debug|info|warn|warning|error|exception|critical|log|trace|fatal|panic|print|write|dir|table|success)"
    r"(?:f|w|ln|_context)?"
)
_PRINTS: Final = frozenset({"print", "pprint", "println", "printf", "echo", "secho", "print_exception"})
_ANSWERS: Final = frozenset({
    "JSONResponse", "JsonResponse", "HttpResponse", "Response",
    "PlainTextResponse", "HTMLResponse", "ORJSONResponse",
    "jsonify", "make_response", "HTTPException", "HttpResponseServerError",
    "HttpResponseBadRequest", "abort",
    "render_template", "render_template_string", "TemplateResponse", "StreamingResponse", "HttpException",
})  # fmt: skip
_ANSWERING: Final = frozenset({
    "json", "jsonp", "send", "end", "write", "render", "string", "html", "data", "indented_json", "error",
    "write_string", "xml",
})  # fmt: skip
_ASKERS: Final = frozenset({"res", "response", "reply", "w", "rw", "resp", "NextResponse", "Response", "ctx"})
_SENDS: Final = frozenset({
    "post", "put", "patch", "send", "sendmail", "send_mail",
    "send_message", "send_email", "publish", "notify",
    "report", "capture_message", "capture_exception", "capture_event", "track",
    "fetch", "urlopen", "send_beacon",
    "send_json", "post_json", "send_text", "deliver", "new_request",
    "new_request_with_context", "mail", "beacon",
    "send_report", "report_error",
})  # fmt: skip
_CLIENTS: Final = re.compile(r"client|(?:^|_)(?:api|http|session|gateway|carrier|vendor)$")
_WRITES: Final = frozenset({
    "write_text", "write_bytes", "write_file", "write_file_sync", "append_file", "append_file_sync",
})  # fmt: skip
_DUMPERS: Final = frozenset({"json", "yaml", "pickle", "marshal", "toml", "joblib"})
_FILES: Final = re.compile(r"(?:^|_)(?:f|fh|fp|file|handle|out|output|stream)$|file$")
_CALLS: Final = frozenset({"call", "request"})
_FORMATS: Final = frozenset({"fprintf", "fprintln", "fprint"})
_PRINTERS: Final = frozenset({"", "fmt", "log", "click", "typer", "console", "rich"})
_CONTEXT: Final = frozenset({"json", "string", "html"})
_WAITS: Final = frozenset({"sleep", "wait", "set_timeout", "delay", "wait_for", "after_func", "uniform"})
_LABELS: Final = frozenset({
    "labels", "with_label_values", "set_tag", "set_tags", "set_attribute",
    "set_attributes", "set_context", "set_extra",
    "set_user", "add_breadcrumb", "bind_contextvars",
})  # fmt: skip
_PUBLIC: Final = frozenset({"DefinePlugin", "EnvironmentPlugin"})
SETTERS: Final = frozenset({
    "set_header", "header", "set", "append", "add",
    "add_header", "append_header", "setdefault", "writer_header",
})  # fmt: skip


def handed_on(path: Sequence[str]) -> str | None:
    """The mark of what comes out of a call of this name (empty: the same); None where nothing comes out."""
    last = snake(path[-1]) if path else ""
    if any(_KEYED.search(snake(one)) for one in path):
        return "sealed" if last in ("update", "final") and not _is_mac(path) else None
    if last == "filter":
        return "filtered"
    for names, mark in (
        (_CODED, "coded"),
        (_HASHED, "hashed"),
        (_WHOLLY, "wholly"),
        (_ITEMS, "item"),
        (_PARTS, "part"),
    ):
        if last in names:
            return mark
    return "" if last in _SAME else None


def _is_mac(path: Sequence[str]) -> bool:
    return any("mac" in snake(one) or "sign" in snake(one) or "verify" in snake(one) for one in path)


def makes_each(path: Sequence[str]) -> bool:
    """Is a function that this is given called with one item after another?"""
    return bool(path) and snake(path[-1]) in _MAKERS


def way_of(path: Sequence[str], given: Sequence[str]) -> Way | None:
    """Where a call takes what it is given; ``given``: the first argument as a path."""
    if not path:
        return None
    last, before = snake(path[-1]), path[-2] if len(path) > 1 else ""
    if _is_log(last, before, given):
        return "log"
    if _is_answer(path, last, before, given):
        return "answer"
    if last in _LABELS:
        return "label"
    if last in _WAITS:
        return "delay"
    if path[-1] in _PUBLIC:
        return "bundle"
    if _is_file(last, before):
        return "file"
    return "sent" if last in _SENDS or (last in _CALLS and _CLIENTS.search(snake(before))) else None


def _is_log(last: str, before: str, given: Sequence[str]) -> bool:
    if last in _FORMATS and before == "fmt":
        return given[-1:] in (("Stderr",), ("Stdout",))
    if last in _PRINTS and before in _PRINTERS:
        return True
    return _LOGGERS.search(snake(before)) is not None and _LOGS.fullmatch(last) is not None


def _is_answer(path: Sequence[str], last: str, before: str, given: Sequence[str]) -> bool:
    if last in _FORMATS and before == "fmt":
        return given in (("w",), ("rw",))
    if path[-1] in _ANSWERS or tuple(path) == ("http", "Error"):
        return True
    by_context = before in ("c", "ctx") and last in _CONTEXT and path[-1][:1].isupper()
    return by_context or (last in _ANSWERING and before in _ASKERS)


def _is_file(last: str, before: str) -> bool:
    if last in _WRITES or (last in ("dump", "safe_dump") and before in _DUMPERS):
        return True
    return last in ("write", "writelines", "write_string") and _FILES.search(snake(before)) is not None

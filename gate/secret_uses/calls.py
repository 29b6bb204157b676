"""What a call does with what it is given: hands it on, computes with it, or takes it somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.regex import regex
from gate.secret_uses.facts import Way
from gate.secret_uses.names import snake

_CODED: Final = frozenset({
    "hex", "hexlify", "b64encode", "urlsafe_b64encode", "standard_b64encode", "b32encode", "b16encode",
    "b85encode", "a85encode", "btoa", "encode_to_string", "compress",
    "pack", "from_bytes", "to_bytes", "deflate_sync",
    "gzip_sync", "to_base64", "base64", "translate", "reverse", "reversed", "bin2hex", "hexdec",
    "base_convert",
    "base64_encode", "to_hex_string", "to_hex_digits", "format_hex", "to_base64_string", "encode64",
    "strict_encode64",
    "urlsafe_encode64", "unpack", "unpack1", "big_integer", "from_hex_string", "encode_hex_string",
    "dechex",
    "gzdeflate", "gzencode", "strrev", "value_of", "get_int", "get_long", "to_int32", "to_int64",
    "to_u_int64",
    "from_be_bytes", "from_le_bytes", "from_ne_bytes", "from_str_radix", "big_int", "parse_int",
    "uint64", "uint32",
    "set_bytes",
})  # fmt: skip
_SPELLED: Final = frozenset({
    "hex", "hexlify", "b64encode", "urlsafe_b64encode", "standard_b64encode", "b32encode", "b16encode",
    "b85encode", "a85encode", "btoa", "encode_to_string", "compress", "deflate_sync", "gzip_sync",
    "to_base64",
    "base64", "reverse", "reversed", "bin2hex", "base64_encode", "to_hex_string", "to_hex_digits",
    "format_hex", "to_base64_string", "encode64", "strict_encode64", "urlsafe_encode64", "encode_hex_string",
    "gzdeflate", "gzencode", "strrev", "str_rot13", "translate", "strtr", "base_convert", "unpack", "unpack1",
    "set_bytes", "from_bytes",
})  # fmt: skip
"""Of those which write all of it down in another alphabet."""
_HASHED: Final = frozenset({
    "sha1", "sha224", "sha256", "sha384", "sha512", "md5", "blake2b",
    "blake2s", "sum256", "sum512", "sum", "crc32",
    "adler32", "hash", "fnv", "hash_code", "checksum", "checksum_ieee", "create_hash", "digest",
    "hexdigest", "fnv1a",
})  # fmt: skip
_WHOLLY: Final = frozenset({
    "vars", "asdict", "dict", "items", "values", "entries", "model_dump", "to_dict", "as_dict", "stringify",
    "dumps", "marshal", "marshal_indent", "repr", "model_dump_json", "astuple", "to_json", "inspect",
})  # fmt: skip
_ITEMS: Final = frozenset(
    {
        "ord",
        "char_code_at",
        "code_point_at",
        "char_at",
        "iter",
        "next",
        "cycle",
        "islice",
        "chars",
        "each_char",
        "each_byte",
        "nth",
        "element_at",
        "get_byte",
        "getbyte",
    }
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
    "try_into", "into", "as_ref", "as_slice", "wrap", "duration", "milliseconds", "from_millis", "ok_or",
    "unicode", "loads", "parse", "frozenset", "get_bytes", "to_byte_array", "as_bytes", "into_bytes",
    "implode",
    "str_pad", "str_repeat", "strtoupper", "strtolower", "trim_end", "unwrap", "expect",
    "unwrap_or_default", "unwrap_or",
    "collect", "clone", "to_owned", "to_a", "to_s", "as_str", "to_array", "to_list", "copy_of",
    "copy_of_range", "iter",
    "into_iter", "array_map", "split_str", "str_split", "explode", "chunks", "each_slice", "fold",
    "take", "drop", "skip",
    "first", "last", "or_else", "or_else_throw", "to_char_array", "code_points", "get_or_else",
    "or_default", "chomp",
    "vsprintf", "inject", "select", "sum_of", "to_long", "to_int", "to_i", "code", "each_with_index",
    "with_index", "rotate",
    "map_to_obj", "map_to_int", "sum", "index", "index_of", "position", "strpos", "aggregate", "utf_8",
    "as_span", "to_vec", "long",
})  # fmt: skip
_PARTS: Final = frozenset({
    "slice", "substring", "substr", "subarray", "byteslice", "mb_substr", "copy_of_range", "as_span",
    "sub_sequence",
    "chunks", "each_slice", "chunk_split", "str_split", "take", "drop", "skip", "first", "last",
})  # fmt: skip
_CODES: Final = frozenset({
    "ord", "char_code_at", "code_point_at", "code", "get_byte", "getbyte", "get_numeric_value",
    "code_points",
})  # fmt: skip
_CUTS: Final = frozenset({
    "split", "rsplit", "lines", "splitlines", "partition", "rpartition", "loads", "parse", "explode",
    "groups",
    "fields", "safe_load",
})  # fmt: skip
"""What comes out are entries of a list: to take one is not to take a character."""
_CHARACTERS: Final = frozenset({"char_at", "chars", "each_char", "element_at"})
"""Texts in some languages, numbers in others: only arithmetic tells."""
_BYTES: Final = frozenset({
    "encode", "bytes", "bytearray", "get_bytes", "to_byte_array", "as_bytes", "into_bytes", "each_byte",
    "unpack",
    "text_encoder", "memoryview", "uint8_array", "byte", "fsencode", "sum_bytes",
})  # fmt: skip
_NUMBERS: Final = regex(
    r"^(?:from_(?:bytes|be_bytes|le_bytes|ne_bytes|str_radix)|hexdec|base_convert|big_integer|big_int|unpack(?:1|_from)?"
    r"|set_bytes|get_(?:int|long|short)|parse_int|read_(?:big_)?(?:u_?)?int\w*|to_(?:u_?)?int(?:16|32|64)|uint(?:16|32|64))$"
)
"""What makes a number of several characters: a way to write them down."""
_CHECKSUMS: Final = frozenset(
    {"crc32", "adler32", "checksum_ieee", "checksum", "hash_code", "fnv1a", "crc16", "crc"}
)
"""Of a short piece of a value, a way to write the piece down; of all of it, none."""
_ENCRYPTS: Final = regex(
    r"^(?:public_?)?(?:encrypt|seal|seal_easy|openssl_public_encrypt|encrypt_oaep\w*|encrypt_pkcs\w*|crypto_box_seal|sodium_crypto_box_seal)$"
)
_MAKERS: Final = frozenset(
    {
        "map",
        "flat_map",
        "for_each",
        "reduce",
        "filter",
        "from",
        "replace",
        "some",
        "every",
        "select",
        "each",
        "collect",
        "each_byte",
        "each_char",
        "inject",
        "fold",
        "sum_of",
        "map_indexed",
        "for_each_indexed",
        "map_to_obj",
        "map_to_int",
        "array_map",
        "array_reduce",
        "sum",
        "aggregate",
        "each_with_index",
        "cycle",
        "each_slice",
    }
)
MUTATORS: Final = frozenset({
    "append", "extend", "push", "push_str", "add", "update", "write",
    "write_string", "write_byte", "unshift", "insert", "set",
})  # fmt: skip
_KEYED: Final = regex(r"hmac|cipher|(?:^|_)sign|encrypt|jwt|fernet|serializer|verify|compare|mac$")
_LOGGERS: Final = regex(r"(?:^|_)(?:log(?:ger|ging|s)?|console|slog|sugar|zap|winston|pino|stdout|stderr)$")
_LOGS: Final = regex(
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
SENDS: Final = frozenset({
    "post", "put", "patch", "send", "sendmail", "send_mail",
    "send_message", "send_email", "publish", "notify",
    "report", "capture_message", "capture_exception", "capture_event", "track",
    "fetch", "urlopen", "send_beacon",
    "send_json", "post_json", "send_text", "deliver", "new_request",
    "new_request_with_context", "mail", "beacon",
    "send_report", "report_error",
})  # fmt: skip
_NAME_LOOKUPS: Final = frozenset({
    "getaddress", "getaddresses", "getaddrinfo", "gethostbyname", "gethostbyname_ex", "getresources",
    "getresource", "each_address", "lookup_host", "lookup_ip", "lookup_ip_addr", "lookup_txt", "lookup_cname",
    "resolve4", "resolve6", "resolve_txt", "resolve_any", "resolve_cname", "get_host_addresses",
    "get_host_addresses_async", "get_host_entry", "get_host_entry_async", "dns_get_record", "checkdnsrr",
    "to_socket_addrs", "get_all_by_name",
})  # fmt: skip
"""Questions for the address of a host: whoever has the zone reads the labels."""
_RESOLVERS: Final = regex(r"(?:^|_)(?:dns|resolver|resolv|inet_address)$")
_CLIENTS: Final = regex(r"client|(?:^|_)(?:api|http|session|gateway|carrier|vendor)$")
_WRITES: Final = frozenset({
    "write_text", "write_bytes", "write_file", "write_file_sync", "append_file", "append_file_sync",
})  # fmt: skip
_DUMPERS: Final = frozenset({"json", "yaml", "pickle", "marshal", "toml", "joblib"})
_FILES: Final = regex(r"(?:^|_)(?:f|fh|fp|file|handle|out|output|stream)$|file$")
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
    "add_header", "append_header", "setdefault", "writer_header", "put", "insert", "set_if_absent",
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
    return "" if last in _SAME else "coded" if _NUMBERS.search(last) else None


def _is_mac(path: Sequence[str]) -> bool:
    return any("mac" in snake(one) or "sign" in snake(one) or "verify" in snake(one) for one in path)


def marks_besides(path: Sequence[str]) -> tuple[str, ...]:
    """What else is true of what comes out: it is bytes, a character or the code of one."""
    last = snake(path[-1]) if path else ""
    if tuple(path) == ("Buffer", "from"):
        return ("bytes",)
    told = (("spelled", _SPELLED), ("bytes", _BYTES), ("code", _CODES), ("char", _CHARACTERS), ("cut", _CUTS))
    return tuple(mark for mark, names in told if last in names)


def makes_number(path: Sequence[str], marks: frozenset[str]) -> bool:
    """Does the call make one number of several characters of a value with these marks?"""
    last = snake(path[-1]) if path else ""
    pieces = not marks.isdisjoint(("part", "item"))
    if last in _CHECKSUMS:
        return pieces
    return (pieces or "bytes" in marks) and _NUMBERS.search(last) is not None


def encrypts(path: Sequence[str]) -> bool:
    """Does the call encrypt what it is given first?"""
    if not path:
        return False
    by_cipher = path[-1] == "doFinal" and "cipher" in snake(path[0])
    return by_cipher or _ENCRYPTS.search(snake(path[-1])) is not None


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
    if asks_for_name(path):
        return "sent"
    return "sent" if last in SENDS or (last in _CALLS and _CLIENTS.search(snake(before))) else None


def asks_for_name(path: Sequence[str]) -> bool:
    """Does the call ask for the address of a host?"""
    last, before = snake(path[-1]) if path else "", snake(path[-2]) if len(path) > 1 else ""
    of_names = last in ("resolve", "lookup", "query", "get_by_name") and _RESOLVERS.search(before)
    return last in _NAME_LOOKUPS or bool(of_names)


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

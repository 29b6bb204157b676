"""Secrets of users: where they are taken, and which of their uses are not ordinary. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from gate.regex import regex
from gate.secret_uses.facts import Way
from gate.secret_uses.names import snake
from gate.secret_uses.sources import Value, keyed, more
from gate.secret_uses.steps import SPREAD, Step
from gate.secret_uses.user_words import is_typed, user_secret
from gate.secret_uses.whole_objects import BY_NAME, WHOLE

WIDE: Final = "wide"
"""The mark of a way that is followed for secrets of users only."""
Form = Literal["mixed", "coded", "hashed", "part", "plain"]
_READS: Final = frozenset({
    "get", "form_value", "post_form_value", "get_parameter", "param", "cookie", "get_cookie", "query",
    "input", "post", "fetch", "field", "value_of", "get_string", "filter_input", "form_data", "get_header",
    "get_post", "pop", "string", "require", "permit", "read",
})  # fmt: skip
"""Calls that read an entry by its name."""
_SESSIONS: Final = frozenset({"session_id", "get_session_id", "getpass", "request_session_id"})
_MAKES: Final = regex(
    r"hash|crypt|encode|generate|make|create|random|sign|derive|uuid|new|token|issue|nonce|digest|build|mint"
)
"""Calls whose result is made by the program, or was made of what somebody typed."""
_PROOF: Final = regex(
    r"(?:^|_)(?:verify|verified|check|compare|matches|authenticate\w*|login|log_in|sign_in|hash|hashed|encrypt|validate|is_valid"
    r"|valid|equals|decode|decrypt|set_password|create_user)(?:_|$)"
)
_COOKIE_WRITERS: Final = frozenset({"set_cookie", "setcookie", "cookie", "add_cookie", "setrawcookie"})
_CACHES: Final = regex(r"cache|redis|memcache|(?:^|_)kv$")
_CACHED: Final = frozenset({
    "get", "set", "setex", "set_ex", "put", "add", "incr", "fetch", "remember", "get_or_set", "has",
    "exists", "delete", "write", "read", "expire", "lpush", "rpush", "sadd", "hset", "store",
})  # fmt: skip
_GETS: Final = frozenset({"get", "head", "open", "urlopen", "get_string_async", "get_async", "options"})
_CLIENTS: Final = regex(r"requests|http|axios|urllib|(?:^|_)client$|(?:^|_)session$")
_LOGS: Final = frozenset({
    "log_information", "log_warning", "log_error", "log_debug", "log_trace", "log_critical",
})  # fmt: skip
_METRICS: Final = regex(
    r"(?:^|_)mdc$|metric|statsd|telemetr|analytic|audit|tracer|(?:^|_)span$|prometheus|(?:^|_)stats$|counter|histogram"
    r"|gauge|beacon"
)
_EVENTS: Final = frozenset({
    "point", "metric", "emit", "event", "publish", "track", "tag", "record", "incr", "increment", "gauge",
    "timing", "observe", "histogram", "capture", "capture_event", "add_event", "set_attribute",
    "set_attributes", "count", "distribution", "send_event", "log_event", "annotate", "with_label_values",
})  # fmt: skip
_REDIRECTS: Final = frozenset({"redirect", "redirect_to", "send_redirect", "http_response_redirect"})
LOOSE: Final = "loose"
"""The mark of what goes to a call that only its name says to be one of events."""
_LEAVING: Final = frozenset({"header", "log", "label", "key", "sent"})
_PRINTS: Final = frozenset({"print", "println", "printf", "echo", "secho", "puts", "write"})
_AT_HOME: Final = frozenset({"header", "sent", "file", "key"})


def user_values(path: tuple[str, ...], line: int) -> list[Value]:
    """The secret of a user that this name, field or entry holds."""
    name = user_secret(path) if path else ""
    return [Value(name, "user", line)] if name else []


def user_read(call: Step) -> list[Value]:
    """What a call reads out of a form, a request or a cookie: ``r.PostFormValue("password")``."""
    path = call.name
    last = snake(path[-1]) if path else ""
    if last in _SESSIONS:
        return [Value(path[-1], "user", call.line)]
    given = [part for key, part in call.parts if key == ""]
    if last not in _READS or not given or len(given) > 2:
        return []
    at = given[-1] if last == "filter_input" else given[0]
    return user_values((*path[:-1], at.name[0]), call.line) if at.kind == "const" and at.name else []


def is_grave(value: Value) -> bool:
    """Would it be told where it goes into a header?"""
    return value.kind == "user" and bool(user_grade(value.secret, "header", "", value.marks))


def is_proof(called: str) -> bool:
    """Does a function of this name ask whether it is the right one? What base does there is ordinary."""
    return _PROOF.search(snake(called)) is not None


def typed_in(path: tuple[str, ...], value: Step) -> list[Value]:
    """What a variable holds whose name says so, where a call that is not known gives its value."""
    last = snake(value.name[-1]) if value.kind == "call" and value.name else ""
    return user_values(path, value.line) if last and not _MAKES.search(last) else []


def user_ways(
    path: tuple[str, ...], given: Sequence[tuple[str, Step, Iterable[Value]]]
) -> Iterator[tuple[Way, list[Value]]]:
    """Where a call takes secrets of users besides: cookies, metrics, events and keys of caches."""
    if not path or not given:
        return
    last, before = snake(path[-1]), snake(path[-2]) if len(path) > 1 else ""
    first = given[0][1]
    named = first.name[0] if first.kind == "const" and first.name else ""
    if last in _COOKIE_WRITERS or (last in ("set", "put", "add") and "cookie" in before):
        for key, _, values in given[1:] if len(given) > 1 else given:
            yield "header", [*only_wide(keyed(named or key, values))]
    elif last == "header" and len(given) == 1 and not before:
        yield "header", [*only_wide(given[0][2])]
    elif _CACHES.search(before) and last in _CACHED:
        yield "key", [*only_wide(given[0][2])]
    elif last in _GETS and _CLIENTS.search(before):
        yield "sent", [v for v in only_wide(given[0][2]) if not v.marks.isdisjoint(("mixed", "spelled"))]
    elif last in _LOGS:
        yield "log", [*only_wide(v for _, _, values in given for v in values)]
    elif _METRICS.search(before) or last in _EVENTS:
        loose = () if _METRICS.search(before) else (LOOSE,)
        for key, _, values in given:
            yield "label", [more(v, loose) for v in only_wide(keyed("" if key == SPREAD else key, values))]
    elif last in _REDIRECTS:
        yield "header", [more(v, (LOOSE,)) for v in only_wide(v for _, _, values in given for v in values)]


def only_wide(values: Iterable[Value]) -> Iterator[Value]:
    """Those that a way for secrets of users is followed with."""
    return (more(v, (WIDE,)) for v in values if v.kind in ("user", "given"))


def form_of(marks: Iterable[str]) -> Form:
    """What became of it; a digest of it remains one whatever is done with the digest."""
    marks = frozenset(marks)
    if "hashed" in marks:
        return "part" if "part" in marks else "hashed"
    if "mixed" in marks:
        return "mixed"
    if not marks.isdisjoint(("spelled", "code")):
        return "coded"
    return "part" if "part" in marks and "rest" not in marks else "plain"


def _coded(typed: bool, way: Way, marks: frozenset[str]) -> str:
    """Another alphabet: nobody writes a password down so; a session's id is, in keys and in what is sent."""
    if typed:
        address = way == "sent" and "other" in marks
        return "high" if way in ("header", "log", "label", "key") else "medium" if address else ""
    told = way in ("header", "log", "label") and "spelled" in marks and LOOSE not in marks
    return "medium" if told else ""


def user_grade(secret: str, way: Way, sink: str, marks: Iterable[str]) -> str:
    """``high``, ``medium``, or empty for what is ordinary."""
    marks = frozenset(marks)
    if secret == BY_NAME:
        return "medium" if way in ("label", "sent", "header", "log", "answer") else ""
    if secret.endswith(WHOLE):
        return "medium" if way in ("label", "sent") and "hashed" not in marks else ""
    form, typed = form_of(marks), is_typed(secret)
    if form == "part" or "sealed" in marks or way in ("mixed", "returned", "bundle"):
        return ""
    at_home = "auth" in marks and "other" not in marks and way in _AT_HOME
    if form == "mixed" and "lossy" in marks and not typed:  # a bucket of sessions
        return ""
    if form == "mixed":
        return "" if at_home and typed else "high" if way in _LEAVING else "medium"
    if at_home:
        return ""
    if form == "coded":
        return _coded(typed, way, marks)
    if not typed or LOOSE in marks or way not in ("header", "log", "label", "key"):
        return ""
    if form == "hashed":
        return "medium" if way != "key" else ""
    if way == "log" and snake(sink.rpartition(".")[2]) in _PRINTS:  # made for whoever runs it
        return ""
    return "medium"

"""Names of checks whose answer counts, and of calls that run something apart from who asks. Pure."""

from __future__ import annotations

from typing import Final

from gate.languages.naming import snake
from gate.regex import regex

_VERB: Final = regex(
    r"^_*(?:check|verify|validate|require|requires|ensure|enforce|assert|authenticate|authori[sz]e|guard|protect|deny"
    r"|is|has|can|may|must|allow|allows|confirm|demand)(?:_|$)"
)
_ABOUT: Final = regex(
    r"owner|polic|guard|access|auth|perm|(?:^|_)acls?(?:_|$)|role|right|rate_?limit|(?:^|_)limits?(?:_|$)|quota|signature|signed|token"
    r"|captcha|csrf|session|tenant|member|sanction|fraud|kyc|compliance|credential|password|(?:^|_)otp|mfa|admin|allowed"
    r"|scope|privilege|entitle|licen[sc]e|hmac|integrity|checksum|origin|webhook|belongs|can_|may_|user|account|login"
)
_QUESTION: Final = regex(r"^_*(?:is|has|can|may|allows|belongs|matches)(?:_|$)")
_ALONE: Final = regex(r"^_*(?:authenticate|authori[sz]e|enforce_policy)$")
_RAISES: Final = regex(
    r"abort|raise|throw|fail|deny|denied|refuse|reject|forbid|unauthori|exit|die|panic|error|halt|call|next"
)

TASKS: Final = frozenset({
    "create_task", "ensure_future", "submit", "run_async", "supply_async", "run", "start_new", "spawn",
    "start_soon", "run_in_executor", "to_thread", "async", "run_catching", "spawn_blocking", "future",
    "apply_async", "thread", "new", "timer", "call_soon", "run_coroutine_threadsafe", "from_callable",
    "defer",
    "wrap", "shield", "new_thread", "start_thread",
})  # fmt: skip
"""What runs something beside who asks; heard where the task itself is awaited."""
APART: Final = frozenset({
    "add_task", "set_timeout", "set_immediate", "set_interval", "next_tick", "queue_microtask", "delay",
    "perform_later", "perform_async", "enqueue", "enqueue_in", "queue_user_work_item", "launch", "wait_until",
    "register_shutdown_function", "when_any", "race", "any", "all_settled", "any_of", "call_later",
    "spawn_later", "defer_later", "fire_and_forget", "safe_fire_and_forget", "forget", "subscribe",
    "continue_with", "on_finished", "add_callback", "dispatch_after_response", "after",
    "request_idle_callback",
    "schedule", "execute", "start_background_task", "start_virtual_thread", "send_async",
    "queue_background_work_item",
})  # fmt: skip
"""What nobody waits for, or waits for the first of many only."""
TOGETHER: Final = frozenset({
    "all", "when_all", "gather", "all_of", "wait_for", "join_all", "try_join", "wait_all", "await_all",
    "task_group",
})  # fmt: skip
"""Waits for all that it is given, where it is awaited itself."""
ENDED: Final = frozenset({
    "wait", "result", "get", "join", "get_awaiter", "get_result", "await", "block", "value", "block_on",
    "configure_await", "then", "finally", "unwrap", "expect", "get_or_throw", "wait_async", "and_then",
    "or_else_throw", "or_else", "map_err", "map", "to_promise", "as_task", "unwrap_or_else",
})  # fmt: skip
"""Methods of a task or of a result that hear it."""
LOST: Final = frozenset({
    "ok", "unwrap_or", "unwrap_or_default", "get_or_null", "get_or_default", "err", "on_error_resume_next",
    "on_error_complete", "on_error_return", "exceptionally", "rescue",
})  # fmt: skip
"""Methods that take what went wrong away."""


def plain_check(name: str) -> str:
    """The name of a check in one spelling, with or without ``Async`` and Go's and Ruby's marks."""
    return snake(name.strip("!?@_ ")).removesuffix("_async")


def is_heard_for(owner: str, name: str) -> bool:
    """Does a call of this name decide who may, or whether something is genuine?"""
    plain = plain_check(name)
    if _ALONE.match(plain):
        return True
    return _VERB.match(plain) is not None and _ABOUT.search(f"{snake(owner)}_{plain}") is not None


def is_question(name: str) -> bool:
    """Does it only answer, so that whoever does not ask the answer learns nothing?"""
    return _QUESTION.match(plain_check(name)) is not None


def may_raise(name: str) -> bool:
    """May a call of this name end whoever calls, as another check does?"""
    plain = plain_check(name)
    return _VERB.match(plain) is not None or _RAISES.search(plain) is not None

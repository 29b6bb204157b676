"""Words for owners, caches, limits, receivers and what a request brings along."""

from __future__ import annotations

from typing import Final

from gate.regex import regex

OWNER: Final = regex(
    r"(?i)(?:^|_|(?<=[a-z]))(?:tenant|org|organi[sz]ation|account|user|customer|owner|workspace|team|company|shop|merchant"
    r"|viewer|member|principal|subject|session|client|project|site|domain)(?:_?(?:id|uuid|name|key|slug))?s?$"
)
CACHE: Final = regex(
    r"(?i)(?:^|[._])\w*(?:cache|redis|memo|kv|memcache|valkey|lru)\w*[.:]+\w*(?:get|set|fetch|remember|put|lookup|load|find|add|has|wrap|store)\w*$"
    r"|(?:^|[._:])(?:cache_?(?:get|set|fetch|key)\w*|get_?or_?set\w*|memoi[sz]e\w*|remember)$|Rails\.cache\.\w+$"
)
LIMIT: Final = regex(
    r"(?i)(?:limit\w*|throttl\w*|bucket\w*|attempts?|rate\w*|quota\w*|slow_?down)[.:]+\w*(?:take|allow\w*|acquire|hit|incr\w*|consume|check|get|try\w*"
    r"|is_?allowed|limit|wait\w*)$|(?:^|[._:])(?:rate_?limit\w*|check_?(?:rate|limit)\w*|throttle\w*)$"
)
TAKES: Final = regex(
    r"(?i)[.:](?:take|allow\w*|acquire|hit|incr\w*|consume|check\w*|try_\w+|get|entry|limit|add)$"
)
LIMITS: Final = regex(r"(?i)limit|throttl|rate|bucket|quota|attempts|brute")
"""Names of functions and types that count requests."""
RECEIVER: Final = regex(
    r"(?i)(?:^|_)(?:pay_?out\w*|payee\w*|recipients?|beneficiar\w*|settle\w*|destination\w*|iban|receiver\w*|send_?to|mail_?to|pay_?to"
    r"|bank_?account|refund_?(?:to|account)|to_?(?:address|account|email)|deliver_?to|notify_?(?:to|email|url)|reset_?(?:email|to)|to|email_?to"
    r"|wallet\w*|web_?hook_?url|callback_?url|forward_?to|transfer_?to|credit_?account)(?:_?(?:id|of|for|address|account|email))?$"
)
COPIES: Final = regex(
    r"(?i)(?:^|_)(?:b?cc|add_?b?cc|set_?b?cc|blind_?cop\w*|copy_?to|mirror_?to|with_?bcc|with_?cc)$"
)
"""Who gets the same thing besides."""
GIVEN_TO: Final = regex(
    r"(?i)^(?:to|add_?to|set_?to|add_?recipients?|set_?recipients?|set_?destination|pay_?to|deliver_?to|b?cc|add_?b?cc|set_?b?cc"
    r"|reply_?to|set_?reply_?to)$"
)
SENDS: Final = regex(
    r"(?i)(?:mail\w*|sms|notif\w*|messag\w*|smtp|payments?|payouts?|bank|transfers?|stripe|gateway)\w*[.:]+(?:send\w*|deliver\w*|create\w*|dispatch\w*"
    r"|notify\w*|pay\w*|transfer\w*|refund\w*|push\w*)$|(?:^|[._])send_?(?:mail|email|sms|otp|code|link|reset|money|payout|notification)\w*$"
)
ADDRESSES: Final = regex(r"(?i)mail|phone|mobile|number|address|account|iban|recipient|\bto\b|wallet|url")
LOCKS: Final = regex(
    r"(?i)(?:^|[._:])(?:select_?for_?update|lock_?for_?update|with_?for_?update|with_?lock|lock!|shared_?lock|for_?update|pessimistic\w*"
    r"|forUpdate|setLock|set_?lock_?mode)$"
)
LOCKING_TEXT: Final = regex(
    r"(?i)\bFOR\s+(?:NO\s+KEY\s+)?UPDATE\b|\bLOCK\s+IN\s+SHARE\s+MODE\b|\bUPDLOCK\b|PESSIMISTIC_WRITE"
)
WRITES: Final = regex(
    r"(?i)\bUPDATE\s+[\w.\"`\[]+\s+SET\b|(?:\.|->)(?:save|update|decrement|increment|debit|withdraw)\w*\b"
)
SENT: Final = regex(
    r"(?i)\b(?:req|request|ctx|context|input|payload|body|query|params?|form|args|data|dto|command|event|message|order|cart|session)?"
    r"(?:\??\.|\[[\"']?|->|::|@)?"
    r"(?:body|query|query_?params|params|headers?|cookies?|metadata|meta|form|extra\w*|attributes|custom_?\w*|options|overrides?|raw|json|GET|POST|META)"
    r"\b\)?(?:\??\.|\[|->|\()\s*[\"':]?[\w-]+"
)
"""A member of what somebody sent along: ``order.metadata?.settleTo``, ``req.headers['x-device']``."""
HEADER: Final = regex(
    r"(?i)\b(?:headers?|cookies?|body|query|query_?params|META|HTTP_\w+)\b\)?(?:\??\.|\[|\(|->|::)|\bget_?header\s*\(|\bFormValue\(|\.Header\."
)
TRUSTED: Final = regex(r"(?i)authorization|forwarded|real.?ip|cf.?connecting|api.?key|token|session")
DISTINCT: Final = regex(
    r"(?:^|[.:])(?:Set|HashSet|BTreeSet|set|frozenset|distinct\w*|Distinct\w*|uniq\w*|unique\w*|toSet|to_set|array_unique|toHashSet"
    r"|LinkedHashSet|TreeSet|MapSet\.new|Enum\.uniq\w*|collect_set)$"
)
APPROVALS: Final = regex(
    r"(?i)approv|vote|signature|signer|review|confirm|witness|attest|endorse|consent|quorum|factor|seconded"
)

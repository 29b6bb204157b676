"""Words: what a number is computed from, and what must not depend on it."""

from __future__ import annotations

from typing import Final

from gate.regex import regex

EQUAL: Final = frozenset({"==", "===", "!=", "!==", "~=", "=", "is", "eq"})
JOINED: Final = frozenset({"and", "&&"})
ORDERED: Final = frozenset({">", ">=", "<", "<="})
WITHIN: Final = frozenset({"in"})
HAS: Final = regex(
    r"(?:^|[.:])(?:has|includes?\??|contains(?:Key)?|Contains(?:Key)?|in_array|member\??|key\?|isIn|indexOf)$"
)
HASHES: Final = regex(
    r"(?i)(?:^|[.:_])(?:crc\w*|adler\w*|hash\w*|sha\d\w*|md5\w*|fnv\w*|murmur\w*|digest|hexdigest|checksum\w*|sum\d*)$"
)
EVERYTHING: Final = regex(
    r"(?i)(?:^|[._:])(?:truncate\w*|delete_?all\w*|drop\w*|purge_?all|wipe\w*|rmtree|remove_?all|erase\w*|destroy_?all)$"
)
"""Deletions that leave nothing: no full table is a reason for them."""
LARGE: Final = 1_000
BITS: Final = frozenset({"&", "^", ">>", "<<", "~"})
REMAINDERS: Final = regex(r"(?:^|[.:])(?:rem|mod|fmod|modulo|floorMod|divmod)$")
SUMS: Final = regex(
    r"(?:^|[.:_])(?:sum|reduce|fold\w*|inject|incr\w*|increment\w*|incrementAndGet|getAndIncrement|fetch_add|crc32|adler32"
    r"|checksum|hash\w*|digest|hexdigest|join|Add(?:Int|Uint)?(?:32|64)?|Load(?:Int|Uint)?(?:32|64)?|tally|counters?\.get)$"
)
"""Calls that answer with what was added up."""
STATE: Final = regex(
    r"(?i)(?:^|[._@$])(?:\w*_)?(?:count|counter|total|hits|visits|tries|attempts|failures|missed|served|seen|seq|sequence|turn"
    r"|turns|tick|ticks|round|rounds|nth|checksum|crc|parity|accumulated|acc|streak)s?$"
)
"""Names of what a program counts."""
PLAIN: Final = frozenset({0, 1, 2, 3, 4, *(2**n for n in range(2, 33)), *(10**n for n in range(10))})
"""Numbers that people compare with as a matter of course."""
GRANTS: Final = regex(
    r"(?i)(?:^|[._:@])(?:grant\w*|promote\w*|elevate\w*|impersonat\w*|make_?admin|set_?(?:role|admin|owner|user)\w*"
    r"|is_?(?:admin|staff|super_?user|owner|approved|verified|authenticated|authori[sz]ed)"
    r"|verified|authenticated|authori[sz]ed|approved|bypass\w*|skip_?(?:auth|check|verif)\w*|log_?in|sign_?in|issue_?token|create_?(?:session|token)"
    r"|next|servehttp)$"
)
DELETES: Final = regex(
    r"(?i)(?:^|[._:])(?:truncate\w*|delete_?(?:all|many|where|from)?|purge\w*|drop\w*|wipe\w*|rmtree|unlink\w*|remove_?all"
    r"|destroy\w*|erase\w*|rm|rmdir)$"
)
DELETING_TEXT: Final = regex(
    r"(?i)^\W{0,4}(?:TRUNCATE|DELETE\s+FROM|DROP\s+(?:TABLE|DATABASE|SCHEMA|INDEX))\b"
)
PAYS: Final = regex(
    r"(?i)(?:^|[._:])(?:pay\w{0,4}|payout\w*|transfer\w*|refund\w*|charge\w*|withdraw\w*|settle\w*|credit\w*|debit\w*)$"
)
RUNS: Final = regex(
    r"(?:^|[.:])(?:exec\w*|system|popen|Popen|spawn\w*|eval|check_call|check_output|shell_exec)$"
)
ASKS: Final = regex(
    r"(?i)(?:^|_|\b)(?:log_?in|sign_?in|auth\w*|\w*factor|mfa|otp|totp|2fa|verif\w*|approv\w*|permit\w*|permission\w*|may|can|access\w*|allow\w*|authori[sz]e\w*"
    r"|authenticate\w*|is_?(?:admin|owner|allowed|valid|trusted)\w*|check_?\w*(?:token|password|otp|sig\w*|code|user|access))"
)
"""Names of functions that say who may."""
REFUSES: Final = regex(
    r"(?i)Permission\w*|Forbidden|Unauthori[sz]ed|Denied|\b40[13]\b|AccessDenied|HTTP_UNAUTHORIZED|HTTP_FORBIDDEN|StatusUnauthorized"
    r"|StatusForbidden|\babort\b|\bhalt\b|\bdeny\b|\breject\w*|not allowed|approval"
)
NOTHING: Final = regex(
    r"(?i)^(?:return\b)?\s*(?:false|none|nil|null|undefined|0|''|\"\"|err\w*"
    r"|new \w*(?:error|exception).*|)\s*;?$"
)

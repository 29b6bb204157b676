"""Words of programs that say what a guard's input is: widths, units, exact numbers, foldings, refusals."""

from __future__ import annotations

from typing import Final

from gate.regex import regex

GUARDED: Final = regex(
    r"\b(?:raise|throw|panic|abort|die|deny|denied|forbid\w*|unauthori[sz]ed|refuse\w*|reject\w*|400|401|403|404|409|422"
    r"|429|\w*NotFound|\w*BadRequest\w*|TooMany\w*|http\.Error|Forbidden\w*|locked|redirect\w*"
    r"|return\s+(?:false|False|nil|null|None|undefined|err\b|errors?\.))"
)
"""What stands behind a condition that refuses."""
ORDERED: Final = regex(r"(?<![-=<>])[<>](?![<>])=?")
EQUAL: Final = regex(r"[=!]==?|\bequals?\b|\bEquals?\b|\bis\b|\bin\b|\bcontains\b|\bhas\b|\bincludes\b")
ASKS: Final = regex(
    r"^(?:is|has|can|may|might|allow|allows|allowed|verify|verifies|valid|validate|check|covers|owns|permit|permits"
    r"|permitted|authori[sz]ed?|authenticated?|match|matches|expired|locked|admitted)(?:_|$)"
)
VERIFIER: Final = regex(
    r"(?:^|_)(?:verify|verifies|verified|verifier|authenticate|authori[sz]e|check_password|password_matches"
    r"|compare_password"
    r"|valid_(?:token|signature|password)|(?:validate|check)_(?:token|signature|password|session|code|otp|pin)"
    r"|is_(?:admin|owner|allowed|permitted|member)"
    r"|has_(?:permission|access|role|right)s?|can_(?:access|read|write|edit|delete|see))(?:_|$)"
)
"""Names of functions whose answer lets somebody in, in snake case."""
KEEPS: Final = regex(
    r"(?:^|_)(?:memo|memoi[sz]ed?|cached?|lru_cache|ttl_cache|cached_property|remember(?:ed|s)?|kept|keep|once"
    r"|throttled?|debounced?|dedupe|lazy|coalesced?|reuse|sticky)(?:_|$)"
)
IDENTITY: Final = regex(
    r"^(?:(?:get_)?(?:subject|user|user_id|username|owner|owner_id|role|roles|tenant|tenant_id|account|account_id"
    r"|principal|scopes?|permissions?|groups?|email|issuer|audience|expiry|expires(?:_at)?|id|key|secret|name)"
    r"|(?:is|has|can|may|allow|verify|valid|check|authori[sz]e|authenticate)(?:_\w+)?)$"
)
"""Methods by which guards tell who somebody is and what they may."""
WIDTHS: Final = {
    8: regex(
        r"\b(?:u?int8(?:_t)?|[iu]8|s?byte|Byte|UByte|tinyint|tiny_integer|TINYINT|U?[iI]nt8(?:Clamped)?Array)\b"
    ),
    16: regex(
        r"\b(?:u?int16(?:_t)?|[iu]16|u?short|U?Short|U?Int16|smallint|SMALLINT|U?[iI]nt16Array|SmallInteger|\w*SmallIntegerField)\b"
    ),
    64: regex(
        r"\b(?:u?int(?:32|64)?(?:_t)?|[iu](?:32|64|size)|usize|u?long|U?Long|U?Int(?:32|64)?|Integer|BigInteger\w*|integer"
        r"|bigint|number|decimal|Decimal\w*|BigDecimal|Map|Array|Float64Array|U?[iI]nt32Array|\w*IntegerField)\b"
    ),
}
"""Bits that numbers of a type have; 64 stands for all that no counter gets past."""
MODULO: Final = regex(
    r"(?:%=?\s*(?:256|128|100|16|32|64|128|1000|65536|0x100|0x10000)\b|&=?\s*(?:0x[fF]{1,4}|255|127|15|65535)\b)"
)
EXACT: Final = regex(
    r"\b(?:Decimal|BigDecimal|BigInteger|BigInt|Fraction|int|Integer\.(?:parseInt|valueOf)|Long\.parseLong|parseInt|Atoi"
    r"|ParseInt|ParseUint|to_i|to_d|BigDecimal|intval|toInt|toLong|toBigDecimal|bcadd|Money|Int64|decimal|bigint|long|Long"
    r"|Integer|int64)\b"
)
INEXACT: Final = regex(
    r"\b(?:float|float64|float32|parseFloat|ParseFloat|Number|Double|double|Float|to_f|floatval|toDouble|toFloat|number)\b"
)
FINITE: Final = regex(
    r"(?i)\b(?:is_?finite|is_?nan|is_?inf(?:inite)?|is(?:Safe)?Integer|nan\?|finite\?|infinite\?|fullmatch|regexp?|match(?:es)?"
    r"|isdecimal|isdigit|TryParse)\b|\.test\("
)
UNITS: Final = {
    "milliseconds": regex(
        r"Date\.now\(\)|getTime\(\)|UnixMilli\(\)|currentTimeMillis\(\)|ToUnixTimeMilliseconds\(\)|toEpochMilli\(\)"
        r"|\.valueOf\(\)|performance\.now\(\)"
    ),
    "seconds": regex(
        r"\btime\.time\(\)|\btime\(\)|\.Unix\(\)|getEpochSecond\(\)|epochSecond|ToUnixTimeSeconds\(\)|\.timestamp\(\)"
        r"|Time\.now\.to_[if]|monotonic\(\)|REQUEST_TIME"
    ),
    "nanoseconds": regex(r"time_ns\(\)|UnixNano\(\)|nanoTime\(\)|hrtime\.bigint\(\)|monotonic_ns\(\)"),
}
SCALED: Final = regex(r"([*/]{1,2})\s*(1_?000(?:_?000)?(?:\.0)?|1e3|1e6)\b")
FOLDS: Final = regex(
    r"(?i)\b(?:lower(?:case)?|upper(?:case)?|toLowerCase|toUpperCase|ToLower|ToUpper|ToLowerInvariant|ToUpperInvariant"
    r"|EqualFold|equalsIgnoreCase"
    r"|casefold|downcase|upcase|strtolower|strcasecmp|OrdinalIgnoreCase|substring|substr|slice|startsWith|startswith|HasPrefix"
    r"|StartsWith|starts_with\?*|start_with\?|endsWith|endswith|HasSuffix|parseInt|Atoi|to_i|intval|digits?|hashCode|replace"
    r"|replaceAll|ReplaceAll|gsub|re\.sub|sub|preg_replace|split|Split|partition|rsplit|trim|normali[sz]e|Normalize|unidecode"
    r"|transliterate|prefix|suffix|take|first|crc32|adler32|fnv\w*|Sum32|Sum16)\b"
)
"""Calls after which several values are one."""
EQUALITY: Final = frozenset(
    {"equals", "__eq__", "Equal", "Equals", "==", "eql?", "compareTo", "CompareTo", "<=>", "isEqual",
     "Compare", "operator =="}
)  # fmt: skip
"""Methods that say which values are one."""
SANITISES: Final = regex(
    r"(?:^|_)(?:saniti[sz]e[ds]?|clean(?:ed|se)?|safe|escape[ds]?|secure|strip|purify|scrub)(?:_|$)"
)
STRIPS: Final = regex(
    r"""(?x)\b(?:replace|replaceAll|ReplaceAll|Replace|replace_all|gsub|str_replace|sub|delete|preg_replace)\b
    \s*\(?[^;\n]{0,60}?(["'/`])(\.\./|\.\.\\\\/|\.\.\\/|\\\.\\\.\\?/|\\\.\\\.\\/|<script>|</?script[^"'`]{0,12}|javascript:|on\w+=)"""
)
"""One pass that takes a sequence out whose parts may form it again."""
REPEATS: Final = regex(
    r"\b(?:for|while|loop|until|do)\b|\b(?:filepath\.Clean|path\.Clean|Clean|filepath\.Base|basename|path\.basename"
    r"|filepath\.IsLocal"
    r"|realpath|getCanonicalPath|toRealPath|GetFileName|File\.basename|secure_filename|resolve|is_relative_to|normalize"
    r"|Localize|os\.OpenRoot|relative_to)\b"
)
SUMS: Final = regex(r"\b(?:sum|Sum|reduce|fold|array_sum|sumOf|sumBy|inject|mapToInt|Aggregate)\b|\+=")
SHARES: Final = regex(r"(?i)\b\w*(?:percent|discount|rebate|reduction|coupon|voucher|promotion)\w*\b")
ENDS: Final = regex(
    r"\b(?:min|max|Min|Max|clamp|Clamp|coerceAtMost|coerceIn|coerceAtLeast|LEAST|GREATEST|clip|cap|bound\w*)\b"
)

STRICT: Final = regex(
    r"(?i)(?:^|_)(?:strict|verify|check|required?|secure|signed|auth\w*|validate|enforce|raises?|must|ssl|tls|safe|limit(?:ed)?)(?:_|$)"
)
"""Parameters that make a function refuse more."""
LOOSE: Final = regex(
    r"(?i)(?:^|_)(?:allow\w*|skip\w*|insecure|anonymous|trust(?:ed)?|unsafe|bypass|ignore\w*|lenient|optional|permissive)(?:_|$)"
)
"""Parameters that make it refuse less."""

"""Sentences that send coding agents round the checks, have them hide what they do, or give secrets away.

Words alone are weak evidence: a sentence counts in full where it is an order to the agent about its own
doing; what may as well be about the program ("Never inform users of internal errors") is told low.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from gate.languages.commands.addresses import Origin, origin_of
from gate.model.rule import Confidence, Severity
from gate.regex import regex


class AgentSentence(NamedTuple):
    """Lines ``first..last`` (1-based) and what is told of them."""

    first: int
    last: int
    message: str
    severity: Severity
    confidence: Confidence


_ROUND: Final = "Agents are told to get round a check."
_FORGET: Final = "Agents are told to forget their instructions."
_SEND: Final = "Agents are told to send secrets away."
_HIDE: Final = "Agents are told to keep something from people."
_OBEY: Final = "Agents are told to do what a page elsewhere says."
_EXPOSE: Final = "Agents are told to put secrets or the environment where others read them."
_WEAKEN: Final = "Agents are told to write code that checks less."
_FROM: Final = "Agents are told to take packages from another index."
_UNSEEN: Final = regex("[\u00ad\u200b-\u200d\u2060\ufeff]")
"""Characters that nobody sees; inside of a word they hide it from a pattern, not from an agent."""
_W: Final = r"[\w'\u2019*`,/-]{1,30}\s{1,5}"
_GUARD: Final = (
    r"(?:security|safety|sandbox\w*|guard-?rails?|vulnerabilit\w+|secret[- ]scan\w*"
    r"|(?:certificate|tls|ssl|signature|hash|checksum|integrity|origin)\s+(?:checks?|verification|validation)"
    r"|code[- ]?reviews?|human (?:review|approval)|permission (?:prompts?|checks?)|approvals?"
    r"|pre-?commit(?!['\u2019]s)|(?:git|commit) hooks?|ci checks?|the gate)"
)
_PEOPLE: Final = r"(?:users?|humans?|developers?|reviewers?|maintainers?|anyone|anybody)"
_THIS: Final = r"(?:this|that|these|those|it|them|your|what you|(?:any|all) of (?:this|it))"
_NOT: Final = r"\b(?:do\s+not|don['\u2019]t|never|without)\s+"
_AT_HOME_KEPT: Final = (
    r"\.(?:netrc|ssh|aws|npmrc|pypirc|kube|gnupg|git-credentials|docker/config|config/gh|env)\b"
)
_AT_HOME: Final = rf"[\"'<]?(?:~/|\$\{{?HOME\}}?/|/root/|/home/[\w-]{{1,40}}/)?{_AT_HOME_KEPT}"
_URL: Final = r"[`<(\"']?(?P<address>https?://[^\s`>)\"']{1,300})"
_VERBS: Final = (
    r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|skip(?:ping)?|bypass(?:ing)?|disabl(?:e|ing)"
    r"|(?:turn|switch)(?:ing)? off|circumvent(?:ing)?|evad(?:e|ing)|suppress(?:ing)?)"
)


def _compiled(*rows: tuple[str, str]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((message, regex(pattern, re.IGNORECASE)) for message, pattern in rows)


_ORDERS: Final = _compiled(
    (_ROUND, rf"{_VERBS}\s{{1,5}}(?:{_W}){{0,4}}?\W{{0,3}}{_GUARD}\b"),
    (_ROUND, rf"\b(?:turn|switch)\s{{1,5}}(?:{_W}){{0,3}}?{_GUARD}\s{{1,5}}(?:\w{{1,20}}\s{{1,5}})?off\b"),
)
"""Counted in full as an order; low where somebody else does it, or it is told of."""
_SWITCHES: Final = _compiled(
    (_ROUND, r"(?:--no-verify|--dangerously-skip-permissions|--trust-all-tools|--yolo)\b"),
    (_ROUND, r"\bgit\s+commit\b[^\n`.;|]{0,60}?\s-[a-z]{0,3}n[a-z]{0,3}(?![\w-])"),
    (_ROUND, r"\b(?:HUSKY=0|HUSKY_SKIP_HOOKS=1|LEFTHOOK=(?:0|false)|core\.hooksPath[= ]/dev/null)"),
    (_ROUND, r"\bSKIP=[\w,-]{0,60}(?:gitleaks|secret|trufflehog|bandit|semgrep|safety|audit|security)"),
    (_ROUND, r"\bdangerouslyDisableSandbox\W{1,4}true"),
)
_EXPOSES: Final = _compiled(
    (
        _EXPOSE,
        (
            r"\b(?:includ|writ|put|past|sav|stor|log|print|add|append|copy|dump|record|attach)(?:e|s|ing|ed|ting)?\b"
            r"[^.!?\n]{0,60}(?:\b(?:output|result|content|value)s?\s+of\s+(?:the\s+)?[`'\"]?"
            r"(?:env|printenv|set|export -p|\.env|id_rsa"
            r"|cat\s+~?/?[\w./-]{0,40}(?:env|key|secret|credential)\w*)\b"
            r"|\b(?:all|every|full|whole|entire|current)\s+(?:\w{1,12}\s+)?environment(?:\s+variables)?\b)"
            r"[^.!?\n]{0,40}\b(?:in|into|to|on|under|as)\b"
        ),
    ),
)
"""Counted in full as an order: what a build or a page then holds, others read."""
_WEAKENS: Final = _compiled(
    (
        _WEAKEN,
        (
            rf"{_VERBS}\s{{1,5}}(?:{_W}){{0,3}}?(?:certificates?|tls|ssl|signatures?|hash(?:es)?|checksums?)"
            r"\s+(?:checks?|verification|validation|errors?)\b"
        ),
    ),
    (
        _WEAKEN,
        (
            r"\b(?:fine|ok|okay|acceptable|safe|allowed|best)\s+to\s+"
            rf"{_VERBS}\s{{1,5}}(?:{_W}){{0,3}}?(?:verification|validation|authentication|escaping)\b"
        ),
    ),
    (
        _WEAKEN,
        (
            r"\b(?:always|please|must|should)\b[^.!?\n]{0,40}"
            r"\b(?:verify\s*=\s*False|--insecure\b|rejectUnauthorized:\s*false)"
        ),
    ),
)
_TAKES_FROM: Final = _compiled(
    (
        _FROM,
        (
            r"\b(?:use|prefer|install|resolve|download)\w*\b[^.!?\n]{0,40}"
            rf"\b(?:mirror|index|registry)\s{{1,3}}(?:at\s|from\s)?(?<!\]){_URL}"
        ),
    ),
)
_KNOWN_INDEXES: Final = regex(
    r"https?://(?:[\w-]{1,40}\.)?(?:pypi\.org|pythonhosted\.org|npmjs\.org|npmjs\.com|yarnpkg\.com|crates\.io"
    r"|rubygems\.org|golang\.org|maven\.org|nuget\.org|localhost|127\.0\.0\.1)(?:[:/]|$)"
)
_FORGETS: Final = _compiled(
    (
        _FORGET,
        (
            r"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|of)\s+){0,4}"
            r"(?:(?:previous|prior|above|earlier|system|safety)\s+(?:instructions?|rules?|prompts?|guidelines)\b"
            r"|other\s+(?:instructions?|rules?|prompts?|guidelines)\b(?!\s+(?:of|than|in|for|from|about)\b))"
        ),
    ),
)
_SENDS: Final = _compiled(
    (
        _SEND,
        (
            r"\b(?:send|post|upload|forward|submit|include|attach|curl|wget)\b[^!?]{0,80}(?<![\w.])"
            r"(?:\.env\b|secrets?\b|credentials?\b|api[ _-]?keys?\b|tokens?\b|environment variables|ssh keys?"
            r"|id_rsa)"
            r"[^!?]{0,80}https?://(?!localhost|127\.)"
        ),
    ),
    (
        _SEND,
        rf"\b(?:curl|wget|http)\b[^\n]{{0,80}}?(?:@|-T\s{{0,4}}|--upload-file[ =]|--post-file[ =]){_AT_HOME}",
    ),
    (_SEND, r"\b(?:env|printenv)\s{0,4}\|[^\n]{0,60}?\b(?:curl\b[^\n]{0,60}@-|nc\b|ncat\b|wget\b)"),
    (_SEND, rf"(?:~|\$HOME)/{_AT_HOME_KEPT}[^\n|]{{0,40}}\|[^\n]{{0,40}}?\b(?:curl|wget|nc|ncat)\b"),
)
_SENDS_ELSEWHERE: Final = _compiled(
    (
        _SEND,
        (
            r"(?:`(?:env|printenv|export -p)`|(?<![\w.])(?:\.env\b|\.netrc|id_rsa)"
            r"|\benvironment(?:\s+variables?)?\b"
            r"|\b(?:secrets?|credentials?|tokens?|api[ _-]?keys?|ssh keys?|passwords?)\b)"
            rf"(?:(?!\n\s*\n)[\s\S]){{0,200}}?\b(?:to|into|at|with|via)\s{{1,3}}(?:\w{{1,12}}\s{{1,3}}){{0,3}}"
            rf"{_URL}"
        ),
    ),
)
"""Of a paragraph: a secret, and behind it an address that something is brought to."""
_OBEYS: Final = _compiled(
    (
        _OBEY,
        (
            rf"\b(?:fetch|download|read|open|load|get|retrieve|visit|curl|see)\b[^.!?\n]{{0,20}}{_URL}[^.!?\n]{{0,60}}"
            r"\b(?:do (?:what|whatever|as) it (?:says|tells)|obey|carry (?:it )?out"
            r"|(?:execute|run|source) (?:it|them))\b"
        ),
    ),
    (_OBEY, rf"\bpip(?:e|ing)\s{{1,4}}{_URL}\W{{0,4}}\s(?:in)?to\s(?:\w{{1,8}}\s){{0,2}}(?:shell|bash|sh)\b"),
    (_OBEY, rf"\btreat\b[^.!?\n]{{0,30}}{_URL}[^.!?\n]{{0,30}}\bas\b[^.!?\n]{{0,20}}\binstructions\b"),
)
_HIDES: Final = _compiled(
    (
        _HIDE,
        (
            rf"{_NOT}(?:mention|tell|inform|reveal|disclos|notif|alert)\w*\s+(?:{_THIS}\b[^.!?]{{0,60}}"
            rf"\b(?:{_PEOPLE}|pull request|commit message|summar(?:y|ies)|changelog|description|report)\b"
            rf"|(?:{_W}){{0,3}}?{_PEOPLE}\b(?:\s+(?:of|about)\s+{_THIS}\b"
            rf"|\s+that\s+(?:you|this)\b|\s{{0,4}}(?=[.!?;,)]|\n\s*\n|$)))"
        ),
    ),
    (
        _HIDE,
        rf"\b(?:hid(?:e|ing)|conceal|keep)\s+{_THIS}\b[^.!?]{{0,30}}\bfrom\s+(?:\w{{1,8}}\s+)?{_PEOPLE}\b",
    ),
    (_HIDE, rf"\bkeep\s+{_THIS}\b[^.!?]{{0,20}}\bto yourself\b"),
    (
        _HIDE,
        (
            rf"\bleave\s+{_THIS}\b[^.!?]{{0,20}}\bout of\s+(?:your|the)\s+"
            r"(?:summary|report|answer|pull request)\b"
        ),
    ),
    (_HIDE, r"\b(?:do\s+not|don['\u2019]t|never)\s+say\s+that\s+you\s+(?:did|made|ran|do)\b"),
)
_MAY_HIDE: Final = _compiled(
    (
        _HIDE,
        (
            rf"{_NOT}(?:mention|tell|inform|reveal|disclos|notif|alert)\w*\b[^.!?]{{0,60}}"
            rf"\b(?:{_PEOPLE}|pull request|commit message)\b"
        ),
    ),
)
_LEAVES_OUT: Final = _compiled(
    (
        _ROUND,
        (
            r"\b(?:do\s+not|don['\u2019]t|never)\s+(?:run|perform|wait\s+for|ask\s+for|request)\b[^.!?]{0,30}"
            rf"\b{_GUARD}\b"
        ),
    ),
)
_WITH_A_REASON: Final = regex(
    r"[^.!?\n]{0,60}\b(?:by hand|manually|locally|yourself|twice|CI (?:does|runs|will)"
    r"|they run|runs? on|to finish)\b",
    re.IGNORECASE,
)
_ORDERED: Final = regex(
    r"(?:^|[,;\u2014(]|\b(?:always|please|then|first|and|or|just|simply|also|must|should|may|can"
    r"|could|will|have to"
    r"|need to|free to|allowed to|remember to|by|you|agents?|instead)\b)[\s*_`\"']*$",
    re.IGNORECASE,
)
_QUOTED: Final = regex(
    r"\b(?:such as|like|e\.g\.|detects?|contains?|says?|phrases?)\W{0,4}['\"`\u201c\u2018]$", re.IGNORECASE
)
_PROMPTS: Final = regex(r"forget\b.*\bprompts?$", re.IGNORECASE | re.DOTALL)
_IS_WRONG: Final = regex(
    r"\W{0,3}(?:\w+\s+)?(?:is|are)\s+(?:a bug|forbidden|prohibited|banned|disallowed|unacceptable"
    r"|not allowed|never allowed)\b",
    re.IGNORECASE,
)
_ITSELF: Final = regex(r"\.env\b|\$\(|id_rsa|@|`cat")
_BRINGS: Final = regex(
    r"\b(?:send|post|put|upload|forward|submit|includ|attach|copy|copies|keep|shar|report|push|transfer|sync|mirror)\w*\b",
    re.IGNORECASE,
)
_WITH_KEY: Final = regex(
    r"\bwith (?:an?|the|your|its) (?:\w+ )?(?:api[ _-]?key|token|credential)"
    r"|-H\s*[\"'](?:Authorization|[\w-]{0,30}token|x-api-key)\s*:",
    re.IGNORECASE,
)
_NEGATION: Final = regex(
    r"\b(?:(?:never|not|dont|\w{2,8}n['\u2019]t|cannot|avoid|refuse|forbid\w*|prohibit\w*"
    r"|disallow\w*|nobody|no one"
    r"|no circumstances|instead of|rather than)\b"
    r"(?!\s+(?:worry|hesitate|mind|forget|fret|be\s+(?:afraid|shy)|only|just|need|have\s+to\s+ask))"
    r"|(?:no|without)\s+$)",
    re.IGNORECASE,
)
_TURNS: Final = regex(r",|\b(?:then|so|but|just|instead)\b", re.IGNORECASE)
_LISTED: Final = regex(r"[^.!?]{0,60}[\s,]n?or\b", re.IGNORECASE)
SENTENCE: Final = regex(r"[.!?:](?=\s)|\n\s*\n|\n\s*[-*#>]")
_MARKS: Final = regex(r"^[\s\-*#>`_\"'\d.)(]+")
_FILES_OF_SECRETS: Final = regex(
    r"(?:^|[\s`\"'/(])\.env\b(?!\.(?:example|sample|template))|\.(?:netrc|npmrc|pypirc|pgpass)\b"
    r"|\.(?:aws|ssh|gnupg|kube|docker)/|id_(?:rsa|ed25519)|private key|seed phrase|credentials? file",
    re.IGNORECASE,
)
"""What nobody sends to an address on purpose."""
_FULL: Final = (Severity.HIGH, Confidence.HIGH)
_WEAK: Final = (Severity.LOW, Confidence.LOW)


def forbids(before: str) -> bool:
    """Is what follows these words of a sentence forbidden? ``Don't worry,`` forbids nothing."""
    found = list(_NEGATION.finditer(before))
    if not found:
        return False
    between = before[found[-1].end() :]
    return not _TURNS.search(between) or bool(re.search(r"\bn?or\s*$", between))


def sayings(text: str) -> Iterator[AgentSentence]:
    """What is told of each such sentence; nothing of one that is forbidden."""
    text = _UNSEEN.sub("", text)
    for rows, kind in (
        (_ORDERS, "order"),
        (_SWITCHES, "switch"),
        (_FORGETS, "forget"),
        (_SENDS, "send"),
        (_SENDS_ELSEWHERE, "elsewhere"),
        (_OBEYS, "obey"),
        (_HIDES, "hide"),
        (_MAY_HIDE, "may"),
        (_LEAVES_OUT, "leave"),
        (_EXPOSES, "order"),
        (_WEAKENS[:1], "order"),
        (_WEAKENS[1:], "weaken"),
        (_TAKES_FROM, "from"),
    ):
        for message, pattern in rows:
            for match in pattern.finditer(text):
                before = SENTENCE.split(text[max(0, match.start() - 120) : match.start()])[-1]
                before = _MARKS.sub("", before)
                negatable = kind not in ("hide", "may", "leave")
                if negatable and forbids(before):
                    continue
                if kind == "elsewhere" and not _brings(match, before):
                    continue
                first = text.count("\n", 0, match.start()) + 1
                after = text[match.end() : match.end() + 120]
                level = _level(kind, match, before, after)
                if negatable and _NEGATION.search(before) and _LISTED.match(after):
                    level = _WEAK  # "Do not push, bypass review, or ...": one of a list that is forbidden
                yield AgentSentence(first, first + match[0].count("\n"), message, *level)


def _brings(match: re.Match[str], before: str) -> bool:
    """Is the secret brought to the address? To use an interface with its key is no such thing."""
    known = origin_of(match["address"]) <= Origin.VENDOR
    said = before + match[0]
    return not known and bool(_BRINGS.search(said)) and not _WITH_KEY.search(said)


def _level(kind: str, match: re.Match[str], before: str, after: str) -> tuple[Severity, Confidence]:
    weak = False
    if kind in ("order", "switch"):
        weak = (kind == "order" and not _ORDERED.search(before)) or (
            bool(_IS_WRONG.match(after)) and (kind == "switch" or "ing" in match[0].split()[0])
        )
    elif kind == "forget":
        weak = bool(_QUOTED.search(before)) or (bool(_PROMPTS.match(match[0])) and after.startswith(" when"))
    elif kind == "send":
        weak = bool(_WITH_KEY.search(match[0])) and not _ITSELF.search(match[0])
    elif kind == "obey" and origin_of(match["address"]) <= Origin.VENDOR:
        return Severity.MEDIUM, Confidence.HIGH
    elif kind == "elsewhere":
        secret = bool(_FILES_OF_SECRETS.search(match[0]))
        return (Severity.CRITICAL, Confidence.HIGH) if secret else (Severity.MEDIUM, Confidence.MEDIUM)
    elif kind == "from":
        weak = bool(_KNOWN_INDEXES.match(match["address"]))
    elif kind == "leave" and _WITH_A_REASON.match(after):
        return Severity.MEDIUM, Confidence.LOW
    return _WEAK if weak or kind == "may" else _FULL

"""What single values of a workflow say: actions and their pins, secrets, addresses, commands. Text only.

Runs in the limited child. Every judgement is about what base has not; what cannot be told is never the
mildest answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Iterable
from functools import cache
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.languages.commands.addresses import Origin, origin_of
from gate.languages.commands.vocabulary import FETCHES
from gate.regex import regex
from gate.resources import rules_dir

Level = Literal["low", "medium", "high", "critical"]

_EXPRESSION: Final = regex(r"\$\{\{(.*?)(?:\}\}|\Z)", re.DOTALL)
_SECRET: Final = regex(r"\bsecrets\s*(?:\.\s*([\w-]+)|\[\s*['\"]([\w-]+)['\"]\s*\])?", re.IGNORECASE)
_WORDS: Final = regex(r"[\w./-]\s+[\w./-]|[;&|`$<>]")
_TOKEN: Final = regex(r"\bgithub\s*(?:\.\s*token\b|\[\s*['\"]token)", re.IGNORECASE)
_COMMIT: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.IGNORECASE)
_TAG: Final = regex(r"[\w-]*?v?\d[\w.+-]*", re.IGNORECASE)
_URL: Final = regex(
    r"\b(?:https?|ftp|git|ssh)(?:\+\w+)?://([^\s/\"'`<>|;,)]+)[^\s\"'`<>|;,)]*", re.IGNORECASE
)
_LEAVES: Final = regex(
    r"\b(?:nc|ncat|socat|scp|sftp|rsync|ssh|ftp|telnet|telnetd?)\s+\S|/dev/(?:tcp|udp)/|\bgit\s+(?:push|clone|remote)\b"
    r"|\bgh\s+(?:api|secret|auth|workflow|repo|release\s+upload)\b|\b(?:twine|npm|yarn|pnpm|cargo|poetry|flit|hatch|uv)\s+(?:\S+\s+)?publish\b"
    r"|\btwine\s+upload\b|\bdocker\s+(?:push|login)\b|\baws\s+\w|\bgcloud\s+\w|\baz\s+\w|\bkubectl\s+\w",
    re.IGNORECASE,
)
_PUBLISHES: Final = regex(
    r"gh-action-pypi-publish|action-gh-release|create-release|semantic-release|goreleaser|release-please|npm-publish"
    r"|changesets/action|build-push-action|\btwine\s+upload|\b(?:uv|poetry|flit|hatch|pdm|npm|pnpm|cargo|gem|dotnet"
    r"\s+nuget)\s+(?:publish|push)\b|\byarn\s+(?:npm\s+)?publish|\bdocker\s+push|\bgh\s+release\s+(?:create|upload)"
    r"|\bmvn\b[^\n]{0,200}\bdeploy\b|\bgradlew?\b[^\n]{0,200}\bpublish",
    re.IGNORECASE,
)
_DOWNLOADS: Final = regex(
    r"^(?:~|/|\$\{\{|\$HOME)|(?:^|/)\.(?:npm|yarn|pnpm-store|m2|gradle|cargo|cache)(?:/|$)"
)
_HIDES: Final = regex(
    r"\bbase(?:64|32)\s+(?:-\w*d|--decode)|\beval\b|\bxxd\s+-\w*r|\bopenssl\s+(?:enc|base64)\b|\bprintenv\b"
    r"|(?:^|[;&|]\s*)env\s*(?:\||>|$)|/proc/self/environ|\bLD_PRELOAD\b|\bBASH_ENV\b",
    re.IGNORECASE | re.MULTILINE,
)
_BRINGS: Final = regex(
    r"\b(?:curl|wget|http|https|nc|ncat|socat|python[\d.]*|node|invoke-(?:webrequest|restmethod))\b",
    re.IGNORECASE,
)
_WRAPS: Final = regex(
    r"\|\s*(?:base64|base32|xxd|od|rev|tr|gzip|openssl|hexdump)\b|<<<[^\n|]{0,200}\|", re.IGNORECASE
)
_WHOLE: Final = regex(
    r"(?:^|[;&|(]\s*)(?:env|printenv|export\s+-p|set)\s*\|[^\n]{0,300}\b(?:curl|wget|nc|ncat)\b"
    r"|\$\((?:env|printenv)\b|/proc/self/environ|@/proc/\w+/environ",
    re.IGNORECASE | re.MULTILINE,
)
_INLINE: Final = regex(
    r"\b(?:python[\d.]*|node|perl|ruby|php|deno|bash|sh)\s+(?:-\w+\s+)*-[cer]\b.{0,4000}?(?:\bexec\b|\beval\b|urlopen|requests\."
    r"|httpx|socket|subprocess|\bsystem\b|popen|environ|process\.env|ENV\[|getenv|b64|base64|fromhex|child_process|fetch\(|https?:|urllib)",
    re.IGNORECASE | re.DOTALL,
)
"""A program given on the command line that does more than compute."""
_ELSEWHERE: Final = regex(
    r"--(?:extra-)?index-url\b|--registry\b|--find-links\b|--trusted-host\b|\bgit\+(?:https?|ssh)://|(?:^|\s)-i\s+https?:",
    re.IGNORECASE,
)
_CANNOT_FAIL: Final = regex(
    r"\|\|\s*(?:true|:|exit\s+0|echo\b)|\bset\s+\+e\b|(?:^|[;&]\s*)exit\s+0\b", re.MULTILINE
)
_SECURITY: Final = regex(
    r"\b(?:gate|gate-ci|codeql|semgrep|bandit|gitleaks|trivy|trufflehog|zizmor|grype|snyk|scorecard|osv-scanner|pip-audit"
    r"|detect-secrets|dependency-review(?:-action)?|checkov|sonar\w*|harden-runner|npm\s+audit)\b",
    re.IGNORECASE,
)
_CHECK: Final = regex(
    r"\b(?:pytest|tox|nox|unittest|tests?|lint|ruff|mypy|pyright|flake8|pylint|eslint|jest|vitest|mocha|pre-commit|golangci-lint"
    r"|prek|check|verify|audit|scan)\b",
    re.IGNORECASE,
)
_NEVER: Final = regex(
    r"(?:\$\{\{)?\s*!?\s*\(*\s*(?:false|0|''|\"\"|null|!\s*(?:true|always\(\)))\s*\)*\s*(?:&&.*)?(?:\}\})?\s*",
    re.IGNORECASE,
)
_HOSTED: Final = regex(r"(?:ubuntu|macos|windows)-[\w.-]+", re.IGNORECASE)
_STEERS: Final = regex(
    r"(?:PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|SHELL|IFS|NODE_OPTIONS|PYTHON(?:PATH|STARTUP|HOME)|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|GIT_\w+"
    r"|\w*(?:INDEX_URL|REGISTRY|PROXY)|(?:PIP|UV|NPM|YARN)_\w*(?:INDEX|CONFIG|USERCONFIG)\w*|CC|CXX|RUSTC_WRAPPER|GOPROXY|GONOSUMDB|GOFLAGS"
    r"|ACTIONS_\w+)",
    re.IGNORECASE,
)
TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105 - the name of one
EVERY: Final = "*"
"""Stands for secrets that are not named one by one."""


@dataclass(frozen=True, slots=True)
class Action:
    """What ``uses`` names. ``name`` is lower case, without the revision."""

    name: str
    revision: str

    @property
    def is_local(self) -> bool:
        """A file of this repository, judged as such."""
        return self.name.startswith("./")

    @property
    def is_pinned(self) -> bool:
        """Named by what it contains: a commit, a digest, or this very tree."""
        return self.is_local or bool(_COMMIT.fullmatch(self.revision)) or self.revision.startswith("sha256:")

    @property
    def is_tagged(self) -> bool:
        """Named by something that looks like a version."""
        return bool(_TAG.fullmatch(self.revision))

    @property
    def is_well_known(self) -> bool:
        """Published by somebody in rules/actions.toml."""
        return self.name.partition("/")[0] in _known("publishers")


@cache
def _known(table: str) -> frozenset[str]:
    with (rules_dir() / "actions.toml").open("rb") as file:
        return frozenset(tomllib.load(file)[table])


def action_of(uses: str) -> Action:
    """``owner/name/path@revision``, ``./path`` or ``docker://image``."""
    uses = uses.strip()
    if uses.lower().startswith("docker://"):
        return image_of(uses)
    name, _, revision = uses.partition("@")
    return Action(name.lower().rstrip("/"), revision)


def image_of(text: str) -> Action:
    """A container image: its name, and its tag or digest."""
    name, at, digest = text.strip().partition("@")
    if at:
        return Action(
            name.rpartition(":")[0].lower() if ":" in name.rpartition("/")[2] else name.lower(), digest
        )
    front, colon, tag = name.rpartition(":")
    return Action(front.lower(), tag) if colon and "/" not in tag else Action(name.lower(), "")


def repin(old: Action, new: Action) -> Level:
    """The same action at another revision: a version bump is low, a looser pin is not."""
    if new.is_pinned or new.is_tagged:
        loosened = old.is_pinned and not new.is_pinned and not new.is_well_known
        return "high" if loosened else "low"
    return "medium" if new.is_well_known else "high"


def newly_used(action: Action) -> Level:
    """An action that base does not use."""
    if action.is_local:
        return "medium"
    if action.is_well_known:
        return "low" if action.is_pinned or action.is_tagged else "medium"
    return "medium" if action.is_pinned else "high"


def are_its_own(step: object, secrets: Iterable[str]) -> bool:
    """Do these secrets bear the name of the well-known maker whose action the step is (``CODECOV_TOKEN``)?"""
    used = step.get("uses") if isinstance(step, dict) else None
    if not isinstance(used, str) or not (action := action_of(used)).is_well_known:
        return False
    maker = action.name.partition("/")[0].replace("-", "_").upper().removesuffix("APP")
    return all(name.startswith(f"{maker}_") for name in secrets)


def secret_sent(run: str, secrets: Iterable[str], known: Container[str]) -> str:
    """The address that a command newly brings every secret to, or one that was wrapped first; empty: none.

    A token in a header is how services are used; one that goes through ``base64`` on its way is not.
    """
    held = {*secrets} - {TOKEN}
    found = [match for match in _URL.finditer(run) if _BRINGS.search(run)]
    foreign = [m[0] for m in found if m[1].lower() not in known and not is_known_place(m[0])]
    wrapped = bool(held) and bool(_WRAPS.search(run))
    return foreign[0] if foreign and (EVERY in held or wrapped or _WHOLE.search(run)) else ""


def secrets_in(texts: Iterable[str]) -> frozenset[str]:
    """Names of the secrets that expressions in these texts read; EVERY where they are not named."""
    found: set[str] = set()
    for text in texts:
        for expression in _EXPRESSION.findall(text):
            for match in _SECRET.finditer(expression):
                found.add((match[1] or match[2] or EVERY).upper())
            if _TOKEN.search(expression):
                found.add(TOKEN)
    return frozenset(found)


def secret_variables(env: object) -> frozenset[str]:
    """Names in an ``env`` whose values are made from a secret or the job's token."""
    table = env if isinstance(env, dict) else {}
    return frozenset(str(name) for name, value in table.items() if secrets_in([str(value)]))


def hosts_in(texts: Iterable[str]) -> dict[str, str]:
    """Hosts of the addresses in these texts (lower case), each with one of them."""
    return {match[1].lower().rpartition("@")[2]: match[0] for text in texts for match in _URL.finditer(text)}


def is_known_place(address: str) -> bool:
    """An address of this machine, of a vendor whose installer is known, or of a package registry."""
    registry = address.startswith("https://") and hosts_in([address]).keys() <= _known("registries")
    return registry or origin_of(address) <= Origin.VENDOR


def command_risk(lines: Iterable[str]) -> str:
    """Why these commands need a person's look, in a few words; empty when they are ordinary."""
    text = "\n".join(lines)
    for pattern, why in (
        (FETCHES, "fetches something"),
        (_LEAVES, "sends or publishes something"),
        (_INLINE, "runs a program written into it that reaches outside"),
        (_HIDES, "decodes, evaluates or prints the environment"),
        (_ELSEWHERE, "installs from another place"),
    ):
        if pattern.search(text):
            return why
    return ""


def may_be_command(text: str) -> bool:
    """More than a word, a version or an expression: a shell could be told to run it."""
    return bool(_WORDS.search(_EXPRESSION.sub("", text)))


def cannot_fail(lines: Iterable[str]) -> bool:
    """Do these commands hide a failure?"""
    return bool(_CANNOT_FAIL.search("\n".join(lines)))


_INSTALLS: Final = regex(
    r"(?:^|(?<=[;&|(\n]))[ \t]*(?:sudo[ \t]+)?(?:python[\d.]*[ \t]+-m[ \t]+)?(?:uv[ \t]+)?"
    r"(?:pipx?[\d.]*|apt(?:-get)?|brew)[ \t]+install\b[^;&|()`$\n]*(?=[;&|\n]|\Z)"
)
"""A command that installs and, as far as one sees, does nothing else."""


def checks_in(texts: Iterable[str]) -> frozenset[str]:
    """The words for tests, linters and scanners in these texts, lower case. To install one runs none."""
    return frozenset(
        match[0].lower()
        for text in texts
        for pattern in (_SECURITY, _CHECK)
        for match in pattern.finditer(_INSTALLS.sub(" ", text))
    )


def guards(texts: Iterable[str]) -> bool:
    """Does one of these texts name a security scanner?"""
    return any(_SECURITY.search(text) for text in texts)


_WRAPPED: Final = regex(r"\$\{\{((?:(?!\}\}|\$\{\{).)*)\}\}", re.DOTALL)
_STATUS: Final = regex(r"\b(?:always|failure|cancelled|success)\s*\(", re.IGNORECASE)


def asks_status(condition: str) -> bool:
    """Does it ask how the steps before ended? It then also holds where without it nothing would run."""
    return bool(_STATUS.search(condition))


def is_never(condition: str) -> bool:
    """A condition that is false whatever happens."""
    return bool(_NEVER.fullmatch(condition.strip()))


def condition(said: object) -> str:
    """What an ``if`` asks, without the marks that GitHub lets one leave out. Empty where it always holds:
    there is none, or there is text beside an expression, if only the end of a line (``if: |``).
    """
    text = "" if said is None else str(said)
    if "${{" not in text:
        return " ".join(text.split())
    whole = _WRAPPED.fullmatch(text)
    return " ".join(whole[1].split()) if whole else ""


def is_hosted(label: str) -> bool:
    """A runner that GitHub makes anew for each job."""
    return bool(_HOSTED.fullmatch(label.strip()))


def steers(variable: str) -> bool:
    """An environment variable that decides which programs run, or where they come from."""
    return bool(_STEERS.fullmatch(variable.strip()))


def publishes(commands: Iterable[str]) -> bool:
    """Do these commands and actions hand out what others install or run?"""
    return any(_PUBLISHES.search(command) for command in commands)


def keeps_build(paths: str) -> bool:
    """Is any of a cache's paths in the checkout, and no store of a package manager's downloads?"""
    return any(not _DOWNLOADS.search(path.strip()) for path in paths.splitlines() if path.strip())

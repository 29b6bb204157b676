"""What the conditions of JavaScript, TypeScript and shell ask for: the vocabulary of both readers."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from gate.dataclass import dataclass
from gate.model.forced import GuardKind
from gate.regex import regex

_CI: Final = frozenset({
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "TRAVIS", "JENKINS_URL", "BUILDKITE", "TF_BUILD",
    "TEAMCITY_VERSION", "DRONE", "APPVEYOR", "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID",
})  # fmt: skip
_CI_PREFIXES: Final = ("GITHUB_", "GITLAB_", "RUNNER_", "CI_", "BUILDKITE_", "CIRCLE_", "TRAVIS_")
_WHO: Final = frozenset({
    "GITHUB_REPOSITORY", "GITHUB_REPOSITORY_OWNER", "GITHUB_REPOSITORY_ID", "GITHUB_ACTOR", "RUNNER_NAME",
    "GITHUB_TRIGGERING_ACTOR", "CI_PROJECT_PATH", "CI_PROJECT_NAMESPACE", "CI_PROJECT_ID", "CI_RUNNER_ID",
    "GITLAB_USER_LOGIN", "GITLAB_USER_EMAIL",
})  # fmt: skip
"""Which project, runner or person it is, as against what happens there (an event, a branch, a tag)."""
_HOST: Final = frozenset({"HOSTNAME", "COMPUTERNAME"})
_USER: Final = frozenset({"USER", "USERNAME", "LOGNAME"})
TRAITS: Final = regex(
    r"/\.dockerenv|/run/\.containerenv|/proc/(?:1|self)/(?:cgroup|sched)|/proc/(?:cpuinfo|uptime)\b|TracerPid|/sys/class/dmi"
    r"|/proc/vz\b|/proc/xen\b|/sys/hypervisor"
)
"""Files by which a container or a virtual machine is known."""
_DATE: Final = regex(r"(?:20[2-9]\d|21\d\d)[-/.]?(?:0[1-9]|1[0-2])(?:[-/.]?\d\d)?(?:[T ].*)?\Z")
_HEX: Final = regex(r"[0-9a-fA-F]{16,128}|[A-Za-z0-9+/_-]{20,88}={0,2}")
_NOBODY: Final = frozenset({
    "", "0", "1", "true", "false", "yes", "no", "root", "localhost", "127.0.0.1", "::1", "0.0.0.0",  # noqa: S104 - a word of conditions
    "undefined", "object", "string", "function", "-",
})  # fmt: skip
"""Values that tell nobody in particular."""
_FIRST_SECOND: Final = 1_000_000_000
"""A moment of 2001: smaller numbers are spans of time."""


@dataclass
class Asked:
    """What one condition asks for, gathered node by node.

    ``written``: values written down that it compares with. ``spans``: a difference is measured, so a number
    is no date.
    """

    kinds: set[GuardKind] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    years: bool = False
    spans: bool = False

    def kind(self) -> GuardKind:
        """What the condition asks for; empty for an ordinary one."""
        telling = {value for value in self.written if value.lower() not in _NOBODY}
        if "digest" in self.kinds and any(_HEX.fullmatch(value) for value in telling):
            return "digest"
        if ("host" in self.kinds or self.variables & _HOST) and telling:
            return "host"
        if ("user" in self.kinds or self.variables & _USER) and telling:
            return "user"
        if "date" in self.kinds and any(self._is_date(value) for value in self.written):
            return "date"
        if self.variables & _WHO and telling:
            return "ci"
        if "sandbox" in self.kinds:
            return "sandbox"
        is_ci = self.variables & _CI or any(v.startswith(_CI_PREFIXES) for v in self.variables)
        return "ci" if is_ci else ""

    @property
    def is_one(self) -> bool:
        """Does a condition on CI choose one project, runner or person?"""
        return bool(self.variables & _WHO)

    def _is_date(self, value: str) -> bool:
        if value.isdecimal() and value.isascii():
            number = int(value[:15])
            if self.years and 2000 <= number <= 2200:
                return True
            if number >= _FIRST_SECOND and len(value) in (10, 13):
                return not self.spans
        return _DATE.match(value) is not None

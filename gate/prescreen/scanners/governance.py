"""Changes to what judges or builds the change: workflows, owners, the gate's own settings, start-up files.

Such a change is not an attack by itself; it is the one kind of change that a person must read (GH-5, CF-7).
The gate reads its own settings from the base commit only, so none of these acts on the check that reports it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Final

from gate.dataclass import dataclass
from gate.languages.content import begins_as_python
from gate.model.change import ChangedFile
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.scanners.agent_instructions import META as AGENT_TOLD
from gate.prescreen.scanners.agent_instructions import instruction_findings as agent_told
from gate.prescreen.scanners.agent_reading import is_guide, read_by_agents
from gate.prescreen.scanners.agent_tools import META as AGENT_TOOLS
from gate.prescreen.scanners.agent_tools import tool_findings
from gate.prescreen.scanners.automatic_commands import META as BY_ITSELF
from gate.prescreen.scanners.automatic_commands import acts_alone, commands
from gate.prescreen.scanners.workflows import compared_paths, workflow_findings
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, policy_rule, rule
from gate.regex import regex

WORKFLOW: Final = policy_rule.meta(
    "governance.workflow",
    "The change edits what CI runs",
    severity="high",
    confidence="high",
    topic="governance",
    cwe=(732,),
    attack=("T1195.002",),
    why="On a pull request many systems run the changed file itself: it can switch its own checks off. "
    "Version bumps and layout are low, ordinary commands medium; new rights and secrets are high.",
    fix="Have an owner read it; require this check from a ruleset, so that the change cannot remove it.",
)
SETTINGS: Final = policy_rule.meta(
    "governance.gate-settings",
    "The change edits the gate's own settings",
    severity="high",
    confidence="high",
    topic="governance",
    cwe=(15,),
    why="Thresholds, allow-lists and exceptions decide what is blocked. This check used the old ones.",
    fix="Change settings in a pull request of their own, approved by the owners of the gate.",
)
OWNERS: Final = policy_rule.meta(
    "governance.owners",
    "The change edits who must approve changes",
    severity="high",
    confidence="high",
    topic="governance",
    cwe=(732,),
    why="Whoever edits CODEOWNERS can make themselves the approver of the next change.",
    fix="Have the present owners approve it.",
)
TOOLING: Final = policy_rule.meta(
    "governance.tool-settings",
    "The change edits settings that other tools obey or execute",
    severity="low",
    confidence="medium",
    topic="governance",
    cwe=(15,),
    attack=("T1195.002",),
    why="Linters, hooks and scanners read these files: an entry can mute them or run a program.",
    fix="Read the new entries: exclusions, plugins, and commands that run on somebody's machine.",
)
AGENT: Final = policy_rule.meta(
    "governance.agent-instructions",
    "The change edits what AI agents are told or may run",
    severity="medium",
    confidence="medium",
    topic="governance",
    cwe=(1427,),
    why="Rules, hooks and tool servers for coding agents steer what they write and run next.",
    fix="Read it as one reads code: what may it run, and where does it send things?",
)
STARTUP: Final = rule.meta(
    "governance.startup-file",
    "A file that Python or a shell runs by itself at every start",
    severity="high",
    confidence="high",
    topic="persistence",
    cwe=(506,),
    attack=("T1546.018",),
    why="sitecustomize, usercustomize, .pth files and shell profiles run without being called.",
    fix="Call the code explicitly from the program that needs it.",
)
RULES: Final = (WORKFLOW, SETTINGS, OWNERS, TOOLING, AGENT, AGENT_TOLD, AGENT_TOOLS, STARTUP, BY_ITSELF)


@dataclass(frozen=True, slots=True)
class _Place:
    rule: RuleMeta
    message: str
    path: re.Pattern[str]
    severity: Severity | None = None


def _place(rule: RuleMeta, message: str, pattern: str, severity: Severity | None = None) -> _Place:
    return _Place(rule, message, regex(pattern, re.IGNORECASE), severity)


_PLACES: Final = (
    _place(SETTINGS, "The gate's settings change.", r"(?:^|/)(?:\.?gate\.toml|\.gate/.*|\.gate-.*)$"),
    _place(OWNERS, "The list of approvers changes.", r"(?:^|/)CODEOWNERS$"),
    _place(
        WORKFLOW,
        "A workflow or action changes.",
        r"^\.github/(?:workflows|actions)/(?!.*\.(?:md|rst|txt|png|svg)$)|(?:^|/)action\.ya?ml$",
    ),
    _place(
        WORKFLOW,
        "A CI pipeline changes.",
        r"^(?:\.gitlab-ci\.ya?ml|\.gitlab/.*|\.circleci/.*|azure-pipelines.*\.ya?ml|Jenkinsfile.*"
        r"|\.travis\.ya?ml|\.drone\.ya?ml|bitbucket-pipelines\.ya?ml|\.buildkite/.*|\.woodpecker.*|\.ci/.*)$",
    ),
    _place(
        WORKFLOW,
        "Automation of the repository changes.",
        r"^\.github/(?:dependabot\.ya?ml|renovate\.json5?|settings\.ya?ml|auto.*\.ya?ml|mergify\.ya?ml|scripts/.*)$"
        r"|^\.?mergify\.ya?ml$|^\.mergify/.*|^renovate\.json5?$|^\.renovaterc.*",
        Severity.MEDIUM,
    ),
    _place(TOOLING, "A file under .github changes.", r"^\.github/(?!copilot-instructions|.*\.md$)"),
    _place(
        AGENT,
        "Instructions or tools of coding agents change.",
        r"(?:^|/)(?:CLAUDE(?:\.local)?\.md|AGENTS?\.md|GEMINI\.md|\.(?:cursor|windsurf|cline|roo)rules|\.mcp\.json)$"
        r"|^\.github/copilot-instructions\.md$|^\.github/(?:instructions|prompts|agents|chatmodes)/.+\.md$"
        r"|(?:^|/)\.(?:claude|cursor|codex|gemini|aider[^/]*|roo|continue|windsurf|kiro|junie|amazonq)/",
    ),
    _place(
        TOOLING,
        "Settings of hooks, linters or scanners change.",
        r"(?:^|/)(?:\.pre-commit-config\.ya?ml|\.pre-commit-hooks\.ya?ml|\.bandit|\.semgrepignore|\.gitleaks.*"
        r"|\.snyk|\.trivyignore.*|\.gitattributes|\.gitmodules|\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|pip\.conf"
        r"|\.envrc|\.husky/.*|lefthook\.ya?ml|\.vscode/(?:tasks|settings|launch)\.json|\.devcontainer/.*"
        r"|\.secrets\.baseline|osv-scanner\.toml|\.semgrep/.*|\.semgrep\.ya?ml)$",
    ),
)
_AGENT: Final = next(place.path for place in _PLACES if place.rule is AGENT)
_STARTUP: Final = regex(
    r"(?:^|/)(?:sitecustomize|usercustomize)\.py$"
    r"|(?:^|/)\.(?:bashrc|bash_profile|profile|zshrc|zshenv|zprofile|bash_login)$",
    re.IGNORECASE,
)


class Governance:
    """Changed, added, removed or renamed files that decide about changes."""

    name: str = "governance"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Look at paths (both sides of a rename) and at the content of start-up files."""
        heads = {source.path: source.head for source in sources(request).files}
        found: list[Finding] = []
        for changed in request.change.files:
            found += _by_path(changed, request)
            found += _startup(changed, heads.get(changed.path, b""))
        found += workflow_findings(request, WORKFLOW)
        sent_to = _sent_to(request)
        for source in sources(request).files:
            if source.path.rpartition("/")[2] == "pyproject.toml":
                found += _own_table(source)
            found += commands(source)
            found += tool_findings(source)
            obeyed = _AGENT.search(source.path) or source.path in sent_to
            if obeyed and not acts_alone(source.path):
                found += agent_told(source, sent_to=not _AGENT.search(source.path))
        return ended(self.name, found)


def _sent_to(request: PrescreenRequest) -> frozenset[str]:
    """Changed files that agents read although their path does not say so, at base or at head."""
    changed = [one.path for one in sources(request).files if not _AGENT.search(one.path)]
    guides = frozenset(path for path in changed if is_guide(path))
    sides = (read_by_agents(tree, _AGENT.search, changed) for tree in (request.base, request.head))
    return guides.union(*sides)


def _by_path(changed: ChangedFile, request: PrescreenRequest) -> Iterator[Finding]:
    told: set[str] = {WORKFLOW.id} if compared_paths(changed) else set()
    for path in filter(None, (changed.path, changed.old_path)):
        for place in _PLACES:
            if place.rule.id not in told and place.path.search(path):
                if place.rule is TOOLING and told:
                    continue
                told.add(place.rule.id)
                comments = place.rule is OWNERS and _same_owners(changed, request)
                yield finding(
                    place.rule,
                    "Only comments in the list of approvers change." if comments else place.message,
                    Location(path=changed.path),
                    shape=path,
                    evidence={"what": changed.status},
                    severity=Severity.LOW if comments else place.severity,
                )
                break


def _same_owners(changed: ChangedFile, request: PrescreenRequest) -> bool:
    """Does the list say the same but for its comments and blanks?"""
    if changed.status != "modified":
        return False
    old, new = (_rows(tree.read(changed.path)) for tree in (request.base, request.head))
    return old == new


def _rows(data: bytes) -> list[list[bytes]]:
    rows = (line.split() for line in data[: 1 << 20].splitlines() if not line.lstrip().startswith(b"#"))
    return [row for row in rows if row]


def _startup(changed: ChangedFile, data: bytes) -> Iterator[Finding]:
    path = changed.path.lower()
    runs = bool(_STARTUP.search(path))
    if path.endswith(".pth"):
        # site.py: lines of a .pth file that start with "import" are executed.
        runs = begins_as_python(data) or bool(re.search(rb"(?m)^import[ \t]", data[: 1 << 20]))
    if runs and changed.status != "deleted":
        yield finding(
            STARTUP,
            "This file is run at every start without being called.",
            Location(path=changed.path),
            shape=changed.path,
        )


def _own_table(source: Source) -> Iterator[Finding]:
    """``[tool.gate]`` in pyproject.toml differs between base and head (unreadable counts as different)."""
    if _tool_gate(source.head) != _tool_gate(source.base or b""):
        yield finding(
            SETTINGS,
            "The gate's settings change ([tool.gate]).",
            Location(path=source.path),
            shape="[tool.gate]",
        )


def _tool_gate(data: bytes) -> object:
    if b"gate" not in data or len(data) > 1 << 20:
        return None
    try:
        return tomllib.loads(data.decode("utf-8")).get("tool", {}).get("gate")
    except (ValueError, RecursionError, AttributeError):
        return "unreadable"

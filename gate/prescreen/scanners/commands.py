"""Commands in build files, pipelines and scripts that get code from elsewhere and run it, and what else such
files may do to the machine that obeys them. Looked at as text: the files are of a dozen formats.

Files that run without anybody asking are another scanner's (gate/prescreen/scanners/automatic_commands.py),
and commands that Python gives to a shell are the ``py`` rules'; all use gate/languages/commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gate.languages.commands.addresses import Origin, leads_to_nobody, origin_of
from gate.languages.commands.fetched import in_text
from gate.languages.commands.reading import comment_marks
from gate.languages.commands.versions import without_versions
from gate.languages.commands.vocabulary import Fetched
from gate.model.rule import Confidence, Severity
from gate.prescreen.interface import Prescreened, PrescreenRequest, View
from gate.prescreen.outcome import ended
from gate.prescreen.scanners import container_host, printed_secrets, sql_reach, sql_standing, verification_off
from gate.prescreen.scanners.automatic_commands import acts_alone
from gate.prescreen.text_rule import TextHit, rule, run_rules
from gate.regex import regex
from gate.supply.inputs.places import is_usual, place

_LONG: Final = 32 << 10
"""Characters up to which a text is looked at in this process: ten times as many can take a second or two."""
_BUILD: Final = regex(
    r"(?:^|/)(?:(?:[^/]+\.)?(?:dockerfile|containerfile)(?:\.[^/]+)?|gnumakefile|makefile(?:\.[^/]+)?|[^/]+\.mk"
    r"|\.?justfile|[^/]+\.just|taskfile(?:\.dist)?\.ya?ml|tox\.ini|setup\.cfg|pyproject\.toml|package\.json|deno\.jsonc?"
    r"|composer\.json|project\.json|turbo\.json|nx\.json|cargo\.toml|makefile\.toml|earthfile|tiltfile|rakefile|vagrantfile"
    r"|procfile|jenkinsfile[^/]*|(?:[^/]*docker-)?compose[^/]*\.ya?ml|action\.ya?ml|\.gitlab-ci[^/]*|azure-pipelines[^/]*"
    r"|\.travis\.ya?ml|\.drone\.ya?ml|bitbucket-pipelines\.ya?ml|\.?appveyor\.ya?ml|\.cirrus\.ya?ml|\.readthedocs\.ya?ml"
    r"|readthedocs\.ya?ml|netlify\.toml|vercel\.json|render\.ya?ml|fly\.toml|app\.json|cloudbuild\.ya?ml|buildspec[^/]*\.ya?ml"
    r"|skaffold\.ya?ml|\.woodpecker[^/]*|configure(?:\.ac)?|bootstrap(?:\.sh)?|autogen\.sh|(?:docker-)?entrypoint(?:\.sh)?"
    r"|pom\.xml|build\.xml|directory\.build\.(?:targets|props)|[^/]+\.(?:cs|fs|vb)proj|build\.(?:sh|ps1|cmd|bat)|meson\.build|[^/]+\.bzl|build\.bazel|[^/]+\.gradle)$"
    r"|(?:^|/)\.(?:github|gitlab|circleci|buildkite|woodpecker|forgejo|gitea|azure-pipelines|ci)/",
    re.IGNORECASE,
)
"""What builds, tests and pipelines run as a matter of course."""
_DOCUMENT: Final = regex(
    r"(?:^|/)(?:readme|changelog|changes|news|history|contributing|license|licence|authors|copying|install|notice|todo)[^/.]*$",
    re.IGNORECASE,
)
_SCRIPTS: Final = (".bat", ".cmd", ".ps1", ".psm1", ".fish", ".nu")
_MARKUP: Final = (".xml", ".csproj", ".fsproj", ".vbproj", ".targets", ".props", ".nuspec", ".proj")
_TAG: Final = regex(r"</?[\w.:-]{1,80}\s*/?>|<[\w.:-]{1,80}\s(?=\w+\s*=)|<!--|-->")
_DATA: Final = ("json", "prose", "python", "notebook", "javascript", "typescript", "requirements", "other")
"""Looked at only under a build file's name: these hold commands as examples, or have rules of their own."""

_LONGEST_LINE: Final = 4_000
_INDEX: Final = regex(
    r"(?:--(?:extra-)?index-url|--default-index|--index|--find-links|--registry|--channel|(?<=[\s\"'])-[if]|(?<=\s)-c"
    r"|\b(?:PIP_(?:EXTRA_)?INDEX_URL|PIP_FIND_LINKS|UV_(?:DEFAULT_|EXTRA_)?INDEX(?:_URL)?|GOPROXY|POETRY_REPOSITORIES_\w+_URL"
    r"|npm_config_registry|NPM_CONFIG_REGISTRY|YARN_NPM_REGISTRY_SERVER|CARGO_REGISTRIES_\w+_INDEX|BUNDLE_MIRROR\w*)"
    r"|\bregistry\s+set|\bconfig\s+set\s+(?:registry|global\.(?:extra-)?index-url)|\bgem\s+sources\s+(?:-a|--add)"
    r"|\b(?:nuget|dotnet\s+nuget)\s+(?:add\s+source|sources\s+add[^\n]{0,60}-source))"
    r"[\s=:\"',]{1,6}(?P<address>(?:sparse\+)?https?://[^\s\"',;|<>)]{4,300})"
)
_PLAIN: Final = regex(r"(?:sparse\+)?https?://[\w.-]+(?::\d+)?(?:/[^${}]*)?$")
_ORDER: Final = (Severity.LOW, Severity.MEDIUM, Severity.HIGH)


@rule(
    "command.fetch-and-run",
    "A command fetches code and runs it",
    severity="high",
    confidence="high",
    topic="download",
    cwe=(494, 829),
    attack=("T1105", "T1059"),
    why="Whoever holds the server, or the way to it, runs what they like in the build; nobody reviewed it, "
    "and tomorrow it can be another thing.",
    fix="Put the script into the repository, or download to a file, check its sum against one in the "
    "repository, and run it then.",
)
def fetches(view: View) -> Iterator[TextHit]:
    """A pipe into a shell or interpreter (`curl ... | sh`), a substitution (`bash <(curl ...)`), or a file
    that one command saves and a later one runs (moved or put on the path in between, too), in build files,
    pipelines and scripts. Also a program of a clone (a step lower by TLS and a name), and a package that is
    installed from a bare address or without TLS.

    High where the address is unknown, bare, a paste site or without TLS. Medium where a vendor tells
    everybody to do so (`rules/installers.toml`): common, and a weakness still. One step lower where the sum,
    given in the file, is checked before it runs. Documents and comments are nothing.
    """
    for one in _found(view):
        if one.how != "decoded":
            severity, confidence = weight(one, kind_of(view) or "text")
            message = (
                "A program is fetched and made executable."
                if one.how == "made executable"
                else f"Code is fetched from {one.origin.description} and run unseen."
            )
            evidence = {"how": one.how, "from": one.address or "?"}
            if one.checked:
                evidence["checked"] = "its sum or signature is checked first"
            yield _hit(view, one, message, evidence, severity, confidence)


@rule(
    "command.decode-and-run",
    "A command decodes something unreadable and runs it",
    severity="high",
    confidence="high",
    topic="exec",
    cwe=(506,),
    attack=("T1140", "T1027", "T1059"),
    why="What runs cannot be read in the change; this is how payloads get past a reviewer.",
    fix="Commit the script itself.",
)
def decodes(view: View) -> Iterator[TextHit]:
    """`base64 -d | sh`, `bash -c "$(echo ... | base64 -d)"`, `powershell -enc`, `xxd -r | sh` and such."""
    for one in _found(view):
        if one.how == "decoded":
            message = "Decoded data is run as code."
            yield _hit(view, one, message, {"from": one.address or "the line itself"}, None, None)


def kind_of(view: View) -> str | None:
    """``build``, ``script``, ``text`` (YAML, settings, unknown text), or None for what holds no commands."""
    path = view.path
    if acts_alone(path):
        return None
    if _BUILD.search(path) or view.language in ("dockerfile", "makefile"):
        return None if view.language == "prose" and not path.lower().endswith(_MARKUP) else "build"
    if view.language == "shell" or path.lower().endswith(_SCRIPTS):
        return "script"
    return None if view.language in _DATA or _DOCUMENT.search(path) else "text"


def weight(one: Fetched, kind: str) -> tuple[Severity, Confidence]:
    """How bad it is, by where the code comes from and by what runs the file (see the pages)."""
    if one.origin is Origin.LOCAL:
        return Severity.LOW, Confidence.HIGH
    rank, sure = 2, Confidence.HIGH
    if one.origin is Origin.VENDOR:
        rank = 0 if kind == "text" else 1
    elif kind == "text":
        rank, sure = (2, Confidence.MEDIUM) if one.origin is Origin.DOUBTFUL else (1, Confidence.HIGH)
    elif kind == "script" and one.origin is not Origin.DOUBTFUL:
        sure = Confidence.MEDIUM
    if one.how in ("run", "cloned", "installed") or one.origin is Origin.UNREADABLE:
        sure = Confidence.MEDIUM
    if one.how == "cloned" and one.origin is not Origin.DOUBTFUL:
        rank -= 1
    if one.how == "made executable":
        rank -= 1 if one.origin is Origin.DOUBTFUL else 2
    elif not one.checked and one.how != "cloned" and leads_to_nobody(one.address):
        return Severity.CRITICAL, Confidence.HIGH
    return _ORDER[max(0, rank - one.checked)], sure


def _found(view: View) -> list[Fetched]:
    if kind_of(view) is None:
        return []
    text = view.text
    if view.path.lower().endswith(_MARKUP):  # the text between tags, at its place
        text = _TAG.sub(lambda tag: " " * len(tag[0]), text).replace("&amp;", "&    ").replace("&gt;", ">   ")
        return in_text(text, (), folding=False)
    return in_text(text, comment_marks(view.path), folding=view.language == "yaml")


def _hit(
    view: View,
    one: Fetched,
    message: str,
    evidence: dict[str, str],
    severity: Severity | None,
    confidence: Confidence | None,
) -> TextHit:
    quoted = [view.quote(one.first)] + ([view.quote(one.last)] if one.last != one.first else [])
    return TextHit(
        message=message,
        first=one.first,
        last=one.last,
        evidence={**evidence, "code": quoted[-1].strip()},
        shape=without_versions("\n".join(quoted), in_addresses=one.origin is Origin.VENDOR)[:500],
        severity=severity,
        confidence=confidence,
    )


@rule(
    "command.package-index",
    "A command takes packages from another place than the public registries",
    severity="high",
    confidence="medium",
    topic="dependency",
    cwe=(494, 829),
    attack=("T1195.001",),
    why="Whoever runs the index decides what is installed; beside the public one, the higher version wins, "
    "so a private name can be taken over.",
    fix="Name one index for each package in a settings file that owners review, over https and with hashes.",
)
def indexes(view: View) -> Iterator[TextHit]:
    """`pip install --extra-index-url`, `npm --registry`, `conda -c`, `GOPROXY=`, in build files, pipelines
    and scripts. The public registries and their mirrors (`rules/registries.toml`), this machine, and
    addresses that are made of variables say nothing.
    """
    if kind_of(view) is None and not acts_alone(view.path):
        return
    marks = comment_marks(view.path)
    for number, line in enumerate(view.text.split("\n"), 1):
        if len(line) > _LONGEST_LINE or line.lstrip().lower().startswith(marks or ("#",)):
            continue
        for match in _INDEX.finditer(line):
            address = match["address"].rstrip("/.,")
            own = origin_of(address) is Origin.LOCAL or not _PLAIN.match(address)
            if own or is_usual(place("registry", address)):
                continue
            yield TextHit(
                message="Packages may come from here now.",
                first=number,
                last=number,
                evidence={
                    "where": re.sub(r"//[^/@]*@", "//[redacted]@", address),
                    "code": view.quote(number).strip(),
                },
                shape=f"index {address}",
                severity=None,
                confidence=None,
            )


RULES: Final = (
    fetches,
    decodes,
    indexes,
    container_host.host_access,
    sql_reach.leaves_database,
    sql_standing.standing_grant,
    printed_secrets.prints_secrets,
    verification_off.verification_off,
)


class Commands:
    """What build files, pipelines, scripts and SQL tell other machines to do."""

    name: str = "commands"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Run the rules; what they could not get through in time is named."""
        found, unlooked = run_rules(
            RULES,
            "gate.prescreen.scanners.commands:RULES",
            request,
            here=_LONG,
            wanted=_wanted,
            parts=True,
        )
        return ended(self.name, found, unlooked)


def _wanted(view: View) -> bool:
    return kind_of(view) is not None or container_host.wants(view) or sql_reach.wants(view)

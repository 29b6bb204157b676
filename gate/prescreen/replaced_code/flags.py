"""Flags and variables that put other code in place, one table for every file that starts programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gate.regex import regex

STARTS: Final = regex(
    r"(?i)(?:^|/)(?:[^/]*makefile[^/]*|dockerfile[^/]*|containerfile[^/]*|[^/]*compose[^/]*\.ya?ml|justfile|taskfile\.ya?ml"
    r"|procfile|rakefile|tox\.ini|noxfile\.py|pyproject\.toml|setup\.cfg|pytest\.ini|package\.json|composer\.json|\.npmrc"
    r"|\.cargo/config(?:\.toml)?|gradle\.properties|\.mvn/[\w.-]+|\.bazelrc|meson\.build|cmakelists\.txt|\.envrc|\.env[\w.-]*"
    r"|\.gitlab-ci\.yml|\.travis\.yml|jenkinsfile|azure-pipelines[^/]*\.yml|php\.ini|\.user\.ini|\.htaccess|\.vscode/[\w.-]+"
    r"|devcontainer\.json|[^/]+\.(?:mk|sh|bash|zsh|cmake|service|nix|bzl|ps1|bat|gradle|kts|pro))$"
    r"|(?:^|/)\.github/(?:workflows|actions)/.+\.ya?ml$|(?:^|/)action\.ya?ml$|(?:^|/)\.circleci/.+\.ya?ml$"
)
"""Files that start programs, by their paths."""
_LOCAL: Final = r"(?:\.{1,2}/|/|\$\(?\{?\w+\}?\)?/|[\w.-]+/)[\w./${}()-]+"
_SENSITIVE: Final = (
    r"[\w./-]*(?:[kK]ey|[sS]ecret|[vV]erif|[iI]nsecure|[tT]oken|[pP]assword|[aA]dmin|[sS]ignature|[tT]rust|[aA]uth|[uU]pdate"
    r"(?:URL|Host))\w*"
)
_TABLE: Final[tuple[tuple[str, str, bool], ...]] = (
    (r"-{1,2}overlay[= ]+['\"]?(?P<v>[\w./${}()-]+\.json)",
     "files of an overlay are compiled instead of those of the tree", True),
    (r"-{1,2}toolexec[= ]+(?P<v>\S+)", "a program runs in the place of the compiler's tools", True),
    (r"-{1,2}vettool[= ]+(?P<v>\S+)", "another program looks at the code", False),
    (rf"-X[= ]+['\"]?(?P<v>{_SENSITIVE})=", "the linker sets a variable that decides about trust", False),
    (rf"(?:^|\s)-(?:include|imacros)[ =]+(?P<v>{_LOCAL})", "a file is compiled before every source", False),
    (r"-fplugin=(?P<v>\S+)|-specs=(?P<w>\S+)", "the compiler loads a plug-in", False),
    (r"-Wl,(?:--wrap|--defsym)[=,](?P<v>\w+)", "the linker puts another function in the place of one", True),
    ((r"(?:^|\s)[-/]D\s?(?P<v>\w*(?:INSECURE|NO_?VERIFY|NO_?AUTH|SKIP_?(?:AUTH|VERIFY|CHECK|TLS|SIGNATURE)\w*"
     r"|DISABLE_?\w*(?:AUTH|VERIFY|TLS|SSL|SIGNATURE|SANDBOX)\w*))\b"),
     "a protection is left out of what is compiled", True),
    (rf"\bnode\b[^\n|;&]*?\s(?:-r|--require|--import|--loader|--experimental-loader)[ =]+(?P<v>{_LOCAL})",
     "a file is loaded before the program", False),
    ((r"\bNODE_OPTIONS\b[^\n]*?(?:-r|--require|--import|--loader|--experimental-loader)"
     rf"[ =]+['\"]?(?P<v>{_LOCAL})"),
     "a file is loaded before every program of Node", True),
    (rf"\bnode-options\s*=[^\n]*?(?:-r|--require|--import)[ =]+(?P<v>{_LOCAL})",
     "a file is loaded before every program of Node", True),
    ((r"\b(?P<v>LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|BASH_ENV|PYTHONSTARTUP|PYTHONHOME|PYTHONBREAKPOINT|GIT_EXEC_PATH"
     r"|GIT_EXTERNAL_DIFF|GIT_TEMPLATE_DIR|GIT_PROXY_COMMAND|DOTNET_STARTUP_HOOKS|CORECLR_PROFILER_PATH|GCONV_PATH"
     r"|PROMPT_COMMAND)\s*[:=]\s*['\"]?[\w./$~{-]"), "a variable loads code into what is started", True),
    (r"\bRUBYOPT\b\s*[:=][^\n]*-r(?P<v>\S+)|\bPERL5OPT\b\s*[:=][^\n]*-M(?P<w>\S+)",
     "a variable loads code into what is started", True),
    ((rf"\b(?:RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|CARGO_BUILD_RUSTC_WRAPPER|RUSTC|rustc-wrapper|rustc-workspace-wrapper|CMAKE_\w+"
     rf"_COMPILER_LAUNCHER)\s*[:?]?=\s*['\"]?(?P<v>{_LOCAL})"),
     "a program of the tree runs in the place of the compiler", True),
    ((r"(?:^|\s|export )(?:CC|CXX|LD|AR|GO|PYTHON|NODE)\s*[:?]?=\s*['\"]?(?P<v>"
      r"(?:\.{1,2}/|\$\(CURDIR\)/|\$\{?PWD\}?/|scripts/|tools/"
     r"|build/)[\w./-]+)"), "a program of the tree runs in a tool's place", False),
    ((r"-javaagent:(?P<v>\S+)|-agentpath:(?P<w>\S+)|-Xbootclasspath\S*|--patch-module[= ]\S+"
     r"|-Djava\.system\.class\.loader=\S+"),
     "classes are put in front of those of the program", True),
    (r"auto_(?:prepend|append)_file\s*['\"]?\s*[= ,]\s*['\"]?(?P<v>[\w./-]+)",
     "a file runs before every page", True),
    (r"(?<![\w-])--init-script[ =](?P<v>\S+)", "a script changes the build from outside", False),
)  # fmt: skip
_FLAGS: Final = tuple((regex(pattern), told, high) for pattern, told, high in _TABLE)
_USUAL: Final = regex(
    r"jemalloc|tcmalloc|mimalloc|faketime|lib[alt]san|sccache|ccache|cachepot|distcc|jacocoagent|opentelemetry|dd-java-agent"
    r"|datadog|newrelic|/dev/null|bash_env\b|\$BASH_ENV|\bGITHUB_ENV\b|PYTHONBREAKPOINT\s*[:=]\s*['\"]?0"
)
"""Values that are what they are known for: allocators, caches of compilers, agents that measure."""
_COMMENT: Final = regex(r"^\s*(?:#(?!!)|//|;|\*|REM\b|<!--)")
_LONGEST: Final = 4_000


class Replaced(NamedTuple):
    """One flag or variable in a line."""

    line: int
    flag: str
    value: str
    told: str
    high: bool


def replaced_in(text: str) -> Iterator[Replaced]:
    """Every flag and variable of the table that a text has outside of comments."""
    for number, line in enumerate(text.split("\n"), 1):
        if _COMMENT.match(line) or len(line) > _LONGEST:
            continue
        for pattern, told, high in _FLAGS:
            if (match := pattern.search(line)) and not _USUAL.search(line):
                named = match.groupdict()
                value = named.get("v") or named.get("w") or match[0]
                yield Replaced(number, " ".join(match[0].split())[:120], value, told, high)

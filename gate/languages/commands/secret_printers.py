"""Commands whose output holds secrets by its nature, and where that output goes.

`docker compose config` fills the settings in, `printenv` prints all of them, `kubectl get secret -o yaml` is
the secret. Such a command is ordinary where its answer is handed to a program (a pipe into `docker login
--password-stdin`, a variable, a file that nobody shows), and not where it ends in a log or an artefact.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from gate.regex import regex

_WORD: Final = regex(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\$\([^)]*\)|[^\s\"']+")
_LEADS: Final = frozenset(
    {
        "sudo", "run:", "command", "exec", "time", "then", "do", "else", "if", "!", "{", "(", "-", "script:",
        "nohup", "RUN", "CMD", "timeout", "retry", "eval", "xargs", "cmd:", "sh:", "&&", "||",
        "@", "-@", "@-", "+",
    }
)  # fmt: skip
_ASSIGNED: Final = regex(r"^[A-Za-z_]\w*=")
_OPTIONED: Final = regex(r"^-{1,2}[\w-]+=")
_TAKES: Final = frozenset(
    {
        "-n", "--namespace", "--context", "--kubeconfig", "-f", "--file", "-p", "--project-name",
        "--profile", "--region", "-C", "--env-file", "--project-directory", "--project",
        "--kube-context", "--subscription",
    }
)  # fmt: skip
"""Options of these tools with a value: neither is a word of what is asked."""
_OUTPUT: Final = regex(
    r"(?:^|\s)(?:-o|--output|--template)[\s=]*[\"']?(?:ya?ml|json|jsonpath|go-template|custom-columns|\{)"
)
_QUIET: Final = regex(
    r"(?:^|\s)(?:-q|--quiet|--services|--images|--profiles|--volumes|--networks|--no-interpolate|--hash\S*|--help)(?:\s|$)"
)
_ENVIRON: Final = regex(r"/proc/(?:self|\$\$|\d+|\*|\$\w+)/environ")
_HELD: Final = regex(
    r"(?:^|/)(?:\.netrc|\.pypirc|\.npmrc|\.git-credentials|\.docker/config\.json|\.kube/config|\.aws/credentials"
    r"|\.pgpass|\.vault-token|credentials\.tfrc\.json|\.env(?:\.(?:local|prod|production|staging|secrets?))?)$"
)

_PRINTERS: Final = {
    "docker": (r"compose (?:\S+ )*?(?:config|convert)\b", r"stack config\b"),
    "docker-compose": (r"(?:config|convert)\b",),
    "podman-compose": (r"config\b",),
    "kubectl": (r"(?:get|edit) (?:[\w,./]*,)?secrets?(?:[,/]\S*)?(?: |$)", r"config view\b",
                r"create token\b"),
    "oc": (r"(?:get|edit) (?:[\w,./]*,)?secrets?(?:[,/]\S*)?(?: |$)", r"whoami (?:-t|--show-token)",
           r"extract secret", r"config view\b"),
    "terraform": (r"output\b.*?(?:-json|-raw)", r"show\b.*-json", r"state pull\b"),
    "tofu": (r"output\b.*?(?:-json|-raw)", r"show\b.*-json", r"state pull\b"),
    "terragrunt": (r"output\b.*?(?:-json|-raw)", r"state pull\b"),
    "pulumi": (r".*--show-secrets",),
    "helm": (r"get (?:values|all|manifest)\b",),
    "gh": (r"auth token\b", r"auth status\b.*(?:--show-token|-t\b)"),
    "glab": (r"auth status\b.*(?:--show-token|-t\b)", r"config get token"),
    "git": (r"credential(?:-\w+)? (?:fill|get)\b", r"config (?:\S+ )*?(?:--list|-l|list)\b",
            r"config (?:\S+ )*?--get(?:-all|-regexp|-urlmatch)? \S*(?:extraheader|token|password)"),
    "npm": (r"(?:config|c) (?:ls|list)\b.*(?:-l\b|--long|--json)",
            r"(?:config )?get \S*_(?:authToken|auth|password)\b"),
    "pnpm": (r"config (?:ls|list|get \S*_authToken)\b",),
    "yarn": (r"config (?:list|get npmAuthToken|get \S*[aA]uthToken|.*--no-defaults)\b",),
    "pip": (r"config (?:debug|list)\b",),
    "pip3": (r"config (?:debug|list)\b",),
    "poetry": (r"config --list\b",),
    "aws": (r"configure export-credentials\b", r"configure get \S*(?:secret|token|key)",
            r"sts (?:get-session-token|assume-role\S*)\b",
            r"secretsmanager (?:batch-)?get-secret-value\b", r"ssm get-parameters?\S*\b.*--with-decryption",
            r"ecr get-(?:login-password|authorization-token)\b",
            r"lambda get-function-configuration\b",
            r"codeartifact get-authorization-token\b"),
    "gcloud": (r"auth (?:application-default )?print-(?:access|identity)-token\b",
               r"secrets versions access\b"),
    "az": (r"account get-access-token\b", r"keyvault secret show\b", r"storage account keys list\b",
           r"(?:functionapp|webapp) config appsettings list\b", r"acr credential show\b"),
    "vault": (r"(?:kv get|read|token lookup|print token|login)\b(?!.*-no-print)",),
    "op": (r"(?:read|inject)\b", r"item get\b.*(?:--reveal|--fields)"),
    "doppler": (r"secrets(?: (?:get|download))?\b(?!.*--only-names)",),
    "infisical": (r"(?:secrets|export)\b",),
    "sops": (r"(?:.*\s)?(?:-d|--decrypt|decrypt)\b",),
    "ansible-vault": (r"(?:view|decrypt)\b",),
    "pass": (r"show\b",),
    "bw": (r"get\b", r"list items\b"),
    "chamber": (r"(?:read|export|env)\b",),
    "heroku": (r"config(?::get)?(?: |$)", r"auth:token\b"),
    "gpg": (r".*--export-secret-(?:sub)?keys",),
    "security": (r"find-(?:generic|internet)-password\b.*-\w*[wg]",),
    "rails": (r"credentials:show\b",),
    "bin/rails": (r"credentials:show\b",),
    "systemctl": (r"show-environment\b",),
    "ps": (r"(?:\S*e\S*ww?|auxe\S*|e\S*aux\S*|axe\S*)(?: |$)",),
}  # fmt: skip
"""By the name of the program: what its words, in their order and without its options' values, look like."""
_SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "bat", "pwsh", "powershell", "cmd"})
_COMPILED: Final = {name: tuple(regex(rf"^(?:{one})") for one in many) for name, many in _PRINTERS.items()}
_RAW: Final = regex(r"--raw|--flatten")
_RUNNERS: Final = frozenset({"bundle", "npx", "pnpx", "uv", "poetry", "pipenv"})
_READERS: Final = frozenset({"cat", "type", "less", "head", "tail", "more", "bat", "base64", "Get-Content"})
_INSIDE: Final = frozenset({"docker", "podman", "kubectl", "oc", "ssh", "nerdctl"})
_PASSED_ON: Final = regex(
    r"^\s*(?:sudo\s+)?(?:cat|tee|sort|grep|egrep|rg|head|tail|sed|awk|less|more|base64|xxd|rev|column|nl|tr|cut|jq|yq|fold|uniq"
    r"|curl|wget|nc|ncat|gzip|openssl|python3?|node|perl|hexdump|od|xargs|logger|mail|Out-String|Sort-Object|Format-\w+)\b"
)
_KEEPS: Final = regex(
    r"--password-stdin|(?:^|\s)-[a-z]*q[a-z]*\b|--quiet|(?:^|\s)-c[a-z]*\b(?=.*\bgrep)|wc\b|\blength\b|\|\s*keys\b"
)
_TO_FILE: Final = regex(r"(?<![0-9&])(?:1?>>?)\s*[\"']?([^\s\"'&;|>)]+)")
_SHOWN_AT: Final = regex(
    r"GITHUB_(?:STEP_SUMMARY|OUTPUT|ENV)|/dev/(?:stdout|stderr|tty|fd/[12])|BASH_ENV|artifact"
)


SECRET_NAME: Final = regex(
    r"(?i)(?:^|_)(?:token|secret|passw(?:or)?d|passphrase|api_?key|private_?key|access_?key|credentials?|auth|pat)(?:_|$)"
    r"|(?:token|secret|password|apikey)$"
)


class Printed(NamedTuple):
    """A command by its words, such as ``kubectl get secret``, and the file its answer goes to (or empty)."""

    command: str
    file: str


def printed(statement: str) -> Printed | None:
    """What a statement prints that is secret by nature; None where nothing, or where a program takes it. A
    pipe belongs to the statement.
    """
    parts = re.split(r"(?<!\|)\|(?!\|)&?", statement)
    if _is_taken(parts[0]):
        return None
    at, told = next(((n, told) for n, one in enumerate(parts) if (told := _printer(one))), (0, None))
    through = parts[at + 1 :]
    if told is None or any(not _PASSED_ON.match(part) or _KEEPS.search(part) for part in through):
        return None
    where = _TO_FILE.search(parts[-1])
    name = where[1] if where else ""
    if name == "/dev/null":
        return None
    return Printed(told, "" if not name or _SHOWN_AT.search(name) else name)


def _is_taken(head: str) -> bool:
    """Is the answer a value: ``x=$(...)``, a substitution, an argument?"""
    return bool(re.search(r"\$\((?![A-Z_]+\))|`|<\(|\$\{\{?\s*$", head))


def _words(head: str) -> list[str]:
    words = [one.strip("\"'") for one in _WORD.findall(head)]
    while words and (
        words[0].lstrip("@-+") in ("", *_LEADS)
        or words[0] in _LEADS
        or (_ASSIGNED.match(words[0]) and len(words) > 1)
        or words[0].endswith(":")
    ):
        words = words[1:]
    if words:
        words[0] = words[0].lstrip("@-+(")
    return words


def _printer(head: str) -> str | None:
    words = _words(head)
    if not words:
        return None
    name, rest = words[0] if words[0] == "bin/rails" else words[0].rpartition("/")[2], words[1:]
    if name in _RUNNERS and rest[:1] in (["exec"], ["run"]):
        name, rest = (rest[1] if len(rest) > 1 else ""), rest[2:]
    if name in _SHELLS:
        inner = next((one for one in rest if " " in one or one in ("env", "printenv")), "")
        return _printer(inner) if inner else None
    return (
        environment(name, rest) or _file_shown(name, rest) or _in_container(name, rest) or _tool(name, rest)
    )


def _file_shown(name: str, rest: list[str]) -> str | None:
    if name not in _READERS:
        return None
    return next((f"{name} {one}" for one in rest if _ENVIRON.search(one) or _HELD.search(one)), None)


def _in_container(name: str, rest: list[str]) -> str | None:
    asks = rest[-1:] in (["env"], ["printenv"]) and (name == "ssh" or {"exec", "run"} & set(rest[:3]))
    return f"{name} ... {rest[-1]}" if name in _INSIDE and asks else None


def _tool(name: str, rest: list[str]) -> str | None:
    """A program of the table, asked for what it keeps secret."""
    whole = " ".join(rest)
    composed = name.endswith("compose") or rest[:1] == ["compose"]
    if composed and _QUIET.search(f" {whole} "):
        return None
    for pattern in _COMPILED.get(name, ()):
        match = pattern.search(_asked(rest)) or pattern.search(whole)
        if match is None:
            continue
        said = " ".join(match[0].split())
        named_only = (
            said.startswith(("get", "edit")) and name in ("kubectl", "oc") and not _OUTPUT.search(whole)
        )
        if not named_only and not (said.startswith("config view") and not _RAW.search(whole)):
            return f"{name} {said}"[:80]
    return None


def _asked(rest: list[str]) -> str:
    """The words without options that have a value, and their values."""
    out: list[str] = []
    skip = False
    for word in rest:
        if skip or re.match(r"^\d?>", word):
            skip = False
            continue
        if word in _TAKES:
            skip = True
            continue
        if _OPTIONED.match(word) and not word.startswith(("-o", "--output")):
            continue
        out.append(word)
    return " ".join(out)


def environment(name: str, rest: list[str]) -> str:
    """A command that prints the whole environment, or its secret members."""
    at = next((n for n, one in enumerate(rest) if one.startswith(">")), len(rest))
    plain = [one for one in rest[:at] if not re.match(r"^\d?>", one)]
    if name == "printenv":
        secret = not plain or any(SECRET_NAME.search(one) for one in plain)
        return "printenv" if secret else ""
    if name == "env":
        return "env" if all(one in ("-0", "--null", "-v") for one in plain) else ""
    if name in ("export", "declare", "typeset") and plain and plain[0] in ("-p", "-x", "-px", "-xp"):
        return f"{name} {plain[0]}" if len(plain) == 1 else ""
    if name.lower() in ("get-childitem", "gci", "dir", "ls") and [
        one.lower().rstrip(":\\*") for one in plain
    ] == ["env"]:
        return f"{name} env:" if any(one.lower().startswith("env:") for one in plain) else ""
    return ""


def is_shown(file: str, text: str) -> bool:
    """Is a file named once more in the text: printed, uploaded, attached?"""
    name = file.rpartition("/")[2]
    return bool(name) and "$" not in name and text.count(name) > 1

"""Which texts name a function that acts, a file of credentials, a place that runs later, a program of git.

A text may be in parts: each reading of neighbours in a list is asked (``["os", "system"]``, ``[".config",
"auto", "start"]``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from gate.prescreen.python_ast.sinks import match_path
from gate.regex import regex

Kind = Literal["function", "credential", "starts", "git", "ignored", "nobody"]

_FUNCTION: Final = regex(
    r"(?:^|[.:/#>])(?:"
    r"(?:os|posix|nt)[.:](?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawn|remove|unlink|rmdir|removedirs|kill|putenv)"
    r"|subprocess[.:](?:run|call|Popen|check_call|check_output|getoutput|getstatusoutput)|shutil[.:](?:rmtree|move)"
    r"|(?:builtins|__builtins__)[.:](?:eval|exec|compile|__import__|open)|importlib[.:](?:import_module|__import__)"
    r"|(?:pickle|marshal|dill|cloudpickle)[.:]loads?|runpy[.:]run_\w+|ctypes[.:](?:CDLL|cdll|windll)|pty[.:]spawn"
    r"|child_process[.:](?:exec|execSync|execFile|execFileSync|spawn|spawnSync|fork)|vm[.:]run\w+"
    r"|fs[.:](?:rm|rmSync|unlink|unlinkSync|rmdir|rmdirSync)|Kernel[.:]{1,2}(?:system|exec|eval|spawn|open)"
    r"|(?:java\.lang\.)?(?:Runtime[.:](?:getRuntime|exec)|ProcessBuilder)|Process[.:]Start"
    r"|FileUtils[.:]{1,2}rm_rf?|os/exec[.:]Command"
    r")$"
)
_INNER: Final = regex(r"__(?:globals|builtins|subclasses|import|code|mro|bases|base|reduce|loader)__")
_GIT: Final = regex(
    r"(?i)\b(?P<name>core\.(?:fsmonitor|hookspath|sshcommand|gitproxy|askpass)|diff\.external|sequence\.editor"
    r"|(?:diff|merge|filter)\.[\w-]{1,40}\.(?:command|driver|clean|smudge|process|textconv)|gpg\.(?:\w+\.)?program"
    r"|protocol\.ext\.allow|uploadpack\.packobjectshook|init\.templatedir|alias\.[\w-]{1,40}(?=[\s=\"',]{1,4}[\"']?!))"
    r"[\s=\"',]{0,4}(?P<value>[^\s\"',]{0,100})"
)
_MILD: Final = frozenset({"true", "false", "cat", "less", ":", "''", "/dev/null", "nul", "gpg", "gpg2"})
_PLACES: Final = (
    ("settings of an editor that runs tasks",
     regex(r"(?:^|/)\.(?:vscode/tasks\.json|idea/(?:runConfigurations|externalDependencies))")),
    ("settings of git in a clone", regex(r"(?:^|/)\.git/(?:config|info/attributes)$")),
    ("commands of a folder", regex(r"(?:^|/)\.envrc$")),
)  # fmt: skip
_READ_OFTEN: Final = regex(r"^/etc/(?:hosts|group|passwd|environment|profile)$")
_HOME: Final = regex(r"^(?:~|\$\{?HOME\}?|%USERPROFILE%|/root|/home/|/etc/|/proc/|/run/|/var/run/)|/")
_SPLIT: Final = (
    ".config/autostart", ".config/systemd/user", ".git/hooks", ".vscode/tasks.json", "library/launchagents",
    ".ssh/authorized_keys", "etc/cron.d", "etc/profile.d", ".bash_profile",
)  # fmt: skip
_CHANCE: Final = regex(
    r"(?i)random|uuid|date\.now|time\(|nanoid|token_hex|unixnano|urandom|secrets\.|RANDOM|\bnonce"
)
_MADE_UP: Final = regex(
    r"(?i)(?:random|uuid|date\.now|time\(|nanoid|token_hex|unixnano|secrets\.)[^\n]{0,60}?"
    r"(?:\}|[\"'`]\s*|%[sdx]\b|\{\})(?P<name>\.(?:[a-z0-9-]{1,60}\.){1,4}[a-z]{2,12})[\"'`]"
    r"|[\"'`][^\"'`\n]{0,40}(?:%[sdx]|\{\})(?P<given>\.(?:[a-z0-9-]{1,60}\.){1,4}[a-z]{2,12})[\"'`][^\n]{0,20}"
    r"(?:random|uuid|unixnano|time\(|token_hex)"
)
_ENDINGS: Final = frozenset({
    "gz", "xz", "bz", "zst", "tgz", "zip", "json", "jsonl", "txt", "log", "csv", "tsv", "png",
    "jpg", "jpeg", "webp", "svg", "html", "xml", "yaml", "yml", "toml", "db", "sqlite", "lock",
    "tmp", "temp", "bak", "tar", "mp", "pdf", "js", "mjs", "cjs", "ts", "tsx", "css", "map", "py",
    "part", "pem", "key", "crt", "md", "parquet", "out", "bin", "so", "whl", "sock", "pid", "gif",
    "wav", "mov", "conf", "cfg", "ini", "env", "sql", "hex", "id", "name", "value",
})  # fmt: skip
"""Last words of names of files and of attributes."""
_SIGNS: Final = regex(r"[\"'`,\[\]()]+")
_GATHERS: Final = regex(r"ls-files|--ignored|stash|\badd\b")
_LISTS: Final = regex(
    r"\bls-files\b(?=[^|;&]*\s(?:-[a-z]*o|--others))(?=[^|;&]*\s(?:-[a-z]*i|--ignored))[^|;&]*"
    r"|\bstatus\b[^|;&]*\s--ignored(?!\s*=?\s*no)[^|;&]*|\bstash\s+(?:push\s+|save\s+)?(?:-\w*a\w*|--all)\b[^|;&]*"
)
_STAGES: Final = regex(r"\bgit\s+add(?=[^|;&]*\s(?:-\w*f\w*|--force)\b)[^|;&]*\s(?:\.|-A|--all|:/)(?=\s|$)")


def function_in(texts: Sequence[str]) -> str:
    """The function that the last of the texts completes, with those before it or alone."""
    if _INNER.fullmatch(texts[-1]):
        return texts[-1]
    for first in range(len(texts)):
        for joined in (".".join(texts[first:]), "".join(texts[first:])):
            if len(joined) <= 120 and (match := _FUNCTION.search(joined)):
                return match[0].lstrip(".:/#>")
    return ""


def credential_in(texts: Sequence[str]) -> str:
    """What kind of credentials the texts name as one path."""
    for path in _paths(texts):
        if _HOME.search(path) and (what := match_path("credential", path.replace("$HOME", "~"))):
            return what
    return ""


def place_in(texts: Sequence[str]) -> str:
    """What kind of place the texts name as one path, where something is run later."""
    for path in _paths(texts):
        what = match_path("persistence", path) or next((w for w, p in _PLACES if p.search(path)), "")
        if what and not _READ_OFTEN.search(path):
            return what
    if len(texts) > 1:
        plain = [text.replace("/", "").replace("\\", "").lower() for text in texts]
        found = next((one for one in _SPLIT if one.replace("/", "") in "".join(plain)), "")
        if found and not any(found.replace("/", "") in text for text in plain):
            return f"place that runs later ({found})"
    return ""


def git_in(text: str) -> str:
    """The setting of git that names a program, with its value."""
    for match in _GIT.finditer(text):
        if match["value"] and match["value"].lower() not in _MILD:
            return f"{match['name']}={match['value']}"
    return ""


def nobody_in(line: str) -> str:
    """A name below a domain that is made up anew each time: nobody has it, and no honest server answers."""
    match = _MADE_UP.search(line) if _CHANCE.search(line) else None
    name = (match["name"] or match["given"]) if match else ""
    return "" if name.rpartition(".")[2].lower() in _ENDINGS else name


def ignored_in(line: str) -> str:
    """The command of git that gathers what git is told to leave out: settings, keys, dumps of the machine."""
    if "git" not in line or not _GATHERS.search(line):
        return ""
    text = _SIGNS.sub(" ", line)
    match = _LISTS.search(text) or _STAGES.search(text)
    return " ".join(match[0].split())[:100] if match else ""


def _paths(texts: Sequence[str]) -> list[str]:
    """The readings of the texts as one path: the last alone, and with those before it."""
    if not texts[-1] or len(texts[-1]) > 200:
        return []
    found = [texts[-1].replace("\\", "/")]
    rest = [
        [texts[first], *(part.strip("/\\") for part in texts[first + 1 :])] for first in range(len(texts) - 1)
    ]
    return [*found, *("/".join(parts) for parts in rest)]

"""What a change newly names: a function in data, a file of credentials, a place that runs later, an entry.

No line does anything odd: code of base calls, sends, writes or loads what it is told, and that changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gate.languages.grammars import grammar_of
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.named.entries import Entry
from gate.prescreen.named.read import Named
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import Unread, first_files, read_files, says_newly
from gate.prescreen.scanners.supply_rules import SAFEGUARD
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex
from gate.supply.inputs.readers import reader_of

FUNCTION: Final = rule.meta(
    "named.function",
    "Data names a function that acts, and code calls what data names",
    severity="medium",
    confidence="medium",
    topic="exec",
    cwe=(470, 913),
    attack=("T1059", "T1027"),
    why="The program looks up what it calls by names from a file: whoever edits the file decides what runs. "
    "Names in parts are seen by no search for the function.",
    fix="Let the program keep a list of what may be called, and check the names against it.",
)
CREDENTIALS: Final = rule.meta(
    "named.credential-file",
    "A file of credentials is named where none was",
    severity="medium",
    confidence="medium",
    topic="credential",
    cwe=(522, 200),
    attack=("T1552.001", "T1005"),
    why="A list of files to read, to pack or to send now has one that holds somebody's passwords or keys.",
    fix="Take it from the list, or say in the change why the program needs it.",
)
STARTS: Final = rule.meta(
    "named.starts-later",
    "A place is named from which something is run later",
    severity="medium",
    confidence="medium",
    topic="persistence",
    cwe=(506, 912),
    attack=("T1546", "T1547"),
    why="What is written there, or set there, runs when a folder is opened, a person logs in or git is used: "
    "long after the change was read. The path may be in parts.",
    fix="Write into the project's own folders; leave installation to an installer that the user starts.",
)
NOBODY: Final = rule.meta(
    "named.made-up-host",
    "A name that nobody has is made up and asked for",
    severity="medium",
    confidence="medium",
    topic="sandbox",
    cwe=(506, 511),
    attack=("T1497", "T1480"),
    why="Whether a made-up name is answered tells a simulated network from a real one: what depends on it "
    "stays calm where it is watched.",
    fix="Ask a service that the project runs, by its name; do not make what is sent depend on the answer.",
)
RULES: Final[tuple[RuleMeta, ...]] = (FUNCTION, CREDENTIALS, STARTS, NOBODY)
_RULE_OF: Final = {
    "function": FUNCTION, "credential": CREDENTIALS, "ignored": CREDENTIALS, "nobody": NOBODY,
    "starts": STARTS, "git": STARTS,
}  # fmt: skip
_SAID: Final = {
    "function": "Data names {}, and the project calls what data names.",
    "credential": "Names a file of credentials: {}.",
    "starts": "Names a place that runs later: {}.",
    "ignored": "Gathers files that git is told to leave out, as settings and keys are: {}.",
    "nobody": "Makes up a name below {}, which nobody has.",
    "git": "Sets which program git runs: {}.",
}
_READER: Final = Reader("gate.prescreen.named.read:read", list[Named], parses=True, pure=True)
_ENTRIES: Final = Reader("gate.prescreen.named.entries:read", list[Entry], parses=True, pure=True)
_TABLES: Final = (".json", ".yaml", ".yml", ".toml")
_DATA: Final = (*_TABLES, ".ini", ".cfg", ".conf", ".csv", ".tsv", ".properties", ".txt", ".list")
_LARGEST: Final = 1 << 19
_MOST_FILES: Final = 300
_MOST: Final = 5
_MOST_CODE: Final = 3_000
_MOST_BYTES: Final = 64 << 20
_UNREAD: Final = regex(
    r"(?i)(?:^|/)(?:readme|changelog|changes|news|licen[cs]e|contributing|security|authors|codeowners|robots)[^/]*$"
    r"|(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml)$"
    r"|\.(?:md|rst|adoc|lock|svg|snap|map|min\.js|pot?|diff|patch)$|ignore$|(?:^|/)(?:vendor|node_modules|dist|generated)/"
    r"|(?:^|/)(?:locales?|i18n|translations?)/|gitleaks|semgrep|bandit|trivy|(?:^|/)\.github/"
)
_MATTERS: Final = regex(
    rb"(?i)random|uuid|date\.now|time\(|token_hex|unixnano|ls-files|--ignored|stash|add\b|\b(?:os|posix|nt|fs|vm|shutil|importlib)\b|system|popen|subprocess|rmtree|builtins|child_process|kernel|runtime|exec|spawn|eval|unlink|pickle|__\w+__|fileutils"
    rb"|\.ssh|\.aws|\.kube|netrc|pgpass|\.docker|git-credentials|\.gnupg|pypirc|npmrc|keyring|keychain|history|wallet|shadow"
    rb"|\.config|autostart|\.vscode|\.git|hook|bashrc|profile|zshrc|zshenv|launch|cron|authorized_keys|startup|customize|\.pth"
    rb"|envrc|vimrc|fsmonitor|core\.|filter\.|alias\.|hosts\.yml|\.azure|gcloud|id_rsa|id_ed25519|auto"
    rb"|/etc/|/proc/|login data"
)
_RESOLVES: Final = regex(
    rb"\bgetattr\b|import_module|attrgetter|methodcaller|__import__|resolve_name|\blocate\(|constantize|const_get|public_send"
    rb"|Class\.forName|\.getMethod\(|GetMethod\(|Type\.GetType|call_user_func|Reflect\.|\bglobals\(\)|MethodByName|require\(\w+[)\[.]"
)
_CODE: Final = (
    ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".java", ".kt", ".cs", ".php", ".go", ".rs", ".groovy",
)  # fmt: skip


class NamedThings:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "named"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare what the changed files name, and their tables of downloads."""
        until = time.monotonic() + request.deadline
        files = [one for one in sources(request).files if _is_read(one)]
        if not files:
            return ended(self.name, ())
        small, unread = first_files(
            [one for one in files if says_newly(one, _MATTERS)], _MOST_FILES, _LARGEST
        )
        tables = [one for one in files if len(one.head) <= _LARGEST][:_MOST_FILES]
        found = [*_named(request, small, until, unread), *_loose(tables, until)]
        return ended(self.name, found, unread)


def _is_read(source: Source) -> bool:
    path = source.path
    if b"\0" in source.head[:4096] or _UNREAD.search(path):
        return False
    if (is_test_code(path) and PurePosixPath(path).name != "conftest.py") or is_example(path):
        return False
    is_bare = "." not in PurePosixPath(path).name
    return is_bare or path.endswith((".py", ".pyw", *_DATA)) or bool(grammar_of(path))


def _named(
    request: PrescreenRequest, files: Sequence[Source], until: float, unread: Unread
) -> Iterator[Finding]:
    head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
    some = [one for one in files if head.get(one.path)]
    base = read_files(_READER, [(one.path, one.base) for one in some if one.base], until)
    had = {(one.kind, one.what) for many in base.values() for one in many}
    calls: bool | None = None
    for source in some:
        lines = set((source.base or b"").decode("utf-8", "replace").split("\n"))
        text = source.head.decode("utf-8", "replace").split("\n")
        count = 0
        for one in head[source.path]:
            is_new = 0 < one.line <= len(text) and text[one.line - 1] not in lines
            if not is_new or (one.kind, one.what) in had or count >= _MOST:
                continue
            if one.kind == "function":
                calls = _resolves(request.head) if calls is None else calls
                if not calls:
                    continue
            had.add((one.kind, one.what))
            count += 1
            yield finding(
                _RULE_OF[one.kind],
                _SAID[one.kind].format(one.what),
                Location(path=source.path, line=one.line),
                shape=f"{one.kind} {one.what}",
                evidence={"names": one.what, "text": one.text},
            )


def _resolves(tree: Tree) -> bool:
    """Does some program of the project look up what it calls by a name?"""
    code = [e.path for e in tree.entries() if e.path.endswith(_CODE) and not is_test_code(e.path)]
    size = 0
    for _, data in tree.read_many(tuple(code[:_MOST_CODE])):
        if _RESOLVES.search(data):
            return True
        size += len(data)
        if size > _MOST_BYTES:
            break
    return False


def _loose(files: Sequence[Source], until: float) -> Iterator[Finding]:
    tables = [one for one in files if one.base and one.path.endswith(_TABLES) and reader_of(one.path) is None]
    base = read_files(_ENTRIES, [(one.path, one.base or b"") for one in tables], until)
    tables = [one for one in tables if base.get(one.path)]
    head = read_files(_ENTRIES, [(one.path, one.head) for one in tables], until)
    for source in tables:
        old = {one.path: one for one in base[source.path]}
        for now in head.get(source.path, []):
            before = old.get(now.path)
            fresh = [name for name in now.loose if before and name not in before.loose]
            if before is None or before.loose or not fresh:
                continue
            name = fresh[0].rpartition("=")[2]
            text = source.head.decode("utf-8", "replace").split("\n")
            line = next((n for n, one in enumerate(text, 1) if name in one), 1)
            yield finding(
                SAFEGUARD,
                "An entry has no digest, while every entry of base has one.",
                Location(path=source.path, line=line),
                shape=f"{now.path} {name}",
                evidence={"entry": name},
            )

"""Which of two programs of one name is found: the order of folders, and a new file in front of another.

A variable of make, a ``PATH``, a list of plug-in or template folders: whoever stands in front wins. Neither
the line that calls the program nor the program that was read once changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gate.languages.path_roles import is_example, is_test_code
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import first_files
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.regex import regex

ORDER: Final = rule.meta(
    "search-order.changed",
    "Another file of the same name is found first",
    severity="medium",
    confidence="medium",
    topic="exec",
    cwe=(426, 427),
    attack=("T1574.007", "T1574.008"),
    why="Folders are searched in an order; a folder or a file in front takes the place of what was "
    "found before, with everything that it is given. The calling line stays as it was.",
    fix="Name the program by its path, or give the new one a name of its own.",
)
RULES: Final[tuple[RuleMeta, ...]] = (ORDER,)
_TOKENS: Final = regex(r"[^\s:;,\"'\[\](){}=<>|`]+")
_VARIABLE: Final = regex(r"^\$\w+(?=/)")
_SEARCHED: Final = regex(
    r"(?i)(?:^|/)(?:[^/]*makefile[^/]*|[^/]+\.(?:mk|sh|bash|toml|ya?ml|json|ini|cfg|conf|py|rb|js|mjs|cjs|ts|pl|lua|cmake"
    r"|gradle|kts|bzl|nix|env)|dockerfile[^/]*|justfile|\.envrc|\.env[^/]*|configure(?:\.ac)?|[^/.]+)$"
)
_ORDINARY: Final = regex(
    r"(?i)^(?:readme|changelog|licen[cs]e|notice|makefile|dockerfile|\.|__init__\.|__main__\.|index\.|mod\.rs|main\.|conftest"
    r"|package(?:-lock)?\.json|pyproject|cargo\.|go\.|tsconfig|setup\.|build\.|cmakelists|pom\.xml|requirements|types?\."
    r"|utils?\.|config|lib\.rs|test|kustomization|chart\.|values|version|owners|meta)"
)
"""Names that every folder has."""
_LARGEST: Final = 1 << 20
_LOCK: Final = regex(r"(?:^|[/.-])(?:lock|package-lock|npm-shrinkwrap)\.(?:json|toml|ya?ml)$")
_MOST: Final = 5
_MOST_FILES: Final = 400
_MOST_LISTS: Final = 400


class _Folders(NamedTuple):
    """Folders in the order in which a text names them."""

    line: int
    before: str
    names: list[str]


class SearchOrder:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "search-order"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare the lists of folders of the changed files, then ask which lists find a new file first."""
        head, base = _by_folder(request.head), _by_folder(request.base)
        every = [one for one in sources(request).files if one.base is not None and _is_read(one.path)]
        files, unread = first_files(every, len(every), _LARGEST)
        found = [one for source in files for one in _turned(source, head, base)]
        return ended(self.name, [*found, *_in_front(request, head, base)][:_MOST], unread)


def _is_read(path: str) -> bool:
    if _LOCK.search(path) or is_test_code(path) or is_example(path):
        return False
    return bool(_SEARCHED.search(path))


def _by_folder(tree: Tree) -> dict[str, set[str]]:
    """The names of the files right in each folder."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in tree.entries():
        folder, _, name = entry.path.rpartition("/")
        if folder and not _ORDINARY.match(name):
            found[folder].add(name)
    return found


def _lists(text: str, folders: Collection[str]) -> list[_Folders]:
    """Lists of two folders and more: in one line, or one in each of several lines."""
    found: list[_Folders] = []
    block: list[str] = []
    start, before = 1, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        tokens = [
            (match.start(), _VARIABLE.sub("", match[0]).lstrip("./-").rstrip("/"))
            for match in _TOKENS.finditer(line[:2_000])
        ]
        named = [(at, one) for at, one in tokens if one in folders]
        if len(named) == 1 and len([one for _, one in tokens if one]) == 1:
            start = start if block else number
            block.append(named[0][1])
            continue
        if len(block) > 1:
            found.append(_Folders(start, before, block))
        block, before = [], line.strip()
        if len(named) > 1 and not line.lstrip().startswith(("#", "//")):
            found.append(_Folders(number, line[: named[0][0]].strip(), [one for _, one in named]))
        elif named:
            found.append(_Folders(number, line[: named[0][0]].strip(), [named[0][1]]))
    return found[:_MOST_LISTS]


def _turned(source: Source, head: Mapping[str, set[str]], base: Mapping[str, set[str]]) -> Iterator[Finding]:
    """Lists in which one folder newly stands in front of another one."""
    folders = {*head, *base}
    old = _lists((source.base or b"").decode("utf-8", "replace"), folders)
    for now in _lists(source.head.decode("utf-8", "replace"), folders):
        was = max((o for o in old if o.before.split("(")[0][:40] == now.before.split("(")[0][:40]),
                  key=lambda o: len({*o.names} & {*now.names}), default=None)  # fmt: skip
        if was is None or was.names == now.names:
            continue
        for first, behind in _pairs(now.names):
            if behind in was.names and not _precedes(was.names, first, behind):
                both = sorted(head.get(first, set()) & head.get(behind, set()) & base.get(behind, set()))
                if both:
                    yield _finding(source.path, now.line, both[0], first, behind)
                    return


def _pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((one, other) for at, one in enumerate(names) for other in names[at + 1 :] if one != other)


def _precedes(names: Sequence[str], first: str, behind: str) -> bool:
    return first in names and names.index(first) < names.index(behind)


def _in_front(
    request: PrescreenRequest, head: Mapping[str, set[str]], base: Mapping[str, set[str]]
) -> Iterator[Finding]:
    """New programs whose name another folder has, and which some list of folders reaches first."""
    fresh: dict[str, str] = {}
    for file in request.change.files:
        folder, _, name = file.path.rpartition("/")
        is_program = file.new_mode == "100755" or "." not in name
        if file.status == "added" and folder and is_program and not _ORDINARY.match(name):
            others = (names for other, names in base.items() if other != folder)
            fresh |= {folder: name} if any(name in names for names in others) else {}
    if not fresh:
        return
    paths = [e.path for e in request.head.entries() if _is_read(e.path) and e.size <= _LARGEST][:_MOST_FILES]
    for path, data in request.head.read_many(tuple(paths)):
        if not any(folder.encode() in data for folder in fresh):
            continue
        for one in _lists(data.decode("utf-8", "replace"), head):
            for first, behind in _pairs(one.names):
                if first in fresh and fresh[first] in base.get(behind, set()):
                    yield _finding(path, one.line, fresh.pop(first), first, behind)
                    break


def _finding(path: str, line: int, name: str, first: str, behind: str) -> Finding:
    return finding(
        ORDER,
        f"{first}/{name} is found before {behind}/{name} now.",
        Location(path=path, line=line),
        shape=f"{name} {first} {behind}",
        evidence={"found": f"{first}/{name}", "before": f"{behind}/{name}"},
    )

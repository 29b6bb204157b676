"""What a tree says that it needs: requirements files, or pyproject.toml's dependencies. Read as data.

Lines that name the tree itself (``-e .``, ``./pkg``) are left out: the tree is on the path already; so are
options that would have packages built. Every other line stays as it is, indexes and addresses too: pip
decides what it means, the proxy what it may reach.
"""

from __future__ import annotations

import posixpath
import re
import shlex
import tomllib
from collections.abc import Iterable
from dataclasses import field
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.change import Tree
from gate.regex import regex

Setup = Literal["none", "requirements", "pyproject"]
GENERATED: Final = "pyproject.toml.txt"
_NAMED: Final = regex(r"requirements[\w.-]*\.(?:txt|in)\Z")
_LOCAL: Final = regex(r"(?:-e|--editable)(?:[ =]|\Z)|(?:\.{1,2}(?:/|\Z|\[)|file:|/)", re.ASCII)
_FURTHER: Final = regex(r"(?:-r|-c|--requirement|--constraint)[ =]*(?P<path>[^\s#]+)", re.ASCII)
_OPTIONS: Final = frozenset(
    {
        *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "--no-index"),
        *("-r", "--requirement", "-c", "--constraint", "--require-hashes", "--pre"),
    }
)
"""pip's options that a tree may set. Others choose how things are built: that is the settings' business."""
_ADDRESS: Final = regex(r"(?:[\w.-]+\s*(?:\[[^\]]*\])?\s*@\s*)?(?P<address>[A-Za-z][\w+.-]*:[^\s;]+)")
_MOST_FILES: Final = 40
_MOST_BYTES: Final = 1 << 20
_NEEDS: Final = 500


@dataclass(frozen=True, kw_only=True)
class RequirementSet:
    """``files``: path → content, all that pip is to see; ``roots``: those it is started with; ``paths``:
    the tree's files that all of it came from. ``left``: lines that are not handed on.
    """

    roots: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """False where nothing is needed."""
        return any(_lines(self.files[root]) for root in self.roots)


def read_requirements(
    tree: Tree, setup: Setup, named: Iterable[str] = (), *, builds: bool = False
) -> RequirementSet:
    """What the tree asks for. ``named``: its requirements files; none: those at its root. ``builds``:
    addresses of what is no wheel are handed on, too (pip builds those whatever it is told).

    A pyproject.toml that cannot be read asks for nothing, and says so in ``left``.
    """
    if setup == "pyproject":
        return _pyproject(tree, builds=builds)
    present = {e.path: e for e in tree.entries() if e.mode.startswith("100") and e.size <= _MOST_BYTES}
    chosen = [path for path in named if path in present] or (
        [] if tuple(named) else sorted(path for path in present if _NAMED.match(path))
    )
    # requirements.in is what requirements.txt was made from: the made one counts
    roots = [p for p in chosen if not (p.endswith(".in") and p[:-3] + ".txt" in chosen)]
    files: dict[str, bytes] = {}
    left: list[str] = []
    todo = list(roots)
    while todo and len(files) < _MOST_FILES:
        path = todo.pop(0)
        if path in files or path not in present:
            continue
        kept, dropped = _handed_on(tree.read(path), builds=builds)
        files[path] = kept
        left += [f"{path}: {line}" for line in dropped]
        folder = posixpath.dirname(path)
        for line in _lines(kept):
            further = _FURTHER.match(line)
            if further is not None and "://" not in further["path"]:
                todo.append(posixpath.normpath(posixpath.join(folder, further["path"])))
    return RequirementSet(roots=tuple(roots), files=files, paths=tuple(files), left=tuple(left[:_NEEDS]))


def _pyproject(tree: Tree, *, builds: bool) -> RequirementSet:
    try:
        raw = tree.read("pyproject.toml")
        table = tomllib.loads(raw[:_MOST_BYTES].decode("utf-8"))
    except KeyError:
        return RequirementSet()
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        return RequirementSet(left=(f"pyproject.toml: {type(error).__name__}",), paths=("pyproject.toml",))
    project = table.get("project")
    asked = project.get("dependencies") if isinstance(project, dict) else None
    needs = [line for line in asked if isinstance(line, str)] if isinstance(asked, list) else []
    # one line each, and no option: what stands there is a requirement or nothing
    plain = [line.strip() for line in needs if line.isprintable() and line.strip()[:1].isalnum()][:_NEEDS]
    good = [line for line in plain if builds or not _is_built(line)]
    left = tuple(f"pyproject.toml: {line!r}"[:200] for line in needs if line.strip() not in good)
    content = "".join(f"{line}\n" for line in good).encode("utf-8", "replace")
    return RequirementSet(
        roots=(GENERATED,), files={GENERATED: content}, paths=("pyproject.toml",), left=left
    )


def _lines(content: bytes) -> list[str]:
    """Lines that say something, continued ones joined."""
    text = re.sub(r"\\\r?\n", " ", content.decode("utf-8", "replace"))
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


def _handed_on(content: bytes, *, builds: bool) -> tuple[bytes, list[str]]:
    """The same without lines that name the tree itself or set other options, and those."""
    dropped = []
    kept = []
    for line in re.split(rb"(?<!\\)\n", content):
        text = line.decode("utf-8", "replace").strip()
        option = text.startswith("-")
        if _LOCAL.match(text) or (not _harmless(text) if option else not builds and _is_built(text)):
            dropped.append(text[:200])
        else:
            kept.append(line)
    return b"\n".join(kept), dropped


def _is_built(line: str) -> bool:
    """True for a requirement by address that is no wheel's."""
    match = _ADDRESS.match(line)
    return match is not None and not re.split(r"[?#]", match["address"])[0].endswith(".whl")


def _harmless(line: str) -> bool:
    """True when an option line sets nothing but what a tree may set. pip takes abbreviations; we do not."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return False
    for word in words:
        if not word.startswith("-"):
            continue
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name not in _OPTIONS:
            return False
    return True

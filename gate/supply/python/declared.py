"""What a project says of itself in pyproject.toml, setup.cfg or setup.py, read as data.

``Declared`` is one value for all of them: what it needs, and what its installation would have told about it
(name, version, entry points). Raises ValueError for text that is no such file.
"""

from __future__ import annotations

import configparser
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from packaging.utils import canonicalize_name

from gate.dataclass import dataclass
from gate.regex import regex
from gate.supply.python import flit, poetry, setup_script
from gate.supply.python.requirements import (
    Lines,
    Requirements,
    by_name,
    is_for_tests,
    list_of,
    table_of,
    text_of,
)

MOST: Final = 1 << 20
"""Bytes of one manifest."""
_MOST_GROUPS: Final = 100
_GROUP: Final = regex(r"[\w.-]{1,100}\Z", re.ASCII)
_ENTRY: Final = regex(r"[\w.-][\w. -]{0,99}\Z", re.ASCII)
_OBJECT: Final = regex(r"[\w.]{1,200}(?::[\w.]{1,200})?(?:\s*\[[\w, .-]*\])?\Z", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Declared:
    """``entry_points``: group → name → object (PEP 621). ``version`` is empty where it is made by a build;
    ``version_files``: files that such a build writes (relative to the project). ``sources``: folders that
    hold its packages, besides those that the tree's own layout tells. ``files``: requirements files that it
    refers to.
    """

    name: str = ""
    version: str = ""
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    version_files: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    requirements: Requirements = field(default_factory=Requirements)

    def __or__(self, other: Declared) -> Declared:
        """What this one says, and what it leaves open from another of the same project."""
        mine, its = self.requirements, other.requirements
        return replace(
            self,
            name=self.name or other.name,
            version=self.version or other.version,
            entry_points={**other.entry_points, **self.entry_points},
            version_files=self.version_files or other.version_files,
            sources=tuple(dict.fromkeys((*self.sources, *other.sources))),
            files=tuple(dict.fromkeys((*self.files, *other.files))),
            requirements=Requirements(
                lines=mine.lines + its.lines,
                tests=mine.tests + its.tests,
                extras=mine.extras + its.extras,
                python=mine.python or its.python,
                left=mine.left + its.left,
                paths=mine.paths + its.paths,
                aside={**its.aside, **mine.aside},
            ),
        )


def read(name: str, path: str, raw: bytes) -> Declared:
    """The manifest at ``path`` whose file name is ``name``. Raises ValueError."""
    if len(raw) > MOST:
        raise ValueError("too large")
    try:
        found = READERS[name](path, raw.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return replace(found, requirements=replace(found.requirements, paths=(path,)))


def _pyproject(path: str, text: str) -> Declared:
    table = tomllib.loads(text)
    tool = table_of(table.get("tool"))
    project = table_of(table.get("project")) or flit.as_project(tool)
    old = table_of(tool.get("poetry"))
    out, tests, extras = Lines(path), Lines(path), Lines(path)
    out.add_all(project.get("dependencies"))
    name = text_of(project.get("name")) or text_of(old.get("name"))
    _extras(table_of(project.get("optional-dependencies")), name, tests, extras)
    aside = Lines(path)
    _groups(table_of(table.get("dependency-groups")), tests, aside)
    for manager in ("uv", "rye"):
        tests.add_all(table_of(tool.get(manager)).get("dev-dependencies"))
    for lines in table_of(table_of(tool.get("pdm")).get("dev-dependencies")).values():
        tests.add_all(lines)
    for environment, details in table_of(table_of(tool.get("hatch")).get("envs")).items():
        if is_for_tests(environment) or environment == "default":
            tests.add_all(table_of(details).get("dependencies"))
            tests.add_all(table_of(details).get("extra-dependencies"))
    _poetry(old, out, tests, extras, also=not project.get("dependencies"))
    _poetry_groups(old, tests, aside)
    tox = table_of(table_of(tool.get("tox")).get("env_run_base"))
    tests.add_all([d for d in list_of(tox.get("deps")) if not str(d).startswith(("-", "."))])
    asked = text_of(project.get("requires-python"))
    python = asked or poetry.versions(text_of(table_of(old.get("dependencies")).get("python")))
    return Declared(
        name=name,
        version=text_of(project.get("version")) or text_of(old.get("version")).replace("0.0.0", ""),
        entry_points=_entry_points(project, old),
        version_files=_version_files(tool),
        sources=_sources(tool),
        requirements=Requirements(
            lines=tuple(out.kept),
            tests=tuple(tests.kept),
            extras=tuple(extras.kept),
            python=python,
            left=(*out.left, *tests.left),
            aside={name: (line,) for name, line in by_name(aside.kept).items()},
        ),
    )


def _extras(table: Mapping[str, object], name: str, tests: Lines, extras: Lines) -> None:
    """Extras by what their names say; one that names the project's own others (``me[a,b]``) adds nothing."""
    itself = re.compile(re.escape(canonicalize_name(name)) + r"\s*\[") if name else None
    for extra, lines in table.items():
        for line in list_of(lines):
            plain = re.sub(r"[-_.]+", "-", str(line)).lower()
            if itself is None or not itself.match(plain):
                (tests if is_for_tests(extra) else extras).add(line)


def _groups(table: dict[str, object], tests: Lines, aside: Lines) -> None:
    from packaging.dependency_groups import resolve_dependency_groups

    for name in list(table)[:_MOST_GROUPS]:
        out = tests if is_for_tests(name) else aside
        try:
            out.add_all(list(resolve_dependency_groups(table, name)))  # type: ignore[arg-type]
        except Exception as error:  # noqa: BLE001  # hostile tables: more kinds than the library names
            out.leave(f"group {name[:60]!r}: {type(error).__name__}")


def _poetry(old: dict[str, object], out: Lines, tests: Lines, extras: Lines, *, also: bool) -> None:
    needs = table_of(old.get("dependencies"))
    if also:
        out.add_all(list(poetry.lines(needs)))
    extras.add_all(list(poetry.lines(needs, optional=True)))
    tests.add_all(list(poetry.lines(table_of(old.get("dev-dependencies")))))


def _poetry_groups(old: dict[str, object], tests: Lines, aside: Lines) -> None:
    for group, details in table_of(old.get("group")).items():
        lines = list(poetry.lines(table_of(table_of(details).get("dependencies"))))
        (tests if is_for_tests(group) else aside).add_all(lines)


def _entry_points(project: Mapping[str, object], old: Mapping[str, object]) -> dict[str, dict[str, str]]:
    tables = {
        "console_scripts": table_of(project.get("scripts")) or table_of(old.get("scripts")),
        "gui_scripts": table_of(project.get("gui-scripts")),
        **{k: table_of(v) for k, v in table_of(project.get("entry-points")).items()},
        **{k: table_of(v) for k, v in table_of(old.get("plugins")).items()},
    }
    return entry_points(tables)


def entry_points(tables: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, str]]:
    """Only what can be written into entry_points.txt as it is meant."""
    found: dict[str, dict[str, str]] = {}
    for group, entries in tables.items():
        for name, place in entries.items():
            if _GROUP.match(group) and _ENTRY.match(name) and isinstance(place, str) and _OBJECT.match(place):
                found.setdefault(group, {})[name] = place
    return found


def _version_files(tool: Mapping[str, object]) -> tuple[str, ...]:
    """Files that a build would write the version into."""
    scm = table_of(tool.get("setuptools_scm")) or table_of(tool.get("vcs-versioning"))
    hatch = table_of(tool.get("hatch"))
    build = table_of(table_of(table_of(hatch.get("build")).get("hooks")).get("vcs"))
    pdm = table_of(table_of(tool.get("pdm")).get("version"))
    named = (scm.get("write_to"), scm.get("version_file"), build.get("version-file"), pdm.get("write_to"))
    return tuple(inside for name in named if (inside := _inside(name)).endswith(".py"))


def _sources(tool: Mapping[str, object]) -> tuple[str, ...]:
    setuptools = table_of(tool.get("setuptools"))
    where = list_of(table_of(table_of(setuptools.get("packages")).get("find")).get("where"))
    named = [table_of(setuptools.get("package-dir")).get(""), *where]
    named += [table_of(p).get("from") for p in list_of(table_of(tool.get("poetry")).get("packages"))]
    return tuple(dict.fromkeys(inside for name in named if (inside := _inside(name))))


def _inside(name: object) -> str:
    """A path below the project's folder, or nothing."""
    text = posixpath.normpath(text_of(name)) if text_of(name) else ""
    return "" if text in ("", ".") or text.startswith(("/", "..")) else text


def _setup_cfg(path: str, text: str) -> Declared:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)[:200]) from error

    def get(section: str, key: str) -> str:
        return parser.get(section, key, fallback="") or ""

    keywords: dict[str, object] = {
        "name": get("metadata", "name"),
        "version": get("metadata", "version"),
        "install_requires": get("options", "install_requires").splitlines(),
        "tests_require": get("options", "tests_require").splitlines(),
        "python_requires": get("options", "python_requires"),
    }
    table = "options.extras_require"
    if parser.has_section(table):
        keywords["extras_require"] = {k: v.splitlines() for k, v in parser.items(table)}
    table = "options.entry_points"
    if parser.has_section(table):
        keywords["entry_points"] = {k: v.splitlines() for k, v in parser.items(table)}
    folders = [line.partition("=") for line in get("options", "package_dir").splitlines() if "=" in line]
    keywords["package_dir"] = {k.strip(): v.strip() for k, _, v in folders}
    return from_keywords(path, keywords)


def _setup_py(path: str, text: str) -> Declared:
    """What is no plain data is taken from the files that it is read from, where they are named; else told."""
    said = from_keywords(path, setup_script.keywords(text))
    files = list(said.files)
    left = list(said.requirements.left)
    for keyword, named in setup_script.computed(text).items():
        inside = [place for name in named if (place := _inside(name))]
        files += inside
        if not inside:
            left.append(f"{path}: {keyword} has to be run to be known, and is not")
    return replace(said, files=tuple(files), requirements=replace(said.requirements, left=tuple(left)))


def from_keywords(path: str, keywords: Mapping[str, object]) -> Declared:
    """From what ``setup()`` is called with, as far as it is plain data."""
    files: list[str] = []
    out, tests, extras = Lines(path), Lines(path), Lines(path)
    name = text_of(keywords.get("name"))
    for key, lines in (("install_requires", out), ("tests_require", tests)):
        for text in _texts(keywords.get(key)):
            if text.startswith("file:"):
                files += [inside for part in text[5:].split(",") if (inside := _inside(part.strip()))]
            else:
                lines.add(text)
    table = {k: list(_texts(v)) for k, v in table_of(keywords.get("extras_require")).items()}
    _extras({k: [t for t in v if not t.startswith("file:")] for k, v in table.items()}, name, tests, extras)
    files += [i for v in table.values() for t in v if t.startswith("file:") and (i := _inside(t[5:].strip()))]
    points = {}
    for group, entries in table_of(keywords.get("entry_points")).items():
        pairs = (text.partition("=") for text in _texts(entries))
        points[group] = {key.strip(): place.strip() for key, _, place in pairs}
    version = text_of(keywords.get("version"))
    folder = _inside(table_of(keywords.get("package_dir")).get(""))
    return Declared(
        name=name,
        version="" if version.startswith(("attr:", "file:")) else version,
        entry_points=entry_points(points),
        sources=(folder,) if folder else (),
        files=tuple(files),
        requirements=Requirements(
            lines=tuple(out.kept),
            tests=tuple(tests.kept),
            extras=tuple(extras.kept),
            python=text_of(keywords.get("python_requires")),
            left=(*out.left, *tests.left),
        ),
    )


def _texts(value: object) -> Iterable[str]:
    found = (
        value.splitlines()
        if isinstance(value, str)
        else list_of(list(value) if isinstance(value, tuple) else value)
    )
    return (text.strip() for text in found if isinstance(text, str) and text.strip())


READERS: Final[dict[str, Callable[[str, str], Declared]]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
}

"""pyproject.toml and Pipfile as inputs: what each name is asked for from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name

from gate.supply.inputs import claimed, requirements
from gate.supply.inputs.model import Input, Inputs, SourceKind
from gate.supply.inputs.text import table_of, text_of, texts_of, toml_table

_Table = Mapping[str, object]


def pyproject(text: str) -> Inputs:
    """Requirement lines of PEP 621, PEP 735 and the build, uv's sources in their place, Poetry's tables."""
    data = toml_table(text)
    project, tool = table_of(data.get("project")), table_of(data.get("tool"))
    lines = [*texts_of(project.get("dependencies"))]
    lines += texts_of(table_of(data.get("build-system")).get("requires"))
    for groups in (project.get("optional-dependencies"), data.get("dependency-groups")):
        lines += [line for group in table_of(groups).values() for line in texts_of(group)]
    asked = [one for line in lines if (one := requirements.requirement(line))]
    poetry = table_of(tool.get("poetry"))
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    tables += [table_of(group).get("dependencies") for group in table_of(poetry.get("group")).values()]
    asked += [one for table in tables for one in _table(table_of(table))]
    sources = {one.name: one for one in _table(table_of(table_of(tool.get("uv")).get("sources")))}
    used = [sources.pop(one.name, one) for one in asked]
    for table in (tool.get("uv"), table_of(tool.get("pdm")).get("resolution")):
        used += _instead(table_of(table))
    used += claimed.of_pyproject(tool)
    return Inputs(kind="manifest", inputs=tuple(dict.fromkeys([*used, *sources.values()])))


def _instead(settings: _Table) -> Iterator[Input]:
    """Overrides of uv and PDM that name an address. Any version is for the solver to say, another place is
    not.
    """
    lines = texts_of(settings.get("override-dependencies"))
    found = [*(requirements.requirement(line) for line in lines)]
    overrides = table_of(settings.get("overrides"))
    found += [requirements.requirement(f"{name} @ {text_of(value)}") for name, value in overrides.items()]
    yield from (one for one in found if one is not None and one.kind != "registry" and "://" in one.where)


def pipfile(text: str) -> Inputs:
    """Every section of packages; ``index`` names one of the file's sources, which another rule looks at."""
    data = toml_table(text)
    skipped = ("source", "requires", "pipenv", "scripts")
    tables = [table_of(value) for key, value in data.items() if key not in skipped]
    return Inputs(
        kind="manifest", inputs=tuple(dict.fromkeys(one for table in tables for one in _table(table)))
    )


def _table(table: _Table) -> Iterator[Input]:
    for key, value in table.items():
        name = canonicalize_name(key)
        asked = (
            next((item for item in value if isinstance(item, dict)), {}) if isinstance(value, list) else value
        )
        details = table_of(asked)
        kind, where = _source(details)
        revision = next((text_of(details[k]) for k in ("rev", "tag", "branch", "ref") if k in details), "")
        version = text_of(asked) or text_of(details.get("version"))
        if name != "python" and details.get("workspace") is not True:
            yield Input(name=name, kind=kind, where=where, version=version, revision=revision)


def _source(details: _Table) -> tuple[SourceKind, str]:
    kinds: tuple[tuple[str, SourceKind], ...] = (
        *(("git", "vcs"), ("hg", "vcs"), ("svn", "vcs"), ("url", "url")),
        *(("path", "path"), ("file", "url")),
    )
    return next(((kind, text_of(details[key])) for key, kind in kinds if key in details), ("registry", ""))

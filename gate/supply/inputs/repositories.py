"""Repositories that a project takes code from beside its packages: submodules, hooks, Terraform and Helm."""

from __future__ import annotations

import configparser

from gate.supply.inputs.model import Input, Inputs, SourceKind, UnreadableInputError
from gate.supply.inputs.text import table_of, tables_of, text_of, yaml_table


def gitmodules(text: str) -> Inputs:
    """.gitmodules: one input a submodule, by its path. A section that occurs twice is refused."""
    parser = configparser.RawConfigParser(interpolation=None)
    try:
        parser.read_string("\n".join(line.strip() for line in text.splitlines()))
    except (configparser.DuplicateSectionError, configparser.DuplicateOptionError) as error:
        raise UnreadableInputError("a key occurs twice", ambiguous=True) from error
    except configparser.Error as error:
        raise UnreadableInputError("it is no list of submodules") from error
    found = []
    for section in parser.sections():
        url = parser.get(section, "url", fallback="") or ""
        kind: SourceKind = "path" if url.startswith((".", "/")) else "vcs"
        name = parser.get(section, "path", fallback="") or section
        found.append(
            Input(name=name, kind=kind, where=url, revision=parser.get(section, "branch", fallback="") or "")
        )
    return Inputs(kind="repositories", inputs=tuple(found))


def pre_commit(text: str) -> Inputs:
    """.pre-commit-config.yaml: one input a hook. Hooks of the project itself are commands, not read here."""
    found = []
    for repo in tables_of(yaml_table(text).get("repos")):
        where = text_of(repo.get("repo"))
        if where in ("local", "meta", "builtin", ""):
            continue
        kind: SourceKind = "path" if where.startswith((".", "/")) else "vcs"
        for hook in tables_of(repo.get("hooks")):
            found.append(
                Input(name=text_of(hook.get("id")), kind=kind, where=where, revision=text_of(repo.get("rev")))
            )
            for line in hook.get("additional_dependencies") or ():  # type: ignore[attr-defined]
                address = text_of(line).partition("@ ")[2] or text_of(line)
                if "://" in address:
                    found.append(Input(name=text_of(line).partition(" @")[0], kind="vcs", where=address))
    return Inputs(kind="repositories", inputs=tuple(dict.fromkeys(found)))


def helm(text: str) -> Inputs:
    """Chart.yaml, Chart.lock, requirements.yaml: one input a chart that this one is made of."""
    found = []
    for chart in tables_of(table_of(yaml_table(text)).get("dependencies")):
        where = text_of(chart.get("repository"))
        kind: SourceKind = "path" if where.startswith("file:") or not where else "registry"
        actual = text_of(chart.get("name"))
        name = text_of(chart.get("alias")) or actual
        found.append(
            Input(
                name=name,
                kind=kind,
                where=where.removeprefix("file://"),
                version=text_of(chart.get("version")),
                actual=actual if actual != name else "",
            )
        )
    return Inputs(kind="repositories", inputs=tuple(dict.fromkeys(found)))

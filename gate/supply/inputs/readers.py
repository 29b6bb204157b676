"""Which reader understands a file, by its name, and the one door that the limited child comes through."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.supply.inputs import (
    ansible,
    bake,
    beam,
    claimed,
    cmake,
    conda,
    dart,
    dotnet,
    golang,
    images,
    javascript,
    jvm,
    npm,
    php,
    pipelines,
    pnpmfile,
    python_locks,
    python_manifests,
    repositories,
    requirements,
    ruby,
    rust,
    swift,
    terraform,
    tools,
    yarn,
)
from gate.supply.inputs.model import MOST, FileKind, Inputs, UnreadableInputError

Reader = Callable[[str], Inputs]
_LOCKS: Final[dict[str, Reader]] = {
    "uv.lock": python_locks.uv,
    "poetry.lock": python_locks.poetry,
    "pdm.lock": python_locks.pdm,
    "pipfile.lock": python_locks.pipfile,
    "pylock.toml": python_locks.pylock,
    "package-lock.json": npm.lock,
    "npm-shrinkwrap.json": npm.lock,
    "pnpm-lock.yaml": javascript.pnpm,
    "yarn.lock": yarn.lock,
    "bun.lock": javascript.bun,
    "cargo.lock": rust.lock,
    "go.sum": golang.sums,
    "gemfile.lock": ruby.lock,
    "gems.locked": ruby.lock,
    "composer.lock": php.lock,
    "mix.lock": beam.mix_lock,
    "pubspec.lock": dart.lock,
    "package.resolved": swift.resolved,
    "podfile.lock": swift.pods,
    "gradle.lockfile": jvm.gradle_lock,
    "buildscript-gradle.lockfile": jvm.gradle_lock,
    "verification-metadata.xml": jvm.verification,
    "gradle-wrapper.properties": jvm.wrapper,
    "maven-wrapper.properties": jvm.wrapper,
    "packages.lock.json": dotnet.lock,
    "conda-lock.yml": conda.conda_lock,
    "pixi.lock": conda.pixi,
    "devcontainer-lock.json": tools.devcontainer_lock,
    ".devcontainer-lock.json": tools.devcontainer_lock,
}
_MANIFESTS: Final[dict[str, Reader]] = {
    "package.json": claimed.package_json,
    "pnpm-workspace.yaml": claimed.install_settings,
    ".yarnrc.yml": claimed.install_settings,
    "pyproject.toml": python_manifests.pyproject,
    "pipfile": python_manifests.pipfile,
    "cargo.toml": rust.manifest,
    "go.mod": golang.module,
    "pom.xml": jvm.pom,
    "mix.exs": beam.mix,
    "cmakelists.txt": cmake.read,
    ".gitmodules": repositories.gitmodules,
    ".pre-commit-config.yaml": repositories.pre_commit,
    ".pre-commit-config.yml": repositories.pre_commit,
    "chart.yaml": repositories.helm,
    "chart.lock": repositories.helm,
    "kustomization.yaml": images.kustomization,
    "kustomization.yml": images.kustomization,
    "flake.lock": tools.flake_lock,
    "mise.toml": tools.mise,
    ".mise.toml": tools.mise,
    "mise.local.toml": tools.mise,
    ".tool-versions": tools.versions,
    ".prototools": tools.proto,
    "aqua.yaml": tools.aqua,
    "aqua.yml": tools.aqua,
    "global.json": dotnet.global_json,
    "pubspec.yaml": dart.manifest,
    "pubspec_overrides.yaml": dart.manifest,
    "extensions.xml": jvm.extensions,
    ".pnpmfile.cjs": pnpmfile.read,
    ".pnpmfile.mjs": pnpmfile.read,
    "pnpmfile.js": pnpmfile.read,
    "yarn.config.cjs": pnpmfile.read,
    "go.work": golang.module,
    "devcontainer.json": images.devcontainer,
    ".devcontainer.json": images.devcontainer,
}


def reader_of(path: str) -> Reader | None:
    """The reader of a file with this path, None where nobody understands it."""
    name = PurePosixPath(path).name.lower()
    parent = PurePosixPath(path).parent.name.lower()
    if name.startswith("pylock.") and name.endswith(".toml"):
        return python_locks.pylock
    if name.endswith((".txt", ".in")) and (
        "requirements" in name or name.startswith("constraints") or parent == "requirements"
    ):
        return requirements.read
    if name in ("dockerfile", "containerfile") or name.startswith(("dockerfile.", "containerfile.")):
        return images.dockerfile
    if name.endswith((".dockerfile", ".containerfile")):
        return images.dockerfile
    if name.endswith((".yml", ".yaml")) and name.startswith(("compose", "docker-compose")):
        return bake.compose
    if name.endswith((".yml", ".yaml")) and name.startswith(("values.", "values-", "values_")):
        return images.helm_values
    if name.endswith((".tf", ".tofu")) or name == ".terraform.lock.hcl":
        return terraform.read
    return _LOCKS.get(name) or _MANIFESTS.get(name) or _by_folder(name, parent) or _pipeline(path)


def _by_folder(name: str, parent: str) -> Reader | None:
    """Files whose name alone says too little."""
    if parent == ".cargo" and name in ("config", "config.toml"):
        return rust.settings
    if name in ("requirements.yml", "requirements.yaml", "galaxy_requirements.yml"):
        return ansible.requirements
    if parent == "vendor" and name == "modules.txt":
        return golang.vendored
    if parent in ("nix", "npins") and name == "sources.json":
        return tools.nix_sources
    if parent in ("mise", ".mise") and name in ("config.toml", "mise.toml"):
        return tools.mise
    if name.endswith((".gradle", ".gradle.kts")):
        return claimed.gradle
    if name.endswith(".rockspec"):
        return beam.rockspec
    if name.endswith(".mod"):
        return golang.other_module
    if name.endswith((".sum", ".work.sum")) and name != "md5.sum":
        return golang.sums
    if "bake" in name and name.endswith((".hcl", ".json")):
        return bake.bake
    if name.endswith((".csproj", ".fsproj", ".vbproj", ".proj", ".props", ".targets", ".sqlproj", ".esproj")):
        return dotnet.project
    return None


def _pipeline(path: str) -> Reader | None:
    return pipelines.read if pipelines.is_pipeline(path) else None


def kind_of(path: str) -> FileKind:
    """What kind of file this path is, where it cannot be read."""
    return "lock" if PurePosixPath(path).name.lower() in _LOCKS else "manifest"


def read(path: str, data: bytes, options: Mapping[str, object]) -> Inputs:
    """One file. Never raises for its text: what cannot be read is ``refused``."""
    del options
    reader = reader_of(path)
    try:
        if reader is None:
            raise UnreadableInputError("it is no file of this kind")
        found = reader(data.decode("utf-8-sig"))
        if len(found.inputs) > MOST:
            raise UnreadableInputError(f"it has more than {MOST} entries")
    except UnreadableInputError as error:
        return Inputs(kind=kind_of(path), refused=str(error), ambiguous=error.ambiguous)
    except UnicodeDecodeError:
        return Inputs(kind=kind_of(path), refused="it is not UTF-8")
    except RecursionError:
        return Inputs(kind=kind_of(path), refused="it is nested too deeply")
    except ValueError:
        return Inputs(kind=kind_of(path), refused="it cannot be parsed")
    return found

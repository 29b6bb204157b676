"""What keeps packages from being replaced: safeguards that settings of package managers set, or switch off.

Runs in the limited child. A safeguard has a name of ours with the settings' own words in it; the same one has
the same name whichever file sets it, so that it may move. ``holds`` are those that are set, ``loose`` those
that are switched off by name. Taking a line away is enough for dependency confusion, and looks like tidying.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from gate.dataclass import dataclass
from gate.regex import regex
from gate.supply import settings_files
from gate.supply.inputs.text import json_table, plain_json, table_of, tables_of, text_of, texts_of, yaml_table
from gate.supply.lookalike import is_known

SCRIPTS: Final = "packages run no scripts when they are installed"
TLS: Final = "certificates of registries are checked"
AGE: Final = "a release waits some days before it is taken"
HASHES: Final = "packages are held by their hashes"
WHEELS: Final = "packages run no code of theirs to be built"


@dataclass(frozen=True, kw_only=True, slots=True)
class Safeguards:
    """What one file says. ``unreadable`` is why nothing could be read, empty otherwise."""

    holds: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    unreadable: str = ""


Said = tuple[bool, str]
"""True and a safeguard that is set, or False and one that is switched off."""


def may_hold(path: str) -> bool:
    """True for a file that ``read`` understands."""
    return _reader(path) is not None


def read(path: str, data: bytes, options: Mapping[str, object]) -> Safeguards:
    """The safeguards of one file."""
    del options
    reader = _reader(path)
    try:
        said = list(reader(data.decode("utf-8-sig", "replace"))) if reader else []
    except (ValueError, RecursionError, configparser.Error, AttributeError, TypeError) as error:
        return Safeguards(unreadable=f"cannot be parsed ({type(error).__name__})")
    return Safeguards(
        holds=tuple(sorted({name for is_set, name in said if is_set})),
        loose=tuple(sorted({name for is_set, name in said if not is_set})),
    )


def _is(value: object, word: str) -> bool:
    """Readers of YAML give switches as they are written."""
    return str(value).lower() == word


def _of_scope(scope: str) -> str:
    return f"packages of {scope} come from a registry of their own"


def _of_package(name: str) -> str:
    return f"{name} comes from an index of its own"


def _npmrc(text: str) -> Iterator[Said]:
    for line in text.splitlines():
        key, equals, value = (part.strip() for part in line.partition("="))
        key, value = key.lower(), value.strip("\"'").lower()
        if not equals or key.startswith(("#", ";")):
            continue
        if key.startswith("@") and key.endswith(":registry"):
            yield True, _of_scope(key.partition(":")[0])
        elif key == "ignore-scripts":
            yield value == "true", SCRIPTS
        elif key in ("strict-ssl", "strict_ssl") and value == "false":
            yield False, TLS
        elif key in ("minimum-release-age", "before"):
            yield True, AGE
        elif key == "package-lock" and value == "false":
            yield False, HASHES


def _yarnrc_yml(text: str) -> Iterator[Said]:
    data = yaml_table(text)
    for scope, table in table_of(data.get("npmScopes")).items():
        if "npmRegistryServer" in table_of(table):
            yield True, _of_scope(f"@{scope}")
    if "enableScripts" in data:
        yield _is(data["enableScripts"], "false"), SCRIPTS
    if _is(data.get("enableStrictSsl"), "false"):
        yield False, TLS
    if "npmMinimalAgeGate" in data:
        yield True, AGE
    if text_of(data.get("checksumBehavior")) in ("ignore", "update"):
        yield False, HASHES


def _pnpm(data: Mapping[str, object]) -> Iterator[Said]:
    if "minimumReleaseAge" in data:
        yield True, AGE
    if "onlyBuiltDependencies" in data or "ignoredBuiltDependencies" in data:
        yield True, "only named packages run scripts when they are installed"
    if _is(data.get("dangerouslyAllowAllBuilds"), "true"):
        yield False, "only named packages run scripts when they are installed"
    if text_of(data.get("trustPolicy")) == "no-downgrade":
        yield True, "releases are not taken that are less trusted than the one before"


def _bunfig(text: str) -> Iterator[Said]:
    install = table_of(tomllib.loads(text).get("install"))
    for scope in table_of(install.get("scopes")):
        yield True, _of_scope("@" + scope.lstrip("@"))
    if "minimumReleaseAge" in install:
        yield True, AGE


def _uv(table: Mapping[str, object]) -> Iterator[Said]:
    for name, source in table_of(table.get("sources")).items():
        if any(text_of(one.get("index")) for one in (table_of(source), *tables_of(source))):
            yield True, _of_package(name)
    for index in tables_of(table.get("index")):
        if index.get("explicit") is True:
            yield True, f"the index {text_of(index.get('name'))} gives only what names it"
    for part in (table, table_of(table.get("pip"))):
        if text_of(part.get("index-strategy")).startswith("unsafe"):
            yield False, "a name is taken from the first index that has it"
        if part.get("require-hashes") is True:
            yield True, HASHES
        if "exclude-newer" in part:
            yield True, AGE
        if part.get("no-build") is True:
            yield True, WHEELS


def _pyproject(text: str) -> Iterator[Said]:
    tool = table_of(tomllib.loads(text).get("tool"))
    yield from _uv(table_of(tool.get("uv")))
    poetry = table_of(tool.get("poetry"))
    groups = [table_of(group) for group in table_of(poetry.get("group")).values()]
    for part in (poetry, *groups):
        for name, asked in table_of(part.get("dependencies")).items():
            if text_of(table_of(asked).get("source")):
                yield True, _of_package(name)
    for source in tables_of(poetry.get("source")):
        if text_of(source.get("priority")) == "explicit":
            yield True, f"the index {text_of(source.get('name'))} gives only what names it"


def _pip_conf(text: str) -> Iterator[Said]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    for section in parser.sections():
        for key, value in parser.items(section):
            yield from _pip_option(key.replace("_", "-"), value.strip().lower())


def _pip_option(key: str, value: str) -> Iterator[Said]:
    if key == "require-hashes":
        yield value not in ("0", "false", "no", "off"), HASHES
    elif key == "only-binary":
        yield True, WHEELS


def _requirements(text: str) -> Iterator[Said]:
    for line in text.splitlines():
        words = line.split("#")[0].replace("=", " ").split()
        if words and words[0] in ("--require-hashes", "--only-binary"):
            yield from _pip_option(words[0].lstrip("-"), "")


_OURS: Final = frozenset({"renovatebot", "mend", "whitesource"})


def _renovate(text: str) -> Iterator[Said]:
    yield from _renovate_rules(json_table(plain_json(text)), 20)


def _renovate_rules(value: object, deep: int) -> Iterator[Said]:
    if isinstance(value, list):
        for each in value:
            yield from _renovate_rules(each, deep - 1) if deep else ()
    for key, inner in table_of(value).items():
        if key in ("minimumReleaseAge", "stabilityDays") and text_of(inner) not in ("0", "0 days"):
            yield True, AGE
        elif key == "ignoreTests" and inner is True:
            yield False, "an update is merged only when the tests pass"
        elif key == "extends":
            for preset in texts_of(inner):
                owner = preset.partition(">")[2].partition("/")[0].lower()
                if owner and not preset.startswith("local>") and owner not in _OURS:
                    yield False, f"no settings of {preset.partition('#')[0]} decide about updates"
        elif deep:
            yield from _renovate_rules(inner, deep - 1)


def _dependabot(text: str) -> Iterator[Said]:
    for update in tables_of(yaml_table(text).get("updates")):
        if "cooldown" in update:
            yield True, AGE


def _pre_commit(text: str) -> Iterator[Said]:
    """Packages that are installed beside a hook run on every developer's machine at every commit."""
    for repository in tables_of(yaml_table(text).get("repos")):
        for hook in tables_of(repository.get("hooks")):
            for asked in texts_of(hook.get("additional_dependencies")):
                name = re.split(r"[\s\[<>=!~;]", asked.strip(), maxsplit=1)[0]
                if "@" in asked.lstrip("@") or asked.startswith((".", "/", "-", "@")) or ":" in asked:
                    continue  # of another language, or of this tree
                if name and not name.startswith("types-") and not is_known(name, "pypi"):
                    yield False, f"no little known package ({name}) runs in hooks at every commit"


_SWITCHES: Final[Mapping[str, tuple[str, re.Pattern[str]]]] = {
    "GONOSUMDB": ("checksums of modules are asked for", regex(r".*\*.*")),
    "GONOSUMCHECK": ("checksums of modules are asked for", regex(r".+")),
    "GOSUMDB": ("checksums of modules are asked for", regex(r"off")),
    "GOINSECURE": (TLS, regex(r".*\*.*")),
    "GOFLAGS": ("checksums of modules are asked for", regex(r".*-(?:insecure|modcacherw.*-mod=mod).*")),
    "NPM_CONFIG_STRICT_SSL": (TLS, regex(r"false|0")),
    "PYTHONHTTPSVERIFY": (TLS, regex(r"0")),
    "GIT_SSL_NO_VERIFY": (TLS, regex(r"1|true")),
    "UV_INDEX_STRATEGY": ("a name is taken from the first index that has it", regex(r"unsafe.*")),
    "YARN_CHECKSUM_BEHAVIOR": (HASHES, regex(r"ignore|update")),
    "YARN_ENABLE_STRICT_SSL": (TLS, regex(r"false|0")),
}
_ASSIGNED: Final = regex(rf"(?<![\w-])({'|'.join(_SWITCHES)})[\"']?\s*(?::?\??=|:|\s)\s*[\"']?([^\s\"',;]+)")


def _variables(text: str) -> Iterator[Said]:
    """Variables that package managers obey, in whatever sets them."""
    for line in text.splitlines():
        if not line.lstrip().startswith(("#", "//")):
            for name, value in _ASSIGNED.findall(line[:4000]):
                safeguard, off = _SWITCHES[name]
                if off.fullmatch(value.lower()):
                    yield False, safeguard


def _package_json(text: str) -> Iterator[Said]:
    yield from _pnpm(table_of(json_table(text).get("pnpm")))


_SETS_VARIABLES: Final = (
    "gnumakefile",
    "containerfile",
    *(name for name, reader in settings_files.READERS.items() if reader is settings_files.variables),
)
READERS: Final[Mapping[str, Callable[[str], Iterator[Said]]]] = {
    ".npmrc": _npmrc,
    ".yarnrc.yml": _yarnrc_yml,
    "pnpm-workspace.yaml": lambda text: _pnpm(yaml_table(text)),
    "package.json": _package_json,
    "bunfig.toml": _bunfig,
    "uv.toml": lambda text: _uv(tomllib.loads(text)),
    "pyproject.toml": _pyproject,
    "pip.conf": _pip_conf,
    "pip.ini": _pip_conf,
    "renovate.json": _renovate,
    "renovate.json5": _renovate,
    ".renovaterc": _renovate,
    ".renovaterc.json": _renovate,
    "dependabot.yml": _dependabot,
    "dependabot.yaml": _dependabot,
    ".pre-commit-config.yaml": _pre_commit,
    **dict.fromkeys(_SETS_VARIABLES, _variables),
}
"""By the file's name, lower case."""


def _reader(path: str) -> Callable[[str], Iterator[Said]] | None:
    name = PurePosixPath(path).name.lower()
    if name.endswith((".mk", ".dockerfile")) or path.startswith(".github/workflows/"):
        return _variables
    if name.startswith("requirements") and name.endswith((".txt", ".in")):
        return _requirements
    return READERS.get(name)

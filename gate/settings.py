"""Settings: defaults < configuration at base < environment < flags; each value remembers its origin.

The configuration of a change is read from the *base* commit, never from head, so a change cannot
loosen the gate that judges it (threat CF-7).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from gate import plugins
from gate.errors import UsageError
from gate.model.change import Tree
from gate.model.score import Thresholds, Unrun

CONFIG_NAMES = ("gate.toml", "pyproject.toml")
_MAX_CONFIG = 256 << 10

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
Percent = Annotated[int, msgspec.Meta(ge=1, le=100)]
IsolationLevel = Literal["process", "container", "user-kernel", "vm"]
BACKENDS = ("auto", "microvm", "gvisor", "docker", "bubblewrap", "wasm", "deno", "restricted")
"""The backends of gate/sandbox/backends/registry.py, and the choice among them."""
BackendName = Annotated[str, msgspec.Meta(extra_json_schema={"enum": [*BACKENDS]})]
"""Those, and ``distribution.name`` of a plugin: see ``load``."""


class Struct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every settings table: unknown keys are refused."""


class PolicySettings(Struct, frozen=True):
    """``[policy]``: from which score the verdict is warn, and fail."""

    warn: Percent = 30
    fail: Percent = 70
    warn_ai: Percent | None = None
    """Lower warn threshold for ranges with AI-attributed commits; None: the same."""
    unrun: Unrun = "warn"
    """The least verdict where changed code did not run and can do harm, or cannot be read."""


class SandboxSettings(Struct, frozen=True):
    """``[sandbox]``: which backend, how long, how much."""

    enabled: bool = True
    backend: BackendName = "auto"
    minimum: IsolationLevel = "process"
    tracer: Literal["auto", "unotify", "strace"] = "auto"
    """``auto``: the backend's own, and strace only where that cannot be had."""
    deadline: Seconds = 20.0
    """Seconds of wall time for one probe."""
    budget: Seconds = 180.0
    """Seconds for all probes of one check."""
    endless: Seconds = 20.0
    """Seconds, of that, for all runs of head together that do not end where base does."""
    memory_mb: Annotated[int, msgspec.Meta(ge=64, le=65536)] = 512
    pids: Annotated[int, msgspec.Meta(ge=8, le=4096)] = 128
    cpus: Annotated[float, msgspec.Meta(gt=0, le=64)] = 1.0
    deep: bool = False
    fast: bool = False
    """The static look and imports only, behind the quickest backend, with what is installed already."""
    network: Literal["sinkhole", "none"] = "sinkhole"
    """``sinkhole``: a simulated network that answers everything and leads nowhere."""
    python: Annotated[str, msgspec.Meta(pattern=r"^(auto|3\.[0-9]{1,2})$")] = "auto"
    """Which Python the sandboxes have; ``auto``: what the project asks for, of those that can be had."""
    image: str = ""
    """The image that the sandboxes' is made on, by digest; empty: gate's own."""
    services: tuple[Literal["postgresql", "redis"], ...] | None = None
    """Servers that the tests find on the sandbox's loopback. None: those that base's workflows or compose
    files ask for; empty: none."""
    setup: Literal["auto", "none", "requirements", "pyproject"] = "auto"
    """Install the project's own dependencies: what its locks and manifests say (``auto``), or what
    requirements files or pyproject.toml name, and then a failure is no look."""
    setup_files: tuple[str, ...] = ()
    """Requirements files to use; empty: ``requirements*.txt`` at the root."""
    setup_head: bool = True
    """Install what head adds, too, for head only."""
    setup_builds: bool | None = None
    """Let packages without a wheel be built (inside the sandbox): that runs their code. None: with ``auto``
    those that base needs, too; else none."""
    setup_deadline: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 300.0
    """Seconds for one installation."""
    setup_mb: Annotated[int, msgspec.Meta(ge=1, le=16384)] = 1024
    """MiB that one installation may fetch, and that what it installs may take."""
    setup_cache_mb: Annotated[int, msgspec.Meta(ge=16, le=1 << 20)] = 4096
    """MiB that all kept installations may take; those used least recently go."""
    egress_allow: tuple[str, ...] = ()
    """Places that installations may reach besides rules/egress.toml. Never from the tree: see ``load``."""
    on_canary: Literal["record", "kill"] = "record"
    exploit: bool = True
    """Attack the entry points that the change touches, where a sink is reachable (docs/exploit.md)."""
    exploit_seconds: Seconds = 30.0
    """Seconds for all attacks of one check, beside ``budget``."""
    vary_secrets: bool = True
    """Run what gives something away again with other planted secrets (docs/varied-secrets.md)."""
    vary_secrets_seconds: Seconds = 30.0
    """Seconds for all of those runs, beside ``budget``; half as much more to confirm what they show."""


class PrescreenSettings(Struct, frozen=True):
    """``[prescreen]``: the static look."""

    deadline: Seconds = 120.0
    allowed_imports: tuple[str, ...] = ()


class AttributionSettings(Struct, frozen=True):
    """``[attribution]``: what an AI-attributed commit changes. It can only raise scrutiny."""

    deep: bool = True
    """Run the deep probes for AI-attributed ranges."""


class GithubSettings(Struct, frozen=True):
    """``[github]``: what `gate publish` and the action tell on GitHub."""

    comment: Literal["auto", "always", "never"] = "auto"
    """``auto``: a first comment only when the verdict is not pass; edited ever after."""
    check: Literal["auto", "check", "status", "never"] = "auto"
    """``auto``: a check run, or a commit status where the token may not write one."""
    sarif: bool = False
    labels: bool = False
    reviewers: tuple[str, ...] = ()
    """Asked to review AI-attributed changes whose verdict is not pass: ``login`` or ``org/team``."""
    suggestions: bool = True
    """Offer safe fixes as suggestions on the changed lines, five on a pull request at most."""
    author: str = "github-actions[bot]"
    """Whose name an app's token writes under."""


class OverrideSettings(Struct, frozen=True):
    """``[override]``: what people may let stand (docs/overrides.md)."""

    comments: bool = True
    hard_blocks: bool = False
    role: Literal["write", "maintain", "admin"] = "write"
    vouch: Literal["never", "maintain", "admin"] = "admin"
    """Who may answer for evidence that is in doubt (``/gate vouch``); ``never``: nobody."""


class OpinionSettings(Struct, frozen=True):
    """``[opinion]``: a second opinion by a language model (docs/opinion.md). Advice; it decides nothing."""

    enabled: bool = False
    url: str = ""
    """Of an OpenAI-compatible endpoint, before ``/chat/completions``. Never from the tree: see ``load``."""
    model: str = ""
    seconds: Seconds = 60.0
    characters: Annotated[int, msgspec.Meta(ge=1_000, le=1_000_000)] = 60_000
    """Characters of changed lines that are sent; the rest is counted."""
    tokens: Annotated[int, msgspec.Meta(ge=100, le=100_000)] = 2_000
    """Tokens that the answer may have."""
    price_in: Annotated[float, msgspec.Meta(ge=0, le=100_000)] = 0.0
    """What a million tokens cost that are sent, in the unit in which the cost is to be told."""
    price_out: Annotated[float, msgspec.Meta(ge=0, le=100_000)] = 0.0


class DeploySettings(Struct, frozen=True):
    """``[deploy.<environment>]``: what may be deployed there (docs/deploy.md). Environments ignore case."""

    app: str = ""
    """Slug or id of the GitHub App whose check is believed; empty: no check is."""
    keys: tuple[str, ...] = ()
    """Ed25519 public keys (PEM) whose signed statements are believed."""
    identity: str = ""
    """The workflow whose sigstore statements are believed, as its certificate names it; empty: none."""
    issuer: str = "https://token.actions.githubusercontent.com"
    verdicts: tuple[Literal["pass", "warn"], ...] = ("pass", "warn")
    max_age_hours: Annotated[float, msgspec.Meta(gt=0, le=8784)] = 168.0
    policies: tuple[Annotated[str, msgspec.Meta(pattern="^(current|[0-9a-f]{64})$")], ...] = ("current",)
    """Policy digests accepted; ``current``: this program's rules with the settings at base."""
    overrides: bool = True
    """Take verdicts that rest on overrides, as long as those last."""
    wait_minutes: Annotated[float, msgspec.Meta(ge=0, le=1440)] = 30.0
    """How long `gate serve` waits for a verdict that is not there yet."""


class CacheSettings(Struct, frozen=True):
    """``[cache]``: what is kept between checks (docs/cache.md). It never bears on a verdict."""

    enabled: bool = True
    """Keep whole checks, and what was said of files, by content; tell the same change again at once."""
    mb: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] = 256
    """MiB that all of it may take; what was used least recently goes."""
    days: Annotated[float, msgspec.Meta(gt=0, le=30)] = 7.0
    """Days after which everything is looked at anew: the world moves on where the change does not."""


class Config(Struct, frozen=True):
    """The whole of ``gate.toml`` (or ``[tool.gate]`` in ``pyproject.toml``)."""

    policy: PolicySettings = PolicySettings()
    sandbox: SandboxSettings = SandboxSettings()
    prescreen: PrescreenSettings = PrescreenSettings()
    attribution: AttributionSettings = AttributionSettings()
    github: GithubSettings = GithubSettings()
    override: OverrideSettings = OverrideSettings()
    cache: CacheSettings = CacheSettings()
    opinion: OpinionSettings = OpinionSettings()
    deploy: dict[str, DeploySettings] = {}

    def deploy_to(self, environment: str) -> DeploySettings | None:
        """The table of an environment, else ``[deploy.default]``, else None."""
        tables = {name.casefold(): table for name, table in self.deploy.items()}
        return tables.get(environment.casefold(), tables.get("default"))


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The values in force, and where each value that is not a default came from.

    ``origin`` maps ``table.key`` to ``gate.toml at base``, ``GATE_SANDBOX_BACKEND``, ``--backend`` ...
    """

    config: Config
    origin: dict[str, str]

    def thresholds_for(self, *, is_ai: bool) -> Thresholds:
        """The bands of the verdict. AI attribution can only lower the warn threshold."""
        policy = self.config.policy
        warn = policy.warn
        if is_ai and policy.warn_ai is not None:
            warn = min(warn, policy.warn_ai)
        # What a fast look chose not to run is no fault of the change.
        unrun = "warn" if self.config.sandbox.fast and policy.unrun == "fail" else policy.unrun
        return Thresholds(warn=warn, fail=policy.fail, unrun=unrun)


def load(
    *,
    base: Tree | None = None,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, tuple[object, str]] | None = None,
    names: Sequence[str] = (),
    where: str = "base",
) -> Settings:
    """Merge all sources.

    ``base`` is the tree of the base commit; ``file`` (``--config``) replaces it. ``names``: the file to
    read in it (default: CONFIG_NAMES), ``where``: words for what that tree is. ``environ``
    defaults to the process's: ``GATE_<TABLE>_<KEY>``. ``flags`` maps ``table.key`` to (value,
    the flag's name); None values are "not given". Raises UsageError naming file, key and what was expected.
    """
    if file is not None:
        table, source = _from_file(file), str(file)
    elif base is not None:
        table, source = _from_tree(base, names or CONFIG_NAMES, where)
    else:
        table, source = {}, ""
    if base is not None and file is None:
        _check_tree(table, source)
    merged, origin = _checked(table, source), dict.fromkeys(_leaves(table), source)
    for name, text in sorted((os.environ if environ is None else environ).items()):
        key = _environment_key(name)
        if key is not None:
            _put(merged, key, _value_of(text))
            origin[key] = name
    for key, (value, flag) in (flags or {}).items():
        if value is not None:
            _put(merged, key, value)
            origin[key] = flag
    config = _decode(merged, "environment or command line" if origin else source, origin)
    if config.policy.warn > config.policy.fail:
        raise UsageError(
            f"policy.warn ({config.policy.warn}) is above policy.fail ({config.policy.fail})",
            advice="A score must reach warn before it can reach fail; lower policy.warn.",
        )
    _check_backend(config.sandbox.backend, origin.get("sandbox.backend", source))
    if told := plugins.told():
        origin["plugins"] = f"{plugins.VARIABLE} ({told})"
    if config.sandbox.fast and config.sandbox.deep:
        raise UsageError(
            "sandbox.fast and sandbox.deep exclude each other", advice="Leave one of --fast and --deep out."
        )
    return Settings(config=config, origin=origin)


def _check_tree(table: Mapping[str, Any], source: str) -> None:
    """What a tree may not choose, not even at base."""
    if "egress_allow" in table.get("sandbox", {}):
        raise UsageError(
            f"{source}: sandbox.egress_allow is for whoever runs gate, not for the tree",
            advice="Give it as --egress-allow, GATE_SANDBOX_EGRESS_ALLOW, or in the file of --config.",
        )
    if "url" in table.get("opinion", {}):
        raise UsageError(
            f"{source}: opinion.url is for whoever runs gate, not for the tree: code is sent there",
            advice="Give it as GATE_OPINION_URL, or in the file of --config.",
        )


def _check_backend(name: str, place: str) -> None:
    theirs = plugins.names("gate.backends") if name not in BACKENDS else ()
    if name not in (*BACKENDS, *theirs):
        raise UsageError(
            f"{place}: Invalid enum value {name!r} (at `sandbox.backend`)",
            advice=f"Valid: {', '.join((*BACKENDS, *theirs))}.",
        )


def _from_file(path: Path) -> dict[str, Any]:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", advice="Give --config the path of a gate.toml."
        ) from error
    return _parse(raw, str(path), pyproject=path.name == "pyproject.toml")


def _from_tree(tree: Tree, names: Sequence[str], where: str) -> tuple[dict[str, Any], str]:
    for name in names:
        try:
            raw = tree.read(name)
        except KeyError:
            continue
        pyproject = name.rpartition("/")[2] == "pyproject.toml"
        table = _parse(raw, f"{name} at {where}", pyproject=pyproject)
        if table or not pyproject:
            return table, f"{name} at {where}"
    return {}, ""


def _parse(raw: bytes, source: str, *, pyproject: bool) -> dict[str, Any]:
    if len(raw) > _MAX_CONFIG:
        raise UsageError(f"{source} is larger than {_MAX_CONFIG} bytes", advice="Shorten it.")
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(
            f"{source} is not valid TOML: {error}", advice="Fix it at the base commit."
        ) from error
    if pyproject:
        tool = table.get("tool", {})
        table = tool.get("gate", {}) if isinstance(tool, dict) else {}
        if not isinstance(table, dict):
            raise UsageError(f"{source}: tool.gate must be a table", advice="Write [tool.gate].")
    return table


def _checked(table: dict[str, Any], source: str) -> dict[str, Any]:
    """The same table, proven to decode: an error here names its own file."""
    _decode(table, source)
    return {key: dict(value) for key, value in table.items()}


def _decode(table: Mapping[str, object], source: str, origin: Mapping[str, str] | None = None) -> Config:
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        text = str(error).replace("Object contains unknown field", "unknown key")
        said, _, at = text.partition(" - at `$")
        key = at.strip("`.")
        place = (origin or {}).get(key, source)
        valid = _valid_values(key)
        listed = _as_list(place, key) if said.startswith("Expected `array") else ""
        raise UsageError(
            f"{place}: {said}{f' (at `{key}`)' if key else ''}",
            advice=listed or f"Valid: {', '.join(valid)}."
            if listed or valid
            else "docs/configuration.md lists every key with its type and default.",
        ) from error


_ENTRIES: Final = {
    "sandbox.egress_allow": "pypi.org:443",
    "sandbox.services": "postgresql",
    "sandbox.setup_files": "requirements/test.txt",
}
"""What an entry of a list may look like, for who has to be shown."""


def _as_list(place: str, key: str) -> str:
    """How a list is written where ``place`` gave something else."""
    shown = f'["{_ENTRIES.get(key, "...")}"]'
    return (
        f"A list is written like this: {place}='{shown}'." if place.startswith("GATE_") else f"Write {shown}."
    )


def _valid_values(key: str) -> tuple[str, ...]:
    """The words, bounds or keys that a setting or table takes; nothing where that would be no help."""
    kind: object = Config
    for part in key.split("."):
        if isinstance(kind, type) and issubclass(kind, Struct):
            kind = get_type_hints(kind, include_extras=True).get(part) if part else kind
    if kind is bool:
        return ("true", "false")
    if get_origin(kind) is Literal:
        return tuple(map(str, get_args(kind)))
    if get_origin(kind) is Annotated:
        base, meta, *_ = get_args(kind)
        least = f"{meta.ge} or more" if meta.ge is not None else f"more than {meta.gt}"
        if base in (int, float) and meta.le is not None:
            return (f"{'whole numbers' if base is int else 'numbers'} {least}", f"{meta.le} or less")
    return kind.__struct_fields__ if isinstance(kind, type) and issubclass(kind, Struct) else ()


def _leaves(table: Mapping[str, object], prefix: str = "") -> list[str]:
    out = []
    for key, value in table.items():
        out += _leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]
    return out


def _environment_key(name: str) -> str | None:
    if not name.startswith("GATE_"):
        return None
    table, _, key = name[5:].lower().partition("_")
    known = getattr(Config(), table, None)
    if isinstance(known, Struct) and key in known.__struct_fields__:
        return f"{table}.{key}"
    return None


def _value_of(text: str) -> object:
    """Environment text as TOML would read it, else as a plain string."""
    try:
        return tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text


def _put(table: dict[str, Any], key: str, value: object) -> None:
    head, _, leaf = key.partition(".")
    table.setdefault(head, {})[leaf] = value

"""Which servers the tests of a project ask for: by its workflows, its compose file, GitLab's pipeline. Data.

Only base's files are ever asked: what a change says of services starts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Final, Literal

from gate.dataclass import dataclass
from gate.model.change import Tree
from gate.regex import regex
from gate.supply.yaml_data import UnreadableYamlError, mapping, read_yaml

Kind = Literal["postgresql", "redis"]
_WORDS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "postgresql": ("postgres", "postgis", "pgvector", "timescale"),
    "redis": ("redis", "valkey", "keydb"),
}
_PORTS: Final[Mapping[Kind, int]] = {"postgresql": 5432, "redis": 6379}
_COMPOSE: Final = regex(r"(?:.*/)?(?:docker-)?compose[\w.-]*\.ya?ml\Z")
_WORKFLOW: Final = regex(r"\.github/workflows/[^/]+\.ya?ml\Z")
_ABOUT: Final = regex(
    r"(?:[A-Z0-9]+_)*(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|PGHOST|PGUSER|PGPASSWORD|PGDATABASE|PGPORT|SQL"
    r"|SQLALCHEMY|REDIS|CACHE|BROKER|CELERY)(?:_[A-Z0-9]+)*\Z"
)
"""Variables by which a project finds such a server."""
_PLAIN: Final = regex(r"[\w.@:/?=&%+,-]{1,200}\Z", re.ASCII)
_NAME: Final = regex(r"[A-Za-z_][\w-]{0,60}\Z", re.ASCII)
_RUNS_TESTS: Final = regex(r"(?<![\w/-])(?:pytest|py\.test|tox|nox|unittest)(?![\w/-])|manage\.py +test\b")
"""Which of several jobs is meant; nothing rests on it that was not asked for anyway."""
_MOST_FILES: Final = 30
_MOST_BYTES: Final = 200_000
_DEEPEST: Final = 2


@dataclass(frozen=True, kw_only=True)
class Service:
    """One server on the sandbox's loopback. ``alias``: the host name that its users know it by."""

    kind: Kind
    port: int
    alias: str = ""
    user: str = "postgres"
    password: str = ""
    database: str = "postgres"


@dataclass(frozen=True, kw_only=True)
class AskedServices:
    """``env``: variables of those who use them. ``path``: the file that asks; empty: the settings.
    ``runs_tests``: whoever uses them runs Python's tests (others may run a browser's, as another user).
    """

    services: tuple[Service, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    runs_tests: bool = False


def default_services(kinds: Iterable[Kind]) -> AskedServices:
    """Each of these kinds at its usual port."""
    return AskedServices(services=tuple(Service(kind=kind, port=_PORTS[kind]) for kind in kinds))


def asked_services(tree: Tree) -> AskedServices:
    """What a job asks for that runs Python's tests; else what the first file does that asks for any:
    workflows before compose files, the topmost first. Never raises for what the files hold.
    """
    entries = [e for e in tree.entries() if e.mode.startswith("100") and e.size <= _MOST_BYTES]
    paths = [e.path for e in entries if _WORKFLOW.match(e.path)]
    paths += [e.path for e in entries if e.path == ".gitlab-ci.yml"]
    paths += [e.path for e in entries if _COMPOSE.match(e.path) and e.path.count("/") <= _DEEPEST]
    first = AskedServices()
    for path in sorted(paths[:_MOST_FILES], key=lambda p: (not _WORKFLOW.match(p), p.count("/"), p)):
        if first.services and not path.startswith(".git"):
            break
        try:
            data = mapping(read_yaml(tree.read(path)).data)
        except UnreadableYamlError:
            continue
        for one in _jobs(data) if path.startswith(".git") else _compose(data):
            if one.services and one.runs_tests:
                return replace(one, path=path)
            if one.services and not first.services:
                first = replace(one, path=path)
    return first


def _jobs(data: Mapping[str, object]) -> Iterator[AskedServices]:
    """Jobs of a workflow, or of GitLab's pipeline, whose jobs stand at the top."""
    top = {**_texts(data.get("env")), **_texts(data.get("variables"))}
    jobs = data.get("jobs")
    for job in [mapping(job) for job in (mapping(jobs) if jobs else data).values()] + [data]:
        named = job.get("services")
        parts = mapping(named)
        if isinstance(named, list):
            parts = {str(i): {"image": one} if isinstance(one, str) else one for i, one in enumerate(named)}
        env = top | _texts(job.get("env")) | _texts(job.get("variables"))
        services = tuple(s for alias, one in parts.items() if (s := _service(alias, mapping(one), env)))
        steps = job.get("steps")
        commands = [job.get("script")]
        for step in steps if isinstance(steps, list) else ():
            env |= _texts(mapping(step).get("env"))
            commands.append(mapping(step).get("run"))
        tests = any(_RUNS_TESTS.search(text) for one in commands for text in _lines_of(one))
        yield AskedServices(services=_once(services), env=_about(env, services), runs_tests=tests)


def _lines_of(commands: object) -> Iterator[str]:
    """A command, or each of a list of them."""
    yield from (str(one) for one in (commands if isinstance(commands, list) else (commands or "",)))


def _compose(data: Mapping[str, object]) -> Iterator[AskedServices]:
    parts = {alias: mapping(one) for alias, one in mapping(data.get("services")).items()}
    services = tuple(s for alias, one in parts.items() if (s := _service(alias, one, {}, inside=True)))
    env: dict[str, str] = {}
    for one in parts.values():
        env |= _texts(one.get("environment"))
    yield AskedServices(services=_once(services), env=_about(env, services))


def _service(
    alias: str, one: Mapping[str, object], around: Mapping[str, str], *, inside: bool = False
) -> Service | None:
    """``inside``: its users are beside it and know its own port."""
    image = str(one.get("image") or "").partition("@")[0]
    name = image.rsplit("/", 1)[-1].partition(":")[0].lower()
    kind = next((kind for kind, words in _WORDS.items() if any(word in name for word in words)), None)
    if kind is None or "exporter" in name or "admin" in name:
        return None
    env = (
        dict(around) | _texts(one.get("env")) | _texts(one.get("environment")) | _texts(one.get("variables"))
    )
    user = _named(env.get("POSTGRES_USER"), "postgres")
    return Service(
        kind=kind,
        port=_PORTS[kind] if inside else _port(one.get("ports"), _PORTS[kind]),
        alias=str(one.get("alias") or (name if alias.isdecimal() else alias)),
        user=user,
        password=env.get("REDIS_PASSWORD", "") if kind == "redis" else env.get("POSTGRES_PASSWORD", ""),
        database=_named(env.get("POSTGRES_DB"), user),
    )


def _named(text: str | None, default: str) -> str:
    return text if text and _NAME.match(text) else default


def _port(ports: object, own: int) -> int:
    """The port outside, where one is mapped to the server's own."""
    for text in ports if isinstance(ports, list) else ():
        outer, _, inner = str(text).partition("/")[0].rpartition(":")
        outer = outer.rpartition(":")[2]  # an address may stand before it
        if inner == str(own) and outer.isdecimal() and 1024 <= int(outer) <= 65535:
            return int(outer)
    return own


def _once(services: tuple[Service, ...]) -> tuple[Service, ...]:
    """One of each kind."""
    return tuple({service.kind: service for service in reversed(services)}.values())[::-1]


def _texts(data: object) -> dict[str, str]:
    """Variables with a literal value, of a mapping or of ``NAME=value`` lines."""
    pairs = mapping(data).items()
    if isinstance(data, list):
        pairs = dict(str(line).partition("=")[::2] for line in data if "=" in str(line)).items()
    return {
        str(name): text
        for name, value in pairs
        if isinstance(value, str) and (text := value.strip()) and _PLAIN.match(text)
    }


def _about(env: Mapping[str, str], services: Iterable[Service]) -> dict[str, str]:
    """Those by which the servers are found, with localhost for their names."""
    names = [re.escape(service.alias) for service in services if service.alias]
    host = re.compile(rf"(?<![\w.-])(?:{'|'.join(names)})(?![\w.-])") if names else None
    out = {}
    for name, value in env.items():
        if _ABOUT.match(name):
            out[name] = _at_localhost(name, value, host) if host else value
    return out


def _at_localhost(name: str, value: str, host: re.Pattern[str]) -> str:
    scheme, mark, rest = value.partition("://")
    if mark:
        before, at, after = rest.rpartition("@")
        return f"{scheme}://{before}{at}{host.sub('localhost', after, count=1)}"
    return host.sub("localhost", value, count=1) if "HOST" in name or "SERVER" in name else value

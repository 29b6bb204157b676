"""What the build of a web page gives to everybody who opens it, and what it leaves out of the product."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

from gate.builds.exposed import Exposed
from gate.builds.words import is_private, names_after, public_names
from gate.languages.limited_child import Reader
from gate.languages.path_roles import is_example, is_for_show
from gate.model.change import Tree
from gate.model.finding import Finding
from gate.model.location import Location
from gate.model.rule import RuleMeta
from gate.prescreen.interface import Prescreened, PrescreenRequest, Source
from gate.prescreen.outcome import ended
from gate.prescreen.read_files import Unread, first_files, read_files
from gate.prescreen.scanners.left_out import LEFT_OUT, left_out_findings
from gate.prescreen.scope import sources
from gate.prescreen.text_rule import finding, rule
from gate.secret_uses.names import is_bundler, is_secret

EXPOSED: Final = rule.meta(
    "build.secret-exposed",
    "A build writes a secret into what every user receives",
    severity="medium",
    confidence="medium",
    topic="secrets",
    cwe=(200, 540, 522),
    attack=("T1552.001",),
    why="What a bundler is told to expose (`envPrefix`, `define`, `DefinePlugin`, `env` of Next, "
    "`runtimeConfig.public`, names that begin with `NEXT_PUBLIC_` or `VITE_`) stands in clear text in the "
    "files that browsers load. A prefix exposes every setting whose name begins with it.",
    fix="Expose by name what is meant for browsers, and let the server use the secret.",
)
RULES: Final[tuple[RuleMeta, ...]] = (EXPOSED, LEFT_OUT)
_READER: Final = Reader("gate.builds.exposed:read", list[Exposed], parses=True, pure=True)
_SCRIPTS: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_TOOLS: Final = (b"esbuild", b"rollup", b"webpack", b"vite", b"rspack", b"Bun.build", b"babel")
_SAYS: Final = (b"envPrefix", b"publicPrefix", b"prefixes", b"define", b"Plugin(", b"replace(")
_LARGEST: Final = 1 << 18
_MOST_FILES: Final = 60
_MOST: Final = 5
_MOST_BYTES: Final = 48 << 20


class Builds:
    """The scanner. ``name`` is the stage's name after ``prescreen:``."""

    name: str = "builds"

    def scan(self, request: PrescreenRequest) -> Prescreened:
        """Compare what both sides' builds expose."""
        until = time.monotonic() + request.deadline
        unread: Unread = []
        found = [*_configured(request, until, unread), *_named(request), *left_out_findings(request, unread)]
        return ended(self.name, found, unread)


def _configured(request: PrescreenRequest, until: float, unread: Unread) -> Iterator[Finding]:
    every = [one for one in sources(request).files if _is_settings(one)]
    files, left = first_files(every, _MOST_FILES, _LARGEST)
    unread += left
    head = read_files(_READER, [(one.path, one.head) for one in files], until, unread)
    some = [one for one in files if head.get(one.path)]
    base = read_files(_READER, [(one.path, one.base) for one in some if one.base], until)
    texts = cache(lambda: _texts(request.head))  # read once, and only for a prefix
    for source in some:
        had = {(one.kind, one.name) for one in base.get(source.path, ())}
        told: set[tuple[str, str]] = set()
        for one in head[source.path]:
            key = (one.kind, one.name)
            if key not in had and key not in told and len(told) < _MOST:
                told.add(key)
                yield from _judged(source.path, one, texts)


def _is_settings(source: Source) -> bool:
    path = source.path
    if not path.endswith(_SCRIPTS) or is_for_show(path):
        return False
    if is_bundler(path):
        return True  # too large a one is told as not looked at
    return (
        len(source.head) <= _LARGEST
        and any(word in source.head for word in _SAYS)
        and any(word in source.head for word in _TOOLS)
    )


def _judged(path: str, one: Exposed, texts: Callable[[], Sequence[bytes]]) -> Iterator[Finding]:
    if one.kind == "whole":
        message = f"The bundle gets every setting of the environment of the build (`{one.name}`)."
        yield _finding(path, one.line, message, one.name, {"text": one.text})
    elif one.kind == "name" and is_private(one.name):
        message = f"The bundle gets the setting {one.name}."
        yield _finding(path, one.line, message, one.name, {"text": one.text})
    elif one.kind == "prefix":
        secrets = sorted({name for name in names_after(one.name, texts()) if is_secret(name)})
        if secrets:
            message = f"The bundle gets settings by their beginning `{one.name}`, and so {secrets[0]}."
            yield _finding(path, one.line, message, one.name, {"secrets": ", ".join(secrets[:6])})


def _named(request: PrescreenRequest) -> Iterator[Finding]:
    """Names that are new and that a bundler takes for public ones by their beginning."""
    new: dict[str, tuple[str, int]] = {}
    for source in sources(request).files:
        if is_for_show(source.path) or len(source.head) > _LARGEST:
            continue
        had = {name for name, _ in public_names(source.base or b"")}
        for name, line in public_names(source.head):
            if name not in had:
                new.setdefault(name, (source.path, line))
    if not new:
        return
    known = {name for text in _texts(request.base) for name, _ in public_names(text)}
    for name, (path, line) in [*new.items()][:_MOST]:
        if name not in known:
            yield _finding(path, line, f"{name} is a public setting by its name.", name, {"name": name})


def _texts(tree: Tree) -> Sequence[bytes]:
    paths = tuple(e.path for e in tree.entries() if e.size <= _LARGEST and not is_example(e.path))
    texts: list[bytes] = []
    size = 0
    for _, data in tree.read_many(paths):
        size += len(data)
        if size > _MOST_BYTES:
            break
        texts.append(data)
    return texts


def _finding(path: str, line: int, message: str, shape: str, evidence: dict[str, str]) -> Finding:
    return finding(EXPOSED, message, Location(path=path, line=line), shape=shape, evidence=evidence)

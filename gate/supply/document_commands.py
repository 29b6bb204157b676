"""Commands in documents that install a package: which names they tell readers to trust.

Text only: a word that calls an installer, the verb behind it, and the names that follow. Prose around them
does not matter, since names are compared with names that the project has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from packaging.utils import canonicalize_name

from gate.regex import regex
from gate.supply.lookalike import is_nearly

_INSTALLERS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "npm": ("npm", frozenset(("install", "i", "add", "exec", "init", "create"))),
    "pnpm": ("npm", frozenset(("install", "i", "add", "dlx", "create"))),
    "yarn": ("npm", frozenset(("add", "dlx", "create"))),
    "bun": ("npm", frozenset(("add", "install", "x", "create"))),
    "npx": ("npm", frozenset()),
    "bunx": ("npm", frozenset()),
    "pip": ("pypi", frozenset(("install",))),
    "pip3": ("pypi", frozenset(("install",))),
    "pipx": ("pypi", frozenset(("install", "run"))),
    "uv": ("pypi", frozenset(("add", "install", "run"))),
    "uvx": ("pypi", frozenset()),
    "poetry": ("pypi", frozenset(("add",))),
    "pdm": ("pypi", frozenset(("add",))),
    "cargo": ("crates", frozenset(("install", "add", "binstall"))),
    "gem": ("gems", frozenset(("install",))),
    "go": ("go", frozenset(("install", "get", "run"))),
    "brew": ("brew", frozenset(("install", "tap"))),
    "composer": ("composer", frozenset(("require",))),
    "dotnet": ("nuget", frozenset(("package", "install"))),
}
"""Programs with the registry that they ask and the verbs that install; no verb: they install what follows."""
_BETWEEN: Final = frozenset(("tool", "global", "pip", "add", "--"))
_VALUED: Final = frozenset(
    ("-r", "-c", "-e", "--index-url", "-i", "--extra-index-url", "--version", "--tag", "--git")
)
_ENDS: Final = regex(r"^(?:&&|\|\|?|;|#|//|<.*|\\|→|—|-)$")
_NAME: Final = regex(r"@?[A-Za-z0-9][\w.-]{0,100}(?:/[\w.-]{1,100}){0,8}")
_DIGITS: Final = regex(r"\d")
_MANY: Final = 2_000
_LONGEST: Final = 1_000


class Installed(NamedTuple):
    """``registry`` is asked for ``name``, which is spelt in the registry's own way, on this line."""

    registry: str
    name: str
    line: int


class Posing(NamedTuple):
    """A name that takes the place of one of base, or is easily taken for it."""

    now: Installed
    like: str


def installs(text: str) -> Iterator[Installed]:
    """Every package that a command of the text installs."""
    count = 0
    for number, line in enumerate(text.split("\n"), 1):
        words = [word.strip("`'\"()$>*") for word in line[:_LONGEST].replace("`", " ` ").split()]
        for at, word in enumerate(words):
            if word in _INSTALLERS and count < _MANY:
                for name in _names(words[at + 1 :], word):
                    count += 1
                    yield Installed(_INSTALLERS[word][0], name, number)


def _names(words: list[str], program: str) -> Iterator[str]:
    registry, verbs = _INSTALLERS[program]
    rest = words
    while rest and rest[0] in _BETWEEN and rest[0] not in verbs:
        rest = rest[1:]
    if verbs:
        if not rest or rest[0] not in verbs:
            return
        rest = rest[1:]
    skip = False
    for word in rest:
        if not word or _ENDS.match(word):
            return
        if word.startswith("-") or skip:
            skip = word in _VALUED
            continue
        match = _NAME.match(word)
        if match is None or "://" in word:
            return
        yield spelt(match[0], registry)
        if not verbs or registry == "go" or word.endswith((",", ".", ":")):
            return  # what follows is given to the program


def spelt(name: str, registry: str) -> str:
    """One spelling of a name that its registry has several of; of Go, the module's owner and name."""
    plain = name.rstrip(".,:")
    if registry in ("pypi", "crates"):
        return canonicalize_name(plain)
    if registry == "go":
        return "/".join(plain.lower().split("/")[:3])
    return plain.lower()


def posing(base: str, head: str, own: frozenset[str]) -> Iterator[Posing]:
    """New names of head that read like one of base's commands or of ``own``, and are another package.

    Base's are those that its own commands name; a name that stands in base or is the project's own poses as
    nobody.
    """
    before = {(one.registry, one.name) for one in installs(base)}
    known = {name.lower() for _, name in before} | {name.lower() for name in own}
    told: set[str] = set()
    for one in installs(head):
        canonical = {canonicalize_name(name) for name in own}
        if (one.registry, one.name) in before or one.name in known or one.name in told:
            continue
        if one.registry in ("pypi", "crates") and one.name in canonical:
            continue
        rivals = [name for registry, name in before if registry == one.registry] + [*own]
        like = next((name for name in sorted(rivals) if _is_like(one.name, name)), "")
        if like:
            told.add(one.name)
            yield Posing(one, like)


def _is_like(name: str, other: str) -> bool:
    """The same letters with another scope or separator, or one letter apart that is no digit."""
    a, b = (word.lower().lstrip("@").replace("/", "-") for word in (name, other))
    if a == b:
        return name.lower() != other.lower()
    return is_nearly(a, b) and _DIGITS.sub("", a) != _DIGITS.sub("", b)

"""What the templates of texts read off the objects that they are given: ``{ctx.store.password}``.

A template is no program, but its fields reach as deep as attributes go: what a message says can be a key that
the message's object leads to. Runs in the limited child.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from gate.regex import regex
from gate.secret_uses.facts import FileUses, Use
from gate.secret_uses.names import snake

ENDINGS: Final = (
    ".tmpl", ".tpl", ".txt", ".html", ".htm", ".mjml", ".eml", ".jinja", ".jinja2", ".j2", ".mustache",
    ".hbs",
    ".liquid", ".ftl", ".erb", ".njk", ".twig", ".template", ".gotmpl",
)  # fmt: skip
_SECRET: Final = regex(
    r"(?:^|_)(?:password|passwd|passphrase|secret|secrets|credentials?|secret_key(?:_base)?|private_key|api_key"
    r"|signing_key|auth_token|access_token|client_secret|dsn|connection_string|database_url)$"
)
_INNER: Final = regex(r"^__\w+__$|^(?:environ|f_globals|gi_frame|func_globals)$")
"""Attributes that lead from any object to the modules of its program."""
_LOGINS: Final = frozenset({"login", "auth", "account", "creds"})
"""A pair of a name and a word, where one of it is taken by its place."""
_FORMS: Final = frozenset(
    {"form", "f", "field", "fields", "values", "vault", "errors", "old", "input", "params"}
)
"""What asks a visitor for a word, and what writes settings of programs."""
_SETTINGS: Final = frozenset({
    "yaml", "yml", "json", "toml", "ini", "conf", "cfg", "env", "properties", "service", "sh", "tf",
    "xml", "sql",
    "hcl", "nomad", "ps1", "py", "rb", "js", "ts", "go", "netrc", "cnf",
})  # fmt: skip
_ASIDE: Final = frozenset(
    {"charts", "chart", "ansible", "roles", "terraform", "deploy", "helm", "k8s", "puppet"}
)


def is_template(path: str) -> bool:
    """Is it a text for people? A template of settings has to hold secrets."""
    at = PurePosixPath(path)
    inner = {part.lower() for part in at.name.split(".")[:-1]}
    return path.endswith(ENDINGS) and not inner & _SETTINGS and not _ASIDE & {*at.parts[:-1]}


def template_uses(text: str) -> FileUses:
    """The fields of a template that end in a secret or in the inside of a program."""
    uses = {
        Use(secret=".".join(path)[:80], way="answer", sink="the text", function="", line=line, source=line,
            marks=("named",), faint="field")
        for line, path in _fields(text)
        if _tells(path)
    }  # fmt: skip
    return FileUses(uses=tuple(sorted(uses, key=lambda use: (use.line, use.sink)))[:100])


def _tells(path: tuple[str, ...]) -> bool:
    names = [snake(name) for name in path]
    if any(_INNER.search(name) for name in path[1:]):
        return True
    if len(path) < 2 or names[0] in _FORMS or "form" in names[0]:
        return False
    login = names[-1].isdigit() and names[-2] in _LOGINS
    return login or _SECRET.search(names[-1]) is not None


def _fields(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 20_000:
            continue
        for begin, end in (("{{", "}}"), ("<%=", "%>"), ("${", "}")):
            for rest in line.split(begin)[1:]:
                yield number, _path(rest.partition(end)[0].partition("|")[0])
        if "{{" not in line and "${" not in line:
            yield from ((number, path) for path in _formatted(line))


def _formatted(line: str) -> Iterator[tuple[str, ...]]:
    """Fields of ``str.format``; nothing where the text is not one."""
    try:
        for _, name, _, _ in string.Formatter().parse(line):
            if name:
                yield _path(name)
    except ValueError:
        return


def _path(said: str) -> tuple[str, ...]:
    plain = said.strip(" -=").replace("[", ".").replace("]", "").replace("'", "").replace('"', "")
    names = [name.strip("@$") for name in plain.lstrip(".$").split(".")]
    return tuple(names) if all(name.isidentifier() or name.isdigit() for name in names) else ()

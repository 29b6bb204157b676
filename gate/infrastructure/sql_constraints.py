"""What a database refuses by itself, and what a migration takes of it: uniqueness, checks, exclusions.

Statements are read as words, for every dialect, and Prisma's schema line by line. A program may have
relied on the refusal alone ("insert, and see whether it fails"), and its own code does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final, Literal

import msgspec

from gate.regex import regex

What = Literal["unique", "check", "exclude", "index"]
_SQL: Final = (".sql", ".psql", ".pgsql", ".ddl")
_DOWN: Final = regex(
    r"(?im)^\s*--\s*(?:\+goose\s+down|\+migrate\s+down|migrate:down|rollback|@?undo|down)\b.*\Z", re.DOTALL
)
_BLANK: Final = regex(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$", re.DOTALL)
_TOKEN: Final = regex(r"\"[^\"\n]+\"(?:\.\"[^\"\n]+\")*|`[^`\n]+`|\[[^\]\n]+\]|[\w.$]+|[(),;]")
_SKIPPED: Final = frozenset(
    {"CONCURRENTLY", "IF", "NOT", "EXISTS", "ONLY", "CLUSTERED", "NONCLUSTERED", "HASH"}
)
_KINDS: Final = frozenset({"COLUMN", "CONSTRAINT", "IF", "EXISTS"})
_PRISMA: Final = regex(r"@@(?:unique|id)\(\s*(?:fields:\s*)?\[([^\]]*)\]")


class Constraint(msgspec.Struct, frozen=True):
    """One thing that a table refuses. ``name`` may be empty; ``columns`` in the order of their names."""

    what: What
    table: str
    columns: list[str]
    name: str = ""
    line: int = 1


class Dropped(msgspec.Struct, frozen=True):
    """A constraint or an index that is taken away by its name; ``text`` is the statement."""

    name: str
    line: int
    text: str


class Loosened(msgspec.Struct, frozen=True):
    """A constraint that stays and refuses less: ``what`` is said, ``column`` or ``name`` says of which."""

    what: Literal["nullable", "later", "unchecked"]
    table: str
    column: str
    name: str
    line: int
    text: str


class Constraints(msgspec.Struct, frozen=True):
    """Of one file. ``tables``: those that it makes, ``columns`` theirs (``table.column``); ``gone``: columns
    that it drops.
    """

    made: list[Constraint] = []
    dropped: list[Dropped] = []
    tables: list[str] = []
    columns: list[str] = []
    gone: list[str] = []
    loosened: list[Loosened] = []
    required: list[str] = []
    """Columns that a table of this file says may not be null."""


def is_schema(path: str) -> bool:
    """Does this file say what a database refuses?"""
    pure = PurePosixPath(path)
    return (pure.suffix.lower() in _SQL and "down" not in pure.stem.lower()) or pure.suffix == ".prisma"


def read(path: str, data: bytes, options: Mapping[str, object]) -> Constraints:
    """The constraints of one file."""
    del options
    text = data.decode("utf-8", "replace")
    if path.endswith(".prisma"):
        return _prisma(text)
    made: list[Constraint] = []
    dropped: list[Dropped] = []
    tables: list[str] = []
    columns: list[str] = []
    gone: list[str] = []
    loosened: list[Loosened] = []
    required: list[str] = []
    for line, words in statements(text):
        upper = [word.upper() for word in words]
        made += _made(words, upper, line, tables)
        dropped += _dropped(words, upper, line)
        gone += _columns_gone(words, upper)
        loosened += _loosened(words, upper, line)
        if upper[:1] == ["CREATE"] and "TABLE" in upper[:4] and "(" in words:
            columns += (
                f"{tables[-1]}.{plain(one[0])}" for one in _items(words[words.index("(") + 1 :]) if one
            )
            required += _required(tables[-1], words)
    return Constraints(
        made=made,
        dropped=dropped,
        tables=tables,
        columns=columns,
        gone=gone,
        loosened=loosened,
        required=required,
    )


def _spaces(match: re.Match[str]) -> str:
    return "".join("\n" if one == "\n" else " " for one in match[0])


def statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each statement of a migration's way up as words, with its line; comments, texts and bodies left out."""
    text = _BLANK.sub(_spaces, _DOWN.sub(_spaces, text))
    words: list[str] = []
    first = last = 0
    line = 1
    for match in _TOKEN.finditer(text):
        if match[0] == ";":
            if words:
                yield line, words
            words = []
            continue
        if not words:
            line += text.count("\n", last, match.start())
            first = last = match.start()
        words.append(match[0])
    if words and first >= 0:
        yield line, words


def _made(words: list[str], upper: list[str], line: int, tables: list[str]) -> Iterator[Constraint]:
    if upper[:1] == ["CREATE"] and "INDEX" in upper[:4] and "ON" in upper:
        at = upper.index("ON")
        names = [word for word in words[upper.index("INDEX") + 1 : at] if word.upper() not in _SKIPPED]
        rest = [word for word in words[at + 1 :] if word.upper() not in _SKIPPED]
        what: What = "unique" if "UNIQUE" in upper[:3] else "index"
        yield Constraint(
            what, plain(rest[0]) if rest else "", _columns(rest), plain(names[-1]) if names else "", line
        )
    elif upper[:1] == ["CREATE"] and "TABLE" in upper[:4] and "(" in words:
        table = plain(words[words.index("(") - 1])
        tables.append(table)
        for item in _items(words[words.index("(") + 1 :]):
            yield from _clause(item, table, line)
    elif upper[:2] == ["ALTER", "TABLE"]:
        named = [word for word in words[2:] if word.upper() not in _SKIPPED]
        table = plain(named[0]) if named else ""
        for item in _items(words[2:]):
            if "ADD" in (said := [word.upper() for word in item]):
                yield from _clause(item[said.index("ADD") + 1 :], table, line)


def _clause(item: list[str], table: str, line: int) -> Iterator[Constraint]:
    """A column or a constraint of a table."""
    upper = [word.upper() for word in item]
    name = ""
    if upper[:1] == ["CONSTRAINT"] and len(item) > 2:
        name, item, upper = plain(item[1]), item[2:], upper[2:]
    if not item:
        return
    if upper[0] in ("UNIQUE", "PRIMARY"):
        named = (
            [word for word in item[1 : item.index("(")] if word.upper() not in ("KEY", "INDEX", *_SKIPPED)]
            if "(" in item
            else []
        )
        yield Constraint("unique", table, _columns(item), name or (plain(named[-1]) if named else ""), line)
    elif upper[0] in ("CHECK", "EXCLUDE"):
        yield Constraint("check" if upper[0] == "CHECK" else "exclude", table, _columns(item), name, line)
    elif upper[0] not in ("FOREIGN", "KEY", "INDEX", "LIKE", "PERIOD"):
        at = 1 if upper[0] == "COLUMN" else 0
        column = plain(item[at]) if len(item) > at else ""
        if "UNIQUE" in upper or "PRIMARY" in upper:
            yield Constraint("unique", table, [column], f"{table}_{column}_key", line)
        if "CHECK" in upper:
            yield Constraint("check", table, [column], f"{table}_{column}_check", line)


def _items(words: Sequence[str]) -> Iterator[list[str]]:
    """What commas at the top part, up to the bracket that was open before."""
    depth = 0
    item: list[str] = []
    for word in words:
        if word == ")" and depth == 0:
            break
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "," and depth == 0:
            yield item
            item = []
        else:
            item.append(word)
    if item:
        yield item


def _columns(words: Sequence[str]) -> list[str]:
    if "(" not in words:
        return []
    items = _items(words[list(words).index("(") + 1 :])
    return sorted({_column(item) for item in items if item})


def _column(item: Sequence[str]) -> str:
    """The column of an item of an index, also within a function: what is equal stays equal in `lower(a)`."""
    last = max((at for at, word in enumerate(item[:-1]) if word == "("), default=-1)
    return plain(item[last + 1])


def _dropped(words: list[str], upper: list[str], line: int) -> Iterator[Dropped]:
    text = " ".join(words)[:160]
    if upper[:2] == ["DROP", "INDEX"]:
        end = upper.index("ON") if "ON" in upper else len(words)
        for word in words[2:end]:
            if (
                word.upper() not in _SKIPPED
                and word.upper() not in ("CASCADE", "RESTRICT")
                and word not in "(),"
            ):
                yield Dropped(plain(word), line, text)
    elif upper[:2] == ["ALTER", "TABLE"]:
        for item in _items(words[2:]):
            said = [word.upper() for word in item]
            if "DROP" in said and (rest := said[said.index("DROP") + 1 :])[:1] in (
                ["CONSTRAINT"],
                ["INDEX"],
                ["KEY"],
                ["CHECK"],
            ):
                names = [word for word in item[-len(rest) + 1 :] if word.upper() not in _SKIPPED]
                if names:
                    yield Dropped(plain(names[0]), line, text)


def _required(table: str, words: list[str]) -> Iterator[str]:
    for item in _items(words[words.index("(") + 1 :]):
        said = " ".join(item).upper()
        if item and ("NOT NULL" in said or "PRIMARY KEY" in said):
            yield f"{table}.{plain(item[0])}"


def _loosened(words: list[str], upper: list[str], line: int) -> Iterator[Loosened]:
    """What an `ALTER TABLE` lets a column or a constraint accept."""
    if upper[:2] != ["ALTER", "TABLE"]:
        return
    named = [word for word in words[2:] if word.upper() not in _SKIPPED]
    table = plain(named[0]) if named else ""
    text = " ".join(words)[:160]
    for item in _items(words[2:]):
        said = [word.upper() for word in item]
        for at, word in enumerate(said[:-1]):
            rest = [one for one in item[at + 1 :] if one.upper() not in _KINDS]
            found = _column_null(word, said, at) or _constraint_weaker(word, said, at) if rest else None
            if found is not None:
                name = plain(rest[-1] if word in ("NOCHECK", "DISABLE") else rest[0])
                column, name = (name, "") if found == "nullable" else ("", name)
                yield Loosened(found, table, column, name, line, text)


def _column_null(word: str, said: list[str], at: int) -> Literal["nullable"] | None:
    """`ALTER c DROP NOT NULL`, `MODIFY c INTEGER NULL`."""
    if word not in ("ALTER", "MODIFY") or said[at + 1] == "CONSTRAINT":
        return None
    plain = said[-1] == "NULL" and said[-2] not in ("NOT", "SET", "DEFAULT")
    return "nullable" if plain or "DROP NOT NULL" in " ".join(said) else None


def _constraint_weaker(word: str, said: list[str], at: int) -> Literal["later", "unchecked"] | None:
    """`ALTER CONSTRAINT c DEFERRABLE`, `NOCHECK CONSTRAINT c`, `ADD CONSTRAINT c CHECK (...) NOT VALID`."""
    plain = " ".join(said)
    if word in ("NOCHECK", "DISABLE") and said[at + 1] in ("CONSTRAINT", "CHECK"):
        return "unchecked"
    adds = word == "ADD" and not {"UNIQUE", "CHECK", "EXCLUDE"}.isdisjoint(said)
    if not adds and not (word == "ALTER" and said[at + 1] == "CONSTRAINT"):
        return None
    if "DEFERRABLE" in said and "NOT DEFERRABLE" not in plain:
        return "later"
    return "unchecked" if "NOT ENFORCED" in plain or (adds and "NOT VALID" in plain) else None


def _columns_gone(words: list[str], upper: list[str]) -> Iterator[str]:
    """Columns that go with what is asked of them, and whole tables (``table.*``)."""
    if upper[:2] == ["DROP", "TABLE"]:
        yield from (f"{plain(word)}.*" for word in words[2:] if word not in "(),")
    elif upper[:2] == ["ALTER", "TABLE"]:
        named = [word for word in words[2:] if word.upper() not in _SKIPPED]
        for item in _items(words[2:]):
            said = [word.upper() for word in item]
            if "DROP" in said:
                rest = [w for w in item[said.index("DROP") + 1 :] if w.upper() not in ("COLUMN", *_SKIPPED)]
                yield from (f"{plain(named[0])}.{plain(word)}" for word in rest[:1])


def plain(word: str) -> str:
    """A name without its schema and its quotes, in lower case."""
    return word.rpartition(".")[2].strip('"`[]').lower()


def _prisma(text: str) -> Constraints:
    made: list[Constraint] = []
    tables: list[str] = []
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("//")[0].split()
        if words[:1] == ["model"] and len(words) > 1:
            tables.append(words[1].lower())
        elif tables and (found := _PRISMA.search(line.partition("//")[0])):
            named = sorted(one.strip().partition("(")[0].lower() for one in found[1].split(","))
            made.append(Constraint("unique", tables[-1], named, line=number))
        elif tables and len(words) > 2 and any(word.startswith(("@unique", "@id")) for word in words[2:]):
            made.append(Constraint("unique", tables[-1], [words[0].lower()], line=number))
        if tables and len(words) > 1:
            columns.append(f"{tables[-1]}.{words[0].lower()}")
    return Constraints(made=made, tables=tables, columns=columns)

"""Who writes the tables that a file reads: the files of the tree that do, read as data.

Only asked where a value that goes to a sink comes from the database. What is passed to their functions by
other files counts, as it does for any function (outside_calls.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gate.languages.limited_child import Reader, scan_isolated
from gate.languages.path_roles import is_test
from gate.model.change import Tree
from gate.prescreen.python_ast.outside_calls import callers_of, candidates_in, may_call
from gate.prescreen.python_ast.sources import OUTSIDERS, PARAMETER
from gate.prescreen.python_ast.stored.statements import ANY
from gate.prescreen.python_ast.stored.writes import NO_TEXT, TEXT, StoredWrite

_FILES: Final = 60
_CALLERS: Final = 40
_SECONDS: Final = 20.0
_WORDS: Final = (
    b"INSERT", b"insert", b"UPDATE", b"update", b".objects", b"session.add", b".add(", b"ModelForm",
    b"Serializer", b".save(", b"models.Model", b"Mapped[", b"Column(",
)  # fmt: skip
"""One of these stands in a file that writes a database."""
STORED_RULES: Final = frozenset({
    "py.sql-built", "py.shell-command", "py.remote-command", "py.dynamic-code", "py.template-injection",
    "py.cross-site-scripting", "py.path-from-request", "py.upload-name", "py.unsafe-deserialisation",
    "py.request-forgery", "py.xml-external", "py.ldap-built", "py.xpath-built", "py.nosql-script",
})  # fmt: skip
"""Rules for whose sinks it counts who writes what the database gives."""
STORED_SINKS: Final = (
    ".execute", "shell=True", "os.system", "os.popen", "create_subprocess_", "subprocess.", ".raw(",
    "render_template_string", "from_string(", "Template(", "Markup(", "mark_safe", "SafeString", "eval(",
    "exec(", "loads(", "yaml.load", "HTMLResponse", "HttpResponse", "FileResponse", "send_file", "open(",
    "Path(", "requests.", "httpx.", "aiohttp", "urlopen", ".extra(", "text(", "fromstring(", "redirect(",
    "import_module(", "format_html",
)  # fmt: skip
"""Words of files in which a value of the database may do harm."""
Stored = Mapping[str, Mapping[str, Sequence[str]]]
"""Table or model, then column, to the kinds of those who decide it and, last, where (``at path:line``)."""


def stored_by(tables: Iterable[str], tree: Tree) -> Stored:
    """What outsiders decide of these tables, as far as the files of the tree tell that write them."""
    wanted = frozenset(table for table in tables if table.isidentifier())
    every = [(path, text) for path, text in candidates_in(tree) if not is_test(path)]
    words = [table.encode() for table in sorted(wanted)]
    if not words:
        return {}
    writers = [(path, text) for path, text in every if _may_write(path, text, words)][:_FILES]
    writes = _read(writers, {})
    open_ones = {path for path, one in writes if one.table in wanted and PARAMETER in one.kinds}
    if open_ones:  # what they store is given to them by other files
        some = [(path, text) for path, text in writers if path in open_ones]
        passed = callers_of(may_call(sorted(open_ones), every)[:_CALLERS], dict(some)).passed
        again = [(path, text) for path, text in some if path in passed]
        writes += _read(again, passed) if again else []
    found: dict[str, dict[str, list[str]]] = {}
    for path, one in writes:
        kinds = OUTSIDERS.intersection(one.kinds)
        if one.table in wanted and kinds:
            columns = found.setdefault(one.table, {})
            columns.setdefault(one.column, [*sorted(kinds), f"at {path}:{one.line}"])
    for table, columns in found.items():
        _declared_only(columns, [one for _, one in writes if one.table == table])
    return found


def _declared_only(columns: dict[str, list[str]], writes: Sequence[StoredWrite]) -> None:
    """Every column of a model is every one that it declares as text; the others are nobody's."""
    texts = {one.column for one in writes if TEXT in one.kinds}
    numbers = {one.column for one in writes if NO_TEXT in one.kinds}
    if texts and ANY in columns:
        every = columns.pop(ANY)
        for column in texts:
            columns.setdefault(column, every)
    for column in numbers:
        columns[column] = [NO_TEXT]


def _read(files: Sequence[tuple[str, bytes]], passed: Mapping[str, object]) -> list[tuple[str, StoredWrite]]:
    """The writes of these files, each with its file."""
    results = scan_isolated(
        Reader("gate.prescreen.python_ast.stored.writes:read_writes", list[StoredWrite], pure=True),
        files,
        options={"outside": passed},
        deadline=_SECONDS,
    )
    return [(result.path, one) for result in results for one in result.value or ()]


def _may_write(path: str, text: bytes, tables: Sequence[bytes]) -> bool:
    """True for a file that names one of the tables and writes something; what staff edit is none."""
    lower = text.lower()
    staff = "admin" in path.rpartition("/")[2] or "/migrations/" in path
    return not staff and any(t in lower for t in tables) and any(word in text for word in _WORDS)


def places(stored: Stored, columns: Iterable[tuple[str, str]]) -> Iterator[str]:
    """``comments.body, written at shop/catalog.py:24`` for each column that outsiders decide."""
    for table, column in columns:
        said = stored.get(table, {}).get(column) or stored.get(table, {}).get("*")
        if said and said[-1].startswith("at "):
            yield f"{table}.{column}, written {said[-1]}"

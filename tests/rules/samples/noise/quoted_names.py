"""Names quoted for SQL, and links escaped piece by piece, as datasette does it."""
import os

from datasette.utils import escape_sqlite
from markupsafe import Markup, escape


def rows(connection, table, column):
    connection.execute(f"select * from {escape_sqlite(table)} where {escape_sqlite(column)} = 'x'")


def link(url, label):
    return Markup(f'<a href="{escape(url)}">{escape(label)}</a>')


def place(make):
    runner = make(environ=os.environ.copy())
    return str(runner.scratch / "x"), print(runner)

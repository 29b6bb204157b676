from django.db.models.expressions import RawSQL
from flask import request
from sqlalchemy import select, text


class Filters:
    def __init__(self):
        self.clauses = []

    def contains(self, columns, word):
        parts = [f"lower(books.{column}) LIKE '%{word}%'" for column in columns]
        self.clauses.append(text("(" + " OR ".join(parts) + ")"))  # HIT[medium]


def totals(entries):
    return entries.annotate(bucket=RawSQL(f"({request.args['by']})", []))  # HIT[high]


def filtered(model):
    return select(model).where(text(f"name = '{request.args['name']}'"))  # HIT[high]


class Store:
    def _all(self, query):
        return self.connection.execute(query).fetchall()

    def named(self, name):
        return self._all(f"SELECT * FROM people WHERE name = '{name}'")  # HIT[medium]

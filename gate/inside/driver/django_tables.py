"""Tables in SQLite for models that were written for another database.

One column, index or constraint that only PostgreSQL has would keep the whole test database from being made,
and with it every test. What SQLite refuses is left out: tests that need it fail, the others run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_BORNE: list[bool] = []


def leave_out_what_is_refused() -> None:
    """From here on in this process, for SQLite alone."""
    if _BORNE:
        return
    _BORNE.append(True)
    editor: Any = importlib.import_module("django.db.backends.sqlite3.schema").DatabaseSchemaEditor
    execute = editor.execute

    def execute_or_not(self: Any, sql: Any, *rest: Any, **named: Any) -> Any:
        if not str(sql).lstrip().upper().startswith("CREATE "):
            return execute(self, sql, *rest, **named)
        try:
            return execute(self, sql, *rest, **named)
        except Exception:
            return None

    editor.execute = execute_or_not
    editor.create_model = _or(editor.create_model, None)
    editor._model_indexes_sql = _or(editor._model_indexes_sql, ())


def _or(real: Callable[..., Any], nothing: Any) -> Callable[..., Any]:
    """What a method gives; ``nothing`` where it fails."""

    def made(*args: Any, **named: Any) -> Any:
        try:
            return real(*args, **named)
        except Exception:
            return nothing

    return made

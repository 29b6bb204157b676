"""One row in each table of a web application's database, for calls by us: a handler that looks an object up
by the number in its address finds one, and goes on.

Rows are made from the columns' types, below the models: no code of a model's own (``save``, signals,
constructors) runs for them. What a table does not take is left out. The database is the sandbox's own.
"""

from __future__ import annotations

import datetime
import decimal
import functools
import importlib
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from . import argument_values

WORD = argument_values.WORD
MOST = 300
"""Tables that get a row."""
_DAY = datetime.date(2026, 1, 1)
_MOMENT = datetime.datetime(2026, 1, 1, 12)  # noqa: DTZ001  a column's own zone is its business
_AGAINST = (
    *("anonym", "archiv", "ban", "block", "cancel", "clos", "delet", "disab", "expir", "fail", "hid"),
    *("lock", "mute", "reject", "remov", "revok", "spam", "suspend", "trash", "used"),
)
"""Beginnings of words in the name of a flag that would make its row one that handlers turn away."""
_BY_TYPE: dict[type, Any] = {
    int: 1,
    float: 1.5,
    decimal.Decimal: decimal.Decimal("1.5"),
    datetime.datetime: _MOMENT,
    datetime.date: _DAY,
    datetime.time: datetime.time(12),
    datetime.timedelta: datetime.timedelta(days=1),
    bytes: WORD.encode(),
    dict: {},
    list: [],
    uuid.UUID: uuid.UUID(int=1),
}


def value_of(name: str, kind: object, longest: int | None) -> Any:
    """A value for a column of that name and type, ``longest`` characters; None where there is none."""
    if kind is bool:
        return not any(part.startswith(_AGAINST) for part in name.lower().split("_"))
    if kind is str:
        named = argument_values.by_name(name.lower())
        text = str(named) if isinstance(named, (str, int, float)) and "/" not in str(named) else WORD
        return text[:longest] if longest else text
    return _BY_TYPE.get(kind) if isinstance(kind, type) else None


def fill_sqlalchemy(metadata: Any, engine: Any) -> int:
    """A row in each table of a MetaData, referenced tables first. Returns how many were made."""
    made: dict[Any, Any] = {}
    count = 0
    for table in list(metadata.sorted_tables)[:MOST]:
        row = {}
        for column in table.columns:
            value = _of_column(column, made)
            if value is not None:
                row[column.key] = value
        try:
            with engine.begin() as connection:
                connection.execute(table.insert().values(row))
        except Exception:
            continue
        made.update({(table.name, column.name): row.get(column.key) for column in table.columns})
        count += 1
    return count


def _of_column(column: Any, made: dict[Any, Any]) -> Any:
    """The value of one column: of what it refers to, of an enumeration's first member, by its type."""
    for key in column.foreign_keys:
        target = key.target_fullname.rpartition(".")
        return made.get((target[0].rpartition(".")[2], target[2]))
    if column.default is not None or column.server_default is not None:
        return 1 if column.primary_key and kind_of(column.type) is int else None
    enum = getattr(column.type, "enum_class", None)
    if enum is not None:
        return next(iter(enum))
    if getattr(column.type, "enums", None):
        return column.type.enums[0]
    return value_of(column.name, kind_of(column.type), getattr(column.type, "length", None))


def kind_of(column_type: Any) -> object:
    """The Python type of a column's values; None where it has none."""
    if "JSON" in type(column_type).__name__.upper():
        return dict
    try:
        return column_type.python_type
    except Exception:
        return getattr(getattr(column_type, "impl", None), "python_type", None)


def fill_django(first: Any = None) -> int:
    """A row for each model of the project that is set up; ``first`` is one that exists already (the user).
    Returns how many were made.
    """
    apps: Any = importlib.import_module("django.apps").apps
    return len(django_rows(apps.get_models(), first))


def django_rows(
    models: Iterable[Any], first: Any = None, text_of: Callable[[Any], str] | None = None
) -> dict[Any, Any]:
    """A row for each of these models, by model, with ``first`` wherever they refer to its like. ``text_of``:
    what the texts of a model's row are.
    """
    rows: dict[Any, Any] = {type(first): first} if getattr(first, "pk", None) else {}
    waiting = [m for m in models if _is_plain(m) and m not in rows][:MOST]
    made: dict[Any, Any] = {}
    while waiting:
        ready = [m for m in waiting if all(t in rows or t is m for t in _needed(m))]
        for model in ready or waiting[:1]:  # a circle is broken at its first model
            waiting.remove(model)
            text = text_of(model) if text_of is not None else ""
            row = quietly(functools.partial(_django_row, model, rows, text))
            if row is not None:
                rows[model] = made[model] = row
    return made


def _is_plain(model: Any) -> bool:
    """True for a model with one table of its own. Django's own book-keeping fills itself."""
    meta = model._meta
    own = meta.managed and not meta.proxy and not meta.swapped and not meta.parents
    return own and meta.app_label not in ("contenttypes", "sessions", "admin", "sites")


def _needed(model: Any) -> list[Any]:
    """Models that a row must refer to."""
    fields = [f for f in model._meta.concrete_fields if f.is_relation and not f.null]
    return [f.related_model for f in fields if _is_plain(f.related_model)]


def _django_row(model: Any, rows: dict[Any, Any], text: str) -> Any:
    for field in model._meta.concrete_fields:
        if field.one_to_one and field.related_model in rows:  # there may be one, and no other
            there = model._base_manager.filter(**{field.name: rows[field.related_model]}).first()
            if there is not None:
                return there
    values = {}
    for field in model._meta.concrete_fields:
        if field.is_relation:
            target = rows.get(field.related_model)
            if target is None and not field.null and field.related_model is not None:
                target = field.related_model._base_manager.first()
            values[field.name] = target
        elif (
            field.primary_key
            and field.has_default() is False
            and field.get_internal_type().endswith("AutoField")
        ):
            continue
        elif not field.has_default():
            value = of_field(field)
            if text and isinstance(value, str) and not field.choices:
                value = (
                    f"{text}@gate.example" if "Email" in type(field).__name__ else text[: field.max_length]
                )
            if value is not None:
                values[field.attname] = value
    return model._base_manager.bulk_create([model(**{k: v for k, v in values.items() if v is not None})])[0]


_DJANGO_KINDS = {
    "BooleanField": bool,
    "NullBooleanField": bool,
    "DateField": datetime.date,
    "DateTimeField": datetime.datetime,
    "DecimalField": decimal.Decimal,
    "DurationField": datetime.timedelta,
    "FloatField": float,
    "JSONField": dict,
    "TimeField": datetime.time,
    "UUIDField": uuid.UUID,
    "BinaryField": bytes,
    "GenericIPAddressField": str,
}


def of_field(field: Any) -> Any:
    """A value for a field of Django's."""
    choices = [key for key, label in field.choices or () if not isinstance(label, (list, tuple))]
    if choices:
        return next((key for key in choices if key not in ("", None)), choices[0])
    inner = field.get_internal_type()
    if inner == "GenericIPAddressField":
        return "192.0.2.1"
    kind = _DJANGO_KINDS.get(inner, int if "Integer" in inner else str)
    value = value_of(field.name, kind, field.max_length)
    if isinstance(value, datetime.datetime):
        zones: Any = importlib.import_module("django.utils.timezone")
        settings: Any = importlib.import_module("django.conf").settings
        return zones.make_aware(value) if settings.USE_TZ else value
    return value


def quietly(work: Callable[[], Any]) -> Any:
    """What it gives, None where the database or the model's fields refuse."""
    try:
        atomic: Any = importlib.import_module("django.db.transaction").atomic
        with atomic():
            return work()
    except Exception:
        return None

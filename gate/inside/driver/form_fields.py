"""What the forms of a Django project take: values for their fields, told by the fields themselves.

A view that asks a form whether it is valid goes on only with a choice that the form has, a date, an address.
The forms that are cleaned while a route is asked are noted, and the next request fills them.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from . import argument_values, pattern_examples

VALUES: dict[str, bytes] = {}
"""Name of a field, with its form's prefix -> a value that it takes."""
_MOST = 200
_BY_KIND = (
    ("EmailField", f"{argument_values.WORD}@{argument_values.HOST}"),
    ("URLField", f"http://{argument_values.HOST}/"),
    ("DateTimeField", "2026-01-01 10:00"),
    ("DateField", "2026-01-01"),
    ("TimeField", "10:00"),
    ("DurationField", "1"),
    ("JSONField", "{}"),
    ("UUIDField", "00000000-0000-4000-8000-000000000000"),
    ("GenericIPAddressField", "192.0.2.1"),
    ("BooleanField", "on"),
)
_WATCHED: list[bool] = []


def watch() -> None:
    """Note the forms that are cleaned from here on."""
    forms: Any = getattr(sys.modules.get("django.forms.forms"), "BaseForm", None)
    if forms is None or _WATCHED:
        return
    _WATCHED.append(True)
    clean = forms.full_clean

    def full_clean(self: Any) -> Any:
        with contextlib.suppress(Exception):  # a form of its own kind
            for name, field in list(self.fields.items()) if len(VALUES) < _MOST else ():
                value = _value(field)
                if value is not None:
                    VALUES.setdefault(str(self.add_prefix(name)), str(value).encode())
        return clean(self)

    forms.full_clean = full_clean


def _value(field: Any) -> Any:
    """A value that the field takes; None for files, and for choices of nothing."""
    kinds = {one.__name__ for one in type(field).__mro__}
    if "FileField" in kinds:
        return None
    if "ModelChoiceField" in kinds:
        row = field.queryset.first()
        return None if row is None else field.prepare_value(row)
    if "ChoiceField" in kinds:
        flat = [one for pair in field.choices for one in (pair[1] if _is_group(pair) else [pair])]
        return next((one[0] for one in flat if one[0] not in ("", None)), None)
    for kind, value in _BY_KIND:
        if kind in kinds:
            return value
    if kinds & {"IntegerField", "FloatField", "DecimalField"}:
        least = getattr(field, "min_value", None)
        return 3 if least is None or least <= 3 else least
    if "RegexField" in kinds:
        return next(iter(pattern_examples.examples(field.regex)), None)
    text = argument_values.WORD.ljust(getattr(field, "min_length", None) or 0, "x")
    return text[: getattr(field, "max_length", None) or len(text)]


def _is_group(pair: Any) -> bool:
    return isinstance(pair[1], (list, tuple))

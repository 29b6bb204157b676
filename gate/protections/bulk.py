"""Rows that are written past their model: no signal, hook, validator or audit hears of them. Pure.

What saved each object is one statement now. Where something of the project listens to each save, and what is
written says who may or what something costs, the record of it ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from gate.languages.naming import snake
from gate.protections.traits import EACH, PAST, Fact, lapse, trait
from gate.protections.vocabulary import is_granting, is_owner
from gate.regex import regex

Written = tuple[str, str, tuple[str, ...], int]
"""Name of the call, its text, names of the columns that it is given, its line."""
_EACH: Final = frozenset({"save", "update_attributes", "create", "save_and_flush", "destroy"})
_ALWAYS_PAST: Final = frozenset({
    "update_all", "insert_all", "upsert_all", "update_columns", "update_column", "delete_all",
    "save_quietly", "update_quietly", "without_events", "bulk_create", "bulk_update", "update_many",
    "bulk_write", "create_query_builder", "upsert", "insert_many",
})  # fmt: skip
_PRICE: Final = regex(r"(?:^|_)(?:price|cents|salary|amount|limit|quota|state|status)$")
LISTENERS: Final = regex(
    r"post_save|pre_save|m2m_changed|simple_history|HistoricalRecords|auditlog|reversion|after_update|after_save"
    r"|after_commit|before_save|has_paper_trail|\baudited\b|::observe\(|ObservedBy|static::updated|static::saved"
    r"|LogsActivity|Auditable|AfterUpdate|EntitySubscriber|afterUpdate|afterSave|@EntityListeners|post\(['\"]save"
)
"""What listens to each save, as it is written."""
ABOUT: Final = regex(r"audit|history|log|notif|trail|track|paper_trail", re.IGNORECASE)


def bulk_facts(writes: Collection[Written]) -> Iterator[Fact]:
    """What a function writes, each object by itself or past them all."""
    each = next((one for one in writes if one[0] in _EACH or _is_one(one)), None)
    if each is not None:
        yield trait("integrity", EACH, each[1], each[3])
    for called, text, columns, line in writes:
        past = called in _ALWAYS_PAST or (called == "update" and _is_query(text))
        told = [one for one in columns if _matters(one)]
        if past and told and each is None:
            yield lapse("integrity", f"{PAST}{called} {told[0]}", text, line, needs=(EACH,))


def _is_one(written: Written) -> bool:
    """``worker.update!(role: role)``: one object, by its model."""
    return written[0] == "update" and bool(written[2]) and not _is_query(written[1])


def _is_query(text: str) -> bool:
    return any(
        one in text
        for one in (".objects", ".filter(", ".exclude(", ".where(", "::where", "queryset", "->where(")
    )


def _matters(column: str) -> bool:
    plain = snake(column)
    return is_granting(plain) or is_owner(plain) or _PRICE.search(plain) is not None
